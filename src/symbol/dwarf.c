#include "symbol/dwarf.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <pthread.h>
#include <unistd.h>

#include "base/hash.h"
#include "symbol/dietree.h"
#include "symbol/plainelf.h"

/* Beyond any real unit: what claims to be larger is damaged or meant to hurt. */
#define UNIT_BYTES_MAX  (256ull << 20)
#define LINES_BYTES_MAX (64ull << 20)
#define RANGES_MAX      (8u << 20)
#define UNPACKED_MAX    (4ull << 30)

struct dwarf_file {
	int fd;
	struct str image; /* of the file, if libelf cannot unpack it */
	Elf *elf;
	bool swap;
	u64 first_code;       /* the lowest address of code: what linkers drop is left at 0 or 1 */
	pthread_mutex_t lock; /* libelf is for one thread: handles are opened one at a time */
	VEC(struct dwarf_handle *) handles;
	struct dwarf_handle *spare; /* opened, and not yet asked for */
};

/* The name of a function, found for one of its calls. */
struct origin {
	const void *entry;
	const char *name;
};

struct dwarf_handle {
	struct dwarf_file *file;
	Dwarf *dwarf;
	struct bytes line_section; /* unpacked */
	struct dietree tree;       /* of the file's own units */
	const Elf *split_elf;      /* whose units split_tree is of, the last one */
	struct dietree split_tree;
	/* Names of functions by where their entries are, for the unit that is read. */
	VEC(struct origin) origins;
	struct table origin_index;
};

/* ---- what is wrong with the file ---- */

/* The first complaint stays: the others mostly follow from it. */
static void complain(struct err *complaint, const char *what)
{
	int code = dwarf_errno();

	if (!complaint->code)
		err_set(complaint, ERR_FORMAT, "its debug information is damaged, %s: %s", what,
			code ? dwarf_errmsg(code) : "it makes no sense");
}

static void complain_size(struct err *complaint, const char *what, u64 bytes, u64 limit)
{
	if (!complaint->code)
		err_set(complaint, ERR_LIMIT,
			"%s of %llu MB is left out: no more than %llu MB are read", what,
			(unsigned long long)bytes >> 20, (unsigned long long)limit >> 20);
}

/* ---- the file ---- */

static u64 first_code(const struct elf *elf)
{
	u64 first = UINT64_MAX;

	for (u32 i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].flags & SHF_EXECINSTR)
			first = MIN(first, elf->sections[i].addr);
	return first == UINT64_MAX ? 0 : first;
}

bool dwarf_is_in(const struct elf *elf)
{
	return elf_section(elf, ".debug_info") || elf_section(elf, ".zdebug_info");
}

/* A small file may claim anything. */
u64 dwarf_packed_bytes(const struct elf *elf)
{
	u64 all = 0;

	for (u32 i = 0; i < elf->n_sections; i++) {
		u32 type, word;
		u64 size = 0;
		struct bytes b;

		if (!(elf->sections[i].flags & SHF_COMPRESSED) ||
			!elf_raw(elf, &elf->sections[i], &b) || !bytes_u32(&b, &type) ||
			!bytes_u32(&b, &word))
			continue;
		if (!elf->is_64)
			size = word;
		else if (!bytes_u64(&b, &size))
			continue;
		all = size > UINT64_MAX - all ? UINT64_MAX : all + size;
	}
	return all;
}

