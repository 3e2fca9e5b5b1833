#include "profile/code/assembly.h"

#include <stdlib.h>

#include "base/hash.h"
#include "symbol/name/demangle.h"

/* A name from the debug information, and how it is shown. */
struct shown_name {
	const char *name, *shown;
};

struct assembling {
	struct assembly *a;
	const struct assembly_options *options;
	struct resolver *resolver;
	const struct dso *dso;
	struct table files; /* of a->files, by path */
	struct table lines; /* of a->lines, by file and line */
	/* Caches: the same few name and file pointers come again and again. */
	VEC(struct shown_name) names;
	struct table name_index;
	const char *last_dir, *last_file;
	u32 last; /* in a->files */
	struct str scratch;
	u64 built_ns;
};

static size_t n_events(const struct assembly *a)
{
	return a->annotation->profile->events.n;
}

static size_t new_counts(struct assembly *a)
{
	size_t counts = a->counts.n;

	for (size_t e = 0; e < n_events(a); e++)
		vec_add(&a->counts, ((struct annotation_count){0}));
	return counts;
}

static void add_counts(struct annotation_count *to, const struct annotation_count *from, size_t n)
{
	for (size_t e = 0; e < n; e++) {
		to[e].n_samples += from[e].n_samples;
		to[e].period += from[e].period;
	}
}

/* ---- rows ---- */

static void add_row(struct assembly *a, u64 va, u32 size)
{
	a->longest = MAX(a->longest, size);
	vec_add(&a->rows,
		((struct assembly_row){.va = va,
			.size = size,
			.to = ASSEMBLY_NONE,
			.counts = new_counts(a)}));
}

/* Adds samples to rows. A sample inside an instruction counts for that instruction. */
static void count_rows(struct assembly *a, const struct annotation_places *places)
{
	size_t row = 0;

	vec_each(place, &places->at) {
		const struct annotation_count *counts = &places->counts.at[place->counts];
		u64 va = place->at - a->symbol->start + a->va;

		while (row < a->rows.n && va >= a->rows.at[row].va &&
			va - a->rows.at[row].va >= a->rows.at[row].size)
			row++;
		if (row < a->rows.n && va >= a->rows.at[row].va)
			add_counts(&a->counts.at[a->rows.at[row].counts], counts, n_events(a));
		else
			add_counts(a->outside, counts, n_events(a));
	}
}

static void take_code(struct assembling *s, const struct annotation_places *places)
{
	struct assembly *a = s->a;

	a->va = a->symbol->start;
	if (code_find(&a->code, s->resolver, s->dso, a->symbol->start, a->symbol->end,
		    &a->no_code) ||
		disasm(&a->disasm, &a->code, &s->options->disasm, &a->no_code)) {
		vec_each(place, &places->at)
			add_row(a, place->at, 1);
		return;
	}
	a->no_code.code = 0;
	a->va = a->code.va;
	vec_reserve(&a->rows, a->disasm.listing.instructions.n);
	vec_each(i, &a->disasm.listing.instructions)
		add_row(a, i->va, i->size);
}

/* ---- targets ---- */

/* "f+0x1c", "f" at its start, "f@plt"; NULL: there is no name. *ret_is_made: the name is made up. */
static const char *place_text(struct assembling *s, u64 va, bool *ret_is_made)
{
	struct assembly *a = s->a;
	struct resolver_answer answer;
	const char *title;
	u64 offset;

	if (va - a->va < a->code.n) {
		str_clear(&s->scratch);
		str_add(&s->scratch, a->symbol->name);
		*ret_is_made = !profile_is_named(a->symbol);
		offset = va - a->va;
	} else {
		answer = code_name(&a->code, s->resolver, s->dso, va);
		title = resolver_title(&answer, s->options->style, &a->strings);
		if (!title)
			return NULL;
		str_clear(&s->scratch);
		str_add(&s->scratch, title);
		*ret_is_made = answer.outcome != RESOLVER_FOUND;
		offset = answer.at - answer.start;
	}
	if (offset)
		str_addf(&s->scratch, "+0x%llx", (unsigned long long)offset);
	return intern_str(&a->strings, str_text(&s->scratch));
}

