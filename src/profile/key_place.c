#include "profile/key_family.h"

#include <string.h>

#include "base/num.h"
#include "event/abi.h"

static const struct profile_symbol *symbol_of(const struct profile *p, const struct hist_entry *e)
{
	return &p->symbols.at[e->symbol];
}

static const char *dso_of(const struct profile *p, const struct hist_entry *e)
{
	return p->dsos.at[symbol_of(p, e)->dso].name;
}

static void print_dso(const struct hist *h, const struct hist_entry *e, u64 value, struct str *text)
{
	(void)value;
	const char *name = dso_of(h->profile, e);

	str_add_safe(text, name, strlen(name));
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
	}
	return '.';
}

void key_add_symbol(const struct profile *p, const struct profile_symbol *s, bool is_padded,
	struct str *text)
{
	(void)p;
	if (s->name) {
		str_add_safe(text, s->name, strlen(s->name));
		if (s->is_inlined)
			str_add(text, " (inlined)");
		return;
	}
	str_add(text, "0x");
	num_add_hex(text, s->start, is_padded ? 16 : 1);
}

void key_add_function(const struct profile *p, u32 symbol, struct str *text)
{
	const struct profile_symbol *s = &p->symbols.at[symbol];
	char level[] = {'[', mode_letter(s->mode), ']', ' '};

	str_addn(text, level, sizeof(level));
	key_add_symbol(p, s, true, text);
}

void key_add_place(const struct profile *p, u32 frame, bool has_offset, struct str *text)
{
	const struct profile_frame *f = &p->frames.at[frame];
	const struct profile_symbol *s = &p->symbols.at[f->symbol];

	str_addf(text, "[%c] ", mode_letter(f->mode));
	if (!s->name) {
		str_add(text, "0x");
		num_add_hex(text, f->at, 16);
		return;
	}
	key_add_symbol(p, s, true, text);
	if (has_offset)
		str_addf(text, "+0x%llx", (unsigned long long)(f->at - s->start));
}

int key_compare_addresses(const struct profile *p, u64 a, u64 b)
{
	const struct profile_frame *x = &p->frames.at[a], *y = &p->frames.at[b];

	return x->at < y->at ? -1 : x->at > y->at;
}

void key_print_place(const struct hist *h, const struct hist_entry *e, u64 frame, struct str *text)
{
	(void)e;
	key_add_place(h->profile, (u32)frame, true, text);
}

void key_print_name(const struct hist *h, const struct hist_entry *e, u64 name, struct str *text)
{
	(void)h;
	(void)e;
	str_add_safe(text, profile_text(name), strlen(profile_text(name)));
}

static void print_symbol(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)value;
	key_add_function(h->profile, e->symbol, text);
}

static void print_source(const char *source, struct str *text)
{
	if (source && *source)
		str_add_safe(text, source, strlen(source));
	else
		str_add(text, "[unknown]");
}

static void print_line(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)value;
	print_source(symbol_of(h->profile, e)->line, text);
}

static void print_file(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)value;
	print_source(symbol_of(h->profile, e)->file, text);
}

static void print_symbol_size(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)value;
	const struct profile_symbol *s = symbol_of(h->profile, e);

	if (s->end > s->start)
		num_add_u64(text, s->end - s->start);
	else
		str_add(text, "unknown");
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

static void print_map_size(const struct hist *h, const struct hist_entry *e, u64 bytes,
	struct str *text)
{
	(void)h;
	(void)e;
	/* Maps of the kernel in old recordings reach to the end of all addresses, or beyond it. */
	if (bytes && bytes <= INT64_MAX)
		num_add_u64(text, bytes);
	else
		str_add(text, "unknown");
}

static void print_address(const struct hist *h, const struct hist_entry *e, u64 address,
	struct str *text)
{
	(void)h;
	(void)e;
	str_addf(text, "0x%llx", (unsigned long long)address);
}

static int compare_parents(const struct profile *p, u64 a, u64 b)
{
	return a && b ? strcmp(p->symbols.at[a].name, p->symbols.at[b].name) : (a != 0) - (b != 0);
}

static void print_parent(const struct hist *h, const struct hist_entry *e, u64 symbol,
	struct str *text)
{
	(void)e;
	if (symbol)
		key_add_symbol(h->profile, &h->profile->symbols.at[symbol], false, text);
	else
		str_add(text, "[other]");
}

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "dso",
		.header = "Shared Object",
		.help = "program, library, module or kernel the code is from",
		.frame = KEY_DSO,
		.print = print_dso},
	{.name = "symbol",
		.alias = "sym",
		.header = "Symbol",
		.help = "function; [k] kernel, [.] user",
		.frame = KEY_SYMBOL,
		.print = print_symbol},
	{.name = "symbol_size",
		.alias = "sym_size",
		.header = "Symbol size",
		.unknown = "unknown",
		.help = "bytes of code of the function",
		.is_right = true,
		.frame = KEY_SIZE,
		.print = print_symbol_size,
		.number = print_symbol_size},
	{.name = "dso_size",
		.header = "DSO size",
		.unknown = "unknown",
		.help = "bytes of the map that the code is in",
		.is_right = true,
		.label = LABEL_MAP_BYTES,
		.print = print_map_size,
		.number = print_map_size},
	{.name = "addr",
		.header = "Address",
		.help = "of the instruction, where it ran",
		.label = LABEL_IP,
		.min_width = 18,
		.print = print_address},
	{.name = "symoff",
		.header = "Symbol Offset",
		.help = "function and the place in it",
		.label = LABEL_FRAME,
		.compare = key_compare_addresses,
		.print = key_print_place},
	{.name = "parent",
		.header = "Parent symbol",
		.unknown = "[other]",
		.help = "nearest caller that -p matches",
		.label = LABEL_PARENT,
		.compare = compare_parents,
		.print = print_parent},
	{.name = "srcline",
		.header = "Source:Line",
		.unknown = "[unknown]",
		.help = "line of source, or place in the function if it is not known",
		.frame = KEY_LINE,
		.print = print_line},
	{.name = "srcfile",
		.header = "Source File",
		.unknown = "[unknown]",
		.help = "file of source",
		.frame = KEY_FILE,
		.print = print_file},
};
/* clang-format on */

const struct key_family key_places = {keys, ARRAY_SIZE(keys)};
