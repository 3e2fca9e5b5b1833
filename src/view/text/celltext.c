#include "view/text/celltext.h"

#include "view/text/colour.h"
#include "view/text/words.h"

static void add_cpu(const struct cell *c, struct str *text)
{
	str_addf(text, "%.3d", (int)c->n);
}

static void add_task(const struct cell *c, struct str *text)
{
	str_addf(text, "%7d:", (int)c->n);
	str_add_safe(text, c->name, strlen(c->name));
}

static void add_ms(const struct cell *c, struct str *text)
{
	str_addf(text, "%.1f", (double)c->n / 1e6);
}

static void add_page_size(const struct cell *c, struct str *text)
{
	words_add_page_size(text, c->n);
}

static void add_percent(const struct cell *c, struct str *text)
{
	str_addf(text, "%.*f%%", c->digits, c->real);
}

static void add_signed_percent(const struct cell *c, struct str *text)
{
	str_addf(text, "%+.*f%%", c->digits, c->real);
}

/* Parts stand close together. */
static void add_part(const struct cell *c, struct str *text)
{
	str_addf(text, "%.1f%%", c->whole ? 100 * (double)c->n / (double)c->whole : 0.0);
}

/* Where there is no sign, blanks take its place. */
static void add_interval(const struct cell *c, struct str *text)
{
	cell_add_text(c, text);
	str_add(text, c->spans & CELL_IS_UNCERTAIN ? "" : "  ");
}

/* clang-format off: a row a key */
static const struct celltext layouts[] = {
	{"overhead_guest_sys", .width = 9, .is_right = true},
	{"overhead_guest_us", .width = 9, .is_right = true},
	{"sample", .width = 12, .is_right = true},
	{"period", .width = 12, .is_right = true},
	{"cycles_share", .width = 15, .is_right = true},
	{"cycles_sum", .width = 14, .is_right = true},
	{"cycles_average_share", .width = 11, .is_right = true, .add = add_percent},
	{"cycles_average", .width = 10, .is_right = true},
	{"interval", .title = "95% interval  ", .is_right = true, .add = add_interval},
	{"latency_children", .width = 7, .is_right = true},
	{"latency_time", .width = 8, .is_right = true, .add = add_ms},
	{"wall_time", .width = 8, .is_right = true, .add = add_ms},
	{"wall_cpu_time", .width = 8, .is_right = true, .add = add_ms},
	{"wall_runnable_time", .width = 8, .is_right = true, .add = add_ms},
	{"wall_blocked_time", .width = 8, .is_right = true, .add = add_ms},
	{"pid", .title = "    Pid:Command", .add = add_task},
	{"tgid", .title = "   Tgid:Command", .add = add_task},
	{"cpu", .unknown = "-001", .width = 3, .add = add_cpu},
	{"socket", .unknown = "-001", .add = add_cpu},
	{"time", .width = 12},
	{"addr", .width = 18},
	{"parallelism", .is_right = true},
	{"code_page_size", .unknown = "N/A", .add = add_page_size},
	{"data_page_size", .unknown = "N/A", .add = add_page_size},
	{"symbol_size", .unknown = "unknown", .is_right = true},
	{"dso_size", .unknown = "unknown", .is_right = true},
	{"parent", .unknown = "[other]"},
	{"srcline", .unknown = "[unknown]"},
	{"srcfile", .unknown = "[unknown]"},
	{"cycles", .unknown = "-"},
	{"callchain_branch_predicted", .width = 9, .is_right = true, .add = add_part},
	{"callchain_branch_abort", .width = 5, .is_right = true},
	{"callchain_branch_cycles", .width = 6, .is_right = true},
	{"ipc_lbr", .unknown = "-", .width = 20},
	{"baseline", .width = 8, .is_right = true, .add = add_percent},
	{"delta_new", .width = 8, .is_right = true, .add = add_percent},
	{"delta_abs", .width = 9, .is_right = true, .add = add_signed_percent},
	{"delta", .width = 7, .is_right = true, .add = add_signed_percent},
	{"delta_ratio", .width = 14, .is_right = true},
	{"delta_weighted", .width = 14, .is_right = true},
	{"delta_period", .width = 14, .is_right = true},
	{"delta_formula", .is_right = true},
	{"delta_change", .width = 13, .is_right = true},
	{"delta_sign", .width = 1},
	{"hits", .width = 8, .is_right = true, .add = add_percent},
	{"stream_cycles", .unknown = "-", .width = 10, .is_right = true},
	{"cycles_diff", .width = 12, .is_right = true},
	{"cycles_mean", .width = 11, .is_right = true},
	{"cycles_hist", .width = 16},
	{"tree_total", .width = 7, .is_right = true},
	{"tree_self", .width = 7, .is_right = true},
	{"type", .unknown = "(unknown)"},
	{"typeoff", .unknown = "(unknown)"},
	{"typecln", .unknown = "(unknown)"},
};
/* clang-format on */

static struct celltext find(const char *name, const char *title, bool is_figure)
{
	struct celltext l = {.width = is_figure ? 8 : 0, .is_right = is_figure};

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (!strcmp(layouts[i].key, name))
			l = layouts[i];
	l.key = name;
	if (!l.unknown)
		l.unknown = "N/A";
	if (!l.title)
		l.title = title;
	return l;
}

struct celltext celltext_of(const struct key *key)
{
	return find(key->name, key->title, key->is_value);
}

struct celltext celltext_of_column(const struct rowset_column *c)
{
	if (c->band)
		return (struct celltext){.key = c->name,
			.title = c->title,
			.unknown = "N/A",
			.width = CELLTEXT_PART,
			.is_right = true,
			.add = add_part};
	return find(c->name, c->title, c->group != ROWSET_KEY && c->group != ROWSET_FACT);
}

void celltext_add_title(const struct celltext *l, const struct rowset_column *c, bool has_band,
	struct str *text)
{
	if (c->band && has_band)
		str_addf(text, "%s: ", c->band);
	str_add(text, l->title + strspn(l->title, " "));
}

void celltext_add_title_of(const struct celltext *l, const struct rowset *r, size_t column,
	struct str *text)
{
	celltext_add_title(l, &r->shown[column], !rowset_continues_band(r, column), text);
}

void celltext_add(const struct celltext *l, const struct cell *c, struct str *text)
{
	if (c->reason)
		str_add(text, l->unknown);
	else if (l->add && c->kind != CELL_NONE)
		l->add(c, text);
	else
		cell_add_text(c, text);
}

/* The share of the time that a cell is; 0: it is none. Percentages are text's only real numbers with heat. */
static double heat(const struct cell *c)
{
	if (!(c->spans & CELL_IS_HEAT))
		return 0;
	return c->kind == CELL_REAL ? c->real / 100
		: c->whole          ? (double)c->n / (double)c->whole
				    : 0;
}

void celltext_add_row(const struct celltext *l, const struct rowset *r,
	const struct rowset_column *c, size_t row, struct str *room, struct str *text)
{
	const u32 n = rowset_n_cells(r, c);
	struct cell cell;

	for (u32 part = 0; part < n; part++) {
		const size_t start = text->n;

		rowset_cell(r, c, row, part, room, &cell);
		celltext_add(l, &cell, text);
		if (n > 1 || l->has_colour)
			str_pad_left(text, start, l->width);
		if (l->has_colour)
			colour_paint(text, start, colour_of_share(heat(&cell)));
	}
}
