#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "symbol/jit/jitdump.h"
#include "unit/jitmaker.h"
#include "unit/recording.h"

enum { CLOSE = 3, UNWINDING = 4 };

static int open_bytes(struct jitdump *d, const void *data, size_t n, struct err *err)
{
	const char *path = test_path("jit-42.dump");
	int fd;

	test_write(path, data, n);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	if (jitdump_open(d, fd, err)) {
		close(fd);
		return err->code;
	}
	return 0;
}

static void open_made(struct jitdump *d, const struct jitmaker *m)
{
	struct err err;

	CHECK_EQ(open_bytes(d, m->file.at, m->file.n, &err), 0);
}

/* Something of everything. */
static void make_example(struct jitmaker *m, bool swap)
{
	const struct jitmaker_line lines[] = {{0x1000, 10, "/src/a.js"}, {0x1008, 11, "\xff"},
		{0x1010, 7, "/src/b.js"}};

	jitmaker_init(m, swap, 0);
	jitmaker_lines(m, 0x1000, lines, ARRAY_SIZE(lines));
	jitmaker_other(m, UNWINDING, 24);
	jitmaker_load(m, 100, 1, 0x1000, 0x20, "one");
	jitmaker_other(m, 77, 8);
	jitmaker_load(m, 200, 2, 0x2000, 0x10, "two words");
	jitmaker_move(m, 300, 1, 0x1000, 0x3000, 0x20);
	jitmaker_load(m, 400, 3, 0x1000, 0x20, "three");
	jitmaker_other(m, CLOSE, 0);
	jitmaker_load(m, 500, 4, 0x5000, 0x20, "behind the end");
}

/* "TIME VA+SIZE name" for all that happens; the code at the end "!" if it is damaged. */
static const char *all_events(struct jitdump *d)
{
	static struct str text;
	struct jitdump_event e;
	struct err err;
	int r;

	str_clear(&text);
	while ((r = jitdump_next(d, &e, &err)) > 0) {
		const struct jitdump_code *code = jitdump_find(d, e.off);

		CHECK(code && code->off == e.off);
		str_addf(&text, "%llu %llx+%llx %s\n", (unsigned long long)e.time_ns,
			(unsigned long long)e.va, (unsigned long long)e.size, code->name);
	}
	if (r < 0)
		str_addf(&text, "! %s\n", err.msg);
	return str_text(&text);
}

TEST(jitdump_tells_what_was_loaded_and_moved_in_both_byte_orders)
{
	for (int swap = 0; swap < 2; swap++) {
		struct jitmaker m;
		struct jitdump d;

		make_example(&m, swap);
		open_made(&d, &m);
		CHECK_STR(all_events(&d),
			"100 1000+20 one\n200 2000+10 two words\n300 3000+20 one\n400 1000+20 three\n");
		CHECK(d.is_closed && !d.has_other_clock);
		CHECK_EQ(d.machine, 62);
		CHECK_EQ(d.n_unwinding, 1);
		jitdump_close(&d);
		jitmaker_fini(&m);
	}
}

TEST(jitdump_has_a_place_of_its_own_for_each_piece_of_code)
{
	struct jitmaker m;
	struct jitdump d;
	u64 last;

	make_example(&m, false);
	open_made(&d, &m);
	all_events(&d);
	CHECK_EQ(d.codes.n, 3);
	last = d.codes.at[2].off;
	/* The bytes there are the code. */
	CHECK_EQ((u8)m.file.at[last], 0xcc);
	CHECK_EQ((u8)m.file.at[last + 0x1f], 0xcc);
	CHECK_STR(jitdump_find(&d, last + 0x1f)->name, "three");
	CHECK(!jitdump_find(&d, last + 0x20));
	CHECK(!jitdump_find(&d, last - 1));
	CHECK(!jitdump_find(&d, 0));
	jitdump_close(&d);
	jitmaker_fini(&m);
}

TEST(jitdump_knows_the_source_line_of_code)
{
	struct jitmaker m;
	struct jitdump d;
	u64 one, two;

	make_example(&m, true);
	open_made(&d, &m);
	all_events(&d);
	one = d.codes.at[0].off;
	two = d.codes.at[1].off;
	CHECK_STR(jitdump_find_line(&d, one)->file, "/src/a.js");
	CHECK_EQ(jitdump_find_line(&d, one + 7)->line, 10);
	CHECK_EQ(jitdump_find_line(&d, one + 8)->line, 11);
	CHECK_STR(jitdump_find_line(&d, one + 8)->file, "/src/a.js");
	CHECK_EQ(jitdump_find_line(&d, one + 0x1f)->line, 7);
	CHECK_STR(jitdump_find_line(&d, one + 0x1f)->file, "/src/b.js");
	CHECK(!jitdump_find_line(&d, two));
	jitdump_close(&d);
	jitmaker_fini(&m);
}

TEST(jitdump_takes_back_what_v8_adds_to_addresses_of_lines)
{
	const struct jitmaker_line lines[] = {{0x1040, 10, "a.js"}, {0x1048, 11, "a.js"}};
	struct jitmaker m;
	struct jitdump d;

	jitmaker_init(&m, false, 0);
	jitmaker_lines(&m, 0x1000, lines, 2);
	jitmaker_load(&m, 1, 1, 0x1000, 0x20, "f");
	open_made(&d, &m);
	all_events(&d);
	CHECK_EQ(jitdump_find_line(&d, d.codes.at[0].off)->line, 10);
	CHECK_EQ(jitdump_find_line(&d, d.codes.at[0].off + 8)->line, 11);
	jitdump_close(&d);
	jitmaker_fini(&m);
}

