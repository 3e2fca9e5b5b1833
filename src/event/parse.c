#include "event/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/num.h"
#include "base/str.h"
#include "event/abi.h"
#include "event/maker.h"
#include "event/metricfacts.h"
#include "event/modifiers.h"
#include "event/names.h"
#include "event/pfm.h"
#include "event/pmu.h"
#include "event/pmu_events.h"
#include "event/terms.h"
#include "event/tracefs.h"
#include "event/tsx.h"

/* ---- unknown names ---- */

/* 1, with an error, if the vendor's tables have the event but this machine lacks its PMU. */
static int is_elsewhere(struct maker *m, struct word w, const char *typed)
{
	const struct catalog_event *listed =
		m->env->catalog ? catalog_find(m->env->catalog, NULL, typed) : NULL;
	char message[300];

	if (!listed)
		return 0;
	snprintf(message, sizeof(message),
		"event '%.100s' belongs to PMU '%.100s', which this machine does not have", typed,
		listed->pmu);
	maker_fail(m, w, ERR_NOENT, message);
	return 1;
}

/* 1, with the reason as an error, if it is an event of transactions, which this machine does not count. */
static int is_of_transactions(struct maker *m, struct word w)
{
	char message[300], typed[128];

	if (!tsx_is_event(syntax_copy(w, typed, sizeof(typed))))
		return 0;
	snprintf(message, sizeof(message), "it counts transactions: %s",
		tsx_reason_of_event(m->env->sysfs));
	maker_fail(m, w, ERR_NOENT, message);
	return 1;
}

/* Offers all names of events; `names` holds those that are stored nowhere else. */
static void offer_events(struct maker *m, struct intern *names, struct nearest *near)
{
	char cache[64];

	names_offer_all(near);
	for (size_t i = 0; names_cache_at(i, cache, sizeof(cache)); i++)
		nearest_offer(near, intern_str(names, cache));
	pmu_offer_all(m->env->sysfs, names, near);
	if (m->env->catalog)
		vec_each(listed, &m->env->catalog->events)
			nearest_offer(near, listed->name);
}

static int unknown_event(struct maker *m, struct word w)
{
	enum { TYPO = 2 }; /* wrong letters; with more, another event may have been meant */
	struct intern names = {0};
	struct str message = {0};
	struct nearest near;
	char typed[128];
	const char *p = w.at;
	bool is_hex;
	u64 config;

	syntax_copy(w, typed, sizeof(typed));
	if (is_of_transactions(m, w) || is_elsewhere(m, w, typed))
		return m->err->code;
	near = (struct nearest){.typed = typed};
	str_addf(&message, "there is no event '%s'", typed);
	offer_events(m, &names, &near);
	is_hex = num_scan(&p, 16, &config) && p == w.at + w.n;
	if (is_hex)
		str_addf(&message, "; did you mean the raw event 'r%s'?", typed);
	else if (pmu_is_core_there(m->env->sysfs) || (near.best && near.distance <= TYPO))
		nearest_add_hint(&near, &message);
	else {
		/* Without the CPU's PMU, the names of its events are unknown. */
		str_add(&message, ", and no PMU of this machine has one of that name (its PMUs:");
		pmu_add_names(m->env->sysfs, &message);
		str_addc(&message, ')');
	}
	if (!is_hex && m->env->catalog && !m->env->catalog->folder &&
		!(near.best && near.distance <= TYPO))
		str_add(&message,
			"; names of the CPU's vendor come from tables, and none are installed: 'pace list "
			"--install-tables' takes them from Linux's sources (pace-list(1))");
	maker_fail(m, w, ERR_NOENT, str_text(&message));
	str_fini(&message);
	intern_fini(&names);
	return m->err->code;
}

/*
 * "cycels/period=9/" is a mistyped event rather than a PMU. "cpu" never is, although names of events
 * begin with it: the kernel calls the PMU of most CPUs so.
 */
static bool is_rather_event(struct maker *m, const char *typed)
{
	struct nearest pmu = {.typed = typed}, event = {.typed = typed};
	struct intern pmus = {0}, names = {0};
	bool is_event;

	if (!strcmp(typed, "cpu"))
		return false;
	pmu_list(m->env->sysfs, &pmus);
	vec_each(name, &pmus.strings)
		nearest_offer(&pmu, *name);
	offer_events(m, &names, &event);
	is_event = event.best && (!pmu.best || event.distance < pmu.distance);
	intern_fini(&names);
	intern_fini(&pmus);
	return is_event;
}

