#include "cmd/annotate/annotate_diff.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "profile/diff/codediff.h"
#include "profile/diff/counts.h"
#include "profile/diff/delta.h"
#include "profile/diff/loosename.h"
#include "view/code/builds.h"

enum { A = CODEDIFF_A, B = CODEDIFF_B };

/* The functions of B by names that do not differ between builds. */
struct partners {
	struct intern names;
	const char **of; /* by function */
	struct table index;
};

struct pairing {
	struct annotating sides[CODEDIFF_SIDES];
	struct partners partners;
	VEC(struct codediff_event) events;
	VEC(bool) is_time;
	u32 functions[CODEDIFF_SIDES];
	bool of_share; /* shares of the run are compared, not amounts */
};

/* ---- events ---- */

static void pair_events(struct pairing *p)
{
	const struct profile *a = &p->sides[A].recorded.profile, *b = &p->sides[B].recorded.profile;

	for (u32 i = 0; i < a->events.n; i++)
		for (u32 k = 0; k < b->events.n; k++) {
			/* With one event on each side, these two are compared even if their names differ. */
			if (strcmp(a->events.at[i].name, b->events.at[k].name) &&
				(a->events.n > 1 || b->events.n > 1))
				continue;
			vec_add(&p->events, ((struct codediff_event){{i, k}}));
			vec_add(&p->is_time,
				counts_is_clock(
					&p->sides[A].recorded.trace.session.reader.events.at[i]));
			break;
		}
}

/* ---- functions ---- */

static const struct profile_symbol *symbol_of(const struct annotating *r, u32 function)
{
	return annotation_symbol(&r->annotation, &r->annotation.functions.at[function]);
}

static void partners_init(struct partners *p, const struct annotating *b)
{
	struct str text = {0};

	p->of = mem_alloc((b->annotation.functions.n + 1) * sizeof(*p->of));
	for (u32 i = 0; i < b->annotation.functions.n; i++) {
		str_clear(&text);
		loosename_add_function(symbol_of(b, i)->name, &text);
		p->of[i] = intern_str(&p->names, str_text(&text));
		table_add(&p->index, hash_u64((u64)(uintptr_t)p->of[i]), i);
	}
	str_fini(&text);
}

static void partners_fini(struct partners *p)
{
	mem_free(p->of);
	intern_fini(&p->names);
	table_fini(&p->index);
}

static const struct profile_dso *dso_of(const struct annotating *r, u32 function)
{
	return &r->recorded.profile.dsos.at[symbol_of(r, function)->dso];
}

/* Whether the two names mean one function. Names made of addresses do only within one build. */
static bool is_same_name(const struct pairing *p, u32 of_a, u32 of_b)
{
	const struct profile_dso *a = dso_of(&p->sides[A], of_a), *b = dso_of(&p->sides[B], of_b);

	if (profile_is_named(symbol_of(&p->sides[A], of_a)) &&
		profile_is_named(symbol_of(&p->sides[B], of_b)))
		return true;
	return a->build && b->build && !strcmp(a->build, b->build);
}

/* The function of B that corresponds to A's `function`, if possible in the same file; UINT32_MAX: none. */
static u32 find_partner(struct pairing *p, u32 function, struct str *scratch)
{
	struct table_probe probe;
	u32 i, found = UINT32_MAX;
	const char *name;

	str_clear(scratch);
	loosename_add_function(symbol_of(&p->sides[A], function)->name, scratch);
	name = intern_str(&p->partners.names, str_text(scratch));
	probe = table_probe(&p->partners.index, hash_u64((u64)(uintptr_t)name));
	while ((i = table_next(&p->partners.index, &probe)) != TABLE_NONE) {
		if (p->partners.of[i] != name || !is_same_name(p, function, i))
			continue;
		if (!strcmp(dso_of(&p->sides[A], function)->name, dso_of(&p->sides[B], i)->name))
			return i;
		found = MIN(found, i);
	}
	return found;
}

/* The largest change of all events, as a fraction of the run. */
static double change_of(const struct pairing *p, u32 of_a, u32 of_b)
{
	const struct annotation *a = &p->sides[A].annotation, *b = &p->sides[B].annotation;
	double largest = 0;

	vec_each(e, &p->events) {
		const struct annotation_count *whole[] = {&a->totals[e->of[A]],
			&b->totals[e->of[B]]};
		const struct annotation_count part[] = {
			a->counts.at[a->functions.at[of_a].counts + e->of[A]],
			b->counts.at[b->functions.at[of_b].counts + e->of[B]]};
		double more = codediff_change(part, whole, p->of_share).more;

		/* Amounts become fractions of the larger run. */
		if (!p->of_share)
			more /= (double)MAX(MAX(whole[A]->period, whole[B]->period), 1ull);
		largest = fmax(largest, fabs(more));
	}
	return largest;
}

#define ADDRESSES_TELL \
	"addresses identify functions only within one build of a file; with symbols (--symfs, debuginfod) different builds can be compared"

