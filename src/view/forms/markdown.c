/*
 * markdown.c - tables and trees as Markdown, for issues, pull requests and chats.
 */
#include <string.h>

#include "base/num.h"
#include "view/forms/forms.h"
#include "view/text/celltext.h"

/* Adds `words` as code; replaces characters that would end the code or the table's cell. */
static void add_code(const char *words, struct str *text)
{
	str_addc(text, '`');
	for (; *words; words++) {
		if (*words == '|')
			str_addc(text, '\\');
		str_addc(text, *words == '`' ? '\'' : *words);
	}
	str_addc(text, '`');
}

/* Columns: the shares of each part, then their intervals, then the keys. */
static bool is_shown(const struct rowset *r, const struct rowset_column *c)
{
	for (size_t i = 0; i < r->n_shown; i++)
		if (r->shown[i].key == c->key)
			return true;
	return false;
}

/* Of a figure's parts those that people see. */
static bool is_share(const struct rowset *r, const struct rowset_column *c)
{
	return c->group == ROWSET_VALUE && c->kind == CELL_SHARE && (!c->band || is_shown(r, c));
}

static bool is_interval(const struct rowset_column *c)
{
	return c->group == ROWSET_CERTAINTY && c->kind == CELL_RANGE;
}

static bool is_key(const struct rowset *r, const struct rowset_column *c)
{
	return c->group == ROWSET_KEY || !r->head;
}

/* Where no shares are, all columns that people see are alike: keys of a table that is of nothing. */
static struct rowset without_shares(const struct rowset *r)
{
	struct rowset ret = *r;

	for (size_t i = 0; i < r->n_columns; i++)
		if (is_share(r, &r->columns[i]))
			return ret;
	ret.columns = r->shown;
	ret.n_columns = r->n_shown;
	ret.head = NULL;
	return ret;
}

static void add_share(u64 part, u64 whole, struct str *text)
{
	str_addf(text, " %.2f%% |", whole ? 100 * (double)part / (double)whole : 0);
}

static void add_shares(const struct rowset *r, size_t row, struct str *room, struct str *text)
{
	struct cell cell;

	for (u32 part = 0; part < r->n_parts; part++)
		for (size_t i = 0; i < r->n_columns; i++) {
			if (!is_share(r, &r->columns[i]))
				continue;
			rowset_cell(r, &r->columns[i], row, part, room, &cell);
			add_share(cell.n, cell.whole, text);
		}
}

static void add_key(const struct rowset *r, const struct rowset_column *c, size_t row,
	struct str *room, struct str *text)
{
	const struct celltext l = celltext_of_column(c);
	struct str word = {0};
	struct cell cell;

	rowset_cell(r, c, row, 0, room, &cell);
	if (cell.kind == CELL_FUNCTION)
		cell_add_data(&cell, &word);
	else
		celltext_add(&l, &cell, &word);
	str_addc(text, ' ');
	if (r->head || word.n)
		add_code(str_text(&word) + strspn(str_text(&word), " "), text);
	str_add(text, " |");
	str_fini(&word);
}

static void add_row(const struct rowset *r, size_t row, struct str *room, struct str *text)
{
	str_addc(text, '|');
	add_shares(r, row, room, text);
	for (size_t i = 0; i < r->n_columns; i++) {
		const struct celltext l = celltext_of_column(&r->columns[i]);

		if (!is_interval(&r->columns[i]))
			continue;
		str_addc(text, ' ');
		celltext_add_row(&l, r, &r->columns[i], row, room, text);
		str_add(text, " |");
	}
	for (size_t i = 0; i < r->n_columns; i++)
		if (is_key(r, &r->columns[i]))
			add_key(r, &r->columns[i], row, room, text);
	str_addc(text, '\n');
}

/* ---- above the rows ---- */

static const char *part_name(const struct rowset *r, u32 part, struct str *room)
{
	const struct rowset *head = r->head;
	struct cell cell = {.text = ""};

	for (size_t i = 0; i < head->n_columns; i++)
		if (head->columns[i].group == ROWSET_PART)
			rowset_cell(head, &head->columns[i], 0, part, room, &cell);
	return cell.text;
}

/* "Self", or "Self of EVENT". */
static void add_share_title(const struct page *p, const struct rowset *r,
	const struct rowset_column *c, u32 part, struct str *room, struct str *text)
{
	str_addf(text, " %s%s%s", c->band ? c->band : "", c->band ? ": " : "", c->title);
	if (part || (p->n_parts > 1 && r->n_parts > 1)) {
		str_add(text, " of ");
		add_code(part_name(r, part, room), text);
	}
	str_add(text, " |");
}

static void add_header(const struct page *p, const struct rowset *r, struct str *room,
	struct str *text)
{
	struct str line = {0};