TEST(jitdump_leaves_out_lines_that_make_no_sense)
{
	const struct jitmaker_line lines[] = {{0x1000, 10, "a.js"}, {0x900, 11, "a.js"},
		{0x1010, 12, "a.js"}};
	const struct jitmaker_line noise[] = {{0x2000, 1, "a\x01.js"}};
	const struct jitmaker_line no_code[] = {{0x7000, 1, "lost.js"}};
	struct jitmaker m;
	struct jitdump d;

	jitmaker_init(&m, false, 0);
	jitmaker_lines(&m, 0x7000, no_code, 1);
	jitmaker_lines(&m, 0x1000, lines, 3);
	jitmaker_load(&m, 1, 1, 0x1000, 0x20, "f");
	jitmaker_lines(&m, 0x2000, noise, 1);
	jitmaker_load(&m, 1, 2, 0x2000, 0x20, "g");
	open_made(&d, &m);
	CHECK_STR(all_events(&d), "1 1000+20 f\n1 2000+20 g\n");
	CHECK_EQ(jitdump_find_line(&d, d.codes.at[0].off + 0x1f)->line, 10);
	CHECK(!jitdump_find_line(&d, d.codes.at[1].off));
	CHECK_EQ(d.lines.n, 1);
	CHECK_EQ(d.n_bad_lines, 3);
	jitdump_close(&d);
	jitmaker_fini(&m);
}

TEST(jitdump_goes_on_when_the_file_has_grown)
{
	struct jitmaker m;
	struct jitdump d;
	struct jitdump_event e;
	struct err err;
	size_t half;

	jitmaker_init(&m, false, 0);
	jitmaker_load(&m, 1, 1, 0x1000, 0x20, "first");
	half = m.file.n + 30;
	jitmaker_load(&m, 2, 2, 0x2000, 0x20, "second");
	CHECK_EQ(open_bytes(&d, m.file.at, half, &err), 0);
	CHECK_EQ(jitdump_next(&d, &e, &err), 1);
	CHECK_EQ(jitdump_next(&d, &e, &err), 0);
	CHECK_EQ(jitdump_next(&d, &e, &err), 0);
	test_write(test_path("jit-42.dump"), m.file.at, m.file.n);
	CHECK_EQ(jitdump_next(&d, &e, &err), 1);
	CHECK_EQ(e.va, 0x2000);
	CHECK_EQ(jitdump_next(&d, &e, &err), 0);
	jitdump_close(&d);
	jitmaker_fini(&m);
}

TEST(jitdump_refuses_what_is_none)
{
	struct jitmaker m;
	struct jitdump d;
	struct err err;

	CHECK(open_bytes(&d, "\177ELF and more bytes than the header of a jitdump has", 50, &err));
	CHECK_STR(err.msg, "it is not a jitdump");
	CHECK(open_bytes(&d, "DTiJ", 4, &err));
	CHECK_STR(err.msg, "it is not a jitdump");
	jitmaker_init(&m, false, 0);
	m.file.at[4] = 2;
	CHECK(open_bytes(&d, m.file.at, m.file.n, &err));
	CHECK_HAS(err.msg, "it is a jitdump of version 2");
	jitmaker_fini(&m);
}

TEST(jitdump_stops_where_it_is_damaged)
{
	struct jitmaker m;
	struct jitdump d;
	size_t second;

	jitmaker_init(&m, false, 1);
	jitmaker_load(&m, 1, 1, 0x1000, 0x20, "first");
	second = m.file.n;
	jitmaker_load(&m, 2, 2, 0x2000, 0x20, "second");
	/* Its code is said to be larger than the record. */
	m.file.at[second + 16 + 24] = 0x7f;
	open_made(&d, &m);
	CHECK(d.has_other_clock);
	CHECK_STR(all_events(&d),
		"1 1000+20 first\n! damaged at offset 134: a function's name and code do not fit into its record\n");
	jitdump_close(&d);
	m.file.at[second + 4] = 15;
	open_made(&d, &m);
	CHECK_STR(all_events(&d),
		"1 1000+20 first\n! damaged at offset 134: a record is smaller than its own header\n");
	jitdump_close(&d);
	jitmaker_fini(&m);
}

TEST(jitdump_cut_anywhere_tells_a_beginning_of_the_same)
{
	char whole[512];
	struct jitmaker m;
	struct jitdump d;
	struct err err;

	make_example(&m, false);
	open_made(&d, &m);
	snprintf(whole, sizeof(whole), "%s", all_events(&d));
	jitdump_close(&d);
	for (size_t n = 0; n < m.file.n; n++) {
		const char *text;

		if (open_bytes(&d, m.file.at, n, &err)) {
			CHECK(n < 40);
			continue;
		}
		text = all_events(&d);
		CHECK(!strchr(text, '!'));
		CHECK(!strncmp(text, whole, strlen(text)));
		jitdump_close(&d);
	}
	jitmaker_fini(&m);
}

TEST(jitdump_survives_any_byte_being_another)
{
	struct jitmaker m;
	u64 seed = 3;

	make_example(&m, false);
	for (size_t at = 0; at < m.file.n; at++) {
		char before = m.file.at[at];
		struct jitdump d;
		struct err err;

		m.file.at[at] = (char)recording_random(&seed);
		if (!open_bytes(&d, m.file.at, m.file.n, &err)) {
			all_events(&d);
			vec_each(code, &d.codes)
				jitdump_find_line(&d, code->off);
			jitdump_close(&d);
		}
		m.file.at[at] = before;
	}
	jitmaker_fini(&m);
}