static int choose_changed(struct pairing *p, struct err *err)
{
	struct str scratch = {0};
	double most = -1, nameless = 0;

	for (u32 i = 0; i < p->sides[A].annotation.functions.n; i++) {
		u32 partner = find_partner(p, i, &scratch);
		double change = partner == UINT32_MAX ? -1 : change_of(p, i, partner);

		if (partner == UINT32_MAX && !profile_is_named(symbol_of(&p->sides[A], i)))
			nameless += p->sides[A].annotation.functions.at[i].share;
		if (change <= most)
			continue;
		most = change;
		p->functions[A] = i;
		p->functions[B] = partner;
	}
	str_fini(&scratch);
	if (nameless > 0)
		log_note(&p->sides[A].log,
			"functions without names, %.2f%% of the first recording, are not compared: %s",
			nameless, ADDRESSES_TELL);
	return most < 0 ? err_set(err, ERR_NOENT, "no function was sampled in both recordings") : 0;
}

static int choose_named(struct pairing *p, const char *name, const char *path_b, struct err *err)
{
	u32 *found = mem_alloc((p->sides[A].annotation.functions.n + 1) * sizeof(*found));
	struct str scratch = {0};
	size_t n;

	if (!annotating_find(&p->sides[A], name, found, &n, err)) {
		bool is_named = profile_is_named(symbol_of(&p->sides[A], found[0]));

		/* The hottest function of that name. */
		p->functions[A] = found[0];
		p->functions[B] = find_partner(p, found[0], &scratch);
		err->code = 0;
		if (p->functions[B] == UINT32_MAX)
			err_set(err, ERR_NOENT,
				"'%s' was not sampled in '%s': there is nothing to compare%s%s",
				symbol_of(&p->sides[A], found[0])->name, path_b,
				is_named ? "" : "; ", is_named ? "" : ADDRESSES_TELL);
	}
	str_fini(&scratch);
	mem_free(found);
	return err->code;
}

/* ---- both sides ---- */

static int show(struct pairing *p, char *const paths[2], struct out *out, struct err *err)
{
	const struct annotate_command *o = p->sides[A].options;
	struct builds_options view = {.names = {paths[A], paths[B]},
		.annotate = &p->sides[A].view,
		.is_time = p->is_time.at,
		.of_share = p->of_share};
	struct assembly assemblies[CODEDIFF_SIDES];
	struct codediff d;

	err->code = 0;
	for (int side = 0; side < CODEDIFF_SIDES; side++) {
		struct annotating *r = &p->sides[side];

		r->assembly.has_code = false;
		assembly_init(&assemblies[side], &r->annotation,
			&r->annotation.functions.at[p->functions[side]],
			&r->recorded.trace.resolver, &r->assembly);
		annotating_say_code(r, &assemblies[side]);
		if (assemblies[side].no_code.code && !err->code)
			err_set(err, ERR_NOENT, "the code of '%.80s' in '%.200s' was not found: %s",
				assemblies[side].symbol->name, paths[side],
				assemblies[side].no_code.msg);
	}
	if (!err->code &&
		(assemblies[A].disasm.engine == DISASM_RAW ||
			assemblies[B].disasm.engine == DISASM_RAW))
		err_set(err, ERR_NOENT,
			"comparing code needs a disassembler, and neither LLVM (package libllvm14 or similar) nor objdump (package binutils) is installed");
	if (!err->code) {
		codediff_init(&d, &assemblies[A], &assemblies[B], p->events.at, p->events.n);
		if (form_is_data(form_chosen(&o->forms)))
			builds_rows(form_chosen(&o->forms), out, &d, &view);
		else
			builds_text(out, &d, &view);
		codediff_fini(&d);
	}
	assembly_fini(&assemblies[A]);
	assembly_fini(&assemblies[B]);
	return err->code;
}

static int compare(struct pairing *p, char *const paths[2], const char *name, struct out *out,
	struct err *err)
{
	for (int side = 0; side < CODEDIFF_SIDES; side++) {
		if (annotating_count(&p->sides[side], err))
			return err_prefix(err, "'%s'", paths[side]);
		ledger_warn(&p->sides[side].recorded.ledger, &p->sides[side].log);
	}
	pair_events(p);
	if (!p->events.n)
		return err_set(err, ERR_INVAL, "'%s' and '%s' have no event in common", paths[A],
			paths[B]);
	partners_init(&p->partners, &p->sides[B]);
	if (name ? choose_named(p, name, paths[B], err) : choose_changed(p, err))
		return err->code;
	return show(p, paths, out, err);
}

int annotate_diff(const struct annotate_command *o, char *const paths[2], const char *name,
	struct out *out, struct annotate_result *ret, struct err *err)
{
	struct pairing p = {0};
	int result;

	if (o->per && strcmp(o->per, "run") && strcmp(o->per, "total"))
		return err_set(err, ERR_INVAL, "--normalise '%.60s' is neither run nor total",
			o->per);
	p.of_share = o->per && !strcmp(o->per, "total");
	if (annotating_open(&p.sides[A], o, paths[A], err))
		return err->code;
	result = annotating_open(&p.sides[B], o, paths[B], err);
	if (!result) {
		ret->is_open = true;
		result = compare(&p, paths, name, out, err);
		ret->is_whole =
			annotating_is_whole(&p.sides[A]) && annotating_is_whole(&p.sides[B]);
		ret->has_lost = annotating_has_lost(&p.sides[A]);
		ret->has_lost |= annotating_has_lost(&p.sides[B]);
		annotating_fini(&p.sides[B]);
	}
	annotating_fini(&p.sides[A]);
	partners_fini(&p.partners);
	vec_fini(&p.events);
	vec_fini(&p.is_time);
	return result;
}
