#include "test.h"

#include "base/str.h"
#include "symbol/dwarf/linetable.h"
#include "unit/spoil.h"

/* A table under construction; numbers are written in the byte order that is asked for. */
struct making {
	struct str bytes;
	bool swap, is_wide;
};

static void put(struct making *m, u64 value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		str_addc(&m->bytes, (char)(value >> 8 * (m->swap ? n - 1 - i : i)));
}

static void put_text(struct making *m, const char *text)
{
	str_addn(&m->bytes, text, strlen(text) + 1);
}

static void put_number(struct making *m, u64 value, unsigned n, size_t at)
{
	struct making one = {.swap = m->swap};

	put(&one, value, n);
	memcpy(m->bytes.at + at, one.bytes.at, n);
	str_fini(&one.bytes);
}

/* Opcodes of the program, by their numbers in the specification. */
enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, CONST_ADD = 8, FIXED_ADVANCE = 9 };

static void put_address(struct making *m, u64 address)
{
	str_addn(&m->bytes, "\0\x9\x2", 3);
	put(m, address, 8);
}

static void put_end(struct making *m, u8 bytes)
{
	str_addn(&m->bytes, (char[]){ADVANCE_PC, (char)bytes, 0, 1, 1}, 5);
}

/* Two sequences, the second at the lower address. */
static void put_program(struct making *m)
{
	put_address(m, 0x2000);
	str_addn(&m->bytes, (char[]){SET_FILE, 2, SET_COLUMN, 9, ADVANCE_LINE, 0x7f, COPY}, 7);
	str_addn(&m->bytes, (char[]){ADVANCE_LINE, 0x11}, 2);
	/* A special opcode: 14 units of its range further, line + 1. */
	put(m, 13 + 14 * 5 + (1 + 3), 1);
	str_addn(&m->bytes, (char[]){CONST_ADD, FIXED_ADVANCE}, 2);
	put(m, 0x100, 2);
	str_addn(&m->bytes, (char[]){COPY}, 1);
	put_end(m, 4);
	put_address(m, 0x1000);
	/* An opcode that nobody knows, with the operands that the head says it has; a long one. */
	str_addn(&m->bytes, (char[]){12, (char)0x81, 1, 0, 3, (char)0x80, 1, 2, COPY}, 9);
	put_end(m, 8);
}

static void make(struct making *m, unsigned version)
{
	static const u8 operands[12] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	unsigned n_offset = m->is_wide ? 8 : 4;
	size_t head;

	if (m->is_wide)
		put(m, UINT32_MAX, 4);
	put(m, 0, n_offset);
	put(m, version, 2);
	if (version >= 5)
		put(m, 8, 1), put(m, 0, 1);
	head = m->bytes.n;
	put(m, 0, n_offset);
	put(m, 1, 1);
	if (version >= 4)
		put(m, 1, 1);
	/* A statement; lines from -3; 5 of them; the first special opcode. */
	put(m, 1, 1), put(m, (u8)-3, 1), put(m, 5, 1), put(m, 13, 1);
	str_addn(&m->bytes, operands, sizeof(operands));
	if (version < 5) {
		put_text(m, "include"), put_text(m, "/usr/include"), put_text(m, "");
		put_text(m, "a.c"), put(m, 0, 3);
		put_text(m, "b.h"), put(m, 2, 1), put(m, 0, 2);
		put_text(m, "/abs.h"), put(m, 1, 1), put(m, 0, 2);
		put_text(m, "c.h"), put(m, 1, 1), put(m, 0, 2);
		put_text(m, "");
	} else {
		/* Directories: a path, in .debug_line_str. */
		put(m, 1, 1), put(m, 1, 1), put(m, 0x1f, 1), put(m, 3, 1);
		put(m, 0, n_offset), put(m, 7, n_offset), put(m, 15, n_offset);
		/* Files: a path, a directory, a checksum. */
		put(m, 3, 1), put(m, 1, 1), put(m, 8, 1), put(m, 2, 1), put(m, 0xb, 1);
		put(m, 5, 1), put(m, 0x1e, 1), put(m, 4, 1);
		put_text(m, "a.c"), put(m, 0, 1), str_fill(&m->bytes, 'x', 16);
		put_text(m, "a.c"), put(m, 0, 1), str_fill(&m->bytes, 'x', 16);
		put_text(m, "b.h"), put(m, 2, 1), str_fill(&m->bytes, 'x', 16);
		put_text(m, "/abs.h"), put(m, 1, 1), str_fill(&m->bytes, 'x', 16);
	}
	put_number(m, m->bytes.n - head - n_offset, n_offset, head);
	put_program(m);
	put_number(m, m->bytes.n - (m->is_wide ? 12 : 4), n_offset, m->is_wide ? 4 : 0);
}

