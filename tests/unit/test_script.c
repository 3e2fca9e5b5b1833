/* Lines of samples whose code moves under them. */
#include "view/records/script.h"

#include "event/abi.h"
#include "test.h"
#include "unit/recording.h"

struct scene {
	struct recording events;
	struct trace trace;
	struct visits visits;
	struct script_options options;
	struct script script;
	struct str text;
};

static void begin(struct scene *s, const char *fields)
{
	struct err err;

	memset(s, 0, sizeof(*s));
	recording_event(&s->events, "e", PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME, 1, 1);
	trace_begin_live(&s->trace, &s->events.events, NULL);
	s->trace.files.places.symfs = test_dir();
	s->trace.files.places.is_now = false;
	visits_init(&s->visits, &s->trace);
	CHECK_EQ(script_parse_fields(&s->options, fields, &err), 0);
	script_init(&s->script, &s->options, &s->trace);
}

static void end(struct scene *s)
{
	script_fini(&s->script);
	visits_fini(&s->visits);
	trace_close(&s->trace);
	recording_fini(&s->events);
	str_fini(&s->text);
}

static struct record_bytes run_of(const char *text)
{
	return (struct record_bytes){(const u8 *)text, strlen(text)};
}

static void map(struct scene *s, u64 time, u32 pid, u64 addr, const char *path)
{
	const struct record rec = {.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.size = 8};
	union record_body body = {.mmap = {.pid = pid,
					  .tid = pid,
					  .addr = addr,
					  .len = 0x1000,
					  .path = run_of(path)}};

	machine_apply(&s->trace.machine, &rec, &body, time);
}

static void exec(struct scene *s, u64 time, u32 pid, const char *name)
{
	const struct record rec = {.type = PERF_RECORD_COMM,
		.misc = PERF_RECORD_MISC_COMM_EXEC,
		.size = 8};
	union record_body body = {.comm = {pid, pid, run_of(name)}};

	machine_apply(&s->trace.machine, &rec, &body, time);
}

static const char *show(struct scene *s, const struct sample *sample, const struct record *rec,
	bool is_json)
{
	struct visit v = {.visits = &s->visits,
		.rec = rec,
		.sample = sample,
		.format = &s->trace.session.reader.formats.at[0],
		.time = sample->time,
		.mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK};

	visits_follow(&s->visits);
	str_clear(&s->text);
	if (is_json)
		script_add_json(&s->script, &v, &s->text);
	else
		script_add_sample(&s->script, &v, &s->text);
	return str_text(&s->text);
}

/* The sample's line of text, or of JSON. */
static const char *line(struct scene *s, u64 time, u32 pid, u64 ip, bool is_json)
{
	struct sample sample = {.ip = ip, .pid = pid, .tid = pid, .time = time};
	struct record rec = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = 8};

	return show(s, &sample, &rec, is_json);
}

static void check_exec(bool is_json)
{
	struct scene s;

	begin(&s, "ip,dso");
	map(&s, 1, 7, 0x400000, "/old");
	CHECK_HAS(line(&s, 2, 7, 0x400010, is_json), "/old");
	exec(&s, 3, 7, "new");
	/* On its way out: the new program has no maps yet. */
	CHECK_HAS(line(&s, 4, 7, 0x400010, is_json), "/old");
	map(&s, 5, 7, 0x400000, "/new");
	CHECK_HAS(line(&s, 6, 7, 0x400010, is_json), "/new");
	CHECK_HAS(line(&s, 6, 7, 0x400010, is_json), "/new");
	end(&s);
}

TEST(script_names_the_new_program_where_the_old_one_was_before_the_exec)
{
	check_exec(false);
	check_exec(true);
}

static void check_replaced(bool is_json)
{
	struct scene s;

	begin(&s, "ip,dso");
	map(&s, 0, 7, 0x400000, "/first");
	CHECK_HAS(line(&s, 0, 7, 0x400010, is_json), "/first");
	/* A state that began at the same moment is replaced, in the same place of memory. */
	map(&s, 0, 7, 0x400000, "/second");
	CHECK_HAS(line(&s, 0, 7, 0x400010, is_json), "/second");
	end(&s);
}

TEST(script_names_the_map_that_replaced_another_at_the_same_moment)
{
	check_replaced(false);
	check_replaced(true);
}

static void check_unmapped(bool is_json)
{
	struct scene s;

	begin(&s, "ip,dso");
	CHECK_HAS(line(&s, 1, 7, 0x400010, is_json), is_json ? "\"file\":null" : "[unknown]");
	map(&s, 2, 7, 0x400000, "/late");
	CHECK_HAS(line(&s, 3, 7, 0x400010, is_json), "/late");
	/* Another process has the same addresses, and nothing there. */
	CHECK_HAS(line(&s, 3, 8, 0x400010, is_json), is_json ? "\"file\":null" : "[unknown]");
	end(&s);
}

TEST(script_names_a_map_that_came_after_a_sample_there)
{
	check_unmapped(false);
	check_unmapped(true);
}

TEST(script_names_what_is_mapped_while_the_states_of_a_process_grow)
{
	struct scene s;

	begin(&s, "ip,dso");
	for (unsigned i = 0; i < 300; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/program%u.", i);
		map(&s, 2 * i, 7, 0x400000, path);
		CHECK_HAS(line(&s, 2 * i + 1, 7, 0x400010, false), path);
	}
	end(&s);
}

TEST(script_counts_from_the_beginning_of_a_bpf_program)
{
	const u64 start = 0xffffffffc0001000;
	const struct record symbol = {.type = PERF_RECORD_KSYMBOL,
		.misc = PERF_RECORD_MISC_KERNEL,
		.size = 8};
	const struct record rec = {.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_KERNEL,
		.size = 8};
	union record_body body = {.ksymbol = {start, 0x100, 1, 0, run_of("bpf_prog_1_it")}};
	struct sample sample = {.ip = start + 0x24, .pid = 7, .tid = 7, .time = 2};
	struct scene s;

	begin(&s, "ip,sym,symoff");
	machine_apply(&s.trace.machine, &symbol, &body, 1);
	CHECK_HAS(show(&s, &sample, &rec, false), "bpf_prog_1_it+0x24");
	CHECK_HAS(show(&s, &sample, &rec, true), "\"function\":\"bpf_prog_1_it\",\"offset\":36,");
	end(&s);
}
