#include "cmd/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cmdline.h"
#include "base/sysfile.h"

enum { FILE_LIMIT = 1 << 20 };

enum effect {
	AS_VALUE,       /* --option=VALUE */
	AS_SWITCH,      /* --option or --no-option */
	AS_ANTI_SWITCH, /* the other way round */
	AS_WORD,        /* `option` if the value is `word` */
	AS_VARIABLE,    /* an environment variable, unless it is set; not if the value is `word` */
	AS_MODE,        /* settings_chain_mode() */
	AS_PAGER,       /* settings_pages() */
	AS_NOTHING,     /* `option` says why */
};

#define COLOURS  "colours are the terminal's; NO_COLOR and --stdio-color turn them off"
#define BROWSER  "the view of code on the terminal has keys for what it shows"
#define NO_TRACE "instruction traces are not decoded: perf does it"
#define NO_BPF   "pace compiles and loads no BPF programs"
#define OPTIONS  "pace.COMMAND.options puts options before a command's"

/* clang-format off: a row an effect of a key; KEY.* stands for all keys of a section that have no row of their own before */
static const struct setting {
	const char *key, *command;
	enum effect effect;
	const char *option, *word;
} rows[] = {
	{"annotate.disassembler_style", "annotate", AS_VALUE, "--disassembler-style", NULL},
	{"annotate.hide_src_code", "annotate", AS_ANTI_SWITCH, "source", NULL},
	{"annotate.objdump", "annotate", AS_VALUE, "--objdump", NULL},
	{"annotate.show_nr_samples", "annotate", AS_SWITCH, "show-nr-samples", NULL},
	{"annotate.show_total_period", "annotate", AS_SWITCH, "show-total-period", NULL},
	{"annotate.demangle", "annotate", AS_SWITCH, "demangle", NULL},
	{"annotate.demangle_kernel", "annotate", AS_SWITCH, "demangle-kernel", NULL},
	{"annotate.addr2line", NULL, AS_NOTHING, "lines are read without another program", NULL},
	{"annotate.disassemblers", NULL, AS_NOTHING, "annotate --disassembler names the one to use",
		NULL},
	{"annotate.jump_arrows", NULL, AS_NOTHING, BROWSER, NULL},
	{"annotate.offset_level", NULL, AS_NOTHING, BROWSER, NULL},
	{"annotate.show_linenr", NULL, AS_NOTHING, BROWSER, NULL},
	{"annotate.show_nr_jumps", NULL, AS_NOTHING, BROWSER, NULL},
	{"annotate.use_offset", NULL, AS_NOTHING, BROWSER, NULL},
	{"buildid.dir", NULL, AS_VARIABLE, "PERF_BUILDID_DIR", NULL},
	{"buildid-cache.debuginfod", NULL, AS_VARIABLE, "DEBUGINFOD_URLS", NULL},
	{"core.debuginfod", NULL, AS_VARIABLE, "DEBUGINFOD_URLS", NULL},
	{"core.proc-map-timeout", NULL, AS_NOTHING, "maps are always read completely", NULL},
	{"core.addr2line-timeout", NULL, AS_NOTHING, "lines are read without another program",
		NULL},
	{"debuginfod.urls", NULL, AS_VARIABLE, "DEBUGINFOD_URLS", NULL},
	{"record.debuginfod", NULL, AS_VARIABLE, "DEBUGINFOD_URLS", "system"},
	{"call-graph.record-mode", "record", AS_MODE, "what 'record -g' means", NULL},
	{"call-graph.dump-size", "record", AS_MODE,
		"how much of the stack 'record -g' keeps if the mode is dwarf", NULL},
	{"record.call-graph", "record", AS_MODE, "what 'record -g' means", NULL},
	{"call-graph.print-type", "report", AS_VALUE, "--call-graph", NULL},
	{"call-graph.order", "report", AS_VALUE, "--call-graph", NULL},
	{"call-graph.sort-key", "report", AS_VALUE, "--call-graph", NULL},
	{"call-graph.threshold", "report", AS_VALUE, "--call-graph", NULL},
	{"call-graph.print-limit", NULL, AS_NOTHING,
		"the number of entries is an option: report -g THRESHOLD,ENTRIES", NULL},
	{"diff.compute", "diff", AS_VALUE, "--compute", NULL},
	{"diff.order", "diff", AS_VALUE, "--order", NULL},
	{"hist.percentage", "report", AS_VALUE, "--percentage", NULL},
	{"hist.percentage", "top", AS_VALUE, "--percentage", NULL},
	{"hist.percentage", "diff", AS_VALUE, "--percentage", NULL},
	{"record.aio", NULL, AS_NOTHING, "the kernel writes to the disk in the background", NULL},
	{"record.build-id", "record", AS_WORD, "--no-buildid-cache", "no-cache"},
	{"record.build-id", "record", AS_WORD, "--no-buildid", "skip"},
	{"record.build-id", "record", AS_WORD, "--buildid-mmap", "mmap"},
	{"record.build-id", "record", AS_WORD, "--buildid-cache", "cache"},
	{"report.children", "report", AS_SWITCH, "children", NULL},
	{"report.group", "report", AS_SWITCH, "group", NULL},
	{"report.percent-limit", "report", AS_VALUE, "--percent-limit", NULL},
	{"report.queue-size", NULL, AS_NOTHING,
		"what waits to be put in order is bounded by itself", NULL},
	{"report.skip-empty", "report", AS_SWITCH, "skip-empty", NULL},
	{"report.sort_order", "report", AS_VALUE, "--sort", NULL},
	{"stat.big-num", "stat", AS_SWITCH, "big-num", NULL},
	{"stat.big-num", "stat record", AS_SWITCH, "big-num", NULL},
	{"stat.big-num", "stat report", AS_SWITCH, "big-num", NULL},
	{"stat.no-csv-summary", NULL, AS_NOTHING,
		"the summary of 'stat -I -x' is an option: --summary", NULL},
	{"top.children", "top", AS_SWITCH, "children", NULL},
	{"top.call-graph", NULL, AS_NOTHING, "top has -g and --call-graph", NULL},
	{"tui.annotate", "annotate", AS_WORD, "--stdio", "off"},
	{"tui.report", "report", AS_WORD, "--stdio", "off"},
	{"tui.top", "top", AS_WORD, "--stdio", "off"},
	{"pager.*", NULL, AS_PAGER,
		"whether that command's text goes through a pager, or which one", NULL},
	{"alias.*", NULL, AS_NOTHING, OPTIONS, NULL},
	{"auxtrace.*", NULL, AS_NOTHING, NO_TRACE, NULL},
	{"colors.*", NULL, AS_NOTHING, COLOURS, NULL},
	{"convert.queue-size", NULL, AS_NOTHING,
		"what waits to be put in order is bounded by itself", NULL},
	{"daemon.*", NULL, AS_NOTHING,
		"there is no 'pace daemon': 'record --control' and a service do it", NULL},
	{"ftrace.*", NULL, AS_NOTHING, "there is no 'pace ftrace'", NULL},
	{"gtk.*", NULL, AS_NOTHING, "there is no GTK browser", NULL},
	{"help.*", NULL, AS_NOTHING, "-h prints help, and 'man' shows the pages", NULL},
	{"intel-pt.*", NULL, AS_NOTHING, NO_TRACE, NULL},
	{"itrace.*", NULL, AS_NOTHING, NO_TRACE, NULL},
	{"kmem.*", NULL, AS_NOTHING, "there is no 'pace kmem'", NULL},
	{"llvm.*", NULL, AS_NOTHING, NO_BPF, NULL},
	{"man.*", NULL, AS_NOTHING, "-h prints help, and 'man' shows the pages", NULL},
	{"samples.context", NULL, AS_NOTHING,
		"the browser's strip of time shows the samples around a moment", NULL},
	{"scripts.*", NULL, AS_NOTHING,
		"the browser has no menu of scripts: 'pace script -s' runs them", NULL},
	{"session-*", NULL, AS_NOTHING,
		"there is no 'pace daemon': 'record --control' and a service do it", NULL},
	{"trace.*", NULL, AS_NOTHING, "there is no 'pace trace'", NULL},
	{"ui.show-headers", NULL, AS_NOTHING, "the browser always shows its columns' titles", NULL},
};
/* clang-format on */

