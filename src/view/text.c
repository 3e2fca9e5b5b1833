#include "view/text.h"

#include "base/num.h"
#include "base/sort.h"
#include "base/workers.h"
#include "view/layout.h"

/* ---- columns ---- */

/* The share that decides whether a row is printed at all. */
static double share_of(const struct hist *h, const struct hist_entry *e)
{
	return hist_percent(h, e);
}

bool text_shows(const struct hist *h, const struct hist_entry *e, const struct text_options *o)
{
	return share_of(h, e) >= o->row_limit;
}

/* Bytes that continue a character take no room of their own. */
static bool takes_column(char c)
{
	return ((u8)c & 0xc0) != 0x80;
}

static size_t columns_used(const char *text, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n; i++)
		columns += takes_column(text[i]);
	return columns;
}

/*
 * Rows are rendered in parts: first the cells of each part as they are, then, when the widths are
 * known, the lines.
 */
enum { PART_ROWS = 2048 };

struct part {
	const struct hist_entry *entries; /* rows PART_ROWS at most, those left out included */
	size_t n_entries;
	struct str cells; /* the texts of all cells, one behind the other */
	VEC(u32) lengths; /* of each cell, bytes */
	VEC(u32) rows;    /* which entries have cells */
	size_t widths[HIST_KEYS_MAX];
	struct str lines;
	VEC(size_t) ends; /* of each row's line in `lines` */
};

struct table_text {
	const struct hist *hist;
	const struct text_options *options;
	VEC(struct part) parts;
	struct layout layouts[HIST_KEYS_MAX];
	size_t widths[HIST_KEYS_MAX];
};

static void render_cells(void *ctx, size_t i, unsigned worker)
{
	struct table_text *t = ctx;
	const struct text_options *o = t->options;
	struct part *part = &t->parts.at[i];
	struct str room = {0};

	(void)worker;
	for (size_t k = 0; k < part->n_entries; k++) {
		const struct hist_entry *e = &part->entries[k];

		if (!text_shows(t->hist, e, o))
			continue;
		vec_add(&part->rows, k);
		for (size_t c = 0; c < o->n_columns; c++) {
			size_t start = part->cells.n, used;

			layout_add_entry(&t->layouts[c], o->columns[c], t->hist, e, &room,
				&part->cells);
			used = columns_used(str_text(&part->cells) + start, part->cells.n - start);
			part->widths[c] = MAX(part->widths[c], used);
			vec_add(&part->lengths, part->cells.n - start);
		}
	}
	str_fini(&room);
}

/* What fits into so many columns. */
static size_t cut(const char *cell, size_t n, size_t width)
{
	for (size_t i = 0; i < n; i++)
		if (takes_column(cell[i]) && !width--)
			return i;
	return n;
}

static void add_cell(struct str *text, const char *cell, size_t n, size_t width, bool is_right,
	bool is_last)
{
	size_t used = columns_used(cell, n), room;

	/* Half a number is another one. */
	if (UNLIKELY(used > width) && !is_right) {
		n = cut(cell, n, width);
		used = width;
	}
	room = width > used ? width - used : 0;
	if (is_right)
		str_fill(text, ' ', room);
	str_addn(text, cell, n);
	if (!is_right && !is_last)
		str_fill(text, ' ', room);
}

static void render_lines(void *ctx, size_t i, unsigned worker)
{
	struct table_text *t = ctx;
	const struct text_options *o = t->options;
	struct part *part = &t->parts.at[i];
	const char *cell = str_text(&part->cells);
	const u32 *length = part->lengths.at;

	(void)worker;
	for (size_t row = 0; row < part->rows.n; row++) {
		for (size_t c = 0; c < o->n_columns; c++, cell += *length++) {
			str_addn(&part->lines, "  ", 2);
			add_cell(&part->lines, cell, *length, t->widths[c], t->layouts[c].is_right,
				c + 1 == o->n_columns);
		}
		str_addc(&part->lines, '\n');
		vec_add(&part->ends, part->lines.n);
	}
}

static void render(struct table_text *t)
{
	const struct hist *h = t->hist;

	for (size_t at = 0; at < h->entries.n; at += PART_ROWS)
		vec_add(&t->parts,
			((struct part){.entries = h->entries.at + at,
				.n_entries = MIN(h->entries.n - at, (size_t)PART_ROWS)}));
	for (size_t c = 0; c < t->options->n_columns; c++)
		t->layouts[c] = layout_of(t->options->columns[c], h->options);
	workers_run(t->options->n_workers, t->parts.n, render_cells, t);
	for (size_t c = 0; c < t->options->n_columns; c++) {
		t->widths[c] = MAX(strlen(t->layouts[c].title),
			(size_t)t->layouts[c].width * key_n_parts(t->options->columns[c], h));
		vec_each(part, &t->parts)
			t->widths[c] = MAX(t->widths[c], part->widths[c]);
		if (t->options->fixed[c])
			t->widths[c] = t->options->fixed[c];
	}
	workers_run(t->options->n_workers, t->parts.n, render_lines, t);
}

static void table_text_fini(struct table_text *t)
{
	vec_each(part, &t->parts) {
		str_fini(&part->cells);
		str_fini(&part->lines);
		vec_fini(&part->lengths);
		vec_fini(&part->rows);
		vec_fini(&part->ends);
	}
	vec_fini(&t->parts);
}

