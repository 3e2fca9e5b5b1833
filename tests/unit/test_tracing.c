#include "file/tracing.h"

#include <unistd.h>

#include "base/bytes.h"
#include "event/abi.h"
#include "event/tracefs.h"
#include "test.h"
#include "unit/tree.h"

static void add_event(struct event_list *events, u32 type, u64 config)
{
	struct event_attr attr = {.type = type, .size = ATTR_SIZE_VER7, .config = config};

	event_add(events, &attr, "an event");
}

/* A tracefs with two systems; where it is. */
static const char *make_tracefs(void)
{
	const char *root = test_path("tracing");

	tree_file(root, "the page\n", "events/header_page");
	tree_file(root, "the event\n", "events/header_event");
	tree_file(root, "1\n", "events/enable");
	tree_file(root, "100\n", "events/sched/sched_switch/id");
	tree_file(root, "format of switch\n", "events/sched/sched_switch/format");
	tree_file(root, "101\n", "events/sched/sched_wakeup/id");
	tree_file(root, "format of wakeup\n", "events/sched/sched_wakeup/format");
	tree_file(root, "0\n", "events/sched/enable");
	tree_file(root, "200\n", "events/irq/irq_entry/id");
	tree_file(root, "format of irq\n", "events/irq/irq_entry/format");
	tree_file(root, "300\n", "events/broken/no_format/id");
	return root;
}

static void put(struct str *out, u64 v, size_t n)
{
	str_addn(out, &v, n);
}

static void put_text(struct str *out, const char *text)
{
	put(out, strlen(text), 8);
	str_add(out, text);
}

static void put_start(struct str *out)
{
	str_addn(out, "\x17\x08\x44tracing0.6", 14);
	str_addc(out, 0);
	str_addc(out, sizeof(long));
	put(out, sysconf(_SC_PAGESIZE), 4);
	str_addn(out, "header_page", 12);
	put_text(out, "the page\n");
	str_addn(out, "header_event", 13);
	put_text(out, "the event\n");
	put(out, 0, 4);
}

static void put_end(struct str *out)
{
	put(out, 0, 4);
	put(out, 0, 4);
	put(out, 0, 8);
}

