#include "symbol/name/origin.h"

#include <stdio.h>

const char *origin_title(enum origin o, const char *name, u64 start, unsigned style,
	struct intern *strings)
{
	struct str text = {0};
	char made[32];

	switch (o) {
	case ORIGIN_NONE:
		return NULL;
	case ORIGIN_TABLE:
		return demangle(name, style, strings);
	case ORIGIN_CRT:
		return name;
	case ORIGIN_EXTENT:
		snprintf(made, sizeof(made), "fun_%llx", (unsigned long long)start);
		return intern_str(strings, made);
	case ORIGIN_PLT:
		break;
	}
	str_addf(&text, "%s@plt", demangle(name, style, strings));
	name = intern_add(strings, text.at, text.n);
	str_fini(&text);
	return name;
}
