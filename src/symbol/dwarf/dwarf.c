#include "symbol/dwarf/dwarf.h"

#include <dwarf.h>

#include "base/sort.h"
#include "symbol/dwarf/dieform.h"
#include "symbol/dwarf/dwarfscope.h"
#include "symbol/dwarf/unithead.h"

/* No real unit is larger: this one is damaged or hostile. */
#define UNIT_BYTES_MAX (256ull << 20)

/* ---- line tables ---- */

/* The rows of one piece of code in struct lineindex_maker; the last one only ends it. */
struct sequence {
	u64 start;
	size_t first;
};

/* Collects the rows of a table; most have the same file as the one before. */
struct taking {
	struct linetable *table;
	struct lineindex_maker *maker;
	u64 file;
	u16 number; /* of that file in the line index; 0: not looked up yet */
	VEC(struct sequence) sequences;
	bool ascends;    /* all rows do */
	bool is_orderly; /* the rows of each sequence do */
};

static void take_row(struct taking *t, const struct linetable_row *r)
{
	struct lineindex_maker_row row = {.address = r->address};

	if (!r->is_end) {
		if (!t->number || r->file != t->file)
			t->number = lineindex_file(t->maker, linetable_path(t->table, r->file));
		t->file = r->file;
		row.file = t->number;
		row.line = r->line;
		row.column = (u16)(r->column > UINT16_MAX ? 0 : r->column);
	}
	lineindex_add_row(t->maker, &row);
}

/*
 * Whether a sequence belongs to code that the linker dropped. Its rows are left at an address without code: 0 or
 * 1, or the highest two.
 */
static bool is_dropped(const struct dwarf_handle *h, u64 address)
{
	u64 last = h->table.address_bytes == 4 ? UINT32_MAX : UINT64_MAX;

	return address < h->file->first_code || address >= last - 1;
}

/* Takes the rows of all sequences that have code, in the table's order. */
static void take_table(struct dwarf_handle *h, struct taking *t)
{
	const lineindex_maker_rows *rows = &t->maker->rows;
	bool is_first = true, drops = false;
	struct linetable_row row;
	u64 before = 0;

	t->ascends = t->is_orderly = true;
	while (linetable_next(&h->table, &row)) {
		bool begins = is_first;

		is_first = row.is_end;
		if (begins)
			drops = is_dropped(h, row.address);
		if (drops)
			continue;
		/*
		 * A sequence that begins where the last one ended continues it: its first row replaces that
		 * end.
		 */
		if (begins && (!rows->n || rows->at[rows->n - 1].address != row.address))
			vec_add(&t->sequences, ((struct sequence){row.address, rows->n}));
		if (row.address < before) {
			t->ascends = false;
			t->is_orderly &= begins;
		}
		before = row.address;
		take_row(t, &row);
	}
}

static size_t end_of(const struct taking *t, size_t sequence, size_t n_rows)
{
	return sequence + 1 < t->sequences.n ? t->sequences.at[sequence + 1].first : n_rows;
}

/* Sorts the sequences by address. Returns false if they overlap. */
static bool sort_sequences(struct taking *t)
{
	struct lineindex_maker *m = t->maker;
	lineindex_maker_rows sorted = {0}, unsorted = m->rows;
	size_t n = t->sequences.n;
	struct sort_item *items = mem_alloc((n + 1) * sizeof(*items));
	bool is_apart = true;
	u64 before = 0;

	for (size_t i = 0; i < n; i++)
		items[i] = (struct sort_item){t->sequences.at[i].start, i};
	sort_by_key(items, n);
	vec_reserve(&sorted, unsorted.n);
	m->rows = sorted;
	for (size_t i = 0; i < n && is_apart; i++) {
		size_t first = t->sequences.at[items[i].value].first;
		size_t end = end_of(t, items[i].value, unsorted.n);

		is_apart = before <= items[i].key;
		if (first == end)
			continue;
		before = unsorted.at[end - 1].address;
		lineindex_add_row(m, &unsorted.at[first]);
		memcpy(m->rows.at + m->rows.n, unsorted.at + first + 1,
			(end - first - 1) * sizeof(*unsorted.at));
		m->rows.n += end - first - 1;
	}
	vec_fini(&unsorted);
	mem_free(items);
	return is_apart;
}

/* Takes a table that no compiler writes: with overlapping sequences, or addresses that go back. */
static void take_sorted(struct dwarf_handle *h, struct taking *t)
{
	bool is_first = true, drops = false;
	VEC(struct linetable_row) rows = {0};
	VEC(struct sort_item) items = {0};
	struct linetable_row row;

	linetable_rewind(&h->table);
	while (linetable_next(&h->table, &row)) {
		if (is_first)
			drops = is_dropped(h, row.address);
		is_first = row.is_end;
		if (drops)
			continue;
		vec_add(&items, ((struct sort_item){row.address, rows.n}));
		vec_add(&rows, row);
	}
	sort_by_key(items.at, items.n);
	t->maker->rows.n = 0;
	vec_each(i, &items)
		take_row(t, &rows.at[i->value]);
	vec_fini(&rows);
	vec_fini(&items);
}

