#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/protobuf.h"
#include "event/abi.h"
#include "profile/import/import.h"
#include "profile/import/otlp.h"
#include "profile/tree/calls.h"

/* ---- messages by hand ---- */

enum {
	NONE,
	CPU,
	NANOSECONDS,
	SAMPLES,
	COUNT,
	FILE_APP,
	BUILD_KEY,
	MAIN,
	WORK,
	SMALL,
	SOURCE,
	THREAD_KEY,
	PID_KEY,
	TYPE_KEY,
	KERNEL_FILE,
};

static const char *const strings[] = {"", "cpu", "nanoseconds", "samples", "count", "/bin/app",
	OTLP_KEY_BUILD, "main", "work", "small", "src/app.c", OTLP_KEY_THREAD_NAME, "process.pid",
	OTLP_KEY_FRAME_TYPE, "[kernel.kallsyms]"};

/* Numbers are the fields 1, 2 ... of the message; those that are 0 are left out. */
static struct str message_of(const u64 *numbers, u32 n)
{
	struct str m = {0};

	for (u32 i = 0; i < n; i++)
		protobuf_add_u64(&m, i + 1, numbers[i]);
	return m;
}

#define MESSAGE(...) \
	message_of((const u64[]){__VA_ARGS__}, sizeof((const u64[]){__VA_ARGS__}) / sizeof(u64))

/* Adds a message as a field, and frees it. */
static void add(struct str *to, u32 field, struct str message)
{
	protobuf_add_bytes(to, field, str_text(&message), message.n);
	str_fini(&message);
}

/* Adds a packed list of up to three numbers; 0 ends it. */
static void add_list(struct str *to, u32 field, u64 a, u64 b, u64 c)
{
	const u64 all[] = {a, b, c};
	struct str list = {0};

	for (size_t i = 0; i < 3 && all[i]; i++)
		protobuf_add_varint(&list, all[i]);
	add(to, field, list);
}

static void add_attribute(struct str *dictionary, u64 key, const char *text, u64 number)
{
	struct str attribute = MESSAGE(key), value = {0};

	if (text)
		protobuf_add_bytes(&value, OTLP_VALUE_TEXT, text, strlen(text));
	protobuf_add_u64(&value, OTLP_VALUE_NUMBER, number);
	add(&attribute, OTLP_ATTRIBUTE_VALUE, value);
	add(dictionary, OTLP_ATTRIBUTES, attribute);
}

/* main calls work, into which small is inlined; a place without a function; one in the kernel. */
static void add_locations(struct str *dictionary)
{
	struct str l;

	add(dictionary, OTLP_LOCATIONS, MESSAGE(0));
	l = MESSAGE(1, 0x400100);
	add(&l, OTLP_LOCATION_LINES, MESSAGE(1, 10));
	add(dictionary, OTLP_LOCATIONS, l);
	l = MESSAGE(1, 0x400200);
	add(&l, OTLP_LOCATION_LINES, MESSAGE(3, 33));
	add(&l, OTLP_LOCATION_LINES, MESSAGE(2, 20));
	add(dictionary, OTLP_LOCATIONS, l);
	add(dictionary, OTLP_LOCATIONS, MESSAGE(1, 0x400300));
	l = MESSAGE(2, 0xffffffff81000000);
	add(&l, OTLP_LOCATION_LINES, MESSAGE(4));
	add_list(&l, OTLP_LOCATION_ATTRIBUTES, 4, 0, 0);
	add(dictionary, OTLP_LOCATIONS, l);
}

static struct str make_dictionary(void)
{
	struct str d = {0}, m, stack;

