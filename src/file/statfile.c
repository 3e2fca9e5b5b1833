#include "file/statfile.h"

#include <stdio.h>
#include <string.h>

#include "base/sysfile.h"

enum { THREAD_ENTRY = 24, COMM_BYTES = 16 };

static int append(struct writer *w, struct str *out, struct err *err)
{
	struct iovec run = {out->at, out->n};
	int r = out->n ? writer_append(w, &run, 1, err) : 0;

	str_fini(out);
	return r;
}

static struct record_bytes view(const struct str *s)
{
	return (struct record_bytes){(const u8 *)s->at, (u32)s->n};
}

static void add_u64(struct str *out, u64 v)
{
	str_addn(out, &v, sizeof(v));
}

/* ---- what the counts are of ---- */

static void add_update(const struct event *e, u64 type, const char *text, double scale,
	struct str *out)
{
	union record_body body = {0};

	body.event_update.update_type = type;
	body.event_update.id = e->ids[0];
	body.event_update.scale = scale;
	if (text)
		body.event_update.text = (struct record_bytes){(const u8 *)text, strlen(text)};
	record_encode(PERF_RECORD_EVENT_UPDATE, 0, &body, 0, out);
}

static void add_thread(const struct target_thread *t, struct str *list)
{
	char path[64], comm[COMM_BYTES + 1] = "";

	add_u64(list, (u64)(s64)t->tid);
	snprintf(path, sizeof(path), "/proc/%d/comm", t->tid);
	if (t->tid > 0 && !sysfile_line(path, comm, sizeof(comm)))
		comm[0] = '\0';
	memset(comm + strlen(comm), 0, sizeof(comm) - strlen(comm));
	str_addn(list, comm, COMM_BYTES);
}

/*
 * A record holds at most 2,729 threads. Readings refer to threads by index, so the rest stay
 * nameless.
 */
static void add_threads(const struct target *target, struct str *out)
{
	static const struct target_thread everyone = {-1, -1};
	union record_body body = {0};
	struct str list = {0};
	const size_t most = (UINT16_MAX - 16 - 8) / THREAD_ENTRY;

	if (!target->threads.n)
		add_thread(&everyone, &list);
	for (size_t i = 0; i < MIN(target->threads.n, most); i++)
		add_thread(&target->threads.at[i], &list);
	body.thread_map.nr = list.n / THREAD_ENTRY;
	body.thread_map.threads = view(&list);
	record_encode(PERF_RECORD_THREAD_MAP, 0, &body, 0, out);
	str_fini(&list);
}

static void add_cpus(const struct target *target, struct str *out)
{
	union record_body body = {0};
	struct str list = {0};
	u16 any = UINT16_MAX;

	if (target->threads.n && !target->has_cpu_list)
		str_addn(&list, &any, sizeof(any));
	else
		vec_each(cpu, &target->cpus) {
			u16 number = (u16)*cpu;

			str_addn(&list, &number, sizeof(number));
		}
	body.cpu_map.map_type = RECORD_CPU_LIST;
	body.cpu_map.nr = list.n / sizeof(any);
	body.cpu_map.cpus = view(&list);
	record_encode(PERF_RECORD_CPU_MAP, 0, &body, 0, out);
	str_fini(&list);
}

static void add_config(const struct statfile_config *config, struct str *out)
{
	union record_body body = {0};
	struct str list = {0};

	add_u64(&list, STATFILE_AGGR_MODE);
	add_u64(&list, config->mode);
	add_u64(&list, STATFILE_INTERVAL);
	add_u64(&list, config->interval_ms);
	add_u64(&list, STATFILE_SCALE);
	add_u64(&list, config->is_scaled);
	body.stat_config.nr = list.n / 16;
	body.stat_config.config = view(&list);
	record_encode(PERF_RECORD_STAT_CONFIG, 0, &body, 0, out);
	str_fini(&list);
}

int statfile_begin(struct writer *w, const struct counting *counting, const struct target *target,
	const struct statfile_config *config, const char *(*unit)(const struct event *e),
	double (*scale)(const struct event *e), struct err *err)
{
	struct str out = {0};

	vec_each(e, counting->events) {
		if (!e->n_ids)
			continue;
		if (unit(e)[0])
			add_update(e, RECORD_UPDATE_UNIT, unit(e), 0, &out);
		if (scale(e) != 1)
			add_update(e, RECORD_UPDATE_SCALE, NULL, scale(e), &out);
	}
	add_threads(target, &out);
	add_cpus(target, &out);
	add_config(config, &out);
	return append(w, &out, err);
}

/* ---- readings ---- */

/*
 * The index of a thread. Each event's counters go through the threads in order, so the next is near
 * the last.
 */
static s32 thread_of(const struct target *target, pid_t tid, size_t *hint)
{
	size_t n = target->threads.n;

	for (size_t k = 0; k < n; k++) {
		size_t i = (*hint + k) % n;

		if (target->threads.at[i].tid != tid)
			continue;
		*hint = i;
		return (s32)i;
	}
	return 0;
}

int statfile_round(struct writer *w, const struct counting *counting, const struct target *target,
	enum statfile_round round, u64 time_ns, struct err *err)
{
	union record_body body = {0};
	struct str out = {0};
	size_t hint = 0;

	for (size_t i = 0; i < counting->counters.n; i++) {
		const struct counter *c = &counting->counters.at[i];
		const struct reading *r = &counting->readings[i];

		/* A pinned event that lost its place has no count, which is written as 0 of 0 ns. */
		body.stat = (struct record_stat){.id = c->id,
			.cpu = c->cpu,
			.thread = thread_of(target, c->tid, &hint),
			.val = r->has_failed ? 0 : r->value,
			.ena = r->enabled_ns,
			.run = r->has_failed ? 0 : r->running_ns};
		record_encode(PERF_RECORD_STAT, 0, &body, 0, &out);
	}
	body.stat_round = (struct record_stat_round){.round_type = round, .time = time_ns};
	record_encode(PERF_RECORD_STAT_ROUND, 0, &body, 0, &out);
	return append(w, &out, err);
}
