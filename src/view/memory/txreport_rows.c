/*
 * txreport_rows.c - aborted transactions as cells, for programs. The schema is in pace-tsx(1).
 */
#include <math.h>

#include "profile/rows/rowmaker.h"
#include "record/access.h"
#include "view/memory/txreport.h"

enum { SCHEMA = 1 };

static const char *const count_names[TSX_COUNTS] = {[TSX_CYCLES] = "cycles",
	[TSX_CYCLES_IN] = "cycles_t",
	[TSX_CYCLES_COMMITTED] = "cycles_ct",
	[TSX_STARTS] = "tx_start",
	[TSX_ELISIONS] = "el_start",
	[TSX_LOCK_LOADS] = "lock_loads",
	[TSX_ABORTS] = "tx_abort",
	[TSX_ELISION_ABORTS] = "el_abort"};

static void add_known(struct rowmaker *m, const char *name, double v)
{
	if (isfinite(v))
		rowmaker_double(m, name, v, 9);
}

static void add_counts(struct rowmaker *m, const struct txcounts *c)
{
	for (unsigned i = 0; i < TSX_COUNTS; i++)
		if (c->is_known[i])
			rowmaker_double(m, count_names[i], c->value[i], 17);
	add_known(m, "share_in_transactions", txcounts_share(c));
	add_known(m, "share_aborted", txcounts_share_aborted(c));
	add_known(m, "cycles_each", txcounts_length(c));
	add_known(m, "lock_loads_each", txcounts_locks(c));
}

static void add_count(struct rowmaker *m, const struct aborts *a, const struct aborts_count *c)
{
	struct rowmaker *causes;

	rowmaker_u64(m, "samples", c->n);
	rowmaker_u64(m, "aborts", c->aborts);
	if (a->has_weights)
		rowmaker_u64(m, "cycles", c->cycles);
	rowmaker_u64(m, "elided", c->n_elided);
	rowmaker_u64(m, "retry", c->n_retry);
	causes = rowmaker_below(m, "causes", ROWMAKER_ROWS);
	for (unsigned i = 0; i < ABORT_CAUSES; i++) {
		if (!c->by_cause[i])
			continue;
		rowmaker_row(causes);
		rowmaker_text(causes, "cause", abort_cause_word(i));
		rowmaker_u64(causes, "samples", c->by_cause[i]);
		if (a->has_weights)
			rowmaker_u64(causes, "cycles", c->cycles_by_cause[i]);
	}
}

static void add_codes(struct rowmaker *m, const aborts_seen *codes, const aborts_seen *statuses)
{
	struct rowmaker *list = rowmaker_below(m, "codes", ROWMAKER_ROWS);

	vec_each(code, codes) {
		const char *means =
			code->value <= UINT8_MAX ? access_abort_code((u8)code->value) : NULL;

		rowmaker_row(list);
		rowmaker_u64(list, "code", code->value);
		rowmaker_u64(list, "samples", code->n);
		if (means)
			rowmaker_text(list, "means", means);
	}
	list = rowmaker_below(m, "statuses", ROWMAKER_ROWS);
	vec_each(status, statuses) {
		struct str text = {0};

		access_add_abort_status((u32)status->value, &text);
		rowmaker_row(list);
		rowmaker_hex(list, "status", status->value);
		rowmaker_u64(list, "samples", status->n);
		rowmaker_text(list, "means", rowmaker_copy(list, str_text(&text)));
		str_fini(&text);
	}
}

static void add_place(struct rowmaker *m, const char *name, const struct aborts_place *p)
{
	struct rowmaker *place = rowmaker_below(m, name, ROWMAKER_OBJECT);

	rowmaker_text(place, "dso", p->dso_name);
	rowmaker_hex(place, "address", p->address);
	if (p->function) {
		rowmaker_text(place, "function", p->function);
		rowmaker_u64(place, "offset", p->function_offset);
	}
	if (p->file) {
		rowmaker_text(place, "file", p->file);
		rowmaker_u64(place, "line", p->line);
	}
}

static void add_path(struct rowmaker *m, const struct aborts *a, const struct aborts_path *path)
{
	struct rowmaker *branches;

	rowmaker_row(m);
	rowmaker_u64(m, "samples", path->n);
	if (a->has_weights)
		rowmaker_u64(m, "cycles", path->cycles);
	rowmaker_bool(m, "whole", path->is_whole);
	if (path->begun != ABORTS_NO_PLACE)
		add_place(m, "began_behind", &a->places.at[path->begun]);
	branches = rowmaker_below(m, "branches", ROWMAKER_ROWS);
	for (u32 i = 0; i < path->n_steps; i++) {
		const struct aborts_step *step = &a->steps.at[path->first + i];

		rowmaker_row(branches);
		add_place(branches, "from", &a->places.at[step->from]);
		add_place(branches, "to", &a->places.at[step->to]);
		rowmaker_u64(branches, "times", step->n_times);
	}
}

static void add_site(struct rowmaker *m, const struct aborts *a, const struct aborts_site *site,
	const struct txreport_options *o)
{
	struct rowmaker *list;
	size_t n = o->max_paths ? MIN(site->n_paths, (size_t)o->max_paths) : site->n_paths;

	rowmaker_row(m);
	add_place(m, "place", &a->places.at[site->place]);
	add_count(m, a, &site->count);
	add_codes(m, &site->codes, &site->statuses);
	list = rowmaker_below(m, "sections", ROWMAKER_ROWS);
	vec_each(section, &site->sections) {
		rowmaker_row(list);
		add_place(list, "place", &a->places.at[section->value]);
		rowmaker_u64(list, "samples", section->n);
	}
	rowmaker_u64(m, "samples_with_branches", site->n_with_branches);
	list = rowmaker_below(m, "paths", ROWMAKER_ROWS);
	for (size_t i = 0; i < n; i++)
		add_path(list, a, &a->paths.at[site->first_path + i]);
}

void txreport_rows(const struct form *form, struct out *out, const struct txreport_found *found,
	const struct txreport_options *o)
{
	struct rowmaker document = {.shape = ROWMAKER_OBJECT}, *below;
	txreport_sentences sentences = {0};

	rowmaker_row(&document);
	rowmaker_u64(&document, "pace_tsx", SCHEMA);
	if (found->counts)
		add_counts(rowmaker_below(&document, "counts", ROWMAKER_OBJECT), found->counts);
	if (found->aborts) {
		const struct aborts *a = found->aborts;
		size_t n = o->max_sites ? MIN(a->sites.n, (size_t)o->max_sites) : a->sites.n;

		rowmaker_bool(&document, "where_aborts_led", a->has_landings);
		below = rowmaker_below(&document, "total", ROWMAKER_OBJECT);
		add_count(below, a, &a->total);
		add_codes(below, &a->codes, &a->statuses);
		below = rowmaker_below(&document, "sites", ROWMAKER_ROWS);
		below->is_spread = true;
		for (size_t i = 0; i < n; i++)
			add_site(below, a, &a->sites.at[i], o);
	}
	txreport_advise(found, &sentences);
	below = rowmaker_below(&document, "advice", ROWMAKER_LIST);
	vec_each(s, &sentences) {
		rowmaker_row(below);
		rowmaker_text(below, "sentence", rowmaker_copy(below, *s));
	}
	txreport_sentences_fini(&sentences);
	form_show(form, &document, out);
	rowmaker_fini(&document);
}
