#include "view/svg/flamegraph.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "view/html/assets.h"
#include "view/svg/flamewords.h"
#include "view/svg/paint.h"
#include "view/text/markup.h"

enum { ROW = 18, MARGIN = 10, LINE = 16, FOOT_LINES = 12, FOOT_BYTES = 6000 };
enum { BAR = 8 };
enum { CONTROLS = 48 }; /* height of what the script adds above the graph */
/* What a box takes besides its name and its file, twice if it has a label. */
enum { BYTES_OF_BOX = 330, BYTES_OF_CHANGE = 160, BYTES_OF_FRAME = 64000 };
enum { ELEMENTS_OF_FRAME = 300 };

static const double LETTER = 7.3; /* the width of a letter */
static const double LEAST_LABEL = 29;

struct drawing {
	struct out *out;
	struct picture *p;
	const struct picture_options *o;
	const struct flamegraph_about *about;
	struct boxes b;
	struct changes c;
	struct flamewords w;
	double width; /* of the graph */
	double y;     /* where the next line of text stands */
};

/* ---- which boxes ---- */

/* Returns what a box of each place takes, as markup. */
static u32 *sizes_of(const struct drawing *d, const struct rowset *r)
{
	u32 *bytes = mem_alloc((r->n_places + 1) * sizeof(*bytes));
	struct str name = {0}, markup = {0};

	for (size_t i = 0; i < r->n_places; i++) {
		str_clear(&name);
		str_clear(&markup);
		flamewords_add_name(&name, r->places[i].name);
		/* Once for its title, and once for its label. */
		markup_addn(&markup, str_text(&name), name.n);
		flamewords_add_name(&name, r->places[i].dso_name ? r->places[i].dso_name : "");
		markup_addn(&markup, str_text(&name), name.n);
		bytes[i] = (u32)markup.n + BYTES_OF_BOX + (d->p->recordings ? BYTES_OF_CHANGE : 0);
	}
	str_fini(&name);
	str_fini(&markup);
	return bytes;
}

/* The event that is drawn: the first that has anything. */
static u32 part_of(const struct rowset *r)
{
	struct str room = {0};
	struct cell cell;
	u32 part = 0;

	for (u32 i = 0; i < r->n_parts && r->head; i++) {
		rowset_cell(r->head, &r->head->columns[2], 0, i, &room, &cell);
		if (cell.n) {
			part = i;
			break;
		}
	}
	str_fini(&room);
	return part;
}

static void choose_boxes(struct drawing *d, const struct rowset *r)
{
	bool *counts = mem_zalloc((r->n_parts + 1) * sizeof(*counts));
	u32 *bytes = sizes_of(d, r);
	const struct boxes_options o = {.counts = counts,
		.bytes = bytes,
		.n_elements = FLAMEGRAPH_ELEMENTS - ELEMENTS_OF_FRAME,
		.n_bytes = FLAMEGRAPH_BYTES - BYTES_OF_FRAME - (u64)strlen(assets_flamegraph),
		.labelled = LEAST_LABEL / d->width,
		.least = d->o->least_pct / 100,
		.is_inverted = d->o->is_inverted,
		.is_heaviest = d->o->is_heaviest};

	d->w.part = d->p->recordings ? 0 : part_of(r);
	for (u32 part = 0; part < r->n_parts; part++)
		counts[part] = d->p->recordings ? d->p->recordings[part].side == DELTA_B
						: part == d->w.part;
	boxes_init(&d->b, r, &o);
	mem_free(bytes);
	mem_free(counts);
}

/* ---- lines of text ---- */

/* Adds a paragraph in lines of at most the picture's width; `text` is safe. */
static void add_paragraph(struct drawing *d, struct str *out, const char *style, const char *text)
{
	/* Only the title has a style, and larger letters. */
	const size_t most = (size_t)(d->width / (*style ? LETTER * 15 / 12 : LETTER));
	const char *at = text;

	if (!*text)
		return;
	str_addf(out, "<text%s>", style);
	while (*at) {
		size_t n = 0, good = 0;

		/* Words that are longer than a line are cut. */
		while (at[n] && flamewords_columns(at, n) < most) {
			n++;
			good = at[n] == ' ' || !at[n] ? n : good;
		}
		if (!good || !at[n])
			good = n;
		while (((u8)at[good] & 0xc0) == 0x80)
			good++;
		d->y += LINE;
		str_addf(out, "<tspan x=\"%d\" y=\"%.0f\">", MARGIN, d->y);
		markup_addn(out, at, good);
		str_add(out, "</tspan>");
		at += good;
		at += *at == ' ';
	}
	str_add(out, "</text>\n");
}

