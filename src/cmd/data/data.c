#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/workers.h"
#include "cmd/data/data.h"
#include "view/records/lint.h"

#define AT(member) offsetof(struct data_options, member)

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE; default perf.data"},
	{'o', "output", OPT_STR, AT(output), "FILE",
		"write to FILE; an existing FILE is moved to FILE.old"},
	{0, "in-place", OPT_BOOL, AT(is_in_place), NULL, "replace the recording that was read"},
	{0, "time", OPT_STR, AT(time), "FROM,TO",
		"cut: keep samples of this time, in seconds or in percent of the whole"},
	{'p', "pid", OPT_STR, AT(pids), "PID,...", "cut: keep samples of these processes"},
	{'t', "tid", OPT_STR, AT(tids), "TID,...", "cut: keep samples of these threads"},
	{'c', "comm", OPT_STR, AT(comms), "NAME,...",
		"cut: keep samples of threads with these names"},
	{'C', "cpu", OPT_STR, AT(cpus), "LIST", "cut: keep samples of these CPUs, like 0-3,8"},
	{'j', "threads", OPT_U64, AT(n_workers), "N", "use N threads; default all cores", .min = 1,
		.max = WORKERS_MAX},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say where files were looked for"},
	{.kind = OPT_END},
};

int data_open_output(const struct data_options *o, const char *path, struct fresh *ret,
	struct err *err)
{
	if (o->output && o->is_in_place)
		return err_set(err, ERR_INVAL, "-o and --in-place contradict each other");
	if (!o->output && !o->is_in_place)
		return err_set(err, ERR_INVAL,
			"no output was given: -o FILE writes a new recording, --in-place replaces '%s'",
			path);
	if (o->is_in_place && !strcmp(path, "-"))
		return err_set(err, ERR_INVAL, "standard input cannot be replaced");
	return fresh_init(ret, o->output ? o->output : path, o->is_in_place, err);
}

/* ---- lint ---- */

struct linting {
	struct lint lint;
	struct arena arena; /* owns the sentences */
};

/* The reader's messages become a part of the page. */
static void keep_sentence(void *ctx, enum log_level level, const char *sentence)
{
	struct linting *l = ctx;
	const char *kept = arena_strdup(&l->arena, sentence, strlen(sentence));

	if (level == LOG_WARN)
		vec_add(&l->lint.warnings, kept);
	else
		vec_add(&l->lint.notes, kept);
}

static int run_lint(const struct data_options *o, const char *path)
{
	struct linting l = {0};
	struct log log = {.level = LOG_NOTE, .write = keep_sentence, .ctx = &l};
	struct out out = {.fd = STDOUT_FILENO};
	int status = EXIT_OK;
	struct reader reader;
	struct inspection inspection = {0};
	struct err err;

	(void)o;
	if (reader_open(&reader, path, &log, &err)) {
		cmd_explain_missing(path, &err);
		status = cmd_fail(&cmd_data, &err, EXIT_USAGE);
	} else {
		l.lint.reader = &reader;
		l.lint.inspection = &inspection;
		if (inspection_take(&inspection, &reader, &log, &err))
			status = cmd_fail(&cmd_data, &err, EXIT_FAILED);
		else if (!lint_add_text(&l.lint, &out.text))
			status = EXIT_FAILED;
		inspection_fini(&inspection);
		reader_close(&reader);
	}
	if (out_close(&out, &err))
		status = cmd_fail(&cmd_data, &err, EXIT_FAILED);
	vec_fini(&l.lint.warnings);
	vec_fini(&l.lint.notes);
	arena_fini(&l.arena);
	log_fini(&log);
	return status;
}

/* ---- which ---- */

enum {
	TAKES_INPUT = 1 << 0,
	TAKES_OUTPUT = 1 << 1,
	TAKES_IN_PLACE = 1 << 2,
	TAKES_CHOICE = 1 << 3,
	TAKES_THREADS = 1 << 4,
	MAKES_ANOTHER = TAKES_INPUT | TAKES_OUTPUT | TAKES_IN_PLACE,
};

