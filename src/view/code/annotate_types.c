#include "view/code/annotate_types.h"

#include "profile/rows/rowmaker.h"
#include "symbol/types/datatype.h"
#include "symbol/types/typelayout.h"
#include "view/forms/forms.h"
#include "view/text/colour.h"

enum { SCHEMA = 1, COLUMN = 10 };

static u64 figure(const struct annotate_options *o, const struct annotation_count *c)
{
	return o->is_by_hits ? c->n_samples : c->period;
}

static double percent(const struct annotate_options *o, const struct annotation_count *part,
	const struct annotation_count *whole)
{
	u64 all = figure(o, whole);

	return all ? 100.0 * (double)figure(o, part) / (double)all : 0;
}

/* Events without samples have no column. */
static bool is_there(const struct typeprofile *a, size_t e)
{
	return a->totals[e].n_samples > 0;
}

static void add_cell(struct str *text, const struct annotate_options *o,
	const struct annotation_count *c, const struct annotation_count *whole)
{
	const size_t start = text->n;

	if (o->figure == ANNOTATE_PERCENT) {
		str_addf(text, "%*.2f", COLUMN, percent(o, c, whole));
		if (o->has_colour && c->n_samples)
			colour_paint(text, start, colour_of_share(percent(o, c, whole) / 100));
	} else {
		str_addf(text, "%*llu", COLUMN,
			(unsigned long long)(o->figure == ANNOTATE_SAMPLES ? c->n_samples
									   : c->period));
	}
}

static void add_safe(struct str *text, const char *word)
{
	str_add_safe(text, word, strlen(word));
}

/* "struct node *next;", "struct pos {" */
static void add_member(struct str *text, const struct profile_member *m)
{
	bool is_open = m->kind != TYPELAYOUT_MEMBER;

	str_fill(text, ' ', 4 * (size_t)m->depth);
	add_safe(text, m->type);
	if (*m->name && m->depth) {
		if (is_open || m->type[strlen(m->type) - 1] != '*')
			str_addc(text, ' ');
		add_safe(text, m->name);
	}
	str_add(text, is_open ? " {" : ";");
	str_addc(text, '\n');
}

static void close_to(struct str *text, u32 *depth, u32 to, size_t margin)
{
	while (*depth > to) {
		str_fill(text, ' ', margin + 4 * (size_t)-- * depth);
		str_add(text, "}\n");
	}
}

static void add_heading(struct str *text, const struct typeprofile *a,
	const struct typeprofile_type *t, const struct annotate_options *o)
{
	const struct profile_type *type = &a->profile->types.at[t->type];
	const struct annotation_count *counts = typeprofile_counts(a, t, 0);

	add_safe(text, type->name);
	str_addf(text, " (%llu bytes):", (unsigned long long)type->size);
	for (size_t e = 0; e < a->profile->events.n; e++) {
		if (!is_there(a, e))
			continue;
		str_addf(text, " %.2f%% of ", percent(o, &counts[e], &a->totals[e]));
		add_safe(text, a->profile->events.at[e].name);
		str_addf(text, " (%llu samples)", (unsigned long long)counts[e].n_samples);
	}
	str_add(text, "\n\n");
}

static void add_titles(struct str *text, const struct typeprofile *a,
	const struct annotate_options *o, size_t *ret_margin)
{
	static const char *const titles[] = {"Percent", "Samples", "Period"};
	size_t start = text->n;

	for (size_t e = 0; e < a->profile->events.n; e++)
		if (is_there(a, e))
			str_addf(text, "%*s", COLUMN, titles[o->figure]);
	str_addf(text, "%8s%8s  ", "Offset", "Size");
	*ret_margin = text->n - start;
	str_add(text, "Member\n");
}

static void add_type(struct str *text, const struct typeprofile *a,
	const struct typeprofile_type *t, const struct annotate_options *o)
{
	const struct profile_type *type = &a->profile->types.at[t->type];
	u32 depth = 0, inside = UINT32_MAX; /* depth of a union, whose used member is unknown */
	size_t margin;

	add_heading(text, a, t, o);
	add_titles(text, a, o, &margin);
	for (u32 i = 0; i < type->n; i++) {
		const struct profile_member *m = &a->profile->members.at[type->first + i];
		const struct annotation_count *counts = typeprofile_counts(a, t, i);

		close_to(text, &depth, m->depth, margin);
		if (m->depth <= inside)
			inside = m->kind == TYPELAYOUT_UNION ? m->depth : UINT32_MAX;
		for (size_t e = 0; e < a->profile->events.n; e++) {
			if (is_there(a, e) && m->depth > inside)
				str_fill(text, ' ', COLUMN);
			else if (is_there(a, e))
				add_cell(text, o, &counts[e],
					o->is_global ? &a->totals[e]
						     : &typeprofile_counts(a, t, 0)[e]);
		}
		str_addf(text, "%8llu%8llu  ", (unsigned long long)m->offset,
			(unsigned long long)m->size);
		add_member(text, m);
		depth += m->kind != TYPELAYOUT_MEMBER;
	}
	close_to(text, &depth, 0, margin);
}

