#include "view/code/annotate_line.h"

enum { PERCENT_WIDTH = 8, NUMBER_WIDTH = 12, BYTES_SHOWN = 10, FRAMES_SHOWN = 6 };

static void add_safe(struct str *text, const char *word)
{
	str_add_safe(text, word, strlen(word));
}

void annotate_add_place(const struct annotate_options *o, const struct assembly *a, u32 file,
	u32 line, struct str *text)
{
	const struct assembly_file *f = &a->files.at[file];

	add_safe(text, o->has_full_paths ? f->path : f->name);
	str_addf(text, ":%u", line);
}

/* ---- figures ---- */

unsigned annotate_figure_width(const struct annotate_options *o)
{
	return o->figure == ANNOTATE_PERCENT ? PERCENT_WIDTH : NUMBER_WIDTH;
}

void annotate_add_figure(const struct annotate_options *o, const struct assembly *a, size_t e,
	const struct annotation_count *count, struct str *text)
{
	if (o->figure == ANNOTATE_PERCENT && !count->n_samples)
		/* Most instructions have no samples, and printf() is slow. */
		str_add_right(text, "0.00", PERCENT_WIDTH);
	else if (o->figure == ANNOTATE_PERCENT)
		str_addf(text, "%*.2f", PERCENT_WIDTH, annotate_share(o, a, e, count));
	else
		str_addf(text, "%*llu", NUMBER_WIDTH,
			(unsigned long long)(o->figure == ANNOTATE_SAMPLES ? count->n_samples
									   : count->period));
}

/* ---- above the code ---- */

static void add_note(struct str *text, const char *begin, const char *what, const char *subject,
	const char *rest)
{
	str_addf(text, "%s%s", begin, what);
	add_safe(text, subject);
	str_addf(text, "%s\n", rest);
}

static void add_file_notes(const struct assembly *a, const char *begin, struct str *text)
{
	vec_each(f, &a->files) {
		if (f->source.state == SOURCE_FOUND)
			continue;
		str_addf(text, "%s'", begin);
		add_safe(text, str_text(&f->source.path));
		if (f->source.state == SOURCE_NEWER)
			str_add(text,
				"' was changed after the program was built: its lines may have moved\n");
		else
			str_addf(text,
				"' is not shown: %s (--symfs and --prefix tell where sources are)\n",
				str_text(&f->source.why));
	}
}

void annotate_add_notes(const struct annotate_options *o, const struct assembly *a,
	const char *begin, struct str *text)
{
	annotate_add_skid(o, a, begin, text);
	if (a->no_code.code)
		add_note(text, begin, "no code: ", a->no_code.msg, "");
	else if (a->disasm.engine != DISASM_LLVM)
		add_note(text, begin, "disassembled by ", str_text(&a->disasm.by),
			a->disasm.why.n ? ", because LLVM is not installed" : "");
	if (o->has_source && a->no_lines.n)
		add_note(text, begin, "no source: ", str_text(&a->no_lines), "");
	if (o->has_source)
		add_file_notes(a, begin, text);
}

void annotate_add_outside(const struct annotate_options *o, const struct assembly *a,
	const char *begin, struct str *text)
{
	(void)o;
	for (size_t e = 0; e < a->annotation->profile->events.n; e++) {
		if (!a->outside[e].n_samples)
			continue;
		str_addf(text, "%s%llu samples of ", begin,
			(unsigned long long)a->outside[e].n_samples);
		add_safe(text, a->annotation->profile->events.at[e].name);
		str_add(text, " lie outside these instructions\n");
	}
}

/* ---- source lines ---- */

static bool has_same_functions(const struct assembly *a, const struct annotate_place *place,
	const struct assembly_row *row)
{
	const struct assembly_frame *was = a->frames.at + place->first_frame,
				    *is = a->frames.at + row->first_frame;

	if (place->n_frames != row->n_frames || was->file != is->file)
		return false;
	for (u32 i = 0; i < row->n_frames; i++)
		if (was[i].function != is[i].function ||
			(i && (was[i].line != is[i].line || was[i].file != is[i].file)))
			return false;
	return true;
}

unsigned annotate_headings(const struct assembly *a, const struct assembly_row *row,
	struct annotate_place *place)
{
	const struct assembly_frame *f = a->frames.at + row->first_frame;
	unsigned what = 0;

	if (!row->n_frames || (place->n_frames && row->first_frame == place->first_frame))
		return 0;
	if (!place->n_frames || !has_same_functions(a, place, row))
		what |= ANNOTATE_FUNCTIONS;
	if (f->file != ASSEMBLY_NONE && f->line)
		what |= ANNOTATE_SOURCE;
	*place = (struct annotate_place){row->first_frame, row->n_frames};
	return what;
}

