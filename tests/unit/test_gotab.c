#include "test.h"

#include "symbol/go/gocfi.h"
#include "symbol/go/gotab.h"
#include "symbol/dwarf/line.h"
#include "unit/gotabmaker.h"
#include "unwind/rows.h"

enum { TEXT = GOTABMAKER_TEXT };

static const u32 versions[] = {GOTAB_1_2, GOTAB_1_16, GOTAB_1_18, GOTAB_1_20};

static size_t read_table(struct gotabmaker *m, size_t n, struct symtab *t)
{
	struct elf elf;
	size_t found;

	gotabmaker_file(m, n, &elf);
	found = gotab_add(t, &elf);
	symtab_finish(t);
	for (size_t i = 0; n == m->table.n && i < GOTABMAKER_FUNCTIONS; i++) {
		const struct symbol *s = symtab_find(t, TEXT + 0x20 * i + 0x1f);

		CHECK(s != NULL);
		CHECK_STR(s->name, gotabmaker_names[i]);
		CHECK_EQ(s->start, TEXT + 0x20 * i);
		CHECK_EQ(s->end, TEXT + 0x20 * i + 0x20);
	}
	CHECK(!symtab_find(t, TEXT + 0x60));
	symtab_fini(t);
	gotabmaker_close(m, &elf);
	return found;
}

static void check(struct gotabmaker *m)
{
	struct symtab t = {0};

	gotabmaker_table(m);
	CHECK_EQ(read_table(m, m->table.n, &t), 3);
}

TEST(gotab_has_the_functions_of_every_go)
{
	struct gotabmaker m = {.text = TEXT};

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		m.version = versions[i];
		m.word = 8;
		check(&m);
		m.word = 4;
		check(&m);
	}
	gotabmaker_fini(&m);
}

TEST(gotab_whose_text_the_loader_writes_counts_from_where_the_program_begins)
{
	struct gotabmaker m = {.version = GOTAB_1_20, .word = 8};

	check(&m);
	gotabmaker_fini(&m);
}

TEST(gotab_is_found_in_a_section_of_other_data)
{
	struct gotabmaker m = {.version = GOTAB_1_20,
		.word = 8,
		.is_inside = true,
		.has_module = true};

	check(&m);
	m.has_module = false;
	m.text = TEXT;
	check(&m);
	gotabmaker_fini(&m);
}

/* ---- lines ---- */

static void check_frame(const struct line_frame *f, const char *function, const char *file,
	u32 line)
{
	CHECK_STR(f->function, function);
	CHECK_STR(f->file, file);
	CHECK_EQ(f->line, line);
}

static void check_lines(struct gotabmaker *m, bool has_inlined)
{
	struct line_frame f[LINE_DEPTH_MAX];
	struct line_index *lines;
	struct elf elf;
	struct err err;

	gotabmaker_table(m);
	gotabmaker_file(m, m->table.n, &elf);
	CHECK_EQ(line_open_go(&lines, &elf, &err), 0);
	CHECK_EQ(line_chain(lines, TEXT + 0x27, f), 1);
	check_frame(f, "main.main", "a.go", 10);
	CHECK_EQ(line_chain(lines, TEXT + 0x28, f), 1 + has_inlined);
	check_frame(f, has_inlined ? "main.twice" : "main.main", "b.go", 21);
	if (has_inlined)
		check_frame(f + 1, "main.main", "a.go", 10);
	CHECK_EQ(line_chain(lines, TEXT + 0x3f, f), 1);
	check_frame(f, "main.main", "a.go", 11);
	CHECK(line_find(lines, TEXT + 0x2f, f) && f->line == 21);
	CHECK(!line_find(lines, TEXT + 0x40, f));
	CHECK_EQ(line_chain(lines, TEXT + 0x60, f), 0);
	line_close(lines);
	gotabmaker_close(m, &elf);
}

TEST(gotab_has_lines_since_1_16_and_what_was_inlined_since_1_18)
{
	struct gotabmaker m = {.text = TEXT};

	for (size_t i = 1; i < ARRAY_SIZE(versions); i++) {
		m.version = versions[i];
		m.word = 8;
		m.has_module = m.version != GOTAB_1_16;
		check_lines(&m, m.has_module);
		m.word = 4;
		check_lines(&m, m.has_module);
		/* Who does not know where the calls are has the lines. */
		m.has_module = false;
		check_lines(&m, false);
	}
	gotabmaker_fini(&m);
}

