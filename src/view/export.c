#include "view/export.h"

#include <string.h>

#include "base/json.h"
#include "profile/certainty.h"
#include "view/graph_json.h"
#include "view/layout.h"

enum { VERSION = 3 };

static double share(const struct hist *h, u32 k, u64 period)
{
	const u64 all = h->events[k].all.period;

	return all ? 100.0 * (double)period / (double)all : 0;
}

static void add_share(struct str *text, const char *key, double v)
{
	json_key(text, key);
	str_addf(text, "%.4f,", v);
}

/* ---- JSON ---- */

static void add_range(struct str *text, const char *low, const char *high,
	const struct drift_range *r)
{
	add_share(text, low, 100 * r->low);
	add_share(text, high, 100 * r->high);
}

/* How sure the shares are. */
static void add_certainty(const struct hist *h, const struct hist_entry *e, struct str *text)
{
	const struct certainty_row *row = &h->certainty->rows[e - h->entries.at];

	add_range(text, "share_low", "share_high", &row->self);
	if (h->options->has_children)
		add_range(text, "total_share_low", "total_share_high", &row->total);
	json_key(text, "order_decided");
	str_add(text, row->is_decided ? "true," : "false,");
}

static void add_beside(struct str *text, const struct key *key, const char *suffix,
	const char *value)
{
	struct str name = {0};

	str_addf(&name, "%s_%s", key->name, suffix);
	json_text(text, str_text(&name), value);
	str_fini(&name);
}

/* What is not known is null, and why stands beside it. */
static void add_json_cell(struct str *text, const struct key *key, const struct hist *h,
	const struct hist_entry *e, struct str *room)
{
	struct str value = {0};
	struct cell cell;

	key_cell(key, h, e, 0, room, &cell);
	cell_add_data(&cell, &value);
	if (cell.reason)
		json_null(text, key->name);
	else if (cell_is_number(cell.kind))
		json_raw(text, key->name, str_text(&value));
	else
		json_text(text, key->name, str_text(&value));
	if (cell.reason)
		add_beside(text, key, "reason", cell.reason);
	if (cell.name) {
		str_cut(&value, 0);
		str_add_safe(&value, cell.name, strlen(cell.name));
		add_beside(text, key, "name", str_text(&value));
	}
	str_fini(&value);
}

static void add_json_row(struct out *out, struct hist_view *view, const struct hist_entry *e,
	const struct text_options *t, struct str *room)
{
	const struct hist *h = view->hist;
	struct str *text = &out->text;

	str_addc(text, '{');
	for (size_t i = 0; i < h->options->n_keys; i++)
		add_json_cell(text, h->options->keys[i], h, e, room);
	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i]->is_value && t->columns[i]->label)
			json_u64(text, t->columns[i]->name, t->columns[i]->figure(h, e, 0));
	json_u64(text, "samples", e->of[0].self.n_samples);
	json_u64(text, "period", e->of[0].self.period);
	add_share(text, "share", share(h, 0, e->of[0].self.period));
	if (h->options->has_children) {
		json_u64(text, "total_samples", e->of[0].total.n_samples);
		json_u64(text, "total_period", e->of[0].total.period);
		add_share(text, "total_share", share(h, 0, e->of[0].total.period));
	}
	if (h->certainty)
		add_certainty(h, e, text);
	if (t->has_graph) {
		hist_view_show(view, e->group);
		graph_json_add(view, e, t->drawing.order, h->events[0].all.period, text);
	}
	json_end(text, '}');
	str_addc(text, ',');
}

/* ---- JSON of several events in one table ---- */

static bool is_sum(const struct key *key)
{
	return key->is_value && key->label;
}

static void add_json_side(struct str *text, const struct hist *h, const struct hist_entry *e, u32 k,
	const struct text_options *t)
{
	const struct hist_values *v = &e->of[k];

	str_addc(text, '{');
	json_u64(text, "samples", v->self.n_samples);
	json_u64(text, "period", v->self.period);
	add_share(text, "share", share(h, k, v->self.period));
	if (h->options->has_children) {
		json_u64(text, "total_samples", v->total.n_samples);
		json_u64(text, "total_period", v->total.period);
		add_share(text, "total_share", share(h, k, v->total.period));
	}
	for (size_t i = 0; i < t->n_columns; i++)
		if (is_sum(t->columns[i]))
			json_u64(text, t->columns[i]->name, t->columns[i]->figure(h, e, k));
	json_end(text, '}');
	str_addc(text, ',');
}