/* Of very many functions only the innermost and the last are shown. */
void annotate_add_functions(const struct annotate_options *o, const struct assembly *a,
	const struct assembly_row *row, struct str *text)
{
	const u32 n_left = row->n_frames > FRAMES_SHOWN ? row->n_frames - FRAMES_SHOWN : 0;

	for (u32 i = 0; i < row->n_frames; i++) {
		const struct assembly_frame *f = &a->frames.at[row->first_frame + i];

		if (n_left && i == FRAMES_SHOWN - 1) {
			str_addf(text, " < %u more", n_left);
			i += n_left - 1;
			continue;
		}
		str_add(text, i ? " < " : "");
		add_safe(text, f->function ? f->function : "??");
		str_add(text, "() ");
		if (f->file == ASSEMBLY_NONE)
			str_add(text, "??");
		else
			annotate_add_place(o, a, f->file, f->line, text);
	}
}

void annotate_add_source(const struct annotate_options *o, const struct assembly *a,
	const struct assembly_row *row, struct str *text)
{
	const struct assembly_frame *f = a->frames.at + row->first_frame;
	size_t n;
	const char *line = source_line(&a->files.at[f->file].source, f->line, &n);

	if (!line) {
		annotate_add_place(o, a, f->file, f->line, text);
		return;
	}
	str_addf(text, "%-5u ", f->line);
	/* Tabs are control characters too. */
	for (size_t i = 0, from = 0; i <= n; i++) {
		if (i < n && line[i] != '\t')
			continue;
		str_add_safe(text, line + from, i - from);
		from = i + 1;
		if (i < n)
			str_fill(text, ' ', 4);
	}
	while (text->n && text->at[text->n - 1] == ' ')
		str_cut(text, text->n - 1);
}

/* ---- instructions ---- */

static void add_bytes(const struct assembly *a, size_t i, struct str *text)
{
	const u8 *bytes = assembly_bytes(a, i);
	const size_t start = text->n;

	for (u32 k = 0; k < a->rows.at[i].size; k++)
		str_addf(text, "%02x ", bytes[k]);
	str_pad_right(text, start, 3 * MIN(a->longest, (u32)BYTES_SHOWN));
	str_addc(text, ' ');
}

/* The symbol at an address. Names are untrusted text. */
static void add_name(struct str *text, const char *name)
{
	str_add(text, " <");
	add_safe(text, name);
	str_addc(text, '>');
}

static bool was_sampled(const struct assembly *a, const struct assembly_row *row)
{
	for (size_t e = 0; e < a->annotation->profile->events.n; e++)
		if (a->counts.at[row->counts + e].n_samples)
			return true;
	return false;
}

static void add_reference(const struct assembly_row *row, const struct instruction *ins,
	struct str *text)
{
	str_add(text, "        # 0x");
	str_add_hex(text, ins->reference, 0);
	if (row->reference)
		add_name(text, row->reference);
	if (row->literal) {
		str_addc(text, ' ');
		add_safe(text, row->literal);
	}
}

void annotate_add_instruction(const struct annotate_options *o, const struct assembly *a, size_t i,
	struct str *text)
{
	const struct assembly_row *row = &a->rows.at[i];
	const struct instruction *ins =
		a->no_code.code ? NULL : &a->disasm.listing.instructions.at[i];

	if (ins) {
		if (o->has_bytes && !ins->is_bad)
			add_bytes(a, i, text);
		str_add(text, assembly_text(a, i));
	}
	if (row->target)
		add_name(text, row->target);
	if (ins && ins->has_reference)
		add_reference(row, ins, text);
	if (row->n_runs)
		str_addf(text, " ; %.1f cycles, IPC %.2f (%llu runs)",
			(double)row->n_run_cycles / (double)row->n_runs,
			(double)row->n_run_instructions / (double)row->n_run_cycles,
			(unsigned long long)row->n_runs);
	if (o->has_places && row->n_frames && was_sampled(a, row)) {
		const struct assembly_frame *f = &a->frames.at[row->first_frame];

		str_add(text, " // ");
		if (f->file == ASSEMBLY_NONE)
			str_add(text, "??");
		else
			annotate_add_place(o, a, f->file, f->line, text);
	}
}

unsigned annotate_address_digits(const struct assembly *a)
{
	u64 v = a->rows.n ? a->rows.at[a->rows.n - 1].va : 0;
	unsigned n = 1;

	while (v >>= 4)
		n++;
	return n;
}
