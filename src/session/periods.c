#include "session/periods.h"

#include "base/hash.h"
#include "event/abi.h"

void periods_fini(struct periods *p)
{
	vec_fini(&p->counters);
	table_fini(&p->index);
	vec_fini(&p->lives);
	table_fini(&p->life_index);
	memset(p, 0, sizeof(*p));
}

/* NULL: no thread got that tid during the recording. */
static struct periods_life *life_of(struct periods *p, u32 tid)
{
	struct table_probe probe = table_probe(&p->life_index, hash_u64(tid));
	u32 i;

	while ((i = table_next(&p->life_index, &probe)) != TABLE_NONE)
		if (p->lives.at[i].tid == tid)
			return &p->lives.at[i];
	return NULL;
}

void periods_begin_thread(struct periods *p, u32 tid)
{
	struct periods_life *life = life_of(p, tid);

	if (life) {
		life->n++;
		return;
	}
	table_add(&p->life_index, hash_u64(tid), (u32)p->lives.n);
	vec_add(&p->lives, ((struct periods_life){tid, 1}));
}

/* Values without ids are in the order of the group, the leader's first. */
static u32 event_by_place(const struct event_list *events, u32 event, u64 n_values, u64 i)
{
	u32 leader = events->at[event].leader;

	if (n_values == 1)
		return event;
	if (leader >= events->n || events->at[leader].n_members != n_values)
		return i ? TABLE_NONE : event;
	return leader + (u32)i;
}

static u32 event_of(const struct formats *f, const struct event_list *events, u32 event,
	const struct sample_read *read, u64 i)
{
	const struct sample_format *format = &f->at[event];
	u64 id = sample_read_value(format, read, i).id;

	if (!(format->read_format & PERF_FORMAT_ID))
		return event_by_place(events, event, read->n_values, i);
	/* The only event of a recording may have no ids in it. */
	return !id || !f->n_ids ? event : formats_event_of_id(f, id);
}

/* per value */
u32 periods_counter(struct periods *p, const struct formats *f, const struct event_list *events,
	u32 event, const struct sample *sample, u64 i)
{
	const struct sample_format *format = &f->at[event];
	bool is_inherited =
		     events->at[event].attr.flags & ATTR_INHERIT && format->type & PERF_SAMPLE_TID,
	     has_id = format->read_format & PERF_FORMAT_ID;
	struct periods_counter counter = {.event = TABLE_NONE,
		.id = has_id ? sample_read_value(format, &sample->read, i).id
			     : sample->id ^ hash_u64(i + 1),
		.tid = is_inherited ? sample->tid : 0};
	u64 hash = hash_mix(counter.id, counter.tid);
	struct table_probe probe = table_probe(&p->index, hash);
	u32 at;

	while ((at = table_next(&p->index, &probe)) != TABLE_NONE)
		if (p->counters.at[at].id == counter.id && p->counters.at[at].tid == counter.tid)
			break;
	if (at == TABLE_NONE) {
		at = (u32)p->counters.n;
		table_add(&p->index, hash, at);
		vec_add(&p->counters, counter);
	}
	/* An event may be described after its first samples. */
	if (p->counters.at[at].event == TABLE_NONE)
		p->counters.at[at].event = event_of(f, events, event, &sample->read, i);
	return at;
}

/* per value */
u64 periods_advance(struct periods *p, u32 counter, u64 value, u64 time)
{
	struct periods_counter *c = &p->counters.at[counter];
	struct periods_life *life = c->tid ? life_of(p, c->tid) : NULL;
	u64 before = c->value;

	if (life && life->n != c->life) {
		c->life = life->n;
		before = 0;
	} else if (time < c->time) {
		return 0;
	}
	c->value = value;
	c->time = time;
	return value >= before ? value - before : value;
}

struct periods_value periods_take(struct periods *p, const struct formats *f,
	const struct event_list *events, u32 event, const struct sample *sample, u64 i, u64 time)
{
	u32 counter = periods_counter(p, f, events, event, sample, i);
	u64 value = sample_read_value(&f->at[event], &sample->read, i).value;

	return (struct periods_value){p->counters.at[counter].event,
		periods_advance(p, counter, value, time)};
}
