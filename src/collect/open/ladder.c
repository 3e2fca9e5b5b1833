#include "collect/open/ladder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "collect/around/privilege.h"
#include "event/abi.h"

/*
 * Whether a timer can replace the event: it can sample instead of cycles, but neither count them
 * nor record branches.
 */
static bool has_clock_instead(const struct event_attr *a)
{
	return a->type == PERF_TYPE_HARDWARE && (u32)a->config == PERF_COUNT_HW_CPU_CYCLES &&
		a->sample_period && !(a->sample_type & PERF_SAMPLE_BRANCH_STACK);
}

static void take_clock(struct event_attr *a)
{
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_CPU_CLOCK;
	/* A timer has no precision and does not count guests. */
	attr_set_precise(a, 0);
}

static bool can_lower_precision(const struct opener *o, const struct event *e)
{
	(void)o;
	return e->wishes & EVENT_MAX_PRECISE && attr_precise(&e->attr) > 0;
}

static void lower_precision(struct event *e, struct str *said)
{
	attr_set_precise(&e->attr, attr_precise(&e->attr) - 1);
	str_addf(said, "precision %u is tried", attr_precise(&e->attr));
}

/* The word of an attr that a feature's bits are in. */
enum place { FLAGS, SAMPLES, READS, BRANCHES };

/* Features, youngest first: an old kernel refuses bits it does not know with EINVAL. */
static const struct feature {
	enum place place;
	u64 bits;
	u64 instead; /* the bits that older kernels have for it */
	const char *name, *since;
} features[] = {
	{BRANCHES, PERF_SAMPLE_BRANCH_COUNTERS, 0, "branch counters", "6.8"},
	{BRANCHES, PERF_SAMPLE_BRANCH_PRIV_SAVE, 0, "branch priv", "6.1"},
	{READS, PERF_FORMAT_LOST, 0, "read_format LOST", "6.0"},
	{FLAGS, ATTR_BUILD_ID, 0, "build_id", "5.12"},
	{SAMPLES, PERF_SAMPLE_WEIGHT_STRUCT, PERF_SAMPLE_WEIGHT, "weight_struct", "5.12"},
	{SAMPLES, PERF_SAMPLE_CODE_PAGE_SIZE, 0, "code_page_size", "5.11"},
	{SAMPLES, PERF_SAMPLE_DATA_PAGE_SIZE, 0, "data_page_size", "5.11"},
	{FLAGS, ATTR_TEXT_POKE, 0, "text_poke", "5.9"},
	{BRANCHES, PERF_SAMPLE_BRANCH_HW_INDEX, 0, "branch hw_index", "5.7"},
	{FLAGS, ATTR_CGROUP, 0, "cgroup", "5.7"},
	{SAMPLES, PERF_SAMPLE_CGROUP, 0, "sample cgroup", "5.7"},
	{FLAGS, ATTR_BPF_EVENT, 0, "bpf_event", "5.1"},
	{FLAGS, ATTR_KSYMBOL, 0, "ksymbol", "5.1"},
	{SAMPLES, PERF_SAMPLE_PHYS_ADDR, 0, "phys_addr", "4.14"},
	{BRANCHES, PERF_SAMPLE_BRANCH_TYPE_SAVE, 0, "branch save_type", "4.14"},
	{FLAGS, ATTR_NAMESPACES, 0, "namespaces", "4.12"},
	{BRANCHES, PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES, 0, "branch no_flags",
		"4.5"},
	{FLAGS, ATTR_CONTEXT_SWITCH, 0, "context_switch", "4.3"},
	{SAMPLES, PERF_SAMPLE_REGS_INTR, 0, "intr_regs", "3.19"},
	{FLAGS, ATTR_COMM_EXEC, 0, "comm_exec", "3.16"},
	{SAMPLES, PERF_SAMPLE_TRANSACTION, 0, "transaction", "3.13"},
	{FLAGS, ATTR_MMAP2, 0, "mmap2", "3.12"},
	{SAMPLES, PERF_SAMPLE_WEIGHT, 0, "weight", "3.10"},
	{SAMPLES, PERF_SAMPLE_DATA_SRC, 0, "data_src", "3.10"},
	{FLAGS, ATTR_EXCLUDE_GUEST, 0, "exclude_guest", "3.2"},
	{FLAGS, ATTR_SAMPLE_ID_ALL, 0, "sample_id_all", "2.6.38"},
};

static u64 *word_of(const struct feature *f, struct event_attr *a)
{
	switch (f->place) {
	case SAMPLES:
		return &a->sample_type;
	case READS:
		return &a->read_format;
	case BRANCHES:
		return &a->branch_sample_type;
	case FLAGS:
		break;
	}
	return &a->flags;
}

static const struct feature *youngest_feature(const struct event *e)
{
	struct event_attr attr = e->attr;

	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		if (*word_of(&features[i], &attr) & features[i].bits)
			return &features[i];
	return NULL;
}

static bool has_young_feature(const struct opener *o, const struct event *e)
{
	(void)o;
	return youngest_feature(e) != NULL;
}

