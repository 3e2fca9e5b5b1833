/*
 * completion.c - completion: what may stand next on a command line, and the scripts by which shells ask for it.
 *
 * A script runs `pace completion --words -- WORD...`, with the words before the cursor; the last one is the one to complete. Each line
 * of the answer is a word, a tab and what it means. The last line says what else the shell offers: ":none", ":list" (nothing, and
 * no blank after the word), ":files", ":folders", or ":command N" (words from N on are a command line of its own).
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/distinct.h"
#include "base/mem.h"
#include "base/out.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "cmd/data/data.h"
#include "cmd/report/report_options.h"
#include "cmd/stat/stat_command.h"
#include "cmd/timechart.h"
#include "event/dynevents.h"
#include "profile/rows/key.h"
#include "view/forms/forms.h"

/* The scripts, made from pace.* by dev/textarray. */
extern const char completion_bash[], completion_zsh[], completion_fish[];

struct completion_options {
	bool is_answer;
};

static const struct opt options[] = {
	{0, "words", OPT_BOOL, offsetof(struct completion_options, is_answer), NULL,
		"answer a script: what the last of these words may become"},
	{.kind = OPT_END},
};

static const struct shell {
	const char *name, *script, *summary;
} shells[] = {
	{"bash", completion_bash, "print the script for bash"},
	{"zsh", completion_zsh, "print the script for zsh"},
	{"fish", completion_fish, "print the script for fish"},
};

/* What a command takes beside options. */
enum operand {
	TAKES_NOTHING,
	TAKES_FILES,
	TAKES_FOLDERS,
	TAKES_FUNCTIONS,
	TAKES_COMMAND,
	TAKES_EVENTS,
	TAKES_PLACES,
	TAKES_NAME
};

static const struct verb {
	const struct cmd *cmd;
	const char *sub;           /* NULL: the command itself */
	const struct opt *options; /* NULL: the command's */
	enum operand operand;
} verbs[] = {
	{&cmd_stat, "record", NULL, TAKES_COMMAND},
	{&cmd_stat, "report", stat_report_options, TAKES_FILES},
	{&cmd_stat, NULL, NULL, TAKES_COMMAND},
	{&cmd_gate, NULL, NULL, TAKES_COMMAND},
	{&cmd_record, NULL, NULL, TAKES_COMMAND},
	{&cmd_annotate, NULL, NULL, TAKES_FUNCTIONS},
	{&cmd_c2c, "record", NULL, TAKES_COMMAND},
	{&cmd_c2c, "report", NULL, TAKES_FILES},
	{&cmd_mem, "record", NULL, TAKES_COMMAND},
	{&cmd_mem, "report", report_option_table, TAKES_FILES},
	{&cmd_tsx, "record", NULL, TAKES_COMMAND},
	{&cmd_tsx, "report", NULL, TAKES_FILES},
	{&cmd_tsx, NULL, NULL, TAKES_COMMAND},
	{&cmd_timechart, "record", timechart_record_options, TAKES_COMMAND},
	{&cmd_data, "lint", NULL, TAKES_FILES},
	{&cmd_data, "pack", NULL, TAKES_FILES},
	{&cmd_data, "strip", NULL, TAKES_FILES},
	{&cmd_data, "unpack", NULL, TAKES_FILES},
	{&cmd_data, "cut", NULL, TAKES_FILES},
	{&cmd_data, "anonymise", NULL, TAKES_FILES},
	{&cmd_data, "merge", NULL, TAKES_FILES},
	{&cmd_data, "convert", data_convert_options, TAKES_FILES},
	{&cmd_check, "feature", NULL, TAKES_NOTHING},
	{&cmd_check, NULL, NULL, TAKES_NOTHING},
	{&cmd_test, NULL, NULL, TAKES_NOTHING},
	{&cmd_buildid_cache, NULL, NULL, TAKES_NOTHING},
	{&cmd_archive, NULL, NULL, TAKES_FILES},
	{&cmd_inject, NULL, NULL, TAKES_FILES},
	{&cmd_config, NULL, NULL, TAKES_NOTHING},
	{&cmd_kallsyms, NULL, NULL, TAKES_NOTHING},
	{&cmd_list, NULL, NULL, TAKES_EVENTS},
	{&cmd_probe, NULL, NULL, TAKES_PLACES},
	{&cmd_help, NULL, NULL, TAKES_NAME},
	{&cmd_completion, NULL, NULL, TAKES_NAME},
	{&cmd_c2c, NULL, NULL, TAKES_NOTHING},
	{&cmd_mem, NULL, NULL, TAKES_NOTHING},
	{&cmd_data, NULL, NULL, TAKES_NOTHING},
	{&cmd_cache, NULL, NULL, TAKES_NOTHING},
	{&cmd_mcp, NULL, NULL, TAKES_FOLDERS},
	{&cmd_doctor, NULL, NULL, TAKES_NOTHING},
	{&cmd_version, NULL, NULL, TAKES_NOTHING},
};

