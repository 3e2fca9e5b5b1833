#include "symbol/dwarfscope.h"

#include <dwarf.h>

#include "base/hash.h"
#include "unwind/leb.h"

/* ---- functions and what was inlined into them ---- */

/* What is asked of an entry, in one pass over its attributes. */
struct attributes {
	Dwarf_Attribute name, origin, low, high, ranges, file, line, column;
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
		all->ranges = *a;
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

/* What has the entries of a unit, and what they refer to. */
struct reading {
	struct dwarf_handle *h;
	struct dietree *tree;
	struct linetable *files;                /* NULL: none */
	const struct rangelist_source *package; /* of a unit in a package; NULL: it is in none */
};

/* The value of an attribute that says where a list of ranges is. */
static bool read_list_place(const struct reading *r, const Dwarf_Attribute *a, u64 *ret_value)
{
	const u8 *end = r->tree->info.at + r->tree->end;
	struct bytes b = bytes_of(a->valp, (size_t)(end - a->valp));
	u32 word;

	b.swap = r->tree->info.swap;
	if (a->form == DW_FORM_rnglistx)
		return leb_u64(&b, ret_value);
	if (a->form == DW_FORM_data8 ||
		(a->form == DW_FORM_sec_offset && r->tree->unit.offset_bytes == 8))
		return bytes_u64(&b, ret_value);
	if ((a->form != DW_FORM_sec_offset && a->form != DW_FORM_data4) || !bytes_u32(&b, &word))
		return false;
	*ret_value = word;
	return true;
}

/* libdw does not know where the lists of a unit in a package are. */
static bool add_list(const struct reading *r, const Dwarf_Attribute *a, u32 value,
	range_list *ranges, struct err *complaint)
{
	struct rangelist l = {.is_wrong = true};
	u64 place, start, end;

	if (read_list_place(r, a, &place)) {
		rangelist_open(&l, r->package, place, a->form == DW_FORM_rnglistx);
		while (rangelist_next(&l, &start, &end)) {
			if (ranges->n >= r->h->ranges_max)
				return false;
			if (start >= r->h->file->first_code && start < end)
				vec_add(ranges, ((struct range){start, end, value}));
		}
	}
	if (l.is_wrong)
		dwarf_complain(complaint, "a list of ranges");
	return true;
}

/* The usual case, one range, without asking libdw for the attributes once more. */
static bool add_code(const struct reading *r, Dwarf_Die *die, struct attributes *a, u32 value,
	range_list *ranges, struct err *complaint)
{
	Dwarf_Addr low, high;
	Dwarf_Word size;

	if (a->ranges.form && r->package)
		return add_list(r, &a->ranges, value, ranges, complaint);
	if (a->ranges.form || !a->low.form || !a->high.form || dwarf_formaddr(&a->low, &low))
		return dwarf_add_ranges(r->h, die, value, ranges, complaint);
	if (!dwarf_formudata(&a->high, &size))
		high = low + size;
	else if (dwarf_formaddr(&a->high, &high))
		return true;
	if (ranges->n >= r->h->ranges_max)
		return false;
	if (low >= r->h->file->first_code && low < high)
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

static void walk(const struct reading *r, Dwarf_Die *unit, struct sheet_maker *m,
	struct err *complaint)
{
	u64 first = dwarf_dieoffset(unit);
	struct dietree_entry entry;
	step_list path = {0};

	while (dietree_next(r->tree, &entry)) {
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
		if (!add_code(r, &die, &a, (u32)m->scopes.n + 1, &m->ranges, complaint)) {
			dwarf_complain_ranges(r->h, complaint, "the functions of a unit");
			break;
		}
		if (m->ranges.n > before) {
			take_scope(r->h, &die, &a, r->files, scope, m);
			scope = (u32)m->scopes.n;
		}
		vec_add(&path, ((struct step){entry.depth, scope}));
	}
	if (r->tree->is_wrong)
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
	dwarf_allow_ranges(h, h->split_tree.info,
		dwarf_section(elf, swap, ".debug_rnglists.dwo", ".zdebug_rnglists.dwo"));
	dwarf_allow_ranges(h, h->split_tree.info, h->ranges);
	h->split_elf = elf;
}

/* Files of a split unit may be in a table of its own, which has no rows. */
static void take_split_files(struct reading *r, const struct linetable_sections *lines)
{
	struct err ignored;

	if (bytes_left(&lines->line) &&
		!linetable_open(&r->h->split_table, lines, 0, NULL, 8, &r->h->texts, &ignored))
		r->files = &r->h->split_table;
}

/* What has the entries of a unit. */
static void open_unit(struct reading *r, Dwarf_Die *unit)
{
	struct dwarf_handle *h = r->h;
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	Elf *elf = dwarf ? dwarf_getelf(dwarf) : NULL;

	r->tree = &h->tree;
	if (!elf || dwarf == h->dwarf)
		return;
	open_split(h, elf);
	r->tree = &h->split_tree;
	take_split_files(r, &h->split_lines);
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

static void read_unit(struct reading *r, Dwarf_Die *unit, struct sheet_maker *m,
	struct err *complaint)
{
	struct dietree_unit measured;

	if (!measure(r->tree, unit, &measured)) {
		dwarf_complain(complaint, "a unit");
		return;
	}
	dietree_begin(r->tree, &measured);
	walk(r, unit, m, complaint);
	r->h->origins.n = 0;
	table_clear(&r->h->origin_index);
}

/* False and err: it is in no package. */
static bool read_packaged(struct reading *r, Dwarf_Die *skeleton, struct sheet_maker *m,
	struct err *complaint, struct err *err)
{
	const struct dwp *package = dwarf_package(r->h->file, err);
	struct dwp_unit unit;
	struct dwarfpack pack;
	Dwarf_Die first;
	uint64_t id;

	if (!package)
		return false;
	if (dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) ||
		!dwp_find(package, id, &unit)) {
		err_set(err, ERR_NOENT, "'%s' does not have it: it is of another build",
			package->elf.path);
		return false;
	}
	if (dwarfpack_open(&pack, package, &unit, skeleton, &r->h->file->package_sections, &first,
		    err))
		return false;
	r->tree = &pack.tree;
	r->package = &pack.ranges;
	dwarf_allow_ranges(r->h, pack.tree.info, pack.ranges.lists);
	take_split_files(r, &pack.lines);
	read_unit(r, &first, m, complaint);
	dwarfpack_close(&pack);
	return true;
}

void dwarf_read_scopes(struct dwarf_handle *h, Dwarf_Die *unit, struct linetable *files,
	struct sheet_maker *m, struct err *complaint)
{
	struct reading r = {.h = h, .files = files};
	const char *elsewhere = split_name(unit);
	struct err why;
	Dwarf_Die split;

	if (!*elsewhere) {
		open_unit(&r, unit);
		read_unit(&r, unit, m, complaint);
		return;
	}
	if (!dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) &&
		dwarf_tag(&split) == DW_TAG_compile_unit) {
		open_unit(&r, &split);
		read_unit(&r, &split, m, complaint);
		return;
	}
	if (!read_packaged(&r, unit, m, complaint, &why) && !complaint->code)
		err_set(complaint, ERR_NOENT,
			"what was inlined is not known: '%.300s' is not where it was written, and %.400s",
			elsewhere, why.msg);
}