	add(&d, OTLP_MAPPINGS, MESSAGE(0));
	m = MESSAGE(0x400000, 0x500000, 0x1000, FILE_APP);
	add_list(&m, OTLP_MAPPING_ATTRIBUTES, 1, 0, 0);
	add(&d, OTLP_MAPPINGS, m);
	add(&d, OTLP_MAPPINGS, MESSAGE(0xffffffff80000000, 0xffffffff90000000, 0, KERNEL_FILE));
	add_locations(&d);
	add(&d, OTLP_FUNCTIONS, MESSAGE(0));
	add(&d, OTLP_FUNCTIONS, MESSAGE(MAIN, 0, SOURCE));
	add(&d, OTLP_FUNCTIONS, MESSAGE(0, WORK, SOURCE));
	add(&d, OTLP_FUNCTIONS, MESSAGE(SMALL, 0, SOURCE));
	add(&d, OTLP_FUNCTIONS, MESSAGE(WORK));
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		protobuf_add_bytes(&d, OTLP_STRINGS, strings[i], strlen(strings[i]));
	add(&d, OTLP_ATTRIBUTES, MESSAGE(0));
	add_attribute(&d, BUILD_KEY, "abcdef", 0);
	add_attribute(&d, THREAD_KEY, "sh", 0);
	add_attribute(&d, PID_KEY, NULL, 12);
	add_attribute(&d, TYPE_KEY, "kernel", 0);
	for (u64 i = 0; i < 4; i++) {
		static const u64 stacks[][3] = {{0}, {2, 1}, {3, 1}, {4, 2, 1}};

		stack = (struct str){0};
		if (i)
			add_list(&stack, OTLP_STACK_LOCATIONS, stacks[i][0], stacks[i][1],
				stacks[i][2]);
		add(&d, OTLP_STACKS, stack);
	}
	return d;
}

static void add_sample(struct str *profile, u64 stack, u64 value, u64 n_times)
{
	struct str sample = MESSAGE(stack), times = {0};

	add_list(&sample, OTLP_SAMPLE_ATTRIBUTES, 2, 3, 0);
	if (value)
		add_list(&sample, OTLP_SAMPLE_VALUES, value, 0, 0);
	for (u64 i = 0; i < n_times; i++)
		str_addn(&times, "\1\2\3\4\5\6\7\0", 8);
	if (n_times)
		protobuf_add_bytes(&sample, OTLP_SAMPLE_TIMES, times.at, times.n);
	str_fini(&times);
	add(profile, OTLP_SAMPLES, sample);
}

static struct str make_resource(bool has_times)
{
	struct str profile = {0}, scope = {0}, resource = {0};

	add(&profile, OTLP_SAMPLE_TYPE, MESSAGE(CPU, NANOSECONDS));
	add_sample(&profile, 1, 30000000, 0);
	add_sample(&profile, 2, 10000000, 0);
	add_sample(&profile, 3, 20000000, 0);
	add(&scope, OTLP_PROFILES, profile);
	profile = (struct str){0};
	add(&profile, OTLP_SAMPLE_TYPE, MESSAGE(SAMPLES, COUNT));
	add_sample(&profile, 1, has_times ? 0 : 3, has_times ? 3 : 0);
	add_sample(&profile, 2, 1, has_times);
	add_sample(&profile, 3, has_times ? 0 : 2, has_times ? 2 : 0);
	add(&scope, OTLP_PROFILES, profile);
	add(&resource, OTLP_SCOPE_PROFILES, scope);
	return resource;
}

static struct str make_data(bool has_times, bool is_dictionary_first)
{
	struct str data = {0};

	if (is_dictionary_first)
		add(&data, OTLP_DICTIONARY, make_dictionary());
	add(&data, OTLP_RESOURCE_PROFILES, make_resource(has_times));
	if (!is_dictionary_first)
		add(&data, OTLP_DICTIONARY, make_dictionary());
	return data;
}

/* ---- reading ---- */

static int read_profile(const void *bytes, size_t n, const struct import_options *o,
	struct profile *p, struct err *err)
{
	const char *path = test_path("in");
	struct import in;
	int fd, result;

	test_write(path, bytes, n);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	profile_init(p, o->labels);
	p->is_imported = true;
	result = import_open(&in, fd, "in", NULL, 0, err);
	close(fd);
	if (!result && !in.importer)
		result = err_set(err, ERR_UNSUPPORTED, "nobody reads it");
	if (!result)
		result = import_read(&in, o, p, err);
	import_close(&in);
	return result;
}

