#include "view/records/readperf.h"

#include "base/num.h"
#include "event/abi.h"
#include "machine/dso.h"
#include "profile/rows/key.h"

static void add_type(struct csv *c, u32 type)
{
	const char *name = record_type_name(type);

	if (name)
		csv_word(c, name);
	else
		csv_u64(c, type);
}

/* PROCESSLIST_NOBODY is written in hexadecimal, its usual form: the kernel's maps have it too. */
static void add_id(struct csv *c, u32 id)
{
	if (id == PROCESSLIST_NOBODY)
		csv_word(c, "ffffffff");
	else
		csv_u64(c, id);
}

/* 0: not recorded. */
static void add_time(struct csv *c, u64 time)
{
	if (time)
		csv_u64(c, time);
	else
		csv_none(c);
}

static void add_word_hex(struct str *text, u64 v)
{
	str_add(text, text->n ? " 0x" : "0x");
	num_add_hex(text, v, 1);
}

/* ---- overview.csv ---- */

void readperf_start_overview(struct csv *c)
{
	static const char *const names[] = {"nr", "type", "pid", "tid", "time", "info"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		csv_word(c, names[i]);
	csv_end_row(c);
}

static void add_sample_info(const struct readperf_record *r, struct str *info)
{
	add_word_hex(info, r->sample->ip);
	str_addc(info, ' ');
	num_add_u64(info, r->sample->period);
	if (r->event) {
		str_addc(info, ' ');
		str_add(info, r->event);
	}
}

static void add_record_info(const struct readperf_record *r, struct str *info)
{
	switch (r->rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		str_addn(info, r->body->mmap.path.at, r->body->mmap.path.n);
		add_word_hex(info, r->body->mmap.addr);
		add_word_hex(info, r->body->mmap.len);
		add_word_hex(info, r->body->mmap.pgoff);
		break;
	case PERF_RECORD_COMM:
		str_addn(info, r->body->comm.comm.at, r->body->comm.comm.n);
		break;
	case PERF_RECORD_FORK:
		num_add_u64(info, r->body->task.ppid);
		break;
	}
}

void readperf_add_record(struct csv *c, const struct readperf_record *r, struct str *scratch)
{
	csv_u64(c, r->nr);
	add_type(c, r->rec->type);
	if (r->has_task) {
		add_id(c, r->pid);
		add_id(c, r->tid);
	} else {
		csv_none(c);
		csv_none(c);
	}
	if (r->has_time)
		csv_u64(c, r->time);
	else
		csv_none(c);
	str_clear(scratch);
	if (r->sample)
		add_sample_info(r, scratch);
	else if (r->body)
		add_record_info(r, scratch);
	csv_text(c, str_text(scratch), scratch->n);
	csv_end_row(c);
}

/* ---- stat.csv ---- */

void readperf_add_stat(struct csv *c, const u64 *n_by_type, size_t n)
{
	csv_word(c, "type");
	csv_word(c, "records");
	csv_end_row(c);
	for (size_t i = 1; i <= n; i++) {
		u64 count = n_by_type[i % n];

		if (!count)
			continue;
		if (i == n)
			csv_word(c, "other");
		else
			add_type(c, i);
		csv_u64(c, count);
		csv_end_row(c);
	}
}

/* ---- processes.csv ---- */

void readperf_start_processes(struct csv *c, const struct event_list *events)
{
	static const char *const names[] = {"pid", "name", "mmaps", "fork_time", "exit_time",
		"samples", "period"};
	struct str name = {0};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		csv_word(c, names[i]);
	for (size_t i = 0; events->n > 1 && i < events->n; i++) {
		str_clear(&name);
		str_addf(&name, "samples %s", events->at[i].name);
		csv_word(c, str_text(&name));
		str_clear(&name);
		str_addf(&name, "period %s", events->at[i].name);
		csv_word(c, str_text(&name));
	}
	csv_end_row(c);
	str_fini(&name);
}

void readperf_add_process(struct csv *c, const struct processlist_process *p, size_t n_events)
{
	add_id(c, p->pid);
	csv_text(c, str_text(&p->name), p->name.n);
	csv_u64(c, p->n_mmaps);
	add_time(c, p->fork_time);
	add_time(c, p->exit_time);
	csv_u64(c, p->all.n_samples);
	csv_u64(c, p->all.period);
	for (size_t i = 0; n_events > 1 && i < n_events; i++) {
		csv_u64(c, i < p->by_event.n ? p->by_event.at[i].n_samples : 0);
		csv_u64(c, i < p->by_event.n ? p->by_event.at[i].period : 0);
	}
	csv_end_row(c);
}

/* ---- results.csv ---- */

void readperf_start_results(struct csv *c, bool has_events)
{
	static const char *const names[] = {"period", "samples", "source", "function", "binary"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		csv_word(c, names[i]);
	if (has_events)
		csv_word(c, "event");
	csv_end_row(c);
}

void readperf_add_results(struct csv *c, const struct hist *h, bool has_events)
{
	const struct profile *p = h->profile;
	struct str address = {0};

	vec_each(e, &h->entries) {
		const struct profile_symbol *s = &p->symbols.at[e->symbol];
		const struct profile_dso *dso = &p->dsos.at[s->dso];

		csv_u64(c, e->of[0].self.period);
		csv_u64(c, e->of[0].self.n_samples);
		if (s->file && *s->file)
			csv_word(c, s->file);
		else
			csv_none(c);
		str_clear(&address);
		if (!s->name)
			add_word_hex(&address, s->start);
		csv_word(c, s->name ? s->name : str_text(&address));
		csv_word(c, dso->kind == DSO_FILE ? dso->path : dso->name);
		if (has_events)
			csv_word(c, p->events.at[h->events[0].event].name);
		csv_end_row(c);
	}
	str_fini(&address);
}
