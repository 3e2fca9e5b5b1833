#include "symbol/line.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/vec.h"

/* Beyond any real unit: what claims to be larger is damaged or meant to hurt. */
#define UNIT_BYTES_MAX  (256ull << 20)
#define LINES_BYTES_MAX (64ull << 20)
#define RANGES_MAX      (8u << 20)
#define UNPACKED_MAX    (4ull << 30)
#define TREE_DEPTH_MAX  512

/* Where something begins that holds until the next segment; values count from 1, 0: nothing. */
struct segment {
	u64 start;
	u32 value;
};

typedef VEC(struct segment) segment_list;

struct range {
	u64 start, end;
	u32 value; /* where ranges overlap, the highest that began holds */
};

typedef VEC(struct range) range_list;

struct row {
	u64 address;
	const char *file; /* NULL: the end of a sequence, what follows has no line */
	u32 line, column;
};

/* A function, or an inlined call of one. */
struct scope {
	Dwarf_Die die;
	const char *function;
	u32 parent; /* in unit->scopes, + 1; 0: this is the function itself */
	bool has_function;
};

struct unit {
	Dwarf_Die die;
	const char *dir; /* NULL: unknown */
	bool has_rows, has_scopes;
	struct row *rows; /* ascending by address */
	size_t n_rows;
	struct scope *scopes;
	segment_list segments; /* of scopes */
};

struct line_index {
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	u64 first_code; /* the lowest address of code: what linkers drop is left at 0 or 1 */
	struct bytes line_section; /* unpacked */
	VEC(struct unit) units;
	segment_list segments; /* of units */
	struct err complaint;
};

/* ---- ranges into segments ---- */

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void add_segment(segment_list *s, u64 start, u32 value)
{
	if (s->n && s->at[s->n - 1].start == start)
		s->at[s->n - 1].value = value;
	else if (value != (s->n ? s->at[s->n - 1].value : 0))
		vec_add(s, ((struct segment){start, value}));
}

/* Ends the ranges on the stack that are over at `to`, innermost first. */
static void end_ranges(range_list *open, u64 to, segment_list *s)
{
	while (open->n && open->at[open->n - 1].end <= to) {
		u64 at = open->at[open->n - 1].end;

		while (open->n && open->at[open->n - 1].end <= at)
			open->n--;
		add_segment(s, at, open->n ? open->at[open->n - 1].value : 0);
	}
}

/* Nested ranges as a row of pieces that do not overlap: the innermost holds. */
static void flatten(range_list *ranges, segment_list *ret_segments)
{
	range_list open = {0};

	if (ranges->n)
		qsort(ranges->at, ranges->n, sizeof(*ranges->at), by_start);
	vec_each(r, ranges) {
		end_ranges(&open, r->start, ret_segments);
		vec_add(&open, *r);
		add_segment(ret_segments, r->start, r->value);
	}
	end_ranges(&open, UINT64_MAX, ret_segments);
	vec_fini(&open);
}

static u32 segment_at(const segment_list *s, u64 address)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? s->at[low - 1].value : 0;
}

/* ---- what is wrong with the file ---- */

/* The first complaint stays: the others mostly follow from it. */
static void complain(struct line_index *l, const char *what)
{
	int code = dwarf_errno();

	if (!l->complaint.code)
		err_set(&l->complaint, ERR_FORMAT, "its debug information is damaged, %s: %s", what,
			code ? dwarf_errmsg(code) : "it makes no sense");
}

static void complain_size(struct line_index *l, const char *what, u64 bytes, u64 limit)
{
	if (!l->complaint.code)
		err_set(&l->complaint, ERR_LIMIT,
			"%s of %llu MB is left out: no more than %llu MB are read", what,
			(unsigned long long)bytes >> 20, (unsigned long long)limit >> 20);
}

const char *line_complaint(const struct line_index *l)
{
	return l->complaint.code ? l->complaint.msg : NULL;
}

/* ---- line tables ---- */

static bool number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *ret_number)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, name, &a) && !dwarf_formudata(&a, ret_number);
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, name, &a) ? dwarf_formstring(&a) : NULL;
}