/* Names what an instruction refers to: a variable, constant text, or code whose address it takes. */
static void name_reference(struct assembling *s, u64 va, struct assembly_row *row)
{
	struct assembly *a = s->a;
	const struct elf *image = resolver_image(s->resolver, s->dso);
	u64 address = va - a->code.va + a->code.start;
	const struct symbol *object;
	const char *text;
	bool is_cut;
	size_t n;

	if (!image || !datanames_is_data(image, address)) {
		row->reference = place_text(s, va, &row->is_reference_made);
		return;
	}
	object = s->options->datanames ? datanames_find(s->options->datanames, image, address)
				       : NULL;
	str_clear(&s->scratch);
	if (object) {
		str_add(&s->scratch, demangle(object->name, s->options->style, &a->strings));
		if (address > object->start)
			str_addf(&s->scratch, "+0x%llx",
				(unsigned long long)(address - object->start));
		row->reference = intern_str(&a->strings, str_text(&s->scratch));
		return;
	}
	text = datanames_text(image, address, &n, &is_cut);
	if (!text)
		return;
	str_addc(&s->scratch, '"');
	str_addn(&s->scratch, text, n);
	str_add(&s->scratch, is_cut ? "\"..." : "\"");
	row->literal = intern_str(&a->strings, str_text(&s->scratch));
}

static void name_targets(struct assembling *s)
{
	struct assembly *a = s->a;
	const struct listing *l = &a->disasm.listing;

	for (size_t i = 0; i < l->instructions.n; i++) {
		const struct instruction *ins = &l->instructions.at[i];
		struct assembly_row *row = &a->rows.at[i];

		if (ins->has_target) {
			u32 to = listing_find(l, ins->target);

			row->target = place_text(s, ins->target, &row->is_target_made);
			if (to != UINT32_MAX && ins->flow != ISA_CALL &&
				a->rows.at[to].va == ins->target)
				row->to = to;
		}
		if (ins->has_reference)
			name_reference(s, ins->reference, row);
	}
}

/* ---- runs ---- */

/* The row at an offset of the DSO; is_begin: only if the row begins there. */
static u32 row_at(struct assembling *s, u64 offset, bool is_begin)
{
	struct assembly *a = s->a;
	u64 va = resolver_find(s->resolver, s->dso, offset).at - a->symbol->start + a->va;
	u32 row = listing_find(&a->disasm.listing, va);

	return row != UINT32_MAX && is_begin && a->rows.at[row].va != va ? UINT32_MAX : row;
}

static void add_runs(struct assembling *s)
{
	struct assembly *a = s->a;
	const struct elf *image = resolver_image(s->resolver, s->dso);
	u64 start = a->symbol->start;
	const struct block *block;
	size_t n;

	if (image && !elf_offset_of_address(image, start, &start))
		return;
	block = blocks_between(s->options->blocks, s->dso->id, start,
		start + (a->symbol->end - a->symbol->start), &n);
	for (size_t i = 0; i < n; i++, block++) {
		u32 first = row_at(s, block->start, true), last = row_at(s, block->end, true);

		if (first == UINT32_MAX || last == UINT32_MAX || last < first)
			continue;
		a->rows.at[last].n_runs += block->n_times;
		a->rows.at[last].n_run_cycles += block->n_cycles;
		a->rows.at[last].n_run_instructions += block->n_times * (last - first + 1);
	}
}

/* ---- source ---- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static u32 find_file(struct assembling *s, const char *dir, const char *file)
{
	struct assembly *a = s->a;
	struct table_probe probe;
	struct assembly_file f = {0};
	u64 hash;
	u32 i;

	str_clear(&s->scratch);
	if (*file != '/' && dir && *dir)
		str_addf(&s->scratch, "%s/", dir);
	str_add(&s->scratch, file);
	f.path = intern_str(&a->strings, str_text(&s->scratch));
	hash = hash_u64((u64)(uintptr_t)f.path);
	probe = table_probe(&s->files, hash);
	while ((i = table_next(&s->files, &probe)) != TABLE_NONE)
		if (a->files.at[i].path == f.path)
			return i;
	f.name = intern_str(&a->strings, last_part(file));
	if (s->options->has_code)
		source_open(&f.source, &s->options->places, dir, file, s->built_ns);
	else
		f.source.state = SOURCE_MISSING;
	table_add(&s->files, hash, a->files.n);
	vec_add(&a->files, f);
	return (u32)a->files.n - 1;
}

static u32 get_file(struct assembling *s, const char *dir, const char *file)
{
	if (!file)
		return ASSEMBLY_NONE;
	if (file != s->last_file || dir != s->last_dir) {
		s->last = find_file(s, dir, file);
		s->last_file = file;
		s->last_dir = dir;
	}
	return s->last;
}

static bool has_same_frames(const struct assembly *a, u32 first, u32 n,
	const struct assembly_frame *frames, u32 m)
{
	if (n != m)
		return false;
	for (u32 i = 0; i < n; i++) {
		const struct assembly_frame *f = &a->frames.at[first + i];

		if (f->function != frames[i].function || f->file != frames[i].file ||
			f->line != frames[i].line)
			return false;
	}
	return true;
}

/* Sets a row's frames. Neighbouring rows mostly come from the same place and share theirs. */
static void set_frames(struct assembly *a, struct assembly_row *row,
	const struct assembly_frame *frames, u32 n)
{
	const struct assembly_row *before = row > a->rows.at ? row - 1 : NULL;

	row->n_frames = n;
	if (before && has_same_frames(a, before->first_frame, before->n_frames, frames, n)) {
		row->first_frame = before->first_frame;
		return;
	}
	row->first_frame = (u32)a->frames.n;
	for (u32 i = 0; i < n; i++)
		vec_add(&a->frames, frames[i]);
}

