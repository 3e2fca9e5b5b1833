#include "event/parse.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/nearest.h"
#include "base/num.h"
#include "base/str.h"
#include "event/abi.h"
#include "event/names.h"
#include "event/pmu.h"
#include "event/tracefs.h"

/* ---- words ---- */

struct word {
	const char *at; /* in the text, or NULL: not there */
	size_t n;
};

struct lexer {
	const char *text, *at;
	struct err *err;
};

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		(c && strchr("_-.*?!@", c));
}

static struct word read_word(struct lexer *lx)
{
	struct word w = {.at = lx->at};

	while (is_word_char(*lx->at))
		lx->at++;
	w.n = lx->at - w.at;
	return w;
}

static bool accept(struct lexer *lx, char c)
{
	if (*lx->at != c)
		return false;
	lx->at++;
	return true;
}

/*
 * An error that points into the text: "event 'a,b' at column 3: ...". Of a long text only that
 * place is shown.
 */
static int fail(const char *text, const char *at, struct err *err, int code, const char *message)
{
	enum { BEFORE = 60, SHOWN = 160 };
	const char *from = strlen(text) > SHOWN && at - text > BEFORE ? at - BEFORE : text;
	const char *before = from > text ? "..." : "", *behind = strlen(from) > SHOWN ? "..." : "";

	err_set(err, code, "%s", message);
	if (at == text)
		return err_prefix(err, "event '%.*s%s'", SHOWN, text, behind);
	return err_prefix(err, "event '%s%.*s%s' at column %zu", before, SHOWN, from, behind,
		(size_t)(at - text) + 1);
}

static int expected(struct lexer *lx, const char *what)
{
	char message[96];

	if (*lx->at)
		snprintf(message, sizeof(message), "expected %s, found '%c'", what, *lx->at);
	else
		snprintf(message, sizeof(message), "expected %s, found the end", what);
	return fail(lx->text, lx->at, lx->err, ERR_INVAL, message);
}

/* ---- tree ---- */

struct term {
	struct word name, value; /* value.at NULL: only a name */
	struct term *next;
};

enum node_kind { NODE_WORDS, NODE_PMU, NODE_GROUP };

struct node {
	enum node_kind kind;
	struct word words
		[3]; /* NODE_WORDS: separated by ':'; NODE_PMU and NODE_GROUP: the name in [0] */
	struct word modifiers; /* NODE_PMU, NODE_GROUP */
	struct term *terms;    /* NODE_PMU */
	struct node *children; /* NODE_GROUP */
	struct node *next;
	const char *end; /* behind its last character */
};

static int read_terms(struct lexer *lx, struct arena *arena, struct term **ret_terms)
{
	struct term **to = ret_terms;

	*to = NULL;
	while (!accept(lx, '/')) {
		struct term *term = arena_zalloc(arena, sizeof(*term));

		term->name = read_word(lx);
		if (!term->name.n)
			return expected(lx, "the name of a term or '/'");
		if (accept(lx, '=')) {
			term->value = read_word(lx);
			if (!term->value.n)
				return expected(lx, "a value");
		}
		*to = term;
		to = &term->next;
		if (!accept(lx, ',') && *lx->at != '/')
			return expected(lx, "',' or '/'");
	}
	return 0;
}

static int read_node(struct lexer *lx, struct arena *arena, bool is_in_group,
	struct node **ret_node);

static int read_group(struct lexer *lx, struct arena *arena, struct node *group)
{
	struct node **to = &group->children;

	group->kind = NODE_GROUP;
	do {
		if (read_node(lx, arena, true, to))
			return lx->err->code;
		to = &(*to)->next;
	} while (accept(lx, ','));
	if (!accept(lx, '}'))
		return expected(lx, "',' or '}'");
	if (accept(lx, ':')) {
		group->modifiers = read_word(lx);
		if (!group->modifiers.n)
			return expected(lx, "modifiers");
	}
	return 0;
}

static int read_node(struct lexer *lx, struct arena *arena, bool is_in_group,
	struct node **ret_node)
{
	struct node *node = *ret_node = arena_zalloc(arena, sizeof(*node));

