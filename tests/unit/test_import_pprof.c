#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/protobuf.h"
#include "profile/tree/calls.h"
#include "profile/import/import.h"

/* ---- messages by hand ---- */

static void add_varint(struct str *to, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		str_addc(to, (char)(v | 0x80));
	str_addc(to, (char)v);
}

static void add_number(struct str *to, u32 field, u64 v)
{
	add_varint(to, field << 3);
	add_varint(to, v);
}

static void add_text(struct str *to, u32 field, const char *text)
{
	add_varint(to, field << 3 | 2);
	add_varint(to, strlen(text));
	str_add(to, text);
}

/* The numbers are fields 1, 2 ...; those that are 0 are left out. */
static void add_message(struct str *to, u32 field, const u64 *numbers, u32 n,
	const struct str *more)
{
	struct str m = {0};

	for (u32 i = 0; i < n; i++)
		if (numbers[i])
			add_number(&m, i + 1, numbers[i]);
	str_addn(&m, more ? str_text(more) : "", more ? more->n : 0);
	add_varint(to, field << 3 | 2);
	add_varint(to, m.n);
	str_addn(to, m.at, m.n);
	str_fini(&m);
}

#define ADD(to, field, more, ...)                                                                  \
	add_message(to, field, (const u64[]){__VA_ARGS__}, sizeof((const u64[]){__VA_ARGS__}) / 8, \
		more)

enum {
	SAMPLES = 1,
	COUNT,
	CPU,
	NANOSECONDS,
	FILE_APP,
	BUILD,
	MAIN,
	WORK,
	SMALL,
	SOURCE,
	PID,
	COMM,
	SH
};

static const char *const strings[] = {"", "samples", "count", "cpu", "nanoseconds", "/bin/app",
	"abcdef", "main", "work", "small", "src/app.c", "pid", "comm", "sh"};

/* A sample at up to two locations, the innermost first, with its two values and labels. */
static void add_sample(struct str *to, u64 inner, u64 outer, u64 n, u64 ns, u64 pid, bool is_packed)
{
	struct str m = {0}, list = {0};

	if (is_packed) {
		add_varint(&list, inner);
		if (outer)
			add_varint(&list, outer);
		str_addc(&m, 1 << 3 | 2);
		add_varint(&m, list.n);
		str_addn(&m, list.at, list.n);
	} else {
		add_number(&m, 1, inner);
		if (outer)
			add_number(&m, 1, outer);
	}
	add_number(&m, 2, n);
	add_number(&m, 2, ns);
	ADD(&m, 3, NULL, PID, 0, pid);
	ADD(&m, 3, NULL, COMM, SH);
	add_message(to, 2, NULL, 0, &m);
	str_fini(&m);
	str_fini(&list);
}

/* main calls work, into which small is inlined; a place without a function. */
static struct str make_profile(void)
{
	struct str p = {0}, lines = {0};

	ADD(&p, 1, NULL, SAMPLES, COUNT);
	ADD(&p, 1, NULL, CPU, NANOSECONDS);
	add_sample(&p, 2, 1, 3, 30000000, 12, true);
	add_sample(&p, 3, 1, 1, 10000000, 12, false);
	add_sample(&p, 1, 0, 2, 20000000, 13, true);
	ADD(&p, 3, NULL, 1, 0x400000, 0x500000, 0x1000, FILE_APP, BUILD);
	ADD(&lines, 4, NULL, 1, 10);
	ADD(&p, 4, &lines, 1, 1, 0x400100);
	str_clear(&lines);
	ADD(&lines, 4, NULL, 3, 33);
	ADD(&lines, 4, NULL, 2, 20);
	ADD(&p, 4, &lines, 2, 1, 0x400200);
	ADD(&p, 4, NULL, 3, 1, 0x400300);
	ADD(&p, 5, NULL, 1, MAIN, MAIN, SOURCE);
	ADD(&p, 5, NULL, 2, WORK, WORK, SOURCE);
	ADD(&p, 5, NULL, 3, SMALL, SMALL, SOURCE);
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
		add_text(&p, 6, strings[i]);
	add_number(&p, 9, 1700000000);
	str_fini(&lines);
	return p;
}

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

