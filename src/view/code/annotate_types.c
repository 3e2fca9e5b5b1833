#include "view/code/annotate_types.h"

#include "profile/rows/rowmaker.h"
#include "symbol/types/datatype.h"
#include "symbol/types/typelayout.h"
#include "view/forms/forms.h"
#include "view/text/colour.h"

enum { SCHEMA = 1, COLUMN = 10 };

static u64 figure(const struct annotate_options *o, const struct annotation_count *c)
{
	return o->is_by_hits ? c->n_samples : c->period;
}

static double percent(const struct annotate_options *o, const struct annotation_count *part,
	const struct annotation_count *whole)
{
	u64 all = figure(o, whole);

	return all ? 100.0 * (double)figure(o, part) / (double)all : 0;
}

/* Events without samples have no column. */
static bool is_there(const struct typeprofile *a, size_t e)
{
	return a->totals[e].n_samples > 0;
}

static void add_cell(struct str *text, const struct annotate_options *o,
	const struct annotation_count *c, const struct annotation_count *whole)
{
	const size_t start = text->n;

	if (o->figure == ANNOTATE_PERCENT) {
		str_addf(text, "%*.2f", COLUMN, percent(o, c, whole));
		if (o->has_colour && c->n_samples)
			colour_paint(text, start, colour_of_share(percent(o, c, whole) / 100));
	} else {
		str_addf(text, "%*llu", COLUMN,
			(unsigned long long)(o->figure == ANNOTATE_SAMPLES ? c->n_samples
									   : c->period));
	}
}

static void add_safe(struct str *text, const char *word)
{
	str_add_safe(text, word, strlen(word));
}

/* "struct node *next;", "struct pos {" */
static void add_member(struct str *text, const struct profile_member *m)
{
	bool is_open = m->kind != TYPELAYOUT_MEMBER;

	str_fill(text, ' ', 4 * (size_t)m->depth);
	add_safe(text, m->type);
	if (*m->name && m->depth) {
		if (is_open || m->type[strlen(m->type) - 1] != '*')
			str_addc(text, ' ');
		add_safe(text, m->name);
	}
	str_add(text, is_open ? " {" : ";");
	str_addc(text, '\n');
}

static void close_to(struct str *text, u32 *depth, u32 to, size_t margin)
{
	while (*depth > to) {
		str_fill(text, ' ', margin + 4 * (size_t)-- * depth);
		str_add(text, "}\n");
	}
}

static void add_heading(struct str *text, const struct typeprofile *a,
	const struct typeprofile_type *t, const struct annotate_options *o)
{
	const struct profile_type *type = &a->profile->types.at[t->type];
	const struct annotation_count *counts = typeprofile_counts(a, t, 0);

	add_safe(text, type->name);
	str_addf(text, " (%llu bytes):", (unsigned long long)type->size);
	for (size_t e = 0; e < a->profile->events.n; e++) {
		if (!is_there(a, e))
			continue;
		str_addf(text, " %.2f%% of ", percent(o, &counts[e], &a->totals[e]));
		add_safe(text, a->profile->events.at[e].name);
		str_addf(text, " (%llu samples)", (unsigned long long)counts[e].n_samples);
	}
	str_add(text, "\n\n");
}

static void add_titles(struct str *text, const struct typeprofile *a,
	const struct annotate_options *o, size_t *ret_margin)
{
	static const char *const titles[] = {"Percent", "Samples", "Period"};
	size_t start = text->n;

	for (size_t e = 0; e < a->profile->events.n; e++)
		if (is_there(a, e))
			str_addf(text, "%*s", COLUMN, titles[o->figure]);
	str_addf(text, "%8s%8s  ", "Offset", "Size");
	*ret_margin = text->n - start;
	str_add(text, "Member\n");
}

static void add_type(struct str *text, const struct typeprofile *a,
	const struct typeprofile_type *t, const struct annotate_options *o)
{
	const struct profile_type *type = &a->profile->types.at[t->type];
	u32 depth = 0, inside = UINT32_MAX; /* depth of a union, whose used member is unknown */
	size_t margin;

	add_heading(text, a, t, o);
	add_titles(text, a, o, &margin);
	for (u32 i = 0; i < type->n; i++) {
		const struct profile_member *m = &a->profile->members.at[type->first + i];
		const struct annotation_count *counts = typeprofile_counts(a, t, i);

		close_to(text, &depth, m->depth, margin);
		if (m->depth <= inside)
			inside = m->kind == TYPELAYOUT_UNION ? m->depth : UINT32_MAX;
		for (size_t e = 0; e < a->profile->events.n; e++) {
			if (is_there(a, e) && m->depth > inside)
				str_fill(text, ' ', COLUMN);
			else if (is_there(a, e))
				add_cell(text, o, &counts[e],
					o->is_global ? &a->totals[e]
						     : &typeprofile_counts(a, t, 0)[e]);
		}
		str_addf(text, "%8llu%8llu  ", (unsigned long long)m->offset,
			(unsigned long long)m->size);
		add_member(text, m);
		depth += m->kind != TYPELAYOUT_MEMBER;
	}
	close_to(text, &depth, 0, margin);
}