static int open_elf(struct dwarf_file *f, const struct elf *elf, struct err *err)
{
	elf_version(EV_CURRENT);
	if (plainelf_is_needed(elf)) {
		if (plainelf_make(elf, elf->size + UNPACKED_MAX, &f->image, err))
			return err->code;
		f->elf = elf_memory(f->image.at, f->image.n);
	} else if (elf->path) {
		f->fd = open(elf->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (f->fd < 0)
			return err_sys(err, errno, "opening '%s'", elf->path);
		f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	} else {
		f->elf = elf_memory((char *)elf->data, elf->size);
	}
	if (!f->elf)
		return err_set(err, ERR_FORMAT, "%s", elf_errmsg(-1));
	return 0;
}

int dwarf_open(struct dwarf_file **ret_file, const struct elf *elf, struct err *err)
{
	u64 packed = dwarf_packed_bytes(elf);
	struct dwarf_file *f;

	if (!dwarf_is_in(elf))
		return err_set(err, ERR_NOENT, "it has no debug information");
	if (packed > UNPACKED_MAX)
		return err_set(err, ERR_LIMIT,
			"its debug information is %llu MB unpacked: no more than %llu MB are read",
			(unsigned long long)packed >> 20, UNPACKED_MAX >> 20);
	f = mem_zalloc(sizeof(*f));
	f->fd = -1;
	f->swap = elf->swap;
	f->first_code = first_code(elf);
	pthread_mutex_init(&f->lock, NULL);
	/* The first handle unpacks what is packed. */
	if (open_elf(f, elf, err) || !(f->spare = dwarf_handle_new(f, err))) {
		dwarf_close(f);
		return err->code;
	}
	*ret_file = f;
	return 0;
}

/* A section of an open file, unpacked by libdw; empty if there is none. */
static struct bytes section_of(Elf *elf, bool swap, const char *name, const char *packed_name)
{
	struct bytes b = {.swap = swap};
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return b;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		const char *its;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) ||
			!(its = elf_strptr(elf, names, header.sh_name)) ||
			(strcmp(its, name) && strcmp(its, packed_name)) ||
			header.sh_flags & SHF_COMPRESSED || !(data = elf_rawdata(section, NULL)))
			continue;
		b = bytes_of(data->d_buf, data->d_buf ? data->d_size : 0);
		b.swap = swap;
	}
	return b;
}

static void handle_free(struct dwarf_handle *h)
{
	dietree_fini(&h->tree);
	dietree_fini(&h->split_tree);
	vec_fini(&h->origins);
	table_fini(&h->origin_index);
	if (h->dwarf)
		dwarf_end(h->dwarf);
	mem_free(h);
}

struct dwarf_handle *dwarf_handle_new(struct dwarf_file *f, struct err *err)
{
	struct dwarf_handle *h;

	pthread_mutex_lock(&f->lock);
	h = f->spare;
	f->spare = NULL;
	if (h) {
		pthread_mutex_unlock(&f->lock);
		return h;
	}
	h = mem_zalloc(sizeof(*h));
	h->file = f;
	h->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (h->dwarf) {
		h->line_section = section_of(f->elf, f->swap, ".debug_line", ".zdebug_line");
		h->tree.info = section_of(f->elf, f->swap, ".debug_info", ".zdebug_info");
		h->tree.abbrevs = section_of(f->elf, f->swap, ".debug_abbrev", ".zdebug_abbrev");
		vec_add(&f->handles, h);
	} else {
		err_set(err, ERR_FORMAT, "reading its debug information: %s", dwarf_errmsg(-1));
		handle_free(h);
		h = NULL;
	}
	pthread_mutex_unlock(&f->lock);
	return h;
}

void dwarf_close(struct dwarf_file *f)
{
	if (!f)
		return;
	vec_each(h, &f->handles)
		handle_free(*h);
	vec_fini(&f->handles);
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	str_fini(&f->image);
	pthread_mutex_destroy(&f->lock);
	mem_free(f);
}

/* ---- attributes ---- */

static bool number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *ret_number)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, name, &a) && !dwarf_formudata(&a, ret_number);
}

/* Adds where a function or a unit has its code; false if it is more than anything real has. */
static bool add_ranges(struct dwarf_handle *h, Dwarf_Die *die, u32 value, range_list *ranges,
	struct err *complaint)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
		if (ranges->n >= RANGES_MAX)
			return false;
		if (start >= h->file->first_code && start < end)
			vec_add(ranges, ((struct range){start, end, value}));
	}
	if (next < 0)
		complain(complaint, "a list of ranges");
	return true;
}

/* ---- line tables ---- */

/* What the unit's line table says of its size; 0 if there is none. */
static u64 size_of_lines(const struct dwarf_handle *h, Dwarf_Die *unit)
{
	struct bytes b = h->line_section;
	Dwarf_Word offset;
	u64 size;
	u32 word;

	if (!number_of(unit, DW_AT_stmt_list, &offset) || !bytes_skip(&b, offset) ||
		!bytes_u32(&b, &word))
		return 0;
	if (word != UINT32_MAX)
		return word;
	return bytes_u64(&b, &size) ? size : 0;
}