static void add_json_row_of_all(struct str *text, const struct hist *h, const struct hist_entry *e,
	const struct text_options *t, struct str *room)
{
	str_addc(text, '{');
	for (size_t i = 0; i < h->options->n_keys; i++)
		add_json_cell(text, h->options->keys[i], h, e, room);
	json_key(text, "values");
	str_addc(text, '[');
	for (u32 k = 0; k < h->n_events; k++)
		add_json_side(text, h, e, k, t);
	json_end(text, ']');
	str_addc(text, '}');
	str_addc(text, ',');
}

static void add_json_event(struct str *text, const struct hist *h, u32 k)
{
	const struct profile_event *event = &h->profile->events.at[h->events[k].event];

	json_text(text, "event", event->name);
	json_u64(text, "samples", h->events[k].all.n_samples);
	json_u64(text, "period", h->events[k].all.period);
	json_u64(text, "lost", event->n_lost);
}

static void add_json_group(struct out *out, const struct hist *h, const struct text_options *t)
{
	const char *name = h->profile->events.at[h->events[0].event].group;
	struct str *text = &out->text, room = {0};

	str_addc(text, '{');
	if (name)
		json_text(text, "group", name);
	else
		json_null(text, "group");
	json_key(text, "events");
	str_addc(text, '[');
	for (u32 k = 0; k < h->n_events; k++) {
		str_addc(text, '{');
		add_json_event(text, h, k);
		json_end(text, '}');
		str_addc(text, ',');
	}
	json_end(text, ']');
	str_addc(text, ',');
	json_key(text, "rows");
	str_addc(text, '[');
	vec_each(e, &h->entries) {
		if (!text_shows(h, e, t))
			continue;
		add_json_row_of_all(text, h, e, t, &room);
		out_flush_some(out);
	}
	json_end(text, ']');
	str_addc(text, '}');
	str_addc(text, ',');
	str_fini(&room);
}

static void add_json(struct out *out, const struct hist *h, const struct text_options *t)
{
	struct hist_view view;
	struct str room = {0};

	str_addc(&out->text, '{');
	add_json_event(&out->text, h, 0);
	json_key(&out->text, "rows");
	str_addc(&out->text, '[');
	hist_view_init(&view, h);
	vec_each(e, &h->entries)
		if (text_shows(h, e, t))
			add_json_row(out, &view, e, t, &room);
	hist_view_fini(&view);
	str_fini(&room);
	json_end(&out->text, ']');
	str_addc(&out->text, '}');
	str_addc(&out->text, ',');
}

/* ---- CSV ---- */

static void add_csv_cell(struct str *text, const char *cell)
{
	bool is_quoted = strpbrk(cell, ",\"\n\r") != NULL;

	if (is_quoted)
		str_addc(text, '"');
	for (; *cell; cell++) {
		if (*cell == '"')
			str_addc(text, '"');
		str_addc(text, *cell);
	}
	str_add(text, is_quoted ? "\"," : ",");
}

/* Empty where nothing is known. */
static void add_csv_key(struct str *text, const struct key *key, const struct hist *h,
	const struct hist_entry *e, struct str *room)
{
	struct str value = {0};
	struct cell cell;

	key_cell(key, h, e, 0, room, &cell);
	cell_add_data(&cell, &value);
	add_csv_cell(text, str_text(&value));
	if (key->has_name) {
		str_cut(&value, 0);
		str_add_safe(&value, cell.name, strlen(cell.name));
		add_csv_cell(text, str_text(&value));
	}
	str_fini(&value);
}

static void add_csv_event(struct str *text, const char *name, struct str *room)
{
	str_cut(room, 0);
	str_add_safe(room, name, strlen(name));
	add_csv_cell(text, str_text(room));
}

static void end_line(struct str *text)
{
	str_cut(text, text->n - 1);
	str_addc(text, '\n');
}