static struct {
	struct config config; /* its arena has the words, too */
	struct str said;      /* the options that were added, as a shell reads them */
	char name[64];        /* "stat", "stat report" */
} loaded;

/* Whether the row is about that key. */
static bool is_about(const struct setting *row, const char *key)
{
	const size_t n = strlen(row->key) - 1;

	return row->key[n] == '*' ? !strncmp(row->key, key, n) : !strcmp(row->key, key);
}

/* Whether the row is about the command that runs. */
static bool is_for(const struct setting *row)
{
	return !row->command || !strcmp(row->command, loaded.name);
}

/* ---- files ---- */

void settings_user_file(bool is_at_home, struct str *ret)
{
	const char *named = getenv("PERF_CONFIG"), *home = getenv("HOME");

	if (!is_at_home && named && *named)
		str_add(ret, named);
	else if (home && *home)
		str_addf(ret, "%s/.perfconfig", home);
}

const char *settings_system_file(void)
{
	return "/etc/perfconfig";
}

int settings_read(struct config *c, const char *path, struct err *err)
{
	struct str text = {0};
	struct stat st;
	int r;

	/* What another user wrote must not choose this one's options. A device (/dev/null) has nothing to say. */
	if (stat(path, &st) || !S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid()))
		return 0;
	r = sysfile_read(path, FILE_LIMIT, &text, err);
	if (!r) {
		path = arena_strdup(&c->arena, path, strlen(path));
		r = config_parse(c, path, str_text(&text), text.n, err);
	} else if (err->code == ERR_NOENT) {
		r = 0;
	}
	str_fini(&text);
	return r;
}

