#include "view/markdown.h"

#include <string.h>

#include "base/num.h"
#include "profile/certainty.h"
#include "view/cuttree.h"
#include "view/layout.h"

/* As code: what would end it, or the cell of a table that it is in, is told otherwise. */
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

static void add_share(u64 period, u64 all, struct str *text)
{
	str_addf(text, " %.2f%% |", all ? 100 * (double)period / (double)all : 0);
}

static void add_shares(const struct hist *h, const struct hist_entry *e, u32 k, struct str *text)
{
	const u64 all = h->events[k].all.period;

	add_share(e->of[k].self.period, all, text);
	if (h->options->has_children)
		add_share(e->of[k].total.period, all, text);
}

static void add_row(const struct hist *h, const struct hist_entry *e, struct str *room,
	struct str *text)
{
	str_addc(text, '|');
	for (u32 k = 0; k < h->n_events; k++)
		add_shares(h, e, k, text);
	if (h->certainty) {
		str_addc(text, ' ');
		layout_add_key(&certainty_column, h, e, text);
		str_add(text, " |");
	}
	for (size_t i = 0; i < h->options->n_keys; i++) {
		const struct key *key = h->options->keys[i];
		const struct layout l = layout_of(key, h->options);
		struct str word = {0};
		struct cell cell;

		key_cell(key, h, e, 0, room, &cell);
		if (cell.kind == CELL_FUNCTION)
			cell_add_data(&cell, &word);
		else
			layout_add(&l, &cell, &word);
		str_addc(text, ' ');
		add_code(str_text(&word) + strspn(str_text(&word), " "), text);
		str_fini(&word);
		str_add(text, " |");
	}
	str_addc(text, '\n');
}

/* "Self", or "Self of EVENT"; returns how many columns they are. */
static unsigned add_share_headings(const struct hist *h, u32 k, struct str *text)
{
	static const char *const titles[] = {"Self", "Total"};
	const unsigned n = h->options->has_children ? 2 : 1;

	for (unsigned i = 0; i < n; i++) {
		str_addf(text, " %s", titles[i]);
		if (k || hist_n_parts(h) > 1) {
			str_add(text, " of ");
			add_code(h->profile->events.at[h->events[k].event].name, text);
		}
		str_add(text, " |");
	}
	return n;
}

static void add_header(const struct hist *h, struct str *text)
{
	const struct hist_options *o = h->options;
	unsigned n = 0;

	str_addc(text, '|');
	for (u32 k = 0; k < h->n_events; k++)
		n += add_share_headings(h, k, text);
	str_add(text, h->certainty ? " 95% interval |" : "");
	for (size_t i = 0; i < o->n_keys; i++)
		str_addf(text, " %s |", o->keys[i]->title);
	str_add(text, "\n|");
	for (unsigned i = 0; i < n; i++)
		str_add(text, "---:|");
	for (size_t i = 0; i < o->n_keys + (h->certainty != NULL); i++)
		str_add(text, "---|");
	str_addc(text, '\n');
}

/* Selves of what is not shown, for each event. */
struct rest {
	u64 n_rows;
	VEC(u64) periods;
};

static void add_to_rest(struct rest *r, const struct hist *h, const struct hist_entry *e)
{
	r->n_rows++;
	for (u32 k = 0; k < h->n_events; k++)
		r->periods.at[k] += e->of[k].self.period;
}

static void add_rest(const struct rest *r, const struct hist *h, struct str *text)
{
	str_addc(text, '|');
	for (u32 k = 0; k < h->n_events; k++) {
		add_share(r->periods.at[k], h->events[k].all.period, text);
		str_add(text, h->options->has_children ? " |" : "");
	}
	str_addf(text, "%s *%llu more* |\n", h->certainty ? " |" : "",
		(unsigned long long)r->n_rows);
}

static void add_rows(const struct hist *h, const struct text_options *t, u64 n_rows,
	struct str *text)
{
	struct rest rest = {0};
	struct str room = {0};
	u64 shown = 0;

	for (u32 k = 0; k < h->n_events; k++)
		vec_add(&rest.periods, 0);
	vec_each(e, &h->entries) {
		/* The last line may have to tell the rest. */
		bool fits = shown + 1 < n_rows ||
			(shown < n_rows && e + 1 == h->entries.at + h->entries.n);

		if (!rest.n_rows && fits && text_shows(h, e, t)) {
			add_row(h, e, &room, text);
			shown++;
			continue;
		}
		add_to_rest(&rest, h, e);
	}
	if (rest.n_rows)
		add_rest(&rest, h, text);
	vec_fini(&rest.periods);
	str_fini(&room);
}

static void add_event(const struct hist *h, u32 k, struct str *text)
{
	const char *name = h->profile->events.at[h->events[k].event].name;

	str_add(text, "**");
	str_add_safe(text, name, strlen(name));
	str_add(text, "**: ");
	num_add_grouped(text, h->events[k].all.n_samples);
	str_add(text, h->profile->has_branches ? " branches" : " samples");
}

void markdown_add_table(const struct hist *h, const struct text_options *t, u64 n_rows,
	struct str *text)
{
	for (u32 k = 0; k < h->n_events; k++) {
		str_add(text, k ? ", " : "");
		add_event(h, k, text);
	}
	str_add(text, "\n\n");
	add_header(h, text);
	add_rows(h, t, n_rows, text);
	str_addc(text, '\n');
}

void markdown_add_tree(const struct outline *o, const char *event, struct str *text)
{
	str_add(text, "<details><summary>Call tree");
	if (event) {
		str_add(text, " of ");
		str_add_safe(text, event, strlen(event));
	}
	str_add(text, "</summary>\n\n```text\n");
	cuttree_add_text(o, text);
	str_add(text, "```\n\n</details>\n\n");
}
