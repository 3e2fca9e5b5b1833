/*
 * api_topdown.c - TopDown shares of regions of the calling thread.
 */
#include "api.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sysfile.h"
#include "collect/counter/topdown.h"
#include "event/cpuid.h"
#include "event/pmu.h"

_Static_assert((int)PACE_TOPDOWN_SHARES == (int)TOPDOWN_COUNT &&
		(int)PACE_CORE_BOUND == (int)TOPDOWN_CORE,
	"the public names are those of collect/counter/topdown.h");

static const u64 PERIOD_NS = 2000000000, SHORT_SLOTS = 10000;
static const double COARSE = 0.05;

struct pace_topdown {
	struct pace_group *group; /* slots and one metric */
	int level;
	unsigned n_open;      /* regions */
	u64 period, reset_ns; /* the current one, and when it began */
};

/* ---- opening ---- */

/* The core PMU that has slots and their metrics, and how many levels of these; false: none has. */
static bool find_pmu(struct pmu *pmu, int *ret_level)
{
	static const char *const names[] = {"cpu", "cpu_core"};
	struct err ignored;
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (pmu_open(pmu, "/sys", names[i], &ignored))
			continue;
		/* Efficient cores, and older processors, have counters of that name which are events like others. */
		if (pmu_alias(pmu, "slots", text, sizeof(text)) &&
			pmu_alias(pmu, "topdown-retiring", text, sizeof(text)) &&
			strstr(text, "umask=0x80")) {
			*ret_level =
				pmu_alias(pmu, "topdown-heavy-ops", text, sizeof(text)) ? 2 : 1;
			return true;
		}
		pmu_close(pmu);
		*pmu = (struct pmu){0};
	}
	return false;
}

static int no_register(struct err *err)
{
	char model[CPUID_SIZE];
	struct err ignored;

	if (cpuid_read("/sys", 0, model, &ignored))
		snprintf(model, sizeof(model), "unknown");
	return err_set(err, ERR_UNSUPPORTED,
		"TopDown: there is no register of slots and their metrics here (processor %s): Intel's have it since Ice Lake, and virtual machines "
		"if their host hands it on",
		model);
}

/* Why the registers cannot be read, which the group's pages say. */
static int check_reading(const struct pace_topdown *t, const char *pmu, struct err *err)
{
	const struct userread *slots = &t->group->members[0].user,
			      *metric = &t->group->members[1].user;
	char path[128];
	s64 rdpmc;

	if (!slots->page || !metric->page)
		return err_set(err, ERR_UNSUPPORTED,
			"TopDown: the pages of the counters cannot be mapped: is the limit of locked memory reached (ulimit -l)?");
	if (userread_may(slots->page) && userread_may(metric->page))
		return 0;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/rdpmc", pmu);
	if (sysfile_s64(path, &rdpmc) && !rdpmc)
		return err_set(err, ERR_UNSUPPORTED,
			"TopDown: the kernel does not let programs read counters: 'echo 1 > %s' as root changes that",
			path);
	return err_set(err, ERR_UNSUPPORTED,
		"TopDown: the kernel does not let programs read these counters");
}

/* Closed by pace_topdown_open(), also if memory runs out. */
struct opening {
	struct pace_topdown *t; /* the last to be allocated */
	struct pmu pmu;
	struct err err;
};

/* What takes memory; the group has its own way of running out of it. */
static void begin_opening(void *opening)
{
	struct opening *o = opening;
	int level;

	if (!find_pmu(&o->pmu, &level)) {
		no_register(&o->err);
		return;
	}
	o->t = mem_zalloc(sizeof(*o->t));
	o->t->level = level;
}

static int open_group(struct opening *o, struct pace_error *ret_err)
{
	static const struct pace_options options = {.flags = PACE_ENABLED | PACE_USER_READ};
	char text[128];

	snprintf(text, sizeof(text), "{%s/slots/,%s/topdown-retiring/}:u", o->pmu.name,
		o->pmu.name);
	o->t->group = pace_group_open(text, 0, -1, &options, ret_err);
	if (!o->t->group)
		return -1;
	if (check_reading(o->t, o->pmu.name, &o->err))
		return api_give_error(&o->err, ret_err);
	o->t->reset_ns = clock_now_ns();
	return 0;
}

