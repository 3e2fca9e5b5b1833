#include "symbol/dwarf/golines.h"

#include <stdlib.h>

#include "base/search.h"
#include "symbol/go/gosteps.h"

enum {
	UNIT_FUNCTIONS = 16, /* how many are read together */
	STEPS_MAX = 1 << 20, /* per function */
	CALLS_MAX = 1 << 16, /* inlined calls per function */
	INLINED_INDEX = 2, /* in a function's list of step tables: the index of the inlined call */
	INLINED_TREE = 3   /* in a function's list of data */
};

/* The function lacks this data. */
#define DATA_NONE UINT32_MAX

struct golines {
	const struct elf *elf;
	struct gotab table;
};

/* ---- one function ---- */

/* A value that is valid from here to the next step. */
struct step {
	u64 from;
	s32 value; /* -1: none */
};

typedef VEC(struct step) step_list;

struct function {
	const struct golines *g;
	struct gotab_function is;
	u32 unit; /* index of its first file in the table of units */
	step_list files, lines,
		inlined; /* inlined: index of a call, -1 for the function's own code */
	u64 tree;        /* address of the calls; 0: unknown */
	u32 *scopes;     /* by call; 0: not added yet */
	u32 n_calls;
	struct lineindex_maker *m;
};

static void read_steps(const struct function *f, u32 at, step_list *ret)
{
	struct gosteps steps = gosteps_of(&f->g->table, &f->is, at);

	while (ret->n < STEPS_MAX && gosteps_next(&steps))
		vec_add(ret, ((struct step){steps.from, steps.value}));
	vec_add(ret, ((struct step){steps.to, -1}));
}

/* Returns -1 if there is none. */
static s32 value_at(const step_list *steps, u64 va)
{
	size_t i = search_behind(&steps->at[0].from, steps->n, sizeof(*steps->at), va);

	return i ? steps->at[i - 1].value : -1;
}

static bool skip_numbers(struct bytes *b, u32 n)
{
	return bytes_skip(b, (u64)n * sizeof(u32));
}

/* Number i of the n that follow, or `none` if there are fewer. */
static u32 number_of(struct bytes b, u32 n, u32 i, u32 none)
{
	u32 v;

	return i < n && skip_numbers(&b, i) && bytes_u32(&b, &v) ? v : none;
}

/* Returns false if the function has no lines. */
static bool read_function(struct function *f)
{
	const struct gotab *table = &f->g->table;
	struct bytes b = f->is.description;
	u32 files, lines, n_steps, tree;
	u8 n_data;

	/*
	 * Skips the size of the arguments, the address where deferred calls return to, and the depths of the
	 * stack.
	 */
	if (!skip_numbers(&b, 3) || !bytes_u32(&b, &files) || !bytes_u32(&b, &lines) ||
		!bytes_u32(&b, &n_steps) || !bytes_u32(&b, &f->unit) ||
		(table->version == GOTAB_1_20 && !skip_numbers(&b, 1)) || !bytes_skip(&b, 3) ||
		!bytes_u8(&b, &n_data))
		return false;
	read_steps(f, files, &f->files);
	read_steps(f, lines, &f->lines);
	read_steps(f, number_of(b, n_steps, INLINED_INDEX, 0), &f->inlined);
	tree = skip_numbers(&b, n_steps) ? number_of(b, n_data, INLINED_TREE, DATA_NONE)
					 : DATA_NONE;
	if (table->data && tree != DATA_NONE)
		f->tree = table->data + tree;
	return true;
}

static void function_fini(struct function *f)
{
	vec_fini(&f->files);
	vec_fini(&f->lines);
	vec_fini(&f->inlined);
	mem_free(f->scopes);
}

/* ---- lines ---- */

/* NULL: unknown. */
static const char *file_of(const struct function *f, s32 number)
{
	struct bytes b = gotab_part(&f->g->table, GOTAB_UNITS, (u64)f->unit * sizeof(u32));
	const char *name;
	size_t size;
	u32 at;

	if (number < 0 || !skip_numbers(&b, (u32)number) || !bytes_u32(&b, &at))
		return NULL;
	b = gotab_part(&f->g->table, GOTAB_FILES, at);
	return bytes_cstr(&b, &name, &size) && size ? name : NULL;
}

static u16 file_at(const struct function *f, u64 va)
{
	return lineindex_file(f->m, file_of(f, value_at(&f->files, va)));
}

static u32 line_at(const struct function *f, u64 va)
{
	s32 line = value_at(&f->lines, va);

	return line < 0 ? 0 : (u32)line;
}