typedef void words_function(const struct flamewords *w, struct str *out);

static void add_words(struct drawing *d, words_function *words)
{
	struct str text = {0};

	words(&d->w, &text);
	add_paragraph(d, &d->out->text, "", str_text(&text));
	str_fini(&text);
}

static void add_cut_names(const struct flamewords *w, struct str *out)
{
	u64 n = 0;

	for (size_t i = 0; i < w->b->all.n; i++) {
		const u32 place = w->b->all.at[i].place;
		struct str name = {0};

		n += place < BOXES_REST && flamewords_add_name(&name, w->r->places[place].name);
		str_fini(&name);
	}
	if (!n)
		return;
	num_add_grouped(out, n);
	str_addf(out, " %s of more than %d characters %s cut.", n == 1 ? "name" : "names",
		FLAMEWORDS_NAME, n == 1 ? "is" : "are");
}

/* ---- legend ---- */

static bool has_kind(const struct drawing *d, char kind)
{
	vec_each(box, &d->b.all)
		if (box->place < BOXES_REST && d->w.r->places[box->place].kind == kind)
			return true;
	return false;
}

static void add_swatch(struct drawing *d, double *x, const char *fill, const char *word)
{
	const double wide = 22 + LETTER * (double)strlen(word);

	if (*x > MARGIN && *x + wide > d->width) {
		*x = MARGIN;
		d->y += LINE;
	}
	str_addf(&d->out->text,
		"<g transform=\"translate(%.1f,%.0f)\"><rect y=\"-10\" width=\"14\" height=\"12\" fill=\"%s\"/><text x=\"18\">%s</text></g>\n",
		*x, d->y, fill, word);
	*x += wide + 8;
}

static void add_kinds(struct drawing *d, double *x)
{
	for (const struct paint_kind *k = paint_kinds; k->kind; k++) {
		struct str fill = {0};

		if (!has_kind(d, k->kind))
			continue;
		paint_add(&fill, k->kind, NULL);
		add_swatch(d, x, str_text(&fill), k->word);
		str_fini(&fill);
	}
}

static void add_steps(struct drawing *d, double *x)
{
	add_swatch(d, x, "url(#more4)", "+100% or new: more than before");
	add_swatch(d, x, "url(#more2)", "+ more");
	add_swatch(d, x, "#d9d9d9", "within chance");
	add_swatch(d, x, "url(#less2)", "- less");
	add_swatch(d, x, "url(#less4)", "-50%: less than before");
}

static void add_legend(struct drawing *d)
{
	double x = MARGIN;

	d->y += LINE + 4;
	str_add(&d->out->text, "<g id=\"legend\">\n");
	if (d->p->recordings)
		add_steps(d, &x);
	else
		add_kinds(d, &x);
	if (d->b.n_rests)
		add_swatch(d, &x, PAINT_REST, "merged");
	str_add(&d->out->text, "</g>\n");
}

/* What was lost is no part of the graph: a bar of its own shows how much that is. */
static void add_lost(struct drawing *d)
{
	const u64 n = d->about->n_lost, all = d->about->n_samples + n;
	struct str *text = &d->out->text;

	if (!n)
		return;
	d->y += LINE + 4;
	str_addf(text, "<g id=\"lost\" data-share=\"%.6f\"><text x=\"%d\" y=\"%.0f\">[lost] ",
		(double)n / (double)all, MARGIN, d->y);
	num_add_grouped(text, n);
	str_addf(text, " %s%s, ", d->about->lost, n == 1 ? "" : "s");
	num_add_percent(text, n, all);
	str_addf(text,
		", dropped by the kernel: not below</text><rect x=\"%d\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/></g>\n",
		MARGIN, d->y + 4, fmax(2, d->width * (double)n / (double)all), BAR, PAINT_LOST);
	d->y += 4 + BAR;
}

/* ---- boxes ---- */

static void add_fill(const struct drawing *d, size_t i, struct str *out)
{
	const struct box *box = &d->b.all.at[i];

	if (box->place == BOXES_REST)
		str_add(out, PAINT_REST);
	else if (d->w.c)
		paint_add_change(out, d->c.of.at[i].step);
	else if (box->place == BOXES_ROOT)
		str_add(out, "#dddddd");
	else
		paint_add(out, d->w.r->places[box->place].kind, d->w.r->places[box->place].name);
}

static double top_of(const struct drawing *d, const struct box *box)
{
	return ROW * (double)(d->o->is_icicle ? box->depth : d->b.n_levels - 1 - box->depth);
}