	if (!is_in_group && accept(lx, '{')) {
		if (read_group(lx, arena, node))
			return lx->err->code;
		node->end = lx->at;
		return 0;
	}
	node->words[0] = read_word(lx);
	if (!node->words[0].n)
		return expected(lx, "the name of an event");
	if (accept(lx, '/')) {
		node->kind = NODE_PMU;
		if (read_terms(lx, arena, &node->terms))
			return lx->err->code;
		bool has_colon = accept(lx, ':');
		node->modifiers = read_word(lx);
		if (has_colon && !node->modifiers.n)
			return expected(lx, "modifiers");
		node->end = lx->at;
		return 0;
	}
	for (size_t i = 1; i < ARRAY_SIZE(node->words) && accept(lx, ':'); i++) {
		if (!is_in_group && i == 1 && accept(lx, '{')) {
			if (read_group(lx, arena, node))
				return lx->err->code;
			break;
		}
		node->words[i] = read_word(lx);
		if (!node->words[i].n)
			return expected(lx, "modifiers or the name of a tracepoint");
	}
	node->end = lx->at;
	return 0;
}

/* ---- events ---- */

struct maker {
	const char *text;
	const struct parse_env *env;
	struct event_list *events;
	struct err *err;
};

static int fail_at(struct maker *m, struct word w, int code, const char *message)
{
	return fail(m->text, w.at, m->err, code, message);
}

static const char *copy_word(struct word w, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)MIN(w.n, size - 1), w.at);
	return buf;
}

/*
 * Naming one of u, k, h switches the others off; of G and H likewise. A group's add to those of its
 * events.
 */
static void count_only(struct event *e, u64 all, u64 counted)
{
	if (counted && !(e->attr.flags & all))
		e->attr.flags |= all;
	e->attr.flags &= ~counted;
}

static int apply_modifiers(struct maker *m, struct word mods, struct event *e)
{
	const u64 levels = ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV;
	const u64 worlds = ATTR_EXCLUDE_HOST | ATTR_EXCLUDE_GUEST;
	u64 counted_levels = 0, counted_worlds = 0;
	unsigned precise = 0;
	char message[128];

	for (size_t i = 0; i < mods.n; i++) {
		switch (mods.at[i]) {
		case 'u':
			counted_levels |= ATTR_EXCLUDE_USER;
			break;
		case 'k':
			counted_levels |= ATTR_EXCLUDE_KERNEL;
			break;
		case 'h':
			counted_levels |= ATTR_EXCLUDE_HV;
			break;
		case 'G':
			counted_worlds |= ATTR_EXCLUDE_GUEST;
			break;
		case 'H':
			counted_worlds |= ATTR_EXCLUDE_HOST;
			break;
		case 'p':
			precise++;
			break;
		case 'P':
			e->wishes |= EVENT_MAX_PRECISE;
			break;
		case 'D':
			e->attr.flags |= ATTR_PINNED;
			break;
		case 'S':
			e->wishes |= EVENT_SAMPLE_READ;
			break;
		case 'I':
			e->attr.flags |= ATTR_EXCLUDE_IDLE;
			break;
		case 'W':
			e->wishes |= EVENT_WEAK_GROUP;
			break;
		case 'e':
			e->attr.flags |= ATTR_EXCLUSIVE;
			break;
		case 'b':
			e->wishes |= EVENT_USE_BPF;
			break;
		default:
			snprintf(message, sizeof(message),
				"'%c' is no modifier; known are u k h G H I D S W e b p pp ppp P",
				mods.at[i]);
			return fail_at(m, (struct word){mods.at + i, 1}, ERR_INVAL, message);
		}
	}
	if (precise > 3)
		return fail_at(m, mods, ERR_INVAL, "precision has four levels: none, p, pp, ppp");
	if (precise)
		attr_set_precise(&e->attr, precise);
	count_only(e, levels, counted_levels);
	count_only(e, worlds, counted_worlds);
	if (counted_worlds)
		e->wishes |= EVENT_GUEST_SAID;
	return 0;
}

/* Appends the event that stands at [start, end) of the text. */
static struct event *add_event(struct maker *m, const struct event_attr *attr, const char *start,
	const char *end)
{
	char name[512];

	return event_add(m->events, attr,
		copy_word((struct word){start, end - start}, name, sizeof(name)));
}

