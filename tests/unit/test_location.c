#include "symbol/resolve/location.h"

#include "event/abi.h"
#include "test.h"

struct scene {
	struct machine machine;
	struct dso_files files;
	struct resolver resolver;
	struct locator locator;
	struct intern strings;
};

static void begin(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	machine_init(&s->machine);
	dso_files_init(&s->files, &s->machine, &(struct find_places){.symfs = test_dir()});
	resolver_init(&s->resolver, &s->files);
	locator_init(&s->locator, &s->machine, &s->resolver);
}

static void end(struct scene *s)
{
	resolver_fini(&s->resolver);
	dso_files_fini(&s->files);
	machine_fini(&s->machine);
	intern_fini(&s->strings);
}

static struct record_bytes run_of(const char *text)
{
	return (struct record_bytes){(const u8 *)text, strlen(text)};
}

static void apply(struct scene *s, u32 type, u16 misc, const union record_body *body, u64 time)
{
	const struct record rec = {.type = type, .misc = misc, .size = 8};

	machine_apply(&s->machine, &rec, body, time);
}

static void map(struct scene *s, u64 time, u64 addr, u64 pgoff, const char *path)
{
	union record_body body = {.mmap = {.pid = 7,
					  .tid = 7,
					  .addr = addr,
					  .len = 0x1000,
					  .pgoff = pgoff,
					  .path = run_of(path)}};

	apply(s, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, &body, time);
}

/* "file address", "*" in front if it lasts; then " name+offset" if there is one. */
static const char *find(struct scene *s, u64 time, u64 ip, u8 mode, bool is_return)
{
	static char text[128];
	const struct chain_step step = {ip, mode, is_return};
	struct resolver_answer a;
	struct thread_state t;
	struct location l;
	int n;

	machine_state_at(&s->machine, 7, 7, time, &s->strings, &t);
	locator_find(&s->locator, &t, &step, &l);
	CHECK_EQ(l.is_return, is_return);
	n = snprintf(text, sizeof(text), "%s%s 0x%llx", l.is_lasting ? "*" : "", l.dso->name,
		(unsigned long long)l.address);
	a = locator_name(&s->locator, &l);
	if (a.name)
		snprintf(text + n, sizeof(text) - (size_t)n, " %s+0x%llx", a.name,
			(unsigned long long)(a.at - a.start));
	return text;
}

TEST(location_lasts_once_the_space_itself_has_a_map_there)
{
	union record_body exec = {.comm = {7, 7, run_of("new")}};
	struct scene s;

	begin(&s);
	CHECK_STR(find(&s, 1, 0x400010, PERF_RECORD_MISC_USER, false), "[unknown] 0x400010");
	map(&s, 1, 0x400000, 0x3000, "/old");
	CHECK_STR(find(&s, 2, 0x400010, PERF_RECORD_MISC_USER, false), "*old 0x3010");
	apply(&s, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, &exec, 3);
	CHECK_STR(find(&s, 4, 0x400010, PERF_RECORD_MISC_USER, false), "old 0x3010");
	map(&s, 5, 0x400000, 0, "/new");
	CHECK_STR(find(&s, 6, 0x400010, PERF_RECORD_MISC_USER, true), "*new 0x10");
	end(&s);
}

TEST(location_of_a_guest_or_a_hypervisor_is_nowhere_in_the_process)
{
	struct scene s;

	begin(&s);
	map(&s, 1, 0x400000, 0, "/program");
	CHECK_STR(find(&s, 2, 0x400010, PERF_RECORD_MISC_CPUMODE_UNKNOWN, false), "*program 0x10");
	CHECK_STR(find(&s, 2, 0x400010, PERF_RECORD_MISC_GUEST_USER, false), "[unknown] 0x400010");
	CHECK_STR(find(&s, 2, 0x400010, PERF_RECORD_MISC_HYPERVISOR, false), "[unknown] 0x400010");
	CHECK_STR(find(&s, 2, 0x400010, PERF_RECORD_MISC_KERNEL, false), "[unknown] 0x400010");
	end(&s);
}

TEST(location_in_a_bpf_program_counts_from_where_the_program_begins)
{
	const u64 start = 0xffffffffc0001000;
	union record_body body = {.ksymbol = {start, 0x100, 1, 0, run_of("bpf_prog_1_it")}};
	struct scene s;

	begin(&s);
	apply(&s, PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL, &body, 1);
	CHECK_STR(find(&s, 2, start + 0x24, PERF_RECORD_MISC_KERNEL, false),
		"*bpf_prog_1_it 0xffffffffc0001024 bpf_prog_1_it+0x24");
	CHECK_STR(find(&s, 2, start + 0x24, PERF_RECORD_MISC_KERNEL, true),
		"*bpf_prog_1_it 0xffffffffc0001024 bpf_prog_1_it+0x24");
	end(&s);
}

TEST(location_of_generated_code_lasts_but_the_memory_around_it_may_get_more)
{
	struct scene s;
	struct map code = {.start = 0x7100, .end = 0x7200, .pgoff = 0x40};
	struct thread_state before, after;

	begin(&s);
	map(&s, 1, 0x7000, 0, "//anon");
	CHECK_STR(find(&s, 1, 0x7110, PERF_RECORD_MISC_USER, false), "*[JIT] tid 7 0x7110");
	machine_state_at(&s.machine, 7, 7, 5, &s.strings, &before);
	code.dso = dso_get_kind(&s.machine.dsos, "/x/jit-7.dump", 13, DSO_JITDUMP);
	CHECK(!machine_add_code(&s.machine, 7, &code, 10));
	CHECK_STR(find(&s, 11, 0x7110, PERF_RECORD_MISC_USER, false), "*jit-7.dump 0x50");
	CHECK_STR(find(&s, 11, 0x7210, PERF_RECORD_MISC_USER, false), "[JIT] tid 7 0x7210");
	/* What lasted is of another state. */
	machine_state_at(&s.machine, 7, 7, 11, &s.strings, &after);
	CHECK(before.user->id != after.user->id);
	CHECK_STR(find(&s, 5, 0x7110, PERF_RECORD_MISC_USER, false), "*[JIT] tid 7 0x7110");
	end(&s);
}
