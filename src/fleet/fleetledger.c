#include "fleet/fleetledger.h"

#include <time.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/table.h"

enum {
	SUMS_MOST = 64 << 20, /* bytes of an answer with a row for each minute, or each batch */
	NAMES_MOST = 1 << 20, /* with names */
	NAMED_MOST = 5,       /* hosts that are named in one loss */
	LOSSES_MOST = 100,    /* kinds of losses that hosts told of */
	BEFORE_LEAST_S = 600, /* a host that was silent so long is not missed */
	SETTLING_S = 120,     /* batches so new may just be on their way */
};

enum need { NEED_SUMS, NEED_LOSSES };

/* Columns of pace_batches, under names that no column has. */
static const struct {
	const char *column, *name;
	enum need need;
} columns[] = {
	{"time", "at", NEED_SUMS},
	{"services", "in_services", NEED_SUMS},
	{"types", "in_types", NEED_SUMS},
	{"row_counts", "in_rows", NEED_SUMS},
	{"sample_sums", "in_samples", NEED_SUMS},
	{"value_sums", "in_values", NEED_SUMS},
	{"host", "of_host", NEED_LOSSES},
	{"lost", "n_lost", NEED_LOSSES},
	{"loss_causes", "causes", NEED_LOSSES},
	{"loss_places", "places", NEED_LOSSES},
	{"loss_units", "units", NEED_LOSSES},
	{"loss_amounts", "amounts", NEED_LOSSES},
};

/* The rows of pace_batches in the window, each once. */
static void add_batches(const struct fleetledger *l, enum need need, enum fleetquery_which which,
	struct str *sql)
{
	str_add(sql, "(SELECT batch");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (columns[i].need == need)
			str_addf(sql, l->has_batches_twice ? ", any(%s) AS %s" : ", %s AS %s",
				columns[i].column, columns[i].name);
	str_addf(sql, " FROM %s", schema_name(SCHEMA_BATCHES));
	fleetquery_add_where(l->query, which, sql);
	str_add(sql, l->has_batches_twice ? " GROUP BY batch)" : ")");
}

/* Their sums, as far as the filters know services and types. */
static void add_sums(const struct fleetledger *l, struct str *sql)
{
	str_add(sql, " FROM ");
	add_batches(l, NEED_SUMS, FLEETQUERY_HOST_ONLY, sql);
	str_add(sql,
		" ARRAY JOIN in_services AS service, in_types AS type, in_rows AS n, in_samples AS s, in_values AS v WHERE 1");
	fleetquery_add_filters(l->query, FLEETQUERY_SUMS, sql);
}

static int select_rows(struct fleetledger *l, const struct str *sql, size_t most,
	struct fleetanswer *ret, struct err *err)
{
	if (fleetserver_select(l->server, str_text(sql), "RowBinary", most, err))
		return err->code;
	*ret = fleetanswer_of(&l->server->answer.text, l->server->url->server);
	return 0;
}

/* Rows of pace_batches that were sent twice must be told apart, which takes longer. */
static int look_for_batches_twice(struct fleetledger *l, struct err *err)
{
	struct str sql = {0};
	struct fleetanswer a;

	str_addf(&sql, "SELECT count() - uniqExact(batch) FROM %s", schema_name(SCHEMA_BATCHES));
	fleetquery_add_where(l->query, FLEETQUERY_HOST_ONLY, &sql);
	if (!select_rows(l, &sql, NAMES_MOST, &a, err)) {
		l->has_batches_twice = fleetanswer_u64(&a) != 0;
		fleetanswer_end(&a, err);
	}
	str_fini(&sql);
	return err->code;
}

/* ---- minutes ---- */

struct minute {
	u32 at;
	u64 n, samples, value;
};

struct minutes {
	struct minute *at;
	size_t n, cap;
};

static int read_minutes(struct fleetledger *l, const struct str *sql, struct minutes *m,
	struct err *err)
{
	struct fleetanswer a;

	if (select_rows(l, sql, SUMS_MOST, &a, err))
		return err->code;
	while (fleetanswer_more(&a)) {
		struct minute *one = vec_push(m);

		one->at = fleetanswer_u32(&a);
		one->n = fleetanswer_u64(&a);
		one->samples = fleetanswer_u64(&a);
		one->value = fleetanswer_u64(&a);
		/* In order, as asked for. */
		if (m->n > 1 && one[-1].at >= one->at)
			a.is_damaged = true;
	}
	return fleetanswer_end(&a, err);
}

