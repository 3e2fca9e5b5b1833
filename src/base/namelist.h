/*
 * namelist.h - names that an option lists: "a,b,file:///tmp/names", where a file has a name on each line.
 *
 * Owns     copies of the names, until name_list_fini()
 * Errors   ERR_SYS if a file cannot be read
 */
#ifndef PACE_BASE_NAMELIST_H
#define PACE_BASE_NAMELIST_H

#include "base/err.h"
#include "base/str.h"

struct name_list {
	VEC(const char *) names; /* interned */
	struct intern strings;
	struct str joined; /* with commas between them */
};

/* `text` NULL: no names. `option` is for messages. */
int name_list_parse(struct name_list *l, const char *option, const char *text, struct err *err);

bool name_list_has(const struct name_list *l, const char *name);

void name_list_fini(struct name_list *l);

#endif
