#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>

/* What can be mangled at all: most names of C code leave here. */
static bool may_be_mangled(const char *name)
{
	return (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D' || name[1] == '_')) ||
		name[0] == '?';
}

const char *demangle(const char *name, struct intern *strings)
{
	enum { NAME_LIMIT = 64 << 10 };
	const char *kept = name;
	char *text;

	if (!may_be_mangled(name) || strnlen(name, NAME_LIMIT) == NAME_LIMIT)
		return name;
	text = cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	if (text && *text)
		kept = intern_str(strings, text);
	free(text);
	return kept;
}
