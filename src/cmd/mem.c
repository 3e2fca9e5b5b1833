#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/mem_dump.h"
#include "cmd/memory.h"

struct mem_command {
	struct memory_record record;
	bool has_phys;
	/* Of report, without effect in record. */
	bool has_types, is_dump;
	const char *separator;
};

#define AT(member) offsetof(struct mem_command, member)

static int set_types(void *target, const char *value, struct err *err)
{
	static const struct {
		const char *word;
		unsigned what;
	} types[] = {{"load", MEMEVENTS_LOADS}, {"store", MEMEVENTS_STORES}};
	struct mem_command *m = target;
	size_t n;

	m->record.what = 0;
	for (const char *at = value; *at; at += n + (at[n] == ',')) {
		bool is_known = false;

		n = strcspn(at, ",");
		for (size_t i = 0; i < ARRAY_SIZE(types); i++)
			if (strlen(types[i].word) == n && !memcmp(types[i].word, at, n)) {
				m->record.what |= types[i].what;
				is_known = true;
			}
		if (!is_known)
			return err_set(err, ERR_INVAL, "'%.60s' is none of load, store", value);
	}
	return m->record.what ? 0 : err_set(err, ERR_INVAL, "give load, store or both");
}

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "record: options of 'pace record' may follow after a --"},
	{'t', "type", OPT_CALL, 0, "WHAT,...", "load, store; default both", .call = set_types},
	{'e', "event", OPT_STR, AT(record.event), "EVENT",
		"record EVENT instead of this machine's memory events"},
	{0, "ldlat", OPT_U64, AT(record.latency), "CYCLES",
		"only loads that take at least CYCLES; default 30", .max = UINT16_MAX},
	{'U', "all-user", OPT_BOOL, AT(record.has_user_only), NULL, "only user space"},
	{'K', "all-kernel", OPT_BOOL, AT(record.has_kernel_only), NULL, "only the kernel"},
	{'p', "phys-data", OPT_BOOL, AT(has_phys), NULL,
		"also record physical addresses, which need privileges"},
	{0, "data-page-size", OPT_BOOL, AT(record.has_page_sizes), NULL,
		"also record the page sizes of the data"},
	{'C', "cpu", OPT_STR, AT(record.cpus), "LIST", "only these CPUs, like 0-3,8"},
	{'o', "output", OPT_STR, AT(record.output), "FILE",
		"where record writes; default perf.data"},
	{'v', "verbose", OPT_COUNT, AT(record.verbose), NULL, "say how events were opened"},
	{'f', "force", OPT_NOTHING, 0, NULL, "for report, which reads files of any owner"},
	{'i', "input", OPT_NOTHING, 0, "FILE", "for report: -o says where record writes"},
	{0, "hide-unresolved", OPT_NOTHING, 0, NULL, "for report"},
	{0, "dry-run", OPT_BOOL, AT(record.shows), NULL,
		"only print the 'pace record' command that would run"},
	{0, "sysfs", OPT_STR, AT(record.sysfs), "DIR", "look for events in a copy of /sys"},
	{0, NULL, OPT_TITLE, 0, NULL,
		"report: beside the options of 'pace report', also -t, -p and --data-page-size"},
	{'T', "type-profile", OPT_BOOL, AT(has_types), NULL,
		"rows by where data was found and its type"},
	{'x', "field-separator", OPT_STR, AT(separator), "SEP", "columns separated by SEP"},
	{'D', "dump-raw-samples", OPT_BOOL, AT(is_dump), NULL, "print the accesses one by one"},
	{.kind = OPT_END},
};

/* ---- report ---- */

/* What perf's options of mem ask for: the others are report's. */
struct mem_report {
	struct mem_command types; /* of -t */
	bool has_phys, has_page_sizes, has_types, has_keys, is_dump;
	int n;
	char **words; /* of 'report' */
};

enum mem_option { MEM_TYPE, MEM_SEPARATOR, MEM_PHYS, MEM_PAGES, MEM_DATA_TYPES, MEM_DUMP };

