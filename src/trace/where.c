#include "trace/where.h"

#include <string.h>

#include "event/abi.h"
#include "trace/visit.h"

static bool is_named(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (strcspn(p, ",") == n && !memcmp(p, name, n))
			return true;
	return false;
}

static bool has_numbers(const struct num_list *list)
{
	return list && list->n;
}

bool trace_where_is_all(const struct trace_where *w)
{
	return !w ||
		((!w->cpus || !w->cpus->n) && (!w->spans || !w->spans->n) && !w->switching &&
			!has_numbers(w->pids) && !has_numbers(w->tids) && !w->comms);
}

u64 trace_where_needs(const struct trace_where *w)
{
	u64 needs = 0;

	if (!w)
		return 0;
	if (w->cpus && w->cpus->n)
		needs |= PERF_SAMPLE_CPU;
	if (w->spans && w->spans->n)
		needs |= PERF_SAMPLE_TIME;
	if (w->comms || has_numbers(w->pids) || has_numbers(w->tids))
		needs |= PERF_SAMPLE_TID;
	return needs;
}

/* per sample */
bool trace_where_has(const struct trace_where *w, struct visit *v)
{
	const struct sample *s = v->sample;

	return (!w->cpus || !w->cpus->n || cpus_has(w->cpus, s->cpu)) &&
		(!w->spans || spans_have(w->spans, visit_said_time(v))) &&
		(!w->switching || switching_has(w->switching, v->time)) &&
		(!has_numbers(w->pids) || num_list_has(w->pids, s->pid)) &&
		(!has_numbers(w->tids) || num_list_has(w->tids, s->tid)) &&
		(!w->comms || is_named(w->comms, visit_state(v)->comm));
}
