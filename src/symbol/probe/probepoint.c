#include "symbol/probe/probepoint.h"

#include <dwarf.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "symbol/code/source.h"
#include "symbol/name/demangle.h"

enum { DEPTH_MAX = 256, SPOTS_MAX = 4096 };

/* ---- names ---- */

const char *probepoint_name(Dwarf_Die *function)
{
	return dwarf_diename(function);
}

static const char *linkage_of(Dwarf_Die *function)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(function, DW_AT_linkage_name, &a) ||
			dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &a)
		? dwarf_formstring(&a)
		: NULL;
}

bool probepoint_fits(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	if (!strncmp(end, "./", 2))
		return probepoint_fits(path, end + 2);
	return n >= k && !strcmp(path + n - k, end) &&
		(n == k || *end == '/' || path[n - k - 1] == '/');
}

/* Whether a typed name, which may have wildcards, scopes and templates or leave them out, means this function. */
static bool is_called(Dwarf_Die *function, const char *typed)
{
	const char *name = dwarf_diename(function), *linkage;
	struct intern strings = {0};
	bool is_it;
	size_t n;

	if (!name)
		return false;
	n = strcspn(name, "<");
	if (!fnmatch(typed, name, 0) || (n && n == strlen(typed) && !memcmp(name, typed, n)))
		return true;
	/* Most functions are not the one that is looked for: their whole names are made only if it has scopes. */
	if (!strstr(typed, "::") && typed[0] != '_')
		return false;
	linkage = linkage_of(function);
	if (!linkage)
		return false;
	name = demangle(linkage, 0, &strings);
	is_it = !strcmp(linkage, typed) || !fnmatch(typed, name, 0);
	n = strcspn(name, "<");
	is_it |= n == strlen(typed) && !memcmp(name, typed, n);
	intern_fini(&strings);
	return is_it;
}

bool probepoint_declared(Dwarf_Die *function, const char **ret_file, u64 *ret_line)
{
	Dwarf_Attribute a;
	Dwarf_Word line;

	*ret_file = dwarf_decl_file(function);
	if (!*ret_file || !dwarf_attr_integrate(function, DW_AT_decl_line, &a) ||
		dwarf_formudata(&a, &line))
		return false;
	*ret_line = line;
	return true;
}

/* ---- walks ---- */

/* What a walk looks for; `see` returns false to end it. */
struct walk {
	bool (*see)(struct walk *w, Dwarf_Die *unit, Dwarf_Die *function);
	const struct probe_text *text;
	struct probe_file *file;
	struct probe_spots *spots;
	VEC(void *) origins; /* the functions that were meant and may be inlined */
	Dwarf_Die *ret_unit, *ret_function;
	struct nearest near;
	const char *name, *in_file;
	unsigned flags;
	bool is_found; /* the function itself, with code or without */
};

static bool has_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
		tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_module;
}

static bool walk_below(struct walk *w, Dwarf_Die *unit, Dwarf_Die *outer, int depth)
{
	Dwarf_Die at;

	if (depth == DEPTH_MAX || dwarf_child(outer, &at))
		return true;
	do {
		int tag = dwarf_tag(&at);

		if (tag == DW_TAG_subprogram && !w->see(w, unit, &at))
			return false;
		if (has_functions(tag) && !walk_below(w, unit, &at, depth + 1))
			return false;
	} while (!dwarf_siblingof(&at, &at));
	return true;
}

static void walk(struct walk *w)
{
	vec_each(unit, &w->file->units)
		if (!walk_below(w, unit, unit, 0))
			return;
}

/* ---- spots ---- */

static bool entry_of(Dwarf_Die *function, u64 *ret_address)
{
	Dwarf_Addr base, start, end, entry;
	ptrdiff_t next = 0;
	bool is_found = !dwarf_entrypc(function, &entry) && entry;

	*ret_address = entry;
	while (!is_found && (next = dwarf_ranges(function, next, &base, &start, &end)) > 0) {
		*ret_address = start;
		is_found = start < end;
	}
	return is_found;
}

/* The name that an event gets: without templates and the compiler's suffixes. */
static const char *event_name(struct probe_spots *s, Dwarf_Die *function)
{
	const char *name = dwarf_diename(function);

	return name ? arena_strdup(&s->texts, name, strcspn(name, "<.@")) : "probe";
}

