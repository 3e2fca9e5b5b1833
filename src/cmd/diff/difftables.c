#include "cmd/diff/difftables.h"

#include "cmd/diff/comparing.h"
#include "profile/diff/significance.h"

struct diff_table {
	const struct compared *compared;
	struct significance significance;
	struct diffrows rows;
	struct str words;
};

struct diff_tables {
	struct diff_command options;
	struct comparing comparing;
	struct diff_table *tables;
	size_t n;
};

static void open_table(struct diff_tables *t, struct compared *compared)
{
	struct diff_table *table = &t->tables[t->n];

	delta_pair(&compared->delta);
	if (!compared->delta.rows.n && t->comparing.events.n > 1)
		return;
	t->n++;
	table->compared = compared;
	if (t->options.view.per == DIFF_PER_LEVEL)
		delta_level(&compared->delta);
	significance_init(&table->significance, &compared->delta);
	diffrows_init(&table->rows, &compared->delta, &table->significance, compared->name,
		&t->options.view, false);
	diff_add_words(&compared->delta, &table->significance, compared->name, &t->options.view,
		&table->words);
}

struct diff_tables *diff_tables_new(const char *old, const char *new,
	const struct symbol_options *symbols, struct log *log, struct err *err)
{
	struct diff_tables *t = mem_zalloc(sizeof(*t));
	struct comparing *c = &t->comparing;

	t->options = (struct diff_command){.order = 1,
		.symbols = *symbols,
		.view = {.has_sides = true, .has_both = true}};
	*c = (struct comparing){.options = &t->options, .log = log};
	vec_add(&c->recordings, ((struct delta_recording){old, .side = DELTA_A}));
	vec_add(&c->recordings, ((struct delta_recording){new, .side = DELTA_B}));
	if (comparing_read(c, err)) {
		diff_tables_free(t);
		return NULL;
	}
	t->tables = mem_zalloc((c->events.n + 1) * sizeof(*t->tables));
	vec_each(compared, &c->events)
		open_table(t, compared);
	return t;
}

void diff_tables_free(struct diff_tables *t)
{
	for (size_t i = 0; i < t->n; i++) {
		diffrows_fini(&t->tables[i].rows);
		significance_fini(&t->tables[i].significance);
		str_fini(&t->tables[i].words);
	}
	mem_free(t->tables);
	comparing_fini(&t->comparing);
	mem_free(t);
}

size_t diff_tables_n(const struct diff_tables *t)
{
	return t->n;
}

const struct rowset *diff_tables_rows(const struct diff_tables *t, size_t table)
{
	return &t->tables[table].rows.table.rows;
}

const char *diff_tables_event(const struct diff_tables *t, size_t table)
{
	return t->tables[table].compared->name;
}

const char *diff_tables_words(const struct diff_tables *t, size_t table)
{
	return str_text(&t->tables[table].words);
}