/* Opens a line table of a unit. Returns NULL if it is malformed. */
static struct linetable *open_table(struct dwarf_handle *h, u64 offset, u8 address_bytes,
	const struct lineindex_maker *m, struct err *complaint)
{
	struct err err;

	if (linetable_open(&h->table, &h->lines, offset, m->dir, address_bytes, &h->texts, &err)) {
		if (!complaint->code)
			*complaint = err;
		return NULL;
	}
	return &h->table;
}

/* Opens the unit's line table. Returns NULL if it has none. */
static struct linetable *open_lines(struct dwarf_handle *h, Dwarf_Die *unit,
	struct lineindex_maker *m, struct err *complaint)
{
	Dwarf_Attribute dir;
	Dwarf_Word offset;
	u8 address_bytes;

	m->dir = dwarf_attr(unit, DW_AT_comp_dir, &dir) ? dwarf_formstring(&dir) : NULL;
	if (!dwarf_number(unit, DW_AT_stmt_list, &offset) ||
		!dwarf_diecu(unit, &(Dwarf_Die){0}, &address_bytes, NULL))
		return NULL;
	return open_table(h, offset, address_bytes, m, complaint);
}

/* Reads the table's rows into an empty maker. Sequences may come in any order. */
static void read_rows(struct dwarf_handle *h, struct lineindex_maker *m, struct err *complaint)
{
	struct taking t = {.table = &h->table, .maker = m};

	take_table(h, &t);
	if (!t.ascends && (!t.is_orderly || !sort_sequences(&t)))
		take_sorted(h, &t);
	if (h->table.is_wrong)
		dwarf_complain(complaint, "a line table");
	vec_fini(&t.sequences);
}

/* Reads a unit of the usual kind, without libdw. Returns false if libdw is needed. */
static bool read_plainly(struct dwarf_handle *h, u64 entry, bool with_scopes,
	struct lineindex_maker *m, struct err *complaint)
{
	const struct dieform_texts texts = {h->lines.str, h->lines.line_str};
	struct linetable *files = NULL;
	struct unithead u;

	if (!unithead_of_entry(h->tree.info, h->tree.abbrevs, entry, &u) ||
		(u.dir_form && !dieform_text(&u.dir, &u.unit, u.dir_form, &texts, &m->dir)))
		return false;
	if (u.has_lines)
		files = open_table(h, u.lines, u.unit.address_bytes, m, complaint);
	if (files)
		read_rows(h, m, complaint);
	if (with_scopes)
		dwarf_read_plain_scopes(h, &u, files, m, complaint);
	return true;
}

static void read_by_libdw(struct dwarf_handle *h, u64 entry, bool with_scopes,
	struct lineindex_maker *m, struct err *complaint)
{
	struct linetable *files;
	Dwarf_Die unit;

	if (!dwarf_offdie(h->dwarf, entry, &unit)) {
		dwarf_complain(complaint, "a unit");
		return;
	}
	files = open_lines(h, &unit, m, complaint);
	if (files)
		read_rows(h, m, complaint);
	if (with_scopes)
		dwarf_read_scopes(h, &unit, files, m, complaint);
}

void dwarf_read(struct dwarf_handle *h, u64 entry, bool with_scopes, struct lineindex_maker *m,
	struct err *complaint)
{
	dwarf_errno();
	m->flags |= with_scopes ? LINEINDEX_HAS_SCOPES : 0;
	if (!read_plainly(h, entry, with_scopes, m, complaint))
		read_by_libdw(h, entry, with_scopes, m, complaint);
}

/* ---- units ---- */

static void complain_size(struct err *complaint, u64 bytes)
{
	if (!complaint->code)
		err_set(complaint, ERR_LIMIT,
			"a unit of %llu MB is left out: no more than %llu MB are read",
			(unsigned long long)bytes >> 20, UNIT_BYTES_MAX >> 20);
}

static u64 size_of_lines(const struct dwarf_handle *h, Dwarf_Die *unit)
{
	Dwarf_Word offset;

	return dwarf_number(unit, DW_AT_stmt_list, &offset) ? linetable_size(&h->lines, offset) : 0;
}

/* The current unit of the list: where it is, and where its description goes. */
struct listing {
	struct dwarf_handle *h;
	u64 at, next, entry;
	dwarf_units *units;
	range_list *ranges;
	struct err *complaint;
	bool is_full; /* there are more ranges than any real file has */
};

static bool has_room(struct listing *l)
{
	l->is_full |= l->ranges->n >= l->h->ranges_max;
	return !l->is_full;
}