static int unknown_pmu(struct maker *m, struct word w)
{
	struct pmu pmu;
	struct err why;
	char name[128];

	if (is_rather_event(m, syntax_copy(w, name, sizeof(name))))
		return unknown_event(m, w);
	if (!pmu_open(&pmu, m->env->sysfs, name, &why)) {
		/* It was not there a moment ago. */
		pmu_close(&pmu);
		err_set(&why, ERR_NOENT, "there is no PMU '%s'", name);
	}
	return maker_fail(m, w, why.code, why.msg);
}

/* ---- names and numbers ---- */

static bool is_number(struct word w, u64 *ret_v)
{
	char text[32];
	struct err ignored;

	return w.n && w.n < sizeof(text) &&
		!num_parse(syntax_copy(w, text, sizeof(text)), ret_v, &ignored);
}

static bool is_raw(struct word w, u64 *ret_config)
{
	const char *p = w.at + 1;

	if (w.n > 3 && !strncmp(p, "0x", 2))
		p += 2;
	return w.n > 1 && w.at[0] == 'r' && num_scan(&p, 16, ret_config) && p == w.at + w.n;
}

/* A tool event that is a fact about the machine has its value in config1. True. */
static bool take_fact(struct maker *m, struct event_attr *attr)
{
	struct metric_facts facts = {.sysfs = m->env->sysfs};
	char name[64];
	double v;

	if (!event_is_fact(attr) || !names_of(attr->type, attr->config, name, sizeof(name)))
		return true;
	v = metricfacts_literal(&facts, name);
	attr->config1 = v > 0 ? (u64)v : 0;
	return true;
}

/* 1 if the node's first word is one of the kernel's events: a name, or rHEX. */
static int make_generic(struct maker *m, const struct node *node)
{
	struct event_attr attr = {0};
	struct word w = node->words[0];

	if (names_find(w.at, w.n, &attr.type, &attr.config) && take_fact(m, &attr))
		return pmu_events_make_generic(m, node, &attr);
	if (is_raw(w, &attr.config)) {
		attr.type = PERF_TYPE_RAW;
		return pmu_events_make_generic(m, node, &attr);
	}
	return 0;
}

/* 1 if it is type:config, two numbers. */
static int make_numeric(struct maker *m, const struct node *node, struct word *mods)
{
	struct event_attr attr = {0};
	u64 type;

	if (!is_number(node->words[0], &type) || !is_number(node->words[1], &attr.config) ||
		type > UINT32_MAX)
		return 0;
	attr.type = type;
	*mods = node->has_slashes ? node->modifiers : node->words[2];
	return terms_apply(m, NULL, node->terms, maker_add(m, &attr, node)) ? m->err->code : 1;
}

/* 1 if it is an event that stat counts itself, written tool/duration_time/. */
static int make_tool(struct maker *m, const struct node *node)
{
	struct event_attr attr = {0};
	const struct term *t = node->terms;

	if (node->words[0].n != 4 || strncmp(node->words[0].at, "tool", 4) || !t || t->value.at ||
		!names_find(t->name.at, t->name.n, &attr.type, &attr.config) ||
		attr.type != EVENT_TYPE_TOOL)
		return 0;
	take_fact(m, &attr);
	return terms_apply(m, NULL, t->next, maker_add(m, &attr, node)) ? m->err->code : 1;
}

/* ---- breakpoints ---- */

static u32 access_of(struct word w)
{
	static const struct {
		char letter;
		u32 bit;
	} letters[] = {{'r', HW_BREAKPOINT_R}, {'w', HW_BREAKPOINT_W}, {'x', HW_BREAKPOINT_X}};
	u32 access = 0;

	for (size_t i = 0; i < w.n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(letters); k++)
			access |= w.at[i] == letters[k].letter ? letters[k].bit : 0;
	return access ? access : HW_BREAKPOINT_R | HW_BREAKPOINT_W;
}

