#include "cmd/diff/diffbranches.h"

#include <string.h>

#include "event/abi.h"
#include "profile/diff/blockdiff.h"
#include "profile/gather/blocks.h"
#include "view/rows/blockrows.h"
#include "view/rows/streamrows.h"

/* ---- options ---- */

const char *diffbranches_option(const struct diff_command *o)
{
	return o->view.has_cycles ? "-c cycles" : o->has_streams ? "--stream" : NULL;
}

int diffbranches_check_options(const struct diff_command *o, size_t n_recordings, struct err *err)
{
	const char *option = diffbranches_option(o), *other;

	if (o->view.has_histogram && !o->view.has_cycles)
		return err_set(err, ERR_INVAL,
			"--cycles-hist shows how much the cycles of -c cycles vary: give both");
	if (!option)
		return 0;
	if (o->has_streams && o->view.has_cycles)
		return err_set(err, ERR_INVAL,
			"--stream and -c cycles compare different things: choose one");
	if (o->has_streams && !o->view.has_sides && n_recordings > DELTA_SIDES)
		return err_set(err, ERR_INVAL,
			"--stream compares two recordings, or two sides with '--' between them: there are %zu",
			n_recordings);
	other = o->html                                             ? "--html"
		: form_chosen(&o->forms)->wants & FORM_WANTS_STACKS ? "forms of stacks"
		: o->has_children                                   ? "--children"
		: o->per                                            ? "--normalise"
		: o->at.n                                           ? "--at"
								    : NULL;
	return other ? err_set(err, ERR_INVAL,
			       "%s compares branches of recordings, which does not go with %s",
			       option, other)
		     : 0;
}

const struct key *diffbranches_key(void)
{
	static const char name[] = "block";

	return key_find(name, strlen(name));
}

/* Rows are runs of code, each with its function and file. */
static int choose_blocks(struct comparing *c, struct err *err)
{
	struct recorded_options *reading = &c->options->reading;
	const struct key *about = diffbranches_key();
	bool has_function = false;

	if (c->n_keys == ARRAY_SIZE(c->keys))
		return err_set(err, ERR_INVAL, "--sort: too many keys");
	for (size_t i = 0; i < c->n_keys; i++)
		has_function |= c->keys[i]->frame == KEY_SYMBOL;
	memmove(c->keys + 1, c->keys, c->n_keys++ * sizeof(*c->keys));
	c->keys[0] = has_function ? &blockdiff_key : &blockdiff_key_named;
	reading->has_branches = reading->has_blocks = true;
	reading->labels |= LABEL_BIT(LABEL_BLOCK) | LABEL_BIT(LABEL_BRANCH);
	reading->naming.source = key_naming_source(&about, 1);
	reading->naming.has_inlined = false;
	return 0;
}

int diffbranches_choose(struct comparing *c, struct err *err)
{
	struct diff_command *o = c->options;

	if (o->has_streams) {
		o->reading.has_stacks = o->reading.has_history = true;
		o->reading.naming.source = NAMING_LINES;
		o->reading.naming.has_inlined = false;
	}
	return o->view.has_cycles ? choose_blocks(c, err) : 0;
}

/* ---- recordings ---- */

static bool has_branches(const struct session *s)
{
	vec_each(e, &s->reader.events)
		if (e->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	return false;
}

int diffbranches_check(const struct diff_command *o, const struct recorded *r, const char *path,
	struct err *err)
{
	const char *option = diffbranches_option(o);

	if (!option)
		return 0;
	if (!recorded_has_trace(r))
		return err_set(err, ERR_UNSUPPORTED, "%s: '%s' is %s, which has no branches",
			option, path, r->import.importer->what);
	if (o->has_streams && !has_branches(&r->trace.session))
		return err_set(err, ERR_UNSUPPORTED,
			"%s: '%s' has no branch stacks: record with -b, on a processor that has them",
			option, path);
	if (o->view.has_cycles && !blocks_are_there(&r->trace.session))
		return err_set(err, ERR_UNSUPPORTED,
			"%s: '%s' has no cycles between branches: record with -b, on a processor that counts them",
			option, path);
	return 0;
}

int diffbranches_check_cycles(const struct diff_command *o, const struct recorded *r,
	const char *path, struct err *err)
{
	u64 n = 0;

	vec_each(e, &r->profile.events)
		n += e->n_samples;
	return n || !o->view.has_cycles || o->cpus || o->time
		? 0
		: err_set(err, ERR_UNSUPPORTED,
			  "-c cycles: the branches of '%s' have no cycles: record on a processor that counts them, like Intel's since Skylake",
			  path);
}

/* ---- results ---- */

static void show_blocks(const struct comparing *c, struct compared *compared, bool is_first,
	struct page *p)
{
	const struct diff_command *o = c->options;
	struct blockrows rows;

	blockrows_init(&rows, &compared->delta, compared->name, &o->view,
		!(p->form->wants & FORM_IS_READ));
	if (!form_is_data(p->form) || o->forms.separator) {
		str_add(&p->out->text, is_first ? "" : "\n");
		blockrows_add_words(&compared->delta, compared->n_unknown, compared->name, &o->view,
			&p->out->text);
	}
	p->form->table(p, &rows.table.rows);
	blockrows_fini(&rows);
}

static void show_streams(const struct comparing *c, struct compared *compared, bool is_first,
	struct page *p)
{
	const struct diff_command *o = c->options;
	struct streamtext what = {.streams = &compared->streams,
		.event = c->events.n > 1 ? compared->name : NULL,
		.options = &o->view};
	struct streamrows rows;

	branchstreams_pair(&compared->streams);
	for (int side = 0; side < DELTA_SIDES; side++)
		what.has_cycles[side] = !c->lacks_cycles[side] &&
			branchstreams_have_cycles(&compared->streams, side);
	if (p->form == &form_text) {
		str_add(&p->out->text, is_first ? "" : "\n");
		streamtext_add(&what, &p->out->text);
		return;
	}
	streamrows_init(&rows, &what, compared->name, c->recordings.at, c->recordings.n,
		!(p->form->wants & FORM_IS_READ), p->form->wants & FORM_NESTS);
	p->form->table(p, &rows.rows);
	streamrows_fini(&rows);
}

void diffbranches_show(const struct comparing *c, struct compared *compared, bool is_first,
	struct page *p)
{
	(c->options->has_streams ? show_streams : show_blocks)(c, compared, is_first, p);
}
