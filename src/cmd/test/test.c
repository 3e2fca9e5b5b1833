#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/test/testwork.h"
#include "symbol/elf/symtab.h"

struct test_options {
	const char *workload;
	bool lists, is_here;
	unsigned verbosity;
};

#define AT(member) offsetof(struct test_options, member)

static const struct opt options[] = {
	{'w', "workload", OPT_STR, AT(workload), "NAME",
		"run this program, of which one knows what it does"},
	{0, "list-workloads", OPT_BOOL, AT(lists), NULL, "print the names of these programs"},
	{'v', "verbose", OPT_COUNT, AT(verbosity), NULL, "print each symbol that was found"},
	{'F', "dont-fork", OPT_BOOL, AT(is_here), NULL, "accepted: tests never start a process",
		.flags = OPT_HIDDEN},
	{'S', "sequential", OPT_NOTHING, .help = "there is one test"},
	{'s', "skip", OPT_REFUSED, .arg = "TESTS", .help = "there is one test"},
	{'r', "runs-per-test", OPT_REFUSED, .arg = "N", .help = "a test that passed passes again"},
	{'j', "junit", OPT_REFUSED, .arg = "FILE", .flags = OPT_OPTIONAL,
		.help = "perf's tests of itself are not pace's: the exit status is the answer"},
	{0, "failure-snippet-lines", OPT_NOTHING, .arg = "N",
		.help = "the one test says what failed in a line"},
	{0, "dso", OPT_REFUSED, .arg = "FILE",
		.help = "the test is about pace itself: 'pace probe -F -x FILE' lists the functions of a file"},
	{0, "objdump", OPT_NOTHING, .arg = "PATH", .help = "no test disassembles"},
	{0, "record-ctl", OPT_REFUSED, .arg = "FIFOS",
		.help = "'pace record --delay' begins later, and --control takes commands"},
	{.kind = OPT_END},
};

static int run_workload(const char *name, int argc, char **argv)
{
	const struct testwork *w = testwork_find(name);
	struct err err;

	if (!w)
		err_set(&err, ERR_INVAL,
			"there is no workload '%s': 'pace test --list-workloads' prints their names",
			name);
	else if (!testwork_run(w, argc, argv, &err))
		return EXIT_OK;
	return cmd_fail(&cmd_test, &err, err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
}

/* Whether the names of this program's own functions are found: without them, profiles of workloads show addresses. */
static int test_symbols(const struct test_options *o, struct out *out, struct err *err)
{
	struct symtab table = {0};
	struct elf self;
	size_t n_found = 0;
	int r = elf_open(&self, "/proc/self/exe", err);

	if (r)
		return r;
	symtab_add_elf(&table, &self, SHT_SYMTAB);
	symtab_add_data(&table, &self, SHT_SYMTAB);
	vec_each(s, &table.symbols) {
		n_found += !strcmp(s->name, "noploop");
		if (o->verbosity)
			str_addf(&out->text, "%llx-%llx %s\n", (unsigned long long)s->start,
				(unsigned long long)s->end, s->name);
	}
	if (!n_found)
		r = err_set(err, ERR_NOENT,
			"this program has %zu symbols, and noploop() is not among them: it was stripped",
			(size_t)table.symbols.n);
	symtab_fini(&table);
	elf_close(&self);
	return r;
}

static int run_tests(const struct test_options *o, int argc, char **argv)
{
	struct out out = {.fd = STDOUT_FILENO};
	int status = EXIT_OK;
	struct err err;

	if (argc > 1 || (argc && strcasecmp(argv[0], "symbols") != 0)) {
		err_set(&err, ERR_INVAL,
			"there is no test '%s': 'symbols' is the only one; 'pace doctor' tries what works on this machine",
			argv[argc > 1]);
		return cmd_fail(&cmd_test, &err, EXIT_USAGE);
	}
	if (test_symbols(o, &out, &err))
		status = cmd_fail(&cmd_test, &err, EXIT_FAILED);
	else
		str_add(&out.text, "symbols: Ok\n");
	return out_close(&out, &err) ? cmd_fail(&cmd_test, &err, EXIT_FAILED) : status;
}

static int list_workloads(void)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct err err;

	for (size_t i = 0; i < testwork_n; i++)
		str_addf(&out.text, "%s\n", testworks[i].name);
	return out_close(&out, &err) ? cmd_fail(&cmd_test, &err, EXIT_FAILED) : EXIT_OK;
}

static int run_test(int argc, char **argv)
{
	struct test_options o = {0};
	const int status = cmd_parse(&cmd_test, &o, 0, &argc, argv);

	if (status >= 0)
		return status;
	if (o.workload)
		return run_workload(o.workload, argc, argv);
	return o.lists ? list_workloads() : run_tests(&o, argc, argv);
}

static void add_workloads(struct str *text)
{
	str_add(text, "Workloads:\n");
	for (size_t i = 0; i < testwork_n; i++) {
		const size_t start = text->n;

		str_addf(text, "  %s %s", testworks[i].name, testworks[i].usage);
		str_pad_right(text, start, 40);
		str_addf(text, " %s\n", testworks[i].help);
	}
}

const struct cmd cmd_test = {
	.name = "test",
	.summary = "run a small program of which one knows what it does",
	.usage = {"-w NAME [NUMBER...]", "[-v] [symbols]", NULL},
	.options = options,
	.add_notes = add_workloads,
	.run = run_test,
};
