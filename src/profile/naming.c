#include "profile/naming.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/workers.h"
#include "symbol/demangle.h"
#include "unwind/stack.h"

struct naming {
	struct profile *profile;
	struct resolver *resolver;
	struct sort_item *frames; /* key: address; grouped by DSO */
	size_t *starts; /* by DSO of the profile: its first in `frames`; one more at the end */
	struct resolver_answer *answers; /* by frame */
};

static const struct dso *dso_of(const struct naming *n, size_t i)
{
	return n->resolver->machine->dsos.at.at[n->profile->dsos.at[i].source];
}

/* One DSO: open what belongs to it, then its addresses in ascending order. */
static void name_dso(void *ctx, size_t i, unsigned worker)
{
	struct naming *n = ctx;
	const struct dso *dso = dso_of(n, i);

	(void)worker;
	if (n->starts[i] == n->starts[i + 1])
		return;
	resolver_load(n->resolver, dso);
	for (size_t k = n->starts[i]; k < n->starts[i + 1]; k++) {
		const struct profile_frame *f = &n->profile->frames.at[n->frames[k].value];
		struct resolver_answer a;

		if (f->ending) {
			n->answers[n->frames[k].value] =
				(struct resolver_answer){.name = stack_ending_text(f->ending),
					.start = f->address,
					.end = f->address};
			continue;
		}
		a = f->is_return ? resolver_find_caller(n->resolver, dso, f->address)
				 : resolver_find(n->resolver, dso, f->address);
		n->answers[n->frames[k].value] = a;
	}
}

/* Sorts the frames by DSO, then by address. */
static void group_frames(struct naming *n)
{
	struct profile *p = n->profile;
	size_t *at = mem_zalloc((p->dsos.n + 1) * sizeof(*at));

	n->frames = mem_alloc((p->frames.n + 1) * sizeof(*n->frames));
	n->starts = mem_zalloc((p->dsos.n + 2) * sizeof(*n->starts));
	vec_each(f, &p->frames)
		n->starts[f->dso + 1]++;
	for (size_t i = 0; i < p->dsos.n; i++) {
		n->starts[i + 1] += n->starts[i];
		at[i] = n->starts[i];
	}
	vec_each(f, &p->frames)
		n->frames[at[f->dso]++] = (struct sort_item){f->address, f - p->frames.at};
	for (size_t i = 0; i < p->dsos.n; i++)
		sort_by_key(n->frames + n->starts[i], n->starts[i + 1] - n->starts[i]);
	mem_free(at);
}

/*
 * The symbol of a DSO with that start, created if new. One address has one name, so the start
 * tells.
 */
static u32 get_symbol(struct profile *p, struct table *index, const struct profile_frame *f,
	const struct resolver_answer *a, bool has_parameters)
{
	u64 hash = hash_mix(a->start, (u64)f->dso << 8 | (u64)f->mode << 1 | (a->name != NULL));
	struct table_probe probe = table_probe(index, hash);
	struct profile_symbol symbol = {f->dso, a->start, a->end, NULL, f->mode, a->outcome};
	u32 i;

	while ((i = table_next(index, &probe)) != TABLE_NONE) {
		const struct profile_symbol *s = &p->symbols.at[i];

		if (s->start == a->start && s->dso == f->dso && s->mode == f->mode &&
			!s->name == !a->name)
			return i;
	}
	if (f->ending) {
		struct str text = {0};

		str_addf(&text, "[truncated: %s]", a->name);
		symbol.name = intern_add(&p->strings, str_text(&text), text.n);
		str_fini(&text);
	} else if (a->name) {
		symbol.name = demangle(a->name, has_parameters, &p->strings);
		if (a->is_plt) {
			struct str text = {0};

			str_addf(&text, "%s@plt", symbol.name);
			symbol.name = intern_add(&p->strings, str_text(&text), text.n);
			str_fini(&text);
		} else {
			symbol.name = intern_str(&p->strings, symbol.name);
		}
	}
	table_add(index, hash, p->symbols.n);
	vec_add(&p->symbols, symbol);
	return p->symbols.n - 1;
}

void naming_resolve(struct profile *p, struct resolver *resolver,
	const struct naming_options *options)
{
	struct naming n = {.profile = p, .resolver = resolver};
	struct table index = {0};

	group_frames(&n);
	n.answers = mem_alloc((p->frames.n + 1) * sizeof(*n.answers));
	workers_run(options->n_workers, p->dsos.n, name_dso, &n);
	vec_each(f, &p->frames)
		f->symbol = get_symbol(p, &index, f, &n.answers[f - p->frames.at],
			options->has_parameters);
	table_fini(&index);
	mem_free(n.frames);
	mem_free(n.starts);
	mem_free(n.answers);
}
