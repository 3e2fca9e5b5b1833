#include "profile/gather/sideband.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/table.h"
#include "event/abi.h"

enum { NAMESPACE_BYTES = 16, CGROUP_NAMESPACE = 6 }; /* CGROUP_NS_INDEX */

static void add_switch(struct sideband *m, const struct record *rec)
{
	const struct formats *f = &m->session->reader.formats;
	struct sample s = {0};

	/* The idle task does not count. */
	if (!sample_decode_trailer(formats_format(f, formats_event(f, rec)), rec, &s) || !s.tid)
		return;
	vec_add(&m->marks,
		((struct sideband_mark){.time = s.time,
			.offset = rec->offset,
			.tid = s.tid,
			.kind = rec->misc & PERF_RECORD_MISC_SWITCH_OUT ? SIDEBAND_OUT
									: SIDEBAND_IN}));
}

/* "4/0xeffffffb", as perf prints it. */
static const char *namespace_text(struct sideband *m, const struct record_namespaces *n)
{
	const u8 *entry = n->namespaces.at + CGROUP_NAMESPACE * NAMESPACE_BYTES;
	struct str text = {0};
	const char *result;

	if (n->namespaces.n < (CGROUP_NAMESPACE + 1) * NAMESPACE_BYTES)
		return NULL;
	str_addf(&text, "%llu/0x%llx", (unsigned long long)load_u64(entry),
		(unsigned long long)load_u64(entry + 8));
	result = intern_str(&m->strings, str_text(&text));
	str_fini(&text);
	return result;
}

static void add_task(struct sideband *m, const struct record *rec)
{
	const struct formats *f = &m->session->reader.formats;
	u32 event = formats_event(f, rec);
	struct sideband_mark mark = {.offset = rec->offset};
	union record_body body;
	struct err err;

	if (record_decode(rec, formats_format(f, event)->trailer, &body, &err) <= 0)
		return;
	mark.time = formats_time(f, rec, event);
	if (rec->type == PERF_RECORD_NAMESPACES) {
		mark.tid = body.namespaces.tid;
		mark.kind = SIDEBAND_NAMESPACES;
		mark.cgroup = namespace_text(m, &body.namespaces);
	} else {
		mark.tid = body.task.tid;
		/* A thread's EXIT comes without a switch record, so it also counts as leaving the CPU. */
		mark.kind = rec->type == PERF_RECORD_FORK ? SIDEBAND_BORN : SIDEBAND_OUT;
	}
	vec_add(&m->marks, mark);
}

static void see(void *ctx, const struct record *rec)
{
	struct sideband *m = ctx;

	switch (rec->type) {
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		add_switch(m, rec);
		return;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_NAMESPACES:
		add_task(m, rec);
		return;
	}
}

void sideband_watch(struct sideband *m, struct session *s)
{
	*m = (struct sideband){.observer = {m, see}, .session = s};
	session_watch(s, &m->observer);
}

/* ---- after the pass ---- */

static int by_time(const void *left, const void *right)
{
	const struct sideband_mark *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int by_thread(const void *left, const void *right)
{
	const struct sideband_mark *a = left, *b = right;

	return a->tid != b->tid ? (a->tid < b->tid ? -1 : 1) : by_time(left, right);
}

/* By thread: whether it is on a CPU. */
struct runners {
	struct table index;
	VEC(struct runner {
		u32 tid;
		bool is_running;
	})
	at;
};

/* The entry of a thread; *ret_is_new: it was created now. */
static struct runner *runner_of(struct runners *r, u32 tid, bool *ret_is_new)
{
	u64 hash = hash_u64(tid);
	struct table_probe probe = table_probe(&r->index, hash);
	u32 i;

	*ret_is_new = false;
	while ((i = table_next(&r->index, &probe)) != TABLE_NONE)
		if (r->at.at[i].tid == tid)
			return &r->at.at[i];
	*ret_is_new = true;
	table_add(&r->index, hash, r->at.n);
	vec_add(&r->at, ((struct runner){tid, false}));
	return &r->at.at[r->at.n - 1];
}

/* The number of threads that ran at the beginning: their first mark is that they leave a CPU. */
static u32 running_at_first(const struct sideband *m)
{
	struct runners runners = {0};
	u32 n = 0;

	vec_each(mark, &m->marks) {
		bool is_new;

		if (mark->kind == SIDEBAND_NAMESPACES)
			continue;
		runner_of(&runners, mark->tid, &is_new);
		n += is_new && mark->kind == SIDEBAND_OUT;
	}
	table_fini(&runners.index);
	vec_fini(&runners.at);
	return n;
}

static void add_running(struct sideband *m, u64 time, u32 n)
{
	struct sideband_running *last = m->running.n ? &m->running.at[m->running.n - 1] : NULL;

	if (last && last->time == time)
		last->n = n;
	else
		vec_add(&m->running, ((struct sideband_running){time, n}));
}

static void count_running(struct sideband *m)
{
	struct runners runners = {0};
	u32 n = running_at_first(m);

	add_running(m, 0, n);
	vec_each(mark, &m->marks) {
		struct runner *runner;
		bool is_new, ran;

		if (mark->kind == SIDEBAND_NAMESPACES)
			continue;
		runner = runner_of(&runners, mark->tid, &is_new);
		ran = runner->is_running || (is_new && mark->kind == SIDEBAND_OUT);
		runner->is_running = mark->kind == SIDEBAND_IN;
		if (ran == runner->is_running)
			continue;
		n = runner->is_running ? n + 1 : n - 1;
		add_running(m, mark->time, n);
	}
	table_fini(&runners.index);
	vec_fini(&runners.at);
}

void sideband_settle(struct sideband *m)
{
	vec_each(mark, &m->marks)
		mark->time = m->session->has_times ? mark->time : mark->offset;
	if (m->marks.n)
		qsort(m->marks.at, m->marks.n, sizeof(*m->marks.at), by_time);
	count_running(m);
	vec_each(mark, &m->marks)
		if (mark->kind == SIDEBAND_NAMESPACES)
			vec_add(&m->of_namespaces, *mark);
	if (m->of_namespaces.n)
		qsort(m->of_namespaces.at, m->of_namespaces.n, sizeof(*m->of_namespaces.at),
			by_thread);
	vec_fini(&m->marks);
}

void sideband_fini(struct sideband *m)
{
	vec_fini(&m->marks);
	vec_fini(&m->running);
	vec_fini(&m->of_namespaces);
	intern_fini(&m->strings);
}

u32 sideband_parallelism(const struct sideband *m, u64 time)
{
	const size_t behind = search_first(i, m->running.n, m->running.at[i].time > time);

	return behind ? MAX(m->running.at[behind - 1].n, 1u) : 1;
}

const char *sideband_cgroup_namespace(const struct sideband *m, u32 tid, u64 time)
{
	const struct sideband_mark *marks = m->of_namespaces.at;
	const size_t behind = search_first(i, m->of_namespaces.n,
		marks[i].tid > tid || (marks[i].tid == tid && marks[i].time > time));

	return behind && marks[behind - 1].tid == tid ? marks[behind - 1].cgroup : NULL;
}