static void add_types(struct out *out, const struct typeprofile *a,
	const struct annotate_options *o)
{
	vec_each(t, &a->types) {
		if (!typeprofile_counts(a, t, 0)->n_samples && t->share <= 0)
			continue;
		if (t > a->types.at)
			str_addc(&out->text, '\n');
		add_type(&out->text, a, t, o);
		out_flush_some(out);
	}
	if (o->is_quiet)
		return;
	for (size_t e = 0; e < a->profile->events.n; e++) {
		if (!is_there(a, e))
			continue;
		str_addf(&out->text, "%s# ", e || !a->types.n ? "" : "\n");
		add_safe(&out->text, a->profile->events.at[e].name);
		str_addf(&out->text,
			": %.2f%% of %llu samples access types with members; 'pace report -s type' shows the others\n",
			a->totals[e].n_samples ? 100.0 * (double)a->typed[e].n_samples /
					(double)a->totals[e].n_samples
					       : 0,
			(unsigned long long)a->totals[e].n_samples);
	}
}

/* ---- how much is known ---- */

static void add_share(struct str *text, u64 n, u64 all)
{
	str_addf(text, "%*llu  %6.2f%%  ", COLUMN, (unsigned long long)n,
		all ? 100.0 * (double)n / (double)all : 0);
}

static const char *outcome_words(enum datatype_outcome outcome)
{
	const char *reason = datatype_outcome_reason(outcome);

	return outcome == DATATYPE_FOUND ? "access data of a known type"
		: reason                 ? reason
					 : datatype_outcome_name(outcome);
}

/* Ascending by ~samples: `value` is the outcome. */
static void count_outcomes(const struct profile *p, struct sort_item outcomes[DATATYPE_OUTCOMES],
	u64 *ret_all)
{
	u64 counts[DATATYPE_OUTCOMES] = {0}, all = 0;

	for (size_t i = 0; i < p->rows.n; i++) {
		counts[p->accesses.at[profile_label(p, i, LABEL_ACCESS)].outcome] +=
			p->rows.at[i].n_samples;
		all += p->rows.at[i].n_samples;
	}
	for (u32 i = 0; i < DATATYPE_OUTCOMES; i++)
		outcomes[i] = (struct sort_item){~counts[i], i};
	sort_by_key(outcomes, DATATYPE_OUTCOMES);
	*ret_all = all;
}

static void add_outcomes(struct str *text, const struct profile *p)
{
	struct sort_item outcomes[DATATYPE_OUTCOMES];
	u64 all;

	count_outcomes(p, outcomes, &all);
	str_addf(text, "%*s    Share  Instructions\n", COLUMN, "Samples");
	for (size_t i = 0; i < DATATYPE_OUTCOMES && ~outcomes[i].key; i++) {
		add_share(text, ~outcomes[i].key, all);
		str_addf(text, "%s\n", outcome_words(outcomes[i].value));
	}
	add_share(text, all, all);
	str_add(text, "in all\n");
}

/* perf's words and layout; perf has places only, and those without access among the bad ones. */
static void add_instructions(struct str *text, const struct insnstat *s)
{
	static const char *const kinds[] =
		{[INSNSTAT_GOOD] = "Good", [INSNSTAT_BAD] = "Bad", [INSNSTAT_NONE] = "None"};
	const struct insnstat_count *all = s->all.of;
	const u64 n =
		all[INSNSTAT_GOOD].samples + all[INSNSTAT_BAD].samples + all[INSNSTAT_NONE].samples;
	const double percent = n ? 100.0 / (double)n : 0;

	str_addf(text,
		"Annotate Instruction stats\ntotal %llu samples, ok %llu (%.1f%%), bad %llu (%.1f%%), no memory access %llu (%.1f%%)\n\n",
		(unsigned long long)n, (unsigned long long)all[INSNSTAT_GOOD].samples,
		percent * (double)all[INSNSTAT_GOOD].samples,
		(unsigned long long)all[INSNSTAT_BAD].samples,
		percent * (double)all[INSNSTAT_BAD].samples,
		(unsigned long long)all[INSNSTAT_NONE].samples,
		percent * (double)all[INSNSTAT_NONE].samples);
	str_addf(text, "  %-22s  %*s%*s\n  %-20s: ", "", 2 * COLUMN, "Samples", 3 * COLUMN,
		"Places", "Name/opcode");
	for (int half = 0; half < 2; half++)
		for (int kind = 0; kind < INSNSTAT_KINDS; kind++)
			str_addf(text, "%*s", COLUMN, kinds[kind]);
	str_addc(text, '\n');
	str_fill(text, '-', 24 + 2 * INSNSTAT_KINDS * (size_t)COLUMN);
	str_addc(text, '\n');
	vec_each(row, &s->rows) {
		const size_t start = text->n;

		str_add(text, "  ");
		add_safe(text, row->name);
		str_pad_right(text, start, 22);
		str_add(text, ": ");
		for (int kind = 0; kind < INSNSTAT_KINDS; kind++)
			str_addf(text, "%*llu", COLUMN, (unsigned long long)row->of[kind].samples);
		for (int kind = 0; kind < INSNSTAT_KINDS; kind++)
			str_addf(text, "%*llu", COLUMN, (unsigned long long)row->of[kind].places);
		str_addc(text, '\n');
	}
}