/* Letters that mean something else in report. */
static const struct {
	char letter;
	bool takes_value;
	const char *name;
	enum mem_option option;
} report_options[] = {
	{'t', true, "--type", MEM_TYPE},
	{'x', true, "--field-separator", MEM_SEPARATOR},
	{'p', false, "--phys-data", MEM_PHYS},
	{0, false, "--data-page-size", MEM_PAGES},
	{'T', false, "--type-profile", MEM_DATA_TYPES},
	{'D', false, "--dump-raw-samples", MEM_DUMP},
};

static void add_word(struct mem_report *m, const char *word)
{
	m->words[m->n++] = (char *)(uintptr_t)word;
}

static int take_option(struct mem_report *m, enum mem_option option, const char *value,
	struct err *err)
{
	switch (option) {
	case MEM_TYPE:
		return set_types(&m->types, value, err) ? err_prefix(err, "-t") : 0;
	case MEM_SEPARATOR:
		add_word(m, "--field-separator");
		add_word(m, value);
		return 0;
	case MEM_PHYS:
		m->has_phys = true;
		return 0;
	case MEM_PAGES:
		m->has_page_sizes = true;
		return 0;
	case MEM_DATA_TYPES:
		m->has_types = true;
		return 0;
	case MEM_DUMP:
		m->is_dump = true;
	}
	return 0;
}

/* Takes a word that is one of those options, with its value. Returns how many words it took; 0: it is another one. */
static int take_word(struct mem_report *m, char **argv, struct err *err)
{
	const char *word = argv[0];

	for (size_t i = 0; i < ARRAY_SIZE(report_options); i++) {
		const size_t n = strlen(report_options[i].name);
		const bool takes_value = report_options[i].takes_value;
		const char *value = NULL;

		if (!strncmp(word, report_options[i].name, n) && (!word[n] || word[n] == '='))
			value = word[n] ? word + n + 1 : NULL;
		else if (report_options[i].letter && word[0] == '-' &&
			word[1] == report_options[i].letter && (takes_value || !word[2]))
			value = word[2] ? word + 2 : NULL;
		else
			continue;
		if (!takes_value || value)
			return take_option(m, report_options[i].option, value, err) ? err->code : 1;
		if (!argv[1])
			return err_set(err, ERR_INVAL, "option '%s' needs a value", word);
		return take_option(m, report_options[i].option, argv[1], err) ? err->code : 2;
	}
	return 0;
}

/* The list that follows one of these options, in the same word or the next; NULL: the words are something else. */
static const char *list_of(char **words, char letter, const char *name)
{
	const size_t n = strlen(name);
	const char *word = words[0], *list;

	if (word[0] == '-' && word[1] == letter)
		list = word + 2;
	else if (!strncmp(word, name, n) && (!word[n] || word[n] == '='))
		list = word + n + (word[n] == '=');
	else
		return NULL;
	return *list ? list : words[1];
}

/* Whether the words say all columns: "+KEY" is one more. */
static bool says_columns(char **words)
{
	const char *list = list_of(words, 'F', "--fields");

	return list && *list != '+';
}

static bool says_keys(char **words)
{
	return list_of(words, 's', "--sort") || says_columns(words);
}

/* The columns that these options ask for. */
static void add_keys(const struct mem_report *m, struct str *keys)
{
	str_add(keys,
		m->has_types ? "mem,snoop,tlb,type"
			: m->types.record.what == MEMEVENTS_STORES
			? "mem,symbol,dso,symbol_daddr,dso_daddr,tlb,locked"
			: "local_weight,mem,symbol,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked");
	str_add(keys, m->has_phys ? ",phys_daddr" : "");
	str_add(keys, m->has_page_sizes ? ",data_page_size" : "");
}

/* Words in front of the user's: those of 'report', or the name of what takes its place with -D. */
enum { IN_FRONT = 3 };

