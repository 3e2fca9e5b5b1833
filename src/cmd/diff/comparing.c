#include "cmd/diff/comparing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/workers.h"
#include "cmd/diff/diffbranches.h"
#include "cmd/strict.h"
#include "cmd/which.h"
#include "file/samefile.h"
#include "profile/diff/blockdiff.h"
#include "profile/gather/blocks.h"

#define DEFAULT_KEYS "dso,symbol"

static const char *path_of(const struct delta_recording *r)
{
	return r->path ? r->path : r->name;
}

bool diff_wants_stacks(const struct diff_command *o)
{
	return form_chosen(&o->forms)->wants & FORM_WANTS_STACKS;
}

bool diff_wants_rows(const struct diff_command *o)
{
	return !diff_wants_stacks(o) || o->html;
}

/* The index of the compared event `name`, or TABLE_NONE. */
static u32 find_compared(const struct comparing *c, const char *name)
{
	struct table_probe probe = table_probe(&c->by_name, hash_bytes(name, strlen(name)));
	u32 i;

	while ((i = table_next(&c->by_name, &probe)) != TABLE_NONE)
		if (!strcmp(c->events.at[i].name, name))
			return i;
	return TABLE_NONE;
}

/* For each compared event, the index of the first event of that name in `p`, or -1. The caller frees it. */
static s64 *find_events(const struct comparing *c, const struct profile *p)
{
	s64 *found = mem_alloc((c->events.n + 1) * sizeof(*found));

	memset(found, 0xff, c->events.n * sizeof(*found));
	for (size_t i = p->events.n; i--;) {
		u32 at = find_compared(c, p->events.at[i].name);

		if (at != TABLE_NONE)
			found[at] = (s64)i;
	}
	/* With one event on each side, these two are compared even if their names differ. */
	if (p->events.n == 1 && c->events.n == 1)
		found[0] = 0;
	return found;
}

/* The first recording decides which events are compared. */
static void take_events(struct comparing *c, const struct recorded *r)
{
	vec_each(e, &r->profile.events) {
		size_t i = e - r->profile.events.at;
		struct compared *compared;

		if (find_compared(c, e->name) != TABLE_NONE)
			continue;
		table_add(&c->by_name, hash_bytes(e->name, strlen(e->name)), (u32)c->events.n);
		compared = vec_push(&c->events);
		*compared = (struct compared){.name = mem_strdup(e->name)};
		delta_init(&compared->delta, c->keys, c->n_keys, c->recordings.at, c->recordings.n);
		compared->delta.ignores_modes = c->n_imports || !recorded_has_trace(r);
		compared->delta.is_usual = c->options->is_usual;
		compared->delta.is_time = recorded_is_time(r, (u32)i);
		compared->n_unknown =
			mem_zalloc((c->recordings.n + 1) * sizeof(*compared->n_unknown));
		compared->delta.has_amounts = c->options->view.has_cycles;
		compared->delta.about = c->options->view.has_cycles ? diffbranches_key() : NULL;
	}
}

static int find_per(const struct comparing *c, const struct profile *p, u32 event, const char *path,
	double *ret_per, struct err *err)
{
	const char *per = c->options->per;
	s64 by = -1;

	*ret_per = 1;
	if (c->options->view.per == DIFF_PER_TOTAL)
		*ret_per = (double)MAX(p->events.at[event].period, 1ull);
	if (c->options->view.per != DIFF_PER_EVENT)
		return 0;
	for (size_t i = 0; i < p->events.n; i++)
		if (!strcmp(p->events.at[i].name, per))
			by = (s64)i;
	if (by < 0 || !p->events.at[by].period)
		return err_set(err, ERR_INVAL,
			"--normalise: '%s' has no samples of an event '%.60s'", path, per);
	*ret_per = (double)p->events.at[by].period;
	return 0;
}

