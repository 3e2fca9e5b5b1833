/*
 * script_counts.c - counts of `stat record`, in the lines of perf script: at each moment one for each event on each of its CPUs
 * and threads. They are collected until the record that ends the moment.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "cmd/script/scripting.h"
#include "event/abi.h"

enum {
	THREAD_ENTRY = 24, /* u64 tid, char comm[16] */
	LINE_BYTES = 100,
};

SORT_BY(compare_counts, struct script_count, event, cpu, thread)

/* Few readings in a file can make very many lines: `n` of them, which are kept or printed. */
static int check_lines(const struct scripting *s, u64 n, u64 offset, struct err *err)
{
	const struct reader *r = &s->trace.session.reader;
	u64 limit = reader_allows(r, offset);

	return n <= limit / LINE_BYTES
		? 0
		: allowance_exceeded(&r->allowance, limit, offset, "its counts", err);
}

static int take_threads(struct scripting *s, const struct record_thread_map *m, u64 offset,
	struct err *err)
{
	for (u64 i = 0; i < m->nr && (i + 1) * THREAD_ENTRY <= m->threads.n; i++)
		vec_add(&s->counts.tids, (s32)load_u64(m->threads.at + i * THREAD_ENTRY));
	return check_lines(s, s->counts.tids.n, offset, err);
}

static int take_count(struct scripting *s, const struct record_stat *r, u64 offset, struct err *err)
{
	u32 event = formats_event_of_id(&s->trace.session.reader.formats, r->id);

	if (event == TABLE_NONE) {
		s->trace.session.tally.n_foreign_id++;
		return 0;
	}
	vec_add(&s->counts.at,
		((struct script_count){event, r->cpu, (u32)r->thread, r->val, r->ena, r->run}));
	return check_lines(s, s->counts.at.n, offset, err);
}

static void add_line(struct scripting *s, u32 event, const struct script_count *r, u64 time)
{
	const struct script_counts *c = &s->counts;
	const char *name = s->script.events->at[event].name;
	const bool is_there = r->event == event;
	struct str *text = &s->out.text;

	str_addf(text, "%3d %8d %15llu %15llu %15llu %15llu ", r->cpu,
		r->thread < c->tids.n ? c->tids.at[r->thread] : -1,
		is_there ? (unsigned long long)r->value : 0,
		is_there ? (unsigned long long)r->enabled_ns : 0,
		is_there ? (unsigned long long)r->running_ns : 0, (unsigned long long)time);
	str_add_safe(text, name, strlen(name));
	str_addc(text, '\n');
	out_flush_some(&s->out);
}

/*
 * Events that could not be counted, for which there are no records, are 0 wherever the first one that has counts has them, or else
 * on each thread.
 */
static void add_moment(struct scripting *s, u64 time)
{
	struct script_counts *c = &s->counts;
	size_t n_first = 0, at = 0;

	for (u32 i = 0; !c->at.n && i < MAX(c->tids.n, (size_t)1); i++)
		vec_add(&c->at, ((struct script_count){.cpu = -1, .thread = i}));
	qsort(c->at.at, c->at.n, sizeof(*c->at.at), compare_counts);
	while (n_first < c->at.n && c->at.at[n_first].event == c->at.at[0].event)
		n_first++;
	for (u32 event = 0; event < s->script.events->n; event++) {
		if (at == c->at.n || c->at.at[at].event != event)
			for (size_t i = 0; i < n_first; i++)
				add_line(s, event, &c->at.at[i], time);
		for (; at < c->at.n && c->at.at[at].event == event; at++)
			add_line(s, event, &c->at.at[at], time);
	}
	c->at.n = 0;
}

static int end_moment(struct scripting *s, u64 time, u64 offset, struct err *err)
{
	struct script_counts *c = &s->counts;

	/* At most so many in all. */
	c->n_lines += (u64)s->script.events->n * MAX(c->at.n, (size_t)1);
	if (check_lines(s, c->n_lines / 16, offset, err))
		return err->code;
	if (!c->has_head)
		str_addf(&s->out.text, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL",
			"ENA", "RUN", "TIME", "EVENT");
	c->has_head = true;
	add_moment(s, time);
	return 0;
}

int script_take_counts(struct scripting *s, const struct record *rec, struct err *err)
{
	union record_body body;
	struct err why;

	if (rec->type != PERF_RECORD_THREAD_MAP && rec->type != PERF_RECORD_STAT &&
		rec->type != PERF_RECORD_STAT_ROUND)
		return 0;
	if (record_decode(rec, 0, &body, &why) < 1) {
		session_note_undecoded(&s->trace.session.tally, rec);
		return 0;
	}
	return rec->type == PERF_RECORD_THREAD_MAP
		? take_threads(s, &body.thread_map, rec->offset, err)
		: rec->type == PERF_RECORD_STAT
		? take_count(s, &body.stat, rec->offset, err)
		: end_moment(s, body.stat_round.time, rec->offset, err);
}

void script_counts_fini(struct script_counts *c)
{
	vec_fini(&c->at);
	vec_fini(&c->tids);
}