static const char *readable(struct assembling *s, const char *name)
{
	u64 hash = hash_u64((u64)(uintptr_t)name);
	struct table_probe probe = table_probe(&s->name_index, hash);
	struct shown_name *new;
	u32 i;

	if (!name)
		return NULL;
	while ((i = table_next(&s->name_index, &probe)) != TABLE_NONE)
		if (s->names.at[i].name == name)
			return s->names.at[i].shown;
	table_add(&s->name_index, hash, (u32)s->names.n);
	new = vec_push(&s->names);
	new->name = name;
	new->shown =
		intern_str(&s->a->strings, demangle(name, s->options->frame_style, &s->a->strings));
	return new->shown;
}

static void find_lines(struct assembling *s)
{
	struct line_frame found[LINE_DEPTH_MAX];
	struct assembly_frame frames[LINE_DEPTH_MAX];
	struct assembly *a = s->a;

	vec_each(row, &a->rows) {
		u32 n = (u32)resolver_find_chain(s->resolver, s->dso,
			row->va - a->va + a->symbol->start, found);

		for (u32 i = 0; i < n; i++)
			frames[i] = (struct assembly_frame){readable(s, found[i].function),
				get_file(s, found[i].dir, found[i].file), found[i].line};
		/* The outermost frame is the function itself, whatever its name in the debug information. */
		if (n)
			frames[n - 1].function = a->symbol->name;
		set_frames(a, row, frames, n);
	}
}

static void find_jit_lines(struct assembling *s, const struct jitdump *dump)
{
	struct assembly *a = s->a;

	vec_each(row, &a->rows) {
		const struct jitdump_line *line =
			jitdump_find_line(dump, row->va - a->va + a->symbol->start);
		struct assembly_frame frame = {.function = a->symbol->name};

		if (!line)
			continue;
		frame.file = get_file(s, NULL, line->file);
		frame.line = line->line;
		set_frames(a, row, &frame, 1);
	}
}

/*
 * Reads the function's unit of debug information. This takes about as long as loading LLVM, which another
 * thread does at the same time: so it comes before the instructions.
 */
static void open_lines(struct assembling *s)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	struct line_index *lines;

	resolver_load_lines(s->resolver, s->dso);
	lines = resolver_lines(s->resolver, s->dso);
	if (lines)
		line_chain(lines, s->a->symbol->start, frames);
}

static void take_lines(struct assembling *s)
{
	struct assembly *a = s->a;
	const struct jitcode *j = s->resolver->jitcode;
	const char *reason;

	if (s->dso->kind == DSO_JITDUMP && j && jitcode_find(j, s->dso)) {
		find_jit_lines(s, jitcode_find(j, s->dso));
	} else {
		if (resolver_has_lines(s->resolver, s->dso))
			find_lines(s);
		reason = resolver_lines_reason(s->resolver, s->dso, LINE_GAP_FILE);
		if (!a->frames.n && reason)
			str_add(&a->no_lines, reason);
	}
	if (!a->frames.n && !a->no_lines.n)
		str_addf(&a->no_lines, "no source line is known for it");
}

/* ---- the hottest lines ---- */

static struct assembly_line *get_line(struct assembling *s, u32 file, u32 line)
{
	struct assembly *a = s->a;
	u64 hash = hash_mix(file, line);
	struct table_probe probe = table_probe(&s->lines, hash);
	u32 i;

	while ((i = table_next(&s->lines, &probe)) != TABLE_NONE)
		if (a->lines.at[i].file == file && a->lines.at[i].line == line)
			return &a->lines.at[i];
	table_add(&s->lines, hash, a->lines.n);
	vec_add(&a->lines, ((struct assembly_line){file, line, new_counts(a)}));
	return &a->lines.at[a->lines.n - 1];
}

/* The hotter one first, by the first event in which they differ; else in the order of the source. */
static int by_heat(const void *left, const void *right, void *ctx)
{
	const struct assembly_line *l = left, *r = right;
	const struct assembly *a = ctx;

	for (size_t e = 0; e < n_events(a); e++) {
		u64 x = a->counts.at[l->counts + e].period, y = a->counts.at[r->counts + e].period;

		if (x != y)
			return x < y ? 1 : -1;
	}
	if (l->file != r->file)
		return l->file < r->file ? -1 : 1;
	return l->line < r->line ? -1 : l->line > r->line;
}

