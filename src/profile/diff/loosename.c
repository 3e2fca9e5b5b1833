#include "profile/diff/loosename.h"

#include <ctype.h>
#include <string.h>

/* Suffixes that compilers and linkers add to a function's name; ".N" may follow each. */
static const char *const suffixes[] = {".isra", ".constprop", ".part", ".cold", ".llvm",
	".lto_priv", ".localalias", ".clone", ".__uniq"};

/* The length of the suffix that the n bytes end with, or 0. */
static size_t suffix_of(const char *name, size_t n)
{
	size_t number = n;

	while (number && isdigit((u8)name[number - 1]))
		number--;
	if (number && number < n && name[number - 1] == '.')
		number--;
	else
		number = n;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t length = strlen(suffixes[i]);

		if (number > length && !memcmp(name + number - length, suffixes[i], length))
			return n - number + length;
	}
	return 0;
}

/* "::h" and 16 hexadecimal digits: Rust's hash of a build. */
static size_t rust_hash_of(const char *name, size_t n)
{
	enum { LENGTH = 19 };

	if (n <= LENGTH || memcmp(name + n - LENGTH, "::h", 3) != 0)
		return 0;
	for (size_t i = n - 16; i < n; i++)
		if (!isxdigit((u8)name[i]))
			return 0;
	return LENGTH;
}

/* " [clone .isra.0]": as demanglers write it. */
static size_t clone_of(const char *name, size_t n)
{
	static const char word[] = " [clone ";
	const char *at = n && name[n - 1] == ']' ? memrchr(name, '[', n) : NULL;

	return at && at > name && !memcmp(at - 1, word, sizeof(word) - 1)
		? (size_t)(name + n - (at - 1))
		: 0;
}

void loosename_add_function(const char *name, struct str *text)
{
	size_t n = strlen(name), cut;

	while ((cut = suffix_of(name, n)) || (cut = rust_hash_of(name, n)) ||
		(cut = clone_of(name, n)))
		n -= cut;
	str_addn(text, name, n);
}

void loosename_add_file(const char *name, struct str *text)
{
	const char *so = strstr(name, ".so");
	size_t n = so ? (size_t)(so - name) : strlen(name);
	const char *dash = so ? memrchr(name, '-', n) : NULL;

	if (dash && dash > name && isdigit((u8)dash[1]))
		n = (size_t)(dash - name);
	str_addn(text, name, n);
	str_add(text, so ? ".so" : "");
}
