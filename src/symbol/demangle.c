#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>

/*
 * Names may refer back to their own parts, and those to theirs: 300 characters can stand for
 * terabytes. What becomes longer than anybody reads stays mangled.
 */
enum { TEXT_LIMIT = 32 << 10, D_NAME_LIMIT = 2 << 10, D_REFERENCES_MAX = 20 };

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
 * Prints a name by one of libiberty's languages, whose state is on the stack: a jump out of it
 * loses nothing.
 */
static bool print(struct printed *p, const char *name, int options,
	int (*printer)(const char *name, int options, demangle_callbackref take, void *ctx))
{
	str_clear(&p->text);
	return !setjmp(p->too_long) && printer(name, options, take_text, p) && p->text.n;
}

/* D's printer cannot be stopped: it gets only names that cannot grow beyond measure. */
static bool print_d(struct printed *p, const char *name)
{
	size_t n_references = 0;
	char *text;

	for (const char *c = name; *c; c++)
		n_references += *c == 'Q';
	if (n_references > D_REFERENCES_MAX || strlen(name) > D_NAME_LIMIT)
		return false;
	text = dlang_demangle(name, DMGL_NO_OPTS);
	str_clear(&p->text);
	if (text && strlen(text) <= TEXT_LIMIT)
		str_add(&p->text, text);
	free(text);
	return p->text.n;
}

const char *demangle(const char *name, bool with_parameters, struct intern *strings)
{
	int options = with_parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
	struct printed p = {0};
	const char *kept = name;
	bool is_printed = false;

	/* Most names of C code leave here. */
	if (name[0] != '_' || !(name[1] == 'Z' || name[1] == 'R' || name[1] == 'D'))
		return name;
	/* Rust's older names are valid C++ ones too. */
	if (name[1] != 'D')
		is_printed = print(&p, name, options, rust_demangle_callback);
	if (name[1] == 'Z' && !is_printed)
		is_printed = print(&p, name, options, cplus_demangle_v3_callback);
	if (name[1] == 'D')
		is_printed = print_d(&p, name);
	if (is_printed)
		kept = intern_add(strings, p.text.at, p.text.n);
	str_fini(&p.text);
	return kept;
}
