#include "symbol/dwarfscope.h"

#include <dwarf.h>

#include "base/hash.h"

/* ---- functions and what was inlined into them ---- */

/* What is asked of an entry, in one pass over its attributes. */
struct attributes {
	Dwarf_Attribute name, origin, low, high, file, line, column;
	bool has_ranges;
};

static int take_attribute(Dwarf_Attribute *a, void *arg)
{
	struct attributes *all = arg;

	switch (dwarf_whatattr(a)) {
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		all->name = *a;
		break;
	case DW_AT_abstract_origin:
		all->origin = *a;
		break;
	case DW_AT_low_pc:
		all->low = *a;
		break;
	case DW_AT_high_pc:
		all->high = *a;
		break;
	case DW_AT_ranges:
		all->has_ranges = true;
		break;
	case DW_AT_call_file:
		all->file = *a;
		break;
	case DW_AT_call_line:
		all->line = *a;
		break;
	case DW_AT_call_column:
		all->column = *a;
		break;
	default:
		break;
	}
	return DWARF_CB_OK;
}

static u64 number_in(Dwarf_Attribute *a)
{
	Dwarf_Word number;

	return a->form && !dwarf_formudata(a, &number) ? number : 0;
}

static const char *read_name(Dwarf_Die *die)
{
	const char *name = NULL;
	Dwarf_Attribute a;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
		dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		name = dwarf_formstring(&a);
	return name ? name : dwarf_diename(die);
}

/* All calls of a function have its name. */
static const char *name_of(struct dwarf_handle *h, Dwarf_Die *die, struct attributes *a)
{
	Dwarf_Attribute *origin = &a->origin;
	struct table_probe probe;
	struct dwarf_origin new;
	Dwarf_Die named;
	u64 hash;
	u32 i;

	/* A clone or constructor may have one of its own. */
	if (a->name.form || !origin->form || !dwarf_formref_die(origin, &named))
		return read_name(die);
	hash = hash_u64((uintptr_t)named.addr);
	probe = table_probe(&h->origin_index, hash);
	while ((i = table_next(&h->origin_index, &probe)) != TABLE_NONE)
		if (h->origins.at[i].entry == named.addr)
			return h->origins.at[i].name;
	new = (struct dwarf_origin){named.addr, read_name(&named)};
	table_add(&h->origin_index, hash, (u32)h->origins.n);
	vec_add(&h->origins, new);
	return new.name;
}

/* The usual case, one range, without asking libdw for the attributes once more. */
static bool add_code(struct dwarf_handle *h, Dwarf_Die *die, struct attributes *a, u32 value,
	range_list *ranges, struct err *complaint)
{
	Dwarf_Addr low, high;
	Dwarf_Word size;

	if (a->has_ranges || !a->low.form || !a->high.form || dwarf_formaddr(&a->low, &low))
		return dwarf_add_ranges(h, die, value, ranges, complaint);
	if (!dwarf_formudata(&a->high, &size))
		high = low + size;
	else if (dwarf_formaddr(&a->high, &high))
		return true;
	if (ranges->n >= DWARF_RANGES_MAX)
		return false;
	if (low >= h->file->first_code && low < high)
		vec_add(ranges, ((struct range){low, high, value}));
	return true;
}

static void take_scope(struct dwarf_handle *h, Dwarf_Die *die, struct attributes *a,
	struct linetable *files, u32 parent, struct sheet_maker *m)
{
	u64 file = number_in(&a->file), column = number_in(&a->column);
	struct sheet_scope scope = {.parent = parent,
		.name = sheet_text(&m->names, name_of(h, die, a)),
		.call_line = (u32)MIN(number_in(&a->line), (u64)UINT32_MAX),
		.call_column = (u16)(column > UINT16_MAX ? 0 : column)};

	if (a->file.form && files)
		scope.call_file = sheet_file(m, linetable_path(files, file));
	vec_add(&m->scopes, scope);
}

/* An entry that the walk is in. */
struct step {
	u32 depth;
	u32 scope; /* + 1; 0: none */
};

typedef VEC(struct step) step_list;

static void walk(struct dwarf_handle *h, struct dietree *tree, Dwarf_Die *unit,
	struct linetable *files, struct sheet_maker *m, struct err *complaint)
{
	u64 first = dwarf_dieoffset(unit);
	struct dietree_entry entry;
	step_list path = {0};

