#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "profile/tree/calls.h"
#include "profile/import/import.h"
#include "view/forms/forms.h"
#include "view/rows/stackrows.h"

static struct import_options wish(void)
{
	return (struct import_options){.has_stacks = true, .has_inlined = true};
}

/* Reads n bytes as a file that has them. */
static int read_bytes(const void *text, size_t n, const struct import_options *o, struct profile *p,
	struct err *err)
{
	const char *path = test_path("in");
	struct import in;
	int fd, result;

	test_write(path, text, n);
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

static int read_text(const char *text, const struct import_options *o, struct profile *p,
	struct err *err)
{
	return read_bytes(text, strlen(text), o, p, err);
}

/* All of it as folded stacks again; a static buffer. */
static const char *fold(const struct profile *p)
{
	static char text[1 << 20];
	struct stackrows s = {.n_parts = (u32)p->events.n, .are_imports = true};
	struct out out = {.fd = -1};
	struct page page = {.form = form_chosen(&(struct form_choice){.name = "folded"}),
		.out = &out};
	struct calls calls;

	calls_init(&calls, p);
	for (u32 event = 0; event < p->events.n; event++)
		stackrows_add(&s, p, &calls, event, event);
	stackrows_finish(&s);
	page.form->table(&page, &s.rows);
	snprintf(text, sizeof(text), "%s", str_text(&out.text));
	str_fini(&out.text);
	stackrows_fini(&s);
	calls_fini(&calls);
	return text;
}

static const struct profile_symbol *symbol_of(const struct profile *p, const char *name)
{
	vec_each(s, &p->symbols)
		if (s->name && !strcmp(s->name, name))
			return s;
	test_failed(__FILE__, __LINE__, "no symbol '%s'", name);
}

/* What comes out of folded text, or the error. */
static const char *refold(const char *text)
{
	static char out[4096];
	const struct import_options o = wish();
	struct profile p;
	struct err err;

	if (read_text(text, &o, &p, &err))
		snprintf(out, sizeof(out), "error: %.*s", (int)sizeof(out) - 16, err.msg);
	else
		snprintf(out, sizeof(out), "%s", fold(&p));
	profile_fini(&p);
	return out;
}

TEST(folded_text_comes_out_as_it_went_in)
{
	static const char *const texts[] = {
		"a 1\n",
		"a;b 2\na;c 3\n",
		"main;read;entry_SYSCALL_64_[k];vfs_read_[k] 30\nmain;step_[i];btree_[i] 7\n",
		"java;Ljava/lang/Object;::wait_[j] 4\n",
		"app;<[u8; 32] as core::fmt::Debug>::fmt;[unknown] 9\n",
		"std::map<int, int>::at(int const&);operator new(unsigned long) 5\n",
		";a;;b 1\n",
		"a;#<Class:0x12>#run 6\n",
		"a;b 18446744073709551615\n",
		"a;[libc.so.6];x_[w] 2\n",
		"a;b 1 2\na;c 0 4\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_STR(refold(texts[i]), texts[i]);
}

TEST(folded_text_by_others_is_read_as_they_mean_it)
{
	/* Comments, ends of lines of other systems, several blanks, the same stack twice, no end of the last line. */
	CHECK_STR(refold("# made by x\r\na;b 2\r\n\r\n  \na;b \t3  \n#!x\n#\na;c 1"),
		"a;b 5\na;c 1\n");
	/* flamegraph.pl takes fractions. */
	CHECK_STR(refold("a;b 2.0\na;c 2.5\na;d 2.4\n"), "a;b 2\na;c 3\na;d 2\n");
	/* Only where all lines have two counts is the last word but one a count. */
	CHECK_STR(refold("a;f 1 2\na;g 3\n"), "a;f 1 2\na;g 3\n");
	CHECK_STR(refold("a;f 1 2\na;f 3 4\n"), "a;f 4 6\n");
}

TEST(folded_frames_say_whose_code_they_are)
{
	const struct import_options o = wish();
	struct profile p;
	struct err err;

	CHECK_EQ(
		read_text(
			"a;f_[k];g_[i];h_[j];[libz.so.1];[[kernel.kallsyms]];[unknown];[no frame pointer] 1\n",
			&o, &p, &err),
		0);
	CHECK_EQ(symbol_of(&p, "f")->mode, 1);
	CHECK_STR(p.dsos.at[symbol_of(&p, "f")->dso].name, "[kernel.kallsyms]");
	CHECK_STR(p.dsos.at[symbol_of(&p, "[[kernel.kallsyms]]")->dso].name, "[kernel.kallsyms]");
	/* The kernel's are marked: the others are not its. */
	CHECK_EQ(symbol_of(&p, "a")->mode, 2);
	CHECK(symbol_of(&p, "g")->is_inlined);
	CHECK_STR(p.dsos.at[symbol_of(&p, "h")->dso].name, "[JIT]");
	CHECK_STR(p.dsos.at[symbol_of(&p, "[libz.so.1]")->dso].name, "libz.so.1");
	CHECK_STR(p.dsos.at[symbol_of(&p, "[unknown]")->dso].name, "[unknown]");
	CHECK_STR(p.dsos.at[symbol_of(&p, "[no frame pointer]")->dso].name, "[unknown]");
	profile_fini(&p);
	CHECK_EQ(read_text("a;b 1\n", &o, &p, &err), 0);
	CHECK_EQ(symbol_of(&p, "a")->mode, PROFILE_NO_MODE);
	profile_fini(&p);
}

TEST(folded_first_frames_are_threads_if_these_are_asked_for)
{
	struct import_options o = wish();
	struct profile p;
	struct err err;

	o.labels = LABEL_BIT(LABEL_COMM);
	CHECK_EQ(read_text("sh;main;f 1\nalone 2\n", &o, &p, &err), 0);
	CHECK_STR(profile_text(profile_label(&p, 0, LABEL_COMM)), "sh");
	CHECK(!profile_text(profile_label(&p, 1, LABEL_COMM)));
	CHECK_STR(fold(&p), "alone 2\nsh;main;f 1\n");
	CHECK_EQ(p.symbols.n, 4);
	profile_fini(&p);
	o.labels = LABEL_BIT(LABEL_CPU);
	CHECK_EQ(read_text("sh;main;f 1\n", &o, &p, &err), ERR_INVAL);
	CHECK_HAS(err.msg, "folded stacks");
	profile_fini(&p);
}

TEST(folded_lines_that_are_none_are_named)
{
	CHECK_STR(refold("a 1\nb;c\n"),
		"error: 'in': line 2, at offset 0x4, has no count after its stack: 'main;f 12' is expected");
	CHECK_STR(refold("a 1\n\nb;c -3\n"),
		"error: 'in': line 3, at offset 0x5, has a count that is negative: '-3'");
	CHECK_STR(refold("a 1\nb;c x\x1b\n"),
		"error: 'in': line 2, at offset 0x4, has a count that is no number: 'x\\x1b'");
	CHECK_STR(refold("a 1\n 5\n"),
		"error: 'in': line 2, at offset 0x4, has a count without a stack before it");
	CHECK_STR(refold("a 18446744073709551616\nb 1\n"),
		"error: 'in': line 1, at offset 0x0, has a count that is more than 64 bits hold: '18446744073709551616'");
	CHECK_STR(refold("a 18446744073709551615\nb 1\n"),
		"error: 'in': line 2, at offset 0x17, makes the sum of all counts more than 64 bits hold");
	CHECK_STR(refold("hello, this is a text\n"), "error: nobody reads it");
	CHECK_STR(refold(""), "error: nobody reads it");
}

TEST(folded_lines_with_nul_bytes_are_named)
{
	static const char text[] =
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;b 1\na;\0b 2\n";
	const struct import_options o = wish();
	struct profile p;
	struct err err;

	CHECK_EQ(read_bytes(text, sizeof(text) - 1, &o, &p, &err), ERR_FORMAT);
	CHECK_STR(err.msg, "'in': line 2, at offset 0x45, has a NUL byte in it");
	profile_fini(&p);
}

/* A stack of n frames on one line: f0;f1;... */
static struct str long_line(unsigned n, const char *mark)
{
	struct str line = {0};

	for (unsigned i = 0; i < n; i++)
		str_addf(&line, "%sf%u%s", i ? ";" : "", i % 977, mark);
	str_add(&line, " 5\n");
	return line;
}

TEST(folded_lines_of_megabytes_are_read_as_deep_as_stacks_can_be)
{
	const struct import_options o = wish();
	static const char *const marks[] = {"", "_[i]"};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		struct str line = long_line(300000, marks[i]);
		struct profile p;
		struct calls calls;
		struct err err;
		u32 deepest = 0;

		CHECK_EQ(read_bytes(line.at, line.n, &o, &p, &err), 0);
		CHECK_EQ(p.n_cut, 1);
		CHECK_EQ(p.events.at[0].n_samples, 5);
		calls_init(&calls, &p);
		vec_each(node, &calls.nodes)
			deepest = MAX(deepest, node->depth);
		CHECK(deepest <= IMPORT_DEEPEST && deepest > IMPORT_DEEPEST - IMPORT_INLINED - 2);
		calls_fini(&calls);
		profile_fini(&p);
		str_fini(&line);
	}
}

TEST(folded_stacks_are_as_deep_as_was_asked_for_the_innermost_first)
{
	struct import_options o = wish();
	struct profile p;
	struct err err;

	o.max_stack = 2;
	CHECK_EQ(read_text("a;b;c;d 1\nc;d 1\n", &o, &p, &err), 0);
	CHECK_STR(fold(&p), "c;d 2\n");
	CHECK_EQ(p.n_cut, 1);
	profile_fini(&p);
	o.has_stacks = false;
	CHECK_EQ(read_text("a;b;c;d 1\nc;d 1\n", &o, &p, &err), 0);
	CHECK_STR(fold(&p), "d 2\n");
	CHECK(!p.has_stacks);
	profile_fini(&p);
}

TEST(import_takes_no_more_memory_than_is_allowed)
{
	const struct import_options o = wish();
	struct str text = {0};
	struct profile p;
	struct err err;

	for (unsigned i = 0; i < 20000; i++)
		str_addf(&text, "a%u;b%u;c%u 1\n", i, i, i);
	setenv("PACE_MEMORY", "1M", 1);
	CHECK_EQ(read_bytes(text.at, text.n, &o, &p, &err), ERR_LIMIT);
	CHECK_HAS(err.msg, "stacks and names take more than 1.0 MiB at offset 0x");
	profile_fini(&p);
	unsetenv("PACE_MEMORY");
	CHECK_EQ(read_bytes(text.at, text.n, &o, &p, &err), 0);
	profile_fini(&p);
	str_fini(&text);
}

TEST(folded_text_that_is_damaged_anywhere_is_read_or_refused)
{
	static const char text[] = "sh;main;f_[k] 12\na;[u8; 32];b_[i] 7\r\n# x\nc;Lx;::y 3.5\n";
	const struct import_options o = wish();
	const size_t n = sizeof(text) - 1;

	for (size_t at = 0; at < n; at++)
		for (unsigned byte = 0; byte < 256; byte += 5) {
			char damaged[sizeof(text)];
			struct profile p;
			struct err err;

			memcpy(damaged, text, n);
			damaged[at] = (char)byte;
			if (!read_bytes(damaged, n - at % 7, &o, &p, &err))
				CHECK(*fold(&p));
			profile_fini(&p);
		}
}
