#include "test.h"

#include "symbol/dwarf/lineindexfile.h"
#include "unit/spoil.h"

/* A unit of two functions, into the first of which two others were inlined, one into the other. */
static void make_unit(struct lineindex_maker *m, u64 base)
{
	static const char outer[] = "outer", middle[] = "middle", inner[] = "inner",
			  next[] = "next";
	static const char a[] = "a.c", b[] = "b.h";
	struct lineindex_maker_row row = {base, 10, lineindex_file(m, a), 3};

	m->dir = "/where";
	m->flags = LINEINDEX_HAS_SCOPES;
	lineindex_add_row(m, &row);
	lineindex_add_row(m, &(struct lineindex_maker_row){base + 4, 20, lineindex_file(m, b), 7});
	lineindex_add_row(m, &(struct lineindex_maker_row){base + 8, 21, lineindex_file(m, b), 0});
	lineindex_add_row(m, &(struct lineindex_maker_row){base + 16, 0, 0, 0});
	vec_add(&m->scopes, ((struct lineindex_scope){.name = lineindex_text(&m->names, outer)}));
	vec_add(&m->scopes,
		((struct lineindex_scope){lineindex_text(&m->names, middle), 1, 11,
			lineindex_file(m, a), 5}));
	vec_add(&m->scopes,
		((struct lineindex_scope){lineindex_text(&m->names, inner), 2, 22,
			lineindex_file(m, b), 6}));
	vec_add(&m->scopes, ((struct lineindex_scope){.name = lineindex_text(&m->names, next)}));
	vec_add(&m->ranges, ((struct range){base, base + 16, 1}));
	vec_add(&m->ranges, ((struct range){base + 4, base + 12, 2}));
	vec_add(&m->ranges, ((struct range){base + 8, base + 10, 3}));
	vec_add(&m->ranges, ((struct range){base + 32, base + 40, 4}));
}

/* "inner@b.h:21:0 middle@b.h:22:6 outer@a.c:11:5" */
static const char *chain_text(const struct lineindex *s, u64 address)
{
	struct line_frame f[LINE_DEPTH_MAX];
	size_t n = lineindex_chain(s, address, f);
	static char text[400];
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n && at < 300; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.20s@%.20s:%u:%u",
			i ? " " : "", f[i].function ? f[i].function : "?",
			f[i].file ? f[i].file : "?", f[i].line, f[i].column);
	return text;
}

static const struct lineindexfile_source source = {{1, 2, 3}, 3, 4096, 77, "/lib/x.so"};
static const struct dwarf_unit places[2] = {{11, 1000}, {200, 2000}};
static const struct interval pieces[] = {{0x1000, 1}, {0x1040, 0}, {0x500000000, 2},
	{0x500000040, 0}};

/* Both units, or only the second, upon what was there before; the bytes are aligned. */
static void write_file(struct str *ret_bytes, bool with_first, const struct lineindexfile *before)
{
	struct lineindexfile_maker m;
	struct str blocks[2] = {{0}}, texts[2] = {{0}};

	lineindexfile_begin(&m, places, 2, before);
	for (u32 i = 0; i < 2; i++) {
		struct lineindex_maker maker = {0};

		if (i == 0 && !with_first) {
			if (before)
				lineindexfile_keep(&m, i, before);
			continue;
		}
		make_unit(&maker, i ? 0x500000000 : 0x1000);
		lineindex_make(&maker, &blocks[i], &texts[i]);
		CHECK(!maker.is_cut);
		lineindex_maker_fini(&maker);
		lineindexfile_add(&m, i, &blocks[i], &texts[i]);
	}
	lineindexfile_end(&m, pieces, ARRAY_SIZE(pieces), &source);
	vec_each(part, &m.parts)
		str_addn(ret_bytes, part->at, part->n);
	lineindexfile_maker_fini(&m);
	for (int i = 0; i < 2; i++) {
		str_fini(&blocks[i]);
		str_fini(&texts[i]);
	}
}

static void check_answers(const struct lineindex *s, u64 base)
{
	struct line_frame f;

	CHECK_STR(chain_text(s, base), "outer@a.c:10:3");
	CHECK_STR(chain_text(s, base + 5), "middle@b.h:20:7 outer@a.c:11:5");
	CHECK_STR(chain_text(s, base + 9), "inner@b.h:21:0 middle@b.h:22:6 outer@a.c:11:5");
	CHECK_STR(chain_text(s, base + 12), "outer@b.h:21:0");
	CHECK_STR(chain_text(s, base + 16), "");
	CHECK_STR(chain_text(s, base + 33), "next@?:0:0");
	CHECK_STR(chain_text(s, base - 1), "");
	CHECK_STR(chain_text(s, base + (1ull << 32)), "");
	CHECK(lineindex_find(s, base + 15, &f));
	CHECK_STR(f.dir, "/where");
	CHECK(!lineindex_find(s, base + 16, &f));
}

