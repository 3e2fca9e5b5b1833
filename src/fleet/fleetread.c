#include "fleet/fleetread.h"

#include "base/hash.h"
#include "base/num.h"
#include "base/table.h"
#include "fleet/fleetanswer.h"
#include "fleet/fleetledger.h"
#include "fleet/rowtext.h"
#include "profile/gather/profile.h"

enum {
	ANSWER_MOST = 512 << 20, /* bytes */
	STACKS_AT_ONCE = 20000,
	PARTS_MOST = 4 * FLEETREAD_PARTS,
};

/* One row of the answer. */
struct total {
	u32 part, stack; /* stack: in `stacks` */
	const char *type;
	const char **cells;
	u64 n_samples, value;
};

struct stack {
	u64 hash;
	u32 n;
	const char **frames, **files, **builds;
	const u8 *modes;
};

struct reading {
	struct fleetread *to;
	struct fleetserver *server;
	const struct fleetquery *query;
	struct fleetledger ledger;
	struct batch *losses; /* the first part's */
	bool has_parts, has_groups_of_hosts;
	VEC(struct total) totals;
	VEC(struct stack) stacks;
	struct table index;  /* of stacks by hash */
	u64 n_rest, n_there; /* samples in rows beyond the most; of all rows */
};

/* ---- statements ---- */

static void add_part(const struct reading *r, struct str *sql)
{
	if (!r->has_parts)
		str_add(sql, "''");
	else if (r->has_groups_of_hosts)
		str_addf(sql, "concat('hosts ', toString(cityHash64(host) %% %d + 1), ' of %d')",
			FLEETREAD_PARTS, FLEETREAD_PARTS);
	else
		str_add(sql, "host");
}

static void add_minutes(const struct fleetledger *l, const char *expression, bool is_bad,
	struct str *sql)
{
	str_addf(sql, " AND %s IN (", expression);
	for (size_t i = 0; i < (is_bad ? l->bad.n : l->good.n); i++)
		str_addf(sql, "%s%u", i ? "," : "", is_bad ? l->bad.at[i] : l->good.at[i]);
	str_addc(sql, ')');
}

/* Minutes that agree: plain sums. */
static void add_plain_source(const struct reading *r, struct str *sql)
{
	const struct fleetledger *l = &r->ledger;

	str_add(sql,
		", type AS of_type, stack AS of_stack, sum(samples) AS s, sum(value) AS v FROM ");
	str_add(sql, schema_name(l->has_minutes ? SCHEMA_MINUTES : SCHEMA_SAMPLES));
	fleetquery_add_where(r->query, FLEETQUERY_ALL, sql);
	/* Whole windows need no list. */
	if (l->bad.n)
		add_minutes(l, "toUInt32(toStartOfMinute(time))", false, sql);
}

/* Minutes that do not: complete batches, each row of them once. */
static void add_careful_source(const struct reading *r, struct str *sql)
{
	const struct fleetledger *l = &r->ledger;

	str_addf(sql,
		", of_type, of_stack, sum(one_samples) AS s, sum(one_value) AS v FROM (SELECT batch, row, any(");
	add_part(r, sql);
	str_add(sql, ") AS of_part");
	for (u32 i = 0; i < r->query->n_groups; i++) {
		str_add(sql, ", any(");
		fleetquery_add_expression(sql, r->query->groups[i]);
		str_addf(sql, ") AS g%u", i);
	}
	str_addf(sql,
		", any(type) AS of_type, any(stack) AS of_stack, any(samples) AS one_samples, any(value) AS one_value FROM %s",
		schema_name(SCHEMA_SAMPLES));
	fleetquery_add_where(r->query, FLEETQUERY_ALL, sql);
	add_minutes(l, "toUInt32(toStartOfMinute(time))", true, sql);
	str_addf(sql, " AND batch GLOBAL IN (SELECT batch FROM %s", schema_name(SCHEMA_BATCHES));
	fleetquery_add_where(r->query, FLEETQUERY_HOST_ONLY, sql);
	str_add(sql, ") GROUP BY batch, row)");
}

static void add_groups(const struct reading *r, struct str *sql)
{
	for (u32 i = 0; i < r->query->n_groups; i++)
		str_addf(sql, ", g%u", i);
}

static struct str statement_of(const struct reading *r, bool is_careful)
{
	struct str sql = {0};

