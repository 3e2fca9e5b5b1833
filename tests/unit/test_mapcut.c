#include "symbol/embed/mapcut.h"

#include <fcntl.h>
#include <unistd.h>

#include "symbol/embed/embedded.h"
#include "symbol/jit/jitdump.h"
#include "test.h"

/* The marks stand where lines end. */
static const char map[] = "1000 100 first\n"
			  "2000 100 alone\n"
			  "3000 100 unseen_first\n" /* 52 bytes: before the recording */
			  "1080 100 second\n"       /* 68, at 50 */
			  "3000 100 unseen_second\n"
			  "1000 80 third\n" /* 105, at 70 */
			  "1000 80 too_late\n";

struct cutting {
	struct embedder embedder;
	struct growth growth;
	struct str section;
	struct embedded embedded;
	struct jitdump dump;
};

static bool cut_map(struct cutting *c, const char *text, size_t size, const u64 *places, size_t n)
{
	int fd;
	bool is_there;

	test_write(test_path("perf-7.map"), text, size);
	fd = open(test_path("perf-7.map"), O_RDONLY | O_CLOEXEC);
	embedder_init(&c->embedder);
	is_there = mapcut_add(&c->embedder, fd, "/tmp/perf-7.map", 7, &c->growth, places, n);
	close(fd);
	return is_there;
}

static bool cut(struct cutting *c, const u64 *places, size_t n)
{
	memset(c, 0, sizeof(*c));
	vec_add(&c->growth.marks, ((struct growth_mark){7, 52, 0}));
	vec_add(&c->growth.marks, ((struct growth_mark){8, 999, 20}));
	vec_add(&c->growth.marks, ((struct growth_mark){7, 68, 50}));
	vec_add(&c->growth.marks, ((struct growth_mark){7, 105, 70}));
	return cut_map(c, map, sizeof(map) - 1, places, n);
}

static void cut_end(struct cutting *c)
{
	embedder_fini(&c->embedder);
	vec_fini(&c->growth.marks);
	str_fini(&c->section);
}

TEST(mapcut_tells_of_addresses_that_were_used_again_what_was_there_when)
{
	static const struct {
		u64 time, va, size;
		const char *name;
	} expected[] = {{0, 0x1000, 0x100, "first"}, {50, 0x1080, 0x100, "second"},
		{70, 0x1000, 0x80, "third"}};
	static const u64 places[] = {0x1040, 0x10c0, 0x2040};
	struct jitdump_event event;
	struct cutting c;
	struct err err;
	int fd;

	CHECK(cut(&c, places, ARRAY_SIZE(places)));
	CHECK_EQ(embedder_finish(&c.embedder, &c.section, &err), 0);
	CHECK_EQ(embedded_of_memory(&c.embedded, c.section.at, c.section.n, &err), 0);
	CHECK_EQ(embedded_open_dump(&c.embedded, "/tmp/perf-7.map", 7, &fd, &err), 0);
	CHECK_EQ(jitdump_open(&c.dump, fd, &err), 0);
	CHECK(c.dump.is_names_only);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		CHECK_EQ(jitdump_next(&c.dump, &event, &err), 1);
		CHECK_EQ(event.time_ns, expected[i].time);
		CHECK(event.va == expected[i].va && event.size == expected[i].size);
		CHECK_STR(jitdump_find(&c.dump, event.off)->name, expected[i].name);
	}
	CHECK_EQ(jitdump_next(&c.dump, &event, &err), 0);
	CHECK(c.dump.is_closed);
	jitdump_close(&c.dump);
	embedded_close(&c.embedded);
	cut_end(&c);
}

TEST(mapcut_adds_nothing_where_every_address_has_one_name)
{
	static const u64 places[] = {0x2040};
	struct cutting c;

	CHECK(!cut(&c, places, ARRAY_SIZE(places)));
	CHECK(embedder_is_empty(&c.embedder));
	cut_end(&c);
	CHECK(!cut(&c, NULL, 0));
	cut_end(&c);
}

/* However many there are. A JIT may write its lines long after their functions began to run. */
TEST(mapcut_lets_the_first_function_of_each_place_be_there_since_ever)
{
	enum { N = 5000 };
	struct cutting c = {0};
	struct jitdump_event event;
	struct str text = {0};
	u64 places[N];
	struct err err;
	int fd;

	for (int i = 0; i < 2 * N; i++)
		str_addf(&text, "%x 40 %s%d\n", 0x10000 + i % N * 0x40, i < N ? "old" : "new", i);
	for (size_t i = 0; i < N; i++)
		places[i] = 0x10000 + i * 0x40 + 8;
	vec_add(&c.growth.marks, ((struct growth_mark){7, text.n, 50}));
	CHECK(cut_map(&c, text.at, text.n, places, N));
	CHECK_EQ(embedder_finish(&c.embedder, &c.section, &err), 0);
	CHECK_EQ(embedded_of_memory(&c.embedded, c.section.at, c.section.n, &err), 0);
	CHECK_EQ(embedded_open_dump(&c.embedded, "/tmp/perf-7.map", 7, &fd, &err), 0);
	CHECK_EQ(jitdump_open(&c.dump, fd, &err), 0);
	for (int i = 0; i < 2 * N; i++) {
		const char *name;

		CHECK_EQ(jitdump_next(&c.dump, &event, &err), 1);
		name = jitdump_find(&c.dump, event.off)->name;
		CHECK(!strncmp(name, i < N ? "old" : "new", 3));
		CHECK_EQ(event.time_ns, i < N ? 0 : 50);
	}
	jitdump_close(&c.dump);
	embedded_close(&c.embedded);
	str_fini(&text);
	cut_end(&c);
}
