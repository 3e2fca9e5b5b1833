#include "profile/gather/naming.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/workers.h"
#include "symbol/name/demangle.h"
#include "unwind/ending.h"

enum { CHUNK_FRAMES = 4096 }; /* frames that one worker looks up at a time */

/* Some frames of one DSO, and their source locations from the debug information. */
struct chunk {
	size_t dso, first, end; /* in naming.frames */
	VEC(struct line_frame) sources;
};

/* The chain of inlined functions of a frame, in its chunk's sources; n 0: not known. */
struct chain_at {
	u32 chunk, first, n;
};

struct naming {
	struct profile *profile;
	struct resolver *resolver;
	struct sort_item *frames; /* key: address; grouped by DSO */
	size_t *starts; /* by DSO of the profile: its first in `frames`; one more at the end */
	struct resolver_answer *answers; /* by frame */
	const struct naming_options *options;
	VEC(struct chunk) chunks;
	size_t first_chunk;      /* of the chunks being looked up */
	bool is_kernel_turn;     /* the kernel comes last: its names may still be being read */
	struct chain_at *chains; /* by frame; NULL: sources are not wanted */
	struct str scratch;
	struct table index;       /* of functions, in profile->symbols */
	struct table other_index; /* of their lines and of inlined functions, likewise */
};

static const struct dso *dso_of(const struct naming *n, size_t i)
{
	return n->resolver->machine->dsos.at.at[n->profile->dsos.at[i].source];
}

static bool is_turn_of(const struct naming *n, const struct dso *dso)
{
	return (dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE) == n->is_kernel_turn;
}

static bool is_stopped(const struct naming *n)
{
	return n->options->may_stop && progress_is_stopped(n->options->progress);
}

/* Names the frames of one DSO: loads its files, then looks its addresses up in ascending order. */
static void name_dso(void *ctx, size_t i, unsigned worker)
{
	struct naming *n = ctx;
	const struct dso *dso = dso_of(n, i);

	(void)worker;
	if (n->starts[i] == n->starts[i + 1] || !is_turn_of(n, dso))
		return;
	if (UNLIKELY(is_stopped(n)))
		resolver_pass_over(n->resolver, dso);
	else
		resolver_load(n->resolver, dso);
	if (n->chains && !is_stopped(n))
		resolver_load_lines(n->resolver, dso);
	for (size_t k = n->starts[i]; k < n->starts[i + 1]; k++) {
		const struct profile_frame *f = &n->profile->frames.at[n->frames[k].value];
		struct resolver_answer a;

		if (f->ending) {
			n->answers[n->frames[k].value] =
				(struct resolver_answer){.origin = ORIGIN_TABLE,
					.name = ending_text(f->ending),
					.start = f->address,
					.end = f->address};
			continue;
		}
		a = f->is_data         ? resolver_find_data(n->resolver, dso, f->address)
			: f->is_return ? resolver_find_caller(n->resolver, dso, f->address)
				       : resolver_find(n->resolver, dso, f->address);
		n->answers[n->frames[k].value] = a;
	}
	progress_add(n->options->progress, n->starts[i + 1] - n->starts[i]);
}

/* ---- sources ---- */

/* The address by which the source of a frame is looked up. */
static u64 source_address(const struct naming *n, u32 frame)
{
	const struct resolver_answer *a = &n->answers[frame];
	const struct profile_frame *f = &n->profile->frames.at[frame];

	if (n->options->source == NAMING_FUNCTION_FILES && a->origin)
		return a->start;
	return a->at - f->is_return;
}

/* Looks up the sources of a chunk's frames, innermost first. */
static void find_chunk(void *ctx, size_t i, unsigned worker)
{
	struct naming *n = ctx;
	struct chunk *c = &n->chunks.at[i += n->first_chunk];
	const struct dso *dso = dso_of(n, c->dso);

	(void)worker;
	if (UNLIKELY(is_stopped(n)))
		return;
	progress_add(n->options->progress, c->end - c->first);
	for (size_t k = c->first; k < c->end; k++) {
		u32 frame = (u32)n->frames[k].value;
		struct chain_at *at = &n->chains[frame];
		struct line_frame found[LINE_DEPTH_MAX];
		u64 address = source_address(n, frame);

		if (n->profile->frames.at[frame].ending || n->profile->frames.at[frame].is_data)
			continue;
		at->chunk = (u32)i;
		at->first = (u32)c->sources.n;
		at->n = n->options->has_inlined
			? (u32)resolver_find_chain(n->resolver, dso, address, found)
			: resolver_find_line(n->resolver, dso, address, found);
		n->profile->frames.at[frame].line_gap =
			resolver_line_gap(n->resolver, dso, address);
		for (u32 j = 0; j < at->n; j++)
			vec_add(&c->sources, found[j]);
	}
}