struct completion {
	char **words; /* the last is to be completed */
	int n;
	const struct cmd *cmd;
	struct verb verb;
	const char *head; /* what stands before the part to complete: "--sort=comm," */
	size_t head_n;
	const char *part;    /* that part, which candidates begin with */
	const char *input;   /* of -i, or NULL */
	const char *tables;  /* of --events-dir, or NULL */
	const char *program; /* of -x, or NULL */
	struct str *answer;
	struct distinct offered;
	char directive[24];
};

static void offer_n(struct completion *c, const char *word, size_t n, const char *help)
{
	const u32 n_offered = (u32)c->offered.items.n;

	if (n < strlen(c->part) || strncmp(word, c->part, strlen(c->part)) ||
		distinct_add(&c->offered, word, n) < n_offered)
		return;
	str_addn(c->answer, c->head, c->head_n);
	str_add_safe(c->answer, word, n);
	str_addf(c->answer, "\t%s\n", help);
}

static void offer(struct completion *c, const char *word, const char *help)
{
	offer_n(c, word, strlen(word), help);
}

static void end_with(struct completion *c, const char *directive)
{
	snprintf(c->directive, sizeof(c->directive), "%s", directive);
}

/* ---- values of options ---- */

/*
 * Nobody waits for names: each stage of reading a recording stops after STAGE_MS, and what was found is offered. Where a stage cannot
 * stop (it unpacks a file, say), the answer is that there are no names. Both are CPU time.
 */
enum { STAGE_MS = 100, ANSWER_MS = 1500 };

static void give_up(int number)
{
	static const char nothing[] = ":none\n";
	ssize_t written = write(STDOUT_FILENO, nothing, sizeof(nothing) - 1);

	(void)number;
	_exit(written < 0 ? EXIT_FAILED : EXIT_OK);
}

static void alarm_after(unsigned ms)
{
	setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {ms / 1000, ms % 1000 * 1000}},
		NULL);
}

/* What a command prints on standard output, collected. */
static struct str collected;

static int collect(const char *text, size_t n)
{
	str_addn(&collected, text, n);
	return 0;
}

static void offer_output(struct completion *c, const struct cmd *cmd, int argc,
	const char *const *argv)
{
	char *rest;

	out_route(collect);
	cmd->run(argc, (char **)(uintptr_t)argv);
	out_route(NULL);
	str_addc(&collected, '\n');
	str_text(&collected);
	for (char *at = strtok_r(collected.at, cmd == &cmd_list ? " \n" : "\n", &rest); at;
		at = strtok_r(NULL, cmd == &cmd_list ? " \n" : "\n", &rest)) {
		/* "[.] main": the level of a function's code */
		at += at[0] == '[' && at[1] && at[2] == ']' && at[3] == ' ' ? 4 : 0;
		if (strncmp(at, "0x", 2))
			offer(c, at, "");
	}
	str_fini(&collected);
}

/* What list prints for a program: events, or what `what` says. */
static void offer_list(struct completion *c, const char *what)
{
	const char *argv[6] = {"list", "--raw-dump"};
	int n = 2;

	if (c->tables) {
		argv[n++] = "--events-dir";
		argv[n++] = c->tables;
	}
	if (what)
		argv[n++] = what;
	offer_output(c, &cmd_list, n, argv);
}

static void offer_events(struct completion *c)
{
	offer_list(c, NULL);
}

static void offer_metrics(struct completion *c)
{
	offer_list(c, "metrics");
	offer_list(c, "metricgroups");
}