void annotate_types_text(struct out *out, const struct typeprofile *a,
	const struct annotate_options *o)
{
	vec_each(t, &a->types) {
		if (!typeprofile_counts(a, t, 0)->n_samples && t->share <= 0)
			continue;
		if (t > a->types.at)
			str_addc(&out->text, '\n');
		add_type(&out->text, a, t, o);
		out_flush_some(out);
	}
	if (o->is_quiet)
		return;
	for (size_t e = 0; e < a->profile->events.n; e++) {
		if (!is_there(a, e))
			continue;
		str_addf(&out->text, "%s# ", e || !a->types.n ? "" : "\n");
		add_safe(&out->text, a->profile->events.at[e].name);
		str_addf(&out->text,
			": %.2f%% of %llu samples access types with members; 'pace report -s type' shows the others\n",
			a->totals[e].n_samples ? 100.0 * (double)a->typed[e].n_samples /
					(double)a->totals[e].n_samples
					       : 0,
			(unsigned long long)a->totals[e].n_samples);
	}
}

/* ---- how much is known ---- */

static void add_share(struct str *text, u64 n, u64 all)
{
	str_addf(text, "%*llu  %6.2f%%  ", COLUMN, (unsigned long long)n,
		all ? 100.0 * (double)n / (double)all : 0);
}

static const char *outcome_words(enum datatype_outcome outcome)
{
	const char *reason = datatype_outcome_reason(outcome);

	return outcome == DATATYPE_FOUND ? "access data of a known type"
		: reason                 ? reason
					 : datatype_outcome_name(outcome);
}

void annotate_types_stat(struct out *out, const struct profile *p)
{
	struct sort_item outcomes[DATATYPE_OUTCOMES];
	u64 counts[DATATYPE_OUTCOMES] = {0}, all = 0;

	for (size_t i = 0; i < p->rows.n; i++) {
		counts[p->accesses.at[profile_label(p, i, LABEL_ACCESS)].outcome] +=
			p->rows.at[i].n_samples;
		all += p->rows.at[i].n_samples;
	}
	for (u32 i = 0; i < DATATYPE_OUTCOMES; i++)
		outcomes[i] = (struct sort_item){~counts[i], i};
	sort_by_key(outcomes, DATATYPE_OUTCOMES);
	str_addf(&out->text, "%*s    Share  Instructions\n", COLUMN, "Samples");
	for (size_t i = 0; i < DATATYPE_OUTCOMES; i++) {
		const u32 outcome = outcomes[i].value;

		if (!counts[outcome])
			continue;
		add_share(&out->text, counts[outcome], all);
		str_addf(&out->text, "%s\n", outcome_words(outcome));
	}
	add_share(&out->text, all, all);
	str_add(&out->text, "in all\n");
}

/* ---- for programs ---- */

/* The samples of one line, by event. */
static void add_counts(struct rowmaker *m, const struct typeprofile *a,
	const struct annotation_count *counts)
{
	for (size_t e = 0; e < a->profile->events.n; e++) {
		if (!counts[e].n_samples)
			continue;
		rowmaker_row(m);
		rowmaker_u64(m, "event", e);
		rowmaker_u64(m, "samples", counts[e].n_samples);
		rowmaker_u64(m, "period", counts[e].period);
	}
}

static void add_lines(struct rowmaker *m, const struct typeprofile *a,
	const struct typeprofile_type *t)
{
	static const char *const kinds[] = {[TYPELAYOUT_MEMBER] = "member",
		[TYPELAYOUT_STRUCT] = "struct",
		[TYPELAYOUT_UNION] = "union"};
	const struct profile_type *type = &a->profile->types.at[t->type];

	for (u32 i = 0; i < type->n; i++) {
		const struct profile_member *member = &a->profile->members.at[type->first + i];

		rowmaker_row(m);
		rowmaker_u64(m, "depth", member->depth);
		rowmaker_text(m, "kind", kinds[member->kind]);
		rowmaker_text(m, "type", member->type);
		rowmaker_text(m, "name", member->name);
		rowmaker_u64(m, "offset", member->offset);
		rowmaker_u64(m, "size", member->size);
		add_counts(rowmaker_below(m, "counts", ROWMAKER_ROWS), a,
			typeprofile_counts(a, t, i));
	}
}

void annotate_types_rows(const struct form *form, struct out *out, const struct typeprofile *a,
	const struct annotate_options *o)
{
	struct rowmaker document = {.shape = ROWMAKER_OBJECT}, *types;

	rowmaker_row(&document);
	rowmaker_u64(&document, "pace_annotate_types", SCHEMA);
	annotate_add_events(&document, a->profile, a->totals, o->events);
	types = rowmaker_below(&document, "types", ROWMAKER_ROWS);
	vec_each(t, &a->types) {
		const struct profile_type *type = &a->profile->types.at[t->type];

		rowmaker_row(types);
		rowmaker_text(types, "name", type->name);
		rowmaker_u64(types, "size", type->size);
		add_lines(rowmaker_below(types, "lines", ROWMAKER_ROWS), a, t);
	}
	form_show(form, &document, out);
	rowmaker_fini(&document);
}
