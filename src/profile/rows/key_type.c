#include "profile/rows/key_family.h"

#include <string.h>

#include "symbol/types/datatype.h"

static const struct profile_access *access_of(const struct profile *p, u64 number)
{
	return &p->accesses.at[number];
}

static u64 type_of(const struct profile *p, u64 number)
{
	return (u64)(uintptr_t)access_of(p, number)->type;
}

/* All accesses whose type is unknown share a value: the ledger tells the reasons, not the rows. */
static u64 place_of(const struct profile *p, u64 number)
{
	const struct profile_access *a = access_of(p, number);

	for (u64 first = 0; datatype_outcome_reason(a->outcome) && first < number; first++)
		if (access_of(p, first)->type == a->type)
			return first;
	return number;
}

static int compare_places(const struct profile *p, u64 a, u64 b)
{
	const struct profile_access *x = access_of(p, a), *y = access_of(p, b);
	int c = strcmp(x->type, y->type);

	return c                         ? c
		: x->offset != y->offset ? x->offset < y->offset ? -1 : 1
					 : strcmp(x->member, y->member);
}

/* All outcomes without a type have the same name. */
static void cell_of_type(const struct key_value *v, struct cell *ret)
{
	const char *type = profile_text(v->label);

	if (strcmp(type, datatype_outcome_name(DATATYPE_NO_DEBUG)) != 0)
		cell_text(ret, type);
	else
		cell_unknown(ret, CELL_NOT_KNOWN);
}

static void cell_of_place(const struct key_value *v, struct cell *ret)
{
	const struct profile_access *a = access_of(v->hist->profile, v->label);

	if (datatype_outcome_reason(a->outcome)) {
		cell_unknown(ret, CELL_NOT_KNOWN);
		return;
	}
	if (a->outcome == DATATYPE_FOUND)
		datatype_add_place(v->room, a->type, a->offset, a->member);
	else
		str_add_safe(v->room, a->type, strlen(a->type));
	cell_text(ret, str_text(v->room));
}

static u64 line_of(const struct profile *p, u64 number)
{
	return access_of(p, number)->first_of_line;
}

static int compare_lines(const struct profile *p, u64 a, u64 b)
{
	const struct profile_access *x = access_of(p, a), *y = access_of(p, b);
	const u64 m = x->offset / PROFILE_CACHE_LINE, n = y->offset / PROFILE_CACHE_LINE;
	int c = strcmp(x->type, y->type);

	return c ? c : m < n ? -1 : m > n;
}

static void cell_of_line(const struct key_value *v, struct cell *ret)
{
	const struct profile_access *a = access_of(v->hist->profile, v->label);

	if (datatype_outcome_reason(a->outcome)) {
		cell_unknown(ret, CELL_NOT_KNOWN);
		return;
	}
	str_add_safe(v->room, a->type, strlen(a->type));
	if (a->outcome == DATATYPE_FOUND)
		str_addf(v->room, ": cache-line %llu",
			(unsigned long long)(a->offset / PROFILE_CACHE_LINE));
	cell_text(ret, str_text(v->room));
}

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "type",
		.title = "Data Type",
		.help = "type of the data that the instruction accesses",
		.label = LABEL_ACCESS,
		.value = type_of,
		.compare = key_compare_texts,
		.kind = CELL_TEXT,
		.cell = cell_of_type},
	{.name = "typeoff",
		.title = "Data Type Offset",
		.help = "data type, offset and member in it",
		.label = LABEL_ACCESS,
		.value = place_of,
		.compare = compare_places,
		.kind = CELL_TEXT,
		.cell = cell_of_place},
	{.name = "typecln",
		.title = "Data Type Cacheline",
		.help = "data type, and the cache line of it that is accessed",
		.label = LABEL_ACCESS,
		.value = line_of,
		.compare = compare_lines,
		.kind = CELL_TEXT,
		.cell = cell_of_line},
};
/* clang-format on */

const struct key_family key_types = {"data types", keys, ARRAY_SIZE(keys)};