/* What the unit's line table says of its size; 0 if there is none. */
static u64 size_of_lines(const struct line_index *l, Dwarf_Die *unit)
{
	struct bytes b = l->line_section;
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

static void read_rows(struct line_index *l, struct unit *u)
{
	u64 size = size_of_lines(l, &u->die);
	Dwarf_Lines *lines;
	size_t n;

	u->has_rows = true;
	u->dir = text_of(&u->die, DW_AT_comp_dir);
	if (!dwarf_hasattr(&u->die, DW_AT_stmt_list))
		return;
	if (size > LINES_BYTES_MAX) {
		complain_size(l, "a line table", size, LINES_BYTES_MAX);
		return;
	}
	if (dwarf_getsrclines(&u->die, &lines, &n)) {
		complain(l, "a line table");
		return;
	}
	u->rows = mem_alloc((n + 1) * sizeof(*u->rows));
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		struct row row = {0};
		Dwarf_Addr address;
		int number = 0, column = 0;
		bool is_end = false;

		if (!line || dwarf_lineaddr(line, &address) || address < l->first_code)
			continue;
		dwarf_lineno(line, &number);
		dwarf_linecol(line, &column);
		dwarf_lineendsequence(line, &is_end);
		row.address = address;
		row.line = (u32)MAX(number, 0);
		row.column = (u32)MAX(column, 0);
		row.file = is_end ? NULL : dwarf_linesrc(line, NULL, NULL);
		/* Of several rows at one address the last one holds; an end only if it is alone. */
		if (u->n_rows && u->rows[u->n_rows - 1].address == row.address) {
			if (row.file)
				u->rows[u->n_rows - 1] = row;
			continue;
		}
		u->rows[u->n_rows++] = row;
	}
}

static const struct row *row_at(const struct unit *u, u64 address)
{
	size_t low = 0, high = u->n_rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (u->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && u->rows[low - 1].file ? &u->rows[low - 1] : NULL;
}

/* ---- functions and what was inlined into them ---- */

struct step {
	Dwarf_Die die;
	u32 scope; /* that it lies in, + 1 */
};

struct tree {
	struct line_index *index;
	VEC(struct scope) scopes;
	range_list ranges;
	VEC(struct step) path; /* from the unit down to where the walk is */
	Dwarf_Off last;
};

/* Adds where a function or a unit has its code; false if it is more than anything real has. */
static bool add_ranges(struct line_index *l, Dwarf_Die *die, u32 value, range_list *ranges)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
		if (ranges->n >= RANGES_MAX)
			return false;
		if (start >= l->first_code && start < end)
			vec_add(ranges, ((struct range){start, end, value}));
	}
	if (next < 0)
		complain(l, "a list of ranges");
	return true;
}

/* Types whose members are no code. */
static bool is_leaf(int tag)
{
	return tag == DW_TAG_enumeration_type || tag == DW_TAG_array_type ||
		tag == DW_TAG_subroutine_type;
}

/* Takes in one entry; the scope that its children are in, + 1. */
static u32 take_entry(struct tree *t, Dwarf_Die *die, int tag, u32 scope)
{
	size_t before = t->ranges.n;

	if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
		return scope;
	/* A function inside another one is its own, wherever it is written. */
	if (tag == DW_TAG_subprogram)
		scope = 0;
	if (!add_ranges(t->index, die, t->scopes.n + 1, &t->ranges) || t->ranges.n == before)
		return scope;
	vec_add(&t->scopes, ((struct scope){.die = *die, .parent = scope}));
	return t->scopes.n;
}

/* Goes on to the next entry of the tree, in the order of the file; false at its end. */
static bool next_entry(struct tree *t, bool descends, u32 scope)
{
	struct step *at = &t->path.at[t->path.n - 1];
	struct step below = {.scope = scope};

	if (descends && t->path.n < TREE_DEPTH_MAX && !dwarf_child(&at->die, &below.die)) {
		vec_add(&t->path, below);
		return true;
	}
	while (t->path.n) {
		int r;

		at = &t->path.at[t->path.n - 1];
		r = dwarf_siblingof(&at->die, &at->die);
		if (!r)
			return true;
		if (r < 0)
			complain(t->index, "a tree of functions");
		t->path.n--;
	}
	return false;
}