void annotate_types_text(struct out *out, const struct annotate_types *shown,
	const struct annotate_options *o)
{
	if (shown->has_outcomes)
		add_outcomes(&out->text, shown->types->profile);
	if (shown->instructions) {
		str_add(&out->text, shown->has_outcomes ? "\n" : "");
		add_instructions(&out->text, shown->instructions);
	}
	if (!shown->has_types)
		return;
	str_add(&out->text, shown->has_outcomes || shown->instructions ? "\n" : "");
	add_types(out, shown->types, o);
}

/* ---- for programs ---- */

/* The samples of one line, by event. */
static void add_counts(struct rowmaker *m, const struct typeprofile *a,
	const struct annotation_count *counts)
{
	for (size_t e = 0; e < a->profile->events.n; e++) {
		if (!counts[e].n_samples)
			continue;
		rowmaker_row(m);
		rowmaker_u64(m, "event", e);
		rowmaker_u64(m, "samples", counts[e].n_samples);
		rowmaker_u64(m, "period", counts[e].period);
	}
}

static void add_lines(struct rowmaker *m, const struct typeprofile *a,
	const struct typeprofile_type *t)
{
	static const char *const kinds[] = {[TYPELAYOUT_MEMBER] = "member",
		[TYPELAYOUT_STRUCT] = "struct",
		[TYPELAYOUT_UNION] = "union"};
	const struct profile_type *type = &a->profile->types.at[t->type];

	for (u32 i = 0; i < type->n; i++) {
		const struct profile_member *member = &a->profile->members.at[type->first + i];

		rowmaker_row(m);
		rowmaker_u64(m, "depth", member->depth);
		rowmaker_text(m, "kind", kinds[member->kind]);
		rowmaker_text(m, "type", member->type);
		rowmaker_text(m, "name", member->name);
		rowmaker_u64(m, "offset", member->offset);
		rowmaker_u64(m, "size", member->size);
		add_counts(rowmaker_below(m, "counts", ROWMAKER_ROWS), a,
			typeprofile_counts(a, t, i));
	}
}

static void add_types_rows(struct rowmaker *m, const struct typeprofile *a)
{
	vec_each(t, &a->types) {
		const struct profile_type *type = &a->profile->types.at[t->type];

		rowmaker_row(m);
		rowmaker_text(m, "name", type->name);
		rowmaker_u64(m, "size", type->size);
		add_lines(rowmaker_below(m, "lines", ROWMAKER_ROWS), a, t);
	}
}

static void add_outcomes_rows(struct rowmaker *m, const struct profile *p)
{
	struct sort_item outcomes[DATATYPE_OUTCOMES];
	u64 all;

	count_outcomes(p, outcomes, &all);
	for (size_t i = 0; i < DATATYPE_OUTCOMES && ~outcomes[i].key; i++) {
		rowmaker_row(m);
		rowmaker_text(m, "what", outcome_words(outcomes[i].value));
		rowmaker_u64(m, "samples", ~outcomes[i].key);
	}
}

static void add_instructions_rows(struct rowmaker *m, const struct insnstat *s)
{
	static const char *const samples[] = {"good", "bad", "none"};
	static const char *const places[] = {"good_places", "bad_places", "none_places"};

	vec_each(row, &s->rows) {
		rowmaker_row(m);
		rowmaker_text(m, "name", row->name);
		for (int kind = 0; kind < INSNSTAT_KINDS; kind++)
			rowmaker_u64(m, samples[kind], row->of[kind].samples);
		for (int kind = 0; kind < INSNSTAT_KINDS; kind++)
			rowmaker_u64(m, places[kind], row->of[kind].places);
	}
}

void annotate_types_rows(const struct form *form, struct out *out,
	const struct annotate_types *shown, const struct annotate_options *o)
{
	const struct typeprofile *a = shown->types;
	struct rowmaker document = {.shape = ROWMAKER_OBJECT};

	rowmaker_row(&document);
	rowmaker_u64(&document, "pace_annotate_types", SCHEMA);
	annotate_add_events(&document, a->profile, a->totals, o->events);
	if (shown->has_outcomes)
		add_outcomes_rows(rowmaker_below(&document, "outcomes", ROWMAKER_ROWS), a->profile);
	if (shown->instructions)
		add_instructions_rows(rowmaker_below(&document, "instructions", ROWMAKER_ROWS),
			shown->instructions);
	if (shown->has_types)
		add_types_rows(rowmaker_below(&document, "types", ROWMAKER_ROWS), a);
	form_show(form, &document, out);
	rowmaker_fini(&document);
}
