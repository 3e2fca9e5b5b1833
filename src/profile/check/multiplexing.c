#include "profile/check/multiplexing.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/sort.h"
#include "event/abi.h"

static const u64 TIMES = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

/* per value: keeps the latest times of a counter, whatever the order of the records. */
static void keep(struct multiplexing *m, const struct multiplexing_counter *now)
{
	const u64 hash =
		hash_mix(now->id, (u64)now->event << 32 | (now->is_inherited ? now->tid : 0));
	struct table_probe probe = table_probe(&m->index, hash);
	u32 i;

	while ((i = table_next(&m->index, &probe)) != TABLE_NONE) {
		struct multiplexing_counter *c = &m->counters.at[i];

		if (c->id != now->id || c->event != now->event ||
			(now->is_inherited && c->tid != now->tid))
			continue;
		if (c->tid != now->tid)
			c->tid = 0;
		if (now->enabled_ns > c->enabled_ns) {
			c->enabled_ns = now->enabled_ns;
			c->running_ns = now->running_ns;
		}
		return;
	}
	table_add(&m->index, hash, (u32)m->counters.n);
	vec_add(&m->counters, *now);
}

static void keep_read(struct multiplexing *m, u32 event, u32 tid, u64 own_id,
	const struct sample_read *read)
{
	const struct session *s = m->session;
	const struct sample_format *format = &s->reader.formats.at[event];
	const struct event_attr *attr = &s->reader.events.at[event].attr;
	struct multiplexing_counter now = {.event = event,
		.id = own_id,
		.tid = tid,
		.is_inherited = attr->flags & ATTR_INHERIT,
		.enabled_ns = read->time_enabled,
		.running_ns = read->time_running};

	for (u64 i = 0; i < read->n_values; i++) {
		if (format->read_format & PERF_FORMAT_ID) {
			now.id = sample_read_value(format, read, i).id;
			now.event = formats_event_of_id(&s->reader.formats, now.id);
		} else if (i) {
			return;
		}
		if (now.event < s->reader.events.n)
			keep(m, &now);
	}
}

static void see_sample(struct multiplexing *m, const struct record *rec, u32 event)
{
	const struct sample_format *format = &m->session->reader.formats.at[event];
	struct sample sample = {0};
	struct err err;

	/* The pass itself counts records that cannot be decoded. */
	if (format->type & PERF_SAMPLE_READ &&
		!sample_decode(format, rec->at + RECORD_HEADER_SIZE, rec->size - RECORD_HEADER_SIZE,
			PERF_SAMPLE_READ | PERF_SAMPLE_TID, &sample, &err))
		keep_read(m, event, sample.tid, sample.id, &sample.read);
}

static void see_read(struct multiplexing *m, const struct record *rec, u32 event)
{
	const struct sample_format *format = &m->session->reader.formats.at[event];
	union record_body body;
	struct sample_read read;
	struct bytes b;
	struct err err;

	if (m->session->reader.events.at[event].n_ids > 1 ||
		record_decode(rec, format->trailer, &body, &err) <= 0)
		return;
	b = bytes_of(body.read.values.at, (size_t)body.read.values.n * 8);
	if (sample_decode_read(format, &b, &read))
		keep_read(m, event, body.read.tid, 0, &read);
}

static void see(void *ctx, const struct record *rec)
{
	struct multiplexing *m = ctx;
	const struct formats *f = &m->session->reader.formats;
	u32 event;

	if ((rec->type != PERF_RECORD_SAMPLE && rec->type != PERF_RECORD_READ) || !f->n)
		return;
	event = formats_event(f, rec);
	if (event >= f->n || event >= m->session->reader.events.n ||
		(f->at[event].read_format & TIMES) != TIMES)
		return;
	if (rec->type == PERF_RECORD_SAMPLE)
		see_sample(m, rec, event);
	else
		see_read(m, rec, event);
}

void multiplexing_watch(struct multiplexing *m, struct session *s)
{
	bool may_have_times = !s->reader.events.n; /* those of a stream come later */

	*m = (struct multiplexing){.observer = {.ctx = m, .see = see}, .session = s};
	vec_each(e, &s->reader.events)
		may_have_times |= (e->attr.read_format & TIMES) == TIMES;
	if (may_have_times)
		session_watch(s, &m->observer);
}

SORT_BY(by_thread, struct multiplexing_counter, event, tid, id)

void multiplexing_settle(struct multiplexing *m)
{
	if (m->counters.n)
		qsort(m->counters.at, m->counters.n, sizeof(*m->counters.at), by_thread);
}

bool multiplexing_of(const struct multiplexing *m, u32 event, u64 *ret_enabled_ns,
	u64 *ret_running_ns)
{
	u64 enabled = 0, running = 0;

	for (size_t i = 0; i < m->counters.n;) {
		const struct multiplexing_counter *first = &m->counters.at[i];
		u64 longest = 0, sum = 0;

		do {
			longest = MAX(longest, m->counters.at[i].enabled_ns);
			sum += m->counters.at[i].running_ns;
			i++;
		} while (first->tid && i < m->counters.n && m->counters.at[i].tid == first->tid &&
			m->counters.at[i].event == first->event);
		if (first->event == event) {
			enabled += longest;
			running += MIN(sum, longest);
		}
	}
	if (!enabled)
		return false;
	*ret_enabled_ns = enabled;
	*ret_running_ns = running;
	return true;
}

void multiplexing_fini(struct multiplexing *m)
{
	vec_fini(&m->counters);
	table_fini(&m->index);
}
