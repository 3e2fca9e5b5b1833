#include "symbol/name/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>

#include "base/mem.h"
#include "symbol/name/mangled.h"

/*
 * Names may refer back to their own parts, and these to theirs: 300 characters can expand to terabytes.
 * Names whose expansion is too long to read stay mangled.
 */
enum {
	TEXT_LIMIT = 32 << 10,
	D_NAME_LIMIT = 2 << 10,
	D_REFERENCES_MAX = 20,
	D_GROWTH_MAX = 1 << 16
};

/* ---- memory ---- */

/*
 * Replaces libiberty's allocator for D names, which would print and exit, also in programs that use our
 * library.
 */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);

void *xmalloc(size_t size)
{
	return mem_alloc(size);
}

void *xcalloc(size_t n, size_t size)
{
	return mem_zalloc(n * size);
}

void *xrealloc(void *p, size_t size)
{
	return mem_realloc(p, size);
}

/* ---- folding ---- */

/* The length of "operator<", "operator->*" and the like, or 0. */
static size_t operator_length(const char *text, const char *p)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1;

	if (strncmp(p, word, n) || (p > text && (isalnum((u8)p[-1]) || p[-1] == '_')))
		return 0;
	return n + strspn(p + n, "<>=-*");
}

/* The end of the arguments that begin at the '<' at p; NULL if they have no end. */
static const char *skip_arguments(const char *text, const char *p)
{
	size_t depth = 0, n;

	for (; *p; p++) {
		if (*p == 'o' && (n = operator_length(text, p)) > 0) {
			p += n - 1;
			continue;
		}
		depth += *p == '<';
		/* The arrow before a function's result is no bracket. */
		if (*p == '>' && p[-1] != '-' && !--depth)
			return p + 1;
	}
	return NULL;
}

/* Whether the '<' at p begins template arguments. In Rust's <Type as Trait>::f it does not. */
static bool begins_arguments(const char *text, const char *p)
{
	return *p == '<' && p > text &&
		(isalnum((u8)p[-1]) || p[-1] == '_' || p[-1] == ']' ||
			(p[-1] == ':' && p - text > 1 && p[-2] == ':'));
}

/* Whether this is Rust's code that drops values: only the type tells these functions apart. */
static bool says_what_is_dropped(const char *text, const char *p)
{
	static const char *const names[] = {"drop_in_place", "drop_glue"};

	if (p - text > 2 && p[-1] == ':')
		p -= 2;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		if ((size_t)(p - text) >= n && !memcmp(p - n, names[i], n))
			return true;
	}
	return false;
}

static void fold(struct str *text)
{
	struct str folded = {0};
	const char *p = text->at, *behind;
	size_t n;

	while (*p) {
		if (*p == 'o' && (n = operator_length(text->at, p)) > 0) {
			str_addn(&folded, p, n);
			p += n;
			/* The arguments follow the operator: operator<< <int>, operator()<int>. */
		} else if (begins_arguments(text->at, p) && !says_what_is_dropped(text->at, p) &&
			(behind = skip_arguments(text->at, p)) != NULL) {
			str_add(&folded, "<...>");
			p = behind;
		} else {
			str_addc(&folded, *p++);
		}
	}
	str_fini(text);
	*text = folded;
}

/* Folds D's arguments: name!(arguments). */
static void fold_d(struct str *text)
{
	struct str folded = {0};

	for (const char *p = text->at; *p; p++) {
		size_t depth = 0;

		str_addc(&folded, *p);
		if (p[0] != '!' || p[1] != '(')
			continue;
		/* Without a closing bracket they extend to the end of the text. */
		for (p++; p[1]; p++) {
			depth += *p == '(';
			if (*p == ')' && !--depth)
				break;
		}
		str_add(&folded, "(...)");
	}
	str_fini(text);
	*text = folded;
}

/* ---- printing ---- */

