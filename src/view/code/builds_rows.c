/*
 * builds_rows.c - two builds' code of one function as cells, for programs. The schema is in pace-annotate(1).
 */
#include "view/code/builds.h"

#include "profile/rows/rowmaker.h"
#include "view/forms/forms.h"

enum { SCHEMA = 1 };

static const char *const letters[] = {"a", "b"};

/* of shares in percent */
enum { DIGITS = 4 };

static double share(const struct annotation_count *part, const struct annotation_count *whole)
{
	return whole->period ? 100.0 * (double)part->period / (double)whole->period : 0;
}

/* The context of make_block(). */
struct making {
	const struct codediff *diff;
	struct codediff_change **changes; /* for each event one of amounts and one of shares */
};

/* The samples of event e in something, on one side. */
static void add_count(struct rowmaker *m, const struct codediff *d, size_t e, int side,
	const struct annotation_count *c)
{
	m = rowmaker_below(m, letters[side], ROWMAKER_OBJECT);
	rowmaker_u64(m, "samples", c->n_samples);
	rowmaker_u64(m, "period", c->period);
	rowmaker_fixed(m, "percent_of_run", share(c, codediff_run_count(d, e, side)), DIGITS);
	rowmaker_fixed(m, "percent_of_function", share(c, codediff_function_count(d, e, side)),
		DIGITS);
}

static void add_change(struct rowmaker *m, const char *name, const struct codediff_change *c,
	double scale)
{
	m = rowmaker_below(m, name, ROWMAKER_OBJECT);
	rowmaker_fixed(m, "more", scale * c->more, DIGITS);
	rowmaker_fixed(m, "half", scale * c->half, DIGITS);
	rowmaker_bool(m, "beyond_sampling", c->is_beyond);
}

static void add_counts(struct rowmaker *m, const struct making *making, size_t number)
{
	const struct codediff *d = making->diff;

	for (size_t e = 0; e < d->events.n; e++) {
		rowmaker_row(m);
		rowmaker_u64(m, "event", e);
		for (int side = 0; side < CODEDIFF_SIDES; side++)
			add_count(m, d, e, side,
				codediff_part_count(d, &d->parts.at[number], e, side));
		add_change(m, "change", &making->changes[2 * e][number], 1);
		add_change(m, "change_points", &making->changes[2 * e + 1][number], 100);
	}
}

static void add_instruction(struct rowmaker *m, const struct codediff *d, u32 row, int side)
{
	const struct assembly *a = d->sides[side];
	const struct assembly_row *r;
	struct rowmaker *samples;

	if (row == CODEDIFF_NONE)
		return;
	r = &a->rows.at[row];
	m = rowmaker_below(m, letters[side], ROWMAKER_OBJECT);
	rowmaker_hex(m, "address", r->va);
	rowmaker_text(m, "text", assembly_text(a, row));
	if (r->target)
		rowmaker_text(m, "target_name", r->target);
	samples = rowmaker_below(m, "samples", ROWMAKER_LIST);
	vec_each(e, &d->events) {
		rowmaker_row(samples);
		rowmaker_u64(samples, "samples", a->counts.at[r->counts + e->of[side]].n_samples);
	}
}

static void add_lines(struct rowmaker *m, const struct codediff *d,
	const struct codediff_part *part)
{
	static const char *const hows[] = {
		[CODEDIFF_SAME] = "same",
		[CODEDIFF_ALIKE] = "alike",
		[CODEDIFF_GONE] = "gone",
		[CODEDIFF_NEW] = "new",
	};

	for (u32 i = part->first_line; i < part->first_line + part->n_lines; i++) {
		rowmaker_row(m);
		rowmaker_text(m, "how", hows[d->lines.at[i].how]);
		for (int side = 0; side < CODEDIFF_SIDES; side++)
			add_instruction(m, d, d->lines.at[i].rows[side], side);
	}
}

static void make_block(struct rowmaker *m, const void *of, size_t number)
{
	const struct making *making = of;
	const struct codediff *d = making->diff;
	const struct codediff_part *part = &d->parts.at[number];
	struct builds_place place;

	rowmaker_u64(m, "number", number + 1);
	rowmaker_text(m, "code", builds_state(part));
	rowmaker_bool(m, "moved", part->is_moved);
	rowmaker_u64(m, "blocks_a", part->n_blocks[CODEDIFF_A]);
	rowmaker_u64(m, "blocks_b", part->n_blocks[CODEDIFF_B]);
	if (builds_find_place(d, part, &place)) {
		rowmaker_text(m, "file", place.file->path);
		rowmaker_u64(m, "first_line", place.first);
		rowmaker_u64(m, "last_line", place.last);
	}
	add_counts(rowmaker_below(m, "counts", ROWMAKER_ROWS), making, number);
	add_lines(rowmaker_below(m, "instructions", ROWMAKER_ROWS), d, part);
}

static void add_side(struct rowmaker *m, const struct assembly *a, const char *recording)
{
	rowmaker_text(m, "recording", recording);
	rowmaker_text(m, "name", a->symbol->name);
	rowmaker_text(m, "path", a->dso->path);
	rowmaker_hex(m, "address", a->va);
	rowmaker_u64(m, "size", a->symbol->end - a->symbol->start);
	rowmaker_text(m, "code_from", str_text(&a->code.origin));
}

static void add_events(struct rowmaker *m, const struct codediff *d)
{
	const struct profile *p = d->sides[CODEDIFF_A]->annotation->profile;

	for (size_t e = 0; e < d->events.n; e++) {
		rowmaker_row(m);
		rowmaker_text(m, "name", p->events.at[d->events.at[e].of[CODEDIFF_A]].name);
		for (int side = 0; side < CODEDIFF_SIDES; side++)
			add_count(m, d, e, side, codediff_function_count(d, e, side));
	}
}

void builds_rows(const struct form *form, struct out *out, const struct codediff *d,
	const struct builds_options *o)
{
	struct codediff_change **changes = mem_alloc((2 * d->events.n + 1) * sizeof(*changes));
	const struct making making = {d, changes};
	struct rowmaker document = {.shape = ROWMAKER_OBJECT}, *blocks;

	for (size_t i = 0; i < 2 * d->events.n; i++)
		changes[i] = codediff_changes(d, i / 2, i % 2);
	rowmaker_row(&document);
	rowmaker_u64(&document, "pace_annotate_diff", SCHEMA);
	for (int side = 0; side < CODEDIFF_SIDES; side++)
		add_side(rowmaker_below(&document, letters[side], ROWMAKER_OBJECT), d->sides[side],
			o->names[side]);
	add_events(rowmaker_below(&document, "events", ROWMAKER_ROWS), d);
	blocks = rowmaker_below(&document, "blocks", ROWMAKER_ROWS);
	rowmaker_lazy(blocks, make_block, &making, d->parts.n);
	form_show(form, &document, out);
	rowmaker_fini(&document);
	for (size_t i = 0; i < 2 * d->events.n; i++)
		mem_free(changes[i]);
	mem_free(changes);
}