static void read_scopes(struct line_index *l, struct unit *u)
{
	struct tree t = {.index = l};
	struct step first = {0};
	Dwarf_Die split;

	u->has_scopes = true;
	/* A skeleton's functions are in a file of their own. */
	if (!dwarf_cu_info(u->die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) &&
		dwarf_tag(&split) == DW_TAG_compile_unit)
		u->die = split;
	if (dwarf_child(&u->die, &first.die))
		return;
	vec_add(&t.path, first);
	for (bool is_more = true; is_more;) {
		struct step *at = &t.path.at[t.path.n - 1];
		Dwarf_Off offset = dwarf_dieoffset(&at->die);
		int tag = dwarf_tag(&at->die);
		u32 scope;

		/* Each entry stands behind the one before, or this would never end. */
		if (offset <= t.last || tag == DW_TAG_invalid) {
			complain(l, "a tree of functions");
			break;
		}
		t.last = offset;
		scope = take_entry(&t, &at->die, tag, at->scope);
		is_more = next_entry(&t, !is_leaf(tag), scope);
	}
	flatten(&t.ranges, &u->segments);
	u->scopes = t.scopes.at;
	vec_fini(&t.ranges);
	vec_fini(&t.path);
}

static const char *function_of(struct scope *s)
{
	Dwarf_Attribute a;

	if (s->has_function)
		return s->function;
	s->has_function = true;
	if (dwarf_attr_integrate(&s->die, DW_AT_linkage_name, &a) ||
		dwarf_attr_integrate(&s->die, DW_AT_MIPS_linkage_name, &a))
		s->function = dwarf_formstring(&a);
	if (!s->function)
		s->function = dwarf_diename(&s->die);
	return s->function;
}

/* Where an inlined function was called. */
static void read_call(struct unit *u, struct scope *s, struct line_frame *frame)
{
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t n;

	frame->file = NULL;
	frame->line = frame->column = 0;
	if (number_of(&s->die, DW_AT_call_line, &number))
		frame->line = (u32)number;
	if (number_of(&s->die, DW_AT_call_column, &number))
		frame->column = (u32)number;
	if (number_of(&s->die, DW_AT_call_file, &number) &&
		!dwarf_getsrcfiles(&u->die, &files, &n) && number < n)
		frame->file = dwarf_filesrc(files, number, NULL, NULL);
}

/* ---- units ---- */

/* A unit without ranges has its code where its line table has it. */
static void add_ranges_of_rows(struct unit *u, u32 value, range_list *ranges)
{
	for (size_t i = 0, start = 0; i < u->n_rows; i++) {
		if (u->rows[i].file)
			continue;
		if (i > start && ranges->n < RANGES_MAX)
			vec_add(ranges,
				((struct range){u->rows[start].address, u->rows[i].address,
					value}));
		start = i + 1;
	}
}

static void read_units(struct line_index *l)
{
	range_list ranges = {0};
	Dwarf_Off at = 0, next;
	size_t header;

	for (; !dwarf_nextcu(l->dwarf, at, &next, &header, NULL, NULL, NULL); at = next) {
		struct unit u = {0};
		size_t before = ranges.n;

		if (!dwarf_offdie(l->dwarf, at + header, &u.die)) {
			complain(l, "a unit");
			continue;
		}
		if (dwarf_tag(&u.die) != DW_TAG_compile_unit &&
			dwarf_tag(&u.die) != DW_TAG_skeleton_unit)
			continue;
		if (next - at > UNIT_BYTES_MAX) {
			complain_size(l, "a unit", next - at, UNIT_BYTES_MAX);
			continue;
		}
		if (!add_ranges(l, &u.die, l->units.n + 1, &ranges))
			break;
		if (ranges.n == before) {
			read_rows(l, &u);
			add_ranges_of_rows(&u, l->units.n + 1, &ranges);
		}
		vec_add(&l->units, u);
	}
	flatten(&ranges, &l->segments);
	vec_fini(&ranges);
}

static struct unit *unit_at(struct line_index *l, u64 address)
{
	u32 i = segment_at(&l->segments, address);
	struct unit *u = i ? &l->units.at[i - 1] : NULL;

	if (u && !u->has_rows)
		read_rows(l, u);
	return u;
}

/* ---- the index ---- */

static u64 first_code(const struct elf *elf)
{
	u64 first = UINT64_MAX;

	for (u32 i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].flags & SHF_EXECINSTR)
			first = MIN(first, elf->sections[i].addr);
	return first == UINT64_MAX ? 0 : first;
}