static bool parse_raw(struct word w, u64 *ret_config)
{
	const char *p = w.at + 1;

	return w.n > 1 && w.at[0] == 'r' && num_scan(&p, 16, ret_config) && p == w.at + w.n;
}

static int unknown_event(struct maker *m, struct word w)
{
	struct intern names = {0};
	struct str message = {0};
	struct nearest near;
	char typed[128], cache[64];
	const char *p = w.at;
	u64 config;

	copy_word(w, typed, sizeof(typed));
	near = (struct nearest){.typed = typed};
	str_addf(&message, "there is no event '%s'", typed);
	if (num_scan(&p, 16, &config) && p == w.at + w.n) {
		str_addf(&message, "; did you mean the raw event 'r%s'?", typed);
	} else {
		names_offer_all(&near);
		for (size_t i = 0; names_cache_at(i, cache, sizeof(cache)); i++)
			nearest_offer(&near, intern_str(&names, cache));
		pmu_offer_all(m->env->sysfs, &names, &near);
		nearest_add_hint(&near, &message);
	}
	fail_at(m, w, ERR_NOENT, str_text(&message));
	str_fini(&message);
	intern_fini(&names);
	return m->err->code;
}

static int set_term(struct maker *m, const struct pmu *pmu, struct word name, const char *value,
	struct event *e);

/* Applies "event=0x3c,umask=1", the text behind an alias. */
static int apply_alias(struct maker *m, const struct pmu *pmu, const char *alias_text,
	struct word at, struct event *e)
{
	char text[256], *rest = text, *item;

	snprintf(text, sizeof(text), "%s", alias_text);
	while ((item = strsep(&rest, ",")) != NULL) {
		char *equals = strchr(item, '=');
		u64 value = 1;
		struct err why;

		if (equals) {
			*equals = '\0';
			/* "event=?" asks the user for the value. */
			if (num_parse(equals + 1, &value, &why))
				continue;
		}
		if (pmu_set_term(pmu, item, value, &e->attr, &why))
			return fail_at(m, at, why.code, why.msg);
	}
	return 0;
}

/* Terms every PMU takes: they go to the attr, not through sysfs formats. */
static bool set_generic_term(struct event *e, const char *name, u64 value)
{
	if (!strcmp(name, "config"))
		e->attr.config = value;
	else if (!strcmp(name, "config1"))
		e->attr.config1 = value;
	else if (!strcmp(name, "config2"))
		e->attr.config2 = value;
	else if (!strcmp(name, "config3"))
		e->attr.config3 = value;
	else if (!strcmp(name, "period") || !strcmp(name, "freq")) {
		bool is_freq = name[0] == 'f';

		e->attr.sample_period = value;
		e->attr.flags = is_freq ? e->attr.flags | ATTR_FREQ : e->attr.flags & ~ATTR_FREQ;
		e->wishes |= EVENT_OWN_PERIOD;
	} else if (!strcmp(name, "precise"))
		attr_set_precise(&e->attr, value & 3);
	else
		return false;
	return true;
}

static int set_term(struct maker *m, const struct pmu *pmu, struct word word,
	const char *value_text, struct event *e)
{
	char name[128], alias[256], message[sizeof(m->err->msg)];
	u64 value = 1;
	struct err why;

	copy_word(word, name, sizeof(name));
	if (value_text && !strcmp(name, "name")) {
		e->name = arena_strdup(&m->events->arena, value_text, strlen(value_text));
		return 0;
	}
	if (value_text && num_parse(value_text, &value, &why)) {
		snprintf(message, sizeof(message), "term '%.120s': %.800s", name, why.msg);
		return fail_at(m, word, ERR_INVAL, message);
	}
	if (value_text && set_generic_term(e, name, value))
		return 0;
	if (!value_text && pmu_alias(pmu, name, alias, sizeof(alias)))
		return apply_alias(m, pmu, alias, word, e);
	if (pmu_set_term(pmu, name, value, &e->attr, &why))
		return fail_at(m, word, why.code, why.msg);
	return 0;
}