struct printed {
	struct str text;
	jmp_buf too_long;
};

static void take_text(const char *text, size_t n, void *ctx)
{
	struct printed *p = ctx;

	if (p->text.n + n > TEXT_LIMIT)
		longjmp(p->too_long, 1);
	str_addn(&p->text, text, n);
}

/*
 * Prints a name by one of libiberty's printers. Their state is on the stack, so a longjmp out of them leaks
 * nothing.
 */
static bool print(struct printed *p, const char *name, int options,
	int (*printer)(const char *name, int options, demangle_callbackref take, void *ctx))
{
	str_clear(&p->text);
	return !setjmp(p->too_long) && printer(name, options, take_text, p) && p->text.n;
}

/*
 * libiberty expects "return" after "scope" in a parameter, but compilers write it before. Demangles the name
 * with the two swapped; NULL if it has no such parameter.
 */
static char *demangle_d_turned(const char *name)
{
	char *turned, *text, *at;

	if (!strstr(name, "NkM"))
		return NULL;
	turned = mem_strdup(name);
	for (at = turned; (at = strstr(at, "NkM")) != NULL; at += 3)
		memcpy(at, "MNk", 3);
	text = dlang_demangle(turned, DMGL_NO_OPTS);
	mem_free(turned);
	return text;
}

/* ---- suffixes ---- */

/* The length of a suffix that compilers add to names, .cold or .isra.0 or .llvm.123; or 0. */
static size_t suffix_length(const char *p)
{
	size_t n = 1, word;

	if (*p != '.' || !(isalpha((u8)p[1]) || p[1] == '_'))
		return 0;
	while (isalnum((u8)p[n]) || p[n] == '_')
		n++;
	while (p[n] == '.' && (word = strspn(p + n + 1, "0123456789ABCDEF")) > 0 &&
		!isalnum((u8)p[n + 1 + word]) && p[n + 1 + word] != '_')
		n += 1 + word;
	return n;
}

/* The start of the suffixes: a '.' after which there is nothing else; the end if there are none. */
static const char *find_suffixes(const char *name)
{
	for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
		const char *p = dot;
		size_t n;

		/* Names in Rust's old scheme contain pairs of dots. */
		if (dot > name && dot[-1] == '.')
			continue;
		while ((n = suffix_length(p)) > 0)
			p += n;
		if (!*p)
			return dot;
	}
	return name + strlen(name);
}

/* Appends the suffixes. LLVM's numbers of symbols shared between files carry no meaning for readers. */
static void add_suffixes(const char *p, unsigned style, struct str *text)
{
	size_t n;

	for (; (n = suffix_length(p)) > 0 && text->n + n < TEXT_LIMIT / 2; p += n)
		if (!(style & DEMANGLE_COMPACT) || strncmp(p, ".llvm.", 6))
			str_addf(text, " [clone %.*s]", (int)n, p);
}

/* ---- names ---- */

/* The distance of a D back reference: digits of base 26, the last one a small letter. 0: not a reference. */
static size_t d_distance(const char *at)
{
	size_t n = 0;

	for (at++; *at >= 'A' && *at <= 'Z' && n < D_NAME_LIMIT; at++)
		n = 26 * n + (size_t)(*at - 'A');
	return *at >= 'a' && *at <= 'z' ? 26 * n + (size_t)(*at - 'a') : 0;
}

/*
 * Whether a D name cannot expand too far: D's printer cannot be stopped. A reference expands to a part of the
 * text between its target and itself, with the references in it expanded; or, if its target is a number, to an
 * identifier of that length.
 */
