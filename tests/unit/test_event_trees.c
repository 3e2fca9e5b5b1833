/*
 * Event texts on the sysfs trees of machines that are not here: tests/events/trees/NAME.tree
 * describes one, tests/events/NAME.expect has texts and, indented below each, the events they
 * become or the error. Lines with # in front are comments.
 */
#include <unistd.h>

#include "base/str.h"
#include "base/sysfile.h"
#include "base/vec.h"
#include "event/memevents.h"
#include "event/parse.h"

#include "event_text.h"
#include "fake_sysfs.h"
#include "test.h"

/* __FILE__ is relative to the build directory; by hand tests are run from the top. */
static const char *folder(void)
{
	static char path[512];
	const char *slash = strrchr(__FILE__, '/');

	snprintf(path, sizeof(path), "%.*s/../events", (int)(slash - __FILE__), __FILE__);
	return access(path, F_OK) ? "tests/events" : path;
}

static char *read_file(const char *name)
{
	struct str text = {0};
	struct err err;
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", folder(), name);
	if (sysfile_read(path, 1 << 20, &text, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	return text.at;
}

/* ---- trees ---- */

static void write_entry(const char *path, const char *content)
{
	struct str full = {0}, line = {0};

	str_addf(&full, "sys/bus/event_source/devices/%s", path);
	str_addf(&line, "%s\n", content);
	fake_file(full.at, line.at);
	str_fini(&full);
	str_fini(&line);
}

/* "new < old": all that was written for old so far, once more. */
static void copy_entries(char *const *lines, size_t n, const char *new, const char *old)
{
	size_t k = strlen(old);

	for (size_t i = 0; i < n; i++) {
		char *equals = strstr(lines[i], " = ");
		struct str path = {0};

		if (!equals || strncmp(lines[i], old, k) || lines[i][k] != '/')
			continue;
		str_add(&path, new);
		str_addn(&path, lines[i] + k, equals - lines[i] - k);
		write_entry(path.at, equals + 3);
		str_fini(&path);
	}
}

static void make_tree(const char *name)
{
	VEC(char *) lines = {0};
	char file[64], *text, *rest, *line;

	snprintf(file, sizeof(file), "trees/%s.tree", name);
	text = rest = read_file(file);
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *equals = strstr(line, " = "), *from = strstr(line, " < "), path[1024];

		if (*line == '#' || !*line)
			continue;
		if (from) {
			snprintf(path, sizeof(path), "%.*s", (int)(from - line), line);
			copy_entries(lines.at, lines.n, path, from + 3);
			continue;
		}
		CHECK(equals);
		snprintf(path, sizeof(path), "%.*s", (int)(equals - line), line);
		write_entry(path, equals + 3);
		vec_add(&lines, line);
	}
	vec_fini(&lines);
	mem_free(text);
}

/* ---- cases ---- */

static void add_result(const char *text, const struct parse_env *env, struct str *got)
{
	struct event_list events = {0};
	struct err err = {0};

	str_addf(got, "%s\n", text);
	if (parse_events(text, env, &events, &err))
		str_addf(got, "\terror: %s\n", err.msg);
	else
		for (u32 i = 0; i < events.n; i++) {
			str_addc(got, '\t');
			event_text_add(&events, i, true, got);
			str_addc(got, '\n');
		}
	event_list_fini(&events);
}

/* Renewed: the same file with what comes out now, for a diff that somebody reads. */
static void save(const char *name, const struct str *text)
{
	const char *to = getenv("PACE_RENEW");
	char path[600];

	if (!to)
		return;
	snprintf(path, sizeof(path), "%s/%s.expect", to, name);
	test_write(path, text->at, text->n);
}

static void check_machine(const char *name, size_t at_least)
{
	struct parse_env env = {0};
	struct str got = {0}, all = {0};
	char file[64], *text, *rest, *line;
	const char *wanted;
	size_t n = 0;

	make_tree(name);
	env.tracefs = fake_tracefs();
	env.sysfs = test_path("sys");
	snprintf(file, sizeof(file), "%s.expect", name);
	text = rest = read_file(file);
	wanted = mem_strdup(text);
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line == '\t' || (!*line && !rest))
			continue;
		if (*line == '#' || !*line) {
			str_addf(&all, "%s\n", line);
			continue;
		}
		str_clear(&got);
		add_result(line, &env, &got);
		str_add(&all, got.at);
		n++;
		if (!getenv("PACE_RENEW") && !strstr(wanted, got.at))
			test_failed(__FILE__, __LINE__, "%s: not expected:\n%s", file, got.at);
	}
	save(name, &all);
	if (!getenv("PACE_RENEW"))
		CHECK_STR(all.at, wanted);
	CHECK(n >= at_least);
	str_fini(&got);
	str_fini(&all);
	mem_free(text);
	mem_free((void *)wanted);
}

TEST(event_trees_intel_with_transactions_and_uncore)
{
	check_machine("intel_tsx", 110);
}

TEST(event_trees_intel_with_topdown_metrics)
{
	check_machine("intel_topdown", 20);
}

TEST(event_trees_intel_with_two_kinds_of_cores)
{
	check_machine("intel_hybrid", 30);
}

TEST(event_trees_amd)
{
	check_machine("amd", 20);
}

TEST(event_trees_arm_server)
{
	check_machine("arm", 25);
}

TEST(event_trees_arm_with_two_kinds_of_cores)
{
	check_machine("arm_big_little", 8);
}

TEST(event_trees_power_whose_events_have_parameters)
{
	check_machine("powerpc", 8);
}

/* What accesses of memory are sampled by on a machine: the text, or the error; the text can be parsed. */
static const char *memory_events(const char *tree, unsigned what)
{
	static char kept[1024];
	const struct memevents_wish wish = {what, 30};
	struct event_list events = {0};
	struct parse_env env = {0};
	struct str text = {0};
	struct err err;

	make_tree(tree);
	env.sysfs = test_path("sys");
	if (memevents_find(env.sysfs, &wish, &text, &err)) {
		snprintf(kept, sizeof(kept), "%s", err.msg);
		CHECK(!text.n);
		return kept;
	}
	if (parse_events(text.at, &env, &events, &err))
		test_failed(__FILE__, __LINE__, "%s: %s", text.at, err.msg);
	snprintf(kept, sizeof(kept), "%s", text.at);
	event_list_fini(&events);
	str_fini(&text);
	return kept;
}

TEST(memory_events_of_an_intel_server_are_led_by_another)
{
	CHECK_STR(memory_events("intel_topdown", MEMEVENTS_LOADS | MEMEVENTS_STORES),
		"{cpu/mem-loads-aux/,cpu/mem-loads,ldlat=30/P},cpu/mem-stores/P");
}

TEST(memory_events_of_a_hybrid_machine_are_those_of_both_kinds_of_cores)
{
	CHECK_STR(memory_events("intel_hybrid", MEMEVENTS_LOADS),
		"cpu_atom/mem-loads,ldlat=30/P,{cpu_core/mem-loads-aux/,cpu_core/mem-loads,ldlat=30/P}");
}

TEST(memory_events_of_amd_are_samples_of_instructions)
{
	CHECK_STR(memory_events("amd", MEMEVENTS_STORES), "ibs_op//");
}

TEST(memory_events_that_nobody_here_can_read_are_refused_with_the_reason)
{
	CHECK_HAS(memory_events("arm", MEMEVENTS_LOADS), "arm_spe");
}