/* Reads all units that are needed, then looks up all addresses; both use all cores even for one big DSO. */
static void find_sources(struct naming *n)
{
	line_wishes wishes = {0};

	n->first_chunk = n->chunks.n;
	for (size_t i = 0; i < n->profile->dsos.n; i++) {
		const struct dso *dso = dso_of(n, i);
		bool has_lines = n->starts[i] < n->starts[i + 1] && is_turn_of(n, dso) &&
			resolver_has_lines(n->resolver, dso);

		for (size_t k = n->starts[i]; has_lines && k < n->starts[i + 1]; k++) {
			if ((k - n->starts[i]) % CHUNK_FRAMES == 0)
				vec_add(&n->chunks,
					((struct chunk){.dso = i,
						.first = k,
						.end = MIN(k + CHUNK_FRAMES, n->starts[i + 1])}));
			resolver_want_line(n->resolver, dso,
				source_address(n, (u32)n->frames[k].value), n->options->has_inlined,
				&wishes);
		}
	}
	line_fetch(&wishes, n->options->n_workers,
		n->options->may_stop ? n->options->progress : NULL);
	workers_run(n->options->n_workers, n->chunks.n - n->first_chunk, find_chunk, n);
	vec_fini(&wishes);
}

/* Sorts the frames by DSO, then by address. */
static void group_frames(struct naming *n)
{
	struct profile *p = n->profile;
	size_t *at = mem_zalloc((p->dsos.n + 1) * sizeof(*at));

	n->frames = mem_alloc((p->frames.n + 1) * sizeof(*n->frames));
	n->starts = mem_zalloc((p->dsos.n + 2) * sizeof(*n->starts));
	vec_each(f, &p->frames)
		n->starts[f->dso + 1]++;
	for (size_t i = 0; i < p->dsos.n; i++) {
		n->starts[i + 1] += n->starts[i];
		at[i] = n->starts[i];
	}
	vec_each(f, &p->frames)
		n->frames[at[f->dso]++] = (struct sort_item){f->address, f - p->frames.at};
	for (size_t i = 0; i < p->dsos.n; i++)
		sort_by_key(n->frames + n->starts[i], n->starts[i + 1] - n->starts[i]);
	mem_free(at);
}

/* ---- symbols ---- */

static const char *intern_text(struct naming *n, const char *text)
{
	return intern_str(&n->profile->strings, text);
}

/* The path of a source file. */
static const char *path_text(struct naming *n, const struct line_frame *f)
{
	str_clear(&n->scratch);
	if (*f->file != '/' && f->dir)
		str_addf(&n->scratch, "%s/", f->dir);
	str_add(&n->scratch, f->file);
	return intern_text(n, str_text(&n->scratch));
}

/* "file.c", or the whole path of that file. */
static const char *file_text(struct naming *n, const struct line_frame *f)
{
	const char *slash = strrchr(f->file, '/');

	return n->options->has_full_paths ? path_text(n, f)
					  : intern_text(n, slash ? slash + 1 : f->file);
}

static const char *line_text(struct naming *n, const char *file, u32 line)
{
	str_clear(&n->scratch);
	str_addf(&n->scratch, "%s:%u", file, line);
	return intern_text(n, str_text(&n->scratch));
}

/* The text for an unknown line, as perf prints it: "function+18", or "file[address]". */
static const char *no_line_text(struct naming *n, u32 frame, const char *function)
{
	const struct resolver_answer *a = &n->answers[frame];
	const struct profile_frame *f = &n->profile->frames.at[frame];

	str_clear(&n->scratch);
	if (function)
		str_addf(&n->scratch, "%s+%llu", function, (unsigned long long)(a->at - a->start));
	else
		str_addf(&n->scratch, "%s[%llx]", n->profile->dsos.at[f->dso].name,
			(unsigned long long)a->at);
	return intern_text(n, str_text(&n->scratch));
}