static int read_announced(struct fleetledger *l, struct minutes *m, struct err *err)
{
	struct str sql = {0};

	str_add(&sql, "SELECT toUInt32(toStartOfMinute(at)) AS minute, sum(n), sum(s), sum(v)");
	add_sums(l, &sql);
	str_add(&sql, " GROUP BY minute ORDER BY minute");
	read_minutes(l, &sql, m, err);
	str_fini(&sql);
	return err->code;
}

static int read_rolled_up(struct fleetledger *l, struct minutes *m, struct err *err)
{
	struct str sql = {0};

	str_add(&sql,
		"SELECT toUInt32(time) AS minute, toUInt64(0), sum(samples), sum(value) FROM pace_minutes");
	fleetquery_add_where(l->query, FLEETQUERY_SUMS, &sql);
	str_add(&sql, " GROUP BY minute ORDER BY minute");
	read_minutes(l, &sql, m, err);
	str_fini(&sql);
	return err->code;
}

static int read_present(struct fleetledger *l, struct minutes *m, struct err *err)
{
	struct str sql = {0};

	str_add(&sql,
		"SELECT toUInt32(toStartOfMinute(time)) AS minute, count(), sum(samples), sum(value) FROM pace_samples");
	fleetquery_add_where(l->query, FLEETQUERY_COUNTED, &sql);
	str_add(&sql, " GROUP BY minute ORDER BY minute");
	read_minutes(l, &sql, m, err);
	str_fini(&sql);
	return err->code;
}

/* Both are in order. */
static void compare(struct fleetledger *l, const struct minutes *announced,
	const struct minutes *there)
{
	size_t a = 0, b = 0;

	while (a < announced->n || b < there->n) {
		const struct minute *x = a < announced->n ? &announced->at[a] : NULL;
		const struct minute *y = b < there->n ? &there->at[b] : NULL;
		const bool has_x = x && (!y || x->at <= y->at), has_y = y && (!x || y->at <= x->at);

		a += has_x;
		b += has_y;
		if (has_x)
			l->n_samples += x->samples;
		if (has_x && has_y && x->samples == y->samples && x->value == y->value &&
			(l->has_minutes || x->n == y->n))
			vec_add(&l->good, x->at);
		else
			vec_add(&l->bad, has_x ? x->at : y->at);
	}
}

/* Which minutes agree with what was announced. */
static int sort_minutes(struct fleetledger *l, struct err *err)
{
	struct minutes announced = {0}, there = {0};

	l->has_minutes = !l->has_hosts && fleetquery_fits_minutes(l->query);
	if (!read_announced(l, &announced, err)) {
		if (l->has_minutes)
			read_rolled_up(l, &there, err);
		else
			read_present(l, &there, err);
	}
	if (!err->code)
		compare(l, &announced, &there);
	vec_fini(&announced);
	vec_fini(&there);
	return err->code;
}

/* ---- the batches of the other minutes ---- */

struct state {
	u64 batch, announced, there, distinct;
	u32 at;
};

struct states {
	VEC(struct state) rows;
	struct table index;
};

static struct state *state_of(struct states *s, u64 batch)
{
	struct table_probe probe = table_probe(&s->index, hash_u64(batch));
	u32 i;

	while ((i = table_next(&s->index, &probe)) != TABLE_NONE)
		if (s->rows.at[i].batch == batch)
			return &s->rows.at[i];
	table_add(&s->index, hash_u64(batch), (u32)s->rows.n);
	vec_add(&s->rows, ((struct state){.batch = batch}));
	return &s->rows.at[s->rows.n - 1];
}

static void add_bad(const struct fleetledger *l, const char *time, struct str *sql)
{
	str_addf(sql, " AND toUInt32(toStartOfMinute(%s)) IN (", time);
	vec_each(at, &l->bad)
		str_addf(sql, "%s%u", at == l->bad.at ? "" : ",", *at);
	str_addc(sql, ')');
}

