/*
 * script_place.c - what a place in code looks like in text and in JSON, kept for the next time.
 */
#include "base/hash.h"
#include "base/json.h"
#include "base/num.h"
#include "event/abi.h"
#include "symbol/demangle.h"
#include "view/script.h"

enum { TEXTS_LIMIT = 64 << 20 };

static void add_dso(const struct dso *dso, struct str *text)
{
	str_add(text, " (");
	if (dso->kind == DSO_JIT)
		str_addf(text, "/tmp/perf-%u.map", dso->pid);
	else if (dso->kind == DSO_FILE || dso->kind == DSO_JITDUMP)
		str_add_safe(text, dso->path, strlen(dso->path));
	else
		str_add_safe(text, dso->name, strlen(dso->name));
	str_addc(text, ')');
}

/* "name+0x12". */
static void add_name(struct script *s, const struct location *l, u32 fields, struct str *text)
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
		str_addf(text, "+0x%llx", (unsigned long long)(a.at - a.start));
}

static void add_address(const struct location *l, const struct chain_step *step,
	enum script_form form, struct str *text)
{
	bool is_kernel = step->mode == PERF_RECORD_MISC_KERNEL;
	size_t start = text->n;

	/* In chains perf tells where in its file the code is, outside of them where in memory. */
	num_add_hex(text, form == SCRIPT_IN_CHAIN && !is_kernel ? l->address : step->ip, 1);
	str_pad_left(text, start, 16);
}

/* On a line of its own, "file.c:12", or of what is not known "file[address]". */
static void add_line(struct script *s, const struct location *l, const struct chain_step *step,
	const struct line_frame *f, struct str *text)
{
	const char *slash = f && f->file ? strrchr(f->file, '/') : NULL;

	str_add(text, "\n  ");
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

/* What is known of the source there, innermost first; how many frames. */
static size_t find_sources(struct script *s, const struct location *l, bool has_inlined,
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

static void add_inlined(struct script *s, const struct line_frame *f, struct str *text)
{
	const char *name = f->function ? demangle(f->function, s->options->name_style, &s->strings)
				       : "[unknown]";

	str_addc(text, ' ');
	str_add_safe(text, name, strlen(name));
	str_add(text, " (inlined)");
}

static void add_text(struct script *s, const struct location *l, const struct chain_step *step,
	const struct script_place *key, struct str *text)
{
	bool is_in_chain = key->form == SCRIPT_IN_CHAIN;
	bool has_inlined = is_in_chain && key->fields & SCRIPT_SYM && !s->options->hides_inlined;
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n = 0;

	if (has_inlined || key->fields & SCRIPT_SRCLINE)
		n = find_sources(s, l, has_inlined, frames);
	for (size_t i = 0; has_inlined && i + 1 < n; i++) {
		str_addc(text, '\t');
		add_address(l, step, key->form, text);
		add_inlined(s, &frames[i], text);
		if (key->fields & SCRIPT_SRCLINE)
			add_line(s, l, step, &frames[i], text);
		str_addc(text, '\n');
	}
	if (is_in_chain)
		str_addc(text, '\t');
	add_address(l, step, key->form, text);
	if (key->fields & SCRIPT_SYM)
		add_name(s, l, key->fields, text);
	if (key->fields & SCRIPT_DSO)
		add_dso(l->dso, text);
	if (key->fields & SCRIPT_SRCLINE)
		add_line(s, l, step, n ? &frames[n - 1] : NULL, text);
	if (is_in_chain)
		str_addc(text, '\n');
}

static void add_json(struct script *s, const struct location *l, const struct chain_step *step,
	struct str *text)
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
	json_end(text, '}');
}

static bool is_same(const struct script_place *a, const struct script_place *b)
{
	return a->ip == b->ip && a->space_id == b->space_id && a->mode == b->mode &&
		a->is_return == b->is_return && a->fields == b->fields && a->form == b->form;
}

/* per address */
void script_add_place(struct script *s, const struct thread_state *state,
	const struct chain_step *step, u32 fields, enum script_form form, struct str *text)
{
	const struct space *space = machine_space(state, step->mode);
	struct script_place place = {.ip = step->ip,
		.space_id = space ? space->id : UINT32_MAX,
		.fields = fields,
		.mode = step->mode,
		.form = (u8)form,
		.is_return = step->is_return};
	u64 hash = hash_mix(place.ip ^ (u64)fields << 40,
		(u64)place.space_id << 32 ^ (u64)place.mode << 3 ^ (u64)place.is_return << 2 ^
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
	if (form == SCRIPT_AS_JSON)
		add_json(s, &location, step, &s->texts);
	else
		add_text(s, &location, step, &place, &s->texts);
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