static void drop_young_feature(struct event *e, struct str *said)
{
	const struct feature *f = youngest_feature(e);
	u64 *word = word_of(f, &e->attr);

	*word = (*word & ~f->bits) | f->instead;
	if (!(e->attr.sample_type & PERF_SAMPLE_REGS_INTR))
		e->attr.sample_regs_intr = 0;
	str_addf(said, "this kernel does not know '%s' (Linux %s does): recorded without it",
		f->name, f->since);
}

static bool is_too_large(const struct opener *o, const struct event *e)
{
	(void)o;
	return e->attr.size > attr_needed_size(&e->attr);
}

static void shrink(struct event *e, struct str *said)
{
	e->attr.size = attr_needed_size(&e->attr);
	str_addf(said, "an attr of %u bytes is tried", e->attr.size);
}

/* In user space alone these would count 0, and no number is better than that. */
static bool happens_in_kernel(const struct event *e)
{
	return e->attr.type == PERF_TYPE_TRACEPOINT ||
		(e->attr.type == PERF_TYPE_SOFTWARE &&
			(e->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
				e->attr.config == PERF_COUNT_SW_CPU_MIGRATIONS ||
				e->attr.config == PERF_COUNT_SW_CGROUP_SWITCHES));
}

static bool can_leave_kernel(const struct opener *o, const struct event *e)
{
	struct privilege p;

	/* On a whole CPU the kernel is not the only thing that we may not see. */
	if (o->target->is_system_wide || (o->refusals && happens_in_kernel(e)))
		return false;
	/* An event of the kernel alone would never happen. */
	if (e->attr.flags & (ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_USER))
		return false;
	privilege_read(&p);
	return !privilege_allows(&p, PRIVILEGE_KERNEL);
}

static void leave_kernel(struct event *e, struct str *said)
{
	struct privilege p;
	char why[512];

	e->attr.flags |= ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV;
	privilege_read(&p);
	str_addf(said, "only user space is measured: %s",
		privilege_explain(&p, PRIVILEGE_KERNEL, why, sizeof(why)));
}

static bool can_use_clock(const struct opener *o, const struct event *e)
{
	(void)o;
	/* A clock does not retire. */
	return has_clock_instead(&e->attr) && !(e->wishes & EVENT_RETIRE_LATENCY) &&
		!event_is_group_member(o->events, e - o->events->at);
}

/* Whether the event exists without the precision, so that a clock need not replace it. */
static bool can_drop_precision(const struct opener *o, const struct event *e)
{
	struct event_attr plain = e->attr;

	if (!attr_precise(&e->attr) || !can_use_clock(o, e))
		return false;
	attr_set_precise(&plain, 0);
	return o->opens_alone(o, e, &plain);
}

static void drop_precision(struct event *e, struct str *said)
{
	attr_set_precise(&e->attr, 0);
	str_add(said,
		"this machine counts it, but cannot say precisely where (:p needs PEBS, IBS or SPE): sampled without it, so addresses may be some instructions late");
}

static void use_clock(struct event *e, struct str *said)
{
	take_clock(&e->attr);
	e->wishes &= ~EVENT_MAX_PRECISE;
	str_add(said,
		"this machine offers no hardware cycle counter (most virtual machines do not): the timer 'cpu-clock' "
		"samples instead");
}

static bool can_read_one_by_one(const struct opener *o, const struct event *e)
{
	return !event_is_group_member(o->events, e - o->events->at) &&
		e->attr.read_format & PERF_FORMAT_GROUP && e->attr.flags & ATTR_INHERIT &&
		o->refusals;
}

/*
 * Whether this kernel refuses inherited reads, tried on an event with which nothing else can be
 * wrong.
 */
static bool refuses_inherited_reads(void)
{
	const struct event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER0,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID,
		.flags = ATTR_INHERIT | ATTR_DISABLED | ATTR_EXCLUDE_KERNEL};
	int fd = perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == EINVAL;
	close(fd);
	return false;
}

static bool can_leave_children(const struct opener *o, const struct event *e)
{
	return !event_is_group_member(o->events, e - o->events->at) &&
		e->attr.sample_type & PERF_SAMPLE_READ && e->attr.flags & ATTR_INHERIT &&
		refuses_inherited_reads();
}

static void leave_children(struct event *e, struct str *said)
{
	for (u32 i = 0; i < MAX(e->n_members, 1u); i++)
		e[i].attr.flags &= ~ATTR_INHERIT;
	str_add(said,
		"before Linux 6.12 samples cannot read counters that children inherit: threads and processes that are started from now on are left out (drop ':S' to include them)");
}

/* Before Linux 4.13 groups of inherited events could not be read in one call. */
static void read_one_by_one(struct event *e, struct str *said)
{
	for (u32 i = 0; i < e->n_members; i++)
		e[i].attr.read_format &= ~(u64)PERF_FORMAT_GROUP;
	str_add(said, "the members of the group are read one by one");
}

/* A PMU with a list of its own CPUs may be unable to tell whose events it sees. */
static bool can_count_all(const struct opener *o, const struct event *e)
{
	return o->refusals && o->target->threads.n && e->cpus.n && !(e->wishes & EVENT_NO_TASKS);
}

