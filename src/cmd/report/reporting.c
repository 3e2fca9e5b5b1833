#include "cmd/report/report.h"
#include "cmd/report/reporting.h"

#include "event/abi.h"
#include "profile/gather/lend.h"
#include "profile/tree/ignore.h"

/* If --time has no samples, notes the times that have some. */
static void tell_times(const struct reporting *r)
{
	const struct file_info *info = &r->recorded.trace.session.reader.info;
	const u64 first = info->first_time / 1000, last = info->last_time / 1000;
	const char *time = r->options->time;

	if (!time || r->recorded.profile.rows.n || !r->recorded.trace.session.tally.n_samples)
		return;
	if (info->has_times)
		log_note(r->recorded.log,
			"--time '%.100s' has no samples: the recording's are from %llu.%06llu to %llu.%06llu",
			time, (unsigned long long)first / 1000000,
			(unsigned long long)first % 1000000, (unsigned long long)last / 1000000,
			(unsigned long long)last % 1000000);
	else
		log_note(r->recorded.log,
			"--time '%.100s' has no samples: 'pace script -F time' shows when they are",
			time);
}

/* Notes that not all samples are kept one by one. */
static void tell_thinned(const struct reporting *r)
{
	const struct timeline *t = r->recorded.profile.timeline;

	if (t && t->every > 1)
		log_note(r->recorded.log,
			"there are more samples than %s takes one by one: one of %u stands for the others",
			form_chosen(&r->options->answer.forms)->name, t->every);
}

static void count_ipc(struct reporting *r)
{
	blocks_sort(&r->blocks);
	ipc_init(&r->ipc, &r->recorded.profile, &r->blocks, &r->recorded.trace.resolver);
	r->choice.hist.ipc = &r->ipc;
	recorded_stage_ends(&r->recorded, "instructions per cycle");
}

/* The event whose callers those without any get: the leader of its group, or else the first one that has some. */
static u32 lender_of(const struct event_list *events, u32 borrower)
{
	const u32 leader = events->at[borrower].leader;

	if (leader < events->n && events->at[leader].attr.sample_type & PERF_SAMPLE_CALLCHAIN)
		return leader;
	for (u32 i = 0; i < events->n; i++)
		if (events->at[i].attr.sample_type & PERF_SAMPLE_CALLCHAIN)
			return i;
	return TABLE_NONE;
}

static void lend_all(struct recorded *in)
{
	const struct event_list *events = &in->trace.session.reader.events;
	u32 n_borrowers = 0;

	if (!recorded_has_trace(in) || in->has_wall || in->profile.events.n != events->n) {
		log_note(in->log,
			"--show-ref-call-graph: it has no events that could lend callers");
		return;
	}
	if (in->profile.timeline) {
		log_note(in->log,
			"--show-ref-call-graph: callers are not lent where each sample is shown");
		return;
	}
	for (u32 i = 0; i < events->n; i++) {
		const u32 lender = lender_of(events, i);
		u64 n;

		if (events->at[i].attr.sample_type & PERF_SAMPLE_CALLCHAIN || lender == TABLE_NONE)
			continue;
		n_borrowers++;
		n = lend_callers(&in->profile, lender, i);
		log_note(in->log,
			"%llu of %llu samples of '%s' have the callers that '%s' has in the same functions",
			(unsigned long long)n,
			(unsigned long long)in->profile.events.at[i].n_samples, events->at[i].name,
			events->at[lender].name);
	}
	if (!n_borrowers)
		log_note(in->log,
			"--show-ref-call-graph: no event lacks call chains that another one has");
}

int reporting_read(struct reporting *r, struct err *err)
{
	const struct visitor blocks = blocks_visitor(&r->blocks);
	struct recorded *in = &r->recorded;
	struct recorded_options reading;

	choice_tell(&r->choice, &r->answer, &reading);
	reading.labels |= r->more_labels;
	reading.timeline_most = r->timeline_most ? r->timeline_most : reading.timeline_most;
	if (r->is_silent) {
		reading.servers_begin = NULL;
		reading.servers_end = NULL;
		reading.trace.debuginfod_s = 0;
	}
	if (r->options->has_thread_counts)
		threadcounts_watch(&r->thread_counts, &in->trace.session);
	if (r->choice.keys.needs_ipc)
		reading.visitors[reading.n_visitors++] = &blocks;
	if (recorded_read(in, &reading, err))
		return err->code;
	if (r->choice.keys.needs_ipc)
		count_ipc(r);
	r->answer.profile = &in->profile;
	r->answer.calls = &r->calls;
	r->answer.recorded = in;
	r->answer.symbols = &r->options->symbols;
	r->answer.path = report_name(r->options);
	r->answer.hist = &r->choice.hist;
	r->answer.text = &r->choice.text;
	r->answer.rows = &r->choice.rows;
	if (r->choice.forgets)
		ignore_callees(&in->profile, &r->choice.forgotten);
	answer_note_whole(&r->answer, &in->trace.session.tally);
	keys_finish(&r->choice.keys, &in->profile, r->options->filter.is_relative);
	profile_filter_tell(&r->choice.filter, &in->profile, in->log);
	tell_times(r);
	tell_thinned(r);
	profile_filter_apply(&in->profile, &r->choice.filter);
	answer_note_filtered(&r->answer);
	if (r->options->lends_callers)
		lend_all(in);
	calls_init(&r->calls, &in->profile);
	recorded_stage_ends(in, "call tree");
	return 0;
}

void reporting_close(struct reporting *r)
{
	threadcounts_fini(&r->thread_counts);
	answer_fini(&r->answer);
	choice_fini(&r->choice);
	calls_fini(&r->calls);
	blocks_fini(&r->blocks);
	ipc_fini(&r->ipc);
	recorded_close(&r->recorded);
	log_fini(&r->log);
}