static int make_pmu_event(struct maker *m, const struct node *node)
{
	char name[128], value[256];
	struct event_attr attr = {0};
	struct event *e;
	struct pmu pmu;
	struct err why;
	int r = 0;

	if (pmu_open(&pmu, m->env->sysfs, copy_word(node->words[0], name, sizeof(name)), &why))
		return fail_at(m, node->words[0], why.code, why.msg);
	attr.type = pmu.type;
	e = add_event(m, &attr, node->words[0].at, node->end);
	cpus_add_all(&e->cpus, &pmu.cpus);
	for (const struct term *t = node->terms; t && !r; t = t->next)
		r = set_term(m, &pmu, t->name,
			t->value.at ? copy_word(t->value, value, sizeof(value)) : NULL, e);
	pmu_close(&pmu);
	return r ? r : apply_modifiers(m, node->modifiers, e);
}

/* A bare name: from the tables, rHEX, or an alias of some PMU. 1 if it was one, 0 if not. */
static int make_named_event(struct maker *m, const struct node *node)
{
	struct word w = node->words[0];
	struct event_attr attr = {0};
	char name[128], alias[256];
	struct pmu pmu;
	struct event *e;
	int r;

	if (names_find(w.at, w.n, &attr.type, &attr.config)) {
		add_event(m, &attr, w.at, node->end);
		return 1;
	}
	if (parse_raw(w, &attr.config)) {
		attr.type = PERF_TYPE_RAW;
		add_event(m, &attr, w.at, node->end);
		return 1;
	}
	if (pmu_find_alias(m->env->sysfs, copy_word(w, name, sizeof(name)), &pmu, m->err) <= 0)
		return 0;
	attr.type = pmu.type;
	e = add_event(m, &attr, w.at, node->end);
	cpus_add_all(&e->cpus, &pmu.cpus);
	pmu_alias(&pmu, name, alias, sizeof(alias));
	r = apply_alias(m, &pmu, alias, w, e);
	pmu_close(&pmu);
	return r ? r : 1;
}

static int make_event(struct maker *m, const struct node *node)
{
	struct event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	char system[128], name[128];
	struct err why;
	int r;

	if (node->kind == NODE_PMU)
		return make_pmu_event(m, node);
	r = make_named_event(m, node);
	if (r < 0)
		return r;
	if (r) {
		if (node->words[2].at)
			return fail_at(m, node->words[2], ERR_INVAL,
				"modifiers come once, behind one ':'");
		return apply_modifiers(m, node->words[1], &m->events->at[m->events->n - 1]);
	}
	if (!node->words[1].at)
		return unknown_event(m, node->words[0]);
	if (tracefs_id(m->env->tracefs, copy_word(node->words[0], system, sizeof(system)),
		    copy_word(node->words[1], name, sizeof(name)), &attr.config, &why)) {
		/* "cycels:u" is a mistyped event rather than a tracepoint. */
		if (!node->words[2].at && strspn(name, "ukhGHpPDSIWeb") == node->words[1].n)
			return unknown_event(m, node->words[0]);
		return fail_at(m, node->words[0], why.code, why.msg);
	}
	return apply_modifiers(m, node->words[2],
		add_event(m, &attr, node->words[0].at, node->end));
}

static int make_group(struct maker *m, const struct node *group)
{
	size_t leader = m->events->n;

	for (const struct node *child = group->children; child; child = child->next) {
		if (make_event(m, child))
			return m->err->code;
	}
	for (size_t i = leader; i < m->events->n; i++) {
		struct event *e = &m->events->at[i];

		e->leader = leader;
		e->n_members = i == leader ? m->events->n - leader : 0;
		if (apply_modifiers(m, group->modifiers, e))
			return m->err->code;
	}
	return 0;
}

int parse_events(const char *text, const struct parse_env *env, struct event_list *events,
	struct err *err)
{
	struct maker m = {.text = text, .env = env, .events = events, .err = err};
	struct lexer lx = {.text = text, .at = text, .err = err};
	struct node *first = NULL, **to = &first;
	struct arena arena = {0};
	int r = 0;

	do {
		r = read_node(&lx, &arena, false, to);
		to = &(*to)->next;
	} while (!r && accept(&lx, ','));
	if (!r && *lx.at)
		r = expected(&lx, "',' or the end");
	for (const struct node *node = first; node && !r; node = node->next)
		r = node->kind == NODE_GROUP ? make_group(&m, node) : make_event(&m, node);
	arena_fini(&arena);
	return r;
}
