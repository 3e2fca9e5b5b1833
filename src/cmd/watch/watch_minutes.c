#include "cmd/watch/watch_minutes.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "cmd/version.h"
#include "fleet/service.h"
#include "fleet/timerange.h"
#include "profile/check/ledger.h"
#include "profile/tree/batching.h"

#define NS 1000000000ULL

/* Threads of the kernel's pool have names for each piece of work. */
#define POOL "kworker/"

int watch_minutes_open(struct watch_minutes *m, const struct watch_options *o, struct feed *feed,
	struct log *log, struct err *err)
{
	char path[STORE_PATH];

	*m = (struct watch_minutes){.options = o,
		.feed = feed,
		.log = log,
		.store = {.lock = -1, .fd = -1, .store.fd = -1},
		.odd.folder.fd = -1};
	m->end_ns = clock_ns_of(CLOCK_REALTIME);
	if (watch_store_path(o, false, path, err) ||
		storewriter_open(&m->store, path, o->size_bytes, log, err))
		return err->code;
	m->store.besides = watch_odd_bytes;
	m->store.ctx = &m->odd;
	return watch_odd_open(&m->odd, o, path, feed, log, err);
}

void watch_minutes_close(struct watch_minutes *m)
{
	storewriter_close(&m->store);
	watch_odd_close(&m->odd);
	vec_fini(&m->labels);
}

/* ---- labels ---- */

static const char *comm_of(const struct profile *p, size_t row)
{
	const char *comm = profile_text(profile_label(p, row, LABEL_COMM));

	if (!comm)
		return "";
	return !strncmp(comm, POOL, strlen(POOL)) ? "kworker" : comm;
}

static void label_row(void *ctx, struct batch *b, const struct profile *p, size_t row, u32 *cells)
{
	const struct watch_minutes *m = ctx;
	const char *comm = comm_of(p, row);
	struct str service = {0};

	cells[1] = batch_add_string(b, comm);
	if (m->options->service)
		cells[0] = m->service;
	else if (service_add(profile_text(profile_label(p, row, LABEL_CGROUP)), &service))
		cells[0] = batch_text(b, str_text(&service), service.n);
	else
		cells[0] = cells[1];
	for (size_t i = 0; i < m->labels.n; i++)
		cells[2 + i] = m->labels.at[i];
	str_fini(&service);
}

static void add_columns(struct watch_minutes *m, struct batch *b)
{
	const struct watch_options *o = m->options;
	char key[256];

	batch_column(b, "service");
	batch_column(b, "comm");
	m->service = batch_add_string(b, o->service);
	m->labels.n = 0;
	for (size_t i = 0; i < o->labels.n; i++) {
		size_t n;
		const char *value = watch_label_value(o->labels.at[i], &n);

		snprintf(key, sizeof(key), "%.*s", (int)MIN(n, sizeof(key) - 1), o->labels.at[i]);
		batch_column(b, key);
		vec_add(&m->labels, batch_add_string(b, value));
	}
}

static void add_facts(const struct watch_minutes *m, const struct feed_facts *facts,
	struct batch *b)
{
	const struct watch_options *o = m->options;
	const struct pacing *pacing = &m->feed->pacing;
	struct utsname name;
	char text[128];

	if (!uname(&name)) {
		batch_say(b, "host", name.nodename);
		batch_say(b, "kernel", name.release);
		batch_say(b, "arch", name.machine);
	}
	batch_say(b, "writer", version_text());
	batch_say(b, "of", m->feed->whose);
	for (size_t i = 0; i < o->labels.n; i++) {
		size_t n;
		const char *value = watch_label_value(o->labels.at[i], &n);

		snprintf(text, sizeof(text), "label.%.*s", (int)MIN(n, (size_t)100),
			o->labels.at[i]);
		batch_say(b, text, value);
	}
	if (o->record.frequency)
		batch_say(b, "hz", o->record.frequency);
	if (pacing->recorder && pacing->governor.rate < 1) {
		snprintf(text, sizeof(text), "%.3f", pacing->governor.rate);
		batch_say(b, "rate", text);
	}
	snprintf(text, sizeof(text), "%.3f", facts->own_cpu_pct);
	batch_say(b, "own_cpu_pct", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)facts->own_bytes);
	batch_say(b, "own_bytes", text);
}

/* ---- losses ---- */

