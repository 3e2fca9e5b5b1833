#include "symbol/types/typemembers.h"

#include <dwarf.h>

#include "base/hash.h"
#include "base/search.h"
#include "symbol/dwarf/dwarffile.h"
#include "symbol/types/dwarftype.h"

/* The number of bytes that a member covers; arrays without length reach to the end. */
static u64 size_of(Dwarf_Die *member, Dwarf_Die *type, u64 rest)
{
	Dwarf_Word bits;
	u64 size = dwarftype_size(type);

	if (!size && dwarf_number(member, DW_AT_data_bit_offset, &bits))
		return 8;
	return size ? size : rest;
}

static void add_member(struct typemember_list *list, Dwarf_Die *entry, u64 whole)
{
	int tag = dwarf_tag(entry);
	struct typemember m = {.entry = *entry};

	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		dwarf_hasattr(entry, DW_AT_external) || !dwarftype_of(entry, &m.type) ||
		!dwarftype_member_offset(entry, &m.start))
		return;
	m.size = size_of(entry, &m.type, whole - m.start);
	vec_add(&list->at, m);
}

static void note_reach(struct typemember_list *list)
{
	u64 reach = 0;

	for (size_t i = 0; i < list->at.n; i++) {
		const struct typemember *m = &list->at.at[i];
		u64 end = m->start + MIN(m->size, UINT64_MAX - m->start);

		if (i && m->start < m[-1].start) {
			vec_fini(&list->reach);
			return;
		}
		reach = MAX(reach, end);
		vec_add(&list->reach, reach);
	}
}

const struct typemember_list *typemembers_of(struct typemembers *t, Dwarf_Die *type)
{
	u64 hash = hash_u64((u64)(uintptr_t)type->addr);
	struct table_probe probe = table_probe(&t->by_type, hash);
	struct typemember_list list = {.type = type->addr};
	Dwarf_Die at;
	u64 whole;
	u32 i;

	while ((i = table_next(&t->by_type, &probe)) != TABLE_NONE)
		if (t->lists.at[i].type == type->addr)
			return &t->lists.at[i];
	whole = dwarftype_size(type);
	if (!dwarf_child(type, &at))
		do {
			add_member(&list, &at, whole);
		} while (!dwarf_siblingof(&at, &at));
	note_reach(&list);
	table_add(&t->by_type, hash, (u32)t->lists.n);
	vec_add(&t->lists, list);
	return &t->lists.at[t->lists.n - 1];
}

const struct typemember *typemembers_next(const struct typemember_list *list, size_t *at,
	u64 offset)
{
	/* Skip members before the first one that reaches that far. */
	if (!*at)
		*at = search_behind(list->reach.at, list->reach.n, sizeof(*list->reach.at), offset);
	while (*at < list->at.n) {
		const struct typemember *m = &list->at.at[(*at)++];

		if (offset >= m->start && offset - m->start < m->size)
			return m;
		/* They are in ascending order, so no later one covers it. */
		if (list->reach.n && m->start > offset)
			*at = list->at.n;
	}
	return NULL;
}

void typemembers_fini(struct typemembers *t)
{
	vec_each(list, &t->lists) {
		vec_fini(&list->at);
		vec_fini(&list->reach);
	}
	vec_fini(&t->lists);
	table_fini(&t->by_type);
}