	while (dietree_next(tree, &entry)) {
		Dwarf_Die die = {.addr = (char *)unit->addr + (entry.offset - first),
			.cu = unit->cu};
		size_t before = m->ranges.n;
		struct attributes a = {0};
		u32 scope;

		while (path.n && path.at[path.n - 1].depth >= entry.least)
			path.n--;
		scope = path.n ? path.at[path.n - 1].scope : 0;
		/* A function inside another one is its own, wherever it is written. */
		if (entry.tag == DW_TAG_subprogram)
			scope = 0;
		if (dwarf_getattrs(&die, take_attribute, &a, 0) != 1)
			dwarf_complain(complaint, "a function");
		if (!add_code(h, &die, &a, (u32)m->scopes.n + 1, &m->ranges, complaint)) {
			dwarf_complain(complaint, "its ranges");
			break;
		}
		if (m->ranges.n > before) {
			take_scope(h, &die, &a, files, scope, m);
			scope = (u32)m->scopes.n;
		}
		vec_add(&path, ((struct step){entry.depth, scope}));
	}
	if (tree->is_wrong)
		dwarf_complain(complaint, "a tree of functions");
	vec_fini(&path);
}

/* The file that a split unit is in: the last one stays open. */
static void open_split(struct dwarf_handle *h, Elf *elf)
{
	bool swap = h->file->swap;

	if (elf == h->split_elf)
		return;
	dietree_fini(&h->split_tree);
	h->split_tree = (struct dietree){
		.info = dwarf_section(elf, swap, ".debug_info.dwo", ".zdebug_info.dwo"),
		.abbrevs = dwarf_section(elf, swap, ".debug_abbrev.dwo", ".zdebug_abbrev.dwo")};
	h->split_lines = (struct linetable_sections){
		.line = dwarf_section(elf, swap, ".debug_line.dwo", ".zdebug_line.dwo"),
		.str = dwarf_section(elf, swap, ".debug_str.dwo", ".zdebug_str.dwo")};
	h->split_elf = elf;
}

/*
 * What has the entries of a unit; and its files, which for a split one may be in a table of its own
 * that has no rows.
 */
static struct dietree *tree_of(struct dwarf_handle *h, Dwarf_Die *unit, struct linetable **files)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	Elf *elf = dwarf ? dwarf_getelf(dwarf) : NULL;
	struct err ignored;

	if (!elf || dwarf == h->dwarf)
		return &h->tree;
	open_split(h, elf);
	if (bytes_left(&h->split_lines.line) &&
		!linetable_open(&h->split_table, &h->split_lines, 0, NULL, 8, &h->texts, &ignored))
		*files = &h->split_table;
	return &h->split_tree;
}

/* Where the unit's entries are; false if its header makes no sense. */
static bool measure(const struct dietree *tree, Dwarf_Die *unit, struct dietree_unit *ret_unit)
{
	struct bytes b = tree->info;
	Dwarf_Off abbrevs;
	Dwarf_Half version;
	u8 address, offset;
	u64 length, begin = dwarf_dieoffset(unit) - dwarf_cuoffset(unit);
	Dwarf_Die first;
	u32 word;

	if (!dwarf_cu_die(unit->cu, &first, &version, &abbrevs, &address, &offset, NULL, NULL) ||
		!bytes_skip(&b, begin) || !bytes_u32(&b, &word))
		return false;
	length = word;
	if (word == UINT32_MAX && !bytes_u64(&b, &length))
		return false;
	if (length > bytes_left(&b))
		return false;
	*ret_unit = (struct dietree_unit){.first = dwarf_dieoffset(unit),
		.end = (u64)(b.at - tree->info.at) + length,
		.abbrev_offset = abbrevs,
		.address_bytes = address,
		.offset_bytes = offset,
		.version = version};
	return true;
}

/* Which file has the functions of a unit that has none: "" if it has them itself. */
static const char *split_name(Dwarf_Die *unit)
{
	Dwarf_Attribute a;
	const char *name = NULL;

	if (dwarf_attr(unit, DW_AT_dwo_name, &a) || dwarf_attr(unit, DW_AT_GNU_dwo_name, &a))
		name = dwarf_formstring(&a);
	return name ? name : "";
}

void dwarf_read_scopes(struct dwarf_handle *h, Dwarf_Die *unit, struct linetable *files,
	struct sheet_maker *m, struct err *complaint)
{
	const char *elsewhere = split_name(unit);
	struct dietree_unit measured;
	struct dietree *tree;
	Dwarf_Die split;

	if (*elsewhere) {
		/* libdw 0.188 does not read .dwp files. */
		if (dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) ||
			dwarf_tag(&split) != DW_TAG_compile_unit) {
			if (!complaint->code)
				err_set(complaint, ERR_NOENT,
					"what was inlined is not known: '%s' is not where it was written (.dwp files are not read)",
					elsewhere);
			return;
		}
		*unit = split;
	}
	tree = tree_of(h, unit, &files);
	if (!measure(tree, unit, &measured)) {
		dwarf_complain(complaint, "a unit");
		return;
	}
	dietree_begin(tree, &measured);
	walk(h, tree, unit, files, m, complaint);
	h->origins.n = 0;
	table_clear(&h->origin_index);
}