/* The sign of a change is part of labels. */
static void add_sign(const struct drawing *d, size_t i)
{
	if (!d->w.c || !d->c.of.at[i].step)
		return;
	str_add(&d->out->text, "\" data-s=\"");
	flamewords_add_sign(&d->c.of.at[i], &d->out->text);
}

static void add_rect(struct drawing *d, size_t i, double x, double width)
{
	const struct box *box = &d->b.all.at[i];
	struct str *text = &d->out->text;

	str_addf(text, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"", x,
		top_of(d, box), width > 2 ? width - 0.5 : width, ROW - 1);
	add_fill(d, i, text);
	add_sign(d, i);
	if (box->n_merged)
		str_addf(text, "\" data-n=\"%u", box->n_merged);
	str_addf(text, "\" data-v=\"%llu\"><title>", (unsigned long long)box->weight);
	flamewords_add_title(&d->w, i, text);
	str_add(text, "</title></rect>\n");
	out_flush_some(d->out);
}

static void add_label(struct drawing *d, size_t i, double x, double width)
{
	const size_t columns = (size_t)((width - 6) / LETTER);

	if (width < LEAST_LABEL || columns < 2)
		return;
	str_addf(&d->out->text, "<text x=\"%.2f\" y=\"%.0f\">", x + 3,
		top_of(d, &d->b.all.at[i]) + 13);
	flamewords_add_label(&d->w, i, columns, &d->out->text);
	str_add(&d->out->text, "</text>\n");
	out_flush_some(d->out);
}

/* Adds rectangles or labels. A box begins where the box before it with the same parent ends. */
static void add_boxes(struct drawing *d,
	void (*add)(struct drawing *d, size_t i, double x, double width))
{
	u64 *left = mem_zalloc((d->b.all.n + 1) * sizeof(*left)); /* of the next child */
	const double whole = (double)MAX(d->b.all.at[0].weight, 1ull);

	for (size_t i = 0; i < d->b.all.n; i++) {
		const struct box *box = &d->b.all.at[i];
		const u64 x = i ? left[box->parent] : 0;

		left[i] = x;
		if (i)
			left[box->parent] += box->weight;
		add(d, i, (double)x * d->width / whole, (double)box->weight * d->width / whole);
	}
	mem_free(left);
}

/* ---- the document ---- */

static const char style[] =
	"<style>\n"
	"svg { background: #fff; }\n"
	"text { white-space: pre; }\n"
	"#boxes rect { cursor: pointer; }\n"
	"#boxes rect:hover { stroke: #000; stroke-width: 1; }\n"
	"@media (prefers-color-scheme: dark) { svg { background: #17191d; } #paper { fill: #17191d; } .ink { fill: #dfe1e5; } }\n"
	".bar { font: 12px system-ui, sans-serif; color: #111; background: #fff; padding: 0 10px; }\n"
	".bar div { display: flex; gap: 6px; height: 26px; }\n"
	".bar input { flex: 1 1 60px; max-width: 320px; min-width: 40px; font: inherit; }\n"
	".bar button { font: inherit; white-space: nowrap; }\n"
	".bar output { display: block; line-height: 22px; height: 22px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }\n"
	"@media (prefers-color-scheme: dark) { .bar { color: #dfe1e5; background: #17191d; } .bar * { color-scheme: dark; } }\n"
	"@media print { #controls { display: none; } }\n"
	"</style>\n";

/* `title` is safe, and no longer than a name. */
static void add_head(struct drawing *d, const char *title, struct str *head)
{
	struct str body = d->out->text;

	/* The height is known when all lines are. */
	d->out->text = (struct str){0};
	str_add(&d->out->text, "<g id=\"head\" class=\"ink\" fill=\"#111111\">\n");
	d->y = 6;
	add_paragraph(d, &d->out->text, " font-size=\"15\" font-weight=\"bold\"", title);
	add_words(d, flamewords_add_facts);
	if (d->w.c) {
		add_words(d, flamewords_add_colours);
		add_words(d, flamewords_add_gone);
	}
	if (d->p->notes)
		add_paragraph(d, &d->out->text, "", d->p->notes);
	add_words(d, flamewords_add_merged);
	add_words(d, add_cut_names);
	add_legend(d);
	add_lost(d);
	str_add(&d->out->text, "</g>\n");
	*head = d->out->text;
	d->out->text = body;
}

