#include "collect/known/plan.h"

#include <errno.h>
#include <unistd.h>

#include "base/vec.h"
#include "collect/counter/counter.h"
#include "event/abi.h"

enum { PASSES_MAX = 64 };

/* Events opened to see whether they fit. */
struct trial {
	const struct event_list *events;
	VEC(int) fds;
	VEC(int) leaders; /* those of them that can be read */
};

bool plan_takes_counter(const struct event *e)
{
	return e->attr.type != PERF_TYPE_SOFTWARE && e->attr.type != PERF_TYPE_TRACEPOINT &&
		e->attr.type != PERF_TYPE_BREAKPOINT && e->attr.type != EVENT_TYPE_TOOL;
}

static bool is_leader(const struct event_list *events, size_t i)
{
	return !event_is_group_member(events, i);
}

/* Whether a group, or single event, takes a counter: if any of its members does. */
static bool unit_takes_counter(const struct event_list *events, size_t leader)
{
	for (size_t i = leader; i < leader + events->at[leader].n_members; i++)
		if (plan_takes_counter(&events->at[i]))
			return true;
	return false;
}

static int try_open(const struct event *e, int group_fd)
{
	struct event_attr attr = e->attr;
	int fd;

	attr.size = MAX(attr_needed_size(&attr), (u32)ATTR_SIZE_VER7);
	attr.sample_period = 0;
	attr.read_format = 0;
	attr.flags &= ~(ATTR_FREQ | ATTR_INHERIT | ATTR_DISABLED | ATTR_ENABLE_ON_EXEC);
	attr_set_precise(&attr, 0);
	if (group_fd < 0)
		attr.flags |= ATTR_PINNED;
	fd = perf_event_open(&attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		attr.flags |= ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV;
		fd = perf_event_open(&attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);
	}
	return fd;
}

/* Opens a group. Members that do not open need no room. */
static void open_unit(struct trial *t, size_t leader)
{
	const struct event_list *events = t->events;
	int first = -1;

	for (size_t i = leader; i < leader + events->at[leader].n_members; i++) {
		int fd = try_open(&events->at[i], first);

		if (fd < 0)
			continue;
		vec_add(&t->fds, fd);
		if (first < 0) {
			first = fd;
			vec_add(&t->leaders, fd);
		}
	}
}

/* A pinned event that is not on the PMU reads as an end of file. */
static bool all_fit(const struct trial *t)
{
	vec_each(fd, &t->leaders) {
		u64 words[4];

		if (read(*fd, words, sizeof(words)) == 0)
			return false;
	}
	return true;
}

static void close_trial(struct trial *t)
{
	/* Members first: closing the leader would make leaders of them. */
	while (t->fds.n)
		close(t->fds.at[--t->fds.n]);
	vec_fini(&t->fds);
	vec_fini(&t->leaders);
}

static bool is_pinned(const struct event_list *events, size_t leader)
{
	return events->at[leader].attr.flags & ATTR_PINNED;
}

/* Whether a group fits beside a pass's groups, or its pinned ones. Alone it always fits. */
static bool fits(const struct plan *p, const struct event_list *events, u32 pass, size_t leader,
	bool only_pinned)
{
	struct trial t = {.events = events};
	bool is_alone = true, result;

	for (size_t i = 0; i < events->n; i++) {
		if (!is_leader(events, i) || p->pass_of[i] != pass || i == leader ||
			(only_pinned && !is_pinned(events, i)))
			continue;
		open_unit(&t, i);
		is_alone = false;
	}
	open_unit(&t, leader);
	result = is_alone || all_fit(&t);
	close_trial(&t);
	return result;
}

/*
 * Whether anything of a group opens: what a task cannot have at all, like a package's counters,
 * takes no room.
 */
static bool opens(const struct event_list *events, size_t leader)
{
	struct trial t = {.events = events};
	bool result;

	open_unit(&t, leader);
	result = t.leaders.n > 0;
	close_trial(&t);
	return result;
}

