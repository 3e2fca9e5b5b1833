#include "collect/run/condition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	enum condition_op op;
} ops[] = {
	{"<=", CONDITION_AT_MOST},
	{">=", CONDITION_AT_LEAST},
	{"<", CONDITION_LESS},
	{">", CONDITION_MORE},
};

/* Ratios, which take no "/s". */
static const struct {
	const char *name;
	enum condition_kind kind;
} ratios[] = {
	{"ipc", CONDITION_IPC},
	{"cpu-util", CONDITION_UTIL},
};

static const struct {
	const char *word;
	u64 ns;
} units[] = {{"ms", 1000000}, {"s", 1000000000}};

/* ---- parsing ---- */

struct scan {
	const char *text, *at;
	struct err *err;
};

static int fail(const struct scan *s, const char *what)
{
	return err_set(s->err, ERR_INVAL, "'%s', column %zu: %s", s->text,
		(size_t)(s->at - s->text) + 1, what);
}

static void skip_spaces(struct scan *s)
{
	s->at += strspn(s->at, " \t");
}

static bool scan_number(struct scan *s, double *ret)
{
	size_t n = strspn(s->at, "0123456789.");
	char word[32], *end;

	if (!n || n >= sizeof(word))
		return false;
	memcpy(word, s->at, n);
	word[n] = '\0';
	*ret = strtod(word, &end);
	if (*end)
		return false;
	s->at += n;
	return true;
}

static int parse_name(struct scan *s, struct condition_term *t)
{
	size_t n = strcspn(s->at, "<>"), own;
	bool is_rate;

	if (!s->at[n])
		return fail(s, "a comparison is missing, as in page-faults/s>1000");
	for (own = n; own && strchr(" \t", s->at[own - 1]);)
		own--;
	if (!own)
		return fail(s, "a name is missing: ipc, cpu-util, or an event like page-faults/s");
	is_rate = own > 2 && !memcmp(s->at + own - 2, "/s", 2);
	t->name = mem_zalloc(own + 1);
	memcpy(t->name, s->at, is_rate ? own - 2 : own);
	for (size_t i = 0; i < ARRAY_SIZE(ratios); i++) {
		if (strcmp(t->name, ratios[i].name))
			continue;
		if (is_rate)
			return fail(s, "ipc and cpu-util are ratios, and have no /s");
		t->kind = ratios[i].kind;
	}
	if (t->kind == CONDITION_RATE && !is_rate)
		return fail(s, "an event's name needs /s behind it; ipc and cpu-util do not");
	s->at += n;
	return 0;
}

static int parse_limit(struct scan *s, struct condition_term *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		size_t n = strlen(ops[i].word);

		if (strncmp(s->at, ops[i].word, n))
			continue;
		t->op = ops[i].op;
		s->at += n;
		break;
	}
	skip_spaces(s);
	if (!scan_number(s, &t->limit))
		return fail(s, "a number is missing, like 0.5");
	if (*s->at != '%')
		return 0;
	if (t->kind != CONDITION_UTIL)
		return fail(s, "only cpu-util can be given in per cent");
	s->at++;
	t->limit /= 100;
	return 0;
}

static int parse_hold(struct scan *s, struct condition_term *t)
{
	double number;

	s->at += strlen("for");
	skip_spaces(s);
	if (!scan_number(s, &number) || number > 1e6)
		return fail(s, "a duration is missing, like 50ms or 1s");
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t n = strlen(units[i].word);

		if (strncmp(s->at, units[i].word, n) || (s->at[n] && !strchr(" \t", s->at[n])))
			continue;
		t->hold_ns = (u64)(number * (double)units[i].ns);
		s->at += n;
		return 0;
	}
	return fail(s, "a duration has the unit ms or s");
}

static bool is_word(const struct scan *s, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(s->at, word, n) && s->at[n] && strchr(" \t", s->at[n]);
}

static int parse_term(struct scan *s, struct condition_term *t)
{
	skip_spaces(s);
	if (parse_name(s, t) || parse_limit(s, t))
		return s->err->code;
	skip_spaces(s);
	if (is_word(s, "for") && parse_hold(s, t))
		return s->err->code;
	skip_spaces(s);
	return 0;
}

int condition_parse(struct condition *c, const char *text, struct err *err)
{
	struct scan s = {text, text, err};

	*c = (struct condition){0};
	for (;;) {
		struct condition_term *t = vec_push(&c->terms);

		*t = (struct condition_term){.value = NAN};
		if (parse_term(&s, t))
			break;
		if (!*s.at)
			return 0;
		if (!is_word(&s, "and")) {
			fail(&s, "here 'for DURATION', 'and' or the end is expected");
			break;
		}
		s.at += strlen("and");
	}
	condition_fini(c);
	return err->code;
}

void condition_fini(struct condition *c)
{
	vec_each(t, &c->terms)
		mem_free(t->name);
	vec_fini(&c->terms);
}

/* ---- looking ---- */

static bool is_met(const struct condition_term *t)
{
	switch (t->op) {
	case CONDITION_LESS:
		return t->value < t->limit;
	case CONDITION_AT_MOST:
		return t->value <= t->limit;
	case CONDITION_MORE:
		return t->value > t->limit;
	case CONDITION_AT_LEAST:
		return t->value >= t->limit;
	}
	return false;
}

bool condition_look(struct condition *c, u64 now_ns, const double *values)
{
	bool is_true = true, had_fired = c->has_fired;

	vec_each(t, &c->terms) {
		bool was_holding = t->is_holding;

		t->value = *values++;
		t->is_holding = is_met(t);
		if (!was_holding)
			t->since_ns = now_ns;
		is_true &= t->is_holding && now_ns - t->since_ns >= t->hold_ns;
	}
	c->has_fired = is_true;
	return is_true && !had_fired;
}

void condition_add_values(const struct condition *c, struct str *text)
{
	const char *between = "";

	vec_each(t, &c->terms) {
		str_addf(text, "%s%s%s ", between, t->name, t->kind == CONDITION_RATE ? "/s" : "");
		if (t->kind == CONDITION_UTIL)
			str_addf(text, "%.1f%%", 100 * t->value);
		else
			str_addf(text, t->kind == CONDITION_IPC ? "%.3f" : "%.1f", t->value);
		between = ", ";
	}
}
