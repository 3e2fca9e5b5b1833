/*
 * annotate_rows.c - functions' code as cells, for programs. The schema is in pace-annotate(1).
 */
#include "view/code/annotate.h"

#include "base/json.h"
#include "base/num.h"
#include "profile/rows/rowmaker.h"
#include "view/forms/forms.h"

enum { SCHEMA = 1 };

/* of shares in percent */
enum { DIGITS = 4 };

/* The context of make_instruction(). */
struct making {
	const struct assembly *assembly;
	const struct rowtypes *types;
	const struct annotate_options *options;
};

static void add_counts(struct rowmaker *m, const char *name, const struct assembly *a,
	const struct annotate_options *o, const struct annotation_count *counts)
{
	m = rowmaker_below(m, name, ROWMAKER_ROWS);
	for (size_t e = 0; e < a->annotation->profile->events.n; e++) {
		if (!counts[e].n_samples)
			continue;
		rowmaker_row(m);
		rowmaker_u64(m, "event", e);
		rowmaker_u64(m, "samples", counts[e].n_samples);
		rowmaker_u64(m, "period", counts[e].period);
		rowmaker_fixed(m, "percent", annotate_share(o, a, e, &counts[e]), DIGITS);
	}
}

static void add_line(struct rowmaker *m, const struct assembly *a, u32 file, u32 line)
{
	rowmaker_text(m, "file", file == ASSEMBLY_NONE ? NULL : a->files.at[file].path);
	rowmaker_u64(m, "line", line);
}

/* Adds the row's source line and the functions that it is inlined into, the nearest caller first. */
static void add_source(struct rowmaker *m, const struct assembly *a, const struct assembly_row *row)
{
	const struct assembly_frame *f = a->frames.at + row->first_frame;

	if (!row->n_frames)
		return;
	add_line(m, a, f->file, f->line);
	if (row->n_frames < 2)
		return;
	m = rowmaker_below(m, "inlined", ROWMAKER_ROWS);
	for (u32 i = 0; i < row->n_frames; i++) {
		rowmaker_row(m);
		rowmaker_text(m, "function", f[i].function);
		add_line(m, a, f[i].file, f[i].line);
	}
}

static void add_code(struct rowmaker *m, const struct assembly *a, size_t i)
{
	const struct instruction *ins = &a->disasm.listing.instructions.at[i];
	const struct assembly_row *row = &a->rows.at[i];
	const u8 *bytes = assembly_bytes(a, i);
	const char *flow = isa_flow_name(ins->flow);
	struct str hex = {0};

	for (u32 k = 0; k < row->size; k++)
		num_add_hex(&hex, bytes[k], 2);
	rowmaker_text(m, "bytes", rowmaker_copy(m, str_text(&hex)));
	str_fini(&hex);
	rowmaker_text(m, "text", ins->is_bad ? NULL : assembly_text(a, i));
	if (flow)
		rowmaker_text(m, "flow", flow);
	if (ins->has_target) {
		rowmaker_hex(m, "target", ins->target);
		rowmaker_text(m, "target_name", row->target);
	}
	if (ins->has_reference) {
		rowmaker_hex(m, "reference", ins->reference);
		rowmaker_text(m, "reference_name", row->reference);
		if (row->literal)
			rowmaker_text(m, "reference_text", row->literal);
	}
}

/* "(stack operation)" without what makes it stand out among types. */
static const char *without_parentheses(struct rowmaker *m, const char *name)
{
	struct str text = {0};
	const char *copy;

	str_addn(&text, name + 1, strlen(name) - 2);
	copy = rowmaker_copy(m, str_text(&text));
	str_fini(&text);
	return copy;
}

/* What the instruction accesses, or why that has no type; nothing if it accesses nothing. */
static void add_type(struct rowmaker *m, const struct datatype_answer *a)
{
	const char *reason = datatype_outcome_reason(a->outcome);

	if (a->outcome == DATATYPE_NO_ACCESS)
		return;
	m = rowmaker_below(m, "data_type", ROWMAKER_OBJECT);
	if (a->outcome != DATATYPE_FOUND) {
		rowmaker_text(m, "type", NULL);
		rowmaker_text(m, "why",
			reason ? reason
			       : without_parentheses(m, datatype_outcome_name(a->outcome)));
		return;
	}
	rowmaker_text(m, "type", a->type);
	rowmaker_u64(m, "size", a->size);
	rowmaker_u64(m, "offset", a->offset);
	rowmaker_text(m, "member", *a->member ? a->member : NULL);
}