PUBLIC struct pace_topdown *pace_topdown_open(struct pace_error *ret_err)
{
	struct opening o = {0};
	size_t size;

	if (!mem_try(begin_opening, &o, &size))
		api_exhausted(size, &o.err, "opening TopDown");
	if (o.err.code) {
		api_give_error(&o.err, ret_err);
	} else if (open_group(&o, ret_err)) {
		pace_topdown_close(o.t);
		o.t = NULL;
	}
	pmu_close(&o.pmu);
	return o.t;
}

PUBLIC void pace_topdown_close(struct pace_topdown *t)
{
	if (!t)
		return;
	pace_group_close(t->group);
	mem_free(t);
}

PUBLIC int pace_topdown_level(const struct pace_topdown *t)
{
	return t->level;
}

/* ---- regions ---- */

static int look(const struct pace_topdown *t, struct topdown_point *ret_point, struct err *err)
{
	const struct userread *slots = &t->group->members[0].user,
			      *metric = &t->group->members[1].user;

	if (topdown_read(slots, metric, ret_point))
		return 0;
	if (!userread_is_own(slots))
		return err_set(err, ERR_INVAL,
			"TopDown: only the thread that opened it can measure its regions");
	return err_set(err, ERR_LIMIT,
		"TopDown: slots and their metrics are not on the PMU at the moment: others have it, or this core does not have them");
}

static int reset(struct pace_topdown *t, struct err *err)
{
	if (ioctl(t->group->members[0].counter.fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP))
		return err_sys(err, errno, "TopDown: resetting its counters");
	t->period++;
	t->n_open = 0;
	t->reset_ns = clock_now_ns();
	return 0;
}

PUBLIC int pace_topdown_reset(struct pace_topdown *t, struct pace_error *ret_err)
{
	struct err err = {0};

	return reset(t, &err) ? api_give_error(&err, ret_err) : 0;
}

PUBLIC int pace_topdown_begin(struct pace_topdown *t, struct pace_topdown_point *ret_begin,
	struct pace_error *ret_err)
{
	struct topdown_point p;
	struct err err = {0};

	if (!t->n_open && clock_now_ns() - t->reset_ns > PERIOD_NS)
		reset(t, &err);
	if (err.code || look(t, &p, &err))
		return api_give_error(&err, ret_err);
	t->n_open++;
	*ret_begin = (struct pace_topdown_point){p.slots, p.metrics, t->period};
	return 0;
}

PUBLIC int pace_topdown_end(struct pace_topdown *t, const struct pace_topdown_point *begin,
	struct pace_topdown_shares *ret_shares, struct pace_error *ret_err)
{
	const struct topdown_point first = {begin->slots, begin->metrics};
	struct topdown_shares s;
	struct topdown_point second;
	struct err err = {0};

	if (begin->period != t->period) {
		err_set(&err, ERR_INVAL, "TopDown: the counters were reset since the region began");
		return api_give_error(&err, ret_err);
	}
	t->n_open -= t->n_open > 0;
	if (!look(t, &second, &err) && !topdown_between(&first, &second, t->level, &s))
		err_set(&err, ERR_INVAL,
			"TopDown: no slot has passed since the region began (%llu, now %llu)",
			(unsigned long long)first.slots, (unsigned long long)second.slots);
	if (err.code)
		return api_give_error(&err, ret_err);
	*ret_shares = (struct pace_topdown_shares){.slots = s.slots,
		.error = s.error,
		.doubts = (s.slots < SHORT_SLOTS ? PACE_TOPDOWN_SHORT : 0) |
			(s.error > COARSE ? PACE_TOPDOWN_COARSE : 0)};
	memcpy(ret_shares->share, s.share, sizeof(s.share));
	return 0;
}
