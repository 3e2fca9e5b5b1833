#include "base/selfname.h"
#include "cmd/stat/measuring.h"
#include "collect/open/missing.h"
#include "profile/diff/counts.h"

static int open_counters(void *ctx, struct err *err)
{
	struct measuring *m = ctx;
	const struct stat_command *o = m->options;
	const struct counting_options how = {.no_inherit = o->no_inherit,
		.is_command = m->measures_workload,
		.starts_off = o->has_delay && o->delay_ms != 0,
		.samples_latencies = o->samples_latencies,
		.needs_ids = o->is_record,
		.has_no_samples = stat_record_is_piped(o)};

	return counting_open(&m->counting, &m->events, &m->target, &how, &m->log, err);
}

static void close_counters(void *ctx)
{
	struct measuring *m = ctx;

	counting_close(&m->counting);
}

/* Called after counting_read(). */
static size_t count_again(void *ctx, s32 cpu)
{
	struct measuring *m = ctx;

	return counting_reopen_cpu(&m->counting, cpu, m->run->is_on);
}

void stat_say_unsupported(struct err *err)
{
	const struct err why = *err;

	if (program_perf_version() > 6)
		err_set(err, why.code, "No supported events found. %s", why.msg);
}

/* Callers of perf 7 expect an error where perf 6 has a table without counts. */
static int check_any(const struct measuring *m, struct err *err)
{
	if (program_perf_version() <= 6 || !m->events.n)
		return 0;
	vec_each(e, &m->events)
		if (!m->counting.why[e - m->events.at].code)
			return 0;
	*err = m->counting.why[0];
	stat_say_unsupported(err);
	return err->code;
}

void stat_open_init(struct measuring *m)
{
	attach_init(&m->attach, &m->target, "counted", &m->log);
	attach_add(&m->attach,
		&(struct attach_part){m, open_counters, close_counters, count_again});
}

int stat_open(struct measuring *m, struct err *err)
{
	const struct stat_command *o = m->options;

	counting_close(&m->counting);
	if (attach_open(&m->attach, o->no_inherit ? NULL : &o->target, err) ||
		missing_check(&m->counting, err) || check_any(m, err) || stat_topdown_check(m, err))
		return err->code;
	attach_warn(&m->attach, "counts");
	m->counting.why_lost = m->why_lost.n ? m->why_lost.at : NULL;
	/* Programs that parse perf's columns find it in these. */
	if (m->print.has_no_defaults && !m->print.has_perfs_columns)
		missing_note(&m->counting, &m->log);
	if (o->verbose > 1)
		vec_each(e, &m->events) {
			struct str text = {0};

			attr_add_text(&e->attr, " ", &text);
			log_debug(&m->log, "%s: %s", e->name, str_text(&text));
			str_fini(&text);
		}
	counts_begin(&m->counts, &m->counting, &counts_here);
	return 0;
}
