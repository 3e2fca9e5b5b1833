#include "fleet/fleetquery.h"

#include "base/num.h"
#include "fleet/fleetserver.h"
#include "fleet/timerange.h"

enum { MINUTE_S = 60, DAYS_MOST = 400, TIMEOUT_S = 60 };

#define LABEL "label."

/* Columns of pace_samples by which can be filtered and grouped; others are labels. */
static const struct column_of_rows {
	const char *name;
	bool is_of_sums, is_of_hosts; /* also in the sums and rows of pace_batches */
} columns[] = {
	{"service", true, false},
	{"type", true, false},
	{"host", false, true},
	{"comm", false, false},
	{"build", false, false},
};

static const struct column_of_rows *column_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (!strcmp(columns[i].name, name))
			return &columns[i];
	return NULL;
}

/* ---- times ---- */

/* "from" and "to" are the two ends of what --at takes as one text. */
static int parse_window(struct fleetquery *q, const struct fleeturl *u, const char *default_from,
	u64 now_ns, struct err *err)
{
	const char *from = fleeturl_word(u, "from"), *to = fleeturl_word(u, "to");
	struct timerange range;
	struct str text = {0};
	int result;

	str_addf(&text, "%s..%s",
		from                   ? from
			: default_from ? default_from
				       : "-1h",
		to && strcmp(to, "now") ? to : "");
	/* A day and a clock without a blank between them. */
	for (size_t i = 1; i + 1 < text.n; i++)
		if (text.at[i] == 'T')
			text.at[i] = ' ';
	result = timerange_parse(str_text(&text), now_ns, &range, err);
	str_fini(&text);
	if (result)
		return err_prefix(err, "from and to");
	q->from_s = range.from_ns / 1000000000;
	q->to_s = (range.to_ns + 999999999) / 1000000000;
	q->from_s -= q->from_s % MINUTE_S;
	q->to_s += (MINUTE_S - q->to_s % MINUTE_S) % MINUTE_S;
	if (q->from_s >= q->to_s)
		return err_set(err, ERR_INVAL, "the window ends before it begins");
	if (q->to_s - q->from_s > (u64)DAYS_MOST * 24 * 3600)
		return err_set(err, ERR_INVAL, "the window is longer than %d days", DAYS_MOST);
	return 0;
}

/* ---- words ---- */

static int parse_groups(struct fleetquery *q, const char *text, struct err *err)
{
	while (*text) {
		const size_t n = strcspn(text, ",");

		if (n && fleetquery_group_by(q, arena_strdup(&q->arena, text, n), err))
			return err->code;
		text += n + (text[n] == ',');
	}
	return 0;
}

static int parse_number(const char *key, const char *text, u64 most, u64 *ret, struct err *err)
{
	u64 v;

	if (num_parse(text, &v, err))
		return err_prefix(err, "%s", key);
	if (!v || v > most)
		return err_set(err, ERR_INVAL, "%s=%.60s: 1 to %llu", key, text,
			(unsigned long long)most);
	*ret = v;
	return 0;
}

static int parse_word(struct fleetquery *q, const struct fleeturl_word *w, struct err *err)
{
	u64 n = 0;

	if (!strcmp(w->key, "from") || !strcmp(w->key, "to"))
		return 0;
	if (!strcmp(w->key, "group"))
		return parse_groups(q, w->value, err);
	if (!strcmp(w->key, "max"))
		return parse_number(w->key, w->value, 10000000, &q->rows_most, err);
	if (!strcmp(w->key, "timeout")) {
		if (parse_number(w->key, w->value, 3600, &n, err))
			return err->code;
		q->timeout_ms = (u32)n * 1000;
		return 0;
	}
	if (column_of(w->key)) {
		vec_add(&q->filters, ((struct fleetquery_filter){w->key, NULL, w->value}));
		return 0;
	}
	if (!strncmp(w->key, LABEL, strlen(LABEL)) && w->key[strlen(LABEL)]) {
		vec_add(&q->filters,
			((struct fleetquery_filter){NULL, w->key + strlen(LABEL), w->value}));
		return 0;
	}
	return err_set(err, ERR_INVAL,
		"'%.60s' is none of service, type, host, comm, build, label.NAME, from, to, group, max and timeout",
		w->key);
}

