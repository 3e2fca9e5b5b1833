#include "cmd/measuring.h"
#include "collect/attach.h"
#include "collect/missing.h"
#include "profile/counts.h"

static int open_now(void *ctx, struct err *err)
{
	struct measuring *m = ctx;
	const struct stat_command *o = m->options;
	const struct counting_options how = {.no_inherit = o->no_inherit,
		.is_command = m->measures_workload,
		.starts_off = o->has_delay && o->delay_ms != 0,
		.needs_ids = o->is_record};

	return counting_open(&m->counting, &m->events, &m->target, &how, &m->log, err);
}

static void close_again(void *ctx)
{
	struct measuring *m = ctx;

	counting_close(&m->counting);
}

/* The command's threads wait; those of processes that run need not. */
static int open_on_target(struct measuring *m, struct err *err)
{
	const struct target_words *words = &m->options->target;
	const struct attach_opener opener = {m, open_now, close_again};
	struct attach attach = {0};
	int r;

	if (m->options->no_inherit || !attach_is_needed(words))
		return open_now(m, err);
	r = attach_open(&attach, &opener, words, &m->target, &m->log, err);
	if (!r)
		attach_warn(&attach, "counts", &m->log);
	attach_fini(&attach);
	return r;
}

int stat_open(struct measuring *m, struct err *err)
{
	const struct stat_command *o = m->options;

	counting_close(&m->counting);
	if (open_on_target(m, err) || missing_check(&m->counting, err))
		return err->code;
	m->counting.why_lost = m->why_lost.n ? m->why_lost.at : NULL;
	if (m->print.has_no_defaults)
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
