/*
 * form_html.c - one page for browsers, which needs nothing but itself.
 *
 * Stacks become columns that the page's own code (view/html) draws. Without scripts the page has the first functions, and what is missing
 * from the result.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "profile/rows/codekind.h"
#include "view/forms/forms.h"
#include "view/html/assets.h"
#include "view/html/chunk.h"
#include "view/html/columns.h"
#include "view/html/timechunks.h"
#include "view/text/markup.h"

enum { PAGE_VERSION = 1, N_STATIC_ROWS = 50 };

static const char *title_of(const struct page *p)
{
	return p->about && p->about->title.n ? str_text(&p->about->title) : "pace";
}

static void html_form_begin(struct page *p)
{
	struct str *text = &p->out->text;

	str_add(text,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<title>");
	markup_add(text, title_of(p));
	str_addf(text, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<div id=\"app\"></div>\n",
		assets_style);
}

/* ---- stacks ---- */

static u64 number_at(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room)
{
	struct cell cell;

	rowset_cell(r, c, row, part, room, &cell);
	return cell.n;
}

/* The period of each sample, if all have the same; else 0. */
static u64 common_period(const struct rowset *r, u32 part, struct str *room)
{
	const struct rowset_column *samples = columns_find(r, "samples"),
				   *period = columns_find(r, "period");
	u64 common = 0;

	for (size_t row = 1; row < r->n; row++) {
		const u64 n = number_at(r, samples, row, part, room),
			  sum = number_at(r, period, row, part, room);

		if (!n && !sum)
			continue;
		if (!n || sum % n || !sum || (common && common != sum / n))
			return 0;
		common = sum / n;
	}
	return common ? common : 1;
}

static void add_events(const struct rowset *r, struct str *text, struct str *room)
{
	const struct rowset *head = r->head;
	struct cell cell;

	json_open(text, "events", '[');
	for (u32 part = 0; part < r->n_parts; part++) {
		rowset_cell(head, &head->columns[0], 0, part, room, &cell);
		str_addc(text, '{');
		json_text(text, "name", cell.text ? cell.text : "");
		json_u64(text, "samples",
			number_at(head, columns_find(head, "samples"), 0, part, room));
		json_u64(text, "period",
			number_at(head, columns_find(head, "period"), 0, part, room));
		json_bool(text, "time", r->parts[part].is_time);
		json_u64(text, "common", common_period(r, part, room));
		json_close(text, '}');
	}
	json_close(text, ']');
}

/* Texts with numbers. They are interned, so that equal ones are the same. */
struct numbering {
	VEC(const char *) texts;
	struct table index;
};

static u32 number_of(struct numbering *n, const char *text)
{
	const u64 hash = hash_u64((u64)(uintptr_t)text);
	struct table_probe probe = table_probe(&n->index, hash);
	u32 i;

	while ((i = table_next(&n->index, &probe)) != TABLE_NONE)
		if (n->texts.at[i] == text)
			return i;
	table_add(&n->index, hash, (u32)n->texts.n);
	vec_add(&n->texts, text);
	return (u32)n->texts.n - 1;
}

static void numbering_fini(struct numbering *n)
{
	vec_fini(&n->texts);
	table_fini(&n->index);
}

static void add_texts(struct str *text, const char *name, const struct numbering *n)
{
	json_open(text, name, '[');
	vec_each(one, &n->texts)
		json_element(text, *one);
	json_close(text, ']');
}

static void add_about(struct page *p, const struct rowset *r, const struct columns *c,
	const struct numbering *dsos, const struct numbering *sources)
{
	struct str text = {0}, room = {0};
	struct chunk chunk;

	str_addc(&text, '{');
	json_u64(&text, "version", PAGE_VERSION);
	json_text(&text, "title", title_of(p));
	json_u64(&text, "nodes", c->n);
	json_u64(&text, "depth", c->depth);
	add_events(r, &text, &room);
	json_open(&text, "facts", '[');
	for (size_t i = 0; p->about && i < p->about->facts.n; i++) {
		str_addc(&text, '[');
		json_element(&text, p->about->facts.at[i].name);
		json_element(&text, p->about->facts.at[i].text);
		json_close(&text, ']');
	}
	json_close(&text, ']');
	add_texts(&text, "dsos", dsos);
	add_texts(&text, "files", sources);
	json_end(&text, '}');
	chunk_open(&chunk, p->out, "about");
	chunk_add(&chunk, text.at, text.n);
	chunk_close(&chunk);
	str_fini(&text);
	str_fini(&room);
}