static bool is_short_d(const char *name)
{
	size_t n = strlen(name), n_references = 0;
	u64 grown[D_NAME_LIMIT + 1] = {0}; /* the length to which each prefix can expand */

	if (n > D_NAME_LIMIT)
		return false;
	for (size_t i = 0; i < n; i++) {
		size_t back = name[i] == 'Q' ? d_distance(name + i) : 0;

		n_references += name[i] == 'Q';
		grown[i + 1] = grown[i] + 1;
		if (back && back <= i)
			grown[i + 1] +=
				isdigit((u8)name[i - back]) ? n : grown[i] - grown[i - back] + n;
		grown[i + 1] = MIN(grown[i + 1], (u64)D_GROWTH_MAX + 1);
	}
	return n_references <= D_REFERENCES_MAX || grown[n] <= D_GROWTH_MAX;
}

static bool print_bare_d(struct printed *p, const char *name, unsigned style)
{
	char *text;

	if (!is_short_d(name))
		return false;
	text = dlang_demangle(name, DMGL_NO_OPTS);
	if (!text)
		text = demangle_d_turned(name);
	str_clear(&p->text);
	if (text && strlen(text) <= TEXT_LIMIT)
		str_add(&p->text, text);
	free(text);
	if (p->text.n && style & DEMANGLE_COMPACT)
		fold_d(&p->text);
	return p->text.n;
}

static bool print_d(struct printed *p, const char *name, unsigned style)
{
	const char *suffixes = find_suffixes(name);
	bool is_printed;
	char *base;

	if (!*suffixes)
		return print_bare_d(p, name, style);
	base = mem_strdup(name);
	base[suffixes - name] = '\0';
	is_printed = print_bare_d(p, base, style);
	if (is_printed)
		add_suffixes(suffixes, style, &p->text);
	mem_free(base);
	return is_printed;
}

static bool print_itanium_or_rust(struct printed *p, const char *name, unsigned style)
{
	int options = style & DEMANGLE_PARAMETERS ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
	const char *suffixes = find_suffixes(name);
	char *base = *suffixes ? mem_alloc(suffixes - name + 1) : NULL;
	bool is_printed;

	if (base) {
		memcpy(base, name, suffixes - name);
		base[suffixes - name] = '\0';
		name = base;
	}
	/* Names in Rust's old scheme are valid C++ names, too. */
	is_printed = print(p, name, options, rust_demangle_callback) ||
		(name[1] == 'Z' && print(p, name, options, cplus_demangle_v3_callback));
	if (is_printed && style & DEMANGLE_COMPACT)
		fold(&p->text);
	if (is_printed)
		add_suffixes(suffixes, style, &p->text);
	mem_free(base);
	return is_printed;
}

/* Demangles a name without its version. */
static bool print_name(struct printed *p, const char *name, unsigned style)
{
	/* Most C names are done here. */
	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
		return print_itanium_or_rust(p, name, style);
	if (name[0] == '_' && name[1] == 'D')
		return print_d(p, name, style);
	if (name[0] == 'c')
		return mangled_ocaml(name, &p->text);
	if (name[0] == 'L')
		return mangled_java(name, style & DEMANGLE_PARAMETERS, &p->text);
	return false;
}

const char *demangle(const char *name, unsigned style, struct intern *strings)
{
	const char *kept = name, *version;
	struct printed p = {0};
	char *base = NULL;

	if (style & DEMANGLE_NOT)
		return name;
	/* Linkers append the version of a library's symbol to its name: _ZNSo3putEc@@GLIBCXX_3.4. */
	version = name[0] == '_' ? strchr(name, '@') : NULL;
	if (version) {
		base = mem_strdup(name);
		base[version - name] = '\0';
	}
	if (print_name(&p, base ? base : name, style)) {
		if (version)
			str_add(&p.text, version);
		kept = intern_add(strings, p.text.at, p.text.n);
	} else if (style & DEMANGLE_COMPACT && strchr(name, '<')) {
		/* Debug information has template names unmangled. */
		str_add(&p.text, name);
		fold(&p.text);
		kept = intern_add(strings, p.text.at, p.text.n);
	}
	mem_free(base);
	str_fini(&p.text);
	return kept;
}
