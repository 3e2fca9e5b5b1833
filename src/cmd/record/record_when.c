#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/selfname.h"
#include "cmd/record/recording.h"

enum { LOOK_NS = 10000000, SLACK_NS = 100000, TRIES = 3 };

/* The events to count for a term. */
static const char *words_of(const struct condition_term *t)
{
	switch (t->kind) {
	case CONDITION_IPC:
		return "{instructions,cycles}";
	case CONDITION_UTIL:
		return "task-clock";
	case CONDITION_RATE:
		break;
	}
	return t->name;
}

/* ---- opening ---- */

static int parse_term(struct recording *rec, const struct condition_term *t,
	struct record_when_term *ret, struct err *err)
{
	struct event_words words = {0};
	int r;

	if (t->kind == CONDITION_UTIL && rec->target.is_system_wide)
		return err_set(err, ERR_UNSUPPORTED,
			"cpu-util measures how long the tasks of a command or of processes (-p, -t) run; there is no such counter for the whole system");
	event_words_event(&words, words_of(t), err);
	r = event_words_parse(&words, NULL, &ret->events, &rec->log, err);
	event_words_fini(&words);
	return r;
}

static int open_term(struct recording *rec, const struct condition_term *t,
	struct record_when_term *ret, struct err *err)
{
	const struct counting_options options = {.is_command = rec->measures_workload,
		.no_inherit = !(rec->events.at[0].attr.flags & ATTR_INHERIT)};

	if (counting_open(&ret->counting, &ret->events, &rec->target, &options, &rec->log, err))
		return err->code;
	for (size_t i = 0; i < ret->events.n; i++) {
		if (!ret->counting.why[i].code)
			continue;
		*err = ret->counting.why[i];
		return err->code;
	}
	if (!ret->counting.counters.n)
		return err_set(err, ERR_UNSUPPORTED, "'%s' cannot be counted", t->name);
	return rec->measures_workload ? 0 : counting_enable(&ret->counting, err);
}

static void close_terms(void *ctx)
{
	struct recording *rec = ctx;

	for (size_t i = 0; i < rec->when.condition.terms.n; i++)
		counting_close(&rec->when.terms[i].counting);
}

static int open_terms(void *ctx, struct err *err)
{
	struct recording *rec = ctx;
	struct record_when *w = &rec->when;

	for (size_t i = 0; i < w->condition.terms.n; i++) {
		if (!open_term(rec, &w->condition.terms.at[i], &w->terms[i], err))
			continue;
		close_terms(rec);
		return err_prefix(err, "--when %s", w->condition.terms.at[i].name);
	}
	return 0;
}

/* Reopens the counters of a CPU; what they counted before is kept. */
static size_t count_again(void *ctx, s32 cpu)
{
	struct recording *rec = ctx;
	size_t n_failed = 0;

	for (size_t i = 0; i < rec->when.condition.terms.n; i++) {
		struct counting *c = &rec->when.terms[i].counting;

		counting_read(c);
		n_failed += counting_reopen_cpu(c, cpu, true);
	}
	return n_failed;
}

static int add(struct recording *rec, struct err *err)
{
	struct record_when *w = &rec->when;

	if (!rec->options->timing.when)
		return 0;
	if (condition_parse(&w->condition, rec->options->timing.when, err))
		return err_prefix(err, "--when");
	w->terms = mem_zalloc(w->condition.terms.n * sizeof(*w->terms));
	w->values = mem_zalloc(w->condition.terms.n * sizeof(*w->values));
	for (size_t i = 0; i < w->condition.terms.n; i++) {
		const struct condition_term *t = &w->condition.terms.at[i];

		if (parse_term(rec, t, &w->terms[i], err))
			return err_prefix(err, "--when %s", t->name);
	}
	attach_add(&rec->attach, &(struct attach_part){rec, open_terms, close_terms, count_again});
	return 0;
}

static void close_condition(struct recording *rec)
{
	struct record_when *w = &rec->when;

	for (size_t i = 0; w->terms && i < w->condition.terms.n; i++) {
		counting_close(&w->terms[i].counting);
		event_list_fini(&w->terms[i].events);
	}
	mem_free(w->terms);
	mem_free(w->values);
	condition_fini(&w->condition);
}

/* ---- looking ---- */

/* Everything that an event has counted, scaled up for the time in which it was not on the PMU. */
static double total_of(const struct counting *c, u32 event)
{
	double total = 0;

	for (size_t i = 0; i < c->counters.n; i++) {
		const struct reading *r = &c->readings[i];

		if ((event == TABLE_NONE || c->counters.at[i].event == event) && r->running_ns)
			total += (double)r->value * (double)r->enabled_ns / (double)r->running_ns;
	}
	return total;
}

/*
 * Reads the counters again if something else ran in between: then the time that the counts are of is unknown, and they
 * go on counting.
 */
static void read_term(struct record_when_term *t)
{
	for (unsigned n = 0; n < TRIES; n++) {
		u64 begin = clock_now_ns(), took;

		counting_read(&t->counting);
		took = clock_now_ns() - begin;
		t->read_ns = begin + took / 2;
		t->quick_ns = t->quick_ns ? MIN(t->quick_ns, took) : took;
		if (took <= 4 * t->quick_ns + SLACK_NS)
			return;
	}
}

static double look_at(struct record_when_term *t, enum condition_kind kind)
{
	double was = t->total, cycles_was = t->cycles;
	u64 was_ns = t->read_ns;

	read_term(t);
	if (kind == CONDITION_IPC) {
		t->total = total_of(&t->counting, 0);
		t->cycles = total_of(&t->counting, 1);
		return t->cycles > cycles_was ? (t->total - was) / (t->cycles - cycles_was) : NAN;
	}
	t->total = total_of(&t->counting, TABLE_NONE);
	/* A clock counts ns. */
	return (t->total - was) / (double)(t->read_ns - was_ns) *
		(kind == CONDITION_UTIL ? 1 : 1e9);
}

static u64 due(const struct recording *rec)
{
	return rec->options->timing.when ? rec->when.looked_ns + LOOK_NS : UINT64_MAX;
}

static const char *wants_file(struct recording *rec)
{
	struct record_when *w = &rec->when;
	u64 now = clock_now_ns();
	bool is_first = !w->looked_ns, is_resting;

	if (!rec->options->timing.when || (!is_first && now - w->looked_ns < LOOK_NS))
		return NULL;
	w->looked_ns = now;
	for (size_t i = 0; i < w->condition.terms.n; i++)
		w->values[i] = look_at(&w->terms[i], w->condition.terms.at[i].kind);
	if (is_first || !condition_look(&w->condition, now, w->values))
		return NULL;
	/* It fires again only when the window holds new records; then a condition that still holds is news. */
	is_resting = w->fired_ns && now < w->fired_ns + rec->options->timing.ring_ns;
	if (is_resting) {
		w->condition.has_fired = false;
		return NULL;
	}
	w->fired_ns = now;
	str_addf(&rec->ring.note, "when: %s: ", rec->options->timing.when);
	condition_add_values(&w->condition, &rec->ring.note);
	str_addc(&rec->ring.note, '\n');
	if (!rec->options->is_quiet) {
		struct str text = {0};

		condition_add_values(&w->condition, &text);
		fprintf(stderr, "[ %s record: --when %s: %s ]\n", program_name(),
			rec->options->timing.when, str_text(&text));
		str_fini(&text);
	}
	return "--when";
}

const struct record_watcher record_when_watcher = {
	.add = add,
	.due = due,
	.wants_file = wants_file,
	.close = close_condition,
};