static int read_states(struct fleetledger *l, struct states *states, struct err *err)
{
	struct str sql = {0};
	struct fleetanswer a;

	str_add(&sql, "SELECT batch, sum(n)");
	add_sums(l, &sql);
	add_bad(l, "at", &sql);
	str_add(&sql, " GROUP BY batch");
	if (select_rows(l, &sql, SUMS_MOST, &a, err))
		goto end;
	while (fleetanswer_more(&a)) {
		struct state *s = state_of(states, fleetanswer_u64(&a));

		s->announced = fleetanswer_u64(&a);
	}
	if (fleetanswer_end(&a, err))
		goto end;
	str_clear(&sql);
	str_add(&sql,
		"SELECT batch, toUInt32(any(time)), count(), uniqExact(row) FROM pace_samples");
	fleetquery_add_where(l->query, FLEETQUERY_COUNTED, &sql);
	add_bad(l, "time", &sql);
	str_add(&sql, " GROUP BY batch");
	if (select_rows(l, &sql, SUMS_MOST, &a, err))
		goto end;
	while (fleetanswer_more(&a)) {
		struct state *s = state_of(states, fleetanswer_u64(&a));

		s->at = fleetanswer_u32(&a);
		s->there = fleetanswer_u64(&a);
		s->distinct = fleetanswer_u64(&a);
	}
	fleetanswer_end(&a, err);
end:
	str_fini(&sql);
	return err->code;
}

static int look_at_batches(struct fleetledger *l, struct batch *losses, struct err *err)
{
	const u64 now_s = (u64)time(NULL);
	struct states states = {0};
	u64 n_begun = 0, n_missing = 0;

	if (l->bad.n && !read_states(l, &states, err)) {
		vec_each(s, &states.rows) {
			/* Newer ones are on their way. */
			n_begun += !s->announced && s->at + SETTLING_S <= now_s;
			n_missing += s->announced - MIN(s->announced, s->distinct);
		}
		batch_lose(losses, "announced by hosts, but not in the store", "", "rows",
			n_missing);
		batch_lose(losses, "their hosts have sent only a part of them", "", "batches",
			n_begun);
	}
	vec_fini(&states.rows);
	table_fini(&states.index);
	return err->code;
}

/* ---- hosts and their losses ---- */

static int read_silent(struct fleetledger *l, struct batch *losses, struct err *err)
{
	const u64 from = l->query->from_s, length = l->query->to_s - from;
	const u64 before = MAX(length, (u64)BEFORE_LEAST_S);
	struct str sql = {0}, names = {0};
	struct arena arena = {0};
	struct fleetanswer a;
	u64 n = 0;

	str_addf(&sql,
		"SELECT host FROM pace_batches WHERE time >= toDateTime(%llu) AND time < toDateTime(%llu)",
		(unsigned long long)(from - MIN(from, before)), (unsigned long long)l->query->to_s);
	fleetquery_add_filters(l->query, FLEETQUERY_HOSTS, &sql);
	str_addf(&sql, " GROUP BY host HAVING max(time) < toDateTime(%llu) ORDER BY host",
		(unsigned long long)from);
	if (!select_rows(l, &sql, NAMES_MOST, &a, err)) {
		for (; fleetanswer_more(&a); n++) {
			const char *host = fleetanswer_text(&a, &arena);

			if (n < NAMED_MOST)
				str_addf(&names, "%s%s", n ? ", " : "", host);
		}
		if (n > NAMED_MOST)
			str_addf(&names, " and %llu more", (unsigned long long)(n - NAMED_MOST));
		if (!fleetanswer_end(&a, err))
			batch_lose(losses,
				"they sent something before this window, and nothing in it",
				str_text(&names), "hosts", n);
	}
	arena_fini(&arena);
	str_fini(&names);
	str_fini(&sql);
	return err->code;
}

