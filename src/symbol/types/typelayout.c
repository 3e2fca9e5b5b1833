#include "symbol/types/typelayout.h"

#include <dwarf.h>
#include <string.h>

#include "symbol/dwarf/dwarffile.h"
#include "symbol/types/dwarftype.h"

enum {
	DEPTH_MAX = 12,
	LINES_MAX = 4096, /* per type */
};

struct placed {
	u32 depth;
	u64 offset;
};

static void add_members(struct typelayout *l, Dwarf_Die *type, struct placed at, size_t most);

static bool is_union(Dwarf_Die *type)
{
	Dwarf_Die plain;

	return dwarf_peel_type(type, &plain) == 0 && dwarf_tag(&plain) == DW_TAG_union_type;
}

/* "slots[64]", "is_open:1" */
static const char *name_of(struct typelayout *l, Dwarf_Die *member, u64 size, u64 element_size,
	bool is_array)
{
	const char *name = dwarf_tag(member) == DW_TAG_member ? dwarf_diename(member) : NULL;
	const char *result;
	struct str text = {0};
	Dwarf_Word bits;

	str_add(&text, name ? name : "");
	if (is_array && element_size && size)
		str_addf(&text, "[%llu]", (unsigned long long)(size / element_size));
	else if (is_array)
		str_add(&text, "[]");
	if (dwarf_number(member, DW_AT_bit_size, &bits))
		str_addf(&text, ":%llu", (unsigned long long)bits);
	result = intern_str(&l->texts, str_text(&text));
	str_fini(&text);
	return result;
}

static const char *type_text(struct typelayout *l, Dwarf_Die *type)
{
	struct str text = {0};
	const char *result;

	dwarftype_add_name(type, &text);
	result = intern_str(&l->texts, str_text(&text));
	str_fini(&text);
	return result;
}

static void add_member(struct typelayout *l, Dwarf_Die *member, struct placed at, size_t most)
{
	struct typelayout_line line = {.depth = at.depth};
	Dwarf_Die type, element, plain;
	u64 offset, element_size;
	bool is_array;

	if (dwarf_hasattr(member, DW_AT_external) || !dwarftype_of(member, &type) ||
		!dwarftype_element(&type, &element) || !dwarftype_member_offset(member, &offset))
		return;
	is_array = !dwarf_peel_type(&type, &plain) && dwarf_tag(&plain) == DW_TAG_array_type;
	element_size = dwarftype_size(&element);
	line.offset = at.offset + offset;
	line.size = dwarftype_size(&type);
	line.type = type_text(l, &element);
	line.name = name_of(l, member, line.size, element_size, is_array);
	if (!dwarftype_has_members(&element) || at.depth >= DEPTH_MAX) {
		vec_add(&l->lines, line);
		return;
	}
	line.kind = is_union(&element) ? TYPELAYOUT_UNION : TYPELAYOUT_STRUCT;
	line.element = is_array ? element_size : 0;
	vec_add(&l->lines, line);
	add_members(l, &element, (struct placed){at.depth + 1, line.offset}, most);
}

static void add_members(struct typelayout *l, Dwarf_Die *type, struct placed at, size_t most)
{
	Dwarf_Die plain, member;

	if (dwarf_peel_type(type, &plain) || dwarf_child(&plain, &member))
		return;
	do {
		int tag = dwarf_tag(&member);

		if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
			add_member(l, &member, at, most);
	} while (l->lines.n < most && !dwarf_siblingof(&member, &member));
}

void typelayout_add(struct typelayout *l, Dwarf_Die *type)
{
	struct typelayout_line line = {.kind = is_union(type) ? TYPELAYOUT_UNION
							      : TYPELAYOUT_STRUCT,
		.size = dwarftype_size(type),
		.type = type_text(l, type),
		.name = intern_str(&l->texts, "")};

	vec_add(&l->lines, line);
	add_members(l, type, (struct placed){1, 0}, l->lines.n + LINES_MAX);
}

void typelayout_fini(struct typelayout *l)
{
	vec_fini(&l->lines);
	intern_fini(&l->texts);
}
