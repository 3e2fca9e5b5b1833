#include "collect/run/attempt.h"

#include <signal.h>

#include "collect/open/missing.h"

static int open_counters(struct attempt *t, struct err *err)
{
	const struct counting_options how = {.no_inherit = t->no_inherit,
		.is_command = !t->target->is_system_wide};

	if (!t->target->is_system_wide) {
		t->target->threads.n = 0;
		vec_add(&t->target->threads,
			((struct target_thread){t->workload.pid, t->workload.pid}));
	}
	if (counting_open(&t->counting, t->events, t->target, &how, t->log, err) ||
		missing_check(&t->counting, err))
		return err->code;
	t->counting.why_lost = t->why_lost;
	return 0;
}

static void end_command(struct attempt *t, const char *name)
{
	if (!workload_end(&t->workload, stop_signal_of_command(t->stop)))
		log_note(t->log, "'%s' (process %d) is still running", name, t->workload.pid);
}

int attempt_run(struct attempt *t, char **argv, enum run_end *ret_end, struct err *err)
{
	static const struct run_options plain;
	struct run run = {.options = &plain,
		.counting = &t->counting,
		.target = t->target,
		.workload = &t->workload,
		.command = argv[0],
		.stop = t->stop,
		.log = t->log};

	attempt_close(t);
	if (workload_start_with(&t->workload, argv, t->files, err) || open_counters(t, err) ||
		run_execute(&run, ret_end, err))
		return err->code;
	t->elapsed_ns = run.now_ns - run.start_ns;
	if (*ret_end == RUN_SIGNAL)
		end_command(t, argv[0]);
	return 0;
}

void attempt_close(struct attempt *t)
{
	if (t->workload.pid)
		workload_close(&t->workload);
	memset(&t->workload, 0, sizeof(t->workload));
	counting_close(&t->counting);
}