static void take_row(struct dwarf_handle *h, Dwarf_Line *line, struct sheet_maker *m)
{
	struct sheet_maker_row row = {0};
	int number = 0, column = 0;
	bool is_end = false;
	Dwarf_Addr address;

	if (!line || dwarf_lineaddr(line, &address) || address < h->file->first_code)
		return;
	dwarf_lineno(line, &number);
	dwarf_linecol(line, &column);
	dwarf_lineendsequence(line, &is_end);
	row.address = address;
	if (!is_end) {
		row.file = sheet_file(m, dwarf_linesrc(line, NULL, NULL));
		row.line = (u32)MAX(number, 0);
		row.column = (u16)(column < 0 || column > UINT16_MAX ? 0 : column);
	}
	sheet_add_row(m, &row);
}

static void read_rows(struct dwarf_handle *h, Dwarf_Die *unit, struct sheet_maker *m,
	struct err *complaint)
{
	u64 size = size_of_lines(h, unit);
	Dwarf_Attribute dir;
	Dwarf_Lines *lines;
	size_t n;

	m->dir = dwarf_attr(unit, DW_AT_comp_dir, &dir) ? dwarf_formstring(&dir) : NULL;
	if (!dwarf_hasattr(unit, DW_AT_stmt_list))
		return;
	if (size > LINES_BYTES_MAX) {
		complain_size(complaint, "a line table", size, LINES_BYTES_MAX);
		return;
	}
	if (dwarf_getsrclines(unit, &lines, &n)) {
		complain(complaint, "a line table");
		return;
	}
	for (size_t i = 0; i < n; i++)
		take_row(h, dwarf_onesrcline(lines, i), m);
}

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
	struct origin new;
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
	new = (struct origin){named.addr, read_name(&named)};
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
		return add_ranges(h, die, value, ranges, complaint);
	if (!dwarf_formudata(&a->high, &size))
		high = low + size;
	else if (dwarf_formaddr(&a->high, &high))
		return true;
	if (ranges->n >= RANGES_MAX)
		return false;
	if (low >= h->file->first_code && low < high)
		vec_add(ranges, ((struct range){low, high, value}));
	return true;
}

struct files {
	Dwarf_Files *at;
	size_t n;
};

static void take_scope(struct dwarf_handle *h, Dwarf_Die *die, struct attributes *a,
	struct files *files, u32 parent, struct sheet_maker *m)
{
	u64 file = number_in(&a->file), column = number_in(&a->column);
	struct sheet_scope scope = {.parent = parent,
		.name = sheet_text(&m->names, name_of(h, die, a)),
		.call_line = (u32)MIN(number_in(&a->line), (u64)UINT32_MAX),
		.call_column = (u16)(column > UINT16_MAX ? 0 : column)};

	if (a->file.form && file < files->n)
		scope.call_file = sheet_file(m, dwarf_filesrc(files->at, file, NULL, NULL));
	vec_add(&m->scopes, scope);
}

/* An entry that the walk is in. */
struct step {
	u32 depth;
	u32 scope; /* + 1; 0: none */
};

typedef VEC(struct step) step_list;

static void walk(struct dwarf_handle *h, struct dietree *tree, Dwarf_Die *unit,
	struct sheet_maker *m, struct err *complaint)
{
	u64 first = dwarf_dieoffset(unit);
	struct dietree_entry entry;
	struct files files = {0};
	step_list path = {0};

	if (dwarf_getsrcfiles(unit, &files.at, &files.n))
		files.n = 0;
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
			complain(complaint, "a function");
		if (!add_code(h, &die, &a, (u32)m->scopes.n + 1, &m->ranges, complaint)) {
			complain(complaint, "its ranges");
			break;
		}
		if (m->ranges.n > before) {
			take_scope(h, &die, &a, &files, scope, m);
			scope = (u32)m->scopes.n;
		}
		vec_add(&path, ((struct step){entry.depth, scope}));
	}
	if (tree->is_wrong)
		complain(complaint, "a tree of functions");
	vec_fini(&path);
}

