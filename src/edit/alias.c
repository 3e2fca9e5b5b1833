#include "edit/alias.h"

#include <ctype.h>
#include <stdio.h>

#include "base/hash.h"

/* The number of a name among those seen so far, from 1. Adds a new name. */
static size_t number_of(struct alias *a, const char *text, size_t n)
{
	const char *kept = intern_add(&a->known, text, n);
	u64 hash = hash_u64((u64)(uintptr_t)kept);
	struct table_probe probe = table_probe(&a->index, hash);
	u32 i;

	while ((i = table_next(&a->index, &probe)) != TABLE_NONE)
		if (a->known.strings.at[i] == kept)
			return i + 1;
	table_add(&a->index, hash, (u32)a->known.strings.n - 1);
	return a->known.strings.n;
}

void alias_fini(struct alias *a)
{
	intern_fini(&a->known);
	table_fini(&a->index);
}

static bool begins(const char *text, size_t n, const char *with)
{
	size_t m = strlen(with);

	return n >= m && !memcmp(text, with, m);
}

static bool has_inside(const char *text, size_t n, const char *what)
{
	return memmem(text, n, what, strlen(what)) != NULL;
}

/*
 * Whether the text matches the pattern, in which % stands for decimal digits and # for up to eight
 * hexadecimal ones. The text may end in " (deleted)", as the path of a deleted file does.
 */
static bool is_like(const char *text, size_t n, const char *pattern)
{
	const char *end = text + n;

	for (; *pattern; pattern++) {
		const char *from = text;

		if (*pattern == '%')
			while (text < end && *text >= '0' && *text <= '9')
				text++;
		else if (*pattern == '#')
			while (text < end && text - from < 8 && isxdigit((unsigned char)*text))
				text++;
		else if (text < end && *text == *pattern)
			text++;
		if (text == from)
			return false;
	}
	return text == end || ((size_t)(end - text) == 10 && begins(text, 10, " (deleted)"));
}

/* Names given by the kernel or the recorder, not by the file system or a program. */
static bool is_public_path(const char *text, size_t n)
{
	static const char *const patterns[] = {"[vdso]", "[vvar]", "[vvar_vclock]", "[vsyscall]",
		"[vectors]", "[sigpage]", "[heap]", "[stack]", "[stack:%]", "[uprobes]", "[anon]",
		"[unknown]", "[kernel.kallsyms]", "[kernel.kallsyms]_text",
		"[kernel.kallsyms]_stext", "[guest.kernel.kallsyms]",
		"[guest.kernel.kallsyms]_text", "//anon", "//enomem", "//toolong", "/dev/zero",
		"/anon_hugepage", "/SYSV#", "/tmp/perf-%.map"};

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (is_like(text, n, patterns[i]))
			return true;
	return !n;
}

/* The "/jit-12.dump" at the end of a path, by which readers recognize a jitdump; or NULL. */
static const char *dump_name(const char *text, size_t n)
{
	const char *slash = memrchr(text, '/', n);

	return slash && is_like(slash, n - (size_t)(slash - text), "/jit-%.dump") ? slash : NULL;
}

const char *alias_path(struct alias *a, const char *text, size_t n)
{
	static char name[128];
	const char *dump = dump_name(text, n);
	size_t number;

	if (is_public_path(text, n)) {
		snprintf(name, sizeof(name), "%.*s", (int)n, text);
		return name;
	}
	number = number_of(a, text, n);
	if (*text == '[')
		snprintf(name, sizeof(name), "[anon:%zu]", number);
	else if (dump)
		snprintf(name, sizeof(name), "/anon/%zu%.*s", number,
			(int)MIN(n - (size_t)(dump - text), (size_t)40), dump);
	else
		snprintf(name, sizeof(name), "%s-%zu%s",
			begins(text, n, "/memfd:") ? "/memfd:file" : "/anon/file", number,
			has_inside(text, n, ".so") ? ".so" : "");
	return name;
}

const char *alias_name(struct alias *a, const char *kind, const char *text, size_t n)
{
	static char name[64];

	if (!n)
		return "";
	snprintf(name, sizeof(name), "%s-%zu", kind, number_of(a, text, n));
	return name;
}

const char *alias_comm(struct alias *a, const char *text, size_t n)
{
	if (is_like(text, n, "swapper") || is_like(text, n, "swapper/%"))
		return "swapper";
	return alias_name(a, "comm", text, n);
}
