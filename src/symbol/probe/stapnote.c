#include "symbol/probe/stapnote.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/nearest.h"

enum { STAPSDT_TYPE = 3 };

/* The contents of one note. base: where .stapsdt.base is, which prelink and the like move; 0: unknown. */
static void take_note(struct bytes desc, u8 word, u64 base, stapnote_list *ret)
{
	struct stapnote n;
	u64 recorded_base;
	size_t length;

	if (!bytes_word(&desc, word, &n.address) || !bytes_word(&desc, word, &recorded_base) ||
		!bytes_word(&desc, word, &n.semaphore) ||
		!bytes_cstr(&desc, &n.provider, &length) || !bytes_cstr(&desc, &n.name, &length) ||
		!bytes_cstr(&desc, &n.args, &length))
		return;
	if (base && recorded_base) {
		n.address += base - recorded_base;
		n.semaphore += n.semaphore ? base - recorded_base : 0;
	}
	vec_add(ret, n);
}

void stapnotes_read(const struct elf *elf, const struct arch *arch, stapnote_list *ret)
{
	const struct elf_section *s = elf_section(elf, ".note.stapsdt");
	const struct elf_section *base = elf_section(elf, ".stapsdt.base");
	struct bytes b;

	if (!s || !arch || !elf_contents(elf, s, &b))
		return;
	while (bytes_left(&b)) {
		u32 name_size, desc_size, type;
		const void *name, *desc;
		struct bytes inside;

		if (!bytes_u32(&b, &name_size) || !bytes_u32(&b, &desc_size) ||
			!bytes_u32(&b, &type) ||
			!bytes_take(&b, ((u64)name_size + 3) & ~3ull, &name) ||
			!bytes_take(&b, desc_size, &desc))
			return;
		(void)bytes_skip(&b, -(u64)desc_size & 3);
		inside = bytes_of(desc, desc_size);
		inside.swap = b.swap;
		if (type == STAPSDT_TYPE && name_size == 8 && !memcmp(name, "stapsdt", 8))
			take_note(inside, arch->word, base ? base->addr : 0, ret);
	}
}

bool stapnote_is(const struct stapnote *n, const char *provider, const char *name)
{
	return (!provider || !fnmatch(provider, n->provider, 0)) && !fnmatch(name, n->name, 0);
}

int stapnotes_unknown(const stapnote_list *notes, const char *path, const char *provider,
	const char *name, struct err *err)
{
	struct nearest near = {0};
	struct intern names = {0};
	struct str typed = {0}, hint = {0};

	str_addf(&typed, "%s%s%s", provider ? provider : "", provider ? ":" : "", name);
	near.typed = str_text(&typed);
	vec_each(n, notes) {
		char full[256];

		snprintf(full, sizeof(full), "%s%s%s", provider ? n->provider : "",
			provider ? ":" : "", n->name);
		nearest_offer(&near, intern_str(&names, full));
	}
	nearest_add_hint(&near, &hint);
	if (notes->n)
		err_set(err, ERR_NOENT, "'%s' has no marker '%s'%s", path, str_text(&typed),
			str_text(&hint));
	else
		err_set(err, ERR_NOENT,
			"'%s' has no markers: it was built without <sys/sdt.h> and its DTRACE_PROBE",
			path);
	str_fini(&typed);
	str_fini(&hint);
	intern_fini(&names);
	return err->code;
}

/* ---- arguments ---- */

/* The kernel's name of a register of x86 of any width: %eax and %al are ax, %r8d is r8. */
static bool add_x86_register(const char *at, size_t n, struct str *text)
{
	static const char *const lettered[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"};

	if (n < 2 || *at++ != '%')
		return false;
	n--;
	if (n >= 2 && at[0] == 'r' && isdigit((unsigned char)at[1])) {
		while (n && strchr("dwb", at[n - 1]))
			n--;
		str_addf(text, "%%%.*s", (int)n, at);
		return true;
	}
	if (n == 3 && (*at == 'r' || *at == 'e')) {
		at++;
		n--;
	}
	for (size_t i = 0; i < ARRAY_SIZE(lettered); i++) {
		const char *l = lettered[i];
		bool is_low = at[n - 1] == 'l' && at[0] == l[0] &&
			(n == 2 ? l[1] == 'x' : at[1] == l[1] && l[1] != 'x');

		if ((n == 2 && !memcmp(at, l, 2)) || ((n == 2 || n == 3) && is_low)) {
			str_addf(text, "%%%s", l);
			return true;
		}
	}
	return false;
}

/* $5, %rax, -20(%rbp), (%rax) */
static bool add_x86(const char *at, size_t n, struct str *text)
{
	char *end;
	s64 offset;

	if (*at == '$') {
		str_addf(text, "\\%.*s", (int)n - 1, at + 1);
		return isdigit((unsigned char)at[1]) || at[1] == '-';
	}
	if (*at == '%')
		return add_x86_register(at, n, text);
	offset = strtoll(at, &end, 0);
	if (*end != '(' || at[n - 1] != ')')
		return false;
	str_addf(text, "%+lld(", (long long)offset);
	if (!add_x86_register(end + 1, at + n - 1 - (end + 1), text))
		return false;
	str_addc(text, ')');
	return true;
}

/* 5, x0, w3, sp, [sp], [x29, 12] */
static bool add_arm64(const char *at, size_t n, struct str *text)
{
	char name[8] = "";
	int offset = 0;

	if (*at == '[') {
		if (sscanf(at, "[%7[a-z0-9], %d]", name, &offset) < 1 || !*name)
			return false;
		str_addf(text, "%+d(%%%s)", offset, name);
		return true;
	}
	if (isdigit((unsigned char)*at) || *at == '-') {
		str_addf(text, "\\%.*s", (int)n, at);
		return true;
	}
	if (n < 2 || (*at != 'x' && *at != 'w' && strncmp(at, "sp", 2)))
		return false;
	str_addf(text, "%%%c%.*s", *at == 'w' ? 'x' : *at, (int)n - 1, at + 1);
	return true;
}

/* How many characters the argument has: blanks within brackets belong to it. */
static size_t arg_length(const char *at)
{
	size_t n = 0;
	bool is_within = false;

	for (; at[n] && (is_within || at[n] != ' '); n++)
		is_within = at[n] == '[' || (is_within && at[n] != ']');
	return n;
}

void stapnote_add_args(const struct stapnote *n, const struct arch *arch, struct str *text)
{
	const char *at = n->args + strspn(n->args, " ");

	for (unsigned i = 1; *at; i++) {
		size_t length = arg_length(at), before = text->n;
		char *sign;
		long size = strtol(at, &sign, 10), bytes = size < 0 ? -size : size;
		const char *operand = *sign == '@' ? sign + 1 : at;
		bool is_known;

		str_addf(text, " arg%u=", i);
		is_known = operand < at + length &&
			(arch->is_x86 ? add_x86(operand, at + length - operand, text)
				      : arch == &arch_arm64 &&
						add_arm64(operand, at + length - operand, text));
		if (!is_known ||
			(operand != at && bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)) {
			str_cut(text, before);
			return;
		}
		if (operand != at)
			str_addf(text, ":%c%ld", size < 0 ? 's' : 'u', bytes * 8);
		at += length;
		at += strspn(at, " ");
	}
}
