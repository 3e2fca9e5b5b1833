#include "symbol/dwarf.h"

#include <dwarf.h>

#include "base/sort.h"
#include "symbol/dwarfscope.h"

/* Beyond any real unit: what claims to be larger is damaged or meant to hurt. */
#define UNIT_BYTES_MAX (256ull << 20)

/* ---- line tables ---- */

/* Rows of one piece of code, the last of which only ends it. */
struct sequence {
	u64 start;
	size_t first, last;
};

struct row_list {
	VEC(struct linetable_row) at;
	VEC(struct sequence) sequences;
	bool ascends;    /* all of them */
	bool is_orderly; /* those of each sequence */
};

/* Where rows go; most are of the same file as the one before. */
struct taking {
	struct linetable *table;
	struct sheet_maker *maker;
	u64 file;
	u16 number; /* of that file in the sheet; 0: none was looked for */
};

static void take_row(struct taking *t, const struct linetable_row *r)
{
	struct sheet_maker_row row = {.address = r->address};

	if (!r->is_end) {
		if (!t->number || r->file != t->file)
			t->number = sheet_file(t->maker, linetable_path(t->table, r->file));
		t->file = r->file;
		row.file = t->number;
		row.line = r->line;
		row.column = (u16)(r->column > UINT16_MAX ? 0 : r->column);
	}
	sheet_add_row(t->maker, &row);
}

/*
 * Linkers leave the rows of what they drop, at an address where no code is: 0 or 1, or the last two
 * there are.
 */
static bool is_dropped(const struct dwarf_handle *h, u64 address)
{
	u64 last = h->table.address_bytes == 4 ? UINT32_MAX : UINT64_MAX;

	return address < h->file->first_code || address >= last - 1;
}

/* The rows of all sequences that are of code. */
static void read_table(struct dwarf_handle *h, struct row_list *rows)
{
	bool is_first = true, drops = false;
	struct linetable_row row;
	u64 before = 0;

	rows->ascends = rows->is_orderly = true;
	while (linetable_next(&h->table, &row)) {
		bool begins = is_first;

		is_first = row.is_end;
		if (begins)
			drops = is_dropped(h, row.address);
		if (drops)
			continue;
		if (begins)
			vec_add(&rows->sequences,
				((struct sequence){row.address, rows->at.n, rows->at.n}));
		if (row.address < before) {
			rows->ascends = false;
			rows->is_orderly &= begins;
		}
		before = row.address;
		rows->sequences.at[rows->sequences.n - 1].last = rows->at.n;
		vec_add(&rows->at, row);
	}
}

/* Puts the sequences into the order of their code; false if they overlap. */
static bool sort_sequences(struct row_list *rows)
{
	size_t n = rows->sequences.n;
	struct sort_item *items = mem_alloc((n + 1) * sizeof(*items));
	struct sequence *sorted = mem_alloc((n + 1) * sizeof(*sorted));
	bool is_apart = true;

	for (size_t i = 0; i < n; i++)
		items[i] = (struct sort_item){rows->sequences.at[i].start, i};
	sort_by_key(items, n);
	for (size_t i = 0; i < n; i++) {
		sorted[i] = rows->sequences.at[items[i].value];
		is_apart &= !i || rows->at.at[sorted[i - 1].last].address <= sorted[i].start;
	}
	if (is_apart)
		memcpy(rows->sequences.at, sorted, n * sizeof(*sorted));
	mem_free(items);
	mem_free(sorted);
	return is_apart;
}

/* What no compiler writes: sequences into each other, or addresses that go back. */
static void take_sorted(struct taking *t, const struct row_list *rows)
{
	size_t n = rows->at.n;
	struct sort_item *items = mem_alloc((n + 1) * sizeof(*items));

	for (size_t i = 0; i < n; i++)
		items[i] = (struct sort_item){rows->at.at[i].address, i};
	sort_by_key(items, n);
	for (size_t i = 0; i < n; i++)
		take_row(t, &rows->at.at[items[i].value]);
	mem_free(items);
}

/* Sequences may come in any order. */
static void take_rows(struct taking *t, struct row_list *rows)
{
	if (!rows->ascends && (!rows->is_orderly || !sort_sequences(rows))) {
		take_sorted(t, rows);
		return;
	}
	vec_each(s, &rows->sequences)
		for (size_t i = s->first; i <= s->last; i++)
			take_row(t, &rows->at.at[i]);
}