int fleetquery_parse(struct fleetquery *q, const struct fleeturl *u, const char *default_from,
	u64 now_ns, struct err *err)
{
	*q = (struct fleetquery){.rows_most = FLEETQUERY_ROWS, .timeout_ms = TIMEOUT_S * 1000};
	vec_each(word, &u->words)
		if (parse_word(q, word, err))
			return err_prefix(err, "'%s'", u->text);
	return parse_window(q, u, default_from, now_ns, err) ? err_prefix(err, "'%s'", u->text) : 0;
}

void fleetquery_fini(struct fleetquery *q)
{
	vec_fini(&q->filters);
	arena_fini(&q->arena);
	*q = (struct fleetquery){0};
}

int fleetquery_group_by(struct fleetquery *q, const char *name, struct err *err)
{
	if (!strncmp(name, LABEL, strlen(LABEL)))
		name += strlen(LABEL);
	for (u32 i = 0; i < q->n_groups; i++)
		if (!strcmp(q->groups[i], name))
			return 0;
	if (!strcmp(name, "type"))
		return 0;
	if (q->n_groups == FLEETQUERY_GROUPS)
		return err_set(err, ERR_LIMIT, "more than %d labels to group by",
			FLEETQUERY_GROUPS);
	q->groups[q->n_groups++] = arena_strdup(&q->arena, name, strlen(name));
	return 0;
}

bool fleetquery_fits_minutes(const struct fleetquery *q)
{
	for (u32 i = 0; i < q->n_groups; i++)
		if (strcmp(q->groups[i], "service"))
			return false;
	vec_each(f, &q->filters)
		if (!f->column || !column_of(f->column)->is_of_sums)
			return false;
	return true;
}

/* ---- SQL ---- */

void fleetquery_add_expression(struct str *sql, const char *name)
{
	if (column_of(name)) {
		str_add(sql, name);
		return;
	}
	str_add(sql, "label_values[indexOf(label_names, ");
	fleetserver_quote(sql, name);
	str_add(sql, ")]");
}

static bool is_in(const struct fleetquery_filter *f, enum fleetquery_which which)
{
	const struct column_of_rows *column = f->column ? column_of(f->column) : NULL;

	switch (which) {
	case FLEETQUERY_ALL:
		return true;
	case FLEETQUERY_COUNTED:
		return column && (column->is_of_sums || column->is_of_hosts);
	case FLEETQUERY_SUMS:
		return column && column->is_of_sums;
	case FLEETQUERY_HOSTS:
		return !column || column->is_of_hosts;
	case FLEETQUERY_HOST_ONLY:
		return column && column->is_of_hosts;
	}
	return false;
}

static void add_values(struct str *sql, const char *values)
{
	struct str one = {0};
	bool is_first = true;

	for (;;) {
		const size_t n = strcspn(values, ",");

		str_clear(&one);
		str_addn(&one, values, n);
		str_add(sql, is_first ? "" : ", ");
		fleetserver_quote(sql, str_text(&one));
		is_first = false;
		if (!values[n])
			break;
		values += n + 1;
	}
	str_fini(&one);
}

void fleetquery_add_filters(const struct fleetquery *q, enum fleetquery_which which,
	struct str *sql)
{
	vec_each(f, &q->filters) {
		if (!is_in(f, which))
			continue;
		str_add(sql, " AND ");
		fleetquery_add_expression(sql, f->column ? f->column : f->label);
		str_add(sql, " IN (");
		add_values(sql, f->values);
		str_addc(sql, ')');
	}
}

void fleetquery_add_where(const struct fleetquery *q, enum fleetquery_which which, struct str *sql)
{
	str_addf(sql, " WHERE time >= toDateTime(%llu) AND time < toDateTime(%llu)",
		(unsigned long long)q->from_s, (unsigned long long)q->to_s);
	fleetquery_add_filters(q, which, sql);
}