/* "app+1100 main" of each row of an event, the outermost first, with its numbers; a static buffer. */
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

			str_addf(&text, "%s!", p->dsos.at[s->dso].name);
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

TEST(pprof_has_types_mappings_functions_and_what_is_inlined)
{
	struct import_options o = {.has_stacks = true,
		.has_inlined = true,
		.labels = LABEL_BIT(LABEL_PID) | LABEL_BIT(LABEL_COMM) | LABEL_BIT(LABEL_CPU)};
	struct str bytes = make_profile();
	struct profile p;
	struct err err;

	CHECK_EQ(read_profile(bytes.at, bytes.n, &o, &p, &err), 0);
	/* The last type is the default, and comes first. */
	CHECK_EQ(p.events.n, 2);
	CHECK_STR(p.events.at[0].name, "cpu/nanoseconds");
	CHECK_STR(p.events.at[1].name, "samples/count");
	CHECK_EQ(p.events.at[0].n_group, 2);
	CHECK_EQ(p.events.at[0].period, 60000000);
	CHECK_EQ(p.events.at[0].n_samples, 6);
	CHECK_EQ(p.events.at[1].period, 6);
	CHECK_STR(rows_of(&p, 0),
		"app!main app!work app!small(inlined) 3 30000000\napp!main app!1300 1 10000000\napp!main 2 20000000\n");
	CHECK_STR(rows_of(&p, 1),
		"app!main app!work app!small(inlined) 3 3\napp!main app!1300 1 1\napp!main 2 2\n");
	CHECK_STR(p.dsos.at[0].path, "/bin/app");
	CHECK_STR(p.dsos.at[0].build, "abcdef");
	CHECK_EQ(profile_label(&p, 0, LABEL_PID), 12);
	CHECK_EQ(profile_label(&p, p.rows.n - 1, LABEL_PID), 13);
	CHECK_STR(profile_text(profile_label(&p, 0, LABEL_COMM)), "sh");
	CHECK_EQ((u32)profile_label(&p, 0, LABEL_CPU), (u32)-1);
	profile_fini(&p);
	str_fini(&bytes);
}

TEST(pprof_has_lines_of_source_if_these_are_asked_for)
{
	struct import_options o = {.has_stacks = true, .source = NAMING_LINES};
	struct str bytes = make_profile();
	struct profile p;
	struct err err;

	CHECK_EQ(read_profile(bytes.at, bytes.n, &o, &p, &err), 0);
	CHECK_STR(rows_of(&p, 1),
		"app!main@app.c:10 app!work@app.c:33 3 3\napp!main@app.c:10 app!1300@ 1 1\napp!main@app.c:10 2 2\n");
	profile_fini(&p);
	o.has_full_paths = true;
	CHECK_EQ(read_profile(bytes.at, bytes.n, &o, &p, &err), 0);
	CHECK_HAS(rows_of(&p, 1), "app!work@src/app.c:33");
	profile_fini(&p);
	str_fini(&bytes);
}

TEST(pprof_names_the_type_that_comes_first)
{
	const struct import_options o = {.has_stacks = true};
	struct str bytes = make_profile();
	struct profile p;
	struct err err;

	add_number(&bytes, 14, SAMPLES);
	CHECK_EQ(read_profile(bytes.at, bytes.n, &o, &p, &err), 0);
	CHECK_STR(p.events.at[0].name, "samples/count");
	CHECK_EQ(p.events.at[0].period, 6);
	CHECK_EQ(p.events.at[1].n_samples, 6);
	profile_fini(&p);
	str_fini(&bytes);
}

/* What reading a profile with one more message says. */
static const char *error_with(u32 field, const struct str *message)
{
	static struct err err;
	const struct import_options o = {.has_stacks = true};
	struct str bytes = make_profile();
	struct profile p;

	add_message(&bytes, field, NULL, 0, message);
	CHECK_EQ(read_profile(bytes.at, bytes.n, &o, &p, &err), ERR_FORMAT);
	CHECK_HAS(err.msg, "'in': at offset 0x");
	profile_fini(&p);
	str_fini(&bytes);
	return err.msg;
}