	str_add(&sql, "SELECT ");
	if (is_careful) {
		str_add(&sql, "of_part");
		add_groups(r, &sql);
		add_careful_source(r, &sql);
	} else {
		add_part(r, &sql);
		str_add(&sql, " AS of_part");
		for (u32 i = 0; i < r->query->n_groups; i++) {
			str_add(&sql, ", ");
			fleetquery_add_expression(&sql, r->query->groups[i]);
			str_addf(&sql, " AS g%u", i);
		}
		add_plain_source(r, &sql);
	}
	str_add(&sql, " GROUP BY of_part");
	add_groups(r, &sql);
	str_addf(&sql, ", of_type, of_stack ORDER BY v DESC LIMIT %llu",
		(unsigned long long)r->query->rows_most + 1);
	return sql;
}

/* ---- totals ---- */

static u32 part_of(struct reading *r, const char *name)
{
	struct fleetread *to = r->to;

	vec_each(part, &to->parts)
		if (!strcmp(part->name, name))
			return (u32)(part - to->parts.at);
	if (to->parts.n == PARTS_MOST)
		return 0;
	vec_add(&to->parts,
		((struct fleetread_part){.name = arena_strdup(&to->arena, name, strlen(name))}));
	batch_init(&to->parts.at[to->parts.n - 1].batch);
	return (u32)to->parts.n - 1;
}

static u32 stack_of(struct reading *r, u64 hash)
{
	struct table_probe probe = table_probe(&r->index, hash_u64(hash));
	u32 i;

	while ((i = table_next(&r->index, &probe)) != TABLE_NONE)
		if (r->stacks.at[i].hash == hash)
			return i;
	table_add(&r->index, hash_u64(hash), (u32)r->stacks.n);
	vec_add(&r->stacks, ((struct stack){.hash = hash}));
	return (u32)r->stacks.n - 1;
}

static int read_totals(struct reading *r, bool is_careful, struct err *err)
{
	struct arena *arena = &r->to->arena;
	struct str sql = statement_of(r, is_careful);
	struct fleetanswer a;
	u64 n = 0, sum;

	if (!fleetserver_select(r->server, str_text(&sql), "RowBinary", ANSWER_MOST, err)) {
		a = fleetanswer_of(&r->server->answer.text, r->server->url->server);
		for (; fleetanswer_more(&a); n++) {
			struct total t = {.part = part_of(r, fleetanswer_text(&a, arena))};

			t.cells = arena_alloc(arena, (r->query->n_groups + 1) * sizeof(*t.cells));
			for (u32 i = 0; i < r->query->n_groups; i++)
				t.cells[i] = fleetanswer_text(&a, arena);
			t.type = fleetanswer_text(&a, arena);
			t.stack = stack_of(r, fleetanswer_u64(&a));
			t.n_samples = fleetanswer_u64(&a);
			t.value = fleetanswer_u64(&a);
			if (!a.is_damaged)
				vec_add(&r->totals, t);
			/* A store that lies must not make sums run over. */
			if (__builtin_add_overflow(r->n_there, t.n_samples, &sum) ||
				t.value >> 56 || n > r->query->rows_most)
				a.is_damaged = true;
			r->n_there = sum;
		}
		fleetanswer_end(&a, err);
	}
	str_fini(&sql);
	return err->code;
}

/* ---- stacks ---- */

