#include "collect/open/open.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/str.h"
#include "collect/around/privilege.h"
#include "collect/open/refusal.h"
#include "event/abi.h"
#include "event/cgroup.h"

struct opener {
	struct event_list *events;
	const struct target *target;
	struct counters *counters;
	struct log *log;
	struct err *err;
	/*
	 * By event: why it could not be opened. NULL: the events sample, and one refusal is an
	 * error.
	 */
	struct err *refusals;
	int cgroup_fd; /* of the event that is being opened; -1: all tasks */
	u64 n_ended;   /* threads that had ended before they were opened */
	size_t found;  /* a hint for the search of the next leader */
};

/* ---- the ladder ---- */

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

static bool opens_alone(const struct opener *o, const struct event *e,
	const struct event_attr *attr);

/* Whether the event exists without the precision, so that a clock need not replace it. */
static bool can_drop_precision(const struct opener *o, const struct event *e)
{
	struct event_attr plain = e->attr;

	if (!attr_precise(&e->attr) || !can_use_clock(o, e))
		return false;
	attr_set_precise(&plain, 0);
	return opens_alone(o, e, &plain);
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

bool open_clock_instead(struct event_attr *attr, int sys)
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

/* Takes one step down the ladder. False: there is none. */
static bool step_down(struct opener *o, struct event *e, int sys)
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

/* ---- opening ---- */

int open_raise_limit(u64 need, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return err_sys(err, errno, "asking for the limit of open files");
	if (limit.rlim_cur >= need)
		return 0;
	/*
	 * Root may raise the hard limit too. For others this fails, and the soft limit is raised as
	 * far as possible.
	 */
	if (limit.rlim_max < need)
		(void)setrlimit(RLIMIT_NOFILE,
			&(struct rlimit){.rlim_cur = need, .rlim_max = need});
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MIN(need, limit.rlim_max)) {
		limit.rlim_cur = MIN(need, limit.rlim_max);
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur < need)
		return err_set(err, ERR_LIMIT,
			"%llu files have to be open at once (one for each event, CPU and thread), but the hard limit is %llu: "
			"raise it ('ulimit -Hn %llu' as root), or choose fewer threads (-t) or CPUs (-C)",
			(unsigned long long)need, (unsigned long long)limit.rlim_max,
			(unsigned long long)need);
	return 0;
}

enum outcome { OPENED, SKIPPED, AGAIN, FAILED };

/* Opens one descriptor: in its group if the leader was opened there, and without the event's filter. */
static int open_fd(const struct counters *counters, const struct event *e, struct counter *c,
	int cgroup_fd, size_t *hint)
{
	const struct counter *leader =
		e->leader == c->event ? NULL : counters_find(counters, e->leader, c, hint);
	struct event_attr attr = e->attr;

	if (c->stack_bytes) {
		attr.sample_stack_user = c->stack_bytes;
		attr.flags &= ~ATTR_ENABLE_ON_EXEC;
		attr.flags |= leader ? 0 : ATTR_DISABLED;
	}
	c->fd = perf_event_open(&attr, cgroup_fd >= 0 ? cgroup_fd : c->tid, c->cpu,
		leader ? leader->fd : -1,
		PERF_FLAG_FD_CLOEXEC | (cgroup_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0));
	return c->fd;
}

static int set_filter(const struct event *e, int fd, struct err *err)
{
	int sys;

	if (!e->filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, e->filter))
		return 0;
	sys = errno;
	if (sys != EINVAL)
		return err_sys(err, sys, "event '%s': setting the filter '%s'", e->name, e->filter);
	return err_set(err, ERR_INVAL,
		"event '%s': the kernel does not understand the filter '%s'; the event's fields are in 'events/%s/format' of tracefs",
		e->name, e->filter, e->name);
}

static enum outcome open_one(struct opener *o, struct event *e, s32 cpu, pid_t tid)
{
	struct counter c = {.event = e - o->events->at, .cpu = cpu, .tid = tid};
	int sys;

