/*
 * annotate_json.c - functions' code as JSON. The schema is in pace-annotate(1).
 */
#include "view/annotate.h"

#include "base/json.h"

enum { SCHEMA = 1 };

/* Of shares, in percent. */
enum { DIGITS = 4 };

static void add_text_or_null(struct str *text, const char *key, const char *value)
{
	if (value)
		json_text(text, key, value);
	else
		json_null(text, key);
}

static void add_counts(struct str *text, const char *key, const struct assembly *a,
	const struct annotate_options *o, const struct annotation_count *counts)
{
	json_open(text, key, '[');
	for (size_t e = 0; e < a->annotation->profile->events.n; e++) {
		if (!counts[e].n_samples)
			continue;
		str_addc(text, '{');
		json_u64(text, "event", e);
		json_u64(text, "samples", counts[e].n_samples);
		json_u64(text, "period", counts[e].period);
		json_fixed(text, "percent", annotate_share(o, a, e, &counts[e]), DIGITS);
		json_close(text, '}');
	}
	json_close(text, ']');
}

static void add_file(struct str *text, const struct assembly *a, u32 file)
{
	add_text_or_null(text, "file", file == ASSEMBLY_NONE ? NULL : a->files.at[file].path);
}

/* Where it comes from, and what it is inlined into: the caller next to it first. */
static void add_source(struct str *text, const struct assembly *a, const struct assembly_row *row)
{
	const struct assembly_frame *f = a->frames.at + row->first_frame;

	if (!row->n_frames)
		return;
	add_file(text, a, f->file);
	json_u64(text, "line", f->line);
	if (row->n_frames < 2)
		return;
	json_open(text, "inlined", '[');
	for (u32 i = 0; i < row->n_frames; i++) {
		str_addc(text, '{');
		add_text_or_null(text, "function", f[i].function);
		add_file(text, a, f[i].file);
		json_u64(text, "line", f[i].line);
		json_close(text, '}');
	}
	json_close(text, ']');
}

static void add_code(struct str *text, const struct assembly *a, size_t i)
{
	const struct instruction *ins = &a->disasm.listing.instructions.at[i];
	const struct assembly_row *row = &a->rows.at[i];
	const u8 *bytes = assembly_bytes(a, i);
	const char *flow = isa_flow_name(ins->flow);
	struct str hex = {0};

	for (u32 k = 0; k < row->size; k++)
		str_addf(&hex, "%02x", bytes[k]);
	json_text(text, "bytes", str_text(&hex));
	str_fini(&hex);
	add_text_or_null(text, "text", ins->is_bad ? NULL : assembly_text(a, i));
	if (flow)
		json_text(text, "flow", flow);
	if (ins->has_target) {
		json_hex(text, "target", ins->target);
		add_text_or_null(text, "target_name", row->target);
	}
	if (ins->has_reference) {
		json_hex(text, "reference", ins->reference);
		add_text_or_null(text, "reference_name", row->reference);
		if (row->literal)
			json_text(text, "reference_text", row->literal);
	}
}

static void add_runs(struct str *text, const struct assembly_row *row)
{
	if (!row->n_runs)
		return;
	json_open(text, "runs", '{');
	json_u64(text, "times", row->n_runs);
	json_u64(text, "cycles", row->n_run_cycles);
	json_u64(text, "instructions", row->n_run_instructions);
	json_close(text, '}');
}

static void add_instructions(struct out *out, const struct assembly *a,
	const struct annotate_options *o)
{
	struct str *text = &out->text;

	json_key(text, "instructions");
	str_add(text, "[\n");
	for (size_t i = 0; i < a->rows.n; i++) {
		const struct assembly_row *row = &a->rows.at[i];

		str_addc(text, '{');
		json_hex(text, "address", row->va);
		if (!a->no_code.code)
			add_code(text, a, i);
		add_source(text, a, row);
		add_runs(text, row);
		add_counts(text, "counts", a, o, &a->counts.at[row->counts]);
		json_end(text, '}');
		str_add(text, i + 1 < a->rows.n ? ",\n" : "\n");
		out_flush_some(out);
	}
	str_add(text, "],\n");
}

static void add_lines(struct str *text, const struct assembly *a, const struct annotate_options *o)
{
	json_open(text, "lines", '[');
	vec_each(line, &a->lines) {
		str_addc(text, '{');
		add_file(text, a, line->file);
		json_u64(text, "line", line->line);
		add_counts(text, "counts", a, o, &a->counts.at[line->counts]);
		json_close(text, '}');
	}
	json_close(text, ']');
}

void annotate_json_events(struct str *text, const struct profile *p,
	const struct annotation_count *totals, const struct event_list *events)
{
	json_open(text, "events", '[');
	for (size_t e = 0; e < p->events.n; e++) {
		str_addc(text, '{');
		json_text(text, "name", p->events.at[e].name);
		json_u64(text, "samples", totals[e].n_samples);
		json_u64(text, "period", totals[e].period);
		if (e < events->n)
			json_u64(text, "precise", attr_precise(&events->at[e].attr));
		json_close(text, '}');
	}
	json_close(text, ']');
}

void annotate_json_begin(struct out *out, const struct annotation *a,
	const struct annotate_options *o)
{
	struct str *text = &out->text;

	str_addc(text, '{');
	json_u64(text, "pace_annotate", SCHEMA);
	json_text(text, "percent_of", annotate_share_name(o));
	annotate_json_events(text, a->profile, a->totals, o->events);
	json_key(text, "functions");
	str_add(text, "[\n");
}

void annotate_json(struct out *out, const struct assembly *a, const struct annotate_options *o)
{
	struct str *text = &out->text;

	str_addc(text, '{');
	json_text(text, "name", a->symbol->name);
	json_text(text, "dso", a->dso->name);
	json_text(text, "path", a->dso->path);
	json_hex(text, "address", a->va);
	json_u64(text, "size", a->symbol->end - a->symbol->start);
	add_counts(text, "counts", a, o, &a->annotation->counts.at[a->function->counts]);
	if (a->no_code.code) {
		json_text(text, "no_code", a->no_code.msg);
	} else {
		json_text(text, "code_from", str_text(&a->code.origin));
		json_text(text, "disassembler", str_text(&a->disasm.by));
	}
	if (a->no_lines.n)
		json_text(text, "no_lines", str_text(&a->no_lines));
	add_lines(text, a, o);
	add_instructions(out, a, o);
	add_counts(text, "outside", a, o, a->outside);
	json_end(text, '}');
}

void annotate_json_end(struct out *out)
{
	str_add(&out->text, "]}\n");
}