static int read_some_stacks(struct reading *r, size_t first, size_t n, struct err *err)
{
	enum { DEEPEST = BATCH_DEEPEST };
	struct arena *arena = &r->to->arena;
	const char *texts[3][DEEPEST];
	struct str sql = {0};
	struct fleetanswer a;

	str_addf(&sql, "SELECT hash, frames, files, builds, modes FROM %s WHERE hash IN (",
		schema_name(SCHEMA_STACKS));
	for (size_t i = 0; i < n; i++) {
		str_add(&sql, i ? "," : "");
		num_add_u64(&sql, r->stacks.at[first + i].hash);
	}
	str_add(&sql, ") LIMIT 1 BY hash");
	if (fleetserver_select(r->server, str_text(&sql), "RowBinary", ANSWER_MOST, err))
		goto end;
	a = fleetanswer_of(&r->server->answer.text, r->server->url->server);
	while (fleetanswer_more(&a)) {
		const u64 hash = fleetanswer_u64(&a);
		const size_t known = r->stacks.n;
		struct stack *s = &r->stacks.at[stack_of(r, hash)];
		u32 lengths[3], n_modes;
		const void *modes;

		for (u32 i = 0; i < 3; i++)
			lengths[i] = fleetanswer_texts(&a, DEEPEST, texts[i], arena);
		n_modes = (u32)fleetanswer_length(&a, DEEPEST);
		if (!bytes_take(&a.left, n_modes, &modes) || r->stacks.n != known ||
			lengths[0] != lengths[1] || lengths[0] != lengths[2] ||
			lengths[0] != n_modes) {
			a.is_damaged = true;
			break;
		}
		s->n = n_modes;
		s->modes = arena_copy(arena, modes, n_modes + !n_modes);
		s->frames = arena_copy(arena, texts[0], n_modes * sizeof(char *));
		s->files = arena_copy(arena, texts[1], n_modes * sizeof(char *));
		s->builds = arena_copy(arena, texts[2], n_modes * sizeof(char *));
	}
	fleetanswer_end(&a, err);
end:
	str_fini(&sql);
	return err->code;
}

static int read_stacks(struct reading *r, struct err *err)
{
	const size_t n = r->stacks.n;

	for (size_t i = 0; i < n; i += STACKS_AT_ONCE)
		if (read_some_stacks(r, i, MIN(n - i, (size_t)STACKS_AT_ONCE), err))
			return err->code;
	return 0;
}

/* ---- into batches ---- */

static u32 frame_of(struct batch *b, const struct stack *s, u32 i)
{
	const u8 mode = s->modes[i] & ROWTEXT_MODE;
	const struct batch_frame f = {.name = batch_add_string(b, s->frames[i]),
		.file = batch_add_string(b, s->files[i]),
		.build = batch_add_string(b, s->builds[i]),
		.mode = mode == ROWTEXT_MODE ? PROFILE_NO_MODE : mode,
		.is_named = (s->modes[i] & ROWTEXT_NAMED) != 0,
		.is_inlined = (s->modes[i] & ROWTEXT_INLINED) != 0};

	return batch_frame(b, &f);
}

static u32 lost_stack(struct batch *b, const char *name)
{
	const struct batch_frame f = {.name = batch_add_string(b, name),
		.file = batch_add_string(b, "[unknown]"),
		.mode = PROFILE_NO_MODE,
		.is_named = true};

	return batch_stack(b, 0, batch_frame(b, &f));
}

static u32 stack_in(struct batch *b, const struct stack *s)
{
	u32 at = 0;

	for (u32 i = 0; i < s->n; i++)
		at = batch_stack(b, at, frame_of(b, s, i));
	return at ? at : lost_stack(b, "[stack that is not in the store]");
}

/* What no host could name. */
static void lose_names(struct reading *r, const struct stack *s, u64 n_samples)
{
	const u32 leaf = s->n - 1;
	struct str where = {0};

	if (!s->n) {
		batch_lose(r->losses, "their stacks are not in the store", "", "samples",
			n_samples);
		return;
	}
	if (s->modes[leaf] & ROWTEXT_NAMED)
		return;
	str_addf(&where, "%s%s%s", s->files[leaf], *s->builds[leaf] ? " of build " : "",
		s->builds[leaf]);
	batch_lose(r->losses, "nameless", str_text(&where), "samples", n_samples);
	str_fini(&where);
}

static void make_batches(struct reading *r)
{
	struct fleetread *to = r->to;
	const size_t n = to->parts.n;
	u32 *numbers = mem_zalloc((n * r->stacks.n + 1) * sizeof(*numbers)), cells[BATCH_COLUMNS];

	vec_each(part, &to->parts) {
		part->batch.start_ns = r->query->from_s * 1000000000;
		part->batch.end_ns = r->query->to_s * 1000000000;
		for (u32 i = 0; i < r->query->n_groups; i++)
			batch_column(&part->batch, r->query->groups[i]);
	}
	r->losses = &to->parts.at[0].batch;
	vec_each(t, &r->totals) {
		struct batch *b = &to->parts.at[t->part].batch;
		const struct stack *s = &r->stacks.at[t->stack];
		u32 *number = &numbers[t->part * r->stacks.n + t->stack];

		if (!*number)
			*number = stack_in(b, s);
		for (u32 i = 0; i < r->query->n_groups; i++)
			cells[i] = batch_add_string(b, t->cells[i]);
		batch_count(b,
			&(struct batch_row){batch_event(b, t->type), *number, 0, t->n_samples,
				t->value},
			cells);
		lose_names(r, s, t->n_samples);
	}
	mem_free(numbers);
}