	if (open_fd(o->counters, e, &c, o->cgroup_fd, &o->found) >= 0) {
		vec_add(o->counters, c);
		return set_filter(e, c.fd, o->err) ? FAILED : OPENED;
	}
	sys = errno;
	/* Threads come and go while they are opened one after the other. */
	if (sys == ESRCH && tid > 0) {
		o->n_ended++;
		log_debug(o->log, "thread %d has ended", tid);
		return SKIPPED;
	}
	if (step_down(o, e, sys))
		return AGAIN;
	refusal_explain(&e->attr, e->name, tid, cpu, sys, o->err);
	return FAILED;
}

static void close_event(struct opener *o, const struct event *e)
{
	size_t kept = 0;

	vec_each(c, o->counters) {
		if (c->event == e - o->events->at)
			close(c->fd);
		else
			o->counters->at[kept++] = *c;
	}
	o->counters->n = kept;
}

/* A counter of a package's energy cannot tell whose it was. */
static bool counts_all(const struct opener *o, const struct event *e)
{
	return o->refusals && o->target->threads.n && e->wishes & EVENT_NO_TASKS;
}

/* A counter without a ring can follow its task from CPU to CPU. */
static bool follows_tasks(const struct opener *o, const struct event *e)
{
	return (o->refusals || o->target->is_per_thread) && o->target->threads.n &&
		!o->target->has_cpu_list && !counts_all(o, e) &&
		/* No ring can be inherited from CPU to CPU. */
		!(e->wishes & EVENT_RETIRE_LATENCY);
}

/* Opens one event everywhere with the attr it has now. */
static enum outcome open_everywhere(struct opener *o, struct event *e)
{
	static const struct target_thread everyone = {.tid = -1};
	const struct target *t = o->target;
	const struct target_thread *threads = t->threads.n ? t->threads.at : &everyone;
	size_t n_threads = MAX(t->threads.n, (size_t)1);
	bool follows = follows_tasks(o, e);

	if (counts_all(o, e)) {
		threads = &everyone;
		n_threads = 1;
	}
	o->n_ended = 0;
	for (size_t i = 0; i < n_threads; i++) {
		for (size_t k = 0; k < (follows ? 1 : t->cpus.n); k++) {
			s32 cpu = follows ? -1 : (s32)t->cpus.at[k];
			enum outcome r;

			if (cpu >= 0 && e->cpus.n && !cpus_has(&e->cpus, cpu))
				continue;
			r = open_one(o, e, cpu, threads[i].tid);
			if (r == SKIPPED)
				break;
			if (r != OPENED)
				return r;
		}
	}
	return OPENED;
}

/* Tasks of a cgroup are counted on whole CPUs, while they run there. */
static int open_cgroup(struct opener *o, const struct event *e)
{
	if (!o->target->is_system_wide)
		return err_set(o->err, ERR_INVAL,
			"event '%s' of the cgroup '%s': cgroups are counted on whole CPUs, so -a is needed",
			e->name, e->cgroup);
	return cgroup_open(e->cgroup, &o->cgroup_fd, o->err);
}

static int open_event(struct opener *o, struct event *e)
{
	enum outcome r;

	o->cgroup_fd = -1;
	if (e->cgroup && open_cgroup(o, e))
		return o->err->code;
	while ((r = open_everywhere(o, e)) == AGAIN)
		close_event(o, e);
	if (o->cgroup_fd >= 0)
		close(o->cgroup_fd);
	if (r == FAILED)
		return o->err->code;
	if (o->n_ended && o->n_ended >= o->target->threads.n)
		return err_set(o->err, ERR_NOENT, "process %d has ended",
			o->target->threads.at[0].pid);
	return 0;
}