static const char *title_of(struct naming *n, const struct resolver_answer *a)
{
	const char *title = resolver_title(a, n->options->style, &n->profile->strings);

	return title ? intern_text(n, title) : NULL;
}

/*
 * The symbol of a frame's function, created if new. One address has one name, so the DSO and the start
 * identify it.
 */
static u32 get_function(struct naming *n, u32 frame)
{
	const struct profile_frame *f = &n->profile->frames.at[frame];
	const struct resolver_answer *a = &n->answers[frame];
	struct profile *p = n->profile;
	struct profile_symbol symbol = {.dso = f->dso,
		.start = a->start,
		.end = a->end,
		.mode = f->mode,
		.outcome = a->outcome};
	bool has_name = a->origin != ORIGIN_NONE;
	u64 hash = hash_mix(symbol.start, (u64)f->dso << 8 | (u64)f->mode << 1 | has_name);
	struct table_probe probe = table_probe(&n->index, hash);
	u32 i;

	while ((i = table_next(&n->index, &probe)) != TABLE_NONE) {
		const struct profile_symbol *s = &p->symbols.at[i];

		if (s->start == symbol.start && s->dso == f->dso && s->mode == f->mode &&
			!s->name == !has_name)
			return i;
	}
	if (f->ending) {
		str_clear(&n->scratch);
		str_addf(&n->scratch, f->ending == STACK_GAP_ABORT ? "[%s]" : "[truncated: %s]",
			a->name);
		symbol.name = intern_text(n, str_text(&n->scratch));
	} else {
		symbol.name = title_of(n, a);
	}
	table_add(&n->index, hash, p->symbols.n);
	vec_add(&p->symbols, symbol);
	return p->symbols.n - 1;
}

/* The symbol of a function's line, created if new. The first line uses the function's own symbol. */
static u32 get_line(struct naming *n, u32 function, const char *file, const char *line,
	bool has_line)
{
	struct profile *p = n->profile;
	const char *ours = n->options->source == NAMING_FILES ? file : line;
	u64 hash = hash_mix((u64)(uintptr_t)ours, function);
	struct table_probe probe = table_probe(&n->other_index, hash);
	struct profile_symbol symbol = p->symbols.at[function];
	u32 i;

	while ((i = table_next(&n->other_index, &probe)) != TABLE_NONE) {
		const struct profile_symbol *s = &p->symbols.at[i];

		if ((i == function || s->function == function) &&
			(n->options->source == NAMING_FILES ? s->file : s->line) == ours)
			return i;
	}
	symbol.file = file;
	symbol.line = line;
	symbol.has_line = has_line;
	if (!p->symbols.at[function].file) {
		p->symbols.at[function] = symbol;
		i = function;
	} else {
		symbol.function = function;
		i = p->symbols.n;
		vec_add(&p->symbols, symbol);
	}
	table_add(&n->other_index, hash, i);
	return i;
}

/* The symbol of a function that is inlined into others, created if new. */
static u32 get_inlined(struct naming *n, const struct profile_frame *f, const char *name)
{
	struct profile *p = n->profile;
	const char *text =
		intern_text(n, name ? demangle(name, n->options->style, &p->strings) : "??");
	u64 hash = hash_mix((u64)(uintptr_t)text, (u64)f->dso << 8 | f->mode);
	struct table_probe probe = table_probe(&n->other_index, hash);
	u32 i;

	while ((i = table_next(&n->other_index, &probe)) != TABLE_NONE) {
		const struct profile_symbol *s = &p->symbols.at[i];

		if (s->is_inlined && s->name == text && s->dso == f->dso && s->mode == f->mode)
			return i;
	}
	table_add(&n->other_index, hash, p->symbols.n);
	vec_add(&p->symbols,
		((struct profile_symbol){.dso = f->dso,
			.name = text,
			.mode = f->mode,
			.outcome = RESOLVER_FOUND,
			.is_inlined = true}));
	return p->symbols.n - 1;
}

