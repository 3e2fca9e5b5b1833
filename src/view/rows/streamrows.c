#include "view/rows/streamrows.h"

#include <string.h>

enum { DIGITS = 9 }; /* for programs */

struct making {
	struct rowmaker *m;
	const struct streamtext *what;
	bool is_data, has_steps;
};

/* ---- cells ---- */

/* The steps of the side that has the stream, the newest first, as folded stacks are written. */
static const char *text_of(const struct making *k, const struct branchstream *s)
{
	const int side = s->of[DELTA_A].n_samples ? DELTA_A : DELTA_B;
	struct str text = {0};
	const char *copy;

	for (u32 node = s->node[side]; node; node = branchstream_older(k->what->streams, node)) {
		str_add(&text, text.n ? ";" : "");
		streamtext_add_step(branchstream_step(k->what->streams, node), &text);
	}
	copy = rowmaker_copy(k->m, str_text(&text));
	str_fini(&text);
	return copy;
}

static void add_figures(const struct making *k, const struct branchstream *s, int side)
{
	const struct branchstream_value *v = &s->of[side];
	const bool has_cycles = k->what->has_cycles[side] && v->n_samples;
	struct rowmaker *m = k->m;

	if (!k->is_data) {
		rowmaker_fixed(m, "hits", 100 * branchstream_share(k->what->streams, s, side), 2);
		rowmaker_fixed(m, "stream_cycles",
			rowmaker_known(has_cycles, branchstream_cycles(s, side)), 0);
		return;
	}
	rowmaker_u64(m, "samples", v->n_samples);
	rowmaker_double(m, "share", branchstream_share(k->what->streams, s, side), DIGITS);
	rowmaker_double(m, "cycles", rowmaker_known(has_cycles, branchstream_cycles(s, side)),
		DIGITS);
	rowmaker_double(m, "iterations",
		rowmaker_known(v->n_samples, (double)v->n_iterations / (double)v->n_samples),
		DIGITS);
}

static void add_steps(const struct making *k, const struct branchstream *s)
{
	const int side = s->of[DELTA_A].n_samples ? DELTA_A : DELTA_B;
	struct rowmaker *m = rowmaker_below(k->m, "steps", ROWMAKER_ROWS);
	bool is_from = false;

	for (u32 node = s->node[side]; node; node = branchstream_older(k->what->streams, node)) {
		const struct branchstream_step *step = branchstream_step(k->what->streams, node);

		rowmaker_row(m);
		rowmaker_text(m, "end", is_from ? "from" : "to");
		rowmaker_text(m, "function", step->function);
		rowmaker_u64(m, "offset", step->offset);
		rowmaker_text(m, "line", step->line);
		rowmaker_text(m, "dso", step->dso);
		is_from = !is_from;
	}
}

static void add_stream(const struct making *k, const struct branchstream *s)
{
	struct rowmaker *m = k->m;
	const bool is_in[] = {s->of[DELTA_A].n_samples > 0, s->of[DELTA_B].n_samples > 0};

	rowmaker_row(m);
	rowmaker_text(m, "stream", text_of(k, s));
	rowmaker_text(m, "state",
		is_in[DELTA_A] && is_in[DELTA_B] ? "both"
			: is_in[DELTA_A]         ? "gone"
						 : "new");
	for (int side = 0; side < DELTA_SIDES; side++) {
		m->part = (u32)side;
		add_figures(k, s, side);
	}
	m->part = 0;
	if (k->has_steps)
		add_steps(k, s);
}

/* ---- columns ---- */

static const struct rowset_column of_people[] = {
	{"hits", "Old hits", ROWSET_VALUE, CELL_REAL},
	{"stream_cycles", "Old cycles", ROWSET_VALUE, CELL_REAL},
	{"hits", "New hits", ROWSET_VALUE, CELL_REAL, .id = DELTA_B},
	{"stream_cycles", "New cycles", ROWSET_VALUE, CELL_REAL, .id = DELTA_B},
	{"stream", "Stream", ROWSET_KEY, CELL_TEXT},
};

static const struct rowset_column of_programs[] = {
	{"stream", "Stream", ROWSET_KEY, CELL_TEXT},
	{"state", "State", ROWSET_FACT, CELL_TEXT},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true},
	{"share", "Share", ROWSET_VALUE, CELL_REAL, true},
	{"cycles", "Cycles", ROWSET_VALUE, CELL_REAL, true},
	{"iterations", "Iterations", ROWSET_VALUE, CELL_REAL, true},
	{"steps", "Steps", ROWSET_FACT, CELL_ROWS},
};

static const struct rowset_column facts[] = {
	{"event", "Event", ROWSET_FACT, CELL_TEXT},
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true},
	{"without_branches", "Without branches", ROWSET_VALUE, CELL_COUNT, true},
	{"files", "Files", ROWSET_PART, CELL_TEXT, true},
};

/* The recordings of a side, with blanks between them. */
static const char *files_of(struct rowmaker *m, const struct delta_recording *recordings, size_t n,
	int side)
{
	struct str text = {0};
	const char *copy;

	for (size_t i = 0; i < n; i++) {
		if (recordings[i].side != side)
			continue;
		str_add(&text, text.n ? " " : "");
		str_add(&text, recordings[i].name);
	}
	copy = rowmaker_copy(m, str_text(&text));
	str_fini(&text);
	return copy;
}

void streamrows_init(struct streamrows *r, const struct streamtext *what, const char *event,
	const struct delta_recording *recordings, size_t n, bool is_data, bool has_steps)
{
	const struct making k = {&r->made, what, is_data, has_steps};
	bool *is_shown;

	*r = (struct streamrows){0};
	is_shown = branchstreams_hottest(what->streams,
		is_data || what->options->has_all_words ? what->streams->at.n : STREAMTEXT_MOST);
	vec_each(s, &what->streams->at)
		if (is_shown[s - what->streams->at.at])
			add_stream(&k, s);
	mem_free(is_shown);
	rowmaker_row(&r->facts);
	rowmaker_text(&r->facts, "event", event);
	for (int side = 0; side < DELTA_SIDES; side++) {
		r->facts.part = (u32)side;
		rowmaker_u64(&r->facts, "samples", what->streams->n_samples[side]);
		rowmaker_u64(&r->facts, "without_branches", what->streams->n_without[side]);
		rowmaker_text(&r->facts, "files", files_of(&r->facts, recordings, n, side));
	}
	r->facts.part = 0;
	r->head = rowmaker_table(&r->facts);
	r->head.columns = facts;
	r->head.n_columns = ARRAY_SIZE(facts);
	r->head.n_parts = DELTA_SIDES;
	r->head.parts_name = "sides";
	r->rows = rowmaker_table(&r->made);
	r->rows.columns = of_programs;
	r->rows.n_columns = ARRAY_SIZE(of_programs) - !has_steps;
	r->rows.shown = of_people;
	r->rows.n_shown = ARRAY_SIZE(of_people);
	r->rows.n_parts = DELTA_SIDES;
	r->rows.parts_name = "values";
	r->rows.head = &r->head;
}

void streamrows_fini(struct streamrows *r)
{
	rowmaker_fini(&r->made);
	rowmaker_fini(&r->facts);
}
