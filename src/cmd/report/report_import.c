#include "cmd/report/report_import.h"

/* What an option needs from a recording; the label that an imported profile may have instead. */
struct need {
	bool is_asked;
	const char *option, *what;
	enum profile_label label;
	bool is_ledger; /* or what it says of losses */
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
		{o->is_tasks, "--tasks", "which process started which"},
		{o->is_mmaps, "--mmaps", "which process mapped what"},
		{o->has_header || o->has_header_only, "--header", "the machine"},
		{o->has_thread_counts, "-T", "counts of threads"},
		{o->has_ledger, "--ledger", "lost samples", .is_ledger = true},
		{o->is_strict, "--strict", "lost samples", .is_ledger = true},
		{is_list(o->cpus), "--cpu", "the CPUs of samples"},
		{o->time != NULL, "--time", "the times of samples"},
		{o->socket != UINT64_MAX, "--socket-filter", "processor sockets"},
		{o->pids != NULL, "--pid", "processes", LABEL_PID},
		{o->tids != NULL, "--tid", "threads", LABEL_TID},
		{o->switching.on || o->switching.off, "--switch-on and --switch-off",
			"the order of events"},
		{o->answer.has_intervals, "--ci", "the times of samples"},
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
		if (needs[i].is_asked && !(needs[i].is_ledger && recorded_tells_losses(r)) &&
			!(needs[i].label && r->import.importer->labels & LABEL_BIT(needs[i].label)))
			return err_set(err, ERR_INVAL,
				"%s needs %s: '%s' is %s and has none, unlike a recording by 'pace record'",
				needs[i].option, needs[i].what, r->import.path,
				r->import.importer->what);
	return 0;
}

void report_import_add_head(const struct recorded *r, struct str *text)
{
	str_add(text, "# ");
	str_add_safe(text, r->import.path, strlen(r->import.path));
	str_addf(text, ": %s%s\n#\n", r->import.importer->what,
		recorded_tells_losses(r) ? "" : "; lost samples are unknown");
}