/* ---- all of it ---- */

/* Whether there are more hosts than parts. */
static int count_hosts(struct reading *r, struct err *err)
{
	struct str sql = {0};
	struct fleetanswer a;

	str_addf(&sql, "SELECT uniqExact(host) FROM %s", schema_name(SCHEMA_SAMPLES));
	fleetquery_add_where(r->query, FLEETQUERY_ALL, &sql);
	if (!fleetserver_select(r->server, str_text(&sql), "RowBinary", ANSWER_MOST, err)) {
		a = fleetanswer_of(&r->server->answer.text, r->server->url->server);
		r->has_groups_of_hosts = fleetanswer_u64(&a) > FLEETREAD_PARTS;
		fleetanswer_end(&a, err);
	}
	str_fini(&sql);
	return err->code;
}

/* Rows beyond the most: they are missing, and how many samples that is, is known. */
static void cut(struct reading *r, u64 n_before)
{
	if (r->totals.n - n_before <= r->query->rows_most)
		return;
	r->totals.n = n_before + r->query->rows_most;
	r->n_rest++;
}

static int read_parts(struct reading *r, struct err *err)
{
	size_t n;

	if (r->ledger.good.n) {
		if (read_totals(r, false, err))
			return err->code;
		cut(r, 0);
	}
	n = r->totals.n;
	if (r->ledger.bad.n) {
		if (read_totals(r, true, err))
			return err->code;
		cut(r, n);
	}
	return read_stacks(r, err);
}

/* Filters that pace_batches does not know of leave only some of what was announced. */
static bool can_sum(const struct reading *r)
{
	vec_each(f, &r->query->filters)
		if (!f->column ||
			(strcmp(f->column, "service") && strcmp(f->column, "type") &&
				strcmp(f->column, "host")))
			return false;
	return true;
}

static void tell_rest(struct reading *r)
{
	u64 there = 0;

	vec_each(t, &r->totals)
		there += t->n_samples;
	if (r->n_rest)
		log_note(r->to->log,
			"only the %llu largest rows were fetched: max=%llu behind '?' fetches more",
			(unsigned long long)r->query->rows_most,
			(unsigned long long)r->query->rows_most * 10);
	if (r->n_rest && can_sum(r) && r->ledger.n_samples > there)
		batch_lose(r->losses, "in small rows that were not fetched", "", "samples",
			r->ledger.n_samples - there);
	else if (can_sum(r) && !r->ledger.bad.n && r->ledger.n_samples > there)
		batch_lose(r->losses, "announced by hosts, but not answered by the store", "",
			"samples", r->ledger.n_samples - there);
}

int fleetread(struct fleetread *to, struct fleetserver *s, const struct fleetquery *q,
	bool has_parts, struct log *log, struct err *err)
{
	struct reading r = {.to = to, .server = s, .query = q, .has_parts = has_parts};
	struct batch losses;

	*to = (struct fleetread){.log = log};
	batch_init(&losses);
	if (!fleetledger_read(&r.ledger, s, q, has_parts, &losses, err)) {
		to->n_hosts = r.ledger.n_hosts;
		if ((!has_parts || !count_hosts(&r, err)) && !read_parts(&r, err) &&
			!fleetledger_check_shards(&r.ledger, &losses, err)) {
			if (!to->parts.n)
				part_of(&r, "");
			make_batches(&r);
			tell_rest(&r);
			vec_each(l, &losses.losses)
				batch_lose(r.losses, batch_string(&losses, l->cause),
					batch_string(&losses, l->where),
					batch_string(&losses, l->unit), l->amount);
		}
	}
	batch_fini(&losses);
	fleetledger_fini(&r.ledger);
	vec_fini(&r.totals);
	vec_fini(&r.stacks);
	table_fini(&r.index);
	return err->code;
}

void fleetread_fini(struct fleetread *r)
{
	vec_each(part, &r->parts)
		batch_fini(&part->batch);
	vec_fini(&r->parts);
	arena_fini(&r->arena);
}