/* The names of a recording by one key of report. */
static void offer_names(struct completion *c, const char *key)
{
	const char *input = c->input ? c->input : "perf.data";
	struct stat st;

	/* What is read from a pipe is gone. */
	if (access(input, R_OK) || stat(input, &st) ||
		!(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return;
	progress_limit(STAGE_MS * 1000000ull);
	signal(SIGPROF, give_up);
	alarm_after(ANSWER_MS);
	offer_output(c, &cmd_report, 13,
		(const char *[]){"report", "-q", "-i", input, "-s", key, "-F", key, "-g", "none",
			"--no-children", "--debuginfod=0", "--field-separator=|", NULL});
	alarm_after(0);
}

/* Functions that can be probed: of the program, or of the kernel, which has so many that a beginning must be there. */
static void offer_places(struct completion *c)
{
	if (c->program ? access(c->program, R_OK) != 0 : !*c->part)
		return;
	signal(SIGPROF, give_up);
	alarm_after(ANSWER_MS);
	if (c->program)
		offer_output(c, &cmd_probe, 4,
			(const char *[]){"probe", "-x", c->program, "-F", NULL});
	else
		offer_output(c, &cmd_probe, 2, (const char *[]){"probe", "-F", NULL});
	alarm_after(0);
}

/* The probes that exist. */
static void offer_probes(struct completion *c)
{
	struct dynevents probes = {0};
	struct str name = {0};
	struct err ignored;

	if (!dynevents_read(&probes, NULL, &ignored))
		vec_each(e, &probes.at) {
			str_clear(&name);
			str_addf(&name, "%s:%s", e->group, e->name);
			offer(c, name.at, e->place);
		}
	str_fini(&name);
	dynevents_fini(&probes);
}

static void offer_comms(struct completion *c)
{
	offer_names(c, "comm");
}

static void offer_dsos(struct completion *c)
{
	offer_names(c, "dso");
}

static void offer_functions(struct completion *c)
{
	offer_names(c, "symbol");
}

/* From the help of keys: "  comm, comms   what it is". */
static void offer_keys(struct completion *c)
{
	struct str help = {0};
	char *rest;

	key_add_help(&help);
	str_text(&help);
	for (char *line = strtok_r(help.at, "\n", &rest); line;
		line = strtok_r(NULL, "\n", &rest)) {
		char *end, *text;

		if (strncmp(line, "  ", 2) || line[2] == ' ')
			continue;
		end = strstr(line + 2, "  ");
		if (!end)
			continue;
		text = end + strspn(end, " ");
		for (char *at = line + 2; at < end; at += strspn(at, ", ")) {
			size_t n = strcspn(at, ", ");

			offer_n(c, at, n, text);
			at += n;
		}
	}
	str_fini(&help);
}

static void offer_forms(struct completion *c)
{
	for (size_t i = 0; form_table[i]; i++)
		offer(c, form_table[i]->name, "");
}

/* What options take, by what their help calls it; with a name, only that option. */
static const struct value {
	const char *arg, *option;
	void (*offer)(struct completion *c); /* NULL: `words` */
	const char *words; /* with blanks between them; ":files" and ":folders" are the shell's */
} values[] = {
	{"FILE", NULL, NULL, ":files"},
	{"PATH", NULL, NULL, ":files"},
	{"DIR", NULL, NULL, ":folders"},
	{"EVENT", NULL, offer_events, NULL},
	{"[GROUP:]EVENT", NULL, offer_probes, NULL},
	{"PROBE", NULL, offer_places, NULL},
	{"PLACE", NULL, offer_places, NULL},
	{"METRIC,...", NULL, offer_metrics, NULL},
	{"FORM", NULL, offer_forms, NULL},
	{"KEY,...", NULL, offer_keys, NULL},
	{"COMM,...", NULL, offer_comms, NULL},
	{"DSO,...", NULL, offer_dsos, NULL},
	{"NAME,...", "symbols", offer_functions, NULL},
	{"NAME,...", "comms", offer_comms, NULL},
	{"NAME,...", "comm", offer_comms, NULL},
	{"NAME", "symbol", offer_functions, NULL},
	{"MODE", "stdio-color", NULL, "always never auto"},
	{"MODE", "call-graph", NULL, "fp dwarf lbr"},
	{"HOW", "call-graph", NULL,
		"none graph fractal flat folded caller callee percent period count"},
	{"HOW", "order", NULL, "name heaviest"},
	{"OF", NULL, NULL, "relative absolute"},
	{"METHOD", NULL, NULL, "delta-abs delta ratio cycles"},
	{"STYLE", "disassembler-style", NULL, "intel att"},
	{"WHAT,...", "type", NULL, "load store"},
};

static bool is_list(const struct opt *o)
{
	return strstr(o->arg, ",...") || !strcmp(o->arg, "EVENT");
}

/* The value of an option: `text` is what there is of it, in the last word. */
static void complete_value(struct completion *c, const struct opt *o, const char *text)
{
	const char *comma;

	end_with(c, ":none");
	c->head = c->words[c->n - 1];
	c->part = text;
	if (!o->arg)
		return;
	if (is_list(o)) {
		comma = strrchr(text, ',');
		c->part = comma ? comma + 1 : text;
		c->part += *c->part == '{';
		end_with(c, ":list");
	}
	c->head_n = c->part - c->head;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		const struct value *v = &values[i];

		if (strcmp(v->arg, o->arg) ||
			(v->option && (!o->name || strcmp(v->option, o->name))))
			continue;
		if (v->offer) {
			v->offer(c);
		} else if (*v->words == ':') {
			end_with(c, v->words);
		} else {
			for (const char *at = v->words; *at; at += strspn(at, " ")) {
				size_t n = strcspn(at, " ");

				offer_n(c, at, n, "");
				at += n;
			}
		}
		return;
	}
}

/* ---- options ---- */

/* The option that a word is, which may be a row of letters; *ret_value: what stands behind '=' or the letter, or NULL. */
static const struct opt *find_option(const struct completion *c, const char *word,
	const char **ret_value)
{
	bool is_long = word[1] == '-';
	size_t n = strcspn(word + 2, "=");

	*ret_value = NULL;
	if (!c->verb.options || word[0] != '-' || !word[1])
		return NULL;
	for (const char *letter = word + 1; *letter; letter++) {
		const struct opt *o = c->verb.options;

		for (; o->kind != OPT_END; o++)
			if (o->kind != OPT_TITLE &&
				(is_long ? o->name && strlen(o->name) == n &&
							!strncmp(o->name, word + 2, n)
					 : o->letter == *letter))
				break;
		if (o->kind == OPT_END)
			return NULL;
		if (is_long)
			*ret_value = word[2 + n] ? word + 2 + n + 1 : NULL;
		else if (letter[1] && opts_takes_value(o))
			*ret_value = letter + 1;
		if (is_long || !letter[1] || *ret_value)
			return o;
	}
	return NULL;
}

static void offer_options(struct completion *c)
{
	char word[80];

	for (const struct opt *o = c->verb.options; o && o->kind != OPT_END; o++) {
		if (!opts_is_shown(o) || o->kind == OPT_TITLE)
			continue;
		if (o->name) {
			snprintf(word, sizeof(word), "--%s", o->name);
			offer(c, word, o->help);
		}
		if (o->name && (o->kind == OPT_BOOL || o->kind == OPT_TRI) &&
			!strncmp(c->part, "--no-", 5)) {
			snprintf(word, sizeof(word), "--no-%s", o->name);
			offer(c, word, o->help);
		}
		if (o->letter && (!c->part[1] || (!o->name && c->part[1] != '-'))) {
			snprintf(word, sizeof(word), "-%c", o->letter);
			offer(c, word, o->help);
		}
	}
	offer(c, "--help", "explain the command");
}

/* ---- commands ---- */

static void offer_commands(struct completion *c)
{
	for (size_t i = 0; cmd_table[i]; i++)
		offer(c, cmd_table[i]->name, cmd_table[i]->summary);
}

static void offer_operand(struct completion *c, int at)
{
	end_with(c, ":none");
	for (size_t i = 0; i < ARRAY_SIZE(verbs) && !c->verb.sub; i++)
		if (verbs[i].cmd == c->cmd && verbs[i].sub)
			offer(c, verbs[i].sub, "");
	switch (c->verb.operand) {
	case TAKES_NOTHING:
		break;
	case TAKES_FUNCTIONS:
		offer_functions(c);
		end_with(c, ":files");
		break;
	case TAKES_FILES:
		end_with(c, ":files");
		break;
	case TAKES_FOLDERS:
		end_with(c, ":folders");
		break;
	case TAKES_COMMAND:
		snprintf(c->directive, sizeof(c->directive), ":command %d", at);
		break;
	case TAKES_EVENTS:
		offer_events(c);
		break;
	case TAKES_PLACES:
		offer_places(c);
		break;
	case TAKES_NAME:
		if (c->cmd == &cmd_help)
			offer_commands(c);
		for (size_t i = 0; i < ARRAY_SIZE(shells) && c->cmd == &cmd_completion; i++)
			offer(c, shells[i].name, shells[i].summary);
		break;
	}
}

/* Takes the word as a subcommand, or NULL as the command itself. Returns whether there is one. */
static bool take_verb(struct completion *c, const char *sub)
{
	struct verb v = {c->cmd, NULL, NULL, TAKES_FILES};
	bool is_known = !sub;

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (verbs[i].cmd == c->cmd &&
			(sub ? verbs[i].sub && !strcmp(verbs[i].sub, sub) : !verbs[i].sub)) {
			v = verbs[i];
			is_known = true;
		}
	if (!is_known)
		return false;
	c->verb = v;
	if (!c->verb.options)
		c->verb.options = c->cmd->options;
	return true;
}

/* Values of options that say where names come from. */
static void note_value(struct completion *c, const struct opt *o, const char *value)
{
	if (o->name && !strcmp(o->name, "input"))
		c->input = value;
	else if (o->name && !strcmp(o->name, "events-dir"))
		c->tables = value;
	else if (o->name && !strcmp(o->name, "exec"))
		c->program = value;
}

/* Walks the words of a command, from `at` on; the last one is completed. */
static void complete_words(struct completion *c, int at)
{
	const struct opt *waits = NULL; /* for its value */
	const char *value;
	bool has_ended = false;

	for (; at < c->n - 1; at++) {
		const char *word = c->words[at];

		if (waits) {
			note_value(c, waits, word);
			waits = NULL;
		} else if (!has_ended && !strcmp(word, "--")) {
			has_ended = true;
		} else if (!has_ended && word[0] == '-' && word[1]) {
			waits = find_option(c, word, &value);
			if (waits && value)
				note_value(c, waits, value);
			if (waits &&
				(value || !opts_takes_value(waits) || waits->flags & OPT_OPTIONAL))
				waits = NULL;
		} else if (c->verb.sub || !take_verb(c, word)) {
			if (c->verb.operand == TAKES_COMMAND) {
				offer_operand(c, at);
				return;
			}
			if (c->verb.operand == TAKES_FUNCTIONS && !c->input && !access(word, R_OK))
				c->input = word;
		}
	}
	c->part = c->words[c->n - 1];
	if (waits) {
		complete_value(c, waits, c->part);
	} else if (!has_ended && c->part[0] == '-') {
		const struct opt *o = find_option(c, c->part, &value);

		if (o && value && opts_takes_value(o))
			complete_value(c, o, value);
		else
			offer_options(c);
	} else {
		offer_operand(c, c->n - 1);
	}
}

static void complete(struct completion *c)
{
	static const char *const globals[][2] = {
		{"--no-pager", "print long text on the terminal as it is"},
		{"--paginate", "use the pager for any command"}, {"--help", "list the commands"},
		{"--version", "print the version"}};
	int at = 0;

	end_with(c, ":none");
	while (at < c->n - 1 && c->words[at][0] == '-')
		at++;
	c->part = c->words[c->n - 1];
	if (at == c->n - 1) {
		offer_commands(c);
		for (size_t i = 0; i < ARRAY_SIZE(globals) && c->part[0] == '-'; i++)
			offer(c, globals[i][0], globals[i][1]);
		return;
	}
	for (size_t i = 0; cmd_table[i]; i++)
		if (!strcmp(cmd_table[i]->name, c->words[at]))
			c->cmd = cmd_table[i];
	if (c->cmd && take_verb(c, NULL))
		complete_words(c, at + 1);
}

static int run_completion(int argc, char **argv)
{
	struct completion_options o = {0};
	int status = cmd_parse(&cmd_completion, &o, 0, &argc, argv);
	struct out out = {.fd = STDOUT_FILENO};
	struct completion c = {.words = argv, .n = argc, .answer = &out.text};
	struct err err;

	if (status >= 0)
		return status;
	if (o.is_answer && argc) {
		complete(&c);
		str_addf(&out.text, "%s\n", c.directive);
	} else {
		size_t i = 0;

		while (i < ARRAY_SIZE(shells) && (argc != 1 || strcmp(argv[0], shells[i].name)))
			i++;
		if (i == ARRAY_SIZE(shells)) {
			err_set(&err, ERR_INVAL, "give one shell: bash, zsh or fish");
			return cmd_fail(&cmd_completion, &err, EXIT_USAGE);
		}
		str_add(&out.text, shells[i].script);
	}
	distinct_fini(&c.offered);
	return out_close(&out, &err) ? cmd_fail(&cmd_completion, &err, EXIT_FAILED) : EXIT_OK;
}

const struct cmd cmd_completion = {
	.name = "completion",
	.summary = "print a script by which a shell completes pace's command lines",
	.usage = {"bash|zsh|fish", NULL},
	.notes = "bash: source <(pace completion bash)\n"
		 "zsh:  source <(pace completion zsh)\n"
		 "fish: pace completion fish | source\n",
	.options = options,
	.run = run_completion,
};