/* The names, a line each; and of each its kind, its DSO's number, and its source file's, from 1. */
static void add_names(struct page *p, const struct rowset *r, const struct columns *c)
{
	struct numbering dsos = {0}, sources = {0};
	struct chunk chunk;

	chunk_open(&chunk, p->out, "names");
	for (size_t i = 0; i < c->names.n; i++) {
		chunk_add(&chunk, c->names.at[i].text, strlen(c->names.at[i].text));
		chunk_add(&chunk, "\n", 1);
	}
	chunk_close(&chunk);
	chunk_open(&chunk, p->out, "places");
	for (size_t i = 0; i < c->names.n; i++) {
		const struct columns_name *name = &c->names.at[i];

		chunk_add_number(&chunk, (u8)name->kind);
		chunk_add_number(&chunk, number_of(&dsos, name->dso));
		chunk_add_number(&chunk, name->source ? number_of(&sources, name->source) + 1 : 0);
	}
	chunk_close(&chunk);
	add_about(p, r, c, &dsos, &sources);
	numbering_fini(&dsos);
	numbering_fini(&sources);
}

static void add_numbers(struct page *p, const char *id, const u32 *numbers, size_t n)
{
	struct chunk chunk;

	chunk_open(&chunk, p->out, id);
	for (size_t i = 0; i < n; i++)
		chunk_add_number(&chunk, numbers[i]);
	chunk_close(&chunk);
}

static void add_values(struct page *p, const struct rowset *r, const struct columns *c,
	const char *column, u32 part)
{
	const struct rowset_column *value = columns_find(r, column);
	struct str room = {0}, id = {0};
	struct chunk chunk;

	str_addf(&id, "%s%u", column, part);
	chunk_open(&chunk, p->out, str_text(&id));
	for (size_t i = 0; i < c->n; i++)
		chunk_add_number(&chunk, number_at(r, value, c->rows[i], part, &room));
	chunk_close(&chunk);
	str_fini(&room);
	str_fini(&id);
}

/* ---- without scripts ---- */

struct ranking {
	const struct columns *columns;
	u64 *self, *total;
};

static int by_self(const void *a, const void *b, void *ctx)
{
	const struct ranking *k = ctx;
	const u32 i = *(const u32 *)a, j = *(const u32 *)b;

	if (k->self[i] != k->self[j])
		return k->self[i] < k->self[j] ? 1 : -1;
	return strcmp(k->columns->names.at[i].text, k->columns->names.at[j].text);
}

static void add_share(struct str *text, u64 part, u64 whole)
{
	str_addf(text, "<td class=\"number\">%.2f%%</td>",
		whole ? 100 * (double)part / (double)whole : 0);
}

static void add_static_row(struct str *text, const struct columns_name *name, u64 self, u64 total,
	u64 whole)
{
	str_add(text, "<tr>");
	add_share(text, self, whole);
	add_share(text, total, whole);
	str_add(text, "<td>");
	markup_add(text, name->text);
	str_add(text, "</td><td>");
	markup_add(text, name->dso);
	str_add(text, "</td></tr>\n");
}

