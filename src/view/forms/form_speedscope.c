/*
 * form_speedscope.c - stacks as a file of speedscope's own format: a profile for each event.
 *
 * Frames are functions and threads; a stack's weight is the event's period.
 * Source   www.speedscope.app/file-format-schema.json
 */
#include "base/json.h"
#include "base/num.h"
#include "view/forms/forms.h"
#include "view/forms/stackpath.h"

static void add_frames(struct page *p, const struct rowset *r)
{
	struct str *text = &p->out->text;
	u32 next = 0;

	json_open(text, "shared", '{');
	json_open(text, "frames", '[');
	for (size_t i = 0; i < r->n_places; i++) {
		/* Places are in the order in which their functions were numbered. */
		if (r->places[i].function != next)
			continue;
		str_addc(text, '{');
		json_text(text, "name", r->places[i].name);
		if (r->places[i].dso)
			json_text(text, "file", r->places[i].dso);
		json_close(text, '}');
		next++;
	}
	json_close(text, ']');
	json_close(text, '}');
}

static void add_stack(struct str *text, const struct rowset *r, size_t row)
{
	VEC(u32) path = {0};

	for (size_t node = row; node; node = r->nodes[node].parent)
		vec_add(&path, stackpath_place(r, node)->function);
	str_addc(text, '[');
	for (size_t i = path.n; i-- > 0;) {
		num_add_u64(text, path.at[i]);
		str_add(text, i ? "," : "");
	}
	str_add(text, "],");
	vec_fini(&path);
}

static void add_profile(struct page *p, const struct rowset *r, u32 part)
{
	struct str *text = &p->out->text;
	u64 sum = 0;

	str_addc(text, '{');
	json_text(text, "type", "sampled");
	json_text(text, "name", r->parts[part].name);
	json_text(text, "unit", r->parts[part].is_time ? "nanoseconds" : "none");
	json_open(text, "samples", '[');
	for (size_t row = 1; row < r->n; row++) {
		if (!stackpath_value(r, row, part, STACKPATH_PERIOD))
			continue;
		/* Flush before a stack: the last one's comma is removed. */
		out_flush_some(p->out);
		add_stack(text, r, row);
	}
	json_close(text, ']');
	json_open(text, "weights", '[');
	for (size_t row = 1; row < r->n; row++) {
		const u64 period = stackpath_value(r, row, part, STACKPATH_PERIOD);

		if (!period)
			continue;
		sum += period;
		out_flush_some(p->out);
		num_add_u64(text, period);
		str_addc(text, ',');
	}
	json_close(text, ']');
	json_u64(text, "startValue", 0);
	json_u64(text, "endValue", sum);
	json_close(text, '}');
}

static void speedscope_form_table(struct page *p, const struct rowset *r)
{
	struct str *text = &p->out->text;

	str_addc(text, '{');
	json_text(text, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(text, "exporter", "pace " PACE_VERSION);
	json_u64(text, "activeProfileIndex", 0);
	add_frames(p, r);
	json_open(text, "profiles", '[');
	for (u32 part = 0; part < r->n_parts; part++)
		add_profile(p, r, part);
	json_close(text, ']');
	json_end(text, '}');
	str_addc(text, '\n');
}

const struct form form_speedscope = {.name = "speedscope",
	.extension = "speedscope.json",
	.help = "stacks and periods of each event, for speedscope",
	.wants = FORM_WANTS_STACKS | FORM_WANTS_FUNCTIONS | FORM_SKIPS_EMPTY | FORM_HAS_NO_TREE,
	.table = speedscope_form_table};
