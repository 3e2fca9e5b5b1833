#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "symbol/jit/perfmap.h"
#include "unit/recording.h"

static void parse(struct perfmap *p, const char *text)
{
	perfmap_init(p);
	perfmap_add(p, text, strlen(text));
	perfmap_finish(p);
}

static const char *name_at(const struct perfmap *p, u64 address)
{
	const struct perfmap_range *r = perfmap_find(p, address);

	return r ? r->name : "-";
}

TEST(perfmap_reads_start_size_and_names_with_spaces)
{
	struct perfmap p;

	parse(&p,
		"7f00 10 hot\n0x7F20 0x8 void Main::run(int, char)\n7f40\t4\tJS:*f a.js:1:2\r\n\n7f50 2 last");
	CHECK_EQ(p.n_bad, 0);
	CHECK_STR(name_at(&p, 0x7eff), "-");
	CHECK_STR(name_at(&p, 0x7f00), "hot");
	CHECK_STR(name_at(&p, 0x7f0f), "hot");
	CHECK_STR(name_at(&p, 0x7f10), "-");
	CHECK_STR(name_at(&p, 0x7f27), "void Main::run(int, char)");
	CHECK_STR(name_at(&p, 0x7f40), "JS:*f a.js:1:2");
	CHECK_STR(name_at(&p, 0x7f51), "last");
	CHECK_STR(name_at(&p, 0x7f52), "-");
	perfmap_fini(&p);
}

TEST(perfmap_counts_lines_that_are_none)
{
	struct perfmap p;

	parse(&p,
		"hello\n10\n10 20\n10 20 \nxyz 1 f\n10 1x f\nffffffffffffffff 2 over\n11112222333344445 1 long\n"
		"100 0 nothing\n200 8 good\n");
	CHECK_EQ(p.n_bad, 8);
	CHECK_EQ(p.ranges.n, 1);
	CHECK_STR(name_at(&p, 0x200), "good");
	perfmap_fini(&p);
}

TEST(perfmap_lets_later_lines_win_where_they_overlap)
{
	struct perfmap p;

	parse(&p, "100 100 old\n140 20 new\n1c0 80 tail\n100 10 head\n300 10 a\n300 10 b\n");
	CHECK_STR(name_at(&p, 0x100), "head");
	CHECK_STR(name_at(&p, 0x10f), "head");
	CHECK_STR(name_at(&p, 0x110), "old");
	CHECK_STR(name_at(&p, 0x140), "new");
	CHECK_STR(name_at(&p, 0x15f), "new");
	CHECK_STR(name_at(&p, 0x160), "old");
	CHECK_STR(name_at(&p, 0x1c0), "tail");
	CHECK_STR(name_at(&p, 0x23f), "tail");
	CHECK_STR(name_at(&p, 0x300), "b");
	/* Both halves are one function, and none else begins where it does. */
	CHECK_EQ(perfmap_find(&p, 0x111)->symbol, 0x110);
	CHECK_EQ(perfmap_find(&p, 0x161)->symbol, 0x110);
	perfmap_fini(&p);
}

/* The same answers as from asking each line, the last one first. */
TEST(perfmap_agrees_with_looking_at_every_line_on_random_maps)
{
	enum { LINES = 60, SPACE = 400, ROUNDS = 200 };
	u64 seed = 7;

	for (int round = 0; round < ROUNDS; round++) {
		u64 starts[LINES], sizes[LINES];
		struct str text = {0};
		struct perfmap p;

		for (int i = 0; i < LINES; i++) {
			starts[i] = recording_below(&seed, SPACE);
			sizes[i] = 1 + recording_below(&seed, 40);
			str_addf(&text, "%llx %llx f%d\n", (unsigned long long)starts[i],
				(unsigned long long)sizes[i], i);
		}
		parse(&p, str_text(&text));
		for (u64 at = 0; at < SPACE + 50; at++) {
			char expected[16] = "-";

			for (int i = 0; i < LINES; i++)
				if (at >= starts[i] && at - starts[i] < sizes[i])
					snprintf(expected, sizeof(expected), "f%d", i);
			CHECK_STR(name_at(&p, at), expected);
		}
		for (size_t i = 1; i < p.ranges.n; i++)
			CHECK(p.ranges.at[i - 1].end <= p.ranges.at[i].start);
		perfmap_fini(&p);
		str_fini(&text);
	}
}

TEST(perfmap_is_the_same_in_pieces_of_any_size)
{
	static const char text[] = "100 10 one\nbad\n0x110 10 two words\r\n200 5 three";

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		struct perfmap p;

		perfmap_init(&p);
		for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
			size_t n = sizeof(text) - 1 - at < piece ? sizeof(text) - 1 - at : piece;
			void *exact = recording_exact(text + at, n);

			CHECK(perfmap_add(&p, exact, n));
			free(exact);
		}
		perfmap_finish(&p);
		CHECK_EQ(p.n_bad, 1);
		CHECK_STR(name_at(&p, 0x10f), "one");
		CHECK_STR(name_at(&p, 0x110), "two words");
		CHECK_STR(name_at(&p, 0x204), "three");
		perfmap_fini(&p);
	}
}

TEST(perfmap_cuts_names_of_a_megabyte)
{
	struct str text = {0};
	struct perfmap p;

	str_add(&text, "100 10 ");
	str_fill(&text, 'x', 1 << 20);
	str_add(&text, "\n200 10 next\n");
	parse(&p, str_text(&text));
	CHECK_EQ(strlen(name_at(&p, 0x100)), PERFMAP_NAME);
	CHECK_STR(name_at(&p, 0x200), "next");
	CHECK_EQ(p.n_bad, 0);
	perfmap_fini(&p);
	str_fini(&text);
}

TEST(perfmap_of_a_gigabyte_costs_no_more_than_the_limit)
{
	const char *path = test_path("perf-1.map");
	struct perfmap p;
	struct err err;
	int fd;

	/* A name, then nothing but a hole. */
	test_write(path, "100 10 first\n", 13);
	CHECK_EQ(truncate(path, 1 << 30), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	perfmap_init(&p);
	CHECK_EQ(perfmap_read(&p, fd, &err), 0);
	close(fd);
	CHECK(p.is_cut);
	CHECK(p.n_bytes <= PERFMAP_BYTES + (64 << 10));
	CHECK(p.names.total < 1 << 20);
	CHECK_STR(name_at(&p, 0x10f), "first");
	perfmap_fini(&p);
}

TEST(perfmap_of_too_many_lines_keeps_the_first_ones)
{
	enum { PIECE = 4096 };
	struct str piece = {0};
	struct perfmap p;

	for (int i = 0; i < PIECE; i++)
		str_add(&piece, "1 1 f\n");
	perfmap_init(&p);
	for (size_t i = 0; i < PERFMAP_LINES / PIECE; i++)
		CHECK(perfmap_add(&p, piece.at, piece.n));
	CHECK(!p.is_cut);
	CHECK(!perfmap_add(&p, piece.at, piece.n));
	CHECK(p.is_cut);
	CHECK_EQ(p.lines.n, PERFMAP_LINES);
	perfmap_finish(&p);
	CHECK_EQ(p.ranges.n, 1);
	perfmap_fini(&p);
	str_fini(&piece);
}
