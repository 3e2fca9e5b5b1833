#include "symbol/dwarftype.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/dwarffile.h"

enum {
	DEPTH_MAX = 32,       /* of types in types: beyond it they go in circles */
	ALTERNATIVES_MAX = 3, /* members of a union that are named */
};

bool dwarftype_of(Dwarf_Die *entry, Dwarf_Die *ret_type)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(entry, DW_AT_type, &a) && dwarf_formref_die(&a, ret_type);
}

static bool is_alias(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
		tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/* Goes through typedefs, const and the like; *ret_typedef: the last one's name. */
static bool peel(Dwarf_Die *type, Dwarf_Die *ret, const char **ret_typedef)
{
	Dwarf_Die at = *type;

	*ret_typedef = NULL;
	for (int depth = 0; is_alias(dwarf_tag(&at)); depth++) {
		Dwarf_Die next;

		if (dwarf_tag(&at) == DW_TAG_typedef)
			*ret_typedef = dwarf_diename(&at);
		if (depth == DEPTH_MAX || !dwarftype_of(&at, &next))
			return false;
		at = next;
	}
	*ret = at;
	return true;
}

bool dwarftype_pointee(Dwarf_Die *type, Dwarf_Die *ret_type)
{
	const char *ignored;
	Dwarf_Die pointer, target;

	if (!peel(type, &pointer, &ignored))
		return false;
	switch (dwarf_tag(&pointer)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		break;
	default:
		return false;
	}
	/* Through const void too. */
	if (!dwarftype_of(&pointer, &target) || !peel(&target, &pointer, &ignored) ||
		dwarf_tag(&pointer) == DW_TAG_subroutine_type ||
		dwarf_tag(&pointer) == DW_TAG_unspecified_type)
		return false;
	*ret_type = target;
	return true;
}

bool dwarftype_element(Dwarf_Die *type, Dwarf_Die *ret_type)
{
	const char *ignored;
	Dwarf_Die named = *type, at;

	for (int depth = 0;; depth++) {
		if (!peel(&named, &at, &ignored))
			return false;
		if (dwarf_tag(&at) != DW_TAG_array_type)
			break;
		if (depth == DEPTH_MAX || !dwarftype_of(&at, &named))
			return false;
	}
	*ret_type = named;
	return true;
}

bool dwarftype_is_same(Dwarf_Die *a, Dwarf_Die *b)
{
	const char *ignored;
	Dwarf_Die x, y;

	return a->addr == b->addr ||
		(peel(a, &x, &ignored) && peel(b, &y, &ignored) && x.addr == y.addr);
}

u64 dwarftype_size(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) ? 0 : size;
}

static bool is_tag_with_members(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool dwarftype_has_members(Dwarf_Die *type)
{
	const char *ignored;
	Dwarf_Die plain;

	return peel(type, &plain, &ignored) && is_tag_with_members(dwarf_tag(&plain));
}

/* ---- names ---- */

/* Namespaces and classes around a type: "std::", outermost first. */
static void add_scopes(Dwarf_Die *type, struct str *text)
{
	Dwarf_Die *scopes = NULL;
	int n = dwarf_getscopes_die(type, &scopes);

	for (int i = n - 1; i > 0; i--) {
		const char *name = dwarf_diename(&scopes[i]);
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_namespace || is_tag_with_members(tag))
			str_addf(text, "%s::", name ? name : "(anonymous)");
	}
	if (n > 0)
		free(scopes);
}

static const char *kind_of(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_class_type:
		return "class ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

static void add_plain_name(Dwarf_Die *type, const char *alias, struct str *text)
{
	const char *name = dwarf_diename(type);
	int tag = dwarf_tag(type);

	if (name) {
		str_add(text, kind_of(tag));
		if (*kind_of(tag))
			add_scopes(type, text);
		str_add(text, name);
	} else if (alias) {
		str_add(text, alias);
	} else if (tag == DW_TAG_subroutine_type) {
		str_add(text, "function");
	} else {
		str_addf(text, "%s(anonymous)", kind_of(tag));
	}
}

void dwarftype_add_name(Dwarf_Die *type, struct str *text)
{
	Dwarf_Die at = *type, next;
	const char *alias, *ending = "";
	size_t n_stars = 0;

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		int tag;

		/* What is behind const of nothing is void. */
		if (!peel(&at, &next, &alias)) {
			str_add(text, alias ? alias : "void");
			break;
		}
		tag = dwarf_tag(&next);
		if (tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type)
			ending = "&";
		else if (tag == DW_TAG_pointer_type)
			n_stars++;
		else if (tag == DW_TAG_array_type)
			ending = "[]";
		else {
			add_plain_name(&next, alias, text);
			break;
		}
		if (!dwarftype_of(&next, &at)) {
			str_add(text, "void");
			break;
		}
	}
	if (n_stars || *ending)
		str_addc(text, ' ');
	for (size_t i = 0; i < n_stars; i++)
		str_addc(text, '*');
	str_add(text, ending);
}

