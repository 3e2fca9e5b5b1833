/*
 * script_place.c - the text and JSON of places in code, kept for later samples.
 */
#include "base/hash.h"
#include "base/json.h"
#include "base/num.h"
#include "base/sysfile.h"
#include "event/abi.h"
#include "symbol/name/demangle.h"
#include "view/records/script.h"

enum { TEXTS_LIMIT = 64 << 20 };

/* Those that the table of build-ids names; perf knows other modules only by their short names. */
static bool is_listed(const struct script *s, const struct dso *dso)
{
	vec_each(entry, &s->trace->session.reader.info.build_ids)
		if (!strcmp(entry->path, dso->path))
			return true;
	return false;
}

static const char *dso_text(const struct script *s, const struct dso *dso)
{
	const bool has_path = s->options->has_kernel_paths;

	if (dso->kind == DSO_FILE || dso->kind == DSO_JITDUMP ||
		(dso->kind == DSO_MODULE && has_path && is_listed(s, dso)))
		return dso->path;
	if (dso->kind == DSO_KERNEL && !dso->is_guest && has_path && s->kernel_path)
		return s->kernel_path;
	return dso->name;
}

static void add_dso(const struct script *s, const struct location *l, u64 fields, struct str *text)
{
	const struct dso *dso = l->dso;
	const char *name = dso_text(s, dso);

	str_add(text, " (");
	if (dso->kind == DSO_JIT)
		str_addf(text, "/tmp/perf-%u.map", dso->pid);
	else
		str_add_safe(text, name, strlen(name));
	if (fields & SCRIPT_DSOFF && l->map)
		str_addf(text, "+0x%llx", (unsigned long long)l->address);
	str_addc(text, ')');
}

/* How many bytes before a caller's return address perf places it: 1 if it comes from a copied stack. */
static u64 before(const struct script *s, const struct location *l, u64 fields)
{
	return s->options->has_perfs_frames && l->is_return && fields & SCRIPT_UNWOUND;
}

/* "name+0x12". */
static void add_name(struct script *s, const struct location *l, u64 fields, struct str *text)
{
	struct resolver_answer a = locator_name(&s->locator, l);
	const char *name = resolver_title(&a, s->options->name_style, &s->strings);

	str_addc(text, ' ');
	if (!name) {
		str_add(text, "[unknown]");
		return;
	}
	str_add_safe(text, name, strlen(name));
	if (fields & SCRIPT_SYMOFF)
		str_addf(text, "+0x%llx",
			(unsigned long long)(a.at - a.start - before(s, l, fields)));
}

/* The name of a branch's end. */
static void add_symbol(struct script *s, const struct location *l, struct str *text)
{
	struct resolver_answer a = locator_name(&s->locator, l);
	const char *name = resolver_title(&a, s->options->name_style, &s->strings);

	if (!name) {
		str_add(text, "[unknown]");
		return;
	}
	str_add_safe(text, name, strlen(name));
	str_addf(text, "+0x%llx", (unsigned long long)(a.at - a.start));
}

static void add_address(const struct script *s, const struct location *l,
	const struct chain_step *step, const struct script_place *key, struct str *text)
{
	const bool is_kernel = step->mode == PERF_RECORD_MISC_KERNEL;
	const bool is_in_file =
		key->form == SCRIPT_IN_CHAIN && !is_kernel && !s->options->has_memory_addresses;
	const u64 address = is_in_file ? l->address : step->ip;
	size_t start = text->n;

	/* In chains perf 6.1 prints addresses in the file; elsewhere, and other versions there, addresses in memory. */
	num_add_hex(text, address - before(s, l, key->fields), 1);
	str_pad_left(text, start, 16);
}

/* Adds "file.c:12", or "file[address]" if the line is unknown. */
static void add_source(struct script *s, const struct location *l, const struct chain_step *step,
	const struct line_frame *f, struct str *text)
{
	const char *slash = f && f->file ? strrchr(f->file, '/') : NULL;

	if (!f || !f->file) {
		str_add_safe(text, l->dso->name, strlen(l->dso->name));
		str_addf(text, "[%llx]", (unsigned long long)(l->map ? l->address : step->ip));
		return;
	}
	if (s->options->has_full_paths && *f->file != '/' && f->dir) {
		str_add_safe(text, f->dir, strlen(f->dir));
		str_addc(text, '/');
	}
	str_add_safe(text, f->file, strlen(f->file));
	if (slash && !s->options->has_full_paths) {
		str_cut(text, text->n - strlen(f->file));
		str_add_safe(text, slash + 1, strlen(slash + 1));
	}
	str_addf(text, ":%u", f->line);
}

