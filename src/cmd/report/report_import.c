#include "cmd/report/report_import.h"

/* What an option needs of a recording; the label that such a profile may have instead. */
struct need {
	bool is_asked;
	const char *option, *what;
	enum profile_label label;
};

static bool is_list(const char *cpus)
{
	return cpus && *cpus >= '0' && *cpus <= '9';
}

int report_import_check(const struct recorded *r, const struct report_options *o, struct err *err)
{
	const struct keys_options *k = &o->keys;
	/* clang-format off: a row an option */
	const struct need needs[] = {
		{o->is_dump, "-D", "records"},
		{o->is_stats, "--stats", "records"},
		{o->is_tasks, "--tasks", "who started whom"},
		{o->is_mmaps, "--mmaps", "who mapped what"},
		{o->has_header || o->has_header_only, "--header", "the machine"},
		{o->has_thread_counts, "-T", "what threads counted"},
		{o->has_ledger, "--ledger", "what was lost"},
		{o->is_strict, "--strict", "what was lost"},
		{is_list(o->cpus), "--cpu", "single samples on their CPUs"},
		{o->time != NULL, "--time", "single samples at their times"},
		{o->socket != UINT64_MAX, "--socket-filter", "processor sockets"},
		{o->pids != NULL, "--pid", "processes", LABEL_PID},
		{o->tids != NULL, "--tid", "threads", LABEL_TID},
		{o->switching.on || o->switching.off, "--switch-on and --switch-off",
			"the order of events"},
		{o->answer.has_intervals, "--ci", "when samples were taken"},
		{o->wall > 0, "--wall", "time off the CPU"},
		{k->branches > 0, "-b", "branches"},
		{k->has_history, "--branch-history", "branches"},
		{k->has_total_cycles, "--total-cycles", "branches"},
		{k->is_mem_mode, "--mem-mode", "accesses to memory"},
		{k->is_raw_trace, "--raw-trace", "tracepoints"},
		{k->skid != TYPING_NOT_SAID, "--skid", "code"},
		{o->stitches, "--stitch-lbr", "branches"},
	};
	/* clang-format on */

	for (size_t i = 0; !recorded_has_trace(r) && i < ARRAY_SIZE(needs); i++)
		if (needs[i].is_asked &&
			!(needs[i].label && r->import.importer->labels & LABEL_BIT(needs[i].label)))
			return err_set(err, ERR_INVAL,
				"%s is of %s: '%s' is %s and has none of that, a recording of 'pace record' has",
				needs[i].option, needs[i].what, r->import.path,
				r->import.importer->what);
	return 0;
}

void report_import_add_head(const struct recorded *r, struct str *text)
{
	str_add(text, "# ");
	str_add_safe(text, r->import.path, strlen(r->import.path));
	str_addf(text, ": %s; which samples were lost is not told\n#\n", r->import.importer->what);
}