int open_again(const struct event_list *events, const struct counters *counters, size_t i,
	int *ret_fd, struct err *err)
{
	struct counter c = counters->at[i];
	const struct event *e = &events->at[c.event];
	int cgroup_fd = -1, sys;
	size_t hint = 0;

	*ret_fd = -1;
	if (e->cgroup && cgroup_open(e->cgroup, &cgroup_fd, err))
		return err->code;
	open_fd(counters, e, &c, cgroup_fd, &hint);
	sys = errno;
	if (cgroup_fd >= 0)
		close(cgroup_fd);
	if (c.fd < 0)
		return err_sys(err, sys, "opening event '%s' on CPU %d again", e->name, c.cpu);
	if (set_filter(e, c.fd, err)) {
		close(c.fd);
		return err->code;
	}
	*ret_fd = c.fd;
	return 0;
}

int open_fetch_ids(struct event_list *events, struct counters *counters, struct err *err)
{
	vec_each(e, events)
		e->n_ids = 0;
	vec_each(c, counters)
		events->at[c->event].n_ids++;
	vec_each(e, events) {
		e->ids = arena_alloc(&events->arena, e->n_ids * sizeof(*e->ids));
		e->n_ids = 0;
	}
	vec_each(c, counters) {
		struct event *e = &events->at[c->event];

		if (counter_fetch_id(c, &e->attr, err))
			return err->code;
		e->ids[e->n_ids++] = c->id;
	}
	return 0;
}

/* ---- counting: one event must not stop the others ---- */

static const u64 switching = ATTR_DISABLED | ATTR_ENABLE_ON_EXEC | ATTR_PINNED | ATTR_EXCLUSIVE;

/* The next member becomes the leader of the remaining group. */
static void hand_over(struct event_list *events, struct event *e)
{
	u32 next = e - events->at + 1, n = e->n_members - 1;

	for (u32 i = next; i < next + n; i++)
		events->at[i].leader = next;
	events->at[next].n_members = n;
	events->at[next].attr.flags |= e->attr.flags & switching;
	e->n_members = 1;
}

/* How many members stay together: the kernel counts TopDown metrics only behind slots. None if that is all of the group. */
static u32 inseparable(const struct event *leader)
{
	u32 n = 0;

	for (u32 i = 1; attr_is_slots(&leader->attr) && i < leader->n_members; i++)
		if (attr_is_topdown(&leader[i].attr))
			n = i + 1;
	return n < leader->n_members ? n : 0;
}

/* Makes every member an event of its own. */
static void dissolve(struct opener *o, struct event *leader)
{
	u32 first = leader - o->events->at, n = leader->n_members, n_kept = inseparable(leader);

	for (u32 i = first; i < first + n_kept; i++)
		close_event(o, &o->events->at[i]);
	leader->n_members = n_kept;
	for (u32 i = first + n_kept; i < first + n; i++) {
		struct event *e = &o->events->at[i];

		close_event(o, e);
		memset(&o->refusals[i], 0, sizeof(o->refusals[i]));
		e->leader = i;
		e->n_members = 1;
		e->attr.read_format &= ~(u64)PERF_FORMAT_GROUP;
		e->attr.flags |= leader->attr.flags & switching;
	}
	log_note(o->log, "the group of '%s' does not fit on the PMU: %s%u events count one by one",
		leader->name, n_kept ? "beside it and its TopDown metrics " : "its ", n - n_kept);
}

/* Whether the event would open with this attr and outside its group. */
static bool opens_alone(const struct opener *o, const struct event *e,
	const struct event_attr *attr)
{
	const struct target *t = o->target;
	struct counter c = {.event = e - o->events->at, .cpu = -1, .tid = -1};
	struct event alone = *e;
	int cgroup_fd = -1;
	struct err ignored;
	size_t hint = 0;

	alone.attr = *attr;
	alone.leader = c.event;
	if (!follows_tasks(o, e))
		c.cpu = (s32)(e->cpus.n ? e->cpus.at[0] : t->cpus.at[0]);
	if (t->threads.n && !counts_all(o, e))
		c.tid = t->threads.at[0].tid;
	if (e->cgroup && cgroup_open(e->cgroup, &cgroup_fd, &ignored))
		return false;
	if (open_fd(o->counters, &alone, &c, cgroup_fd, &hint) >= 0)
		close(c.fd);
	if (cgroup_fd >= 0)
		close(cgroup_fd);
	return c.fd >= 0;
}