/* Adds the source on its own line. Like perf's, addresses without a map have none. */
static void add_line(struct script *s, const struct location *l, const struct chain_step *step,
	const struct line_frame *f, struct str *text)
{
	if (!l->map)
		return;
	str_add(text, "\n  ");
	add_source(s, l, step, f, text);
}

size_t script_find_sources(struct script *s, const struct location *l, bool has_inlined,
	struct line_frame frames[LINE_DEPTH_MAX])
{
	struct resolver_answer a = locator_name(&s->locator, l);
	struct resolver *resolver = s->locator.resolver;
	u64 address = a.at - l->is_return;

	resolver_load_lines(resolver, l->dso);
	if (!resolver_has_lines(resolver, l->dso))
		return 0;
	return has_inlined ? resolver_find_chain(resolver, l->dso, address, frames)
			   : resolver_find_line(resolver, l->dso, address, frames);
}

static void add_inlined(struct script *s, const struct location *l, const struct line_frame *f,
	u64 fields, struct str *text)
{
	const char *name = f->function ? demangle(f->function, s->options->name_style, &s->strings)
				       : "[unknown]";

	str_addc(text, ' ');
	str_add_safe(text, name, strlen(name));
	/* perf counts from where the function begins that it is inlined into. */
	if (s->options->has_perfs_frames && fields & SCRIPT_SYMOFF) {
		struct resolver_answer a = locator_name(&s->locator, l);

		str_addf(text, "+0x%llx",
			(unsigned long long)(a.at - a.start - before(s, l, fields)));
	}
}

/*
 * Whether debug information has another name for the function than its file's symbols: "sort" of "sort.part.0". perf 6.1
 * takes it for a function that is inlined, too.
 */
static bool has_other_name(struct script *s, const struct location *l,
	const struct line_frame *frames, size_t n)
{
	struct resolver_answer a = locator_name(&s->locator, l);
	const char *title = resolver_title(&a, s->options->name_style, &s->strings);
	const char *function = n ? frames[n - 1].function : NULL;

	return function && title &&
		strcmp(demangle(function, s->options->name_style, &s->strings), title) != 0;
}

void script_find_frames(struct script *s, const struct location *l, u64 fields,
	struct script_frames *ret)
{
	const enum script_inlines wanted = s->options->inlines;

	ret->n = ret->n_inlined = 0;
	ret->has_function = true;
	if (wanted == SCRIPT_INLINES_NONE ||
		(wanted == SCRIPT_INLINES_UNWOUND && !(fields & SCRIPT_UNWOUND)))
		return;
	ret->n = script_find_sources(s, l, true, ret->at);
	if (s->options->has_perfs_frames && has_other_name(s, l, ret->at, ret->n))
		ret->has_function = false;
	ret->n_inlined = ret->n ? ret->n - ret->has_function : 0;
}

/* A line of a chain, and those of what is inlined there. */
static void add_caller(struct script *s, const struct location *l, const struct chain_step *step,
	const struct script_place *key, struct str *text)
{
	const u64 lines = key->fields & SCRIPT_SRCLINE;
	struct script_frames f = {.has_function = true};

	if (key->fields & SCRIPT_SYM)
		script_find_frames(s, l, key->fields, &f);
	if (!f.n && lines)
		f.n = script_find_sources(s, l, false, f.at);
	for (size_t i = 0; i < f.n_inlined; i++) {
		str_addc(text, '\t');
		add_address(s, l, step, key, text);
		add_inlined(s, l, &f.at[i], key->fields, text);
		/* perf 6.1 says it once, behind the line; perf since 6.18 behind both. */
		if (!lines || !s->options->has_perfs_frames)
			str_add(text, " (inlined)");
		if (lines) {
			add_line(s, l, step, &f.at[i], text);
			str_add(text, " (inlined)");
		}
		str_addc(text, '\n');
	}
	if (!f.has_function)
		return;
	str_addc(text, '\t');
	add_address(s, l, step, key, text);
	if (key->fields & SCRIPT_SYM)
		add_name(s, l, key->fields, text);
	if (key->fields & SCRIPT_DSO)
		add_dso(s, l, key->fields, text);
	if (lines)
		add_line(s, l, step, f.n ? &f.at[f.n - 1] : NULL, text);
	str_addc(text, '\n');
}