static int make_breakpoint(struct maker *m, const struct node *node)
{
	struct event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
		.bp_type = access_of(node->words[2])};

	if (!is_number(node->words[0], &attr.config1))
		return maker_fail(m, node->words[0], ERR_INVAL,
			"the address of a breakpoint is a number, like 0x401136");
	/* A breakpoint on an instruction has the length of a word, however long the instruction is. */
	attr.config2 = attr.bp_type == HW_BREAKPOINT_X ? sizeof(long) : 4;
	if (node->words[1].at && (!is_number(node->words[1], &attr.config2) || !attr.config2))
		return maker_fail(m, node->words[1], ERR_INVAL,
			"the length of a breakpoint is a number of bytes, on most machines 1, 2, 4 or 8");
	return terms_apply(m, NULL, node->terms, maker_add(m, &attr, node));
}

/* ---- tracepoints ---- */

static bool is_glob(struct word w)
{
	for (size_t i = 0; i < w.n; i++)
		if (strchr("*?[", w.at[i]))
			return true;
	return false;
}

/* Adds system:name under that name, followed by the modifiers as the user wrote them. */
static int add_tracepoint(struct maker *m, const struct node *node, const char *system,
	const char *name, struct word mods)
{
	struct event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	struct event *e;
	struct err why;
	char text[300];

	if (tracefs_id(m->env->tracefs, system, name, &attr.config, &why))
		return maker_fail(m, node->words[0], why.code, why.msg);
	snprintf(text, sizeof(text), "%s:%s%s%.*s", system, name, mods.n ? ":" : "", (int)mods.n,
		mods.n ? mods.at : "");
	e = event_add(m->events, &attr, text);
	if (node->filter.n)
		e->filter = maker_strdup(m, node->filter.at, node->filter.n);
	return terms_apply(m, NULL, node->terms, e);
}

static int make_tracepoints(struct maker *m, const struct node *node, struct word mods)
{
	char system[128], name[128];
	struct intern found = {0};
	struct err why;
	int r = 0;

	syntax_copy(node->words[0], system, sizeof(system));
	syntax_copy(node->words[1], name, sizeof(name));
	if (!is_glob(node->words[0]) && !is_glob(node->words[1]))
		return add_tracepoint(m, node, system, name, mods);
	if (tracefs_match(m->env->tracefs, system, name, &found, &why))
		r = maker_fail(m, node->words[0], why.code, why.msg);
	vec_each(full, &found.strings) {
		const char *colon = strchr(*full, ':');

		snprintf(system, sizeof(system), "%.*s", (int)(colon - *full), *full);
		if (!r)
			r = add_tracepoint(m, node, system, colon + 1, mods);
	}
	intern_fini(&found);
	return r;
}

/* 1 if the node names tracepoints; 0, and *ret_why, if tracefs has none of that name. */
static int try_tracepoints(struct maker *m, const struct node *node, struct word *mods,
	struct err *ret_why)
{
	size_t first = m->events->n;
	struct maker quiet = *m;
	struct err why = {0};

	*mods = node->has_slashes ? node->modifiers : node->words[2];
	quiet.err = &why;
	if (!make_tracepoints(&quiet, node, *mods))
		return 1;
	*(m->events->n > first ? m->err : ret_why) = why;
	return m->events->n > first ? why.code : 0;
}

/* ---- events ---- */

/* One word of modifiers may follow the name of an event, and none if slashes follow. */
static int check_words(struct maker *m, const struct node *node)
{
	if (node->words[1].at && node->has_slashes)
		return maker_fail(m, node->words[1], ERR_INVAL,
			"modifiers go after the second slash");
	if (node->words[2].at)
		return maker_fail(m, node->words[2], ERR_INVAL,
			"modifiers are given once, after one ':'");
	return 1;
}

static int not_found(struct maker *m, const struct node *node, const struct err *why)
{
	/* cpu/tx-abort/ where the CPU has no PMU: what is missing first are the transactions. */
	if (node->has_slashes && node->terms && is_of_transactions(m, node->terms->name))
		return m->err->code;
	if (!node->words[1].at)
		return node->has_slashes ? unknown_pmu(m, node->words[0])
					 : unknown_event(m, node->words[0]);
	/* "cycels:u" is a mistyped event rather than a tracepoint. */
	if (!node->words[2].at && !node->has_slashes && modifiers_are(node->words[1]))
		return unknown_event(m, node->words[0]);
	*m->err = *why;
	return why->code;
}

