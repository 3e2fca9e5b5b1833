#include "profile/key_family.h"

#include <string.h>

#include "symbol/datatype.h"

static const struct profile_access *access_of(const struct profile *p, u64 number)
{
	return &p->accesses.at[number];
}

static u64 type_of(const struct profile *p, u64 number)
{
	return (u64)(uintptr_t)access_of(p, number)->type;
}

/* Of what is not known the reason is in the ledger, not in the rows. */
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

static void print_place(const struct hist *h, const struct hist_entry *e, u64 number,
	struct str *text)
{
	const struct profile_access *a = access_of(h->profile, number);

	(void)e;
	str_add_safe(text, a->type, strlen(a->type));
	if (a->outcome != DATATYPE_FOUND)
		return;
	str_addf(text, " +0x%llx", (unsigned long long)a->offset);
	if (!*a->member)
		return;
	str_add(text, " (");
	str_add_safe(text, a->member, strlen(a->member));
	str_add(text, ")");
}

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "type",
		.header = "Data Type",
		.unknown = "(unknown)",
		.help = "type of the data that the instruction accesses",
		.label = LABEL_ACCESS,
		.value = type_of,
		.compare = key_compare_texts,
		.print = key_print_name},
	{.name = "typeoff",
		.header = "Data Type Offset",
		.unknown = "(unknown)",
		.help = "the type, and which member of it",
		.label = LABEL_ACCESS,
		.value = place_of,
		.compare = compare_places,
		.print = print_place},
};
/* clang-format on */

const struct key_family key_types = {keys, ARRAY_SIZE(keys)};
