#include "test.h"

#include <time.h>
#include <unistd.h>

#include "symbol/embed/embedder.h"
#include "symbol/embed/jitcode.h"
#include "symbol/resolve/resolver.h"
#include "unit/jitmaker.h"
#include "unit/said.h"
#include "unit/tree.h"

/* A process 42 with anonymous memory from 0x1000 to 0x9000, which maps tmp/jit-42.dump at time 50. */
struct coding {
	struct machine machine;
	struct jitcode jitcode;
	struct dso_files files;
	struct resolver resolver;
	struct event_list events;
	struct said said;
	struct jitmaker dump;
};

static void map_at(struct coding *c, u64 time, u64 start, u64 end, const char *path)
{
	union record_body body = {
		.mmap = {.pid = 42, .tid = 42, .addr = start, .len = end - start}};
	struct record rec = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};

	body.mmap.path.at = (const u8 *)path;
	body.mmap.path.n = strlen(path);
	machine_apply(&c->machine, &rec, &body, time);
}

static void coding_init(struct coding *c, s32 clock)
{
	struct event_attr attr = {.flags = clock >= 0 ? ATTR_USE_CLOCKID : 0, .clockid = clock};

	memset(c, 0, sizeof(*c));
	said_init(&c->said, LOG_WARN);
	event_add(&c->events, &attr, "cycles");
	machine_init(&c->machine);
	jitcode_init(&c->jitcode, &c->events, test_dir(), &c->said.log);
	c->machine.coder = &c->jitcode.coder;
	tree_dir(test_dir(), "tmp");
	jitmaker_init(&c->dump, false, 0);
}

/* Writes the dump and lets the process run to its end. */
static void coding_run(struct coding *c)
{
	test_write(test_path("tmp/jit-42.dump"), c->dump.file.at, c->dump.file.n);
	map_at(c, 10, 0x1000, 0x9000, "//anon");
	map_at(c, 50, 0x20000, 0x21000, "/tmp/jit-42.dump");
	map_at(c, 350, 0x40000, 0x41000, "/lib/late.so");
	machine_advance(&c->machine, UINT64_MAX);
	dso_files_init(&c->files, &c->machine,
		&(struct find_places){.symfs = test_dir(), .log = &c->said.log});
	resolver_init(&c->resolver, &c->files);
	c->resolver.jitcode = &c->jitcode;
}

static void coding_fini(struct coding *c)
{
	resolver_fini(&c->resolver);
	dso_files_fini(&c->files);
	jitcode_fini(&c->jitcode);
	machine_fini(&c->machine);
	event_list_fini(&c->events);
	said_fini(&c->said);
	jitmaker_fini(&c->dump);
}

/* "dso name+offset" */
static const char *name_at(struct coding *c, u64 time, u64 va)
{
	static char text[4][128];
	static unsigned next;
	char *buf = text[next++ % ARRAY_SIZE(text)];
	struct intern strings = {0};
	struct thread_state state;
	struct resolver_answer a;
	const struct map *map;

	machine_state_at(&c->machine, 42, 42, time, &strings, &state);
	intern_fini(&strings);
	map = machine_find(state.user, va);
	CHECK(map != NULL);
	resolver_load(&c->resolver, map->dso);
	a = resolver_find(&c->resolver, map->dso, map_offset(map, va));
	snprintf(buf, sizeof(text[0]), "%s %s+%llx", map->dso->name, a.name ? a.name : "-",
		(unsigned long long)(a.at - a.start));
	return buf;
}

TEST(jitcode_names_an_address_by_what_was_there_at_the_time)
{
	struct coding c;

	coding_init(&c, CLOCK_MONOTONIC);
	jitmaker_load(&c.dump, 100, 1, 0x2000, 0x100, "old");
	jitmaker_load(&c.dump, 200, 2, 0x2080, 0x100, "new");
	jitmaker_move(&c.dump, 300, 1, 0x2000, 0x3000, 0x100);
	jitmaker_load(&c.dump, 400, 3, 0x2000, 0x80, "newest");
	coding_run(&c);
	CHECK_STR(name_at(&c, 150, 0x2000), "jit-42.dump old+0");
	CHECK_STR(name_at(&c, 150, 0x20ff), "jit-42.dump old+ff");
	CHECK_STR(name_at(&c, 150, 0x2100), "[JIT] tid 42 -+0");
	CHECK_STR(name_at(&c, 250, 0x2080), "jit-42.dump new+0");
	CHECK_STR(name_at(&c, 250, 0x217f), "jit-42.dump new+ff");
	CHECK_STR(name_at(&c, 350, 0x3010), "jit-42.dump old+10");
	CHECK_STR(name_at(&c, 350, 0x2000), "jit-42.dump old+0");
	CHECK_STR(name_at(&c, 450, 0x2000), "jit-42.dump newest+0");
	CHECK_STR(name_at(&c, 450, 0x2080), "jit-42.dump new+0");
	CHECK_STR(str_text(&c.said.text), "");
	coding_fini(&c);
}

