#include "event/modifiers.h"

#include "event/abi.h"

#include <stdio.h>
#include <string.h>

/* clang-format off: a row a fact */
static const struct modifier {
	char letter;
	u64 flag;       /* set in attr.flags */
	u64 only_level; /* counts only this privilege level, and others that are named */
	u64 only_world; /* host or guest, likewise */
	unsigned wish;  /* enum event_wish */
} modifiers[] = {
	{'u', 0, ATTR_EXCLUDE_USER, 0, 0},
	{'k', 0, ATTR_EXCLUDE_KERNEL, 0, 0},
	{'h', 0, ATTR_EXCLUDE_HV, 0, 0},
	{'G', 0, 0, ATTR_EXCLUDE_GUEST, EVENT_GUEST_SAID},
	{'H', 0, 0, ATTR_EXCLUDE_HOST, EVENT_GUEST_SAID},
	{'I', ATTR_EXCLUDE_IDLE, 0, 0, 0},
	{'D', ATTR_PINNED, 0, 0, 0},
	{'S', 0, 0, 0, EVENT_SAMPLE_READ},
	{'W', 0, 0, 0, EVENT_WEAK_GROUP},
	{'e', ATTR_EXCLUSIVE, 0, 0, 0},
	{'b', 0, 0, 0, EVENT_USE_BPF},
	{'X', 0, 0, 0,
		0}, /* perf's: it stays where the user put it; pace never moves it between groups */
	{'R', 0, 0, 0, EVENT_RETIRE_LATENCY},
	{'p', 0, 0, 0, 0}, /* one more level of precision */
	{'P', 0, 0, 0, EVENT_MAX_PRECISE},
};
/* clang-format on */

static const struct modifier *find(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(modifiers); i++)
		if (modifiers[i].letter == letter)
			return &modifiers[i];
	return NULL;
}

/* perf's long name of b. */
static bool is_bpf(struct word word)
{
	return word.n == 3 && !strncmp(word.at, "bpf", 3);
}

bool modifiers_are(struct word word)
{
	if (is_bpf(word))
		return true;
	for (size_t i = 0; i < word.n; i++)
		if (!find(word.at[i]))
			return false;
	return word.n > 0;
}

/* Naming one of u, k, h switches the others off, and so with G and H. */
static void count_only(struct event *e, u64 all, u64 counted)
{
	if (counted && !(e->attr.flags & all))
		e->attr.flags |= all;
	e->attr.flags &= ~counted;
}

static int unknown(struct maker *m, struct word letter)
{
	char message[128];

	snprintf(message, sizeof(message),
		"'%c' is not a modifier; these are: u k h G H I D S W X e b R p pp ppp P",
		*letter.at);
	return maker_fail(m, letter, ERR_INVAL, message);
}

/* The number of such events says nothing about the time that one of them took. */
static int check_latency(struct maker *m, struct word letter, const struct event *e)
{
	if (!m->env->takes_latencies)
		return maker_fail(m, letter, ERR_UNSUPPORTED,
			"'R' asks how long the event took to retire: 'pace stat --record-tpebs' measures that, and 'pace record -W' records it with each sample");
	if (e->attr.type == PERF_TYPE_SOFTWARE || e->attr.type == PERF_TYPE_TRACEPOINT ||
		e->attr.type == PERF_TYPE_BREAKPOINT || e->attr.type == EVENT_TYPE_TOOL)
		return maker_fail(m, letter, ERR_INVAL,
			"'R' asks how long the event took to retire: this is no event of a processor");
	return 0;
}

static int apply_one(struct maker *m, struct word word, struct event *e)
{
	bool is_leader = e->n_members > 0;
	u64 levels = 0, worlds = 0;
	unsigned precise = 0;

	if (is_bpf(word)) {
		e->wishes |= EVENT_USE_BPF;
		return 0;
	}
	for (size_t i = 0; i < word.n; i++) {
		const struct modifier *mod = find(word.at[i]);

		if (!mod)
			return unknown(m, (struct word){word.at + i, 1});
		if (mod->wish & EVENT_RETIRE_LATENCY &&
			check_latency(m, (struct word){word.at + i, 1}, e))
			return m->err->code;
		levels |= mod->only_level;
		worlds |= mod->only_world;
		precise += mod->letter == 'p';
		/* The kernel pins whole groups, by their leaders. */
		if (is_leader || !(mod->flag & (ATTR_PINNED | ATTR_EXCLUSIVE)))
			e->attr.flags |= mod->flag;
		e->wishes |= mod->wish;
	}
	if (precise > 3)
		return maker_fail(m, word, ERR_INVAL,
			"precision has four levels: none, p, pp, ppp");
	if (precise)
		attr_set_precise(&e->attr, precise);
	count_only(e, ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV, levels);
	count_only(e, ATTR_EXCLUDE_HOST | ATTR_EXCLUDE_GUEST, worlds);
	return 0;
}

int modifiers_apply(struct maker *m, struct word word, size_t first)
{
	for (size_t i = first; i < m->events->n && word.at; i++)
		if (apply_one(m, word, &m->events->at[i]))
			return m->err->code;
	return 0;
}
