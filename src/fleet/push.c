#include "fleet/push.h"

#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/num.h"
#include "fleet/schema.h"

enum {
	GROUP_ROWS = 50000,     /* in one request */
	GROUP_BYTES = 16 << 20, /* before they are packed */
	GROUP_STACKS = 8000,    /* their hashes fit in one statement */
	PAUSE_MS = 200,         /* after the first failure; doubled after each */
	PAUSE_MOST_MS = 30000,
	REMEMBERED_STACKS = 1 << 20,
	NUMBER_BYTES = 32,
	GROUP_WORDS = 100000, /* bytes of the lists in a statement */
};

#define DAY_NS (86400 * 1000000000ULL)

int push_open(struct push *p, const struct push_options *o, struct err *err)
{
	*p = (struct push){.options = *o,
		.jitter = {clock_ns_of(CLOCK_REALTIME)},
		.is_unclear = true};
	return fleetserver_prepare(&p->server, o->url, o->timeout_ms, err);
}

void push_close(struct push *p)
{
	push_forget(p);
	str_fini(&p->stacks);
	str_fini(&p->samples);
	str_fini(&p->batches);
	str_fini(&p->ids);
	str_fini(&p->done);
	str_fini(&p->part);
	str_fini(&p->times);
	str_fini(&p->hosts);
	table_fini(&p->sent);
	vec_fini(&p->stacks_sent);
	fleetserver_close(&p->server);
}

static void clear_waiting(struct push *p)
{
	str_clear(&p->stacks);
	str_clear(&p->samples);
	str_clear(&p->batches);
	str_clear(&p->ids);
	str_clear(&p->done);
	str_clear(&p->part);
	str_clear(&p->times);
	str_clear(&p->hosts);
	p->n_rows = p->n_batch_rows = 0;
}

void push_forget(struct push *p)
{
	clear_waiting(p);
	/* Whether its stacks arrived nobody knows. */
	table_clear(&p->sent);
	p->stacks_sent.n = p->n_confirmed = 0;
	p->is_unclear = true;
}

/* ---- one request, until it is clear that its rows are there ---- */

struct delivery {
	enum schema_table table;
	const struct str *rows;
	struct str there; /* the query that counts its rows in the store */
	u64 n;            /* rows */
};

/* Another thread may set it earlier. */
static u64 deadline_of(const struct push *p)
{
	return __atomic_load_n(&p->options.deadline_ns, __ATOMIC_RELAXED);
}

/* Waits before the next attempt; false: there is no time left. */
static bool may_try_again(struct push *p, u32 attempt, const struct err *err)
{
	const u32 most = MIN((u32)PAUSE_MS << MIN(attempt, 10u), (u32)PAUSE_MOST_MS);
	const u32 pause = most / 2 + random_below(&p->jitter, most / 2 + 1);
	const u64 end = deadline_of(p);

	if (attempt + 1 >= p->options.n_attempts ||
		(end && clock_in_ms((int)pause) + (u64)PAUSE_MS * 1000000 > end))
		return false;
	log_debug(p->options.log, "attempt %u: %s; the next one in %u ms", attempt + 1, err->msg,
		pause);
	poll(NULL, 0, (int)pause);
	return true;
}

static void limit_time(struct push *p)
{
	const u64 end = deadline_of(p);

	p->server.timeout_ms = p->options.timeout_ms;
	if (end)
		p->server.timeout_ms = MIN(p->server.timeout_ms, (u32)MAX(clock_left_ms(end), 1));
}

/* Whether all rows are in the store. */
static enum fleetserver_outcome look(struct push *p, const struct delivery *d, bool *ret_there,
	struct err *err)
{
	const char *text;
	u64 n;

	if (fleetserver_select(&p->server, str_text(&d->there), "TabSeparated", NUMBER_BYTES, err))
		return p->server.answer.status >= 300 && p->server.answer.status < 500
			? FLEETSERVER_REFUSED
			: FLEETSERVER_UNCLEAR;
	text = str_text(&p->server.answer.text);
	if (!num_scan(&text, 10, &n) || *text != '\n' || text[1]) {
		err_set(err, ERR_INVAL, "'%s' answers, but not with a number of rows",
			p->options.url->server);
		return FLEETSERVER_UNCLEAR;
	}
	*ret_there = n >= d->n;
	return FLEETSERVER_DONE;
}

static u64 token_of(const struct str *rows)
{
	u64 token = hash_lasting(rows->n, 0);

	for (size_t i = 0; i < rows->n; i += 8) {
		u64 word = 0;

		memcpy(&word, rows->at + i, MIN(rows->n - i, (size_t)8));
		token = hash_lasting(token, word);
	}
	return token;
}

