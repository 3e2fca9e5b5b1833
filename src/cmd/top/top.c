#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/live/feed.h"
#include "cmd/top/top_options.h"
#include "cmd/top/top_plain.h"
#include "cmd/top/top_rows.h"
#include "cmd/top/top_screen.h"
#include "view/screen/screen.h"

enum { LARGE_BYTES = 256 << 10 };

struct top {
	const struct top_options *options;
	struct log log;
	struct feed feed;
	struct top_rows rows;
	struct out out;
};

/* Whether that was the last refresh. */
static bool is_last(const struct top *t, const struct feed_facts *facts)
{
	return t->out.sys || (t->options->n_refreshes && facts->nr >= t->options->n_refreshes);
}

static bool show_lines(void *ctx, struct moment *shown, const struct feed_facts *facts)
{
	struct top *t = ctx;

	if (t->options->is_json)
		top_show_json(&t->feed, &t->rows, shown, facts, &t->out);
	else
		top_show_text(&t->feed, &t->rows, shown, facts, &t->out);
	moment_fini(shown);
	return is_last(t, facts);
}

static bool wants_screen(const struct top_options *o)
{
	if (o->is_text || o->is_json || !o->browser)
		return false;
	return o->browser < 0 ? screen_is_welcome() : screen_is_possible();
}

static int run(struct top *t, char **command, struct err *err)
{
	const struct top_options *o = t->options;

	if (top_options_check(o, command != NULL, err))
		return err->code;
	if (wants_screen(o))
		return top_screen(o, command, &t->log, err);
	t->feed.command = command;
	if (top_rows_choose(&t->rows, o, err) ||
		feed_open(&t->feed,
			&(struct feed_needs){.labels = top_rows_labels(&t->rows),
				.source = top_rows_source(&t->rows),
				.fields = t->rows.own.fields},
			err))
		return err->code;
	t->feed.show = show_lines;
	t->feed.ctx = t;
	return feed_run(&t->feed, err) == RECORDER_FAILED ? err->code : 0;
}

static int run_top(int argc, char **argv)
{
	struct top_options o;
	struct top t = {.options = &o, .out = {.fd = STDOUT_FILENO}};
	sigset_t signals;
	struct err err;
	int status;

	/* Large pieces of memory go back when they are freed, and one thread frees what another one made. */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	mallopt(M_ARENA_MAX, 1);
	top_options_init(&o);
	status = cmd_parse(&cmd_top, &o, OPTS_STOP, &argc, argv);
	if (status >= 0) {
		top_options_fini(&o);
		return status;
	}
	cmd_log_init(&t.log, o.record.verbose ? LOG_DEBUG : LOG_NOTE);
	stop_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	t.feed.options = top_options_feed(&o);
	t.feed.log = &t.log;
	status = EXIT_OK;
	if (run(&t, argc ? argv : NULL, &err))
		status = cmd_fail(&cmd_top, &err, err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	feed_close(&t.feed);
	if (out_close(&t.out, &err))
		status = cmd_fail(&cmd_top, &err, EXIT_FAILED);
	log_fini(&t.log);
	top_options_fini(&o);
	return status;
}

const struct cmd cmd_top = {
	.name = "top",
	.summary = "show where the time goes now",
	.usage = {"[OPTIONS] [COMMAND...]", NULL},
	.options = top_option_rows,
	.run = run_top,
};
