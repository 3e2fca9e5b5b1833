/*
 * source.h - the lines of a source file.
 *
 * In       its name and directory as the compiler wrote them into the debug information; when the
 *          program was built
 * Out      lines; or why there are none
 * Owns     the text, as far as it has been read; the open file
 * Errors   none: `state` and `why`. Only regular files up to SOURCE_MAX bytes are read; their text is
 *          untrusted, to be shown with str_add_safe()
 */
#ifndef PACE_SYMBOL_SOURCE_H
#define PACE_SYMBOL_SOURCE_H

#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"

enum { SOURCE_MAX = 64 << 20 };

enum source_state {
	SOURCE_FOUND,
	SOURCE_NEWER,   /* changed after the program was built: lines may have moved */
	SOURCE_MISSING, /* missing here, or not readable */
};

struct source_places {
	const char *symfs;  /* searched first; "" for none */
	const char *prefix; /* prepended to absolute paths; NULL: none */
	u64 n_stripped;     /* number of leading directories removed before that */
};

struct source {
	enum source_state state;
	struct str path;   /* the file that was read, or looked for */
	struct str why;    /* SOURCE_MISSING */
	struct str text;   /* read so far */
	VEC(size_t) lines; /* start of each line in text, then the end of the last known one */
	int fd;            /* -1: the whole file was read */
};

/* `dir` may be NULL. `built_ns`: build time of the program since 1970; 0: unknown. */
void source_open(struct source *s, const struct source_places *places, const char *dir,
	const char *file, u64 built_ns);
void source_close(struct source *s);

/*
 * Line n, counted from 1, without its end: *ret_n bytes; NULL if the file has fewer lines. Valid until the next call.
 */
const char *source_line(struct source *s, u32 line, size_t *ret_n);

/* When a file was last changed; 0 if it does not exist, or cannot be read, which is logged. */
u64 source_time(const char *path, struct log *log);

#endif