static enum fleetserver_outcome attempt(struct push *p, const struct delivery *d, bool *unclear,
	struct err *err)
{
	enum fleetserver_outcome outcome = FLEETSERVER_DONE;
	bool is_there = false;

	limit_time(p);
	if (!p->server.version && fleetserver_ask_version(&p->server, err))
		return p->server.answer.status >= 300 && p->server.answer.status < 500
			? FLEETSERVER_REFUSED
			: FLEETSERVER_UNCLEAR;
	if (*unclear)
		outcome = look(p, d, &is_there, err);
	if (outcome != FLEETSERVER_DONE || is_there) {
		p->n_there += is_there;
		return outcome;
	}
	limit_time(p);
	*unclear = true;
	p->n_attempts++;
	return fleetserver_insert(&p->server, schema_name(d->table), d->rows, token_of(d->rows),
		err);
}

static int deliver(struct push *p, const struct delivery *d, struct err *err)
{
	/* Stacks that are sent twice do no harm. */
	bool unclear = p->is_unclear && d->table != SCHEMA_STACKS;

	for (u32 i = 0;; i++) {
		*err = (struct err){0};
		switch (attempt(p, d, &unclear, err)) {
		case FLEETSERVER_DONE:
			p->n_bytes += d->rows->n;
			return 0;
		case FLEETSERVER_REFUSED:
			return err->code;
		case FLEETSERVER_UNCLEAR:
			break;
		}
		if (!may_try_again(p, i, err))
			return err_prefix(err, "%u attempts failed, the last one", i + 1);
	}
}

/* ---- what is sent together ---- */

static void add_number(struct str *list, u64 v)
{
	str_add(list, list->n ? "," : "");
	num_add_u64(list, v);
}