static void add_csv_certainty(struct str *text, const struct hist *h, const struct hist_entry *e)
{
	const struct certainty_row *row = &h->certainty->rows[e - h->entries.at];

	str_addf(text, "%.4f,%.4f,", 100 * row->self.low, 100 * row->self.high);
	if (h->options->has_children)
		str_addf(text, "%.4f,%.4f,", 100 * row->total.low, 100 * row->total.high);
	str_addf(text, "%d,", row->is_decided);
}

static void add_csv_keys(struct str *text, const struct hist *h, const struct hist_entry *e,
	struct str *room)
{
	for (size_t i = 0; i < h->options->n_keys; i++)
		add_csv_key(text, h->options->keys[i], h, e, room);
}

static void add_csv_value(struct str *text, const struct hist *h, u32 k, const struct hist_value *v)
{
	str_addf(text, "%llu,%llu,%.4f,", (unsigned long long)v->n_samples,
		(unsigned long long)v->period, share(h, k, v->period));
}

static void add_csv_side(struct str *text, const struct hist *h, const struct hist_entry *e, u32 k,
	struct str *room)
{
	add_csv_event(text, h->profile->events.at[h->events[k].event].name, room);
	add_csv_value(text, h, k, &e->of[k].self);
	if (h->options->has_children)
		add_csv_value(text, h, k, &e->of[k].total);
}

static void add_csv_sums(struct str *text, const struct hist *h, const struct hist_entry *e, u32 k,
	const struct text_options *t)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (is_sum(t->columns[i]))
			str_addf(text, "%llu,", (unsigned long long)t->columns[i]->figure(h, e, k));
}

static void add_csv(struct out *out, const struct hist *h, const struct text_options *t)
{
	struct str *text = &out->text, room = {0};

	vec_each(e, &h->entries) {
		if (!text_shows(h, e, t))
			continue;
		add_csv_side(text, h, e, 0, &room);
		if (h->certainty)
			add_csv_certainty(text, h, e);
		add_csv_keys(text, h, e, &room);
		add_csv_sums(text, h, e, 0, t);
		end_line(text);
		out_flush_some(out);
	}
	str_fini(&room);
}

/* How many columns an event has in a table of several. */
static size_t n_csv_columns(const struct hist_options *h, const struct text_options *t)
{
	size_t n = h->has_children ? 7 : 4;

	for (size_t i = 0; i < t->n_columns; i++)
		n += is_sum(t->columns[i]);
	return n;
}

static void add_csv_group(struct out *out, const struct hist *h, const struct export_options *o,
	const struct text_options *t)
{
	struct str *text = &out->text, room = {0};
	const size_t n_missing = (o->n_together - h->n_events) * n_csv_columns(h->options, t);

	vec_each(e, &h->entries) {
		if (!text_shows(h, e, t))
			continue;
		for (u32 k = 0; k < h->n_events; k++) {
			add_csv_side(text, h, e, k, &room);
			add_csv_sums(text, h, e, k, t);
		}
		str_fill(text, ',', n_missing);
		add_csv_keys(text, h, e, &room);
		end_line(text);
		out_flush_some(out);
	}
	str_fini(&room);
}

static void add_csv_key_names(struct str *text, const struct hist_options *h)
{
	for (size_t i = 0; i < h->n_keys; i++) {
		add_csv_cell(text, h->keys[i]->name);
		if (h->keys[i]->has_name)
			str_addf(text, "%s_name,", h->keys[i]->name);
	}
}

/* "event_1,samples_1, ..." for each, then what they have in common. */
static void add_csv_group_header(struct str *text, u32 n, const struct text_options *t,
	const struct hist_options *h)
{
	static const char *const names[] = {"event", "samples", "period", "share", "total_samples",
		"total_period", "total_share"};

	for (u32 k = 1; k <= n; k++) {
		for (size_t i = 0; i < (h->has_children ? 7u : 4u); i++)
			str_addf(text, "%s_%u,", names[i], k);
		for (size_t i = 0; i < t->n_columns; i++)
			if (is_sum(t->columns[i]))
				str_addf(text, "%s_%u,", t->columns[i]->name, k);
	}
	add_csv_key_names(text, h);
	end_line(text);
}