static struct probe_spot *add_spot(struct walk *w, Dwarf_Die *unit, Dwarf_Die *function,
	Dwarf_Die *code, u64 address)
{
	struct probe_spot spot = {.address = address,
		.name = event_name(w->spots, function),
		.function = *function,
		.code = *code,
		.unit = *unit};
	const struct symbol *symbol;

	if (w->spots->at.n >= SPOTS_MAX)
		return NULL;
	vec_each(known, &w->spots->at)
		if (known->address == address)
			return NULL;
	symbol = symtab_find(&w->file->symbols, address);
	spot.symbol = symbol ? symbol->name : NULL;
	entry_of(code, &spot.start);
	vec_add(&w->spots->at, spot);
	return &w->spots->at.at[w->spots->at.n - 1];
}

static bool is_in_file(const struct walk *w, Dwarf_Die *function)
{
	const char *file;
	u64 line;

	return !w->in_file ||
		(probepoint_declared(function, &file, &line) && probepoint_fits(file, w->in_file));
}

/* ---- lines ---- */

/* The innermost function, or inlined call, in `outer` that has the address. */
static void find_innermost(Dwarf_Die *outer, u64 address, Dwarf_Die *ret, int depth)
{
	Dwarf_Die at;

	if (depth == DEPTH_MAX || dwarf_child(outer, &at))
		return;
	do {
		int tag = dwarf_tag(&at);

		if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
			dwarf_haspc(&at, address) <= 0)
			continue;
		if (tag == DW_TAG_inlined_subroutine)
			*ret = at;
		find_innermost(&at, address, ret, depth + 1);
		return;
	} while (!dwarf_siblingof(&at, &at));
}

static Dwarf_Lines *lines_of(Dwarf_Die *unit, size_t *ret_n)
{
	Dwarf_Lines *lines;

	return dwarf_getsrclines(unit, &lines, ret_n) ? NULL : lines;
}

/* A row of the line table, if it begins a statement. */
static bool row_at(Dwarf_Lines *lines, size_t i, u64 *ret_address, int *ret_line,
	const char **ret_file)
{
	Dwarf_Line *line = dwarf_onesrcline(lines, i);
	Dwarf_Addr address;
	bool is_statement, is_end;

	if (!line || dwarf_linebeginstatement(line, &is_statement) || !is_statement ||
		dwarf_lineendsequence(line, &is_end) || is_end || dwarf_lineaddr(line, &address) ||
		dwarf_lineno(line, ret_line) || !*ret_line)
		return false;
	*ret_file = dwarf_linesrc(line, NULL, NULL);
	*ret_address = address;
	return *ret_file != NULL;
}

/* What lines are looked for: a number, or a pattern. */
struct wanted {
	const char *file;
	u64 line;            /* the first one, or the only one */
	u64 last;            /* of the function: no line behind it is taken instead; 0: unknown */
	const char *pattern; /* NULL: the line */
	struct source source;
};

static bool fits_pattern(struct wanted *w, int line)
{
	struct str text = {0}, glob = {0};
	size_t n;
	const char *at = source_line(&w->source, (u32)line, &n);
	bool fits;

	for (size_t i = 0; at && i < n; i++)
		if (at[i] != ' ' && at[i] != '\t')
			str_addc(&text, at[i]);
	for (const char *p = w->pattern; *p; p++)
		if (*p != ' ' && *p != '\t')
			str_addc(&glob, *p);
	fits = at && !fnmatch(str_text(&glob), str_text(&text), 0);
	str_fini(&text);
	str_fini(&glob);
	return fits;
}

/*
 * The lowest line, or address, from `from` on, of the rows of a file (NULL: any) with code in `code` (addr NULL: anywhere in the
 * unit); 0: none.
 */
static u64 lowest_row(Dwarf_Die *unit, Dwarf_Die *code, const char *of_file, bool by_address,
	u64 from)
{
	size_t n = 0;
	Dwarf_Lines *lines = lines_of(unit, &n);
	u64 best = 0, address;
	const char *file;
	int line;

	for (size_t i = 0; lines && i < n; i++) {
		if (!row_at(lines, i, &address, &line, &file))
			continue;
		const u64 at = by_address ? address : (u64)line;

		if (at >= from && (!best || at < best) &&
			(!of_file || probepoint_fits(file, of_file)) &&
			(!code->addr || dwarf_haspc(code, address) > 0))
			best = at;
	}
	return best;
}