static bool has_dwarf(const struct elf *elf)
{
	return elf_section(elf, ".debug_info") || elf_section(elf, ".zdebug_info");
}

/* What the compressed sections say that they hold: a small file may claim anything. */
static u64 size_unpacked(const struct elf *elf)
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

/* libdw has unpacked it by now. */
static void find_line_section(struct line_index *l, bool swap)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(l->elf, &names))
		return;
	while ((section = elf_nextscn(l->elf, section)) != NULL) {
		GElf_Shdr header;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) ||
			!(name = elf_strptr(l->elf, names, header.sh_name)) ||
			(strcmp(name, ".debug_line") && strcmp(name, ".zdebug_line")) ||
			!(data = elf_rawdata(section, NULL)))
			continue;
		l->line_section = bytes_of(data->d_buf, data->d_buf ? data->d_size : 0);
		l->line_section.swap = swap;
	}
}

static int open_dwarf(struct line_index *l, const struct elf *elf, struct err *err)
{
	elf_version(EV_CURRENT);
	if (elf->path) {
		l->fd = open(elf->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (l->fd < 0)
			return err_sys(err, errno, "opening '%s'", elf->path);
		l->elf = elf_begin(l->fd, ELF_C_READ_MMAP, NULL);
	} else {
		l->elf = elf_memory((char *)elf->data, elf->size);
	}
	if (!l->elf)
		return err_set(err, ERR_FORMAT, "%s", elf_errmsg(-1));
	l->dwarf = dwarf_begin_elf(l->elf, DWARF_C_READ, NULL);
	if (!l->dwarf)
		return err_set(err, ERR_FORMAT, "reading its debug information: %s",
			dwarf_errmsg(-1));
	return 0;
}

int line_open(struct line_index **ret_index, const struct elf *elf, struct err *err)
{
	struct line_index *l;

	if (!has_dwarf(elf))
		return err_set(err, ERR_NOENT, "it has no debug information");
	if (size_unpacked(elf) > UNPACKED_MAX)
		return err_set(err, ERR_LIMIT,
			"its debug information is %llu MB unpacked: no more than %llu MB are read",
			(unsigned long long)size_unpacked(elf) >> 20, UNPACKED_MAX >> 20);
	l = mem_zalloc(sizeof(*l));
	l->fd = -1;
	l->first_code = first_code(elf);
	if (open_dwarf(l, elf, err)) {
		line_close(l);
		return err->code;
	}
	find_line_section(l, elf->swap);
	read_units(l);
	*ret_index = l;
	return 0;
}

void line_close(struct line_index *l)
{
	if (!l)
		return;
	vec_each(u, &l->units) {
		mem_free(u->rows);
		mem_free(u->scopes);
		vec_fini(&u->segments);
	}
	vec_fini(&l->units);
	vec_fini(&l->segments);
	if (l->dwarf)
		dwarf_end(l->dwarf);
	if (l->elf)
		elf_end(l->elf);
	if (l->fd >= 0)
		close(l->fd);
	mem_free(l);
}

bool line_find(struct line_index *l, u64 address, struct line_frame *ret_frame)
{
	struct unit *u = unit_at(l, address);
	const struct row *row = u ? row_at(u, address) : NULL;

	if (!row)
		return false;
	*ret_frame = (struct line_frame){.file = row->file,
		.dir = u->dir,
		.line = row->line,
		.column = row->column};
	return true;
}

size_t line_chain(struct line_index *l, u64 address, struct line_frame ret_frames[LINE_DEPTH_MAX])
{
	struct unit *u = unit_at(l, address);
	struct line_frame frame = {0};
	size_t n = 0;
	u32 i;

	if (!u)
		return 0;
	frame.dir = u->dir;
	if (!u->has_scopes)
		read_scopes(l, u);
	line_find(l, address, &frame);
	i = segment_at(&u->segments, address);
	if (!i && frame.file)
		ret_frames[n++] = frame;
	while (i && n < LINE_DEPTH_MAX) {
		struct scope *s = &u->scopes[i - 1];

		frame.function = function_of(s);
		ret_frames[n++] = frame;
		read_call(u, s, &frame);
		i = s->parent;
	}
	return n;
}