TEST(pprof_that_names_what_it_does_not_have_is_refused)
{
	struct str m = {0};

	add_number(&m, 1, 9);
	add_number(&m, 2, 1);
	add_number(&m, 2, 1);
	CHECK_HAS(error_with(2, &m), "a location that the profile does not have");
	str_clear(&m);
	add_number(&m, 1, 1);
	add_number(&m, 2, 1);
	CHECK_HAS(error_with(2, &m), "a sample does not have one value per sample type");
	add_number(&m, 2, (u64)-4);
	CHECK_HAS(error_with(2, &m), "a value is negative");
	str_clear(&m);
	add_number(&m, 1, 1);
	add_number(&m, 2, INT64_MAX);
	add_number(&m, 2, 1);
	add_message(&m, 3, (const u64[]){99}, 1, NULL);
	CHECK_HAS(error_with(2, &m), "a text is referred to that the profile does not have");
	str_clear(&m);
	str_add(&m, "\x08");
	CHECK_HAS(error_with(2, &m), "is cut off or damaged");
	str_fini(&m);
}

TEST(pprof_that_is_damaged_anywhere_is_read_or_refused)
{
	const struct import_options o = {.has_stacks = true,
		.has_inlined = true,
		.labels = LABEL_BIT(LABEL_PID) | LABEL_BIT(LABEL_COMM)};
	struct str bytes = make_profile();

	for (size_t n = 0; n < bytes.n; n++) {
		struct profile p;
		struct err err;
		int r = read_profile(bytes.at, n, &o, &p, &err);

		CHECK(r == 0 || r == ERR_FORMAT || r == ERR_UNSUPPORTED);
		profile_fini(&p);
	}
	for (size_t bit = 0; bit < bytes.n * 8; bit++) {
		struct profile p;
		struct err err;
		int r;

		bytes.at[bit / 8] ^= (char)(1 << bit % 8);
		r = read_profile(bytes.at, bytes.n, &o, &p, &err);
		CHECK(r == 0 || r == ERR_FORMAT || r == ERR_UNSUPPORTED || r == ERR_LIMIT);
		profile_fini(&p);
		bytes.at[bit / 8] ^= (char)(1 << bit % 8);
	}
	str_fini(&bytes);
}

TEST(protobuf_numbers_have_64_bits_and_no_more)
{
	static const u8 most[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
	static const u8 more[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
	struct bytes b = bytes_of(most, sizeof(most));
	u64 v = 0;

	CHECK(protobuf_varint(&b, &v));
	CHECK_EQ(v, UINT64_MAX);
	CHECK_EQ(bytes_left(&b), 0);
	for (size_t n = 0; n < sizeof(most); n++) {
		b = bytes_of(most, n);
		CHECK(!protobuf_varint(&b, &v) && bytes_left(&b) == n);
	}
	b = bytes_of(more, sizeof(more));
	CHECK(!protobuf_varint(&b, &v));
}

TEST(protobuf_fields_have_all_types_that_are_in_use)
{
	static const u8 message[] = {0x08, 0x96, 0x01, 0x11, 1, 0, 0, 0, 0, 0, 0, 0x80, 0x1a, 2,
		'h', 'i', 0x25, 7, 0, 0, 0};
	struct bytes b = bytes_of(message, sizeof(message));
	struct protobuf_field f;

	CHECK_EQ(protobuf_next(&b, &f), 1);
	CHECK(f.number == 1 && f.type == PROTOBUF_VARINT && f.value == 150);
	CHECK_EQ(protobuf_next(&b, &f), 1);
	CHECK(f.number == 2 && f.type == PROTOBUF_I64 && f.value == 0x8000000000000001ull);
	CHECK_EQ(protobuf_next(&b, &f), 1);
	CHECK(f.number == 3 && f.type == PROTOBUF_BYTES && bytes_left(&f.bytes) == 2 &&
		*f.bytes.at == 'h');
	CHECK_EQ(protobuf_next(&b, &f), 1);
	CHECK(f.number == 4 && f.type == PROTOBUF_I32 && f.value == 7);
	CHECK_EQ(protobuf_next(&b, &f), 0);
	/* A field 0, a group. */
	b = bytes_of("\0\1", 2);
	CHECK_EQ(protobuf_next(&b, &f), -1);
	b = bytes_of("\x0b\x0c", 2);
	CHECK_EQ(protobuf_next(&b, &f), -1);
}