/* Folded stacks have the sum of all events, a page has each, the baseline second. */
static u32 part_of(const struct comparing *c, const struct compared *compared, u32 side)
{
	return c->options->html ? (u32)(compared - c->events.at) * DELTA_SIDES + (side == DELTA_A)
				: side;
}

/* A part for each side of each event. */
static void take_parts(struct comparing *c)
{
	c->stacks.detail = STACKROWS_FUNCTIONS;
	c->stacks.n_parts = (u32)c->events.n * DELTA_SIDES;
	vec_each(compared, &c->events)
		for (u32 side = 0; side < DELTA_SIDES; side++)
			stackrows_add_part(&c->stacks, compared->name, compared->delta.is_time);
}

static int add_profile(struct comparing *c, size_t recording, struct recorded *in, struct err *err)
{
	struct profile *p = &in->profile;
	const struct hist_options h = {.n_keys = c->n_keys,
		.has_children = c->options->has_children,
		.has_row_groups = c->options->view.has_cycles};
	u64 *n_unknown = mem_zalloc((p->events.n + 1) * sizeof(*n_unknown));
	const struct delta_recording *r = &c->recordings.at[recording];
	struct hist_options hist_options = h;
	struct calls calls;
	int result = 0;
	s64 *events;

	memcpy(hist_options.keys, c->keys, sizeof(c->keys));
	if (c->options->view.has_cycles)
		blockdiff_keep_known(p, n_unknown);
	calls_init(&calls, p);
	if (!c->events.n) {
		take_events(c, in);
		if (c->options->html)
			take_parts(c);
	}
	events = find_events(c, p);
	vec_each(compared, &c->events) {
		s64 event = events[compared - c->events.at];
		struct hist hist;

		if (event < 0) {
			log_warn(c->log, "'%s' has no event '%s'", r->name, compared->name);
			continue;
		}
		result = find_per(c, p, (u32)event, r->name,
			&compared->delta.recordings.at[recording].per, err);
		if (result)
			break;
		compared->n_unknown[recording] = n_unknown[event];
		if (c->options->has_streams) {
			branchstreams_add(&compared->streams, r->side, p, (u32)event,
				r->same_as ? r->same_as - 1 : (u32)recording);
			continue;
		}
		if (diff_wants_stacks(c->options))
			stackrows_add(&c->stacks, p, &calls, (u32)event,
				part_of(c, compared, r->side));
		if (!diff_wants_rows(c->options))
			continue;
		hist_init(&hist, p, &calls, (u32)event, &hist_options);
		delta_add(&compared->delta, recording, &hist);
		hist_fini(&hist);
	}
	mem_free(events);
	mem_free(n_unknown);
	calls_fini(&calls);
	return result;
}

/* Fails if the recording lacks what a key needs. */
static int check_keys(const struct comparing *c, const struct recorded *r, const char *path,
	struct err *err)
{
	for (size_t i = 0; i < c->n_keys; i++)
		if (c->keys[i]->label && recorded_check_label(r, c->keys[i]->label, err))
			return err_prefix(err, "key '%s': '%s'", c->keys[i]->name, path);
	return 0;
}

/* The time spans of the n-th recording: "a:b" has those of two, and the last ones hold for all others. */
static char *spans_of(const char *text, size_t n)
{
	char *spans;

	for (const char *colon; n && (colon = strchr(text, ':')) != NULL; n--)
		text = colon + 1;
	spans = mem_strdup(text);
	spans[strcspn(spans, ":")] = '\0';
	return spans;
}

static int choose_samples(const struct comparing *c, size_t recording, const struct session *s,
	struct which *which, struct err *err)
{
	char *time = c->options->time ? spans_of(c->options->time, recording) : NULL;
	int r = which_choose(which, c->options->cpus, time && *time ? time : NULL, s, err);

	mem_free(time);
	c->options->reading.cpus = &which->cpus;
	c->options->reading.spans = &which->spans;
	return r ? err_prefix(err, "'%s'", s->reader.path) : 0;
}

