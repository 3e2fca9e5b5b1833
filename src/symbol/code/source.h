/*
 * source.h - a file of source code, by lines.
 *
 * In       its name and directory as the compiler wrote them into the debug information; when the
 *          program was built
 * Out      lines; or why there are none
 * Owns     the text, of which it has read as far as somebody asked; the open file
 * Errors   none: `state` and `why`. Only plain files up to SOURCE_MAX bytes are read; they are foreign
 *          text, to be shown with str_add_safe()
 */
#ifndef PACE_SYMBOL_SOURCE_H
#define PACE_SYMBOL_SOURCE_H

#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"

enum { SOURCE_MAX = 64 << 20 };

enum source_state {
	SOURCE_FOUND,
	SOURCE_NEWER,   /* it was changed after the program was built: lines may have moved */
	SOURCE_MISSING, /* not here, or cannot be read */
};

struct source_places {
	const char *symfs;  /* looked below first; "" for none */
	const char *prefix; /* put before absolute paths, NULL: none, of which */
	u64 n_stripped;     /* so many leading directories are taken away */
};

struct source {
	enum source_state state;
	struct str path;   /* that was read, or looked for */
	struct str why;    /* SOURCE_MISSING */
	struct str text;   /* so far */
	VEC(size_t) lines; /* where each begins in text; one more where the last known one ends */
	int fd;            /* -1: all of it was read */
};

/* `dir` may be NULL. `built_ns`: when the program was, since 1970; 0: unknown. */
void source_open(struct source *s, const struct source_places *places, const char *dir,
	const char *file, u64 built_ns);
void source_close(struct source *s);

/*
 * Line n, counted from 1, without its end: *ret_n bytes; NULL if the file has not so many. Valid until the next call.
 */
const char *source_line(struct source *s, u32 line, size_t *ret_n);

/* When a file was last changed; 0 if there is none, or it cannot be seen, which is said. */
u64 source_time(const char *path, struct log *log);

#endif