static void make_instruction(struct rowmaker *m, const void *of, size_t i)
{
	const struct making *making = of;
	const struct assembly *a = making->assembly;
	const struct assembly_row *row = &a->rows.at[i];

	rowmaker_hex(m, "address", row->va);
	if (!a->no_code.code)
		add_code(m, a, i);
	add_source(m, a, row);
	if (making->types && making->types->answers)
		add_type(m, &making->types->answers[i]);
	if (row->n_runs) {
		struct rowmaker *runs = rowmaker_below(m, "runs", ROWMAKER_OBJECT);

		rowmaker_u64(runs, "times", row->n_runs);
		rowmaker_u64(runs, "cycles", row->n_run_cycles);
		rowmaker_u64(runs, "instructions", row->n_run_instructions);
	}
	add_counts(m, "counts", a, making->options, &a->counts.at[row->counts]);
}

static void add_lines(struct rowmaker *m, const struct assembly *a,
	const struct annotate_options *o)
{
	vec_each(line, &a->lines) {
		rowmaker_row(m);
		add_line(m, a, line->file, line->line);
		add_counts(m, "counts", a, o, &a->counts.at[line->counts]);
	}
}

void annotate_add_events(struct rowmaker *m, const struct profile *p,
	const struct annotation_count *totals, const struct event_list *events)
{
	m = rowmaker_below(m, "events", ROWMAKER_ROWS);
	for (size_t e = 0; e < p->events.n; e++) {
		rowmaker_row(m);
		rowmaker_text(m, "name", p->events.at[e].name);
		rowmaker_u64(m, "samples", totals[e].n_samples);
		rowmaker_u64(m, "period", totals[e].period);
		if (e < events->n)
			rowmaker_u64(m, "precise", attr_precise(&events->at[e].attr));
	}
}

/* Functions are printed one by one: their cells are not kept. */
void annotate_json_begin(struct out *out, const struct annotation *a,
	const struct annotate_options *o)
{
	struct rowmaker document = {0};
	struct rowset table;

	rowmaker_row(&document);
	rowmaker_u64(&document, "pace_annotate", SCHEMA);
	rowmaker_text(&document, "percent_of", annotate_share_name(o));
	annotate_add_events(&document, a->profile, a->totals, o->events);
	table = rowmaker_table(&document);
	str_addc(&out->text, '{');
	form_json_members(&table, 0, out);
	str_add(&out->text, "\"functions\":[\n");
	rowmaker_fini(&document);
}

void annotate_json(struct out *out, const struct assembly *a, const struct rowtypes *types,
	const struct annotate_options *o)
{
	const struct making making = {a, types, o};
	struct rowmaker m = {0}, end = {0};
	struct rowset table;

	rowmaker_row(&m);
	rowmaker_text(&m, "name", a->symbol->name);
	rowmaker_text(&m, "dso", a->dso->name);
	rowmaker_text(&m, "path", a->dso->path);
	rowmaker_hex(&m, "address", a->va);
	rowmaker_u64(&m, "size", a->symbol->end - a->symbol->start);
	add_counts(&m, "counts", a, o, &a->annotation->counts.at[a->function->counts]);
	if (a->no_code.code) {
		rowmaker_text(&m, "no_code", a->no_code.msg);
	} else {
		rowmaker_text(&m, "code_from", str_text(&a->code.origin));
		rowmaker_text(&m, "disassembler", str_text(&a->disasm.by));
	}
	if (a->no_lines.n)
		rowmaker_text(&m, "no_lines", str_text(&a->no_lines));
	if (types && !types->answers)
		rowmaker_text(&m, "no_types", types->why.msg);
	add_lines(rowmaker_below(&m, "lines", ROWMAKER_ROWS), a, o);
	rowmaker_lazy(rowmaker_below(&m, "instructions", ROWMAKER_ROWS), make_instruction, &making,
		a->rows.n);
	table = rowmaker_table(&m);
	str_addc(&out->text, '{');
	form_json_members(&table, 0, out);
	str_addc(&out->text, '\n');
	rowmaker_row(&end);
	add_counts(&end, "outside", a, o, a->outside);
	table = rowmaker_table(&end);
	form_json_members(&table, 0, out);
	json_end(&out->text, '}');
	rowmaker_fini(&m);
	rowmaker_fini(&end);
}

void annotate_json_end(struct out *out)
{
	str_add(&out->text, "]}\n");
}