/* Where a sample without callers was taken. */
static void add_text(struct script *s, const struct location *l, const struct chain_step *step,
	const struct script_place *key, struct str *text)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n;

	add_address(s, l, step, key, text);
	if (key->fields & SCRIPT_SYM)
		add_name(s, l, key->fields, text);
	if (key->fields & SCRIPT_DSO)
		add_dso(s, l, key->fields, text);
	if (!(key->fields & SCRIPT_SRCLINE))
		return;
	n = script_find_sources(s, l, false, frames);
	add_line(s, l, step, n ? &frames[n - 1] : NULL, text);
}

/* " ilen: 5 insn: e8 c5 ff ff ff". Like perf, adds no bytes and a length of 0 if there is no code. */
static void add_instruction(struct script *s, const struct location *l, u64 fields,
	struct str *text)
{
	struct code code;
	unsigned size = 0;

	if (script_code_find(&code, s, l, 0))
		size = script_code_size(&code, 0);
	if (fields & SCRIPT_INSNLEN)
		str_addf(text, " ilen: %u", size);
	if (fields & SCRIPT_INSN && size)
		str_add(text, " insn:");
	for (unsigned i = 0; fields & SCRIPT_INSN && i < size; i++)
		str_addf(text, " %02x", code.at[i]);
	code_fini(&code);
}

/* Adds an end of a branch, with its file and line if these are requested. */
static void add_branch_end(struct script *s, const struct location *l,
	const struct chain_step *step, const struct script_place *key, struct str *text)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n;

	if (key->form == SCRIPT_AS_SYMBOL)
		add_symbol(s, l, text);
	else
		str_addf(text, "0x%llx", (unsigned long long)locator_name(&s->locator, l).at);
	if (key->fields & SCRIPT_DSO) {
		size_t start = text->n;

		add_dso(s, l, key->fields, text);
		/* Here it has no blank in front. */
		memmove(text->at + start, text->at + start + 1, text->n - start - 1);
		str_cut(text, text->n - 1);
	}
	if (!(key->fields & SCRIPT_SRCLINE))
		return;
	n = script_find_sources(s, l, false, frames);
	str_addc(text, '(');
	add_source(s, l, step, n ? &frames[n - 1] : NULL, text);
	str_addc(text, ')');
}

/* Adds members "source" and "line" if the address's source is known. */
static void add_json_line(struct script *s, const struct location *l, struct str *text)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n = script_find_sources(s, l, false, frames);

	if (!n || !frames[n - 1].file)
		return;
	json_text(text, "source", frames[n - 1].file);
	json_u64(text, "line", frames[n - 1].line);
}

static void add_json(struct script *s, const struct location *l, const struct chain_step *step,
	u64 fields, struct str *text)
{
	struct resolver_answer a = locator_name(&s->locator, l);
	const char *name = resolver_title(&a, s->options->name_style, &s->strings);

	str_addc(text, '{');
	json_hex(text, "ip", step->ip);
	json_text(text, "mode",
		step->mode == PERF_RECORD_MISC_KERNEL         ? "kernel"
			: step->mode == PERF_RECORD_MISC_USER ? "user"
							      : "other");
	if (name) {
		json_text(text, "function", name);
		json_u64(text, "offset", a.at - a.start);
	} else {
		json_null(text, "function");
	}
	if (l->map)
		json_text(text, "file", l->dso->path);
	else
		json_null(text, "file");
	json_hex(text, "address", l->address);
	if (fields & SCRIPT_SRCLINE)
		add_json_line(s, l, text);
	json_end(text, '}');
}

/* " name+0x12 (file)" behind an address: of a variable, or of a function. */
static void add_variable(struct script *s, const struct location *l, const struct script_place *key,
	struct str *text)
{
	struct resolver_answer a = locator_name(&s->locator, l);
	const char *name;

	if (a.origin == ORIGIN_NONE || a.origin == ORIGIN_EXTENT)
		a = resolver_find_data(s->locator.resolver, l->dso, l->address);
	/* Marks like _etext are no variables: they have no size. */
	name = a.end > a.start ? resolver_title(&a, s->options->name_style, &s->strings) : NULL;
	if (key->fields & SCRIPT_SYM) {
		str_addc(text, ' ');
		str_add_safe(text, name ? name : "[unknown]", strlen(name ? name : "[unknown]"));
		if (name && key->fields & SCRIPT_SYMOFF)
			str_addf(text, "+0x%llx", (unsigned long long)(a.at - a.start));
	}
	if (key->fields & SCRIPT_DSO)
		add_dso(s, l, key->fields, text);
}