/* "app!main app!1300 n period" of each row of an event, the outermost first; a static buffer. */
static const char *rows_of(const struct profile *p, u32 event)
{
	static char out[4096];
	struct str text = {0};
	struct calls calls;

	calls_init(&calls, p);
	for (size_t i = 0; i < p->rows.n; i++) {
		u32 path[16], n = 0;

		if (p->rows.at[i].event != event)
			continue;
		for (u32 node = calls.of_row[i]; node; node = calls.nodes.at[node].parent)
			path[n++] = calls.nodes.at[node].symbol;
		while (n--) {
			const struct profile_symbol *s = &p->symbols.at[path[n]];

			str_addf(&text, "%s%s!", s->mode == PERF_RECORD_MISC_KERNEL ? "k:" : "",
				p->dsos.at[s->dso].name);
			if (s->name)
				str_add(&text, s->name);
			else
				str_addf(&text, "%llx", (unsigned long long)s->start);
			str_add(&text, s->is_inlined ? "(inlined)" : "");
			str_addf(&text, s->line ? "@%s" : "%s", s->line ? s->line : "");
			str_add(&text, n ? " " : "");
		}
		str_addf(&text, " %llu %llu\n", (unsigned long long)p->rows.at[i].n_samples,
			(unsigned long long)p->rows.at[i].period);
	}
	calls_fini(&calls);
	snprintf(out, sizeof(out), "%s", str_text(&text));
	str_fini(&text);
	return out;
}

TEST(otlp_has_types_mappings_functions_and_what_is_inlined)
{
	struct import_options o = {.has_stacks = true,
		.has_inlined = true,
		.labels = LABEL_BIT(LABEL_PID) | LABEL_BIT(LABEL_COMM) | LABEL_BIT(LABEL_CPU)};

	for (unsigned k = 0; k < 4; k++) {
		struct str data = make_data(k & 1, k & 2);
		struct profile p;
		struct err err;

		CHECK_EQ(read_profile(data.at, data.n, &o, &p, &err), 0);
		CHECK_EQ(p.events.n, 2);
		CHECK_STR(p.events.at[0].name, "cpu/nanoseconds");
		CHECK_STR(p.events.at[1].name, "samples/count");
		CHECK_EQ(p.events.at[0].n_group, 2);
		CHECK_EQ(p.events.at[0].period, 60000000);
		CHECK_EQ(p.events.at[0].n_samples, 6);
		CHECK_EQ(p.events.at[1].period, 6);
		CHECK_STR(rows_of(&p, 0),
			"app!main app!work app!small(inlined) 3 30000000\n"
			"app!main app!1300 1 10000000\n"
			"app!main app!work app!small(inlined) k:[kernel.kallsyms]!work 2 20000000\n");
		CHECK_HAS(rows_of(&p, 1), "app!main app!work app!small(inlined) 3 3\n");
		CHECK_STR(p.dsos.at[0].path, "/bin/app");
		CHECK_STR(p.dsos.at[0].build, "abcdef");
		CHECK_EQ(profile_label(&p, 0, LABEL_PID), 12);
		CHECK_STR(profile_text(profile_label(&p, 0, LABEL_COMM)), "sh");
		CHECK_EQ((u32)profile_label(&p, 0, LABEL_CPU), (u32)-1);
		profile_fini(&p);
		str_fini(&data);
	}
}

TEST(otlp_has_lines_of_source_if_these_are_asked_for)
{
	struct import_options o = {.has_stacks = true, .source = NAMING_LINES};
	struct str data = make_data(false, false);
	struct profile p;
	struct err err;

	CHECK_EQ(read_profile(data.at, data.n, &o, &p, &err), 0);
	CHECK_HAS(rows_of(&p, 1), "app!main@app.c:10 app!work@app.c:33 3 3\n");
	profile_fini(&p);
	str_fini(&data);
}