static const char line_str[] = "/build\0include\0/usr/include";

static struct linetable_sections sections_of(const struct making *m, size_t n)
{
	struct linetable_sections s = {.line = bytes_of(m->bytes.at, n),
		.line_str = bytes_of(line_str, sizeof(line_str))};

	s.line.swap = s.line_str.swap = m->swap;
	return s;
}

static void check_row(struct linetable *t, u64 address, u32 line, u32 column, const char *path)
{
	struct linetable_row row;

	CHECK(linetable_next(t, &row));
	CHECK_EQ(row.address, address);
	CHECK_EQ(row.is_end, !path);
	if (!path)
		return;
	CHECK_EQ(row.line, line);
	CHECK_EQ(row.column, column);
	CHECK_STR(linetable_path(t, row.file), path);
}

TEST(linetable_reads_all_versions_in_both_byte_orders_and_widths)
{
	struct arena texts = {0};
	struct linetable t = {0};
	struct linetable_row row;
	struct err err;

	for (unsigned i = 0; i < 16; i++) {
		struct making m = {.swap = i & 1, .is_wide = i & 2};
		unsigned version = 2 + i / 4;
		struct linetable_sections s;

		make(&m, version);
		s = sections_of(&m, m.bytes.n);
		CHECK_EQ(linetable_size(&s, 0), m.bytes.n - (m.is_wide ? 12 : 4));
		if (linetable_open(&t, &s, 0, "/build", 8, &texts, &err))
			test_failed(__FILE__, __LINE__, "version %u: %s", version, err.msg);
		check_row(&t, 0x2000, 0, 9, "/usr/include/b.h");
		check_row(&t, 0x200e, 18, 9, "/usr/include/b.h");
		/* 48 by the constant, (255 - 13) / 5, and then 256. */
		check_row(&t, 0x200e + 48 + 256, 18, 9, "/usr/include/b.h");
		check_row(&t, 0x200e + 48 + 256 + 4, 0, 0, NULL);
		check_row(&t, 0x1000, 1, 0, "/build/a.c");
		check_row(&t, 0x1008, 0, 0, NULL);
		CHECK(!linetable_next(&t, &row));
		CHECK(!t.is_wrong);
		CHECK_STR(linetable_path(&t, 3), "/abs.h");
		if (version < 5) {
			CHECK_STR(linetable_path(&t, 4), "include/c.h");
			CHECK(!linetable_path(&t, 0));
		}
		CHECK(!linetable_path(&t, 5));
		CHECK(linetable_path(&t, 1) == linetable_path(&t, 1));
		str_fini(&m.bytes);
	}
	linetable_fini(&t);
	arena_fini(&texts);
}

