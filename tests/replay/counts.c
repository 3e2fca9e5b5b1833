/*
 * What events count: the scripts' values, the registers behind slots and topdown-*, what read() returns
 * and what the user page says.
 *
 * A script's values are increments. The first is there at once and the others come as time goes on, or
 * each read that follows a time of counting takes the next one. The members of a group are read at once.
 */
#include "replay.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	FIXED = 1 << 30,   /* rdpmc: INTEL_PMC_FIXED_RDPMC_BASE */
	METRICS = 1 << 29, /* INTEL_PMC_FIXED_RDPMC_METRICS */
	SLOTS_FIXED = 3,
	WIDTH = 48,
	TICK_NS = 100000, /* times are multiples of it, so that shares of them are exact */
};

static const uint64_t MASK = (1ULL << WIDTH) - 1;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- the registers of slots and metrics ---- */

/* Since they were last reset, as a thread's: there is one thread that measures itself so. */
static struct step registers;

static void next_step(void)
{
	const struct step *s;

	if (machine.step >= machine.n_steps)
		return;
	s = &machine.steps[machine.step++];
	registers.slots += s->slots;
	for (unsigned i = 0; i < METRICS_MAX; i++)
		registers.parts[i] += s->parts[i];
}

/* Eight fractions of a byte each, of 0xff. */
static uint64_t metrics_register(void)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < METRICS_MAX && registers.slots; i++)
		v |= (registers.parts[i] * 0xff + registers.slots / 2) / registers.slots << (8 * i);
	return v;
}

static bool is_topdown(const struct event *e)
{
	return machine.n_steps && !e->script && (rules_is_slots(e) || rules_is_metric(e));
}

/* arch/x86/events/intel/core.c, icl_get_metrics_event_value(): fractions of the slots. */
static uint64_t topdown_value(const struct event *e)
{
	uint64_t part = metrics_register() >> ((e->config >> 8 & 7) * 8) & 0xff;

	return rules_is_slots(e) ? registers.slots
				 : (uint64_t)((unsigned __int128)registers.slots * part / 0xff);
}

/* ---- one event ---- */

static uint64_t enabled_now(const struct event *e)
{
	uint64_t ns = e->enabled_ns + (e->is_on ? now_ns() - e->since_ns : 0);

	if (!ns)
		return 0;
	return ns < TICK_NS ? TICK_NS : ns - ns % TICK_NS;
}

static uint64_t running_now(const struct event *e)
{
	return enabled_now(e) / 100 * (e->script ? e->script->running : 100);
}