static void sum_lines(struct assembling *s)
{
	struct assembly *a = s->a;

	for (size_t i = 0; i < a->rows.n; i++) {
		const struct assembly_row *row = &a->rows.at[i];
		const struct assembly_frame *f;
		struct assembly_line *line;
		bool is_hot = false;

		for (size_t e = 0; e < n_events(a); e++)
			is_hot |= a->counts.at[row->counts + e].n_samples != 0;
		if (!is_hot || !row->n_frames)
			continue;
		f = &a->frames.at[row->first_frame];
		if (f->file == ASSEMBLY_NONE)
			continue;
		line = get_line(s, f->file, f->line);
		add_counts(&a->counts.at[line->counts], &a->counts.at[row->counts], n_events(a));
	}
	if (a->lines.n)
		qsort_r(a->lines.at, a->lines.n, sizeof(*a->lines.at), by_heat, a);
}

static void assemble(struct assembly *a, const struct annotation *annotation,
	const struct annotation_function *f, const struct profile_symbol *symbol,
	struct resolver *resolver, const struct assembly_options *options)
{
	const struct profile *p = annotation->profile;
	struct assembling s = {.a = a, .options = options, .resolver = resolver};
	struct annotation_places places = {0};

	memset(a, 0, sizeof(*a));
	a->annotation = annotation;
	a->function = f;
	a->symbol = symbol;
	a->dso = &p->dsos.at[a->symbol->dso];
	s.dso = resolver->machine->dsos.at.at[a->dso->source];
	a->outside = mem_zalloc((p->events.n + 1) * sizeof(*a->outside));
	resolver_load(resolver, s.dso);
	if (f->n)
		annotation_places_init(&places, annotation, f, resolver);
	if (options->has_source)
		open_lines(&s);
	take_code(&s, &places);
	count_rows(a, &places);
	if (!a->no_code.code) {
		name_targets(&s);
		if (options->blocks && a->disasm.engine != DISASM_RAW)
			add_runs(&s);
		if (a->code.path)
			s.built_ns = source_time(a->code.path, resolver->files->places.log);
	}
	if (options->has_source) {
		take_lines(&s);
		sum_lines(&s);
	}
	annotation_places_fini(&places);
	table_fini(&s.files);
	table_fini(&s.lines);
	table_fini(&s.name_index);
	vec_fini(&s.names);
	str_fini(&s.scratch);
}

void assembly_init(struct assembly *a, const struct annotation *annotation,
	const struct annotation_function *f, struct resolver *resolver,
	const struct assembly_options *options)
{
	assemble(a, annotation, f, annotation_symbol(annotation, f), resolver, options);
}

void assembly_init_unsampled(struct assembly *a, const struct annotation *annotation,
	const struct profile_symbol *symbol, struct resolver *resolver,
	const struct assembly_options *options)
{
	assemble(a, annotation, &annotation->unsampled, symbol, resolver, options);
}

bool assembly_leads_to(const struct assembly *a, size_t i, struct resolver *resolver,
	unsigned style, struct intern *strings, struct profile_symbol *ret)
{
	const struct instruction *ins;
	struct resolver_answer answer;
	const char *title;

	if (a->no_code.code)
		return false;
	ins = &a->disasm.listing.instructions.at[i];
	if (!ins->has_target || ins->target - a->va < a->code.n)
		return false;
	answer = code_name(&a->code, resolver, resolver->machine->dsos.at.at[a->dso->source],
		ins->target);
	title = resolver_title(&answer, style, strings);
	if (!title)
		return false;
	*ret = (struct profile_symbol){.dso = a->symbol->dso,
		.start = answer.start,
		.end = answer.end,
		.mode = a->symbol->mode,
		.name = intern_str(strings, title)};
	return true;
}

void assembly_fini(struct assembly *a)
{
	code_fini(&a->code);
	disasm_fini(&a->disasm);
	vec_each(f, &a->files)
		source_close(&f->source);
	vec_fini(&a->files);
	vec_fini(&a->rows);
	vec_fini(&a->frames);
	vec_fini(&a->lines);
	vec_fini(&a->counts);
	mem_free(a->outside);
	str_fini(&a->no_lines);
	intern_fini(&a->strings);
	memset(a, 0, sizeof(*a));
}

const char *assembly_text(const struct assembly *a, size_t i)
{
	return a->no_code.code
		? ""
		: listing_text(&a->disasm.listing, &a->disasm.listing.instructions.at[i]);
}

const u8 *assembly_bytes(const struct assembly *a, size_t i)
{
	return a->no_code.code ? NULL : a->code.at + (a->rows.at[i].va - a->code.va);
}