/* What is missing from the result, below the graph. */
static void add_foot(struct drawing *d, struct str *foot)
{
	const char *line = d->about->ledger;
	size_t n = 0;

	str_add(foot, "<g id=\"foot\" class=\"ink\" fill=\"#111111\">\n");
	for (; *line && n < FOOT_LINES && foot->n < FOOT_BYTES; n++) {
		const size_t length = strcspn(line, "\n"), skip = strspn(line, "# ");
		struct str raw = {0}, safe = {0};

		str_addn(&raw, line + MIN(skip, length),
			MIN(length - MIN(skip, length), (size_t)600));
		str_add_safe(&safe, str_text(&raw), raw.n);
		add_paragraph(d, foot, "", str_text(&safe));
		str_fini(&raw);
		str_fini(&safe);
		line += length + (line[length] == '\n');
	}
	if (*line)
		add_paragraph(d, foot, "", "... ('pace report --ledger' has the rest)");
	str_add(foot, "</g>\n");
}

static void add_beginning(struct drawing *d, double tall, const char *title)
{
	struct str *text = &d->out->text;
	const double wide = d->width + 2 * MARGIN;

	str_addf(text,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
		"role=\"img\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"12\">\n"
		"<title>",
		wide, tall, wide, tall);
	markup_addn(text, title, strlen(title));
	str_add(text, "</title>\n");
	str_add(text, style);
	paint_add_patterns(text, d->w.c);
	str_add(text, "<rect id=\"paper\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
}

static void add_graph(struct drawing *d, double top)
{
	struct str *text = &d->out->text;

	str_addf(text,
		"<g id=\"graph\" transform=\"translate(%d,%.0f)\" data-levels=\"%u\" data-order=\"%s\" data-way=\"%s\"%s>\n",
		MARGIN, top, d->b.n_levels, d->o->is_heaviest ? "heaviest" : "name",
		d->o->is_icicle ? "icicle" : "flame", d->o->width ? " data-fixed=\"1\"" : "");
	str_add(text, "<g id=\"boxes\">\n");
	add_boxes(d, add_rect);
	str_add(text, "</g>\n<g id=\"labels\" fill=\"#111111\" pointer-events=\"none\">\n");
	add_boxes(d, add_label);
	str_add(text, "</g>\n</g>\n");
}

static void add_said(struct drawing *d)
{
	struct str *said = &d->p->said;

	num_add_grouped(said, d->b.all.n);
	str_add(said, d->b.all.n == 1 ? " box" : " boxes");
	if (!d->b.n_rests)
		return;
	str_add(said, ", ");
	num_add_grouped(said, d->b.n_rests);
	str_addf(said, " of which %s for ", d->b.n_rests == 1 ? "stands" : "stand");
	num_add_grouped(said, d->b.n_merged);
	str_add(said, d->b.n_merged == 1 ? " function that is" : " functions that are");
	str_add(said, " too small to be drawn (");
	num_add_percent(said, d->b.merged_weight, d->b.all.at[0].weight);
	str_add(said, ")");
}

static void add_document(struct drawing *d)
{
	const double graph_tall = ROW * (double)d->b.n_levels;
	struct str head = {0}, foot = {0}, title = {0};
	double top;

	flamewords_add_name(&title, d->about->title);
	add_head(d, str_text(&title), &head);
	top = d->y + 12 + CONTROLS;
	d->y = top + graph_tall + 4;
	add_foot(d, &foot);
	add_beginning(d, d->y + 12, str_text(&title));
	str_addn(&d->out->text, str_text(&head), head.n);
	add_graph(d, top);
	str_addn(&d->out->text, str_text(&foot), foot.n);
	str_add(&d->out->text, "<script><![CDATA[\n");
	str_add(&d->out->text, assets_flamegraph);
	str_add(&d->out->text, "]]></script>\n</svg>\n");
	str_fini(&head);
	str_fini(&foot);
	str_fini(&title);
}

void flamegraph_add(struct out *out, const struct rowset *r, struct picture *p,
	const struct flamegraph_about *about)
{
	static const struct picture_options defaults = {0};
	struct drawing d = {.out = out,
		.p = p,
		.o = p->options ? p->options : &defaults,
		.about = about};

	d.width = (double)(d.o->width ? d.o->width : PICTURE_WIDTH) - 2 * MARGIN;
	d.w = (struct flamewords){.r = r, .b = &d.b, .p = p};
	choose_boxes(&d, r);
	if (p->recordings) {
		changes_init(&d.c, &d.b, r, p);
		d.w.c = &d.c;
	}
	add_document(&d);
	add_said(&d);
	changes_fini(&d.c);
	boxes_fini(&d.b);
}