/* Fails if an option needs a recording's samples, and `r` is another program's profile. */
static int check_import(const struct diff_command *o, const struct recorded *r, struct err *err)
{
	const char *option = o->cpus                        ? "--cpu"
		: o->time                                   ? "--time"
		: o->is_strict && !recorded_tells_losses(r) ? "--strict"
							    : NULL;

	if (recorded_has_trace(r) || !option)
		return 0;
	return err_set(err, ERR_INVAL,
		"%s: '%s' is %s, which has no single samples and does not tell what was lost",
		option, r->import.path, r->import.importer->what);
}

/* What a window lacks explains differences. */
static void say_losses(const struct comparing *c, const char *name, const struct ledger *ledger)
{
	struct str text = {0};

	ledger_add_losses(ledger, &text);
	if (text.n)
		log_note(c->log, "%s: %s", name, str_text(&text));
	str_fini(&text);
}

static int read_one(struct comparing *c, size_t recording, struct err *err)
{
	const char *path = c->recordings.at[recording].name;
	struct which which = {0};
	struct recorded r;
	int result = recorded_open_any(&r, path_of(&c->recordings.at[recording]), c->log, err);

	if (result && err->code == ERR_NOENT && !strcmp(path, DIFF_BASELINE))
		return err_set(err, ERR_NOENT,
			"there is no '%s' to compare with: a second 'pace record' in the same directory keeps the first recording under that name",
			path);
	if (result)
		return result;
	recorded_call(&r, path);
	c->stacks.are_imports &= !recorded_has_trace(&r);
	result = check_import(c->options, &r, err);
	if (!result)
		result = diffbranches_check(c->options, &r, path, err);
	if (!result)
		result = check_keys(c, &r, path, err);
	if (!result)
		result = choose_samples(c, recording, &r.trace.session, &which, err);
	if (!result)
		result = recorded_read(&r, &c->options->reading, err);
	if (!result)
		result = diffbranches_check_cycles(c->options, &r, path, err);
	if (!result) {
		c->lacks_cycles[c->recordings.at[recording].side] |=
			c->options->has_streams && !blocks_are_there(&r.trace.session);
		profile_filter_apply(&r.profile, &c->options->filter);
		result = add_profile(c, recording, &r, err);
	}
	if (c->options->html) {
		const size_t start = c->ledger.n;

		ledger_add_text(&r.ledger, true, &c->ledger);
		if (c->ledger.n > start)
			str_addf(&c->ledger, "# (of %s)\n", path);
	}
	ledger_warn(&r.ledger, c->log);
	if (c->recordings.at[recording].path && !c->options->view.is_quiet)
		say_losses(c, path, &r.ledger);
	c->has_lost |= strict_fails(&cmd_diff, c->options->is_strict, path, &r.ledger);
	c->has_warned |= ledger_has_unread(&r.ledger);
	recorded_close(&r);
	which_fini(&which);
	return result;
}

/* The keys that all inputs have: folded stacks have functions only. */
static const char *default_keys(struct comparing *c)
{
	const char *keys = DEFAULT_KEYS;

	vec_each(r, &c->recordings) {
		const struct importer *importer = import_of_file(path_of(r));

		c->n_imports += importer != NULL;
		if (importer && strcmp(importer->keys, DEFAULT_KEYS))
			keys = importer->keys;
	}
	return keys;
}