TEST(lineindexfile_answers_as_the_sheets_that_it_was_made_of)
{
	struct str bytes = {0};
	struct lineindexfile f;
	struct lineindex s;

	write_file(&bytes, true, NULL);
	CHECK(lineindexfile_view(&f, bytes.at, bytes.n, &source));
	CHECK_EQ(f.n_units, 2);
	CHECK_EQ(f.units[1].unit.entry, 200);
	CHECK_STR(f.path, "/lib/x.so");
	CHECK_EQ(intervalmap_find(f.pieces, f.n_pieces, 0x1005), 1);
	CHECK_EQ(intervalmap_find(f.pieces, f.n_pieces, 0x1040), 0);
	CHECK(lineindexfile_unit(&f, 0, &s));
	check_answers(&s, 0x1000);
	CHECK(lineindexfile_unit(&f, 1, &s));
	check_answers(&s, 0x500000000);
	str_fini(&bytes);
}

TEST(lineindexfile_takes_over_what_there_was)
{
	struct str first = {0}, second = {0}, third = {0};
	struct lineindexfile f;
	struct lineindex s;

	/* The second unit alone, then the first beside it, then anew upon both. */
	write_file(&first, false, NULL);
	CHECK(lineindexfile_view(&f, first.at, first.n, &source));
	CHECK(!lineindexfile_unit(&f, 0, &s));
	write_file(&second, true, &f);
	CHECK(lineindexfile_view(&f, second.at, second.n, &source));
	write_file(&third, false, &f);
	CHECK(lineindexfile_view(&f, third.at, third.n, &source));
	CHECK(lineindexfile_unit(&f, 0, &s));
	check_answers(&s, 0x1000);
	CHECK(lineindexfile_unit(&f, 1, &s));
	check_answers(&s, 0x500000000);
	/* Texts are there once. */
	CHECK_EQ(third.n, second.n);
	str_fini(&first);
	str_fini(&second);
	str_fini(&third);
}

TEST(lineindexfile_of_another_file_is_none)
{
	struct lineindexfile_source other;
	struct str bytes = {0};
	struct lineindexfile f;

	write_file(&bytes, true, NULL);
	other = source;
	other.id[2]++;
	CHECK(!lineindexfile_view(&f, bytes.at, bytes.n, &other));
	other = source;
	other.bytes++;
	CHECK(!lineindexfile_view(&f, bytes.at, bytes.n, &other));
	other = source;
	other.sections++;
	CHECK(!lineindexfile_view(&f, bytes.at, bytes.n, &other));
	CHECK(lineindexfile_view(&f, bytes.at, bytes.n, NULL));
	str_fini(&bytes);
}

/* Each byte in turn: what is wrong is not used, or it changes nothing. */
TEST(lineindexfile_with_a_wrong_byte_anywhere_never_lies)
{
	size_t refused = 0;
	struct str bytes = {0};

	write_file(&bytes, true, NULL);
	for (size_t i = 0; i < bytes.n; i++) {
		struct lineindexfile f;
		struct lineindex s;

		bytes.at[i] ^= 1 << i % 8;
		if (!lineindexfile_view(&f, bytes.at, bytes.n, &source)) {
			refused++;
		} else {
			if (lineindexfile_unit(&f, 0, &s))
				check_answers(&s, 0x1000);
			else
				refused++;
			if (lineindexfile_unit(&f, 1, &s))
				check_answers(&s, 0x500000000);
			else
				refused++;
		}
		bytes.at[i] ^= 1 << i % 8;
	}
	/* All but what only fills up. */
	CHECK(refused > bytes.n - 16);
	str_fini(&bytes);
}

TEST(lineindexfile_that_is_cut_is_none)
{
	struct str bytes = {0};
	struct lineindexfile f;

	write_file(&bytes, true, NULL);
	for (size_t n = 0; n < bytes.n; n++) {
		u64 *copy = malloc(n + 8);

		memcpy(copy, bytes.at, n);
		CHECK(!lineindexfile_view(&f, copy, n, NULL));
		free(copy);
	}
	str_fini(&bytes);
}

/* Sheets can be made to go in circles, or to point anywhere: they end, and stay within. */
TEST(lineindex_with_numbers_that_make_no_sense_ends)
{
	struct str block = {0}, text = {0};
	struct line_frame f[LINE_DEPTH_MAX];
	struct lineindex_maker maker = {0};
	struct lineindex s;
	struct spoil spoil = {{1}, 0};

	make_unit(&maker, 0x1000);
	lineindex_make(&maker, &block, &text);
	lineindex_maker_fini(&maker);
	for (int round = 0; round < 20000; round++) {
		spoil_bytes(&spoil, block.at, sizeof(struct lineindex_head), block.n, 1);
		CHECK(lineindex_view(&s, block.at, block.n, text.at, text.n));
		for (u64 a = 0xffc; a < 0x1030; a++) {
			size_t n = lineindex_chain(&s, a, f);

			CHECK(n <= LINE_DEPTH_MAX);
			for (size_t i = 0; i < n; i++)
				CHECK(!f[i].file || strlen(f[i].file) < text.n);
		}
		spoil_mend(&spoil, block.at);
	}
	str_fini(&block);
	str_fini(&text);
}