static void add_range(struct listing *l, u64 start, u64 end)
{
	if (start >= l->h->file->first_code && start < end && has_room(l))
		vec_add(l->ranges, ((struct range){start, end, (u32)l->units->n + 1}));
}

/* Adds a unit's range list. Returns false if it is malformed. */
static bool add_list(struct listing *l, const struct unithead *u)
{
	struct rangelist_source source = dwarf_ranges_of(l->h, u);
	size_t before = l->ranges->n;
	struct rangelist list;
	u64 start, end;

	rangelist_open(&list, &source, u->ranges, false);
	while (!l->is_full && rangelist_next(&list, &start, &end))
		add_range(l, start, end);
	if (list.is_wrong)
		l->ranges->n = before;
	return !list.is_wrong;
}

static void add_unit(struct listing *l, u64 line_bytes)
{
	vec_add(l->units, ((struct dwarf_unit){l->entry, l->next - l->at + line_bytes}));
}

/* Whether a unit may have readable code; if not, a complaint says why. */
static bool is_code(const struct listing *l, unsigned tag)
{
	/* Partial and type units have no code. */
	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) {
		if (tag != DW_TAG_partial_unit && tag != DW_TAG_type_unit)
			dwarf_complain(l->complaint, "a unit");
		return false;
	}
	if (l->next - l->at > UNIT_BYTES_MAX) {
		complain_size(l->complaint, l->next - l->at);
		return false;
	}
	return true;
}

/* Takes the ranges of a unit from its line table, if it has no others. */
static void add_ranges_of_rows(struct listing *l, struct lineindex_maker *m)
{
	size_t start = 0;

	read_rows(l->h, m, l->complaint);
	for (size_t i = 0; i < m->rows.n; i++) {
		if (m->rows.at[i].file)
			continue;
		if (i > start)
			add_range(l, m->rows.at[start].address, m->rows.at[i].address);
		start = i + 1;
	}
}

/* Lists a unit of the usual kind, without libdw. Returns false if libdw is needed. */
static bool list_quickly(struct listing *l)
{
	size_t before = l->ranges->n;
	struct lineindex_maker m = {0};
	struct unithead u;

	if (!unithead_read(l->h->tree.info, l->h->tree.abbrevs, l->at, &u) ||
		(u.tag != DW_TAG_compile_unit && u.tag != DW_TAG_partial_unit))
		return false;
	l->next = u.unit.end;
	l->entry = u.unit.first;
	if (!is_code(l, u.tag))
		return true;
	if (u.has_low && u.has_high)
		add_range(l, u.low, u.high);
	else if (u.has_ranges && !add_list(l, &u))
		return false;
	if (l->ranges->n == before && !l->is_full && u.has_lines &&
		open_table(l->h, u.lines, u.unit.address_bytes, &m, l->complaint))
		add_ranges_of_rows(l, &m);
	lineindex_maker_fini(&m);
	add_unit(l, u.has_lines ? linetable_size(&l->h->lines, u.lines) : 0);
	return true;
}

/* Lists the unit with libdw. Returns the result of dwarf_nextcu(). */
static int list_slowly(struct listing *l)
{
	size_t before = l->ranges->n, header;
	int r = dwarf_nextcu(l->h->dwarf, l->at, &l->next, &header, NULL, NULL, NULL);
	struct lineindex_maker m = {0};
	Dwarf_Die unit;

	if (r)
		return r;
	l->entry = l->at + header;
	if (!dwarf_offdie(l->h->dwarf, l->entry, &unit)) {
		dwarf_complain(l->complaint, "a unit");
		return 0;
	}
	if (!is_code(l, (unsigned)dwarf_tag(&unit)))
		return 0;
	if (!dwarf_add_ranges(l->h, &unit, (u32)l->units->n + 1, l->ranges, l->complaint))
		l->is_full = true;
	else if (l->ranges->n == before && open_lines(l->h, &unit, &m, l->complaint))
		add_ranges_of_rows(l, &m);
	lineindex_maker_fini(&m);
	add_unit(l, size_of_lines(l->h, &unit));
	return 0;
}

void dwarf_list(struct dwarf_handle *h, dwarf_units *units, range_list *ranges,
	struct err *complaint)
{
	struct listing l = {.h = h, .units = units, .ranges = ranges, .complaint = complaint};
	int r = 0;

	*complaint = h->file->image.wrong;
	if (!complaint->code && dwarf_section(h->file->elf, false, ".gnu_debugaltlink", "").at &&
		!dwarf_getalt(h->dwarf))
		err_set(complaint, ERR_NOENT,
			"the file into which dwz moved shared names (.gnu_debugaltlink) is missing: install the package that has it");
	for (; !l.is_full && !r; l.at = l.next)
		if (!list_quickly(&l))
			r = list_slowly(&l);
	if (l.is_full)
		dwarf_complain_ranges(h, complaint, "its units");
	else if (r < 0)
		dwarf_complain(complaint, "a unit");
}