static void check_section(const struct event_list *events, const struct str *expected)
{
	struct str out = {0};
	struct err err;

	if (tracing_write(make_tracefs(), events, &out, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	CHECK_EQ(out.n, expected->n);
	CHECK(!memcmp(out.at, expected->at, out.n));
	str_fini(&out);
}

TEST(tracing_is_needed_for_tracepoints_only)
{
	struct event_list events = {0};

	CHECK(!tracing_is_needed(&events));
	add_event(&events, PERF_TYPE_HARDWARE, 0);
	add_event(&events, PERF_TYPE_SOFTWARE, 100);
	CHECK(!tracing_is_needed(&events));
	add_event(&events, PERF_TYPE_TRACEPOINT, 100);
	CHECK(tracing_is_needed(&events));
	event_list_fini(&events);
}

TEST(tracing_section_of_one_tracepoint_is_as_trace_cmd_reads_it)
{
	struct event_list events = {0};
	struct str expected = {0};

	add_event(&events, PERF_TYPE_TRACEPOINT, 100);
	/* Number 200 of another kind of event is no tracepoint. */
	add_event(&events, PERF_TYPE_SOFTWARE, 200);
	put_start(&expected);
	put(&expected, 1, 4);
	str_addn(&expected, "sched", 6);
	put(&expected, 1, 4);
	put_text(&expected, "format of switch\n");
	put_end(&expected);
	check_section(&events, &expected);
	str_fini(&expected);
	event_list_fini(&events);
}

TEST(tracing_section_holds_a_tracepoint_once_and_no_other)
{
	struct event_list events = {0};
	struct str expected = {0};

	add_event(&events, PERF_TYPE_TRACEPOINT, 200);
	add_event(&events, PERF_TYPE_TRACEPOINT, 200);
	put_start(&expected);
	put(&expected, 1, 4);
	str_addn(&expected, "irq", 4);
	put(&expected, 1, 4);
	put_text(&expected, "format of irq\n");
	put_end(&expected);
	check_section(&events, &expected);
	str_fini(&expected);
	event_list_fini(&events);
}

TEST(tracing_section_without_known_tracepoints_has_no_systems)
{
	struct event_list events = {0};
	struct str expected = {0};

	add_event(&events, PERF_TYPE_TRACEPOINT, 999);
	/* One whose format cannot be read counts as unknown. */
	add_event(&events, PERF_TYPE_TRACEPOINT, 300);
	put_start(&expected);
	put(&expected, 0, 4);
	put_end(&expected);
	check_section(&events, &expected);
	str_fini(&expected);
	event_list_fini(&events);
}

/* Systems stand in the order of the directory, whatever it is: what is there is looked for by name.
 */
static u32 n_formats(const struct str *section, size_t n_start)
{
	struct bytes b = bytes_of(section->at, section->n);
	u32 n_systems, n_all = 0;

	CHECK(bytes_skip(&b, n_start));
	CHECK(bytes_u32(&b, &n_systems));
	while (n_systems--) {
		const char *system;
		size_t length;
		u32 n;

		CHECK(bytes_cstr(&b, &system, &length));
		CHECK(bytes_u32(&b, &n));
		n_all += n;
		while (n--) {
			u64 size;

			CHECK(bytes_u64(&b, &size));
			CHECK(bytes_skip(&b, size));
		}
	}
	CHECK_EQ(bytes_left(&b), 16);
	return n_all;
}

TEST(tracing_section_of_several_systems_counts_right)
{
	struct event_list events = {0};
	struct str out = {0}, start = {0};
	struct err err;

	add_event(&events, PERF_TYPE_TRACEPOINT, 200);
	add_event(&events, PERF_TYPE_TRACEPOINT, 100);
	add_event(&events, PERF_TYPE_TRACEPOINT, 101);
	CHECK_EQ(tracing_write(make_tracefs(), &events, &out, &err), 0);
	put_start(&start);
	CHECK_EQ(n_formats(&out, start.n), 3);
	CHECK(memmem(out.at, out.n, "sched\0\2\0\0\0", 10));
	CHECK(memmem(out.at, out.n, "irq\0\1\0\0\0", 8));
	CHECK(memmem(out.at, out.n, "format of wakeup\n", 17));
	str_fini(&out);
	str_fini(&start);
	event_list_fini(&events);
}

TEST(tracing_without_its_files_is_an_error_that_names_them)
{
	struct event_list events = {0};
	const char *root = make_tracefs();
	struct str out = {0};
	struct err err;

	add_event(&events, PERF_TYPE_TRACEPOINT, 100);
	CHECK_EQ(unlink(test_path("tracing/events/header_event")), 0);
	CHECK_EQ(tracing_write(root, &events, &out, &err), ERR_NOENT);
	CHECK_HAS(err.msg, "/events/header_event'");
	CHECK_EQ(unlink(test_path("tracing/events/header_page")), 0);
	CHECK_EQ(tracing_write(root, &events, &out, &err), ERR_NOENT);
	CHECK_HAS(err.msg, "/events/header_page'");
	CHECK_EQ(tracing_write(test_path("nothing here"), &events, &out, &err), ERR_NOENT);
	str_fini(&out);
	event_list_fini(&events);
}

TEST(tracing_of_this_kernel_has_the_format_of_its_tracepoint)
{
	struct event_list events = {0};
	struct str out = {0};
	struct err err;
	char id_line[32];
	u64 id;

	if (tracefs_id(NULL, "sched", "sched_switch", &id, &err))
		SKIP("%s", err.msg);
	add_event(&events, PERF_TYPE_TRACEPOINT, id);
	CHECK_EQ(tracing_write(NULL, &events, &out, &err), 0);
	snprintf(id_line, sizeof(id_line), "\nID: %llu\n", (unsigned long long)id);
	CHECK(memmem(out.at, out.n, "name: sched_switch\n", 19));
	CHECK(memmem(out.at, out.n, id_line, strlen(id_line)));
	CHECK(memmem(out.at, out.n, "field: u64 timestamp;", 21));
	CHECK(!memmem(out.at, out.n, "name: sched_wakeup\n", 19));
	str_fini(&out);
	event_list_fini(&events);
}
