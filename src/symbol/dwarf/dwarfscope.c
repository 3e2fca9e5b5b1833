#include "symbol/dwarf/dwarfscope.h"

#include <dwarf.h>

#include "base/hash.h"
#include "symbol/dwarf/scopehead.h"
#include "unwind/leb.h"

/* ---- functions and what was inlined into them ---- */

/* The needed attributes of an entry, collected in one pass. */
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

/* Finds the name of the entry at `at`, which is the same for all calls of a function. NULL: not known yet. */
static const char **find_name(struct dwarf_handle *h, const void *at)
{
	struct table_probe probe = table_probe(&h->origin_index, hash_u64((uintptr_t)at));
	u32 i;

	while ((i = table_next(&h->origin_index, &probe)) != TABLE_NONE)
		if (h->origins.at[i].entry == at)
			return &h->origins.at[i].name;
	return NULL;
}

static const char *keep_name(struct dwarf_handle *h, const void *at, const char *name)
{
	table_add(&h->origin_index, hash_u64((uintptr_t)at), (u32)h->origins.n);
	vec_add(&h->origins, ((struct dwarf_origin){at, name}));
	return name;
}

static const char *name_of(struct dwarf_handle *h, Dwarf_Die *die, struct attributes *a)
{
	Dwarf_Attribute *origin = &a->origin;
	const char **known;
	Dwarf_Die named;

	/* A clone or a constructor may have a name of its own. */
	if (a->name.form || !origin->form || !dwarf_formref_die(origin, &named))
		return read_name(die);
	known = find_name(h, named.addr);
	return known ? *known : keep_name(h, named.addr, read_name(&named));
}

/* Where a unit's entries are, and what they refer to. */
struct reading {
	struct dwarf_handle *h;
	struct dietree *tree;
	Dwarf_Die unit;                         /* in libdw; looked up when it is first needed */
	u64 entry;                              /* the offset of its entry */
	struct linetable *files;                /* NULL: none */
	const struct rangelist_source *package; /* of a unit in a package; NULL: not in a package */
	const struct rangelist_source
		*plain; /* of a unit that is read without libdw; NULL: read by libdw */
};

/* Reads an attribute with the offset of a range list. */
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

/* Adds the ranges of a unit in a package, whose lists libdw cannot find. */
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

/* Adds an entry's code. The usual case, one range, needs no further look-up of attributes. */
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

static void add_scope(struct lineindex_maker *m, const char *name, const struct scopehead *call,
	struct linetable *files, u32 parent)
{
	struct lineindex_scope scope = {.parent = parent,
		.name = lineindex_text(&m->names, name),
		.call_line = (u32)MIN(call->call_line, (u64)UINT32_MAX),
		.call_column = (u16)(call->call_column > UINT16_MAX ? 0 : call->call_column)};

	if (call->has_file && files)
		scope.call_file = lineindex_file(m, linetable_path(files, call->call_file));
	vec_add(&m->scopes, scope);
}

/* Takes an entry by means of libdw. Returns false if there are more ranges than any real file has. */
static bool take_by_libdw(struct reading *r, u64 offset, u32 parent, struct lineindex_maker *m,
	struct err *complaint)
{
	size_t before = m->ranges.n;
	struct attributes a = {0};
	struct scopehead call;
	Dwarf_Die die;

	if (!r->unit.addr && !dwarf_offdie(r->h->dwarf, r->entry, &r->unit)) {
		dwarf_complain(complaint, "a unit");
		return true;
	}
	die = (Dwarf_Die){.addr = (char *)r->unit.addr + (offset - r->entry), .cu = r->unit.cu};
	if (dwarf_getattrs(&die, take_attribute, &a, 0) != 1)
		dwarf_complain(complaint, "a function");
	if (!add_code(r, &die, &a, (u32)m->scopes.n + 1, &m->ranges, complaint))
		return false;
	if (m->ranges.n == before)
		return true;
	call = (struct scopehead){.has_file = a.file.form,
		.call_file = number_in(&a.file),
		.call_line = number_in(&a.line),
		.call_column = number_in(&a.column)};
	add_scope(m, name_of(r->h, &die, &a), &call, r->files, parent);
	return true;
}

/* ---- without libdw ---- */

static bool add_range(const struct reading *r, u64 start, u64 end, struct lineindex_maker *m)
{
	if (m->ranges.n >= r->h->ranges_max)
		return false;
	if (start >= r->h->file->first_code && start < end)
		vec_add(&m->ranges, ((struct range){start, end, (u32)m->scopes.n + 1}));
	return true;
}

/* Adds an entry's code. Returns false if libdw is needed, or there are too many ranges. */
static bool add_plain_code(const struct reading *r, const struct scopehead *e,
	struct lineindex_maker *m)
{
	struct rangelist l;
	u64 start, end;

	if (!e->has_ranges)
		return !e->has_low || !e->has_high || add_range(r, e->low, e->high, m);
	if (e->has_low && e->has_high)
		return false;
	rangelist_open(&l, r->plain, e->ranges, false);
	while (rangelist_next(&l, &start, &end))
		if (!add_range(r, start, end, m))
			return false;
	return !l.is_wrong;
}

