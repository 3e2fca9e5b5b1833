#include "unit/countmaker.h"

#include "test.h"

void countmaker_init(struct countmaker *m)
{
	memset(m, 0, sizeof(*m));
	m->counting.events = &m->events;
	m->counting.readings = m->readings;
	m->counting.why = m->why;
}

void countmaker_fini(struct countmaker *m)
{
	counts_fini(&m->counts);
	vec_fini(&m->counting.counters);
	event_list_fini(&m->events);
}

struct event *countmaker_event(struct countmaker *m, u32 type, u64 config, const char *name)
{
	const struct event_attr attr = {.type = type, .size = ATTR_SIZE_VER7, .config = config};

	return event_add(&m->events, &attr, name);
}

void countmaker_group(struct countmaker *m, u32 n)
{
	u32 leader = m->events.n - n;

	for (u32 i = leader; i < m->events.n; i++) {
		m->events.at[i].leader = leader;
		m->events.at[i].n_members = i == leader ? n : 0;
	}
}

void countmaker_counter(struct countmaker *m, u32 event, s32 cpu, pid_t tid)
{
	if (m->counting.counters.n == COUNTMAKER_MAX)
		test_failed(__FILE__, __LINE__, "more than %d counters", COUNTMAKER_MAX);
	vec_add(&m->counting.counters,
		((struct counter){.fd = -1, .event = event, .cpu = cpu, .tid = tid}));
}

void countmaker_begin(struct countmaker *m, enum counts_scope scope, const char *sys)
{
	counts_init(&m->counts, &m->events, scope);
	countmaker_again(m, sys);
}

static void topology_of(const void *sys, s32 cpu, struct topology *ret)
{
	topology_read(ret, sys, cpu);
}

void countmaker_again(struct countmaker *m, const char *sys)
{
	const struct counts_places places = {topology_of, counts_here.comm, sys};

	memset(m->readings, 0, sizeof(m->readings));
	counts_begin(&m->counts, &m->counting, &places);
}

void countmaker_add(struct countmaker *m, size_t i, u64 value, u64 enabled_ns, u64 running_ns)
{
	m->readings[i].value += value;
	m->readings[i].enabled_ns += enabled_ns;
	m->readings[i].running_ns += running_ns;
}
