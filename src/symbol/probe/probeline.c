#include "symbol/probe/probeline.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/probe/probearg.h"
#include "symbol/probe/stapnote.h"

void probeline_add_group(const char *path, struct str *text)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	str_add(text, "probe_");
	for (size_t n = strcspn(name, "-._"); n--; name++)
		str_addc(text, isalnum((unsigned char)*name) ? *name : '_');
}

static const char *keep(struct probe_list *l, struct str *text)
{
	const char *kept = arena_strdup(&l->texts, str_text(text), text->n);

	str_fini(text);
	return kept;
}

static const char *group_of(struct probe_list *l, const struct probe_file *f,
	const struct probe_text *t)
{
	struct str text = {0};

	if (t->group)
		str_add(&text, t->group);
	else if (f && !f->is_kernel)
		probeline_add_group(f->path, &text);
	else
		str_add(&text, "probe");
	return keep(l, &text);
}

/* The event's name: what was asked for, or the function's; _L12: its line; __return. */
static const char *event_of(struct probe_list *l, const struct probe_text *t, const char *function)
{
	struct str text = {0};

	if (t->event) {
		str_add(&text, t->event);
		return keep(l, &text);
	}
	if (isdigit((unsigned char)*function))
		str_addc(&text, '_');
	for (; *function; function++)
		str_addc(&text, isalnum((unsigned char)*function) ? *function : '_');
	if (t->function && t->has_line)
		str_addf(&text, "_L%llu", (unsigned long long)t->line);
	if (t->is_return)
		str_add(&text, "__return");
	return keep(l, &text);
}

/* "lookup:9 in /bin/prog with key local" */
static const char *words_of(struct probe_list *l, const struct probe_file *f,
	const struct probe_text *t, const char *args)
{
	struct str text = {0};
	const char *given = t->given;
	size_t n = strcspn(given, " \t\n"), equals = strcspn(given, "=;@+%<");
	bool is_first = true;

	if (t->event && equals < n && given[equals] == '=') {
		given += equals + 1;
		n -= equals + 1;
	}
	str_addn(&text, given, n);
	if (f && !f->is_kernel)
		str_addf(&text, " in %s", f->path);
	while (*args == ' ') {
		size_t k = strcspn(args + 1, " "), name = strcspn(args + 1, "=");

		str_add(&text, is_first ? " with " : " ");
		str_addn(&text, args + 1, MIN(k, name));
		is_first = false;
		args += k + 1;
	}
	return keep(l, &text);
}

static int check_instruction(const struct probe_file *f, const struct probe_text *t,
	const struct probe_spot *spot, const struct probe_options *o, struct err *err)
{
	u64 before = 0;

	if (o->is_forced || !spot->start || (!t->has_offset && !t->has_address) ||
		probefile_is_instruction(f, spot->start, spot->address, &before))
		return 0;
	return err_set(err, ERR_INVAL,
		"no instruction begins at '%s': the one around it begins at +%llu of '%s'; a probe inside of an instruction would break the program (-f puts it there)",
		t->given, (unsigned long long)(before - spot->start),
		spot->symbol ? spot->symbol : spot->name);
}

static int add_place(struct probe_file *f, const struct probe_spot *spot,
	const struct probe_options *o, struct probe_line *line, struct str *text, struct err *err)
{
	if (f->is_kernel) {
		const struct symbol *s = symtab_find(&f->symbols, spot->address);

		if (!s)
			return err_set(err, ERR_NOENT, "no symbol is near 0x%llx",
				(unsigned long long)spot->address);
		str_addf(text, "%s%s%s+%llu", o->module ? o->module : "", o->module ? ":" : "",
			s->name, (unsigned long long)(spot->address - s->start));
		return 0;
	}
	if (probefile_offset(f, spot->address, &line->offset, err))
		return err->code;
	str_addf(text, "%s:0x%llx", f->path, (unsigned long long)line->offset);
	return 0;
}