static void add_form(struct script *s, const struct location *l, const struct chain_step *step,
	const struct script_place *key, struct str *text)
{
	switch (key->form) {
	case SCRIPT_AS_JSON:
		add_json(s, l, step, key->fields, text);
		break;
	case SCRIPT_AS_DATA:
		add_variable(s, l, key, text);
		break;
	case SCRIPT_AS_PYTHON:
		script_python_place(s, l, step->ip - before(s, l, key->fields), key->fields, text);
		break;
	case SCRIPT_AS_CODE:
		add_instruction(s, l, key->fields, text);
		break;
	case SCRIPT_AS_SYMBOL:
	case SCRIPT_AS_OFFSET:
		add_branch_end(s, l, step, key, text);
		break;
	case SCRIPT_IN_CHAIN:
		add_caller(s, l, step, key, text);
		break;
	default:
		add_text(s, l, step, key, text);
	}
}

static bool is_same(const struct script_place *a, const struct script_place *b)
{
	return a->ip == b->ip && a->space_id == b->space_id && a->mode == b->mode &&
		a->is_return == b->is_return && a->fields == b->fields && a->form == b->form;
}

void script_add_source(struct script *s, const struct location *l, u64 ip, struct str *text)
{
	struct chain_step step = {.ip = ip};
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n = script_find_sources(s, l, false, frames);

	add_source(s, l, &step, n ? &frames[n - 1] : NULL, text);
}

/* per address */
void script_add_place(struct script *s, const struct thread_state *state,
	const struct chain_step *step, u64 fields, enum script_form form, struct str *text)
{
	const struct space *space = machine_space(state, step->mode);
	struct script_place place = {.ip = step->ip,
		.space_id = space ? space->id : UINT32_MAX,
		.fields = fields,
		.mode = step->mode,
		.form = (u8)form,
		.is_return = step->is_return};
	u64 hash = hash_mix(place.ip ^ fields << 40,
		(u64)place.space_id << 32 ^ (u64)place.mode << 4 ^ (u64)place.is_return << 3 ^
			place.form);
	struct table_probe probe = table_probe(&s->index, hash);
	struct location location;
	size_t start;
	u32 i;

	while ((i = table_next(&s->index, &probe)) != TABLE_NONE) {
		const struct script_place *p = &s->places.at[i];

		if (is_same(p, &place)) {
			str_addn(text, s->texts.at + p->start, p->end - p->start);
			return;
		}
	}
	locator_find(&s->locator, state, step, &location);
	start = s->texts.n;
	add_form(s, &location, step, &place, &s->texts);
	str_addn(text, s->texts.at + start, s->texts.n - start);
	if (!location.is_lasting || s->texts.n > TEXTS_LIMIT) {
		str_cut(&s->texts, start);
		return;
	}
	place.start = (u32)start;
	place.end = (u32)s->texts.n;
	table_add(&s->index, hash, s->places.n);
	vec_add(&s->places, place);
}

/* ---- lines of source ---- */

/* The n-th line of the file that was read last; NULL: it has none. */
static const char *line_of_source(const struct script *s, u32 n)
{
	const char *p = s->source.n ? str_text(&s->source) : NULL;

	for (; p && n > 1; n--) {
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	return p && *p ? p : NULL;
}

void script_add_source_code(struct script *s, const struct location *l, struct str *text)
{
	enum { SOURCE_LIMIT = 64 << 20 };
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n = script_find_sources(s, l, false, frames);
	const struct line_frame *f = n ? &frames[n - 1] : NULL;
	struct str path = {0};
	const char *known, *line;
	struct err ignored;

	if (!f || !f->file)
		return;
	if (*f->file != '/' && f->dir)
		str_addf(&path, "%s/", f->dir);
	str_add(&path, f->file);
	known = intern_str(&s->strings, str_text(&path));
	str_fini(&path);
	if (known == s->source_path && f->line == s->source_line)
		return;
	if (known != s->source_path) {
		str_clear(&s->source);
		if (sysfile_read(known, SOURCE_LIMIT, &s->source, &ignored))
			str_clear(&s->source);
	}
	s->source_path = known;
	s->source_line = f->line;
	line = line_of_source(s, f->line);
	if (!line)
		return;
	str_addf(text, "|%-8u ", f->line);
	/* Tabs stay; other characters that a terminal obeys do not. */
	for (size_t piece; *line && *line != '\n'; line += piece) {
		piece = strcspn(line, "\t\n");
		str_add_safe(text, line, piece);
		if (line[piece] == '\t') {
			str_addc(text, '\t');
			piece++;
		}
	}
	str_addc(text, '\n');
}