/* What was lost since the batch before. */
static struct session_tally since(const struct session_tally *now,
	const struct session_tally *before)
{
	struct session_tally t = {.n_samples = now->n_samples - before->n_samples,
		.n_lost_records = now->n_lost_records - before->n_lost_records,
		.n_lost_samples = now->n_lost_samples - before->n_lost_samples,
		.n_throttled = now->n_throttled - before->n_throttled,
		.n_undecoded = now->n_undecoded - before->n_undecoded,
		.n_foreign_id = now->n_foreign_id - before->n_foreign_id,
		.n_odd = now->n_odd - before->n_odd,
		.odd_offset = now->odd_offset,
		.oddity = now->oddity,
		.n_not_native = now->n_not_native - before->n_not_native};

	return t;
}

static void add_losses(struct watch_minutes *m, const struct moment *shown, struct batch *b)
{
	const struct session_tally *now = &m->feed->trace.session.tally;
	const struct session_tally lost = since(now, &m->told);
	struct ledger ledger = {0};

	ledger_add_tally(&ledger, &lost);
	ledger_add_nameless(&ledger, &shown->profile, &m->feed->trace.resolver);
	ledger_to_batch(&ledger, b);
	ledger_fini(&ledger);
	batch_lose(b, ledger_key(LEDGER_UNKEPT), "", "seconds", m->unkept_ns / NS);
	m->told = *now;
}

/* ---- batches ---- */

/* The batch's stretch of time, whole seconds where it can be: refreshes are late by some ms. */
static void set_times(struct watch_minutes *m, const struct feed_facts *facts, struct batch *b)
{
	const u64 late = facts->time_ns % m->options->every_ns;
	const u64 hour = facts->time_ns % STORE_HOUR_NS;

	b->end_ns = facts->time_ns;
	if (late < NS && late * 4 < m->options->every_ns)
		b->end_ns -= late;
	else if (hour < NS)
		b->end_ns -= hour;
	b->start_ns = m->end_ns;
	/* The clock was set. */
	if (b->start_ns > b->end_ns || b->end_ns - b->start_ns > 2 * facts->span_ns + NS)
		b->start_ns = b->end_ns - MIN(b->end_ns, facts->span_ns);
	m->end_ns = b->end_ns;
}

static void keep(struct watch_minutes *m, const struct batch *b)
{
	struct err err = {0};

	if (!storewriter_append(&m->store, b, &err)) {
		if (m->is_unkept_said)
			log_note(m->log, "the store is written to again; %llu seconds are missing",
				(unsigned long long)(m->unkept_ns / NS));
		m->is_unkept_said = false;
		m->unkept_ns = 0;
		return;
	}
	m->n_unkept++;
	m->unkept_ns += b->end_ns - b->start_ns;
	if (!m->is_unkept_said)
		log_warn(m->log, "%s; counting goes on, and what is not written is missing",
			err.msg);
	m->is_unkept_said = true;
}

static void say(const struct watch_minutes *m, const struct batch *b,
	const struct feed_facts *facts)
{
	struct str text = {0};
	u64 n_samples = 0;

	const char *rate = batch_fact(b, "rate");

	vec_each(e, &b->events)
		n_samples += e->n_samples;
	timerange_add_time(b->end_ns, &text);
	log_debug(m->log,
		"%s: %llu samples, %zu rows, %zu stacks, %llu bytes in the store; %.3f%% of a CPU, %llu KiB of memory%s%s",
		str_text(&text), (unsigned long long)n_samples, b->rows.n, b->stacks.n,
		(unsigned long long)m->store.store.n_bytes, facts->own_cpu_pct,
		(unsigned long long)facts->own_bytes >> 10,
		*rate ? "; sampled less often, by a factor of " : "", rate);
	str_fini(&text);
}

void watch_minutes_take(struct watch_minutes *m, struct moment *shown,
	const struct feed_facts *facts)
{
	const struct batch_labelling labelling = {label_row, m};
	struct batch b;

	batch_init(&b);
	set_times(m, facts, &b);
	add_facts(m, facts, &b);
	add_columns(m, &b);
	batch_add_profile(&b, &shown->profile, &shown->calls, &labelling);
	add_losses(m, shown, &b);
	watch_odd_look(&m->odd, &b);
	keep(m, &b);
	say(m, &b, facts);
	batch_fini(&b);
	moment_fini(shown);
}
