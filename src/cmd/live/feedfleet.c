#include "cmd/live/feedfleet.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "cmd/fetched.h"
#include "cmd/fleetinput.h"
#include "cmd/live/feed.h"
#include "event/abi.h"
#include "fleet/timerange.h"
#include "profile/check/recorded.h"

enum { MS_NS = 1000000, LOOK_MS = 250 };

/* ---- one answer ---- */

/* A signal, or a key, while the store is asked. */
static bool is_over(void *ctx)
{
	struct feed *f = ctx;

	return stop_take(&f->recorder.stop, NULL) || (f->steer && f->steer(f->ctx));
}

static bool is_hidden(void *ctx, size_t row)
{
	const struct feed *f = ctx;
	const struct profile *p = &f->fleet->next.profile;
	const u8 mode = p->frames.at[p->rows.at[row].frame].mode;

	return feed_hides(&f->settings, mode);
}

static bool is_kept(void *ctx, size_t row)
{
	return !is_hidden(ctx, row);
}

static void take(struct feed *f, struct recorded *r)
{
	struct feedfleet *fleet = f->fleet;

	if (fleet->has_next)
		moment_fini(&fleet->next);
	fleet->has_next = true;
	if (f->settings.hides_kernel || f->settings.hides_user) {
		fleet->next.profile = r->profile;
		profile_keep_rows(&fleet->next.profile, is_kept, f);
		r->profile = fleet->next.profile;
	}
	f->facts.n_samples = r->ledger.n_samples;
	moment_of(&fleet->next, &r->profile, &f->showing);
	ledger_fini(&fleet->ledger);
	fleet->ledger = r->ledger;
	r->ledger = (struct ledger){0};
}

/* The answer is read as any file of batches is. */
static int read_profile(struct feed *f, const char *path, struct err *err)
{
	const struct feed_options *o = &f->options;
	const struct recorded_options options = {.labels = f->fleet->labels |
			profile_filter_labels(o->filter),
		.has_stacks = o->record->callers.has_chains,
		.max_stack = (u32)o->count_most,
		.fields = f->fleet->fields,
		.n_workers = 1,
		.naming = {.source = f->fleet->source, .has_inlined = o->has_inlined}};
	struct recorded r;
	int result = recorded_open_any(&r, path, f->log, err);

	if (!result) {
		recorded_call(&r, o->fleet);
		result = recorded_read(&r, &options, err);
	}
	if (!result)
		take(f, &r);
	recorded_close(&r);
	return result;
}

static int read_answer(struct feed *f, const struct fleetread *answer, struct err *err)
{
	struct batch_writer packing = {0};
	const struct batch *b = &answer->parts.at[0].batch;
	struct fleetinput in = {.fd = -1};
	int result = fleetinput_begin(&in, err);

	if (!result)
		result = fleetinput_add(&in, &packing, b, err);
	if (!result)
		result = read_profile(f, in.path, err);
	batch_writer_fini(&packing);
	fleetinput_close(&in);
	f->fleet->n_hosts = answer->n_hosts;
	f->fleet->from_ns = b->start_ns;
	f->fleet->to_ns = b->end_ns;
	return result;
}

static int fetch(struct feed *f, struct err *err)
{
	const struct feed_options *o = &f->options;
	const struct fetched_request request = {.input = o->fleet,
		.sort = o->sort,
		.from = FEEDFLEET_FROM,
		.has_comms = o->filter->comms != NULL,
		.is_over = is_over,
		.ctx = f};
	struct fleetread answer;
	int result = fetched_read(&request, f->log, &answer, err);

	if (!result)
		result = read_answer(f, &answer, err);
	fleetread_fini(&answer);
	return result;
}

/* ---- again and again ---- */

static bool show(struct feed *f)
{
	struct feedfleet *fleet = f->fleet;
	const u64 lost = f->facts.n_lost_all;

	feed_note_costs(f, clock_now_ns());
	/* These are of the window, which moves on: not of the time since the last refresh. */
	f->facts.span_ns = fleet->to_ns - fleet->from_ns;
	f->facts.n_lost_all = ledger_amount(&fleet->ledger, LEDGER_DROPPED_BY_KERNEL);
	f->facts.n_lost = f->facts.n_lost_all - MIN(f->facts.n_lost_all, lost);
	fleet->has_next = false;
	return f->show(f->ctx, &fleet->next, &f->facts);
}

static void complain(struct feed *f, const struct err *err)
{
	if (f->say)
		f->say(f->ctx, err->msg);
	else
		log_warn(f->log, "%s; it is asked again", err->msg);
}

/* Waits for the next refresh, a key or a signal. True: it is over. */
static bool wait(struct feed *f)
{
	struct pollfd on[] = {{f->recorder.stop.fd, POLLIN, 0}, {f->wake_fd, POLLIN, 0}};
	u64 now, ignored;

	for (;;) {
		if (is_over(f))
			return true;
		now = clock_now_ns();
		if (!f->settings.is_paused && now >= f->due_ns)
			return false;
		poll(on, f->wake_fd ? 2 : 1,
			f->settings.is_paused
				? LOOK_MS
				: (int)MIN((f->due_ns - now) / MS_NS + 1, (u64)LOOK_MS));
		if (f->wake_fd)
			(void)!read(f->wake_fd, &ignored, sizeof(ignored));
	}
}

enum recorder_end feedfleet_run(struct feed *f, struct err *err)
{
	bool is_enough = f->fleet->has_next && show(f);

	while (!is_enough) {
		f->due_ns = clock_now_ns() + (u64)(f->settings.delay_s * 1e9);
		if (wait(f))
			break;
		if (!fetch(f, err))
			is_enough = show(f);
		else if (!is_over(f))
			complain(f, err);
		*err = (struct err){0};
	}
	return f->recorder.stop.signal ? RECORDER_SIGNAL : RECORDER_ENOUGH;
}

int feedfleet_open(struct feed *f, const struct feed_needs *needs, struct err *err)
{
	const struct feed_options *o = &f->options;

	f->fleet = mem_zalloc(sizeof(*f->fleet));
	f->fleet->labels = needs->labels;
	f->fleet->source = needs->source;
	f->fleet->fields = needs->fields;
	f->whose = "a fleet";
	f->facts.is_of_fleet = true;
	f->showing = (struct moment_options){.has_idle = o->has_idle,
		.filter = o->filter,
		.ignored_callees = f->ignores_callees ? &f->ignored_callees : NULL};
	if (stop_open(&f->recorder.stop, err))
		return err->code;
	f->shown_ns = clock_now_ns();
	f->cpu_ns = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
	return fetch(f, err);
}

void feedfleet_close(struct feed *f)
{
	if (!f->fleet)
		return;
	if (f->fleet->has_next)
		moment_fini(&f->fleet->next);
	ledger_fini(&f->fleet->ledger);
	mem_free(f->fleet);
	f->fleet = NULL;
}

void feedfleet_add_measured(const struct feed *f, struct str *text)
{
	const struct feedfleet *fleet = f->fleet;
	const struct timerange window = {fleet->from_ns, fleet->to_ns};
	struct str lacks = {0};

	num_add_grouped(text, fleet->n_hosts);
	str_addf(text, " host%s, ", fleet->n_hosts == 1 ? "" : "s");
	timerange_add_text(&window, text);
	ledger_add_losses(&fleet->ledger, &lacks);
	if (lacks.n)
		str_addf(text, "; incomplete: %s", str_text(&lacks));
	str_fini(&lacks);
}