/* The function that has the address: the one with code. */
static bool code_around(Dwarf_Die *outer, u64 address, Dwarf_Die *ret, int depth)
{
	Dwarf_Die at;

	if (depth == DEPTH_MAX || dwarf_child(outer, &at))
		return false;
	do {
		int tag = dwarf_tag(&at);

		if (tag == DW_TAG_subprogram && dwarf_haspc(&at, address) > 0) {
			*ret = at;
			return true;
		}
		if (has_functions(tag) && code_around(&at, address, ret, depth + 1))
			return true;
	} while (!dwarf_siblingof(&at, &at));
	return false;
}

/* Adds a spot for the line in each function and inlined call that has it: where it begins. */
static void add_line(struct walk *w, Dwarf_Die *unit, struct wanted *want, Dwarf_Die *function,
	Dwarf_Die *code)
{
	size_t n = 0, first = w->spots->at.n;
	Dwarf_Lines *lines = lines_of(unit, &n);
	u64 address;
	const char *file;
	int line;

	for (size_t i = 0; lines && i < n; i++) {
		struct probe_spot *known = NULL;
		Dwarf_Die its_code, innermost;

		if (!row_at(lines, i, &address, &line, &file) ||
			!probepoint_fits(file, want->file) ||
			(want->pattern ? !fits_pattern(want, line) : (u64)line != want->line) ||
			(function && dwarf_haspc(function, address) <= 0))
			continue;
		if (code)
			its_code = *code;
		else if (!code_around(unit, address, &its_code, 0))
			continue;
		innermost = its_code;
		find_innermost(&its_code, address, &innermost, 0);
		/* A line may be several pieces of one function's code: the probe is where it begins. */
		for (size_t k = first; k < w->spots->at.n && !want->pattern; k++)
			if (w->spots->at.at[k].function.addr ==
					(function ? function : &innermost)->addr ||
				(!function && w->spots->at.at[k].code.addr == its_code.addr &&
					innermost.addr == its_code.addr))
				known = &w->spots->at.at[k];
		if (known) {
			if (address < known->address)
				known->address = address;
			continue;
		}
		known = add_spot(w, unit, function ? function : &innermost, &its_code, address);
		if (known)
			known->name = event_name(w->spots, function ? function : &its_code);
	}
}

static void take_line(struct walk *w, Dwarf_Die *unit, Dwarf_Die *function, Dwarf_Die *code)
{
	const struct probe_text *t = w->text;
	struct wanted want = {.pattern = t->pattern};
	u64 declared, found;

	if (!probepoint_declared(function, &want.file, &declared))
		return;
	want.line = declared + t->line;
	if (t->pattern) {
		source_open(&want.source, &(struct source_places){.symfs = ""}, NULL, want.file, 0);
	} else {
		found = lowest_row(unit, function, want.file, false, want.line);
		if (!found)
			return;
		if (found != want.line)
			w->spots->line = found - declared;
		want.line = found;
	}
	add_line(w, unit, &want, function, code);
	if (t->pattern)
		source_close(&want.source);
}

/* ---- functions ---- */

/* Whether variables are only in the frame, where they are from behind the prologue on: compiled with -O0. */
static bool is_unoptimized(Dwarf_Die *function)
{
	Dwarf_Die at;
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_child(function, &at))
		return false;
	do {
		int tag = dwarf_tag(&at);

		if ((tag != DW_TAG_formal_parameter && tag != DW_TAG_variable) ||
			!dwarf_attr(&at, DW_AT_location, &a))
			continue;
		return !dwarf_getlocation(&a, &ops, &n) && n && ops[0].atom == DW_OP_fbreg;
	} while (!dwarf_siblingof(&at, &at));
	return false;
}

static void take_place(struct walk *w, Dwarf_Die *unit, Dwarf_Die *function, Dwarf_Die *code)
{
	struct probe_spot *spot;
	u64 entry;

	if (w->text->has_line || w->text->pattern) {
		take_line(w, unit, function, code);
		return;
	}
	if (!entry_of(function, &entry))
		return;
	spot = add_spot(w, unit, function, code, entry + w->text->offset);
	if (!spot)
		return;
	spot->is_entry = !w->text->offset && function->addr == code->addr;
	if (spot->is_entry && (w->flags & PROBEPOINT_SKIP_PROLOGUE) && !w->text->has_offset &&
		is_unoptimized(function)) {
		/* The second row of a function's lines is behind its prologue. */
		const u64 behind = lowest_row(unit, function, NULL, true, entry + 1);

		spot->address = behind ? behind : entry;
		spot->is_entry = !behind;
	}
}