/* The first event's first functions. */
static void add_static_rows(struct page *p, const struct rowset *r, const struct columns *c)
{
	const size_t size = (c->names.n + 1) * sizeof(u64);
	struct ranking k = {c, mem_zalloc(size), mem_zalloc(size)};
	u32 *order = mem_alloc((c->names.n + 1) * sizeof(*order));
	struct str *text = &p->out->text, room = {0};
	const u64 whole = number_at(r->head, columns_find(r->head, "period"), 0, 0, &room);
	size_t n = 0;

	columns_sum(c, r, columns_find(r, "period"), 0, k.self, k.total);
	for (u32 i = 0; i < c->names.n; i++)
		if (c->names.at[i].kind != CODEKIND_TASK)
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), by_self, &k);
	str_add(text, "<h1>");
	markup_add(text, title_of(p));
	str_add(text,
		"</h1>\n<p>Scripts are off: these are the functions that most of the first event was in.</p>\n"
		"<table>\n<thead><tr><th>Self</th><th>Total</th><th>Function</th><th>File</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < MIN(n, (size_t)N_STATIC_ROWS); i++)
		add_static_row(text, &c->names.at[order[i]], k.self[order[i]], k.total[order[i]],
			whole);
	str_add(text, "</tbody>\n</table>\n");
	mem_free(order);
	mem_free(k.self);
	mem_free(k.total);
	str_fini(&room);
}

static void html_form_table(struct page *p, const struct rowset *r)
{
	struct columns c;
	struct str room = {0};

	columns_init(&c, r);
	add_names(p, r, &c);
	add_numbers(p, "ups", c.levels_up, c.n);
	add_numbers(p, "nodes", c.name_of, c.n);
	for (u32 part = 0; part < r->n_parts; part++) {
		add_values(p, r, &c, "period", part);
		if (!common_period(r, part, &room))
			add_values(p, r, &c, "samples", part);
	}
	if (timechunks_are_there(r))
		timechunks_add(p->out, r, &c, p->chart);
	str_add(&p->out->text, "<noscript>\n");
	add_static_rows(p, r, &c);
	columns_fini(&c);
	str_fini(&room);
}

/* Where the samples went, and what the result lacks: text for the page's code, and for readers without scripts. */
static void add_ledger(struct page *p, const struct account *account)
{
	struct str text = {0};
	struct chunk chunk;

	if (account)
		account_add_text(account, &text);
	if (p->about)
		str_addn(&text, str_text(&p->about->ledger), p->about->ledger.n);
	str_add(&p->out->text, "<pre class=\"ledger\">");
	for (const char *line = str_text(&text); *line;) {
		const size_t n = strcspn(line, "\n");
		struct str one = {0};

		str_addn(&one, line, n);
		markup_add(&p->out->text, str_text(&one));
		str_addc(&p->out->text, '\n');
		str_fini(&one);
		line += n + (line[n] == '\n');
	}
	str_add(&p->out->text, "</pre>\n");
	str_add(&p->out->text, "</noscript>\n");
	chunk_open(&chunk, p->out, "ledger");
	chunk_add(&chunk, str_text(&text), text.n);
	chunk_close(&chunk);
	str_fini(&text);
}

/* What belongs to the page's other sections, which inflate it when they are shown. */
static void add_documents(struct page *p)
{
	struct chunk chunk;

	if (!p->about)
		return;
	vec_each(document, &p->about->documents) {
		chunk_open(&chunk, p->out, document->name);
		chunk_add(&chunk, document->text.at, document->text.n);
		chunk_close(&chunk);
	}
}

static void html_form_end(struct page *p, const struct account *account)
{
	add_ledger(p, account);
	add_documents(p);
	str_add(&p->out->text, assets_script);
	str_add(&p->out->text, "</body>\n</html>\n");
}

const struct form form_html = {.name = "html",
	.extension = "html",
	.help = "a page for browsers: flame graph, functions, what is missing",
	.wants = FORM_WANTS_STACKS | FORM_WANTS_FUNCTIONS | FORM_WANTS_TIMES | FORM_WANTS_CHART |
		FORM_WANTS_DOCUMENTS | FORM_SHOWS_SIDES | FORM_SHOWS_WALL | FORM_SKIPS_EMPTY |
		FORM_HAS_NO_TREE,
	.begin = html_form_begin,
	.table = html_form_table,
	.end = html_form_end};
