#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/watch/watch_minutes.h"
#include "cmd/watch/watch_status.h"
#include "fleet/pushstore.h"

enum {
	LARGE_BYTES = 64 << 10,
	REQUEST_MS = 30000,
	LAST_MS = 3000, /* what is left to send when watching ends: the store keeps it */
};

struct watch {
	struct watch_options options;
	struct log log;
	struct feed feed;
	struct watch_minutes minutes;
	struct fleeturl server;
	struct pusher pusher;
	bool pushes;
};

static bool take(void *ctx, struct moment *shown, const struct feed_facts *facts)
{
	struct watch *w = ctx;

	watch_minutes_take(&w->minutes, shown, facts);
	if (w->pushes)
		pusher_wake(&w->pusher);
	return false;
}

/* A thread of its own sends: a server that hangs does not delay measuring. */
static int begin_push(struct watch *w, struct err *err)
{
	const struct watch_options *o = &w->options;

	if (!o->push)
		return 0;
	if (fleeturl_parse(&w->server, o->push, err))
		return err_prefix(err, "--push");
	if (w->server.words.n)
		return err_set(err, ERR_INVAL, "--push: '%.60s' is for reading, not for pushing",
			w->server.words.at[0].key);
	if (fleeturl_login(&w->server, &o->secrets, err) ||
		pusher_begin(&w->pusher,
			&(struct push_options){.url = &w->server,
				.service = o->service,
				.timeout_ms = REQUEST_MS,
				.n_attempts = 1,
				.remembers = true,
				.log = &w->log},
			w->minutes.store.store.path, err))
		return err->code;
	w->pushes = true;
	pusher_wake(&w->pusher);
	return 0;
}

static void end_push(struct watch *w)
{
	if (w->pushes && !pusher_end(&w->pusher, LAST_MS))
		log_warn(&w->log,
			"not everything was sent: it waits in '%s' for the next watch or push",
			w->minutes.store.store.path);
	fleeturl_fini(&w->server);
}

static int watch(struct watch *w, struct err *err)
{
	const struct watch_options *o = &w->options;
	enum recorder_end end;

	if (watch_minutes_open(&w->minutes, o, &w->feed, &w->log, err) || begin_push(w, err))
		return err->code;
	w->feed.log = &w->log;
	w->feed.options = watch_options_feed(o);
	if (o->odd_bytes)
		w->feed.options.also = &w->minutes.odd.sink;
	w->feed.show = take;
	w->feed.ctx = w;
	if (feed_open(&w->feed,
		    &(struct feed_needs){.labels = LABEL_BIT(LABEL_COMM),
			    .welcome = LABEL_BIT(LABEL_CGROUP)},
		    err))
		return err->code;
	if (o->restriction.n)
		w->feed.whose = "named cgroups";
	log_note(&w->log, "%s: an aggregate each %llu s goes to '%s'", w->feed.whose,
		(unsigned long long)(o->every_ns / 1000000000), w->minutes.store.store.path);
	end = feed_run(&w->feed, err);
	return end == RECORDER_FAILED ? err->code : 0;
}

static int run_watching(struct watch *w)
{
	int status = EXIT_OK;
	sigset_t signals;
	struct err err;

	stop_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (watch(w, &err))
		status = cmd_fail(&cmd_watch, &err,
			err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	else if (w->minutes.unkept_ns)
		status = EXIT_FAILED;
	feed_close(&w->feed);
	end_push(w);
	watch_minutes_close(&w->minutes);
	return status;
}

static int show_status(struct watch *w)
{
	struct out out = {.fd = STDOUT_FILENO};
	bool is_running = false;
	struct err err;
	int status;

	if (watch_status_add(&w->options, &w->log, &is_running, &out.text, &err))
		return cmd_fail(&cmd_watch, &err, EXIT_FAILED);
	status = is_running ? EXIT_OK : EXIT_FAILED;
	return out_close(&out, &err) ? cmd_fail(&cmd_watch, &err, EXIT_FAILED) : status;
}

static int run_watch(int argc, char **argv)
{
	struct watch w = {0};
	struct err err;
	int status;

	/* What a minute took goes back when it is over: little pieces of it are between those that stay. */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	mallopt(M_ARENA_MAX, 1);
	watch_options_init(&w.options);
	status = cmd_parse_alone(&cmd_watch, &w.options, argc, argv);
	if (status < 0) {
		cmd_log_init(&w.log, w.options.record.verbose ? LOG_DEBUG : LOG_NOTE);
		if (watch_options_settle(&w.options, &err))
			status = cmd_fail(&cmd_watch, &err, EXIT_USAGE);
		else
			status = w.options.is_status ? show_status(&w) : run_watching(&w);
		log_fini(&w.log);
	}
	watch_options_fini(&w.options);
	return status;
}

const struct cmd cmd_watch = {
	.name = "watch",
	.summary = "watch always: a profile of each minute, kept in a store of fixed size",
	.usage = {"[OPTIONS]", "--status [--store DIR]", NULL},
	.notes =
		"'pace report --at 14:30..14:35' and 'pace diff --usual --at 14:30..14:35' read what it keeps.\n",
	.options = watch_option_rows,
	.run = run_watch,
};