TEST(gotab_of_the_first_versions_has_no_lines)
{
	struct gotabmaker m = {.version = GOTAB_1_2, .word = 8};
	struct line_index *lines;
	struct elf elf;
	struct err err;

	gotabmaker_table(&m);
	gotabmaker_file(&m, m.table.n, &elf);
	CHECK_EQ(line_open_go(&lines, &elf, &err), ERR_NOENT);
	gotabmaker_close(&m, &elf);
	gotabmaker_fini(&m);
}

/* ---- frames ---- */

static const struct row *row_at(struct rows *rows, const struct cfi *cfi, u64 va,
	const struct rows_function **ret_function)
{
	bool is_cleared;
	u32 function, row;

	CHECK(rows_find(rows, cfi, va, &function, &row, &is_cleared));
	*ret_function = &rows->functions.at[function];
	return &rows->at.at[row];
}

static const struct row_rule *return_rule(const struct rows *rows, const struct row *row)
{
	for (u32 i = 0; i < row->n_rules; i++)
		if (rows->rules.at[row->first_rule + i].reg == 16)
			return &rows->rules.at[row->first_rule + i];
	return NULL;
}

TEST(gotab_says_how_deep_the_stack_is)
{
	static const struct {
		u8 at;
		s64 depth;
	} depths[] = {{0, 8}, {3, 8}, {4, 16}, {0xf, 16}, {0x10, 48}, {0x1e, 48}, {0x1f, 8}};
	struct gotabmaker m = {.version = GOTAB_1_20, .word = 8, .text = TEXT};
	const struct rows_function *function;
	struct rows rows = {0};
	struct str made = {0};
	struct elf elf;
	struct cfi cfi;

	gotabmaker_table(&m);
	gotabmaker_file(&m, m.table.n, &elf);
	CHECK(gocfi_make(&elf, &made));
	cfi_init(&cfi,
		&(struct cfi_input){.debug_frame = bytes_of(made.at, made.n), .is_64 = true});
	for (size_t i = 0; i < ARRAY_SIZE(depths); i++) {
		const struct row *row = row_at(&rows, &cfi, TEXT + 0x20 + depths[i].at, &function);

		CHECK(row->cfa.kind == ROW_REGISTER && row->cfa.from == 7);
		CHECK_EQ(row->cfa.value, depths[i].depth);
		CHECK_EQ(return_rule(&rows, row)->value, -8);
		CHECK(!function->changes_stack);
	}
	/* The first has no callers; those of the last are where its frame pointer leads. */
	CHECK_EQ(return_rule(&rows, row_at(&rows, &cfi, TEXT, &function))->kind, ROW_UNDEFINED);
	CHECK(!function->changes_stack);
	CHECK_EQ(row_at(&rows, &cfi, TEXT + 0x46, &function)->cfa.from, 7);
	CHECK_EQ(row_at(&rows, &cfi, TEXT + 0x47, &function)->cfa.from, 6);
	CHECK_EQ(row_at(&rows, &cfi, TEXT + 0x5f, &function)->cfa.from, 7);
	CHECK(function->changes_stack);
	rows_fini(&rows);
	cfi_fini(&cfi);
	str_fini(&made);
	gotabmaker_close(&m, &elf);
	gotabmaker_fini(&m);
}

/* ---- damage ---- */

/* Whatever is made of it, nothing is read that is not there. */
static void look(struct gotabmaker *m, size_t n)
{
	struct line_frame f[LINE_DEPTH_MAX];
	struct line_index *lines;
	struct symtab t = {0};
	struct str made = {0};
	struct elf elf;
	struct err err;

	gotabmaker_file(m, n, &elf);
	gotab_add(&t, &elf);
	symtab_finish(&t);
	symtab_fini(&t);
	if (!line_open_go(&lines, &elf, &err)) {
		for (u64 va = TEXT; va < TEXT + 0x60; va++)
			line_chain(lines, va, f);
		line_close(lines);
	}
	gocfi_make(&elf, &made);
	str_fini(&made);
	gotabmaker_close(m, &elf);
}

TEST(gotab_that_is_damaged_gives_what_is_there_or_nothing)
{
	struct gotabmaker m = {.text = TEXT, .word = 8, .has_module = true};
	u32 seed = 7;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		m.version = versions[i];
		gotabmaker_table(&m);
		for (size_t n = 0; n < m.table.n; n++) {
			look(&m, n);
			seed = seed * 1664525 + 1013904223;
			m.table.at[8 + (seed >> 8) % (m.table.n - 8)] = (char)(seed >> 24);
			look(&m, m.table.n);
			gotabmaker_table(&m);
		}
	}
	gotabmaker_fini(&m);
}
