#include "cmd/report/report.h"
#include "cmd/report/report_levels.h"

#include <string.h>

static void collect(void *ctx, enum log_level level, const char *sentence)
{
	struct str *said = ctx;

	(void)level;
	str_add(said, said->n ? "; " : "");
	str_add(said, sentence);
}

/* ---- one level ---- */

struct report_level *report_level_like(const struct report_levels *l, u32 key)
{
	const struct report_level *top = report_levels_top(l);
	struct report_level *level = mem_zalloc(sizeof(*level));

	level->options = top->options;
	level->reporting = top->reporting;
	level->choice = top->choice;
	level->key = key;
	vec_each(zoom, &top->zooms)
		vec_add(&level->zooms, zoom_copy(zoom));
	return level;
}

static void close_part(struct report_level *level)
{
	if (level->is_part)
		part_fini(&level->part);
	level->is_part = false;
}

static void close_table(struct report_level *level)
{
	if (level->n_table)
		answer_table_close(&level->table);
	level->n_table = 0;
}

void report_level_drop(struct report_level *level)
{
	close_table(level);
	close_part(level);
	if (level->has_own)
		choice_fini(&level->own);
	if (level->is_read) {
		reporting_close(level->reporting);
		mem_free(level->reporting);
	}
	vec_each(zoom, &level->zooms)
		zoom_fini(zoom);
	vec_fini(&level->zooms);
	str_fini(&level->input);
	str_fini(&level->time);
	str_fini(&level->keys);
	str_fini(&level->crumb);
	mem_free(level);
}

/* The rows that its zooms leave, of its reporting; those of the level below if these are the same. */
static void make_part(struct report_level *level, const struct report_level *below)
{
	struct reporting *r = level->reporting;

	level->answer = r->answer;
	level->answer.options = &level->options.answer;
	level->answer.hist = &level->choice->hist;
	level->answer.text = &level->choice->text;
	level->answer.rows = &level->choice->rows;
	if (!level->is_read && below && below->zooms.n == level->zooms.n) {
		level->answer.profile = below->answer.profile;
		level->answer.calls = below->answer.calls;
		return;
	}
	if (!level->zooms.n)
		return;
	zoom_part(&level->part, &r->recorded.profile, &r->calls, r->options->filter.is_relative,
		level->zooms.at, level->zooms.n);
	level->is_part = true;
	level->answer.profile = &level->part.profile;
	level->answer.calls = &level->part.calls;
}

static int read_again(struct report_levels *l, struct report_level *level, struct err *err)
{
	struct reporting *r = mem_zalloc(sizeof(*r));

	r->options = &level->options;
	r->is_silent = true;
	r->timeline_most = level->timeline_most;
	r->log = (struct log){.level = LOG_NOTE, .write = collect, .ctx = &l->said};
	vec_each(zoom, &level->zooms)
		r->more_labels |= LABEL_BIT(zoom_label(zoom)) & ~LABEL_BIT(LABEL_NONE);
	report_options_settle(&level->options);
	if (report_open(&r->recorded, &level->options, &r->log, err)) {
		log_fini(&r->log);
		mem_free(r);
		return err->code;
	}
	if (answer_open(&r->answer, &level->options.answer, err) ||
		choice_make(&r->choice, &level->options, &r->recorded, err) ||
		reporting_read(r, err)) {
		reporting_close(r);
		mem_free(r);
		return err->code;
	}
	level->reporting = r;
	level->choice = &r->choice;
	level->is_read = true;
	return 0;
}

/* How samples are read for a choice; labels and what only points to equal options are left out. */
static void tell(const struct report_level *level, const struct choice *c,
	struct recorded_options *ret)
{
	struct answer answer = level->reporting->answer;

	answer.options = &level->options.answer;
	memset(ret, 0, sizeof(*ret));
	choice_tell(c, &answer, ret);
	ret->cpus = NULL;
	ret->spans = NULL;
	ret->switching = NULL;
	ret->fields = NULL;
}

bool report_levels_suffice(const struct report_levels *l, struct report_level *level)
{
	const struct report_level *top = report_levels_top(l);
	const u64 fields = ~(u64)0 << LABEL_FIELD;
	struct recorded_options before, now;
	struct err err;

	level->has_own = true;
	report_options_settle(&level->options);
	if (!choice_make(&level->own, &level->options, &level->reporting->recorded, &err)) {
		tell(top, top->choice, &before);
		tell(level, &level->own, &now);
		/* Rows that are told apart by more than what is asked for add up to the same. */
		if (!(now.labels & (~level->reporting->recorded.profile.labels | fields))) {
			before.labels = now.labels;
			level->choice = &level->own;
			if (!memcmp(&before, &now, sizeof(now)))
				return true;
		}
	}
	level->choice = top->choice;
	choice_fini(&level->own);
	level->has_own = false;
	return false;
}

/* ---- all levels ---- */

void report_levels_init(struct report_levels *l, struct reporting *first)
{
	struct report_level *level = mem_zalloc(sizeof(*level));

	*l = (struct report_levels){0};
	level->options = *first->options;
	level->reporting = first;
	level->choice = &first->choice;
	make_part(level, NULL);
	vec_add(&l->at, level);
}

void report_levels_fini(struct report_levels *l)
{
	while (l->at.n)
		report_level_drop(l->at.at[--l->at.n]);
	vec_fini(&l->at);
	str_fini(&l->said);
}

struct answer_table *report_levels_table(struct report_levels *l, size_t table)
{
	struct report_level *top = report_levels_top(l);

	if (top->n_table == table + 1)
		return &top->table;
	close_table(top);
	answer_table_open(&top->answer, table, &top->table);
	top->n_table = table + 1;
	return &top->table;
}

static int check_depth(const struct report_levels *l, struct err *err)
{
	enum { MOST = 32 };

	return l->at.n < MOST
		? 0
		: err_set(err, ERR_INVAL, "there are %d levels already: Esc takes one back", MOST);
}

int report_levels_put(struct report_levels *l, struct report_level *level, struct err *err)
{
	if (check_depth(l, err)) {
		report_level_drop(level);
		return err->code;
	}
	make_part(level, report_levels_top(l));
	vec_add(&l->at, level);
	return 0;
}

int report_levels_zoom(struct report_levels *l, u32 key, const struct zoom *zoom, struct err *err)
{
	struct report_level *level = report_level_like(l, key);

	vec_add(&level->zooms, zoom_copy(zoom));
	zoom_add_text(zoom, &level->crumb);
	return report_levels_put(l, level, err);
}

int report_level_read(struct report_levels *l, struct report_level *level, struct err *err)
{
	str_cut(&l->said, 0);
	if (!strcmp(level->options.input, "-"))
		return err_set(err, ERR_INVAL,
			"what came through a pipe cannot be read again: write it to a file");
	return read_again(l, level, err);
}

struct report_level *report_levels_pop(struct report_levels *l)
{
	return l->at.n > 1 ? l->at.at[--l->at.n] : NULL;
}