static bool see_function(struct walk *w, Dwarf_Die *unit, Dwarf_Die *function)
{
	u64 entry;

	if (!is_called(function, w->name) || !is_in_file(w, function))
		return true;
	w->is_found = true;
	if (dwarf_hasattr(function, DW_AT_inline))
		vec_add(&w->origins, function->addr);
	if (entry_of(function, &entry))
		take_place(w, unit, function, function);
	return true;
}

static bool is_origin(const struct walk *w, Dwarf_Die *call)
{
	Dwarf_Attribute a;
	Dwarf_Die origin;

	if (!dwarf_attr(call, DW_AT_abstract_origin, &a) || !dwarf_formref_die(&a, &origin))
		return false;
	vec_each(o, &w->origins)
		if (*o == origin.addr)
			return true;
	return false;
}

static void see_calls(struct walk *w, Dwarf_Die *unit, Dwarf_Die *code, Dwarf_Die *outer, int depth)
{
	Dwarf_Die at;

	if (depth == DEPTH_MAX || dwarf_child(outer, &at))
		return;
	do {
		int tag = dwarf_tag(&at);

		if (tag == DW_TAG_inlined_subroutine && is_origin(w, &at))
			take_place(w, unit, &at, code);
		if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block)
			see_calls(w, unit, code, &at, depth + 1);
	} while (!dwarf_siblingof(&at, &at));
}

static bool see_calls_in(struct walk *w, Dwarf_Die *unit, Dwarf_Die *function)
{
	see_calls(w, unit, function, function, 0);
	return true;
}

static bool offer_name(struct walk *w, Dwarf_Die *unit, Dwarf_Die *function)
{
	const char *name = dwarf_diename(function);

	(void)unit;
	if (name)
		nearest_offer(&w->near, name);
	return true;
}

int probepoint_unknown(struct probe_file *f, const char *name, struct err *err)
{
	struct walk w = {.see = offer_name, .file = f, .near = {.typed = name}};
	struct str hint = {0};

	walk(&w);
	vec_each(s, &f->names)
		nearest_offer(&w.near, s->name);
	nearest_add_hint(&w.near, &hint);
	err_set(err, ERR_NOENT, "'%s' has no function '%s'%s", f->path, name, str_text(&hint));
	str_fini(&hint);
	return err->code;
}

static bool see_first(struct walk *w, Dwarf_Die *unit, Dwarf_Die *function)
{
	const char *file;
	u64 line;

	if (!is_called(function, w->name) || !is_in_file(w, function) ||
		!probepoint_declared(function, &file, &line))
		return true;
	*w->ret_unit = *unit;
	*w->ret_function = *function;
	w->is_found = true;
	/* Another unit may have just a declaration. */
	return dwarf_hasattr(function, DW_AT_declaration) != 0;
}

bool probepoint_function(struct probe_file *f, const char *name, const char *file,
	Dwarf_Die *ret_unit, Dwarf_Die *ret_function)
{
	struct walk w = {.see = see_first,
		.file = f,
		.name = name,
		.in_file = file,
		.ret_unit = ret_unit,
		.ret_function = ret_function};

	walk(&w);
	return w.is_found;
}

/* ---- the place ---- */

/* Without debug information, or where it does not know the function. */
static int find_by_symbol(struct walk *w, struct err *err)
{
	const struct probe_text *t = w->text;
	bool is_glob = strpbrk(t->function, "*?[") != NULL;

	if (t->has_line || t->pattern)
		return w->file->dwarf ? probepoint_unknown(w->file, t->function, err)
				      : probefile_needs_debug(w->file, "a line", err);
	vec_each(s, &w->file->symbols.symbols) {
		const struct symbol *named = is_glob ? s : probefile_symbol(w->file, t->function);
		struct probe_spot spot = {0};

		if (!named)
			break;
		if (is_glob && (named->is_plt || fnmatch(t->function, named->name, 0)))
			continue;
		spot.address = named->start + t->offset;
		spot.start = named->start;
		spot.symbol = named->name;
		spot.name = arena_strdup(&w->spots->texts, named->name, strcspn(named->name, ".@"));
		spot.is_entry = !t->offset;
		if (w->spots->at.n < SPOTS_MAX)
			vec_add(&w->spots->at, spot);
		if (!is_glob)
			break;
	}
	return w->spots->at.n ? 0 : probepoint_unknown(w->file, t->function, err);
}

