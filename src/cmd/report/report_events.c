#include "cmd/report/report_events.h"

#include "base/json.h"
#include "event/abi.h"

static void add_event(const struct recorded *r, const struct event *e, struct str *text)
{
	const struct event_list *events = &r->trace.session.reader.events;
	const bool has_leader = e->leader < events->n && &events->at[e->leader] != e;
	struct str attr = {0};
	u64 enabled_ns, running_ns;

	str_addc(text, '{');
	json_text(text, "name", e->name);
	if (has_leader)
		json_text(text, "leader", events->at[e->leader].name);
	json_u64(text, "members", e->n_members);
	json_u64(text, e->attr.flags & ATTR_FREQ ? "frequency" : "period", e->attr.sample_period);
	json_u64(text, "precise", attr_precise(&e->attr));
	attr_add_text(&e->attr, ": ", &attr);
	json_text(text, "attr", str_text(&attr));
	if (e->filter)
		json_text(text, "filter", e->filter);
	if (e->cgroup)
		json_text(text, "cgroup", e->cgroup);
	json_u64(text, "counters", e->n_ids);
	if (multiplexing_of(&r->multiplexing, (u32)(e - events->at), &enabled_ns, &running_ns)) {
		json_u64(text, "enabled", enabled_ns);
		json_u64(text, "running", running_ns);
	}
	json_close(text, '}');
	str_fini(&attr);
}

void report_events(const struct recorded *r, struct page_about *about)
{
	const struct session *s = &r->trace.session;
	struct page_document document = {.name = "counters"};
	struct str *text = &document.text;

	str_addc(text, '{');
	json_open(text, "events", '[');
	vec_each(e, &s->reader.events)
		add_event(r, e, text);
	json_close(text, ']');
	json_u64(text, "lost_records", s->tally.n_lost_records);
	json_u64(text, "lost_samples", s->tally.n_lost_samples);
	json_u64(text, "throttled", s->tally.n_throttled);
	json_u64(text, "undecoded", s->tally.n_undecoded);
	json_u64(text, "foreign", s->tally.n_foreign_id);
	json_end(text, '}');
	vec_add(&about->documents, document);
}
