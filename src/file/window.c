#include "file/window.h"

#include "base/clock.h"
#include "file/checkpoint.h"
#include "record/record.h"
#include "record/sample.h"

enum {
	ROUNDS = 64, /* the window has about this many */
	ROUND_MOST_NS = 100000000,
	LATE_NS = 2000000000,     /* a recorder leaves records in a ring for a second at most */
	COMPACT_BYTES = 64 << 10, /* below this, compaction does not pay */
};

void window_init(struct window *w, u64 span_ns, u64 most_bytes, u32 time_from_end)
{
	memset(w, 0, sizeof(*w));
	w->span_ns = span_ns;
	w->most_bytes = most_bytes;
	w->time_from_end = time_from_end;
}

void window_fini(struct window *w)
{
	vec_each(round, &w->rounds)
		str_fini(&round->records);
	vec_fini(&w->rounds);
	str_fini(&w->state);
}

/* ---- what comes ---- */

void window_add(struct window *w, const struct iovec *runs, int n, u64 now_ns)
{
	u64 length = MAX(w->span_ns / ROUNDS, (u64)ROUND_MOST_NS);
	struct window_round *last = w->rounds.n ? &w->rounds.at[w->rounds.n - 1] : NULL;

	if (!last || now_ns >= last->begin_ns + length) {
		last = vec_push(&w->rounds);
		*last = (struct window_round){.begin_ns = now_ns};
	}
	last->end_ns = now_ns;
	for (int i = 0; i < n; i++) {
		str_addn(&last->records, runs[i].iov_base, runs[i].iov_len);
		w->bytes += runs[i].iov_len;
	}
}

u32 window_time_place(const struct event_list *events)
{
	u32 place = 0;

	vec_each(e, events) {
		struct sample_format format;
		u32 its;

		sample_format_init(&format, &e->attr);
		its = sample_time_place(&format);
		if (e > events->at && its != place)
			return 0;
		place = its;
	}
	return place;
}

static int append(void *ctx, const struct iovec *runs, int n, struct err *err)
{
	struct record_header header;

	(void)err;
	if (n == 1 && runs->iov_len >= sizeof(header)) {
		memcpy(&header, runs->iov_base, sizeof(header));
		if (header.type == PERF_RECORD_LOST_SAMPLES)
			return 0;
	}
	window_add(ctx, runs, n, clock_now_ns());
	return 0;
}

struct sink window_sink(struct window *w)
{
	return (struct sink){.ctx = w, .append = append};
}

/* ---- what goes ---- */

/* Whether records of a type describe tasks, maps and code; all others matter at their moment only. */
static bool is_lasting(u32 type)
{
	switch (type) {
	case PERF_RECORD_SAMPLE:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_READ:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
	case PERF_RECORD_AUX:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_CALLCHAIN_DEFERRED:
	case PERF_RECORD_FINISHED_ROUND:
		return false;
	}
	return true;
}

void window_keep_lasting(const struct str *records, struct str *out)
{
	struct record rec;

	for (size_t at = 0; record_in(records->at, records->n, at, &rec); at += rec.size)
		if (is_lasting(rec.type))
			str_addn(out, rec.at, rec.size);
}

/* Whether records that other rings still held when `state` was read have arrived in it by now. */
static bool is_complete(const struct window *w, u64 now_ns)
{
	return now_ns > w->state_ns + w->span_ns + LATE_NS;
}

void window_compact(struct window *w, u64 now_ns)
{
	checkpoint_reduce(w->time_from_end, is_complete(w, now_ns), &w->state);
	w->compacted = w->state.n;
	w->has_news = !is_complete(w, now_ns);
}

void window_advance(struct window *w, u64 now_ns)
{
	size_t n = 0;

	for (; n < w->rounds.n; n++) {
		struct window_round *round = &w->rounds.at[n];
		bool is_old = round->end_ns + w->span_ns < now_ns;
		/* The newest round stays, however large it is. */
		bool is_much = w->most_bytes && w->bytes > w->most_bytes && n + 1 < w->rounds.n;

		if (!is_old && !is_much)
			break;
		w->was_full |= !is_old;
		window_keep_lasting(&round->records, &w->state);
		w->state_ns = round->end_ns;
		w->has_news = true;
		w->bytes -= round->records.n;
		str_fini(&round->records);
	}
	if (n) {
		w->rounds.n -= n;
		memmove(w->rounds.at, w->rounds.at + n, w->rounds.n * sizeof(*w->rounds.at));
	}
	if (w->state.n > 2 * w->compacted + COMPACT_BYTES ||
		(w->has_news && is_complete(w, now_ns)))
		window_compact(w, now_ns);
}

/* ---- into a file ---- */

static int write_records(const struct str *records, struct writer *writer, struct err *err)
{
	struct iovec run = {records->at, records->n};

	return run.iov_len ? writer_append(writer, &run, 1, err) : 0;
}

int window_write(const struct window *w, struct writer *writer, struct err *err)
{
	if (write_records(&w->state, writer, err))
		return err->code;
	vec_each(round, &w->rounds)
		if (write_records(&round->records, writer, err))
			return err->code;
	return 0;
}