/* What a recording carries of the perf map of process 42. */
static void embed_names(const struct jitmaker *names, struct embedded *ret)
{
	static struct str section;
	struct embedder e;
	struct err err;

	embedder_init(&e);
	embedder_add_dump(&e, "/tmp/perf-42.map", 42, names->file.n);
	embedder_add_piece(&e, 0, names->file.at, names->file.n);
	CHECK_EQ(embedder_finish(&e, &section, &err), 0);
	embedder_fini(&e);
	CHECK_EQ(embedded_of_memory(ret, section.at, section.n, &err), 0);
}

TEST(jitcode_of_a_process_with_a_perf_map_too_has_the_names_of_its_code)
{
	struct embedded embedded;
	struct jitmaker names;
	struct coding c;

	coding_init(&c, CLOCK_MONOTONIC);
	jitmaker_load(&c.dump, 100, 1, 0x2000, 0x100, "old");
	jitmaker_load(&c.dump, 200, 2, 0x2000, 0x100, "new");
	/* Lines come later than code; what the dump has not at all is named by them alone. */
	jitmaker_init(&names, false, JITDUMP_NAMES_ONLY);
	jitmaker_load(&names, 0, 1, 0x2000, 0x100, "old in the map");
	jitmaker_load(&names, 0, 2, 0x3000, 0x100, "stub");
	jitmaker_load(&names, 205, 3, 0x2000, 0x100, "new in the map");
	jitmaker_load(&names, 210, 4, 0x3000, 0x100, "other stub");
	embed_names(&names, &embedded);
	c.jitcode.embedded = &embedded;
	coding_run(&c);
	CHECK_STR(name_at(&c, 90, 0x2010), "[JIT] tid 42 old in the map+10");
	CHECK_STR(name_at(&c, 150, 0x2010), "jit-42.dump old+10");
	CHECK_STR(name_at(&c, 202, 0x2010), "jit-42.dump new+10");
	CHECK_STR(name_at(&c, 207, 0x2010), "jit-42.dump new+10");
	CHECK_STR(name_at(&c, 150, 0x3010), "[JIT] tid 42 stub+10");
	CHECK_STR(name_at(&c, 250, 0x3010), "[JIT] tid 42 other stub+10");
	/* Only this one tells where its code is. */
	CHECK(jitcode_has_code(&c.jitcode, 42));
	CHECK(!jitcode_has_code(&c.jitcode, 43));
	CHECK_STR(str_text(&c.said.text), "");
	coding_fini(&c);
	jitmaker_fini(&names);
	embedded_close(&embedded);
}

TEST(jitcode_of_a_perf_map_alone_is_not_all_code)
{
	struct embedded embedded;
	struct jitmaker names;
	struct coding c;

	coding_init(&c, CLOCK_MONOTONIC);
	jitmaker_init(&names, false, JITDUMP_NAMES_ONLY);
	jitmaker_load(&names, 0, 1, 0x2000, 0x100, "first");
	jitmaker_load(&names, 205, 2, 0x2000, 0x100, "second");
	embed_names(&names, &embedded);
	c.jitcode.embedded = &embedded;
	map_at(&c, 10, 0x1000, 0x9000, "//anon");
	machine_advance(&c.machine, UINT64_MAX);
	dso_files_init(&c.files, &c.machine,
		&(struct find_places){.symfs = test_dir(), .log = &c.said.log});
	resolver_init(&c.resolver, &c.files);
	c.resolver.jitcode = &c.jitcode;
	CHECK_STR(name_at(&c, 150, 0x2010), "[JIT] tid 42 first+10");
	CHECK_STR(name_at(&c, 250, 0x2010), "[JIT] tid 42 second+10");
	CHECK(!jitcode_has_code(&c.jitcode, 42));
	coding_fini(&c);
	jitmaker_fini(&names);
	embedded_close(&embedded);
}