static const struct subcommand {
	const char *name, *summary;
	int (*run)(const struct data_options *o, const char *path); /* NULL: takes several files */
	unsigned takes;
} subcommands[] = {
	{"lint", "says what a file is, what is in it, and whether it is whole", run_lint,
		TAKES_INPUT},
	{"pack",
		"adds the names, lines and code of what was sampled, so that it can be read anywhere",
		data_pack, MAKES_ANOTHER | TAKES_THREADS},
	{"strip", "removes them again", data_strip, MAKES_ANOTHER},
	{"unpack", "writes them as files into a new folder (-o), for perf, gdb and others",
		data_unpack, TAKES_INPUT | TAKES_OUTPUT},
	{"cut", "writes a part of it: --time, --pid, --tid, --comm, --cpu", data_cut,
		MAKES_ANOTHER | TAKES_CHOICE},
	{"anonymise", "writes it without the names of people, programs and functions",
		data_anonymise, MAKES_ANOTHER},
	{"merge", "writes several recordings of one machine as one", NULL, TAKES_OUTPUT},
};

static const struct subcommand *find_subcommand(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		if (!strcmp(subcommands[i].name, name))
			return &subcommands[i];
	return NULL;
}

/* An option that has no effect is an error: the user meant something by it. */
static int check_options(const struct data_options *o, const struct subcommand *c, struct err *err)
{
	const struct {
		unsigned takes;
		bool is_given;
		const char *name;
	} given[] = {
		{TAKES_INPUT, o->input, "-i"},
		{TAKES_OUTPUT, o->output, "-o"},
		{TAKES_IN_PLACE, o->is_in_place, "--in-place"},
		{TAKES_CHOICE, o->time, "--time"},
		{TAKES_CHOICE, o->pids, "--pid"},
		{TAKES_CHOICE, o->tids, "--tid"},
		{TAKES_CHOICE, o->comms, "--comm"},
		{TAKES_CHOICE, o->cpus, "--cpu"},
		{TAKES_THREADS, o->n_workers, "--threads"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (given[i].is_given && !(c->takes & given[i].takes))
			return err_set(err, ERR_INVAL, "'pace data %s' has no use for %s", c->name,
				given[i].name);
	return 0;
}

/* What there is to choose from, for a command line that does not say which. */
static int list_subcommands(void)
{
	struct out out = {.fd = STDERR_FILENO};
	struct err err;

	str_add(&out.text,
		"pace data examines recordings as files, and makes new ones from them:\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		str_addf(&out.text, "  pace data %-9s %s\n", subcommands[i].name,
			subcommands[i].summary);
	str_addf(&out.text, "  pace data %-9s %s\n", "convert",
		"writes it as perf's JSON; 'pace data convert -h' lists its options");
	return out_close(&out, &err) ? cmd_fail(&cmd_data, &err, EXIT_FAILED) : EXIT_USAGE;
}

static int run_data(int argc, char **argv)
{
	struct data_options o = {0};
	const struct subcommand *c;
	struct err err;
	int status;

	if (argc > 1 && !strcmp(argv[1], "convert"))
		return data_convert(argc - 1, argv + 1);
	status = cmd_parse(&cmd_data, &o, 0, &argc, argv);
	if (status >= 0)
		return status;
	if (!argc)
		return list_subcommands();
	c = find_subcommand(argv[0]);
	if (!c) {
		err_set(&err, ERR_INVAL,
			"there is no 'pace data %s': 'pace data' lists the subcommands", argv[0]);
		return cmd_fail(&cmd_data, &err, EXIT_USAGE);
	}
	if (check_options(&o, c, &err))
		return cmd_fail(&cmd_data, &err, EXIT_USAGE);
	if (!c->run)
		return argc > 1 ? data_merge(&o, argc - 1, argv + 1) : list_subcommands();
	if (argc > 2 || (argc == 2 && o.input)) {
		err_set(&err, ERR_INVAL, "unexpected argument '%s': give one file at a time",
			argv[argc - 1]);
		return cmd_fail(&cmd_data, &err, EXIT_USAGE);
	}
	return c->run(&o, cmd_input(argc == 2 ? argv[1] : o.input));
}

const struct cmd cmd_data = {
	.name = "data",
	.summary = "check recordings, and cut, merge, pack or anonymise them",
	.subcommands = {"lint", "pack", "strip", "unpack", "cut", "anonymise", "merge", "convert",
		NULL},
	.needs_subcommand = true,
	.usage = {"lint [-i] [FILE]", "pack|strip|anonymise [-i] [FILE] -o FILE | --in-place",
		"unpack [-i] [FILE] -o DIR",
		"cut --time FROM,TO | --pid PID | ... [-i] [FILE] -o FILE | --in-place",
		"merge FILE FILE... -o FILE", "convert --to-json FILE [-i] [FILE]"},
	.notes =
		"lint explains a file: what wrote it, its parts, its records, what is odd, lost or damaged.\n"
		"pack adds what 'pace record' adds by itself, to recordings made by perf too; strip removes it.\n",
	.options = options,
	.is_paged = true,
	.run = run_data,
};