/* At every byte: an error, or rows until something is missing. */
TEST(linetable_keeps_what_stands_before_a_cut)
{
	struct making m = {0};
	struct arena texts = {0};
	struct linetable t = {0};
	size_t best = 0;
	struct err err;

	make(&m, 5);
	for (size_t n = 0; n < m.bytes.n; n++) {
		char *copy = mem_alloc(n + 1);
		struct making cut = {.bytes = {.at = copy, .n = n}};
		struct linetable_sections s;
		struct linetable_row row;
		size_t rows = 0;

		memcpy(copy, m.bytes.at, n);
		if (n >= 4)
			put_number(&cut, n - 4, 4, 0);
		s = sections_of(&cut, n);
		if (linetable_open(&t, &s, 0, "/build", 8, &texts, &err)) {
			CHECK_EQ(err.code, ERR_FORMAT);
			CHECK_HAS(err.msg, "a line table");
			CHECK(!linetable_next(&t, &row));
		} else {
			while (linetable_next(&t, &row))
				rows++;
			CHECK(rows >= best);
			best = rows;
		}
		mem_free(copy);
	}
	/* The last row needs the last byte. */
	CHECK_EQ(best, 5);
	str_fini(&m.bytes);
	linetable_fini(&t);
	arena_fini(&texts);
}

TEST(linetable_refuses_what_claims_to_be_huge_or_elsewhere)
{
	struct making m = {0};
	struct arena texts = {0};
	struct linetable t = {0};
	struct linetable_sections s;
	struct err err;

	make(&m, 4);
	s = sections_of(&m, m.bytes.n);
	CHECK_EQ(linetable_open(&t, &s, m.bytes.n + 1, NULL, 8, &texts, &err), ERR_FORMAT);
	CHECK_HAS(err.msg, "beyond the section");
	put_number(&m, 1000, 4, 0);
	CHECK_EQ(linetable_open(&t, &s, 0, NULL, 8, &texts, &err), ERR_FORMAT);
	put_number(&m, 100 << 20, 4, 0);
	CHECK_EQ(linetable_open(&t, &s, 0, NULL, 8, &texts, &err), ERR_LIMIT);
	CHECK_HAS(err.msg, "a line table of 100 MB is left out");
	str_fini(&m.bytes);
	linetable_fini(&t);
	arena_fini(&texts);
}

TEST(linetable_refuses_a_million_names_of_which_nothing_is_said)
{
	/* Version 5, 8-byte addresses, a head of 11 bytes; no opcodes; then no kinds, but 2^20 - 1 names. */
	static const u8 table[] = {19, 0, 0, 0, 5, 0, 8, 0, 11, 0, 0, 0, 1, 1, 1, 0xfd, 5, 1, 0,
		0xff, 0xff, 0x3f, 0};
	struct arena texts = {0};
	struct linetable t = {0};
	struct linetable_sections s = {.line = bytes_of(table, sizeof(table))};
	struct err err;

	CHECK_EQ(linetable_open(&t, &s, 0, NULL, 8, &texts, &err), ERR_FORMAT);
	CHECK_HAS(err.msg, "its names of files");
	CHECK_EQ(t.dirs.n, 0);
	linetable_fini(&t);
	arena_fini(&texts);
}

/* Whatever stands there, reading it ends, and the sanitizers find nothing. */
TEST(linetable_survives_wrong_bytes)
{
	struct spoil spoil = {{1}, 0};

	for (int round = 0; round < 4000; round++) {
		struct making m = {.is_wide = round & 1};
		struct arena texts = {0};
		struct linetable t = {0};
		struct linetable_sections s;
		struct linetable_row row;
		struct err err;
		size_t rows = 0;

		make(&m, round & 2 ? 5 : 3);
		spoil_bytes(&spoil, m.bytes.at, 0, m.bytes.n, 3);
		s = sections_of(&m, m.bytes.n);
		if (!linetable_open(&t, &s, 0, "/build", 8, &texts, &err))
			while (linetable_next(&t, &row)) {
				linetable_path(&t, row.file);
				rows++;
			}
		CHECK(rows <= m.bytes.n);
		str_fini(&m.bytes);
		linetable_fini(&t);
		arena_fini(&texts);
	}
}