/* Opens the unit's line table; NULL if it has none. */
static struct linetable *open_lines(struct dwarf_handle *h, Dwarf_Die *unit, struct sheet_maker *m,
	struct err *complaint)
{
	Dwarf_Attribute dir;
	Dwarf_Word offset;
	struct err err;
	u8 address_bytes;

	m->dir = dwarf_attr(unit, DW_AT_comp_dir, &dir) ? dwarf_formstring(&dir) : NULL;
	if (!dwarf_number(unit, DW_AT_stmt_list, &offset) ||
		!dwarf_diecu(unit, &(Dwarf_Die){0}, &address_bytes, NULL))
		return NULL;
	if (linetable_open(&h->table, &h->lines, offset, m->dir, address_bytes, &h->texts, &err)) {
		if (!complaint->code)
			*complaint = err;
		return NULL;
	}
	return &h->table;
}

static void read_rows(struct dwarf_handle *h, struct sheet_maker *m, struct err *complaint)
{
	struct taking t = {.table = &h->table, .maker = m};
	struct row_list rows = {0};

	read_table(h, &rows);
	take_rows(&t, &rows);
	if (h->table.is_wrong)
		dwarf_complain(complaint, "a line table");
	vec_fini(&rows.at);
	vec_fini(&rows.sequences);
}

void dwarf_read(struct dwarf_handle *h, u64 entry, bool with_scopes, struct sheet_maker *m,
	struct err *complaint)
{
	struct linetable *files;
	Dwarf_Die unit;

	dwarf_errno();
	if (!dwarf_offdie(h->dwarf, entry, &unit)) {
		dwarf_complain(complaint, "a unit");
		return;
	}
	files = open_lines(h, &unit, m, complaint);
	if (files)
		read_rows(h, m, complaint);
	if (with_scopes) {
		m->flags |= SHEET_HAS_SCOPES;
		dwarf_read_scopes(h, &unit, files, m, complaint);
	}
}

/* ---- units ---- */

/* A unit without ranges has its code where its line table has it. */
static void add_ranges_of_rows(struct dwarf_handle *h, Dwarf_Die *unit, u32 value,
	range_list *ranges, struct err *complaint)
{
	struct sheet_maker m = {0};
	size_t start = 0;

	if (open_lines(h, unit, &m, complaint))
		read_rows(h, &m, complaint);
	for (size_t i = 0; i < m.rows.n; i++) {
		if (m.rows.at[i].file)
			continue;
		if (i > start && ranges->n < DWARF_RANGES_MAX)
			vec_add(ranges,
				((struct range){m.rows.at[start].address, m.rows.at[i].address,
					value}));
		start = i + 1;
	}
	sheet_maker_fini(&m);
}

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

void dwarf_list(struct dwarf_handle *h, dwarf_units *units, range_list *ranges,
	struct err *complaint)
{
	Dwarf_Off at = 0, next;
	size_t header;
	int r;

	*complaint = h->file->image.wrong;
	if (!complaint->code && dwarf_section(h->file->elf, false, ".gnu_debugaltlink", "").at &&
		!dwarf_getalt(h->dwarf))
		err_set(complaint, ERR_NOENT,
			"the file that dwz shares its names in (.gnu_debugaltlink) is not here: install the package that has it");
	for (; !(r = dwarf_nextcu(h->dwarf, at, &next, &header, NULL, NULL, NULL)); at = next) {
		size_t before = ranges->n;
		Dwarf_Die unit;
		int tag;

		if (!dwarf_offdie(h->dwarf, at + header, &unit)) {
			dwarf_complain(complaint, "a unit");
			continue;
		}
		tag = dwarf_tag(&unit);
		/* Partial and type units have no code. */
		if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) {
			if (tag != DW_TAG_partial_unit && tag != DW_TAG_type_unit)
				dwarf_complain(complaint, "a unit");
			continue;
		}
		if (next - at > UNIT_BYTES_MAX) {
			complain_size(complaint, next - at);
			continue;
		}
		if (!dwarf_add_ranges(h, &unit, (u32)units->n + 1, ranges, complaint)) {
			dwarf_complain(complaint, "its ranges");
			break;
		}
		if (ranges->n == before)
			add_ranges_of_rows(h, &unit, (u32)units->n + 1, ranges, complaint);
		vec_add(units,
			((struct dwarf_unit){at + header, next - at + size_of_lines(h, &unit)}));
	}
	if (r < 0)
		dwarf_complain(complaint, "a unit");
}