/* Finds an entry's name. Returns false if libdw is needed. */
static bool find_plain_name(const struct reading *r, u64 offset, const struct scopehead *e,
	const struct dieform_texts *texts, const char **ret_name)
{
	const u8 *info = r->tree->info.at;
	const char **known;

	/* A clone or a constructor may have a name of its own. */
	if (e->linkage_name || e->old_linkage_name || !e->origin)
		return scopehead_name(r->tree, texts, offset, ret_name);
	known = find_name(r->h, info + e->origin);
	if (known)
		*ret_name = *known;
	else if (scopehead_name(r->tree, texts, e->origin, ret_name))
		keep_name(r->h, info + e->origin, *ret_name);
	else
		return false;
	return true;
}

/* Takes an entry of the usual kind. Returns false, with nothing taken, if libdw is needed. */
static bool take_plainly(const struct reading *r, u64 offset, u32 parent, struct lineindex_maker *m)
{
	const struct dieform_texts texts = {r->h->lines.str, r->h->lines.line_str};
	size_t before = m->ranges.n;
	struct scopehead e;
	const char *name;

	if (!r->plain || !scopehead_read(r->tree, &texts, offset, &e))
		return false;
	if (add_plain_code(r, &e, m) && m->ranges.n == before)
		return true;
	if (m->ranges.n > before && find_plain_name(r, offset, &e, &texts, &name)) {
		add_scope(m, name, &e, r->files, parent);
		return true;
	}
	m->ranges.n = before;
	return false;
}

/* ---- the walk ---- */

/* An entry on the walk's path. */
struct step {
	u32 depth;
	u32 scope; /* + 1; 0: none */
};

typedef VEC(struct step) step_list;

static void walk(struct reading *r, struct lineindex_maker *m, struct err *complaint)
{
	struct dietree_entry entry;
	step_list path = {0};

	while (dietree_next(r->tree, &entry)) {
		size_t before = m->scopes.n;
		u32 scope;

		while (path.n && path.at[path.n - 1].depth >= entry.least)
			path.n--;
		scope = path.n ? path.at[path.n - 1].scope : 0;
		/* A function that is declared inside another one is not inlined into it. */
		if (entry.tag == DW_TAG_subprogram)
			scope = 0;
		if (!take_plainly(r, entry.offset, scope, m) &&
			!take_by_libdw(r, entry.offset, scope, m, complaint)) {
			dwarf_complain_ranges(r->h, complaint, "the functions of a unit");
			break;
		}
		if (m->scopes.n > before)
			scope = (u32)m->scopes.n;
		vec_add(&path, ((struct step){entry.depth, scope}));
	}
	if (r->tree->is_wrong)
		dwarf_complain(complaint, "a tree of functions");
	vec_fini(&path);
}

/* Opens the sections of a split unit's file. The last file stays open. */
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

/* The files of a split unit may be in a table of its own, without rows. */
static void take_split_files(struct reading *r, const struct linetable_sections *lines)
{
	struct err ignored;

	if (bytes_left(&lines->line) &&
		!linetable_open(&r->h->split_table, lines, 0, NULL, 8, &r->h->texts, &ignored))
		r->files = &r->h->split_table;
}

/* Finds the sections and the walk for a unit's entries. */
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

/* Finds a unit's entries and sizes. Returns false if its header is malformed. */
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
	*ret_unit = (struct dietree_unit){.begin = begin,
		.first = dwarf_dieoffset(unit),
		.end = (u64)(b.at - tree->info.at) + length,
		.abbrev_offset = abbrevs,
		.address_bytes = address,
		.offset_bytes = offset,
		.version = version};
	return true;
}

/* The name of the file with the functions of a skeleton unit; "" if the unit has them itself. */
static const char *split_name(Dwarf_Die *unit)
{
	Dwarf_Attribute a;
	const char *name = NULL;

	if (dwarf_attr(unit, DW_AT_dwo_name, &a) || dwarf_attr(unit, DW_AT_GNU_dwo_name, &a))
		name = dwarf_formstring(&a);
	return name ? name : "";
}

static void read_entries(struct reading *r, const struct dietree_unit *unit,
	struct lineindex_maker *m, struct err *complaint)
{
	dietree_begin(r->tree, unit);
	walk(r, m, complaint);
	r->h->origins.n = 0;
	table_clear(&r->h->origin_index);
}

static void read_unit(struct reading *r, Dwarf_Die *unit, struct lineindex_maker *m,
	struct err *complaint)
{
	struct dietree_unit measured;

	r->unit = *unit;
	r->entry = dwarf_dieoffset(unit);
	if (measure(r->tree, unit, &measured))
		read_entries(r, &measured, m, complaint);
	else
		dwarf_complain(complaint, "a unit");
}

/* Reads a split unit from the package. Returns false and err if the unit is in none. */
static bool read_packaged(struct reading *r, Dwarf_Die *skeleton, struct lineindex_maker *m,
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
		err_set(err, ERR_NOENT, "'%s' does not contain it: the package is of another build",
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
	struct lineindex_maker *m, struct err *complaint)
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
			"inlined functions are unknown: '%.300s' is not at its recorded path, and %.400s",
			elsewhere, why.msg);
}

void dwarf_read_plain_scopes(struct dwarf_handle *h, const struct unithead *unit,
	struct linetable *files, struct lineindex_maker *m, struct err *complaint)
{
	struct rangelist_source ranges = dwarf_ranges_of(h, unit);
	struct reading r = {.h = h,
		.tree = &h->tree,
		.entry = unit->unit.first,
		.files = files,
		.plain = &ranges};

	read_entries(&r, &unit->unit, m, complaint);
}
