#include "profile/rows/key_family.h"

#include <string.h>

#include "event/abi.h"
#include "machine/dso.h"

static const struct profile_symbol *symbol_of(const struct profile *p, const struct hist_entry *e)
{
	return &p->symbols.at[e->symbol];
}

static void cell_of_dso(const struct key_value *v, struct cell *ret)
{
	const struct profile *p = v->hist->profile;
	const struct profile_dso *dso = &p->dsos.at[symbol_of(p, v->entry)->dso];

	cell_text(ret, v->hist->options->is_verbose ? dso->path : dso->name);
}

static char mode_letter(u8 mode)
{
	switch (mode) {
	case PERF_RECORD_MISC_KERNEL:
		return 'k';
	case PERF_RECORD_MISC_HYPERVISOR:
		return 'H';
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return 'g';
	case PERF_RECORD_MISC_GUEST_USER:
		return 'u';
	case PROFILE_NO_MODE:
		return 0;
	}
	return '.';
}

void key_add_symbol(const struct profile_symbol *s, struct str *text)
{
	struct cell cell = {0};

	key_set_function(s, CELL_FUNCTION, &cell);
	cell_add_data(&cell, text);
}

void key_set_function(const struct profile_symbol *s, enum cell_kind kind, struct cell *ret)
{
	ret->kind = kind;
	ret->level = mode_letter(s->mode);
	ret->text = s->name;
	ret->n = s->start;
	ret->spans = s->name && s->is_inlined ? CELL_IS_INLINED : 0;
}

int key_compare_addresses(const struct profile *p, u64 a, u64 b)
{
	const struct profile_frame *x = &p->frames.at[a], *y = &p->frames.at[b];

	return x->at < y->at ? -1 : x->at > y->at;
}

void key_cell_place(const struct key_value *v, struct cell *ret)
{
	const struct profile *p = v->hist->profile;
	const struct profile_frame *f = &p->frames.at[v->label];
	const struct profile_symbol *s = &p->symbols.at[f->symbol];

	key_set_function(s, CELL_PLACE, ret);
	ret->level = mode_letter(f->mode);
	ret->n = f->at;
	ret->has_offset = true;
	ret->offset = f->at - s->start;
}

void key_cell_name(const struct key_value *v, struct cell *ret)
{
	cell_text(ret, profile_text(v->label));
}

/* Where a function's name comes from, in the letters that perf has for it. */
static char origin_letter(const struct profile *p, const struct profile_symbol *s)
{
	switch (profile_is_named(s) ? (enum dso_kind)p->dsos.at[s->dso].kind : DSO_UNKNOWN) {
	case DSO_FILE:
	case DSO_VDSO:
		return 'd';
	case DSO_KERNEL:
	case DSO_MODULE:
	case DSO_BPF:
		return 'k';
	case DSO_JIT:
	case DSO_JITDUMP:
		return 'j';
	case DSO_UNKNOWN:
	case DSO_NONE:
		break;
	}
	return '!';
}

static void cell_of_symbol(const struct key_value *v, struct cell *ret)
{
	const struct profile *p = v->hist->profile;
	const struct profile_symbol *s = symbol_of(p, v->entry);

	key_set_function(s, CELL_FUNCTION, ret);
	if (!v->hist->addresses)
		return;
	ret->origin = origin_letter(p, s);
	ret->offset = v->hist->addresses[profile_function(p, v->entry->symbol)];
	if (ret->offset == UINT64_MAX)
		ret->offset = s->start;
}

static void set_source(const char *source, struct cell *ret)
{
	if (source && *source)
		cell_text(ret, source);
	else
		cell_unknown(ret, CELL_NOT_KNOWN);
}

static void cell_of_line(const struct key_value *v, struct cell *ret)
{
	set_source(symbol_of(v->hist->profile, v->entry)->line, ret);
}

static void cell_of_file(const struct key_value *v, struct cell *ret)
{
	set_source(symbol_of(v->hist->profile, v->entry)->file, ret);
}

static void cell_of_symbol_size(const struct key_value *v, struct cell *ret)
{
	const struct profile_symbol *s = symbol_of(v->hist->profile, v->entry);

	if (s->end > s->start)
		cell_number(ret, CELL_SIZE, s->end - s->start);
	else
		cell_unknown(ret, CELL_NOT_KNOWN);
}

