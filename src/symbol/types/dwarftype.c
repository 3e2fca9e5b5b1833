#include "symbol/types/dwarftype.h"

#include <dwarf.h>
#include <string.h>

#include "symbol/dwarf/dwarffile.h"

enum {
	DEPTH_MAX = 32,       /* of nested types; deeper ones are circular */
	ALTERNATIVES_MAX = 3, /* members of a union that are named */
	SCOPES_MAX = 256,     /* entries that contain a type */
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

/* Strips typedefs, const and the like; *ret_typedef: the name of the last typedef. */
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
	/* Also if it is const void. */
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

/* The child that is at an offset or contains it. Returns false if there is none. */
static bool child_around(Dwarf_Die *outer, Dwarf_Off place, Dwarf_Die *ret)
{
	Dwarf_Die at;
	bool is_found = false;

	if (dwarf_child(outer, &at))
		return false;
	/* Entries follow one another, each with its children behind it. */
	while (dwarf_dieoffset(&at) <= place) {
		is_found = true;
		*ret = at;
		if (dwarf_siblingof(&at, &at))
			break;
	}
	return is_found;
}

/* Appends the namespaces and classes of a type: "std::", outermost first. */
static void add_scopes(Dwarf_Die *type, struct str *text)
{
	Dwarf_Off place = dwarf_dieoffset(type);
	Dwarf_Die at, inner;

	if (!dwarf_diecu(type, &at, NULL, NULL))
		return;
	for (int depth = 0; depth < SCOPES_MAX && child_around(&at, place, &inner); depth++) {
		const char *name = dwarf_diename(&inner);
		int tag = dwarf_tag(&inner);

		if (dwarf_dieoffset(&inner) == place)
			return;
		if (tag == DW_TAG_namespace || is_tag_with_members(tag))
			str_addf(text, "%s::", name ? name : "(anonymous)");
		at = inner;
	}
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

		/* const without a type is const void. */
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

static void add_path(struct str *path, size_t start, const char *name)
{
	if (path->n > start && path->at[path->n - 1] != '|')
		str_addc(path, '.');
	str_add(path, name);
}

/* Appends the names of all members of a union at that offset. */
static void add_alternatives(const struct typemember_list *members, u64 offset, struct str *path,
	size_t start)
{
	const struct typemember *m;
	size_t n = 0, at = 0;

	while ((m = typemembers_next(members, &at, offset)) != NULL) {
		Dwarf_Die entry = m->entry;
		const char *name = dwarf_diename(&entry);

		if (n == ALTERNATIVES_MAX) {
			str_add(path, "|...");
			return;
		}
		if (n++)
			str_addc(path, '|');
		add_path(path, start, name ? name : "(anonymous)");
	}
}

bool dwarftype_member(struct typemembers *known, Dwarf_Die *type, u64 offset, struct str *path,
	Dwarf_Die *ret_type)
{
	size_t start = path->n;
	Dwarf_Die at;
	const char *ignored;

	if (!peel(type, &at, &ignored))
		return false;
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		bool is_shared = dwarf_tag(&at) == DW_TAG_union_type;
		const struct typemember_list *members = typemembers_of(known, &at);
		size_t position = 0;
		const struct typemember *m = typemembers_next(members, &position, offset);
		Dwarf_Die entry, its_type, whole;
		const char *name;
		u64 size;

		if (!m)
			return depth > 0;
		entry = m->entry;
		/* Bit fields share a word: its address does not tell which one is accessed. */
		is_shared |= dwarf_hasattr(&entry, DW_AT_bit_size) != 0;
		if (is_shared && typemembers_next(members, &position, offset)) {
			add_alternatives(members, offset, path, start);
			ret_type->addr = NULL;
			return true;
		}
		name = dwarf_diename(&entry);
		if (name && dwarf_tag(&entry) == DW_TAG_member)
			add_path(path, start, name);
		its_type = m->type;
		offset -= m->start;
		if (!peel(&its_type, &whole, &ignored) || !dwarftype_element(&its_type, ret_type) ||
			!peel(ret_type, &at, &ignored))
			return false;
		if (dwarf_tag(&whole) == DW_TAG_array_type)
			str_add(path, "[]");
		size = dwarftype_size(&at);
		offset = size ? offset % size : 0;
		if (!is_tag_with_members(dwarf_tag(&at)))
			return true;
	}
	return false;
}
