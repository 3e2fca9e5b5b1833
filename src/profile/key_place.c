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

static void print_symbol(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)value;
	const struct profile_symbol *s = symbol_of(h->profile, e);

	char level[] = {'[', mode_letter(s->mode), ']', ' '};

	str_addn(text, level, sizeof(level));
	key_add_symbol(h->profile, s, true, text);
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
		.help = "bytes of code of the function",
		.is_right = true,
		.frame = KEY_SIZE,
		.print = print_symbol_size},
	{.name = "srcline",
		.header = "Source:Line",
		.help = "line of source, or place in the function if it is not known",
		.frame = KEY_LINE,
		.print = print_line},
	{.name = "srcfile",
		.header = "Source File",
		.help = "file of source",
		.frame = KEY_FILE,
		.print = print_file},
};
/* clang-format on */

const struct key_family key_places = {keys, ARRAY_SIZE(keys)};