/* A switch must be one. */
static bool takes(const struct setting *row, const struct config_entry *e)
{
	bool is_on;

	return (row->effect != AS_SWITCH && row->effect != AS_ANTI_SWITCH) ||
		config_bool(e, &is_on);
}

bool settings_takes(const char *key, const char *value)
{
	const struct config_entry e = {.key = key, .value = value};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (is_about(&rows[i], key) && !takes(&rows[i], &e))
			return false;
	return true;
}

/* Variables are set where the user has not. What is wrong with the keys of other commands is theirs to say. */
static int apply(const struct config_entry *e, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!is_about(&rows[i], e->key) || !is_for(&rows[i]))
			continue;
		if (!takes(&rows[i], e))
			return err_set(err, ERR_FORMAT,
				"'%s', line %u: %s is a switch, and '%s' is neither true nor false",
				e->path, e->line, e->key, e->value);
		if (rows[i].effect == AS_VARIABLE && e->value && *e->value &&
			(!rows[i].word || strcmp(rows[i].word, e->value) != 0))
			setenv(rows[i].option, e->value, 0);
	}
	return 0;
}

int settings_load(const struct cmd *cmd, int argc, char **argv, struct err *err)
{
	const char *sub = cmd_subcommand(cmd, argc, argv);
	struct config *c = &loaded.config;
	struct str user = {0};
	int r = 0;

	snprintf(loaded.name, sizeof(loaded.name), "%s%s%s", cmd->name, sub ? " " : "",
		sub ? sub : "");
	settings_user_file(false, &user);
	if (!getenv("PERF_CONFIG") || !*getenv("PERF_CONFIG"))
		r = settings_read(c, settings_system_file(), err);
	if (!r && user.n)
		r = settings_read(c, user.at, err);
	vec_each(e, &c->entries)
		if (!r && e == config_find(c, e->key))
			r = apply(e, err);
	str_fini(&user);
	return r;
}

void settings_unload(void)
{
	str_fini(&loaded.said);
	config_fini(&loaded.config);
	memset(&loaded, 0, sizeof(loaded));
}

/* ---- words ---- */