static void add_rows(const struct function *f)
{
	const struct step *file = f->files.at, *line = f->lines.at;
	const struct step *file_end = file + f->files.n, *line_end = line + f->lines.n;

	while (file < file_end || line < line_end) {
		u64 from = MIN(file < file_end ? file->from : UINT64_MAX,
			line < line_end ? line->from : UINT64_MAX);

		file += file < file_end && file->from == from;
		line += line < line_end && line->from == from;
		lineindex_add_row(f->m,
			&(struct lineindex_maker_row){.address = from,
				.file = file_at(f, from),
				.line = line_at(f, from)});
	}
}

/* ---- inlined functions ---- */

/* An inlined call: the function, and an address in the caller at the place of the call. */
struct call {
	const char *name;
	u64 caller;
};

static bool read_call(const struct function *f, u32 i, struct call *ret)
{
	bool is_old = f->g->table.version == GOTAB_1_18;
	u32 size = is_old ? 20 : 16, name, caller;
	const u8 *there = elf_bytes_at(f->g->elf, f->tree + (u64)i * size, size);
	struct bytes b = bytes_of(there, there ? size : 0);

	b.swap = f->g->elf->swap;
	/* Old format: parent, kind, file, line, name; new format: kind, name. */
	if (!bytes_skip(&b, is_old ? 12 : 4) || !bytes_u32(&b, &name) || !bytes_u32(&b, &caller))
		return false;
	*ret = (struct call){gotab_name(&f->g->table, name), f->is.start + caller};
	return ret->name && ret->caller < f->is.end;
}

static u32 add_scope(const struct function *f, const struct lineindex_scope *scope)
{
	vec_add(&f->m->scopes, *scope);
	return f->m->scopes.n;
}

/*
 * Returns the scope of an inlined call, + 1, and adds those that contain it; `own` for the function's own
 * code, and for malformed calls.
 */
static u32 scope_of(struct function *f, s32 number, u32 own, unsigned depth)
{
	struct lineindex_scope scope = {0};
	struct call call;
	u32 *known;

	if (number < 0 || (u32)number >= f->n_calls || depth == LINE_DEPTH_MAX)
		return own;
	known = &f->scopes[number];
	if (*known)
		return *known;
	*known = own;
	if (!read_call(f, (u32)number, &call))
		return own;
	scope.parent = scope_of(f, value_at(&f->inlined, call.caller), own, depth + 1);
	scope.name = lineindex_text(&f->m->names, call.name);
	scope.call_file = file_at(f, call.caller);
	scope.call_line = line_at(f, call.caller);
	return *known = add_scope(f, &scope);
}

static void add_scopes(struct function *f)
{
	u32 own = add_scope(f,
		&(struct lineindex_scope){.name = lineindex_text(&f->m->names, f->is.name)});

	/* After the last line there is only padding. */
	vec_add(&f->m->ranges,
		((struct range){f->is.start, f->lines.at[f->lines.n - 1].from, own}));
	vec_each(step, &f->inlined)
		if (step->value >= 0 && step->value < CALLS_MAX)
			f->n_calls = MAX(f->n_calls, (u32)step->value + 1);
	if (!f->tree || !f->n_calls)
		return;
	f->scopes = mem_zalloc(f->n_calls * sizeof(*f->scopes));
	for (size_t i = 0; i + 1 < f->inlined.n; i++) {
		const struct step *step = &f->inlined.at[i];
		u32 scope = scope_of(f, step->value, own, 0);

		if (scope != own && step[1].from > step->from)
			vec_add(&f->m->ranges, ((struct range){step->from, step[1].from, scope}));
	}
}

/* ---- units ---- */

void golines_read(const struct golines *g, u64 entry, struct lineindex_maker *m)
{
	m->flags |= LINEINDEX_HAS_SCOPES;
	for (u64 i = entry; i < entry + UNIT_FUNCTIONS; i++) {
		struct function f = {.g = g, .m = m};

		if (!gotab_function(&g->table, i, &f.is))
			return;
		if (f.is.name && f.is.start < f.is.end && read_function(&f)) {
			add_rows(&f);
			add_scopes(&f);
		}
		function_fini(&f);
	}
}

void golines_list(const struct golines *g, dwarf_units *units, range_list *ranges)
{
	for (u64 i = 0; i < g->table.n; i += UNIT_FUNCTIONS) {
		struct gotab_function first, last;

		if (!gotab_function(&g->table, i, &first) ||
			!gotab_function(&g->table, MIN(i + UNIT_FUNCTIONS, g->table.n) - 1, &last))
			return;
		vec_add(units, ((struct dwarf_unit){.entry = i, .bytes = last.end - first.start}));
		vec_add(ranges, ((struct range){first.start, last.end, units->n}));
	}
}

struct golines *golines_open(const struct elf *elf)
{
	struct golines *g = mem_zalloc(sizeof(*g));

	g->elf = elf;
	if (gotab_open(&g->table, elf) && g->table.version != GOTAB_1_2)
		return g;
	mem_free(g);
	return NULL;
}

void golines_close(struct golines *g)
{
	mem_free(g);
}