static int by_number(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The hashes that wait, each once, as a list; how many that are. */
static u64 list_stacks(const struct push *p, struct str *list)
{
	const size_t n = p->stacks_sent.n - p->n_confirmed;
	u64 *hashes = mem_alloc((n + 1) * sizeof(*hashes)), n_distinct = 0;

	for (size_t i = 0; i < n; i++)
		hashes[i] = p->stacks_sent.at[p->n_confirmed + i].hash;
	qsort(hashes, n, sizeof(*hashes), by_number);
	for (size_t i = 0; i < n; i++) {
		if (i && hashes[i] == hashes[i - 1])
			continue;
		add_number(list, hashes[i]);
		n_distinct++;
	}
	mem_free(hashes);
	return n_distinct;
}

static int send_stacks(struct push *p, struct err *err)
{
	struct delivery d = {SCHEMA_STACKS, &p->stacks, {0}, 0};
	struct str list = {0};
	int result = 0;

	d.n = list_stacks(p, &list);
	str_addf(&d.there, "SELECT uniqExact(hash) FROM %s WHERE hash IN (%s)",
		schema_name(SCHEMA_STACKS), str_text(&list));
	/* One that was sent long ago may be dropped soon. */
	if (d.n)
		str_addf(&d.there, " AND time >= toDateTime(%llu)",
			(unsigned long long)(p->day * (DAY_NS / 1000000000)));
	if (d.n)
		result = deliver(p, &d, err);
	if (!result) {
		p->n_sent_stacks += d.n;
		p->n_confirmed = p->stacks_sent.n;
		str_clear(&p->stacks);
	}
	str_fini(&list);
	str_fini(&d.there);
	return result;
}

static int send_samples(struct push *p, struct err *err)
{
	struct delivery d = {SCHEMA_SAMPLES, &p->samples, {0}, p->n_rows};
	int result = 0;

	if (!p->n_rows)
		return 0;
	/* The host and the times are what the table is sorted by. */
	str_addf(&d.there,
		"SELECT uniqExact(batch, row) FROM %s WHERE host IN (%s) AND time IN (%s) AND (%s%s%s%s%s)",
		schema_name(SCHEMA_SAMPLES), str_text(&p->hosts), str_text(&p->times),
		p->ids.n ? "batch IN (" : "", str_text(&p->ids), p->ids.n ? ")" : "",
		p->ids.n && p->part.n ? " OR " : "", str_text(&p->part));
	result = deliver(p, &d, err);
	p->n_sent_rows += result ? 0 : p->n_rows;
	str_fini(&d.there);
	return result;
}

static int send_batches(struct push *p, struct err *err)
{
	struct delivery d = {SCHEMA_BATCHES, &p->batches, {0}, p->n_batch_rows};
	int result = 0;

	if (!p->n_batch_rows)
		return 0;
	str_addf(&d.there,
		"SELECT uniqExact(batch) FROM %s WHERE host IN (%s) AND time IN (%s) AND batch IN (%s)",
		schema_name(SCHEMA_BATCHES), str_text(&p->hosts), str_text(&p->times),
		str_text(&p->done));
	result = deliver(p, &d, err);
	p->n_batches += result ? 0 : p->n_batch_rows;
	str_fini(&d.there);
	return result;
}

int push_flush(struct push *p, struct err *err)
{
	if (send_stacks(p, err) || send_samples(p, err) || send_batches(p, err)) {
		push_forget(p);
		return err->code;
	}
	clear_waiting(p);
	p->is_unclear = !p->options.remembers;
	return 0;
}

/* A stack that is sent for another host lies on another server of a cluster. */
static void take_stack(struct push *p, const struct rowtext *t, u32 stack)
{
	const u64 hash = t->batch->stacks.at[stack].hash, key = hash_lasting(hash, t->host_hash);
	struct table_probe probe = table_probe(&p->sent, hash_u64(key));
	u32 i;

	while ((i = table_next(&p->sent, &probe)) != TABLE_NONE)
		if (p->stacks_sent.at[i].key == key)
			return;
	table_add(&p->sent, hash_u64(key), (u32)p->stacks_sent.n);
	vec_add(&p->stacks_sent, ((struct push_stack){key, hash}));
	rowtext_add_stack(t, stack, &p->stacks);
}

/* Stacks are sent again each day, so that only those that nobody sends grow old. */
static void begin_day(struct push *p, u64 start_ns)
{
	const u64 day = start_ns / DAY_NS;

	if (day == p->day && p->stacks_sent.n < REMEMBERED_STACKS)
		return;
	if (p->n_confirmed == p->stacks_sent.n) {
		table_clear(&p->sent);
		p->stacks_sent.n = p->n_confirmed = 0;
		p->day = day;
	}
}

static void add_once(struct str *list, const char *text)
{
	/* Lists are short, or all alike. */
	if (!strstr(str_text(list), text))
		str_addf(list, "%s%s", list->n ? "," : "", text);
}

/* Rows [first, last) of a batch wait: all of them, or a part, of which there is one at a time. */
static void take_rows(struct push *p, const struct rowtext *t, size_t first, size_t last)
{
	struct str text = {0};

	if (!first && last == t->batch->rows.n) {
		add_number(&p->ids, t->id);
	} else {
		str_clear(&p->part);
		str_addf(&p->part, "(batch = %llu AND row >= %zu AND row < %zu)",
			(unsigned long long)t->id, first, last);
	}
	fleetserver_quote(&text, t->host);
	add_once(&p->hosts, str_text(&text));
	str_clear(&text);
	str_addf(&text, "toDateTime(%llu)", (unsigned long long)(t->batch->start_ns / 1000000000));
	add_once(&p->times, str_text(&text));
	str_fini(&text);
}

static bool is_full(const struct push *p)
{
	return p->n_rows >= GROUP_ROWS || p->stacks_sent.n - p->n_confirmed >= GROUP_STACKS ||
		p->samples.n + p->stacks.n + p->batches.n >= GROUP_BYTES ||
		p->ids.n + p->times.n >= GROUP_WORDS;
}

static int add_rows(struct push *p, const struct rowtext *t, struct err *err)
{
	const struct batch *b = t->batch;
	size_t first = 0;

	for (size_t i = 0; i < b->rows.n; i++) {
		take_stack(p, t, b->rows.at[i].stack);
		rowtext_add_sample(t, i, &p->samples);
		p->n_rows++;
		if (!is_full(p) || i + 1 == b->rows.n)
			continue;
		take_rows(p, t, first, i + 1);
		if (push_flush(p, err))
			return err->code;
		first = i + 1;
	}
	take_rows(p, t, first, b->rows.n);
	return 0;
}

int push_add(struct push *p, const struct batch *b, struct err *err)
{
	struct rowtext t;
	int result;

	begin_day(p, b->start_ns);
	rowtext_init(&t, b, p->options.service);
	/* Only one part of a batch at a time. */
	result = p->part.n ? push_flush(p, err) : 0;
	if (!result)
		result = add_rows(p, &t, err);
	if (!result) {
		rowtext_add_batch(&t, &p->batches);
		add_number(&p->done, t.id);
		p->n_batch_rows++;
		if (is_full(p))
			result = push_flush(p, err);
	}
	rowtext_fini(&t);
	return result;
}
