/*
 * builds_json.c - two builds' code of one function as JSON. The schema is in pace-annotate(1).
 */
#include "view/builds.h"

#include "base/json.h"

enum { SCHEMA = 1 };

static const char *const letters[] = {"a", "b"};

/* Of shares, in percent. */
enum { DIGITS = 4 };

static double share(const struct annotation_count *part, const struct annotation_count *whole)
{
	return whole->period ? 100.0 * (double)part->period / (double)whole->period : 0;
}

/* What of event e was sampled in something, on one side. */
static void add_count(struct str *text, const struct codediff *d, size_t e, int side,
	const struct annotation_count *c)
{
	json_open(text, letters[side], '{');
	json_u64(text, "samples", c->n_samples);
	json_u64(text, "period", c->period);
	json_fixed(text, "percent_of_run", share(c, codediff_run_count(d, e, side)), DIGITS);
	json_fixed(text, "percent_of_function", share(c, codediff_function_count(d, e, side)),
		DIGITS);
	json_close(text, '}');
}

static void add_change(struct str *text, const char *key, const struct codediff_change *c,
	double scale)
{
	json_open(text, key, '{');
	json_fixed(text, "more", scale * c->more, DIGITS);
	json_fixed(text, "half", scale * c->half, DIGITS);
	json_bool(text, "beyond_sampling", c->is_beyond);
	json_close(text, '}');
}

static void add_part_counts(struct str *text, const struct codediff *d,
	const struct codediff_part *part, struct codediff_change *const *changes)
{
	size_t number = (size_t)(part - d->parts.at);

	json_open(text, "counts", '[');
	for (size_t e = 0; e < d->events.n; e++) {
		str_addc(text, '{');
		json_u64(text, "event", e);
		for (int side = 0; side < CODEDIFF_SIDES; side++)
			add_count(text, d, e, side, codediff_part_count(d, part, e, side));
		add_change(text, "change", &changes[2 * e][number], 1);
		add_change(text, "change_points", &changes[2 * e + 1][number], 100);
		json_close(text, '}');
	}
	json_close(text, ']');
}

static void add_instruction(struct str *text, const struct codediff *d, u32 row, int side)
{
	const struct assembly *a = d->sides[side];
	const struct assembly_row *r;

	if (row == CODEDIFF_NONE)
		return;
	r = &a->rows.at[row];
	json_open(text, letters[side], '{');
	json_hex(text, "address", r->va);
	json_text(text, "text", assembly_text(a, row));
	if (r->target)
		json_text(text, "target_name", r->target);
	json_open(text, "samples", '[');
	vec_each(e, &d->events)
		str_addf(text, "%llu,",
			(unsigned long long)a->counts.at[r->counts + e->of[side]].n_samples);
	json_close(text, ']');
	json_close(text, '}');
}

static void add_lines(struct str *text, const struct codediff *d, const struct codediff_part *part)
{
	static const char *const hows[] = {
		[CODEDIFF_SAME] = "same",
		[CODEDIFF_ALIKE] = "alike",
		[CODEDIFF_GONE] = "gone",
		[CODEDIFF_NEW] = "new",
	};

	json_open(text, "instructions", '[');
	for (u32 i = part->first_line; i < part->first_line + part->n_lines; i++) {
		const struct codediff_line *line = &d->lines.at[i];

		str_addc(text, '{');
		json_text(text, "how", hows[line->how]);
		for (int side = 0; side < CODEDIFF_SIDES; side++)
			add_instruction(text, d, line->rows[side], side);
		json_close(text, '}');
	}
	json_close(text, ']');
}

static void add_part(struct str *text, const struct codediff *d, const struct codediff_part *part,
	struct codediff_change *const *changes)
{
	struct builds_place place;

	str_addc(text, '{');
	json_u64(text, "number", (u64)(part - d->parts.at) + 1);
	json_text(text, "code", builds_state(part));
	json_bool(text, "moved", part->is_moved);
	json_u64(text, "blocks_a", part->n_blocks[CODEDIFF_A]);
	json_u64(text, "blocks_b", part->n_blocks[CODEDIFF_B]);
	if (builds_find_place(d, part, &place)) {
		json_text(text, "file", place.file->path);
		json_u64(text, "first_line", place.first);
		json_u64(text, "last_line", place.last);
	}
	add_part_counts(text, d, part, changes);
	add_lines(text, d, part);
	json_end(text, '}');
}

static void add_side(struct str *text, const struct codediff *d, const struct builds_options *o,
	int side)
{
	const struct assembly *a = d->sides[side];

	json_open(text, letters[side], '{');
	json_text(text, "recording", o->names[side]);
	json_text(text, "name", a->symbol->name);
	json_text(text, "path", a->dso->path);
	json_hex(text, "address", a->va);
	json_u64(text, "size", a->symbol->end - a->symbol->start);
	json_text(text, "code_from", str_text(&a->code.origin));
	json_close(text, '}');
}

static void add_events(struct str *text, const struct codediff *d)
{
	const struct profile *p = d->sides[CODEDIFF_A]->annotation->profile;

	json_open(text, "events", '[');
	for (size_t e = 0; e < d->events.n; e++) {
		str_addc(text, '{');
		json_text(text, "name", p->events.at[d->events.at[e].of[CODEDIFF_A]].name);
		for (int side = 0; side < CODEDIFF_SIDES; side++)
			add_count(text, d, e, side, codediff_function_count(d, e, side));
		json_close(text, '}');
	}
	json_close(text, ']');
}

void builds_json(struct out *out, const struct codediff *d, const struct builds_options *o)
{
	/* By event: of amounts, of shares. */
	struct codediff_change **changes = mem_alloc((2 * d->events.n + 1) * sizeof(*changes));
	struct str *text = &out->text;

	for (size_t e = 0; e < d->events.n; e++)
		for (size_t of_share = 0; of_share < 2; of_share++)
			changes[2 * e + of_share] = codediff_changes(d, e, of_share);
	str_addc(text, '{');
	json_u64(text, "pace_annotate_diff", SCHEMA);
	for (int side = 0; side < CODEDIFF_SIDES; side++)
		add_side(text, d, o, side);
	add_events(text, d);
	json_key(text, "blocks");
	str_add(text, "[\n");
	for (size_t i = 0; i < d->parts.n; i++) {
		add_part(text, d, &d->parts.at[i], changes);
		str_add(text, i + 1 < d->parts.n ? ",\n" : "\n");
		out_flush_some(out);
	}
	str_add(text, "]}\n");
	for (size_t i = 0; i < 2 * d->events.n; i++)
		mem_free(changes[i]);
	mem_free(changes);
}