/* 1 if libpfm knows the name, which may have parts, like its umask: A:B. Modifiers of ours follow the name only. */
static int make_of_libpfm(struct maker *m, const struct node *node, struct word *mods)
{
	const bool has_mods = modifiers_are(node->words[1]) && !node->words[2].at;
	const char *end = has_mods ? node->words[0].at + node->words[0].n : node->end;
	struct event_attr attr;
	struct err ignored;
	char name[256];

	if (!m->env->asks_libpfm || node->has_slashes || !pfm_is_built_in() ||
		pfm_encode(syntax_copy((struct word){node->words[0].at, end - node->words[0].at},
				   name, sizeof(name)),
			&attr, &ignored))
		return 0;
	*mods = has_mods ? node->words[1] : (struct word){0};
	maker_add(m, &attr, node);
	return 1;
}

static int make_words(struct maker *m, const struct node *node, struct word *ret_mods)
{
	bool is_between = node->has_slashes && !node->words[1].at;
	struct err why = {0};
	int r = 0;

	*ret_mods = node->has_slashes ? node->modifiers : node->words[1];
	if (is_between)
		r = pmu_events_make(m, node);
	if (!r && is_between)
		r = make_tool(m, node);
	if (!r && (r = make_generic(m, node)) > 0)
		r = check_words(m, node);
	if (!r)
		r = make_numeric(m, node, ret_mods);
	if (!r && node->words[1].at && (r = try_tracepoints(m, node, ret_mods, &why)) == 0)
		*ret_mods = node->has_slashes ? node->modifiers : node->words[1];
	if (!r && node->words[0].n && (r = pmu_events_make_named(m, node)) > 0)
		r = check_words(m, node);
	if (!r)
		r = make_of_libpfm(m, node, ret_mods);
	if (!r)
		return not_found(m, node, &why);
	return r < 0 ? r : 0;
}

static int make_pfm(struct maker *m, const struct node *node)
{
	struct event_attr attr;
	char name[256];
	struct err why;

	if (pfm_encode(syntax_copy(node->words[0], name, sizeof(name)), &attr, &why))
		return maker_fail(m, node->words[0], why.code, why.msg);
	maker_add(m, &attr, node);
	return 0;
}

/* Bits that the kernel would ignore without a word, so that the count is of something else. */
static int check_bits(struct maker *m, const struct node *node, size_t first)
{
	struct err why;

	for (size_t i = first; i < m->events->n; i++)
		if (tsx_check(m->env->sysfs, &m->events->at[i].attr, &why))
			return maker_fail(m, (struct word){node->start, node->end - node->start},
				why.code, why.msg);
	return 0;
}

/* Whether an event is one of a PMU. Generic events are of the CPU's, which has no name here if there is one kind of core. */
static bool is_of_pmu(const struct maker *m, const struct event *e, const char *pmu)
{
	struct intern cores = {0};
	bool is = true;

	if (e->pmu)
		return !strcmp(e->pmu, pmu);
	if (e->attr.type != PERF_TYPE_HARDWARE && e->attr.type != PERF_TYPE_HW_CACHE &&
		e->attr.type != PERF_TYPE_RAW)
		return true;
	pmu_list_cores(m->env->sysfs, &cores);
	if (cores.strings.n)
		is = !strcmp(cores.strings.at[0], pmu);
	intern_fini(&cores);
	return is;
}

/* Drops the node's events that are of other PMUs than those that are wanted. */
static int choose_pmus(struct maker *m, const struct node *node, size_t first)
{
	const struct parse_env *env = m->env;
	struct event_list *events = m->events;
	/* Who names one kind of core means it. */
	const bool has_several = events->n > first + 1;
	const char *pmu = env->only_pmu;
	char message[300];
	size_t n = first;

	if (!pmu && has_several && env->core_pmu && events->at[first].pmu)
		vec_each(e, events)
			if (e >= events->at + first && e->pmu && !strcmp(e->pmu, env->core_pmu))
				pmu = env->core_pmu;
	if (!pmu)
		return 0;
	for (size_t i = first; i < events->n; i++)
		if (is_of_pmu(m, &events->at[i], pmu)) {
			events->at[n] = events->at[i];
			events->at[n].leader = (u32)n;
			n++;
		} else {
			cpus_fini(&events->at[i].cpus);
		}
	events->n = n;
	if (n > first)
		return 0;
	snprintf(message, sizeof(message), "it is no event of PMU '%s', to which they are limited",
		pmu);
	return maker_fail(m, (struct word){node->start, node->end - node->start}, ERR_INVAL,
		message);
}