u64 key_dso_of(const struct profile *p, u64 frame)
{
	return (u64)(uintptr_t)p->dsos.at[p->frames.at[frame].dso].name;
}

u64 key_function_of(const struct profile *p, u64 frame)
{
	return profile_frame_function(p, (u32)frame);
}

u64 key_line_of(const struct profile *p, u64 frame)
{
	return (u64)(uintptr_t)p->symbols.at[p->frames.at[frame].symbol].line;
}

int key_compare_functions(const struct profile *p, u64 a, u64 b)
{
	const struct profile_symbol *x = &p->symbols.at[a], *y = &p->symbols.at[b];
	int c = x->name && y->name ? strcmp(x->name, y->name) : !x->name - !y->name;

	return c ? c : x->start < y->start ? -1 : x->start > y->start;
}

int key_compare_texts(const struct profile *p, u64 a, u64 b)
{
	(void)p;
	return strcmp(a ? profile_text(a) : "", b ? profile_text(b) : "");
}

static void cell_of_map_size(const struct key_value *v, struct cell *ret)
{
	/* In old recordings, maps of the kernel reach to the end of the address space or beyond. */
	if (v->label && v->label <= INT64_MAX)
		cell_number(ret, CELL_SIZE, v->label);
	else
		cell_unknown(ret, CELL_NOT_KNOWN);
}

static void cell_of_address(const struct key_value *v, struct cell *ret)
{
	cell_number(ret, CELL_ADDRESS, v->label);
}

static int compare_parents(const struct profile *p, u64 a, u64 b)
{
	return a && b ? strcmp(p->symbols.at[a].name, p->symbols.at[b].name) : (a != 0) - (b != 0);
}

static void cell_of_parent(const struct key_value *v, struct cell *ret)
{
	if (!v->label) {
		cell_unknown(ret, CELL_NOT_KNOWN);
		return;
	}
	key_set_function(&v->hist->profile->symbols.at[v->label], CELL_PLACE, ret);
	ret->level = 0;
}

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "dso",
		.title = "Shared Object",
		.help = "program, library, module or kernel that contains the code",
		.frame = KEY_DSO,
		.kind = CELL_TEXT,
		.cell = cell_of_dso},
	{.name = "symbol",
		.alias = "sym",
		.title = "Symbol",
		.help = "function; [k] kernel, [.] user",
		.frame = KEY_SYMBOL,
		.kind = CELL_FUNCTION,
		.cell = cell_of_symbol},
	{.name = "symbol_size",
		.alias = "sym_size",
		.title = "Symbol size",
		.help = "size of the function's code in bytes",
		.frame = KEY_SIZE,
		.kind = CELL_SIZE,
		.cell = cell_of_symbol_size},
	{.name = "dso_size",
		.title = "DSO size",
		.help = "size in bytes of the map that contains the code",
		.label = LABEL_MAP_BYTES,
		.kind = CELL_SIZE,
		.cell = cell_of_map_size},
	{.name = "addr",
		.title = "Address",
		.help = "address of the instruction in its process",
		.label = LABEL_IP,
		.kind = CELL_ADDRESS,
		.cell = cell_of_address},
	{.name = "symoff",
		.title = "Symbol Offset",
		.help = "function and offset",
		.label = LABEL_FRAME,
		.compare = key_compare_addresses,
		.kind = CELL_PLACE,
		.cell = key_cell_place},
	{.name = "parent",
		.title = "Parent symbol",
		.help = "nearest caller that -p matches",
		.label = LABEL_PARENT,
		.compare = compare_parents,
		.kind = CELL_PLACE,
		.cell = cell_of_parent},
	{.name = "srcline",
		.title = "Source:Line",
		.help = "source line, or offset in the function if the line is not known",
		.frame = KEY_LINE,
		.kind = CELL_TEXT,
		.cell = cell_of_line},
	{.name = "srcfile",
		.title = "Source File",
		.help = "source file",
		.frame = KEY_FILE,
		.kind = CELL_TEXT,
		.cell = cell_of_file},
};
/* clang-format on */

const struct key_family key_places = {"code", keys, ARRAY_SIZE(keys)};
