#include "profile/check/threadcounts.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/sort.h"
#include "event/abi.h"

static void add(struct threadcounts *t, const struct threadcount *count)
{
	u64 hash = hash_u64(((u64)count->pid << 32 | count->tid) ^ hash_u64(count->event));
	struct table_probe probe = table_probe(&t->index, hash);
	u32 i;

	while ((i = table_next(&t->index, &probe)) != TABLE_NONE) {
		struct threadcount *same = &t->at.at[i];

		if (same->pid != count->pid || same->tid != count->tid ||
			same->event != count->event)
			continue;
		same->n += count->n;
		same->time = MAX(same->time, count->time);
		return;
	}
	table_add(&t->index, hash, (u32)t->at.n);
	vec_add(&t->at, *count);
}

static void take_values(struct threadcounts *t, const struct formats *f,
	const struct sample_format *format, const struct record_bytes *words,
	struct threadcount count)
{
	struct bytes b = bytes_of(words->at, (size_t)words->n * 8);
	struct sample_read read;

	if (!sample_decode_read(format, &b, &read))
		return;
	for (u64 i = 0; i < read.n_values; i++) {
		struct sample_value v = sample_read_value(format, &read, i);

		count.n = v.value;
		if (format->read_format & PERF_FORMAT_ID)
			count.event = formats_event_of_id(f, v.id);
		if (count.event != TABLE_NONE)
			add(t, &count);
	}
}

static void see(void *ctx, const struct record *rec)
{
	struct threadcounts *t = ctx;
	const struct session *s = t->session;
	const struct formats *f = &s->reader.formats;
	union record_body body;
	struct err err;
	u32 event;

	if (rec->type != PERF_RECORD_READ || !f->n)
		return;
	event = formats_event(f, rec);
	/* The pass itself counts records that cannot be decoded. */
	if (event >= s->reader.events.n ||
		record_decode(rec, formats_format(f, event)->trailer, &body, &err) <= 0)
		return;
	take_values(t, f, formats_format(f, event), &body.read.values,
		(struct threadcount){.pid = body.read.pid,
			.tid = body.read.tid,
			.event = event,
			.time = s->has_times ? formats_time(f, rec, event) : rec->offset});
}

SORT_BY(by_thread, struct threadcount, pid, tid, event)

void threadcounts_watch(struct threadcounts *t, struct session *s)
{
	*t = (struct threadcounts){.observer = {.ctx = t, .see = see}, .session = s};
	session_watch(s, &t->observer);
}

int threadcounts_settle(struct threadcounts *t, struct err *err)
{
	if (!t->at.n)
		return err_set(err, ERR_INVAL,
			"the recording has no counts per thread: record with -s; threads that start during the recording are counted when they end");
	qsort(t->at.at, t->at.n, sizeof(*t->at.at), by_thread);
	return 0;
}

void threadcounts_fini(struct threadcounts *t)
{
	vec_fini(&t->at);
	table_fini(&t->index);
}