static int find_function(struct walk *w, struct err *err)
{
	const struct probe_text *t = w->text;

	w->see = see_function;
	w->name = t->function;
	w->in_file = t->file;
	walk(w);
	if (w->origins.n && !(w->flags & PROBEPOINT_NO_INLINES) && !t->is_return &&
		!t->has_offset) {
		w->see = see_calls_in;
		walk(w);
	}
	if (w->spots->at.n)
		return 0;
	if (!w->is_found)
		return t->file ? err_set(err, ERR_NOENT, "'%s' has no function '%s' in a file '%s'",
					 w->file->path, t->function, t->file)
			       : find_by_symbol(w, err);
	if (t->pattern)
		return err_set(err, ERR_NOENT, "no line of '%s' with code fits '%s'", t->function,
			t->pattern);
	if (t->has_line)
		return err_set(err, ERR_NOENT, "'%s' has no code on line %llu or behind it",
			t->function, (unsigned long long)t->line);
	if (w->origins.n)
		return err_set(err, ERR_NOENT,
			"'%s' is inlined everywhere: there is no function to %s", t->function,
			t->is_return ? "return from" : "probe");
	/* Only declared here: its symbol may lead to code without debug information. */
	return find_by_symbol(w, err);
}

static int find_in_file(struct walk *w, struct err *err)
{
	const struct probe_text *t = w->text;
	struct wanted want = {.file = t->file, .line = t->line, .pattern = t->pattern};
	u64 best = 0;

	if (!w->file->dwarf)
		return probefile_needs_debug(w->file, "a line", err);
	if (t->pattern) {
		vec_each(unit, &w->file->units) {
			const char *name = dwarf_diename(unit);
			Dwarf_Attribute a;
			const char *dir =
				dwarf_attr(unit, DW_AT_comp_dir, &a) ? dwarf_formstring(&a) : NULL;

			if (!name || !probepoint_fits(name, t->file))
				continue;
			source_open(&want.source, &(struct source_places){.symfs = ""}, dir, name,
				0);
			add_line(w, unit, &want, NULL, NULL);
			source_close(&want.source);
		}
	} else {
		vec_each(unit, &w->file->units) {
			u64 line = lowest_row(unit, &(Dwarf_Die){0}, want.file, false, want.line);

			if (line && (!best || line < best))
				best = line;
		}
		if (best != t->line)
			w->spots->line = best;
		want.line = best;
		vec_each(unit, &w->file->units)
			if (best)
				add_line(w, unit, &want, NULL, NULL);
	}
	return w->spots->at.n
		? 0
		: err_set(err, ERR_NOENT, "'%s' has no code on that line of '%s', or behind it",
			  w->file->path, t->file);
}

static int find_address(struct walk *w, struct err *err)
{
	const struct symbol *symbol = symtab_find(&w->file->symbols, w->text->address);
	struct probe_spot spot = {.address = w->text->address};
	char name[32];

	snprintf(name, sizeof(name), "abs_%llx", (unsigned long long)w->text->address);
	spot.name = arena_strdup(&w->spots->texts, name, strlen(name));
	spot.symbol = symbol ? symbol->name : NULL;
	spot.start = symbol ? symbol->start : 0;
	vec_each(unit, &w->file->units)
		if (code_around(unit, spot.address, &spot.code, 0)) {
			spot.unit = *unit;
			spot.function = spot.code;
			break;
		}
	(void)err;
	vec_add(&w->spots->at, spot);
	return 0;
}

int probepoint_find(struct probe_file *f, const struct probe_text *t, unsigned flags,
	struct probe_spots *ret, struct err *err)
{
	struct walk w = {.text = t, .file = f, .spots = ret, .flags = flags};
	int r;

	memset(ret, 0, sizeof(*ret));
	if (t->has_address)
		r = find_address(&w, err);
	else if (!t->function)
		r = find_in_file(&w, err);
	else
		r = f->dwarf ? find_function(&w, err) : find_by_symbol(&w, err);
	vec_fini(&w.origins);
	return r;
}

void probepoints_fini(struct probe_spots *s)
{
	vec_fini(&s->at);
	arena_fini(&s->texts);
}
