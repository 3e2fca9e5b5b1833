/*
 * Samples that were written down, in the form that the kernel writes into rings.
 *
 * Source   kernel/events/core.c, perf_output_sample(): the order of the fields
 */
#include "replay.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

struct record {
	unsigned char at[2048];
	size_t n;
};

static void put(struct record *r, uint64_t v)
{
	memcpy(r->at + r->n, &v, sizeof(v));
	r->n += sizeof(v);
}

static void put_pair(struct record *r, uint32_t a, uint32_t b)
{
	put(r, a | (uint64_t)b << 32);
}

static uint64_t time_of(const struct event *e)
{
	struct timespec t;

	clock_gettime(e->attr.use_clockid ? e->attr.clockid : CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put_counts(struct record *r, struct event *e)
{
	uint64_t words[3 + 3 * 64];
	size_t n = counts_words(e, words);

	memcpy(r->at + r->n, words, n);
	r->n += n;
}

static void put_weight(struct record *r, const struct event *e, const struct scripted_sample *s)
{
	if (e->attr.sample_type & PERF_SAMPLE_WEIGHT)
		put(r, s->weight);
	/* union perf_sample_weight: 32 bits of latency, 16 of the instruction's, 16 of retirement's. */
	if (e->attr.sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		put(r,
			(s->weight & 0xffffffff) | (s->ins_latency & 0xffff) << 32 |
				(s->retire_latency & 0xffff) << 48);
}

/* perf_output_sample_regs(): those of the mask, AX first. */
static void put_registers(struct record *r, uint64_t mask, const struct scripted_sample *s)
{
	put(r, s->has_ax ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	for (; s->has_ax && mask; mask &= mask - 1)
		put(r, mask & 1 ? s->ax : 0);
}

static void put_fields(struct record *r, struct event *e, const struct scripted_sample *s)
{
	uint64_t type = e->attr.sample_type;
	uint32_t pid = (uint32_t)(e->pid > 0 ? e->pid : getpid());

	if (type & PERF_SAMPLE_IDENTIFIER)
		put(r, e->id);
	if (type & PERF_SAMPLE_IP)
		put(r, s->ip);
	if (type & PERF_SAMPLE_TID)
		put_pair(r, pid, pid);
	if (type & PERF_SAMPLE_TIME)
		put(r, time_of(e));
	if (type & PERF_SAMPLE_ADDR)
		put(r, s->addr);
	if (type & PERF_SAMPLE_ID)
		put(r, e->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put(r, e->id);
	if (type & PERF_SAMPLE_CPU)
		put_pair(r, e->cpu > 0 ? (uint32_t)e->cpu : 0, 0);
	if (type & PERF_SAMPLE_PERIOD)
		put(r, s->period ? s->period : e->attr.sample_period);
	/* Of a member the kernel reads the leader's group: perf_output_read_group(). */
	if (type & PERF_SAMPLE_READ)
		put_counts(r, e->attr.read_format & PERF_FORMAT_GROUP ? e->leader : e);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put(r, s->n_chain ? s->n_chain : 2);
		for (unsigned i = 0; i < s->n_chain; i++)
			put(r, s->chain[i]);
		if (!s->n_chain) {
			put(r, PERF_CONTEXT_USER);
			put(r, s->ip);
		}
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		put(r, s->n_branch_words / 3);
		if (e->attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
			put(r, 0);
		for (unsigned i = 0; i < s->n_branch_words / 3 * 3; i++)
			put(r, s->branches[i]);
	}
	if (type & PERF_SAMPLE_REGS_USER)
		put(r, PERF_SAMPLE_REGS_ABI_NONE);
	if (type & PERF_SAMPLE_STACK_USER)
		put(r, 0);
	put_weight(r, e, s);
	if (type & PERF_SAMPLE_DATA_SRC)
		put(r, s->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		put(r, s->transaction);
	if (type & PERF_SAMPLE_REGS_INTR)
		put_registers(r, e->attr.sample_regs_intr, s);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		put(r, 0);
}

static void add_to_ring(struct event *ring, const struct record *r)
{
	struct perf_event_mmap_page *page = ring->page;
	uint64_t head = page->data_head;
	unsigned char *data = (unsigned char *)page + page->data_offset;

	if (page->data_size - (head - page->data_tail) < r->n) {
		replay_log("lost a sample: the ring is full\n");
		return;
	}
	for (size_t i = 0; i < r->n; i++)
		data[(head + i) & (page->data_size - 1)] = r->at[i];
	__sync_synchronize();
	page->data_head = head + r->n;
}

void samples_deliver(struct event *e)
{
	struct event *ring = e->output ? e->output : e;

	if (!e->attr.sample_period || !e->is_on || e->is_delivered || !ring->page ||
		!ring->page->data_size)
		return;
	e->is_delivered = true;
	for (unsigned i = 0; i < machine.n_samples; i++) {
		const struct scripted_sample *s = &machine.samples[i];

		if (s->type != (e->pmu ? e->pmu->type : e->attr.type) || s->config != e->config)
			continue;
		for (uint64_t k = 0; k < s->count; k++) {
			struct record r = {.n = sizeof(struct perf_event_header)};
			struct perf_event_header header = {PERF_RECORD_SAMPLE,
				PERF_RECORD_MISC_USER, 0};

			put_fields(&r, e, s);
			header.size = (uint16_t)r.n;
			memcpy(r.at, &header, sizeof(header));
			add_to_ring(ring, &r);
		}
		event_wake(ring);
	}
}