static int make_event(struct maker *m, const struct node *node)
{
	size_t first = m->events->n;
	struct word mods = node->modifiers;
	int r;

	m->events->last = first;
	r = node->kind == NODE_BREAKPOINT ? make_breakpoint(m, node)
		: node->kind == NODE_PFM  ? make_pfm(m, node)
					  : make_words(m, node, &mods);
	if (!r)
		r = choose_pmus(m, node, first);
	if (!r)
		r = modifiers_apply(m, mods, first);
	return r ? r : check_bits(m, node, first);
}

/* ---- groups ---- */

static void lead(struct event_list *events, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		events->at[i].leader = first;
		events->at[i].n_members = i == first ? end - first : 0;
	}
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The first PMU of the events from `first` on; its group takes the events without a PMU. */
static const char *first_pmu(const struct event_list *events, size_t first)
{
	for (size_t i = first; i < events->n; i++)
		if (events->at[i].pmu)
			return events->at[i].pmu;
	return NULL;
}

/*
 * Counters of different PMUs cannot be scheduled together. If a name stands for several PMUs, each PMU
 * gets a group of its own, in the order of the text; events without a PMU stay with the first.
 */
static void split(struct event_list *events, size_t first)
{
	const char *home = first_pmu(events, first);
	VEC(struct event) rest = {0};

	for (size_t begin = first; begin < events->n;) {
		const char *pmu = begin == first ? home
			: events->at[begin].pmu  ? events->at[begin].pmu
						 : home;
		size_t end = begin;

		rest.n = 0;
		for (size_t i = begin; i < events->n; i++) {
			struct event e = events->at[i];

			if (is_same(e.pmu ? e.pmu : home, pmu))
				events->at[end++] = e;
			else
				vec_add(&rest, e);
		}
		if (rest.n)
			memcpy(events->at + end, rest.at, rest.n * sizeof(*rest.at));
		lead(events, begin, end);
		begin = end;
	}
	vec_fini(&rest);
}

/* Moves slots to the front: the kernel wants them to lead their metrics. */
static void put_slots_first(struct event_list *events, size_t first)
{
	size_t end = first + events->at[first].n_members, slots = end;
	bool has_metric = false;

	for (size_t i = first; i < end; i++) {
		has_metric |= attr_is_topdown(&events->at[i].attr);
		if (slots == end && attr_is_slots(&events->at[i].attr))
			slots = i;
	}
	if (slots == end || !has_metric)
		return;
	struct event e = events->at[slots];
	memmove(events->at + first + 1, events->at + first, (slots - first) * sizeof(e));
	events->at[first] = e;
	lead(events, first, end);
}

static int make_group(struct maker *m, const struct node *group)
{
	struct event_list *events = m->events;
	size_t first = events->n;
	bool has_several_pmus = false;

	for (const struct node *child = group->children; child; child = child->next) {
		size_t before = events->n;

		if (make_event(m, child))
			return m->err->code;
		if (child != group->children && events->n > before &&
			events->at[before].attr.flags & (ATTR_PINNED | ATTR_EXCLUSIVE))
			return maker_fail(m, (struct word){child->start, 1}, ERR_INVAL,
				"D and e apply to a whole group: write them after its closing brace");
		has_several_pmus |= events->n > before + 1 &&
			!is_same(events->at[before].pmu, events->at[before + 1].pmu);
	}
	if (has_several_pmus)
		split(events, first);
	else
		lead(events, first, events->n);
	for (size_t i = first, n; i < events->n; i += n) {
		n = events->at[i].n_members;
		put_slots_first(events, i);
	}
	return modifiers_apply(m, group->modifiers, first);
}

int parse_events(const char *text, const struct parse_env *env, struct event_list *events,
	struct err *err)
{
	struct maker m = {.text = text, .env = env, .events = events, .err = err};
	struct arena arena = {0};
	struct node *first = NULL;
	int r = syntax_read(text, &arena, &first, err);

	for (const struct node *node = first; node && !r; node = node->next)
		r = node->kind == NODE_GROUP ? make_group(&m, node) : make_event(&m, node);
	arena_fini(&arena);
	return r;
}