static void count_all(struct event *e, struct str *said)
{
	e->wishes |= EVENT_NO_TASKS;
	str_addf(said,
		"its PMU cannot tell tasks apart: everything that runs is counted, not only the target");
}

struct rung {
	int errnos[6]; /* the errnos to which this is the answer; ends with 0 */
	bool (*applies)(const struct opener *o, const struct event *e);
	/* Changes the attr, describes the change. */
	void (*step)(struct event *e, struct str *said);
	enum log_level level;
	bool is_for_all;    /* the description holds for all events: it is logged once */
	const char *suffix; /* added to the event's name, or NULL */
	const char *name;   /* the event's new name, or NULL */
	char drops;         /* a modifier that the event's name loses; 0: none */
};

/* clang-format off: one row for each rung */
static const struct rung rungs[] = {
	{{E2BIG}, is_too_large, shrink, LOG_DEBUG, false, NULL, NULL, 0},
	{{EINVAL}, can_leave_children, leave_children, LOG_NOTE, false, NULL, NULL, 0},
	{{ENOENT, EOPNOTSUPP, EINVAL, ENODEV, ENXIO}, can_lower_precision, lower_precision,
		LOG_DEBUG, false, NULL, NULL, 0},
	{{ENOENT, EOPNOTSUPP, EINVAL, ENODEV, ENXIO}, can_drop_precision, drop_precision, LOG_NOTE,
		false, NULL, NULL, 'p'},
	{{EACCES, EPERM}, can_leave_kernel, leave_kernel, LOG_NOTE, true, "u", NULL, 0},
	{{EINVAL}, can_count_all, count_all, LOG_NOTE, false, NULL, NULL, 0},
	{{EINVAL}, can_read_one_by_one, read_one_by_one, LOG_DEBUG, false, NULL, NULL, 0},
	{{EINVAL}, has_young_feature, drop_young_feature, LOG_NOTE, false, NULL, NULL, 0},
	{{ENOENT, EOPNOTSUPP, EINVAL, ENODEV, ENXIO}, can_use_clock, use_clock, LOG_NOTE, false,
		NULL, "cpu-clock", 0},
};
/* clang-format on */

static bool answers(const struct rung *rung, int sys)
{
	for (size_t i = 0; i < ARRAY_SIZE(rung->errnos) && rung->errnos[i]; i++)
		if (rung->errnos[i] == sys)
			return true;
	return false;
}

bool ladder_clock_instead(struct event_attr *attr, int sys)
{
	static const int errnos[] = {ENOENT, EOPNOTSUPP, EINVAL, ENODEV, ENXIO};

	for (size_t i = 0; i < ARRAY_SIZE(errnos); i++) {
		if (errnos[i] != sys || !has_clock_instead(attr))
			continue;
		if (attr_precise(attr))
			attr_set_precise(attr, 0);
		else
			take_clock(attr);
		return true;
	}
	return false;
}

/* Adds a name without a letter of its modifiers, which follow the last ':' or '/'. */
static void add_without(const char *name, char letter, struct str *text)
{
	const char *colon = strrchr(name, ':'), *slash = strrchr(name, '/'),
		   *modifiers = colon > slash ? colon : slash;

	for (const char *at = name; *at; at++)
		if (!modifiers || at <= modifiers || *at != letter)
			str_addc(text, *at);
	if (text->n && text->at[text->n - 1] == ':')
		str_cut(text, text->n - 1);
}

/* Changes the event's name: adds or removes a modifier, or replaces the base, as the rung says. */
static void rename_event(struct opener *o, struct event *e, const struct rung *rung)
{
	struct str name = {0};

	if (rung->name)
		str_addf(&name, "%s%s", rung->name,
			e->attr.flags & ATTR_EXCLUDE_KERNEL         ? ":u"
				: e->attr.flags & ATTR_EXCLUDE_USER ? ":k"
								    : "");
	else if (rung->drops)
		add_without(e->name, rung->drops, &name);
	else if (strchr(e->name, ':') && e->attr.type != PERF_TYPE_TRACEPOINT)
		str_addf(&name, "%s%s", e->name, rung->suffix);
	else
		str_addf(&name, "%s:%s", e->name, rung->suffix);
	e->name = arena_strdup(&o->events->arena, str_text(&name), name.n);
	str_fini(&name);
}

bool ladder_step_down(struct opener *o, struct event *e, int sys)
{
	for (size_t i = 0; i < ARRAY_SIZE(rungs); i++) {
		struct str said = {0};

		if (!answers(&rungs[i], sys) || !rungs[i].applies(o, e))
			continue;
		rungs[i].step(e, &said);
		if (rungs[i].is_for_all)
			log_say(o->log, rungs[i].level, "%s", str_text(&said));
		else
			log_say(o->log, rungs[i].level, "event '%s': %s", e->name, str_text(&said));
		if (rungs[i].name || rungs[i].suffix || rungs[i].drops)
			rename_event(o, e, &rungs[i]);
		str_fini(&said);
		return true;
	}
	return false;
}