static int add_spot(struct probe_file *f, const struct probe_text *t, const struct probe_spot *spot,
	const struct probe_options *o, struct probe_list *l, struct err *err)
{
	struct probe_line line = {.is_return = t->is_return};
	struct str place = {0}, args = {0};
	int r = check_instruction(f, t, spot, o, err);

	if (!r)
		r = add_place(f, spot, o, &line, &place, err);
	for (size_t i = 0; !r && i < t->args.n; i++)
		r = probearg_add(f, spot, &t->args.at[i], &args, err);
	line.place = keep(l, &place);
	line.args = keep(l, &args);
	if (r)
		return r;
	line.group = group_of(l, f, t);
	line.event = event_of(l, t, spot->name);
	line.words = words_of(l, f, t, line.args);
	vec_add(&l->at, line);
	return 0;
}

static int add_spots(struct probe_file *f, const struct probe_text *t,
	const struct probe_options *o, struct probe_list *l, struct err *err)
{
	struct probe_spots spots;
	unsigned flags = o->flags;
	size_t n_refused = 0;
	struct err why;
	int r;

	if (probetext_needs_variables(t))
		flags |= PROBEPOINT_SKIP_PROLOGUE;
	r = probepoint_find(f, t, flags, &spots, err);
	if (!r && o->most && spots.at.n > o->most)
		r = err_set(err, ERR_LIMIT,
			"'%s' is at %zu places, more than %llu: --max-probes allows more", t->given,
			spots.at.n, (unsigned long long)o->most);
	for (size_t i = 0; !r && i < spots.at.n; i++)
		if (add_spot(f, t, &spots.at.at[i], o, l, &why) && n_refused++ == 0)
			*err = why;
	/* A variable may be optimized out in some of the places: the others are probed. */
	if (!r && n_refused && !l->at.n)
		r = err->code;
	else if (!r && n_refused)
		str_addf(&l->notes, "%zu of %zu places of '%s' are left out: %s\n", n_refused,
			spots.at.n, t->given, err->msg);
	if (!r && spots.line)
		str_addf(&l->notes, "'%s' has no code: the next line that has is %llu\n", t->given,
			(unsigned long long)spots.line);
	probepoints_fini(&spots);
	return r;
}

/* ---- markers ---- */

static int add_marks(struct probe_file *f, const struct probe_text *t, struct probe_list *l,
	struct err *err)
{
	stapnote_list notes = {0};
	int r = 0;

	stapnotes_read(&f->image, f->arch, &notes);
	vec_each(n, &notes) {
		struct probe_line line = {0};
		struct str group = {0}, place = {0}, args = {0};

		if (!stapnote_is(n, t->provider, t->mark))
			continue;
		if (probefile_offset(f, n->address, &line.offset, err)) {
			r = err->code;
			break;
		}
		str_addf(&group, "sdt_%s", n->provider);
		str_addf(&place, "%s:0x%llx", f->path, (unsigned long long)line.offset);
		if (n->semaphore && !probefile_offset(f, n->semaphore, &line.semaphore, err))
			str_addf(&place, "(0x%llx)", (unsigned long long)line.semaphore);
		stapnote_add_args(n, f->arch, &args);
		line.group = t->group ? t->group : keep(l, &group);
		line.event =
			t->event ? t->event : arena_strdup(&l->texts, n->name, strlen(n->name));
		line.place = keep(l, &place);
		line.args = keep(l, &args);
		line.words = words_of(l, f, t, line.args);
		vec_add(&l->at, line);
	}
	if (!r && !l->at.n)
		r = stapnotes_unknown(&notes, f->path, t->provider, t->mark, err);
	vec_fini(&notes);
	return r;
}

/* ---- the kernel, by names alone ---- */

static int add_by_name(const struct probe_text *t, const struct probe_options *o,
	struct probe_list *l, struct err *err)
{
	struct probe_line line = {.is_return = t->is_return};
	struct str place = {0}, args = {0};