/* Notes the file that a function is written in; the first answer stays. */
static void note_source(struct naming *n, u32 function, const struct line_frame *at)
{
	if (at->file && !n->profile->symbols.at[function].source)
		n->profile->symbols.at[function].source = file_text(n, at);
}

/* Adds the functions inlined at a frame, outermost first; the outermost of the chain is the ELF symbol. */
static void add_inlined(struct naming *n, u32 frame, const struct line_frame *chain, u32 length)
{
	struct profile *p = n->profile;
	struct profile_frame *f = &p->frames.at[frame];

	f->first_inlined = (u32)p->inlined.n;
	f->n_inlined = length - 1;
	for (u32 i = length - 1; i-- > 0;) {
		const u32 inlined = get_inlined(n, f, chain[i].function);

		note_source(n, inlined, &chain[i]);
		vec_add(&p->inlined, inlined);
	}
}

/* Adds where the frame's functions are in the source, the outermost first. */
static void add_sites(struct naming *n, struct profile_frame *f, const struct line_frame *chain,
	u32 length)
{
	struct profile *p = n->profile;

	f->first_site = (u32)p->sites.n + 1;
	for (u32 i = length; i-- > 0;)
		vec_add(&p->sites,
			((struct profile_site){chain[i].file ? path_text(n, &chain[i]) : NULL,
				chain[i].line}));
}

static void name_frame(struct naming *n, u32 frame)
{
	struct profile_frame *f = &n->profile->frames.at[frame];
	const struct chain_at *at = n->chains ? &n->chains[frame] : NULL;
	const struct line_frame *chain =
		at && at->n ? &n->chunks.at[at->chunk].sources.at[at->first] : NULL;
	u32 function = get_function(n, frame);
	const char *name = n->profile->symbols.at[function].name, *file, *line;

	f->symbol = function;
	f->at = n->answers[frame].at;
	if (n->options->source == NAMING_NO_SOURCE) {
		if (chain)
			note_source(n, function, &chain[at->n - 1]);
		if (chain && at->n > 1)
			add_inlined(n, frame, chain, at->n);
		if (chain && n->options->has_sites)
			add_sites(n, f, chain, at->n);
		return;
	}
	file = chain && chain->file ? file_text(n, chain) : intern_text(n, "");
	if (n->options->source == NAMING_FUNCTION_FILES) {
		n->profile->symbols.at[function].file = file;
		return;
	}
	line = n->options->source == NAMING_FILES ? NULL
		: chain && *file                  ? line_text(n, file, chain->line)
						  : no_line_text(n, frame, name);
	f->symbol = get_line(n, function, file, line, *file != '\0');
}

double *naming_shares(const struct profile *p, size_t n_dsos)
{
	double *shares = mem_zalloc((n_dsos + 1) * sizeof(*shares));
	u64 all = 0;

	vec_each(row, &p->rows)
		all += row->n_samples;
	vec_each(row, &p->rows) {
		u32 source = p->dsos.at[p->frames.at[row->frame].dso].source;

		if (all && source < n_dsos)
			shares[source] += (double)row->n_samples / (double)all;
	}
	return shares;
}

void naming_resolve(struct profile *p, struct resolver *resolver,
	const struct naming_options *options)
{
	struct naming n = {.profile = p, .resolver = resolver, .options = options};

	group_frames(&n);
	n.answers = mem_alloc((p->frames.n + 1) * sizeof(*n.answers));
	if (options->has_inlined || options->source || options->has_sites)
		n.chains = mem_zalloc((p->frames.n + 1) * sizeof(*n.chains));
	progress_expect(options->progress, (1 + (n.chains != NULL)) * p->frames.n);
	for (int turn = 0; turn < 2; turn++) {
		n.is_kernel_turn = turn;
		workers_run(options->n_workers, p->dsos.n, name_dso, &n);
		if (n.chains && !is_stopped(&n))
			find_sources(&n);
	}
	for (u32 frame = 0; frame < p->frames.n; frame++)
		name_frame(&n, frame);
	vec_each(c, &n.chunks)
		vec_fini(&c->sources);
	vec_fini(&n.chunks);
	table_fini(&n.index);
	table_fini(&n.other_index);
	str_fini(&n.scratch);
	mem_free(n.chains);
	mem_free(n.frames);
	mem_free(n.starts);
	mem_free(n.answers);
}