static void add_header(struct str *text, const struct table_text *t)
{
	const size_t n = t->options->n_columns;

	for (int line = 0; line < 2; line++) {
		str_add(text, "#");
		for (size_t i = 0; i < n; i++) {
			struct str cell = {0};

			if (line == 0)
				str_add(&cell, t->layouts[i].title);
			else
				str_fill(&cell, '.', t->widths[i]);
			str_add(text, i ? "  " : " ");
			add_cell(text, str_text(&cell), cell.n, t->widths[i],
				t->layouts[i].is_right, i + 1 == n);
			str_fini(&cell);
		}
		str_addc(text, '\n');
	}
	str_add(text, "#\n");
}

/* ---- report ---- */

/*
 * A row's graph, drawn before the rows are printed: rows of one group one after the other, as the
 * view wants it.
 */
struct drawn {
	u32 entry;
	struct str text;
};

bool text_has_graph(const struct hist *h, const struct hist_entry *e, const struct text_options *o)
{
	double share = share_of(h, e);

	return o->has_graph && (e->of[0].self.n_samples || e->of[0].total.n_samples) &&
		share >= o->row_limit &&
		(o->drawing.style == DRAWING_FRACTAL || share >= o->drawing.limit);
}

/* The graphs of all rows that have one, by the rows' positions. */
static struct drawn *draw_graphs(const struct hist *h, const struct text_options *o, size_t *ret_n)
{
	VEC(struct drawn) graphs = {0};
	VEC(struct sort_item) order = {0};
	struct hist_view view;

	vec_each(e, &h->entries) {
		if (!text_has_graph(h, e, o))
			continue;
		vec_add(&order, ((struct sort_item){e->group, graphs.n}));
		vec_add(&graphs, ((struct drawn){.entry = e - h->entries.at}));
	}
	sort_by_key(order.at, order.n);
	hist_view_init(&view, h);
	vec_each(item, &order) {
		struct drawn *d = &graphs.at[item->value];

		drawing_add(&d->text, &view, &h->entries.at[d->entry], &o->drawing);
	}
	hist_view_fini(&view);
	vec_fini(&order);
	*ret_n = graphs.n;
	return graphs.at;
}

/* The lines of the table, each followed by its graph if it has one. */
static void add_rows(struct out *out, const struct table_text *t, struct drawn *graphs,
	size_t n_graphs)
{
	size_t next = 0;

	vec_each(part, &t->parts) {
		size_t begin = 0;

		for (size_t row = 0; row < part->rows.n; row++) {
			u32 entry = part->entries - t->hist->entries.at + part->rows.at[row];

			/* Lines are copied in runs that end where a graph comes. */
			if (next == n_graphs || graphs[next].entry != entry)
				continue;
			str_addn(&out->text, part->lines.at + begin, part->ends.at[row] - begin);
			begin = part->ends.at[row];
			str_addn(&out->text, str_text(&graphs[next].text), graphs[next].text.n);
			next++;
			out_flush_some(out);
		}
		str_addn(&out->text, str_text(&part->lines) + begin, part->lines.n - begin);
		out_flush_some(out);
	}
}

static void begin_title(u64 n_samples, const char *of, struct str *text)
{
	str_add(text, "# Samples: ");
	num_add_short(text, n_samples);
	str_addf(text, " of %s '", of);
}

static void end_title(u64 period, struct str *text)
{
	str_addf(text, "'\n# Event count (approx.): %llu\n#\n", (unsigned long long)period);
}

void text_add_event(const struct profile_event *event, u64 n_samples, u64 period, struct str *text)
{
	begin_title(n_samples, "event", text);
	str_add_safe(text, event->name, strlen(event->name));
	end_title(period, text);
}

/* "a, b", or "anon group { a, b }" of those that were counted as one. */
static void add_events(const struct hist *h, struct str *text)
{
	const struct profile_event *first = &h->profile->events.at[h->events[0].event];
	const char *name = first->group ? first->group : "anon group";

	if (first->n_group > 1) {
		str_add_safe(text, name, strlen(name));
		str_add(text, " { ");
	}
	for (size_t k = 0; k < h->n_events; k++) {
		str_add(text, k ? ", " : "");
		str_add_safe(text, first[k].name, strlen(first[k].name));
	}
	str_add(text, first->n_group > 1 ? " }" : "");
}

void text_add_title(const struct hist *h, struct str *text)
{
	struct hist_value all = h->events[0].all;

	if (hist_n_parts(h) == 1) {
		text_add_event(&h->profile->events.at[h->events[0].event], all.n_samples,
			all.period, text);
		return;
	}
	for (u32 k = 1; k < h->n_events; k++) {
		all.n_samples += h->events[k].all.n_samples;
		all.period += h->events[k].all.period;
	}
	begin_title(all.n_samples, "events", text);
	add_events(h, text);
	end_title(all.period, text);
}

void text_report(struct out *out, const struct hist *h, const struct text_options *o)
{
	struct table_text table = {.hist = h, .options = o};
	struct str *text = &out->text;
	size_t n_graphs;
	struct drawn *graphs = draw_graphs(h, o, &n_graphs);

	if (!o->is_wall && !o->is_bare)
		text_add_title(h, text);
	render(&table);
	if (!o->is_bare)
		add_header(text, &table);
	add_rows(out, &table, graphs, n_graphs);
	for (size_t i = 0; i < n_graphs; i++)
		str_fini(&graphs[i].text);
	mem_free(graphs);
	table_text_fini(&table);
}