/* The usual case: one trial for everything. */
static bool everything_fits(const struct event_list *events)
{
	struct trial t = {.events = events};
	bool result;

	for (size_t i = 0; i < events->n; i++)
		if (is_leader(events, i) && unit_takes_counter(events, i))
			open_unit(&t, i);
	result = all_fit(&t);
	close_trial(&t);
	return result;
}

static void put(struct plan *p, const struct event_list *events, size_t leader, u32 pass)
{
	for (size_t i = leader; i < leader + events->at[leader].n_members; i++)
		p->pass_of[i] = pass;
	if (pass != PLAN_ALL)
		p->n_passes = MAX(p->n_passes, pass + 1);
}

/* Finds passes for the pinned groups, or for the others. */
static void place(struct plan *p, const struct event_list *events, bool are_pinned,
	bool is_one_pass)
{
	for (size_t i = 0; i < events->n; i++) {
		u32 pass = 0;

		if (!is_leader(events, i) || is_pinned(events, i) != are_pinned ||
			!unit_takes_counter(events, i) || (!is_one_pass && !opens(events, i)))
			continue;
		while (!is_one_pass && pass < PASSES_MAX && !fits(p, events, pass, i, false))
			pass++;
		put(p, events, i, pass);
	}
}

/* Whether it leads a group that is not in the first pass. */
static bool is_late(const struct plan *p, const struct event_list *events, size_t i)
{
	return is_leader(events, i) && p->pass_of[i] != PLAN_ALL && p->pass_of[i];
}

static void find_placeless(struct plan *p, const struct event_list *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (is_late(p, events, i))
			p->is_placeless[i] = is_pinned(events, i) || !fits(p, events, 0, i, true);
}

void plan_make(struct plan *p, const struct event_list *events)
{
	bool is_one_pass = everything_fits(events);

	p->n_passes = 1;
	p->pass_of = mem_zalloc((events->n + 1) * sizeof(*p->pass_of));
	p->is_placeless = mem_zalloc((events->n + 1) * sizeof(*p->is_placeless));
	for (size_t i = 0; i < events->n; i++)
		p->pass_of[i] = PLAN_ALL;
	place(p, events, true, is_one_pass);
	place(p, events, false, is_one_pass);
	find_placeless(p, events);
}

void plan_fini(struct plan *p)
{
	mem_free(p->pass_of);
	mem_free(p->is_placeless);
	p->pass_of = NULL;
	p->is_placeless = NULL;
}

static void add_unit(const struct event_list *events, size_t leader, struct str *text)
{
	u32 n = events->at[leader].n_members;

	if (n > 1)
		str_addc(text, '{');
	for (size_t i = leader; i < leader + n; i++) {
		str_add(text, i > leader ? "," : "");
		str_add(text, events->at[i].name);
	}
	if (n > 1)
		str_addc(text, '}');
}

bool plan_has_turns(const struct plan *p, const struct event_list *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (is_late(p, events, i) && !p->is_placeless[i])
			return true;
	return false;
}

void plan_add_placeless(const struct plan *p, const struct event_list *events, struct str *text)
{
	const char *between = "";

	for (size_t i = 0; i < events->n; i++) {
		if (!p->is_placeless[i])
			continue;
		str_add(text, between);
		add_unit(events, i, text);
		between = ", ";
	}
}

void plan_add_text(const struct plan *p, const struct event_list *events, struct str *text)
{
	for (u32 pass = 0; pass < p->n_passes; pass++) {
		const char *between = "";

		str_addf(text, "%s%u: ", pass ? "; " : "", pass + 1);
		for (size_t i = 0; i < events->n; i++) {
			if (!is_leader(events, i) || p->pass_of[i] != pass)
				continue;
			str_add(text, between);
			add_unit(events, i, text);
			between = ", ";
		}
	}
}