	if (!t->function || t->has_line || t->pattern || t->file || probetext_needs_variables(t))
		return err_set(err, ERR_NOENT,
			"lines, files and variables of the kernel need its vmlinux with debug information: install linux-image-$(uname -r)-dbg (kernel-debuginfo), or name it with -k");
	str_addf(&place, "%s%s%s+%llu", o->module ? o->module : "", o->module ? ":" : "",
		t->function, (unsigned long long)t->offset);
	vec_each(a, &t->args) {
		str_addf(&args, " %s%s%s", a->name ? a->name : "", a->name ? "=" : "", a->text);
		if (a->type)
			str_addf(&args, ":%s", a->type);
	}
	line.place = keep(l, &place);
	line.args = keep(l, &args);
	line.group = group_of(l, NULL, t);
	line.event = event_of(l, t, t->function);
	line.words = words_of(l, NULL, t, line.args);
	vec_add(&l->at, line);
	return 0;
}

int probelist_make(struct probe_file *f, const struct probe_text *t, const struct probe_options *o,
	struct probe_list *ret, struct err *err)
{
	memset(ret, 0, sizeof(*ret));
	if (!f)
		return t->mark
			? err_set(err, ERR_INVAL, "'%s': a marker is in a program: name it with -x",
				  t->given)
			: add_by_name(t, o, ret, err);
	return t->mark ? add_marks(f, t, ret, err) : add_spots(f, t, o, ret, err);
}

void probelist_fini(struct probe_list *l)
{
	vec_fini(&l->at);
	str_fini(&l->notes);
	arena_fini(&l->texts);
}

void probeline_add(const struct probe_line *l, const char *event, struct str *text)
{
	str_addf(text, "%c:%s/%s %s%s", l->is_return ? 'r' : 'p', l->group, event, l->place,
		l->args);
}

/* ---- places in words ---- */

/* The line of the function's own source that the address is on; false: no line begins there. */
static bool line_at(Dwarf_Die *unit, Dwarf_Die *code, u64 address, u64 *ret_line)
{
	Dwarf_Die *scopes = NULL;
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	Dwarf_Addr begin;
	int number;
	int n = dwarf_getscopes(unit, address, &scopes);
	bool is_inlined = false;

	if (!line || dwarf_lineaddr(line, &begin) || begin != address ||
		dwarf_lineno(line, &number))
		number = 0;
	*ret_line = (u64)number;
	/* In inlined calls, where the outermost of them is called. */
	for (int i = 0; i < n && scopes[i].addr != code->addr; i++) {
		Dwarf_Word call;

		if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine &&
			dwarf_number(&scopes[i], DW_AT_call_line, &call)) {
			is_inlined = true;
			*ret_line = call;
		}
	}
	free(scopes);
	return number || is_inlined;
}

bool probeline_add_place(struct probe_file *f, u64 offset, bool is_return, struct str *text)
{
	struct probe_text t = {.has_address = true};
	struct probe_spots spots;
	struct probe_spot *spot;
	struct err err;
	const char *file;
	u64 declared, line, entry = 0;
	bool has_file;

	if (!elf_address_of_offset(&f->image, offset, &t.address) ||
		probepoint_find(f, &t, 0, &spots, &err))
		return false;
	spot = &spots.at.at[0];
	if (!spot->symbol) {
		probepoints_fini(&spots);
		return false;
	}
	str_add(text, spot->code.addr ? dwarf_diename(&spot->code) : spot->symbol);
	entry = spot->start;
	if (spot->code.addr)
		(void)dwarf_entrypc(&spot->code, &entry);
	has_file = spot->code.addr && probepoint_declared(&spot->code, &file, &declared);
	if (is_return)
		str_add(text, "%return");
	else if (has_file && t.address != entry &&
		line_at(&spot->unit, &spot->code, t.address, &line) && line >= declared)
		str_addf(text, ":%llu", (unsigned long long)(line - declared));
	else if (t.address != entry)
		str_addf(text, "+%llu", (unsigned long long)(t.address - entry));
	if (has_file)
		str_addf(text, "@%s", file);
	probepoints_fini(&spots);
	return true;
}