static bool is_clock(const struct event *e)
{
	return e->attr.type == PERF_TYPE_SOFTWARE &&
		(e->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
			e->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Counts what happened since the last look. */
static void look(struct event *e)
{
	struct script *s = e->script;

	counts_notice_exec();
	if (is_clock(e) && !s) {
		e->count = enabled_now(e);
		return;
	}
	if (!s || !e->was_on)
		return;
	if (s->rate > 0)
		e->count = (uint64_t)(s->rate * (double)running_now(e) / 1e6);
	else if (!s->every_ns && e->n_taken < s->n_values)
		e->count += s->values[e->n_taken++];
	/* In the middle, so that whoever looks at the end of each, sooner or later, finds the same. */
	while (s->every_ns && e->n_taken < s->n_values &&
		(!e->n_taken || enabled_now(e) >= e->n_taken * s->every_ns + s->every_ns / 2))
		e->count += s->values[e->n_taken++];
	e->was_on = e->is_on;
}

void counts_switch(struct event *e, bool is_on)
{
	if (e->is_on == is_on)
		return;
	if (is_on) {
		e->since_ns = now_ns();
		e->was_on = true;
	} else {
		e->enabled_ns += now_ns() - e->since_ns;
	}
	e->is_on = is_on;
	counts_page(e);
}

/* A program that began has another file than the one that started it, or is over already. */
static bool has_begun(pid_t pid)
{
	char path[64], own[512], other[512];
	ssize_t n, m;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, other, sizeof(other));
	m = readlink("/proc/self/exe", own, sizeof(own));
	return n != m || memcmp(own, other, (size_t)m);
}

bool counts_notice_exec(void)
{
	bool is_any = false;

	each_event(e)
	{
		uint64_t now = now_ns();

		if (!e->waits)
			continue;
		if (!has_begun(e->pid)) {
			e->seen_ns = now;
			continue;
		}
		e->waits = false;
		is_any = true;
		/* kernel/events/core.c, perf_event_enable_on_exec(): and members that were not off go with their leader. */
		each_event(other) if (other == e ||
			(other->leader == e && !other->waits && !other->attr.disabled))
		{
			counts_switch(other, true);
			other->since_ns = e->seen_ns;
		}
	}
	return is_any;
}

/*
 * kernel/events/core.c, _perf_event_reset(): reads, then begins at 0. Reading slots and metrics sets their
 * registers to 0 (intel_update_topdown_event()).
 */
void counts_reset(struct event *e)
{
	look(e);
	e->base = e->count;
	if (is_topdown(e)) {
		registers = (struct step){0};
		e->count = e->base = 0;
	}
	counts_page(e);
}

static uint64_t value_of(const struct event *e)
{
	return e->count - e->base;
}

/* ---- reading ---- */

static void read_topdown(struct event *e)
{
	each_event(other) if (other->leader == e->leader && is_topdown(other)) other->count +=
		topdown_value(other);
	registers = (struct step){0};
}

/* What a read of this event takes in: of the leader the whole group. */
static void look_all(struct event *e, bool is_group)
{
	bool has_topdown = false;

	each_event(other)
	{
		if (other != e && (!is_group || other->leader != e))
			continue;
		look(other);
		has_topdown |= is_topdown(other) && other->is_on;
	}
	if (has_topdown) {
		next_step();
		read_topdown(e);
	}
	each_event(other) if (other->leader == e->leader) counts_page(other);
}

static size_t add_value(const struct event *e, uint64_t format, uint64_t *words)
{
	size_t n = 0;

	words[n++] = value_of(e);
	if (format & PERF_FORMAT_ID)
		words[n++] = e->id;
	if (format & PERF_FORMAT_LOST)
		words[n++] = 0;
	return n;
}

static size_t add_times(const struct event *e, uint64_t format, uint64_t *words)
{
	size_t n = 0;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words[n++] = enabled_now(e);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words[n++] = running_now(e);
	return n;
}

/* kernel/events/core.c: perf_read_one(), perf_read_group() */
size_t counts_words(struct event *e, uint64_t words[3 + 3 * 64])
{
	uint64_t format = e->attr.read_format;
	bool is_group = format & PERF_FORMAT_GROUP;
	size_t n = 0, members = 1;

	look_all(e, is_group);
	if (!is_group) {
		uint64_t value[3];
		size_t n_value = add_value(e, format, value);

		words[n++] = value[0];
		n += add_times(e, format, words + n);
		memcpy(words + n, value + 1, (n_value - 1) * sizeof(*value));
		return (n + n_value - 1) * sizeof(*words);
	}
	n = 1 + add_times(e, format, words + 1);
	n += add_value(e, format, words + n);
	each_event(other)
	{
		if (other == e || other->leader != e || members == 64)
			continue;
		n += add_value(other, format, words + n);
		members++;
	}
	words[0] = members;
	return n * sizeof(*words);
}

ssize_t counts_read(struct event *e, void *buffer, size_t size)
{
	uint64_t words[3 + 3 * 64];
	size_t n = counts_words(e, words);

	if (rules_is_slots(e) || rules_is_metric(e))
		replay_log("read of config 0x%llx\n", (unsigned long long)e->config);
	if (size < n) {
		errno = ENOSPC;
		return -1;
	}
	memcpy(buffer, words, n);
	return (ssize_t)n;
}

/* ---- in user space ---- */

/* kernel/events/core.c, perf_event_update_userpage(); x86_pmu_event_idx() has the index. */
void counts_page(struct event *e)
{
	struct perf_event_mmap_page *p = e->page;
	bool is_readable = e->pmu && (e->pmu->kind == KIND_INTEL || e->pmu->kind == KIND_AMD) &&
		!e->pmu->no_rdpmc;

	if (!p)
		return;
	p->lock++;
	__sync_synchronize();
	p->cap_bit0_is_deprecated = 1;
	p->cap_user_rdpmc = is_readable;
	p->cap_user_time = is_readable;
	p->pmc_width = WIDTH;
	p->index = is_readable && e->is_on && running_now(e) ? (uint32_t)e->index : 0;
	/* Other registers go on where they are; of these the event keeps what was before the last reset. */
	p->offset = (int64_t)(is_topdown(e) || !p->index ? value_of(e) : -e->base);
	p->time_enabled = enabled_now(e);
	p->time_running = running_now(e);
	p->time_mult = 0;
	p->time_offset = 0;
	__sync_synchronize();
	p->lock++;
}

/* rdpmc: false where the processor has no such register, or no event uses it. */
bool counts_register(uint32_t number, uint64_t *ret_value)
{
	each_event(e)
	{
		if (!e->is_on || !e->page || !e->page->index || e->page->index - 1 != number)
			continue;
		if (number == METRICS) {
			*ret_value = metrics_register();
			return true;
		}
		if (is_topdown(e) && number == (FIXED | SLOTS_FIXED)) {
			next_step();
			*ret_value = registers.slots & MASK;
			return true;
		}
		look(e);
		*ret_value = e->count & MASK;
		return true;
	}
	return false;
}