static int run_words(struct mem_report *m, bool has_columns)
{
	const struct mem_dump dump = {m->has_phys, m->has_page_sizes};
	char *const front[IN_FRONT + 1] = {(char *)"report", (char *)"--mem-mode",
		has_columns ? NULL : (char *)"-n"};
	int n = m->is_dump ? 1 : has_columns ? 2 : 3;
	char **words = m->words + IN_FRONT - n;

	memcpy(words, front, (size_t)n * sizeof(*words));
	n += m->n - IN_FRONT;
	return m->is_dump ? mem_dump(&dump, n, words) : cmd_report.run(n, words);
}

static int run_report(int argc, char **argv)
{
	enum { ADDED = 2 };
	struct mem_report m = {.types.record.what = MEMEVENTS_LOADS | MEMEVENTS_STORES,
		.n = IN_FRONT};
	struct str keys = {0};
	bool has_columns = false;
	int status, taken = 0;
	struct err err;

	/* A separator becomes two words. */
	m.words = mem_alloc(((size_t)argc * 2 + IN_FRONT + ADDED + 1) * sizeof(*m.words));
	for (int i = 1; i < argc; i += taken ? taken : 1) {
		taken = take_word(&m, argv + i, &err);
		if (taken < 0)
			break;
		if (taken)
			continue;
		m.has_keys |= says_keys(argv + i);
		has_columns |= says_columns(argv + i);
		add_word(&m, argv[i]);
	}
	add_keys(&m, &keys);
	if (!m.has_keys && !m.is_dump &&
		(m.has_phys || m.has_page_sizes || m.has_types ||
			m.types.record.what == MEMEVENTS_STORES)) {
		add_word(&m, "--sort");
		add_word(&m, str_text(&keys));
	}
	m.words[m.n] = NULL;
	status = taken < 0 ? cmd_fail(&cmd_mem, &err, EXIT_USAGE) : run_words(&m, has_columns);
	str_fini(&keys);
	mem_free(m.words);
	return status;
}

/* perf takes options before the word, too: 'mem -t load record'. */
static void put_word_first(int argc, char **argv)
{
	int at = 1;

	while (at < argc && strcmp(argv[at], "record") != 0 && strcmp(argv[at], "report") != 0 &&
		strcmp(argv[at], "--") != 0)
		at++;
	if (at == 1 || at == argc || !strcmp(argv[at], "--") || argv[1][0] != '-')
		return;
	for (char *word = argv[at]; at > 0; at--)
		argv[at] = at == 1 ? word : argv[at - 1];
}

static int run_mem(int argc, char **argv)
{
	struct mem_command m = {.record = {.sysfs = "/sys",
					.what = MEMEVENTS_LOADS | MEMEVENTS_STORES,
					.latency = 30}};
	bool is_record;
	int status;
	struct err err;

	put_word_first(argc, argv);
	is_record = argc > 1 && !strcmp(argv[1], "record");
	if (argc > 1 && !strcmp(argv[1], "report"))
		return run_report(argc - 1, argv + 1);
	argc -= is_record;
	argv += is_record;
	/*
	 * Parsing stops at the first argument that is not an option: a command to run, or options of record after "--".
	 */
	status = cmd_parse(&cmd_mem, &m, OPTS_STOP, &argc, argv);
	if (status >= 0)
		return status;
	m.record.has_no_phys = !m.has_phys;
	if (is_record)
		return memory_run_record(&cmd_mem, &m.record, argc, argv);
	if (argc)
		err_set(&err, ERR_INVAL, "'%.60s' is neither record nor report", argv[0]);
	else
		err_set(&err, ERR_INVAL, "give 'record' or 'report'");
	return cmd_fail(&cmd_mem, &err, EXIT_USAGE);
}

const struct cmd cmd_mem = {
	.name = "mem",
	.summary = "sample memory accesses, and show where programs wait for memory",
	.subcommands = {"record", "report", NULL},
	.needs_subcommand = true,
	.usage = {"record [OPTIONS] [-- RECORD-OPTIONS] COMMAND...",
		"report [REPORT-OPTIONS] [FILE]", NULL},
	.notes =
		"report is 'pace report --mem-mode', with its options; -t, -p, -T, -x and -D are those above\n",
	.options = options,
	.is_paged = true,
	.run = run_mem,
};
