#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/memory.h"

struct mem_command {
	struct memory_record record;
	bool has_phys;
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
	{0, "dry-run", OPT_BOOL, AT(record.shows), NULL,
		"only print the 'pace record' command that would run"},
	{0, "sysfs", OPT_STR, AT(record.sysfs), "DIR", "look for events in a copy of /sys"},
	{.kind = OPT_END},
};

/* Its options are those of report. */
static int run_report(int argc, char **argv)
{
	char **words = mem_alloc(((size_t)argc + 2) * sizeof(*words));
	int n = 0, status;

	words[n++] = (char *)(uintptr_t) "report";
	words[n++] = (char *)(uintptr_t) "--mem-mode";
	for (int i = 1; i < argc; i++)
		words[n++] = argv[i];
	words[n] = NULL;
	status = cmd_report.run(n, words);
	mem_free(words);
	return status;
}

static int run_mem(int argc, char **argv)
{
	struct mem_command m = {.record = {.sysfs = "/sys",
					.what = MEMEVENTS_LOADS | MEMEVENTS_STORES,
					.latency = 30}};
	bool is_record = argc > 1 && !strcmp(argv[1], "record");
	int status;
	struct err err;

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
	.usage = {"record [OPTIONS] [-- RECORD-OPTIONS] COMMAND...",
		"report [REPORT-OPTIONS] [FILE]", NULL},
	.notes = "report is 'pace report --mem-mode': its options are those of report.\n",
	.options = options,
	.is_paged = true,
	.run = run_mem,
};
