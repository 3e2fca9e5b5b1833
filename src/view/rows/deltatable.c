#include "view/rows/deltatable.h"

#include "base/mem.h"
#include "profile/rows/key.h"

void deltatable_show(struct deltatable *t, const struct delta *d, const struct diff_options *o,
	struct rowset_column column, long recording)
{
	struct str title = {0};

	str_add(&title, column.title);
	if (recording >= 0 && !o->has_sides && d->recordings.n > DELTA_SIDES)
		str_addf(&title, "/%ld", recording);
	column.title = arena_strdup(&t->titles, str_text(&title), title.n);
	column.id = (u16)MAX(recording, 0l);
	vec_add(&t->shown, column);
	str_fini(&title);
}

void deltatable_add_key(struct deltatable *t, const struct key *key)
{
	const struct rowset_column c = {key->name, key->title, ROWSET_KEY, key->kind, .key = key};

	vec_add(&t->shown, c);
	vec_add(&t->columns, c);
}

void deltatable_close(struct deltatable *t, const struct delta *d,
	const struct rowset_column *facts, size_t n_facts,
	bool (*shows)(const struct rowset *rows, size_t row))
{
	t->head = rowmaker_table(&t->facts);
	t->head.columns = facts;
	t->head.n_columns = n_facts;
	t->head.n_parts = (u32)d->recordings.n;
	t->head.parts_name = "recordings";
	t->rows = rowmaker_table(&t->made);
	t->rows.columns = t->columns.at;
	t->rows.shown = t->shown.at;
	t->rows.n_columns = t->columns.n;
	t->rows.n_shown = t->shown.n;
	t->rows.n_parts = (u32)d->recordings.n;
	t->rows.parts_name = "values";
	t->rows.head = &t->head;
	t->rows.shows = shows;
}

void deltatable_fini(struct deltatable *t)
{
	rowmaker_fini(&t->made);
	rowmaker_fini(&t->facts);
	vec_fini(&t->columns);
	vec_fini(&t->shown);
	arena_fini(&t->titles);
	mem_free(t->order);
}
