#include "profile/code/typeprofile.h"

#include <stdlib.h>

#include "symbol/types/typelayout.h"

static void count(struct annotation_count *c, const struct profile_row *row)
{
	c->n_samples += row->n_samples;
	c->period += row->period;
}

static bool covers(const struct profile_member *m, u64 offset)
{
	/* An array of unknown length extends to the end. */
	return offset >= m->offset && (!m->size || offset - m->offset < m->size);
}

/* The member of `line` that contains the byte at *offset of the outermost type; 0: none. */
static u32 member_at(const struct profile_member *lines, u32 n, u32 line, u64 *offset)
{
	for (u32 i = line + 1; i < n && lines[i].depth > lines[line].depth; i++) {
		if (lines[i].depth != lines[line].depth + 1 || !covers(&lines[i], *offset))
			continue;
		if (lines[i].element)
			*offset = lines[i].offset + (*offset - lines[i].offset) % lines[i].element;
		return i;
	}
	return 0;
}

static void count_access(struct typeprofile *a, const struct typeprofile_type *t, u64 offset,
	const struct profile_row *row)
{
	const struct profile_type *type = &a->profile->types.at[t->type];
	const struct profile_member *lines = &a->profile->members.at[type->first];
	u32 line = 0;

	do {
		count(&a->counts[t->counts + line * a->profile->events.n + row->event], row);
		if (lines[line].kind != TYPELAYOUT_STRUCT)
			break;
		line = member_at(lines, type->n, line, &offset);
	} while (line);
}

static int by_share(const void *x, const void *y)
{
	const struct typeprofile_type *a = x, *b = y;

	return a->share != b->share ? a->share < b->share ? 1 : -1 : a->type < b->type ? -1 : 1;
}

static void sort_types(struct typeprofile *a)
{
	vec_each(t, &a->types) {
		const struct annotation_count *all = typeprofile_counts(a, t, 0);

		for (size_t e = 0; e < a->profile->events.n; e++)
			if (a->totals[e].period)
				t->share = MAX(t->share,
					100.0 * (double)all[e].period /
						(double)a->totals[e].period);
	}
	if (a->types.n)
		qsort(a->types.at, a->types.n, sizeof(*a->types.at), by_share);
}

void typeprofile_init(struct typeprofile *a, const struct profile *p)
{
	size_t n = 0;

	memset(a, 0, sizeof(*a));
	a->profile = p;
	a->totals = mem_zalloc((p->events.n + 1) * sizeof(*a->totals));
	a->typed = mem_zalloc((p->events.n + 1) * sizeof(*a->typed));
	vec_each(type, &p->types) {
		vec_add(&a->types,
			((struct typeprofile_type){.type = (u32)(type - p->types.at),
				.counts = n}));
		n += type->n * p->events.n;
	}
	a->counts = mem_zalloc((n + 1) * sizeof(*a->counts));
	for (size_t i = 0; i < p->rows.n; i++) {
		const struct profile_row *row = &p->rows.at[i];
		const struct profile_access *access =
			&p->accesses.at[profile_label(p, i, LABEL_ACCESS)];

		count(&a->totals[row->event], row);
		if (!access->whole)
			continue;
		count(&a->typed[row->event], row);
		count_access(a, &a->types.at[access->whole - 1], access->offset, row);
	}
	sort_types(a);
}

void typeprofile_fini(struct typeprofile *a)
{
	vec_fini(&a->types);
	mem_free(a->counts);
	mem_free(a->totals);
	mem_free(a->typed);
}

static bool is_called(const char *type, const char *name)
{
	static const char *const kinds[] = {"struct ", "class ", "union "};

	if (!strcmp(type, name))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i]);

		if (!strncmp(type, kinds[i], n) && !strcmp(type + n, name))
			return true;
	}
	return false;
}

bool typeprofile_keep(struct typeprofile *a, const char *name)
{
	size_t kept = 0;

	vec_each(t, &a->types)
		if (is_called(a->profile->types.at[t->type].name, name))
			a->types.at[kept++] = *t;
	a->types.n = kept;
	return kept > 0;
}