TEST(jitcode_survives_that_the_memory_around_it_is_mapped_again)
{
	struct coding c;

	coding_init(&c, CLOCK_MONOTONIC);
	jitmaker_load(&c.dump, 100, 1, 0x2000, 0x100, "f");
	jitmaker_load(&c.dump, 100, 2, 0x4000, 0x100, "g");
	coding_run(&c);
	/* As mprotect() does, over and over. */
	map_at(&c, 500, 0x1000, 0x9000, "//anon");
	CHECK_STR(name_at(&c, 600, 0x2010), "jit-42.dump f+10");
	/* A file that is mapped there later is what counts there. */
	map_at(&c, 700, 0x4000, 0x5000, "/lib/late.so");
	CHECK_STR(name_at(&c, 600, 0x4000), "jit-42.dump g+0");
	CHECK_STR(name_at(&c, 800, 0x4000), "late.so -+0");
	CHECK_STR(name_at(&c, 800, 0x2010), "jit-42.dump f+10");
	coding_fini(&c);
}

TEST(jitcode_with_another_clock_takes_the_later_name_and_says_so)
{
	static const s32 clocks[] = {-1, CLOCK_REALTIME};

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct coding c;

		coding_init(&c, clocks[i]);
		jitmaker_load(&c.dump, 100000, 1, 0x2000, 0x100, "old");
		jitmaker_load(&c.dump, 200000, 2, 0x2000, 0x100, "new");
		jitmaker_load(&c.dump, 200000, 3, 0x3000, 0x100, "other");
		coding_run(&c);
		CHECK_STR(name_at(&c, 1, 0x2000), "jit-42.dump new+0");
		CHECK_STR(name_at(&c, 150, 0x2000), "jit-42.dump new+0");
		CHECK_STR(name_at(&c, 250, 0x3001), "jit-42.dump other+1");
		CHECK_EQ(said_count(&c.said, "1 functions replaced others"), 1);
		CHECK_EQ(said_count(&c.said, "'pace record -k mono' tells the functions apart"), 1);
		coding_fini(&c);
	}
}

TEST(jitcode_without_reuse_needs_no_clock)
{
	struct coding c;

	coding_init(&c, -1);
	jitmaker_load(&c.dump, 100000, 1, 0x2000, 0x100, "f");
	coding_run(&c);
	CHECK_STR(name_at(&c, 60, 0x2000), "jit-42.dump f+0");
	CHECK_STR(str_text(&c.said.text), "");
	coding_fini(&c);
}

TEST(jitcode_misses_dumps_of_those_who_came_while_it_was_recorded)
{
	struct coding c;

	coding_init(&c, CLOCK_MONOTONIC);
	jitmaker_load(&c.dump, 100, 1, 0x2000, 0x100, "f");
	coding_run(&c);
	/* All that ran on the machine is in some recordings: whether anybody asks for it is not known. */
	map_at(&c, 0, 0x50000, 0x51000, "/gone/jit-41.dump");
	CHECK_STR(str_text(&c.said.text), "");
	map_at(&c, 500, 0x60000, 0x61000, "/gone/jit-42.dump");
	CHECK_EQ(
		said_count(&c.said,
			"No such file or directory: the code that process 42 generated has no names"),
		1);
	coding_fini(&c);
}

TEST(jitcode_says_what_it_cannot_read)
{
	struct coding c;

	coding_init(&c, CLOCK_MONOTONIC);
	c.dump.file.at[0] = 'X';
	coding_run(&c);
	CHECK_EQ(
		said_count(&c.said,
			"jit-42.dump': it is not a jitdump: the code that process 42 generated has no names"),
		1);
	CHECK_STR(name_at(&c, 60, 0x2000), "[JIT] tid 42 -+0");
	coding_fini(&c);

	coding_init(&c, CLOCK_MONOTONIC);
	jitmaker_load(&c.dump, 100, 1, 0x2000, 0x100, "f");
	jitmaker_other(&c.dump, 0, 3);
	coding_run(&c);
	CHECK_EQ(said_count(&c.said, "damaged at offset"), 1);
	CHECK_STR(name_at(&c, 150, 0x2000), "jit-42.dump f+0");
	coding_fini(&c);
}
