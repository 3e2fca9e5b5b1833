#include "profile/code/insnstat.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"

static const char *const no_function = "(no function)", *const no_code = "(code not found)",
			 *const no_row = "(outside of the code)",
			 *const several = "(one of several)", *const unknown_one = "(not known)";

static struct insnstat_row *row_of(struct insnstat *s, const char *name)
{
	const u64 hash = hash_u64((uintptr_t)name);
	struct table_probe probe = table_probe(&s->index, hash);
	u32 i;

	while ((i = table_next(&s->index, &probe)) != TABLE_NONE)
		if (s->rows.at[i].name == name)
			return &s->rows.at[i];
	table_add(&s->index, hash, (u32)s->rows.n);
	vec_add(&s->rows, ((struct insnstat_row){.name = name}));
	return &s->rows.at[s->rows.n - 1];
}

static void count(struct insnstat *s, const char *name, enum insnstat_kind kind, u64 n, u64 places)
{
	struct insnstat_row *row;

	if (!n)
		return;
	row = row_of(s, intern_str(&s->names, name));
	row->of[kind].samples += n;
	row->of[kind].places += places;
	s->all.of[kind].samples += n;
	s->all.of[kind].places += places;
}

void insnstat_add_nameless(struct insnstat *s, const struct annotation *a)
{
	for (size_t e = 0; e < a->profile->events.n; e++)
		count(s, no_function, INSNSTAT_BAD, a->nameless[e].n_samples, 0);
}

/* Whether a word goes before the name of an instruction. */
static bool is_prefix(const char *word, size_t n)
{
	static const char *const prefixes[] = {"lock", "rep", "repe", "repz", "repne", "repnz",
		"bnd", "notrack", "xacquire", "xrelease", "data16"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strlen(prefixes[i]) == n && !strncmp(prefixes[i], word, n))
			return true;
	return false;
}

/* The name of row i, with what is in front of it: "lock addq". */
static const char *name_of(struct insnstat *s, const struct assembly *a, size_t i)
{
	const char *text = assembly_text(a, i);
	size_t at = 0, n;

	do {
		at += strspn(text + at, " \t");
		n = strcspn(text + at, " \t");
		at += n;
	} while (text[at] && is_prefix(text + at - n, n));
	return intern_add(&s->names, text, at);
}

static enum insnstat_kind kind_of(const struct datatype_answer *a)
{
	return a->outcome == DATATYPE_NO_ACCESS               ? INSNSTAT_NONE
		: datatype_outcome_reason(a->outcome) != NULL ? INSNSTAT_BAD
							      : INSNSTAT_GOOD;
}

/* The instruction whose access counts for samples of row i. */
static const char *instruction_of(struct insnstat *s, const struct assembly *a,
	const struct datatype_answer *before, size_t i)
{
	size_t at;

	if (!before)
		return name_of(s, a, i);
	at = search_from(&a->rows.at[0].va, a->rows.n, sizeof(a->rows.at[0]), before->pc);
	if (before->pc && at < a->rows.n && a->rows.at[at].va == before->pc)
		return name_of(s, a, at);
	return datatype_outcome_reason(before->outcome) ? unknown_one : several;
}

static void add_row(struct insnstat *s, const struct assembly *a, const struct rowtypes *types,
	const bool *is_before, size_t i)
{
	const struct annotation_count *counts = &a->counts.at[a->rows.at[i].counts];
	const struct datatype_answer unknown = {.outcome = DATATYPE_NO_DEBUG};
	bool is_counted[2] = {false, false};

	for (size_t e = 0; e < a->annotation->profile->events.n; e++) {
		const struct datatype_answer *answer = !types->answers ? &unknown
			: is_before[e]                                 ? &types->befores[i]
								       : &types->answers[i];

		if (!counts[e].n_samples)
			continue;
		count(s,
			a->no_code.code ? no_code
					: instruction_of(s, a, is_before[e] ? answer : NULL, i),
			kind_of(answer), counts[e].n_samples, !is_counted[is_before[e]]);
		is_counted[is_before[e]] = true;
	}
}

void insnstat_add(struct insnstat *s, const struct assembly *a, const struct rowtypes *types,
	const bool *is_before)
{
	for (size_t i = 0; i < a->rows.n; i++)
		add_row(s, a, types, is_before, i);
	for (size_t e = 0; e < a->annotation->profile->events.n; e++)
		count(s, no_row, INSNSTAT_BAD, a->outside[e].n_samples, 0);
}

static u64 samples_of(const struct insnstat_row *row)
{
	u64 n = 0;

	for (int kind = 0; kind < INSNSTAT_KINDS; kind++)
		n += row->of[kind].samples;
	return n;
}

static int by_samples(const void *left, const void *right)
{
	const struct insnstat_row *a = left, *b = right;
	const u64 n = samples_of(a), m = samples_of(b);

	return n != m ? (n < m ? 1 : -1) : strcmp(a->name, b->name);
}

void insnstat_sort(struct insnstat *s)
{
	if (s->rows.n)
		qsort(s->rows.at, s->rows.n, sizeof(*s->rows.at), by_samples);
	table_clear(&s->index);
}

void insnstat_fini(struct insnstat *s)
{
	vec_fini(&s->rows);
	table_fini(&s->index);
	intern_fini(&s->names);
}
