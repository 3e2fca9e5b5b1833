#include "collect/record/reweigh.h"

#include "base/hash.h"
#include "event/abi.h"
#include "record/sample.h"

static u32 place_of(const struct sample_format *format, u64 bit)
{
	u32 place;

	return sample_word_place(format, bit, &place) ? (u32)sizeof(struct record_header) + place
						      : 0;
}

void reweigh_init(struct reweigh *r, const struct event_list *events)
{
	struct sample_format format;

	memset(r, 0, sizeof(*r));
	vec_each(e, events) {
		sample_format_init(&format, &e->attr);
		vec_add(&r->events,
			((struct reweigh_places){place_of(&format, PERF_SAMPLE_STREAM_ID),
				place_of(&format, PERF_SAMPLE_TIME),
				place_of(&format, PERF_SAMPLE_PERIOD)}));
		/*
		 * If there are several events, all have an IDENTIFIER; a single event has a
		 * STREAM_ID.
		 */
		r->key = place_of(&format, PERF_SAMPLE_IDENTIFIER);
		if (!r->key)
			r->key = place_of(&format, PERF_SAMPLE_STREAM_ID);
	}
}

void reweigh_fini(struct reweigh *r)
{
	vec_fini(&r->events);
	vec_fini(&r->counters);
	table_fini(&r->by_id);
}

static struct reweigh_counter *find(const struct reweigh *r, u64 id)
{
	struct table_probe probe = table_probe(&r->by_id, hash_u64(id));
	u32 i;

	while ((i = table_next(&r->by_id, &probe)) != TABLE_NONE)
		if (r->counters.at[i].id == id)
			return &r->counters.at[i];
	return NULL;
}

void reweigh_set(struct reweigh *r, u32 event, u64 id, u64 first, u64 period, u64 since)
{
	struct reweigh_counter *c = find(r, id);

	if (!c) {
		table_add(&r->by_id, hash_u64(id), (u32)r->counters.n);
		c = vec_push(&r->counters);
		*c = (struct reweigh_counter){.id = id, .now = first, .event = event};
	}
	c->before = c->now;
	c->now = period;
	c->since = since;
}

/* per sample */
static void reweigh_sample(const struct reweigh *r, u8 *record, u32 size)
{
	const struct reweigh_counter *c =
		r->key + 8 <= size ? find(r, load_u64(record + r->key)) : NULL;
	const struct reweigh_places *p = c ? &r->events.at[c->event] : NULL;
	bool is_before;

	if (!p || !p->period || !p->stream || p->period + 8 > size ||
		load_u64(record + p->stream) != c->id)
		return;
	is_before = p->time && load_u64(record + p->time) < c->since;
	memcpy(record + p->period, is_before ? &c->before : &c->now, sizeof(c->now));
}

void reweigh_records(const struct reweigh *r, u8 *at, size_t n)
{
	struct record_header header;

	if (!r->counters.n || !r->key)
		return;
	for (const u8 *end = at + n; (size_t)(end - at) >= sizeof(header); at += header.size) {
		memcpy(&header, at, sizeof(header));
		/* The records' reader will report the damage. */
		if (!record_is_size_sound(header.type, header.size) || header.size > end - at)
			return;
		if (header.type == PERF_RECORD_SAMPLE)
			reweigh_sample(r, at, header.size);
	}
}