/*
 * Opens event *i, or notes why not. If a weak group does not fit, *i goes back to the first of its
 * members.
 */
static int open_or_leave(struct opener *o, size_t *i)
{
	struct event *e = &o->events->at[*i], *leader = &o->events->at[e->leader];
	struct event before = *e;

	log_hold(o->log);
	if (!open_event(o, e)) {
		log_release(o->log);
		return 0;
	}
	log_forget(o->log);
	close_event(o, e);
	*e = before;
	/* A rung may have changed the members too. */
	for (u32 k = 1; k < e->n_members; k++)
		e[k].attr.read_format |= before.attr.read_format & PERF_FORMAT_GROUP;
	if (o->err->code == ERR_LIMIT)
		return o->err->code;
	if (e != leader && opens_alone(o, e, &e->attr)) {
		if (leader->wishes & EVENT_WEAK_GROUP) {
			*i = (size_t)e->leader - 1;
			dissolve(o, leader);
			return 0;
		}
		err_set(o->err, ERR_UNSUPPORTED,
			"event '%s' does not fit on the PMU beside the others of its group: ':W' after the group lets them count one by one",
			e->name);
	}
	o->refusals[*i] = *o->err;
	if (e->n_members > 1)
		hand_over(o->events, e);
	return 0;
}

/*
 * Raises the limit on open files, and tells users who had set it. The output, pipes and the files
 * looked up at the end need descriptors too.
 */
static int raise_limit(struct opener *o, u64 n_counters)
{
	enum { OTHERS = 64, OTHERS_LEAST = 16 };
	u64 need = n_counters + OTHERS;
	struct rlimit before;
	struct err ignored;

	if (getrlimit(RLIMIT_NOFILE, &before))
		before.rlim_cur = RLIM_INFINITY;
	if (open_raise_limit(need, &ignored)) {
		need = n_counters + OTHERS_LEAST;
		if (open_raise_limit(need, o->err))
			return o->err->code;
	}
	if (before.rlim_cur < need)
		log_note(o->log,
			"%llu files have to be open at once: pace raises its own limit, which was %llu (ulimit -n)",
			(unsigned long long)need, (unsigned long long)before.rlim_cur);
	return 0;
}

static int open_all(struct opener *o)
{
	u64 n_fds = 0;

	vec_each(e, o->events)
		n_fds += (follows_tasks(o, e) ? 1 : o->target->cpus.n) *
			MAX(o->target->threads.n, (size_t)1);
	if (raise_limit(o, n_fds))
		return o->err->code;
	for (size_t i = 0; i < o->events->n; i++) {
		if (o->events->at[i].wishes & EVENT_LEFT_OUT)
			continue;
		if (!(o->refusals ? open_or_leave(o, &i) : open_event(o, &o->events->at[i])))
			continue;
		return o->err->code;
	}
	/* Samples name their event by its id; counting goes by the order of opening. */
	return o->refusals ? 0 : open_fetch_ids(o->events, o->counters, o->err);
}

static int open_with(struct opener *o, struct counters *ret_counters)
{
	/* Set first, so that the caller can close what is open if memory runs out. */
	*ret_counters = (struct counters){0};
	o->counters = ret_counters;
	if (open_all(o)) {
		counters_close(ret_counters);
		return o->err->code;
	}
	return 0;
}

int open_events(struct event_list *events, const struct target *target,
	struct counters *ret_counters, struct log *log, struct err *err)
{
	struct opener o = {.events = events, .target = target, .log = log, .err = err};

	return open_with(&o, ret_counters);
}

int open_possible(struct event_list *events, const struct target *target,
	struct counters *ret_counters, struct err *refusals, struct log *log, struct err *err)
{
	struct opener o = {.events = events,
		.target = target,
		.refusals = refusals,
		.log = log,
		.err = err};

	return open_with(&o, ret_counters);
}