/* ---- members ---- */

bool dwarftype_member_offset(Dwarf_Die *member, u64 *ret_offset)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	Dwarf_Word number;
	size_t n;

	*ret_offset = 0;
	if (dwarf_number(member, DW_AT_data_bit_offset, &number)) {
		*ret_offset = number / 8;
		return true;
	}
	if (!dwarf_attr(member, DW_AT_data_member_location, &a))
		return true;
	if (!dwarf_formudata(&a, &number)) {
		*ret_offset = number;
		return true;
	}
	if (dwarf_getlocation(&a, &ops, &n) || n != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*ret_offset = ops[0].number;
	return true;
}

/* How many bytes a member may be asked for in; arrays without length reach to the end. */
static u64 member_size(Dwarf_Die *member, Dwarf_Die *type, u64 rest)
{
	Dwarf_Word bits;
	u64 size = dwarftype_size(type);

	if (dwarf_number(member, DW_AT_data_bit_offset, &bits) && !size)
		return 8;
	return size ? size : rest;
}

struct member {
	Dwarf_Die entry, type;
	u64 offset; /* of what is asked for, in it */
};

/* The next member that covers the offset, from `at` on, which moves behind it. */
static bool next_member(Dwarf_Die *at, bool *has_more, u64 offset, u64 end, struct member *ret)
{
	while (*has_more) {
		Dwarf_Die entry = *at;
		int tag = dwarf_tag(&entry);
		u64 start;

		*has_more = !dwarf_siblingof(at, at);
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
			dwarf_hasattr(&entry, DW_AT_external) ||
			!dwarftype_of(&entry, &ret->type) ||
			!dwarftype_member_offset(&entry, &start))
			continue;
		if (offset < start ||
			offset - start >= member_size(&entry, &ret->type, end - start))
			continue;
		ret->entry = entry;
		ret->offset = offset - start;
		return true;
	}
	return false;
}

static void add_path(struct str *path, size_t start, const char *name)
{
	if (path->n > start && path->at[path->n - 1] != '|')
		str_addc(path, '.');
	str_add(path, name);
}

/* The names of all that lie there in a union. */
static void add_alternatives(Dwarf_Die *type, u64 offset, u64 size, struct str *path, size_t start)
{
	Dwarf_Die at;
	struct member m;
	bool has_more = !dwarf_child(type, &at);
	size_t n = 0;

	while (next_member(&at, &has_more, offset, size, &m)) {
		const char *name = dwarf_diename(&m.entry);

		if (n == ALTERNATIVES_MAX) {
			str_add(path, "|...");
			return;
		}
		if (n++)
			str_addc(path, '|');
		add_path(path, start, name ? name : "(anonymous)");
	}
}

bool dwarftype_member(Dwarf_Die *type, u64 offset, struct str *path, Dwarf_Die *ret_type)
{
	size_t start = path->n;
	Dwarf_Die at;
	const char *ignored;

	if (!peel(type, &at, &ignored))
		return false;
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		u64 size = dwarftype_size(&at);
		bool is_shared = dwarf_tag(&at) == DW_TAG_union_type, has_more;
		struct member m, other;
		const char *name;
		Dwarf_Die child, whole;

		has_more = !dwarf_child(&at, &child);
		if (!next_member(&child, &has_more, offset, size, &m))
			return depth > 0;
		/* Bits have a word together: which of them is meant, its address does not say. */
		is_shared |= dwarf_hasattr(&m.entry, DW_AT_bit_size) != 0;
		if (is_shared && next_member(&child, &has_more, offset, size, &other)) {
			add_alternatives(&at, offset, size, path, start);
			ret_type->addr = NULL;
			return true;
		}
		name = dwarf_diename(&m.entry);
		if (name && dwarf_tag(&m.entry) == DW_TAG_member)
			add_path(path, start, name);
		if (!peel(&m.type, &whole, &ignored) || !dwarftype_element(&m.type, ret_type) ||
			!peel(ret_type, &at, &ignored))
			return false;
		if (dwarf_tag(&whole) == DW_TAG_array_type)
			str_add(path, "[]");
		size = dwarftype_size(&at);
		offset = size ? m.offset % size : 0;
		if (!is_tag_with_members(dwarf_tag(&at)))
			return true;
	}
	return false;
}
