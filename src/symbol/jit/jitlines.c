#include "symbol/jit/jitlines.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 4, OPCODES = 13 };

typedef VEC(struct jitdump_line) line_list;

static void add_u8(struct str *s, u8 v)
{
	str_addc(s, (char)v);
}

static void add_bytes(struct str *s, u64 v, size_t n)
{
	str_addn(s, &v, n);
}

static void add_text(struct str *s, const char *text)
{
	str_addn(s, text, strlen(text) + 1);
}

static void add_uleb(struct str *s, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		add_u8(s, (u8)(v | 0x80));
	add_u8(s, (u8)v);
}

static void add_sleb(struct str *s, s64 v)
{
	for (; v < -0x40 || v > 0x3f; v >>= 7)
		add_u8(s, (u8)(v | 0x80));
	add_u8(s, v & 0x7f);
}

/* Writes the length of what follows it at `at`. */
static void put_length(struct str *s, size_t at)
{
	const u32 n = (u32)(s->n - at - sizeof(n));

	memcpy(s->at + at, &n, sizeof(n));
}

static int by_place(const void *a, const void *b)
{
	const struct jitdump_line *x = a, *y = b;

	return x->off < y->off ? -1 : x->off > y->off ? 1 : 0;
}

/* Those inside the function, ascending. The dump's names are interned: equal names are the same pointer. */
static void take_lines(const struct jitdump *d, const struct jitdump_code *code, line_list *ret)
{
	for (u32 i = 0; i < code->n_lines; i++) {
		const struct jitdump_line *l = &d->lines.at[code->first_line + i];

		if (l->off >= code->off && l->off - code->off < code->size)
			vec_add(ret, *l);
	}
	if (ret->n)
		qsort(ret->at, ret->n, sizeof(*ret->at), by_place);
}

/* The number of a file in the table, from 1 on; those that are new are appended. */
static u64 file_number(const char *file, size_t *n, const char **files)
{
	for (size_t i = 0; i < *n; i++)
		if (files[i] == file)
			return i + 1;
	files[*n] = file;
	return ++*n;
}

static void add_program(struct str *s, const line_list *lines, const u64 *numbers,
	const struct jitdump_code *code, u64 va)
{
	u64 at = code->off, file = 1;
	s64 line = 1;

	add_u8(s, 0);
	add_uleb(s, 1 + sizeof(va));
	add_u8(s, DW_LNE_set_address);
	add_bytes(s, va, sizeof(va));
	for (size_t i = 0; i < lines->n; i++) {
		const struct jitdump_line *l = &lines->at[i];

		if (numbers[i] != file) {
			add_u8(s, DW_LNS_set_file);
			add_uleb(s, numbers[i]);
		}
		add_u8(s, DW_LNS_advance_pc);
		add_uleb(s, l->off - at);
		add_u8(s, DW_LNS_advance_line);
		add_sleb(s, (s64)l->line - line);
		add_u8(s, DW_LNS_copy);
		at = l->off;
		line = l->line;
		file = numbers[i];
	}
	add_u8(s, DW_LNS_advance_pc);
	add_uleb(s, code->off + code->size - at);
	add_u8(s, 0);
	add_uleb(s, 1);
	add_u8(s, DW_LNE_end_sequence);
}

static void add_line(struct str *s, const line_list *lines, const struct jitdump_code *code, u64 va)
{
	static const u8 n_operands[OPCODES - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	const char **files = mem_alloc(lines->n * sizeof(*files));
	u64 *numbers = mem_alloc(lines->n * sizeof(*numbers));
	size_t n = 0, header;

	for (size_t i = 0; i < lines->n; i++)
		numbers[i] = file_number(lines->at[i].file, &n, files);
	add_bytes(s, 0, 4);
	add_bytes(s, VERSION, 2);
	header = s->n;
	add_bytes(s, 0, 4);
	add_u8(s, 1);  /* smallest instruction */
	add_u8(s, 1);  /* operations in an instruction */
	add_u8(s, 1);  /* rows are statements */
	add_u8(s, -5); /* what special opcodes could say: they are not used */
	add_u8(s, 14);
	add_u8(s, OPCODES);
	str_addn(s, n_operands, sizeof(n_operands));
	add_u8(s, 0); /* no folders */
	for (size_t i = 0; i < n; i++) {
		add_text(s, files[i]);
		str_addn(s, "\0\0\0", 3); /* folder, time, length */
	}
	add_u8(s, 0);
	put_length(s, header);
	add_program(s, lines, numbers, code, va);
	put_length(s, 0);
	mem_free(files);
	mem_free(numbers);
}

static void add_unit(struct jitlines *l, const char *name, u64 va, u64 size)
{
	static const u8 attributes[] = {DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
		DW_AT_high_pc, DW_FORM_data8, DW_AT_stmt_list, DW_FORM_sec_offset, 0, 0, 0};

	add_u8(&l->abbrev, 1);
	add_u8(&l->abbrev, DW_TAG_compile_unit);
	add_u8(&l->abbrev, DW_CHILDREN_no);
	str_addn(&l->abbrev, attributes, sizeof(attributes));
	add_bytes(&l->info, 0, 4);
	add_bytes(&l->info, VERSION, 2);
	add_bytes(&l->info, 0, 4); /* the abbreviations' place */
	add_u8(&l->info, sizeof(va));
	add_u8(&l->info, 1);
	add_text(&l->info, name);
	add_bytes(&l->info, va, 8);
	add_bytes(&l->info, size, 8);
	add_bytes(&l->info, 0, 4);
	put_length(&l->info, 0);
}

void jitlines_make(struct jitlines *l, const struct jitdump *d, const struct jitdump_code *code,
	u64 va)
{
	line_list lines = {0};

	*l = (struct jitlines){0};
	take_lines(d, code, &lines);
	if (lines.n) {
		add_unit(l, lines.at[0].file, va, code->size);
		add_line(&l->line, &lines, code, va);
	}
	vec_fini(&lines);
}

void jitlines_fini(struct jitlines *l)
{
	str_fini(&l->abbrev);
	str_fini(&l->info);
	str_fini(&l->line);
}