static int choose(struct comparing *c, struct err *err)
{
	struct diff_command *o = c->options;
	const char *keys = default_keys(c);
	size_t kept = 0;

	if (key_parse_list(o->sort ? o->sort : keys, c->keys, ARRAY_SIZE(c->keys), &c->n_keys, err))
		return err_prefix(err, "--sort");
	if (num_list_parse(&o->filter.pids, "--pid", o->pids, err) ||
		num_list_parse(&o->filter.tids, "--tid", o->tids, err))
		return err->code;
	for (size_t i = 0; i < c->n_keys; i++)
		if (!c->keys[i]->is_value)
			c->keys[kept++] = c->keys[i];
	c->n_keys = kept;
	if (!kept)
		return err_set(err, ERR_INVAL, "--sort: a key to group by is needed, like symbol");
	for (size_t i = 0; i < kept; i++)
		if (key_is_of_branches(c->keys[i]) || c->keys[i]->label == LABEL_PARENT)
			return err_set(err, ERR_INVAL,
				"--sort: '%s' works in 'pace report' only: diff does not look at %s",
				c->keys[i]->name,
				key_is_of_branches(c->keys[i]) ? "branches" : "callers by name");
	o->forms.is_chosen[FORM_HTML] = o->html;
	if (diffbranches_check_options(o, c->recordings.n, err))
		return err->code;
	if (form_check(&o->forms, FORM_OF_SIDES, err))
		return err->code;
	o->view.order = (u32)o->order;
	/* If one side counts samples and the other time, only shares can be compared. */
	if (!o->per && c->n_imports && c->n_imports < c->recordings.n)
		o->per = "total";
	o->view.per = !o->per || !strcmp(o->per, "level") ? DIFF_PER_LEVEL
		: !strcmp(o->per, "run")                  ? DIFF_PER_RUN
		: !strcmp(o->per, "total")                ? DIFF_PER_TOTAL
							  : DIFF_PER_EVENT;
	symbol_options_tell(&o->symbols, o->debuginfod_s, &o->reading);
	o->reading.naming.style = symbol_options_style(&o->symbols, o->verbose);
	o->reading.n_workers = o->n_workers ? (unsigned)o->n_workers : workers_available();
	o->reading.has_stacks = o->has_children || diff_wants_stacks(o);
	o->reading.labels = profile_filter_labels(&o->filter) | key_labels(c->keys, c->n_keys) |
		(o->html ? LABEL_BIT(LABEL_COMM) : 0);
	o->reading.naming.source = key_naming_source(c->keys, c->n_keys);
	o->reading.naming.has_inlined = o->reading.has_stacks && !o->reading.naming.source;
	return diffbranches_choose(c, err);
}

/* A recording that is compared with itself has no changes, not even where code has no names. */
static void find_copies(struct comparing *c)
{
	u32 n = 1;

	for (u32 i = 1; i < c->recordings.n; i++)
		for (u32 k = 0; k < i && !c->recordings.at[i].same_as; k++) {
			const struct delta_recording *a = &c->recordings.at[k];

			if (a->same_as ||
				!samefile_is(path_of(a), path_of(&c->recordings.at[i]), c->log))
				continue;
			c->recordings.at[i].same_as = k + 1;
			n += k == 0;
			if (!c->options->view.is_quiet)
				log_note(c->log, "'%s' and '%s' are the same recording", a->name,
					c->recordings.at[i].name);
		}
	c->stacks.is_one_recording = n == c->recordings.n;
}

int comparing_read(struct comparing *c, struct err *err)
{
	if (choose(c, err))
		return err->code;
	find_copies(c);
	for (size_t i = 0; i < c->recordings.n; i++)
		if (read_one(c, i, err))
			return err->code;
	return 0;
}

void comparing_fini(struct comparing *c)
{
	vec_each(compared, &c->events) {
		delta_fini(&compared->delta);
		mem_free(compared->name);
		mem_free(compared->n_unknown);
		branchstreams_fini(&compared->streams);
	}
	vec_fini(&c->events);
	table_fini(&c->by_name);
	vec_fini(&c->recordings);
	vec_each(w, &c->windows) {
		fleetinput_close(*w);
		mem_free(*w);
	}
	vec_fini(&c->windows);
	vec_fini(&c->options->at);
	stackrows_fini(&c->stacks);
	str_fini(&c->ledger);
	profile_filter_fini(&c->options->filter);
}