/* The walker for the file that a unit is in: of split ones the last stays open. */
static struct dietree *tree_of(struct dwarf_handle *h, Dwarf_Die *unit)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	Elf *elf = dwarf ? dwarf_getelf(dwarf) : NULL;

	if (!elf || dwarf == h->dwarf)
		return &h->tree;
	if (elf != h->split_elf) {
		bool swap = h->file->swap;

		dietree_fini(&h->split_tree);
		memset(&h->split_tree, 0, sizeof(h->split_tree));
		h->split_elf = elf;
		h->split_tree.info = section_of(elf, swap, ".debug_info.dwo", ".zdebug_info.dwo");
		h->split_tree.abbrevs =
			section_of(elf, swap, ".debug_abbrev.dwo", ".zdebug_abbrev.dwo");
	}
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

static void read_scopes(struct dwarf_handle *h, Dwarf_Die *unit, struct sheet_maker *m,
	struct err *complaint)
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
	tree = tree_of(h, unit);
	if (!measure(tree, unit, &measured)) {
		complain(complaint, "a unit");
		return;
	}
	dietree_begin(tree, &measured);
	walk(h, tree, unit, m, complaint);
	h->origins.n = 0;
	table_clear(&h->origin_index);
}

void dwarf_read(struct dwarf_handle *h, u64 entry, bool with_scopes, struct sheet_maker *m,
	struct err *complaint)
{
	Dwarf_Die unit;

	dwarf_errno();
	if (!dwarf_offdie(h->dwarf, entry, &unit)) {
		complain(complaint, "a unit");
		return;
	}
	read_rows(h, &unit, m, complaint);
	if (with_scopes) {
		m->flags |= SHEET_HAS_SCOPES;
		read_scopes(h, &unit, m, complaint);
	}
}

/* ---- units ---- */

/* A unit without ranges has its code where its line table has it. */
static void add_ranges_of_rows(struct dwarf_handle *h, Dwarf_Die *unit, u32 value,
	range_list *ranges, struct err *complaint)
{
	struct sheet_maker m = {0};
	size_t start = 0;

	read_rows(h, unit, &m, complaint);
	for (size_t i = 0; i < m.rows.n; i++) {
		if (m.rows.at[i].file)
			continue;
		if (i > start && ranges->n < RANGES_MAX)
			vec_add(ranges,
				((struct range){m.rows.at[start].address, m.rows.at[i].address,
					value}));
		start = i + 1;
	}
	sheet_maker_fini(&m);
}

void dwarf_list(struct dwarf_handle *h, dwarf_units *units, range_list *ranges,
	struct err *complaint)
{
	Dwarf_Off at = 0, next;
	size_t header;

	if (section_of(h->file->elf, false, ".gnu_debugaltlink", "").at && !dwarf_getalt(h->dwarf))
		err_set(complaint, ERR_NOENT,
			"the file that dwz shares its names in (.gnu_debugaltlink) is not here: install the package that has it");
	for (; !dwarf_nextcu(h->dwarf, at, &next, &header, NULL, NULL, NULL); at = next) {
		size_t before = ranges->n;
		Dwarf_Die unit;
		int tag;

		if (!dwarf_offdie(h->dwarf, at + header, &unit)) {
			complain(complaint, "a unit");
			continue;
		}
		tag = dwarf_tag(&unit);
		/* Partial and type units have no code. */
		if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) {
			if (tag != DW_TAG_partial_unit && tag != DW_TAG_type_unit)
				complain(complaint, "a unit");
			continue;
		}
		if (next - at > UNIT_BYTES_MAX) {
			complain_size(complaint, "a unit", next - at, UNIT_BYTES_MAX);
			continue;
		}
		if (!add_ranges(h, &unit, (u32)units->n + 1, ranges, complaint))
			break;
		if (ranges->n == before)
			add_ranges_of_rows(h, &unit, (u32)units->n + 1, ranges, complaint);
		vec_add(units,
			((struct dwarf_unit){at + header, next - at + size_of_lines(h, &unit)}));
	}
}