typedef VEC(char *) word_list;

static void add_word(word_list *words, const char *a, const char *b, const char *c)
{
	struct str word = {0};

	str_addf(&word, "%s%s%s", a, b, c);
	vec_add(words, arena_strdup(&loaded.config.arena, word.at, word.n));
	str_addc(&loaded.said, ' ');
	cmdline_add_word(&loaded.said, word.at);
	str_fini(&word);
}

static void add_row(const struct setting *row, const struct config_entry *e, word_list *words)
{
	bool is_on = true;

	switch (row->effect) {
	case AS_VALUE:
		if (e->value && *e->value)
			add_word(words, row->option, "=", e->value);
		break;
	case AS_SWITCH:
	case AS_ANTI_SWITCH:
		config_bool(e, &is_on);
		if (row->effect == AS_ANTI_SWITCH)
			is_on = !is_on;
		add_word(words, is_on ? "--" : "--no-", row->option, "");
		break;
	case AS_WORD:
		/* "off" stands for whatever turns a switch off. */
		if (!strcmp(row->word, "off")
				? config_bool(e, &is_on) && !is_on
				: row->option && e->value && !strcmp(e->value, row->word))
			add_word(words, row->option, "", "");
		break;
	default:
		break;
	}
}

/* [pace "stat"] options = ..., [pace "stat report"] options = ... */
static void add_options(word_list *words)
{
	struct str key = {0};
	const struct config_entry *e;
	struct cmdline line;
	struct err ignored;

	str_addf(&key, "pace.%s.options", loaded.name);
	e = config_find(&loaded.config, key.at);
	str_fini(&key);
	if (!e || !e->value || cmdline_split(&line, e->value, &ignored))
		return;
	for (size_t i = 0; !line.needs_shell && line.at[i]; i++)
		add_word(words, line.at[i], "", "");
	cmdline_fini(&line);
}

char **settings_words(const struct cmd *cmd, int *argc, char **argv)
{
	const int n_names = cmd_subcommand(cmd, *argc, argv) ? 2 : 1;
	word_list words = {0};

	for (int i = 0; i < n_names; i++)
		vec_add(&words, argv[i]);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct config_entry *e = config_find(&loaded.config, rows[i].key);

		if (e && rows[i].command && is_for(&rows[i]))
			add_row(&rows[i], e, &words);
	}
	add_options(&words);
	for (int i = n_names; i < *argc; i++)
		vec_add(&words, argv[i]);
	*argc = (int)words.n;
	vec_add(&words, NULL);
	return words.at;
}

int settings_pages(void)
{
	struct str key = {0};
	const struct config_entry *e;
	bool is_on = true;

	if (!*loaded.name)
		return -1;
	str_addf(&key, "pager.%.*s", (int)strcspn(loaded.name, " "), loaded.name);
	e = config_find(&loaded.config, key.at);
	str_fini(&key);
	if (!e)
		return -1;
	if (!config_bool(e, &is_on))
		setenv("PACE_PAGER", e->value, 0);
	return is_on;
}

bool settings_chain_mode(char *mode, size_t size)
{
	const struct config *c = &loaded.config;
	const struct config_entry *e = config_find(c, "call-graph.record-mode"),
				  *bytes = config_find(c, "call-graph.dump-size");

	if (!e)
		e = config_find(c, "record.call-graph");
	if (!e || !e->value)
		return false;
	if (!strcmp(e->value, "dwarf") && bytes && bytes->value)
		snprintf(mode, size, "dwarf,%s", bytes->value);
	else
		snprintf(mode, size, "%s", e->value);
	return true;
}

void settings_say_used(void)
{
	if (loaded.said.n)
		fprintf(stderr, "options from configuration files ('pace config -l'):%s\n",
			str_text(&loaded.said));
}

bool settings_has_effect(const char *key, const char **ret_effect)
{
	*ret_effect = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (is_about(&rows[i], key)) {
			*ret_effect = rows[i].option ? rows[i].option : rows[i].word;
			return rows[i].effect != AS_NOTHING;
		}
	return false;
}