	str_addc(text, '|');
	for (u32 part = 0; part < r->n_parts; part++)
		for (size_t i = 0; i < r->n_columns; i++) {
			if (!is_share(r, &r->columns[i]))
				continue;
			add_share_title(p, r, &r->columns[i], part, room, text);
			str_add(&line, "---:|");
		}
	for (int has_keys = 0; has_keys < 2; has_keys++)
		for (size_t i = 0; i < r->n_columns; i++) {
			const struct rowset_column *c = &r->columns[i];

			if (has_keys ? !is_key(r, c) : !is_interval(c))
				continue;
			str_addf(text, " %s |", c->title);
			str_add(&line, "---|");
		}
	str_addf(text, "\n|%s\n", str_text(&line));
	str_fini(&line);
}

/* "**cycles**: 1,234 samples" */
static void add_events(const struct rowset *r, struct str *room, struct str *text)
{
	const struct rowset *head = r->head;
	struct cell cell;

	for (u32 part = 0; part < r->n_parts; part++) {
		const char *name = part_name(r, part, room);

		str_add(text, part ? ", **" : "**");
		str_add_safe(text, name, strlen(name));
		str_add(text, "**: ");
		for (size_t i = 0; i < head->n_columns; i++) {
			if (strcmp(head->columns[i].name, "samples") != 0)
				continue;
			rowset_cell(head, &head->columns[i], 0, part, room, &cell);
			num_add_grouped(text, cell.n);
			str_addf(text, " %s", head->columns[i].title);
		}
	}
	str_add(text, "\n\n");
}

/* ---- rows ---- */

/* The shares of rows that are not shown, by part. */
struct rest {
	u64 n_rows;
	VEC(struct cell) shares;
};

static void add_to_rest(struct rest *rest, const struct rowset *r, size_t row, struct str *room)
{
	size_t at = 0;
	struct cell cell;

	rest->n_rows++;
	for (u32 part = 0; part < r->n_parts; part++)
		for (size_t i = 0; i < r->n_columns; i++) {
			if (!is_share(r, &r->columns[i]))
				continue;
			rowset_cell(r, &r->columns[i], row, part, room, &cell);
			if (at == rest->shares.n)
				vec_add(&rest->shares, ((struct cell){.whole = cell.whole}));
			rest->shares.at[at++].n += cell.n;
		}
}

/* Only self shares have a sum; those of callers overlap. */
static void add_rest(const struct rest *rest, const struct rowset *r, struct str *text)
{
	const size_t n = rest->shares.n / r->n_parts;

	str_addc(text, '|');
	for (size_t i = 0; i < rest->shares.n; i++) {
		if (i % n)
			str_add(text, " |");
		else
			add_share(rest->shares.at[i].n, rest->shares.at[i].whole, text);
	}
	for (size_t i = 0; i < r->n_columns; i++)
		str_add(text, is_interval(&r->columns[i]) ? " |" : "");
	str_addf(text, " *%llu more* |\n", (unsigned long long)rest->n_rows);
}

static void add_rows(const struct rowset *r, u64 n_lines, struct str *room, struct str *text)
{
	struct rest rest = {0};
	u64 shown = 0;

	for (size_t row = 0; row < r->n; row++) {
		/* The last line may be needed for the rest. */
		bool fits = shown + 1 < n_lines || (shown < n_lines && row + 1 == r->n);

		if (!rest.n_rows && fits && rowset_shows(r, row)) {
			add_row(r, row, room, text);
			shown++;
			continue;
		}
		add_to_rest(&rest, r, row, room);
	}
	if (rest.n_rows)
		add_rest(&rest, r, text);
	vec_fini(&rest.shares);
}

/* Adds a tree, folded away. */
static void add_tree(struct page *p, const struct rowset *r)
{
	const struct text_options text = {.n_workers = p->text->n_workers};
	struct rowset lines = *r;

	lines.is_of_samples = false;
	str_addf(&p->out->text, "<details><summary>%s</summary>\n\n```text\n", r->title);
	text_add_table(p->out, &lines, &text);
	str_add(&p->out->text, "```\n\n</details>\n\n");
}

static void markdown_form_table(struct page *p, const struct rowset *r)
{
	struct str *text = &p->out->text, room = {0};
	struct rowset rows;

	if (r->is_outline) {
		add_tree(p, r);
		return;
	}
	if (r->head)
		add_events(r, &room, text);
	rows = without_shares(r);
	if (!p->has_head)
		add_header(p, &rows, &room, text);
	add_rows(&rows, p->n_lines ? p->n_lines : UINT64_MAX, &room, text);
	/* Rows go on where they come while it is measured. */
	p->has_head = p->is_lines;
	str_add(text, p->is_lines ? "" : "\n");
	str_fini(&room);
}

/* Markdown takes a '#' for a heading. */
static void markdown_form_end(struct page *p, const struct account *account)
{
	struct str line = {0};

	if (account)
		account_add_text(account, &line);
	str_add(&p->out->text, str_text(&line) + strspn(str_text(&line), "# "));
	str_fini(&line);
}

const struct form form_markdown = {.name = "md",
	.extension = "md",
	.help = "Markdown: a table of rows and the call tree, folded away",
	.wants = FORM_IS_READ | FORM_WANTS_TREE | FORM_SKIPS_EMPTY,
	.table = markdown_form_table,
	.end = markdown_form_end};