static void add_csv_header(struct str *text, const struct export_options *o,
	const struct text_options *t, const struct hist_options *h)
{
	str_add(text, "event,samples,period,share,");
	str_add(text, h->has_children ? "total_samples,total_period,total_share," : "");
	if (o->has_certainty)
		str_addf(text, "share_low,share_high,%sorder_decided,",
			h->has_children ? "total_share_low,total_share_high," : "");
	add_csv_key_names(text, h);
	for (size_t i = 0; i < t->n_columns; i++)
		if (is_sum(t->columns[i]))
			add_csv_cell(text, t->columns[i]->name);
	end_line(text);
}

/* ---- the text's columns ---- */

/* A cell without the blanks that align it; the figures of several events have one between them. */
static void add_separated_cell(struct str *text, const char *cell, bool has_parts,
	const char *separator)
{
	const size_t n = strlen(separator);

	cell += strspn(cell, " ");
	while (*cell) {
		if (has_parts && *cell == ' ') {
			str_addc(text, ' ');
			cell += strspn(cell, " ");
		} else if (!strncmp(cell, separator, n)) {
			str_addc(text, '.');
			cell += n;
		} else {
			str_addc(text, *cell++);
		}
	}
}

static void add_separated_header(struct str *text, const struct hist *h, const char *separator,
	const struct text_options *t)
{
	str_add(text, "# ");
	for (size_t i = 0; i < t->n_columns; i++) {
		const char *header = layout_of(t->columns[i], h->options).title;

		str_add(text, header + strspn(header, " "));
		str_add(text, i + 1 < t->n_columns ? separator : "\n");
	}
}

/* Of several tables each says what it is of. */
static void add_separated(struct out *out, const struct hist *h, const char *separator,
	const struct text_options *t)
{
	struct str *text = &out->text, room = {0}, cell = {0};
	struct layout layouts[HIST_KEYS_MAX];

	for (size_t i = 0; i < t->n_columns; i++)
		layouts[i] = layout_of(t->columns[i], h->options);
	if (h->profile->events.n > 1 && !t->is_wall && !t->is_bare)
		text_add_title(h, text);
	if (!t->is_bare)
		add_separated_header(text, h, separator, t);
	vec_each(e, &h->entries) {
		if (!text_shows(h, e, t))
			continue;
		for (size_t i = 0; i < t->n_columns; i++) {
			str_cut(&cell, 0);
			layout_add_entry(&layouts[i], t->columns[i], h, e, &room, &cell);
			add_separated_cell(text, str_text(&cell), key_n_parts(t->columns[i], h) > 1,
				separator);
			if (i + 1 < t->n_columns)
				str_add(text, separator);
		}
		str_addc(text, '\n');
		out_flush_some(out);
	}
	str_fini(&cell);
	str_fini(&room);
}

/* ---- all ---- */

void export_begin(struct out *out, const struct export_options *o, const struct text_options *t,
	const struct hist_options *h)
{
	struct str *text = &out->text;

	if (o->form == EXPORT_JSON) {
		str_addc(text, '{');
		json_u64(text, "version", VERSION);
		json_key(text, o->n_together ? "groups" : "events");
		str_addc(text, '[');
		return;
	}
	if (o->form == EXPORT_CSV && o->n_together) {
		add_csv_group_header(text, o->n_together, t, h);
		return;
	}
	if (o->form == EXPORT_CSV) {
		add_csv_header(text, o, t, h);
	}
}

void export_add(struct out *out, const struct hist *h, const struct export_options *o,
	const struct text_options *t)
{
	if (o->form == EXPORT_JSON && o->n_together)
		add_json_group(out, h, t);
	else if (o->form == EXPORT_JSON)
		add_json(out, h, t);
	else if (o->form == EXPORT_CSV && o->n_together)
		add_csv_group(out, h, o, t);
	else if (o->form == EXPORT_CSV)
		add_csv(out, h, t);
	else
		add_separated(out, h, o->separator, t);
}

void export_end(struct out *out, const struct export_options *o, const struct account *account)
{
	if (o->form != EXPORT_JSON)
		return;
	json_end(&out->text, ']');
	if (account) {
		str_addc(&out->text, ',');
		json_key(&out->text, "ledger");
		str_addc(&out->text, '{');
		account_add_json(account, &out->text);
		json_end(&out->text, '}');
	}
	str_add(&out->text, "}\n");
}