static int read_losses(struct fleetledger *l, struct batch *losses, struct err *err)
{
	struct arena arena = {0};
	struct str sql = {0};
	struct fleetanswer a;

	str_add(&sql, "SELECT uniqExact(of_host), sumIf(n_lost, NOT has(causes, 'dropped')) FROM ");
	add_batches(l, NEED_LOSSES, FLEETQUERY_HOSTS, &sql);
	if (select_rows(l, &sql, NAMES_MOST, &a, err))
		goto end;
	l->n_hosts = fleetanswer_more(&a) ? fleetanswer_u64(&a) : 0;
	batch_lose(losses, "dropped", "", "samples",
		fleetanswer_more(&a) ? fleetanswer_u64(&a) : 0);
	if (fleetanswer_end(&a, err))
		goto end;
	str_clear(&sql);
	str_add(&sql, "SELECT cause, place, unit, sum(amount) AS amounts_sum FROM ");
	add_batches(l, NEED_LOSSES, FLEETQUERY_HOSTS, &sql);
	str_addf(&sql,
		" ARRAY JOIN causes AS cause, places AS place, units AS unit, amounts AS amount GROUP BY cause, place, unit ORDER BY amounts_sum DESC LIMIT %d",
		LOSSES_MOST);
	if (select_rows(l, &sql, NAMES_MOST, &a, err))
		goto end;
	while (fleetanswer_more(&a)) {
		const char *cause = fleetanswer_text(&a, &arena);
		const char *place = fleetanswer_text(&a, &arena);
		const char *unit = fleetanswer_text(&a, &arena);

		batch_lose(losses, cause, place, unit, fleetanswer_u64(&a));
	}
	fleetanswer_end(&a, err);
end:
	arena_fini(&arena);
	str_fini(&sql);
	return err->code;
}

/* ---- shards ---- */

/* The cluster's name in "Distributed(fleet, ..."; "": it is no table of a cluster. */
static int find_cluster(struct fleetledger *l, struct err *err)
{
	static const char begin[] = "Distributed(";
	struct str sql = {0};
	const char *at;
	size_t n;

	str_add(&sql,
		"SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'pace_batches'");
	if (!fleetserver_select(l->server, str_text(&sql), "TabSeparatedRaw", NAMES_MOST, err)) {
		at = strstr(str_text(&l->server->answer.text), begin);
		at = at ? at + strlen(begin) : "";
		at += *at == '\'';
		n = strcspn(at, ",')\n");
		memcpy(l->cluster, at, MIN(n, sizeof(l->cluster) - 1));
	}
	str_fini(&sql);
	return err->code;
}

static int count(struct fleetledger *l, const struct str *sql, u64 *ret, struct err *err)
{
	struct fleetanswer a;

	if (select_rows(l, sql, NAMES_MOST, &a, err))
		return err->code;
	*ret = fleetanswer_u64(&a);
	return fleetanswer_end(&a, err);
}

static int count_shards(struct fleetledger *l, struct err *err)
{
	struct str sql = {0};
	u64 n_there = 0;

	str_add(&sql, "SELECT uniqExact(shard_num) FROM system.clusters WHERE cluster = ");
	fleetserver_quote(&sql, l->cluster);
	if (!count(l, &sql, &l->n_shards, err)) {
		str_clear(&sql);
		str_add(&sql, "SELECT count() FROM cluster(");
		fleetserver_quote(&sql, l->cluster);
		str_add(&sql, ", system.one)");
		if (!count(l, &sql, &n_there, err))
			l->n_silent_shards =
				MAX(l->n_silent_shards, l->n_shards - MIN(l->n_shards, n_there));
	}
	str_fini(&sql);
	return err->code;
}

int fleetledger_check_shards(struct fleetledger *l, struct batch *losses, struct err *err)
{
	struct str where = {0};

	if (!*l->cluster)
		return 0;
	if (!count_shards(l, err)) {
		str_addf(&where, "of the %llu of cluster '%s'", (unsigned long long)l->n_shards,
			l->cluster);
		batch_lose(losses, "they did not answer, and what their hosts sent is missing too",
			str_text(&where), "shards", l->n_silent_shards);
	}
	str_fini(&where);
	return err->code;
}

int fleetledger_read(struct fleetledger *l, struct fleetserver *s, const struct fleetquery *q,
	bool has_hosts, struct batch *losses, struct err *err)
{
	*l = (struct fleetledger){.server = s, .query = q, .has_hosts = has_hosts};
	if (find_cluster(l, err) || (*l->cluster && count_shards(l, err)))
		return err->code;
	if (look_for_batches_twice(l, err) || sort_minutes(l, err) ||
		look_at_batches(l, losses, err) || read_silent(l, losses, err) ||
		read_losses(l, losses, err))
		return err->code;
	return 0;
}

void fleetledger_fini(struct fleetledger *l)
{
	vec_fini(&l->good);
	vec_fini(&l->bad);
}
