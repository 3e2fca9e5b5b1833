#include "profile/gather/wallprofile.h"

#include <string.h>

#include "arch/arch.h"
#include "event/abi.h"
#include "profile/gather/gather.h"

/* ---- the way into the scheduler ---- */

/* Functions on every thread's way off a CPU; * stands for any ending. */
static const char *const ways_out[] = {
	"__schedule",
	"schedule",
	"schedule_timeout*",
	"schedule_hrtimeout*",
	"schedule_preempt_disabled",
	"schedule_rtlock",
	"schedule_user",
	"io_schedule*",
	"preempt_schedule*",
	"__cond_resched*",
	"_cond_resched",
	"dynamic_cond_resched",
	"dynamic_preempt_schedule*",
	"rcu_note_context_switch",
	/* Generic waits: their callers tell what was waited for. */
	"poll_schedule_timeout*",
	"wait_woken",
	"bit_wait*",
	"__wait_on_bit*",
	"out_of_line_wait_on_bit*",
	"__wait_for_common",
	"wait_for_completion*",
};

/* Functions through which an interrupt or the end of a system call preempts a thread, on all architectures. */
static const char *const ways_taken[] = {
	"irqentry_exit*",
	"raw_irqentry_exit*",
	"exit_to_user_mode*",
	"syscall_exit_to_user_mode*",
	"prepare_exit_to_usermode",
	"ret_from_fork*",
	"do_notify_resume",
};

static bool is_one_of(const char *name, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n && patterns[i]; i++) {
		size_t length = strcspn(patterns[i], "*");

		if (!strncmp(name, patterns[i], length) && (patterns[i][length] || !name[length]))
			return true;
	}
	return false;
}

/* The functions that each architecture names in its own way. */
static bool is_of_processor(const char *name)
{
	const struct arch *a;

	for (size_t i = 0; (a = arch_at(i)) != NULL; i++)
		if (is_one_of(name, a->kernel_ways, ARRAY_SIZE(a->kernel_ways)))
			return true;
	return false;
}

enum way { WAY_NOT, WAY_OUT, WAY_TAKEN };

static enum way way_of(const struct profile_symbol *s)
{
	if (s->mode != PERF_RECORD_MISC_KERNEL || !s->name)
		return WAY_NOT;
	if (is_one_of(s->name, ways_out, ARRAY_SIZE(ways_out)))
		return WAY_OUT;
	return is_one_of(s->name, ways_taken, ARRAY_SIZE(ways_taken)) || is_of_processor(s->name)
		? WAY_TAKEN
		: WAY_NOT;
}

/* Removes the scheduler's frames from a row, unless it has no others. */
static void trim(const struct profile *p, const u8 *ways, struct profile_row *row)
{
	u32 frame = row->frame, stack = row->callers;

	/* Only stacks that begin in the scheduler: first the ways out, then the ways taken. */
	if (ways[p->frames.at[frame].symbol] != WAY_OUT)
		return;
	for (enum way last = WAY_OUT; ways[p->frames.at[frame].symbol] >= last && stack;) {
		last = ways[p->frames.at[frame].symbol];
		frame = p->stacks.at[stack].frame;
		stack = p->stacks.at[stack].parent;
	}
	if (p->frames.at[frame].ending)
		return;
	row->frame = frame;
	row->callers = stack;
}

void wallprofile_trim(struct profile *p)
{
	u8 *ways = mem_zalloc(p->symbols.n + 1);

	for (size_t i = 1; i < p->symbols.n; i++)
		ways[i] = (u8)way_of(&p->symbols.at[i]);
	vec_each(row, &p->rows)
		trim(p, ways, row);
	mem_free(ways);
}

/* ---- time that no sample represents ---- */

struct resting {
	struct profile *profile;
	const struct machine *machine;
	u32 dso;
	u32 frames[WALL_RESTS + 1]; /* by rest: frame + 1; the last is for unaccounted time */
};

static u32 frame_of(struct resting *r, unsigned what)
{
	static const char *const names[] = {[WALL_CPU] = "[too short to be sampled]",
		[WALL_RUNNABLE] = "[waited for a CPU, stack not known]",
		[WALL_BLOCKED] = "[blocked, stack not known]",
		[WALL_REST_STARTING] = "[new thread, waited for its first CPU]",
		[WALL_RESTS] = "[unaccounted]"};
	struct profile *p = r->profile;

	if (!r->frames[what]) {
		struct profile_frame frame = {.dso = r->dso, .address = UINT64_MAX / 2 + what};

		vec_add(&p->symbols,
			((struct profile_symbol){.dso = r->dso,
				.start = frame.address,
				.end = frame.address,
				.name = intern_str(&p->strings, names[what])}));
		frame.symbol = (u32)p->symbols.n - 1;
		r->frames[what] = profile_frame(p, &frame) + 1;
	}
	return r->frames[what] - 1;
}

/* A label of a thread's rest, as its samples would have it. */
static u64 rest_label(struct resting *r, const struct wall_thread *t, enum profile_label label)
{
	struct thread_state state;
	struct str text = {0};
	u64 value;

	switch (label) {
	case LABEL_COMM:
		machine_state_at(r->machine, t->pid, t->tid, t->last, &r->profile->strings, &state);
		return (u64)(uintptr_t)intern_str(&r->profile->strings, state.comm);
	case LABEL_COMM_NODIGIT:
		label_set_nodigit(profile_text(rest_label(r, t, LABEL_COMM)), &text);
		value = (u64)(uintptr_t)intern_str(&r->profile->strings, str_text(&text));
		str_fini(&text);
		return value;
	case LABEL_PID:
		return t->pid;
	case LABEL_TID:
		return t->tid;
	case LABEL_CPU:
		return (u32)-1;
	case LABEL_TIME:
		return t->last;
	default:
		return 0;
	}
}

static void add_row(struct resting *r, const struct wall_thread *t, unsigned what, u32 event,
	u64 period)
{
	struct profile *p = r->profile;
	struct profile_row row = {.event = event, .n_samples = 1, .period = period};
	u64 labels[LABEL_COUNT];

	if (!period)
		return;
	row.frame = frame_of(r, what);
	for (u8 i = 0; i < p->n_labels; i++)
		labels[i] = rest_label(r, t, p->label_at[i]);
	profile_add_row(p, &row, labels);
	p->events.at[event].n_samples += row.n_samples;
	p->events.at[event].period += period;
}

void wallprofile_add_rest(struct profile *p, const struct wall *w, const struct machine *m)
{
	struct resting r = {.profile = p, .machine = m, .dso = (u32)p->dsos.n};
	const char *unknown = intern_str(&p->strings, "[unknown]");

	vec_add(&p->dsos, ((struct profile_dso){.path = unknown, .name = unknown}));
	vec_each(t, &w->threads) {
		for (unsigned rest = 0; rest < WALL_RESTS; rest++) {
			unsigned state = rest == WALL_REST_STARTING ? WALL_RUNNABLE : rest;

			add_row(&r, t, rest, AGGREGATE_WALL, t->rest[rest]);
			add_row(&r, t, rest, AGGREGATE_BY_STATE + state, t->rest[rest]);
			add_row(&r, t, rest, AGGREGATE_LATENCY, t->rest_latency[rest]);
		}
		add_row(&r, t, WALL_RESTS, AGGREGATE_WALL, t->unaccounted);
	}
}