/* What reading the data with one more sample or one more message says. */
static const char *error_with(u32 field, struct str message)
{
	static struct err err;
	const struct import_options o = {.has_stacks = true, .labels = LABEL_BIT(LABEL_COMM)};
	struct str data = make_data(false, true), scope = {0}, resource = {0}, profile = {0};
	struct profile p;

	add(&profile, OTLP_SAMPLE_TYPE, MESSAGE(CPU, NANOSECONDS));
	add(&profile, field, message);
	add(&scope, OTLP_PROFILES, profile);
	add(&resource, OTLP_SCOPE_PROFILES, scope);
	add(&data, OTLP_RESOURCE_PROFILES, resource);
	CHECK_EQ(read_profile(data.at, data.n, &o, &p, &err), ERR_FORMAT);
	CHECK_HAS(err.msg, "'in': at offset 0x");
	profile_fini(&p);
	str_fini(&data);
	return err.msg;
}

TEST(otlp_that_refers_to_what_is_not_there_is_refused)
{
	struct str m = MESSAGE(99);

	add_list(&m, OTLP_SAMPLE_VALUES, 1, 0, 0);
	CHECK_HAS(error_with(OTLP_SAMPLES, m), "that the dictionary does not have");
	m = MESSAGE(1);
	add_list(&m, OTLP_SAMPLE_ATTRIBUTES, 99, 0, 0);
	add_list(&m, OTLP_SAMPLE_VALUES, 1, 0, 0);
	CHECK_HAS(error_with(OTLP_SAMPLES, m), "that the dictionary does not have");
	CHECK_HAS(error_with(OTLP_SAMPLE_TYPE, MESSAGE(CPU, 99)),
		"that the dictionary does not have");
	m = MESSAGE(1);
	add_list(&m, OTLP_SAMPLE_VALUES, (u64)-4, 0, 0);
	CHECK_HAS(error_with(OTLP_SAMPLES, m), "a value is negative");
	m = MESSAGE(1);
	add_list(&m, OTLP_SAMPLE_VALUES, INT64_MAX, INT64_MAX, 2);
	CHECK_HAS(error_with(OTLP_SAMPLES, m), "more than 64 bits hold");
	m = (struct str){0};
	str_add(&m, "\x08");
	CHECK_HAS(error_with(OTLP_SAMPLES, m), "is cut off or damaged");
}

/* Up to 1.9, stacks were part of samples. */
TEST(otlp_of_another_version_is_refused_with_the_one_that_is_read)
{
	const struct import_options o = {.has_stacks = true};
	struct str data = {0}, dictionary = {0};
	struct profile p;
	struct err err;

	add(&dictionary, OTLP_MAPPINGS, MESSAGE(0));
	add(&data, OTLP_RESOURCE_PROFILES, make_resource(false));
	add(&data, OTLP_DICTIONARY, dictionary);
	CHECK_EQ(read_profile(data.at, data.n, &o, &p, &err), ERR_FORMAT);
	CHECK_HAS(err.msg, "another version of OpenTelemetry's proto than 1.11");
	profile_fini(&p);
	str_fini(&data);
}

TEST(otlp_that_is_damaged_anywhere_is_read_or_refused)
{
	const struct import_options o = {.has_stacks = true,
		.has_inlined = true,
		.source = NAMING_LINES,
		.labels = LABEL_BIT(LABEL_PID) | LABEL_BIT(LABEL_COMM)};
	struct str data = make_data(true, false);

	for (size_t n = 0; n < data.n; n++) {
		struct profile p;
		struct err err;
		int r = read_profile(data.at, n, &o, &p, &err);

		CHECK(r == 0 || r == ERR_FORMAT || r == ERR_UNSUPPORTED);
		profile_fini(&p);
	}
	for (size_t bit = 0; bit < data.n * 8; bit++) {
		struct profile p;
		struct err err;
		int r;

		data.at[bit / 8] ^= (char)(1 << bit % 8);
		r = read_profile(data.at, data.n, &o, &p, &err);
		CHECK(r == 0 || r == ERR_FORMAT || r == ERR_UNSUPPORTED || r == ERR_LIMIT);
		profile_fini(&p);
		data.at[bit / 8] ^= (char)(1 << bit % 8);
	}
	str_fini(&data);
}
