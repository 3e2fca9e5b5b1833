/*
 * mem.h - allocation that either succeeds or reports the failure and ends the program.
 *
 * Allocation never returns NULL. Every size that comes from input is bounded before it gets here,
 * so a failure means that the machine has no memory left; then the out-of-memory hook runs (it may
 * save a recording) and the process aborts. Sizes are in bytes.
 *
 * A library must not end the program that uses it: work inside mem_try() is abandoned instead, and
 * mem_try() returns false.
 *
 * arena    many small things that die together (the command's lifetime)
 * Threads  an arena belongs to one thread at a time; mem_try() affects only the thread that calls it
 */
#ifndef PACE_BASE_MEM_H
#define PACE_BASE_MEM_H

#include "base/types.h"

void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
void *mem_realloc(void *p, size_t size);
char *mem_strdup(const char *s);
void mem_free(void *p); /* NULL-safe */

/*
 * Hints that a large block should lie on huge pages: each saves 512 page faults. The functions above
 * give this hint themselves.
 */
void mem_prefer_huge(void *p, size_t size);

/* `hook` is called once before abort(), with the size that could not be allocated; other threads wait meanwhile. */
void mem_on_exhaustion(void (*hook)(size_t size));

/*
 * Does what the functions above do when they fail to allocate `size` bytes (0: unknown); for failures
 * that other libraries report.
 */
void mem_exhausted(size_t size) __attribute__((noreturn));

/*
 * Runs work(ctx). False if it ran out of memory: it was then abandoned where it stood, as by longjmp().
 * Locks that it took are still taken, and memory that only its own variables pointed to is lost. An
 * object that it worked on can be closed; its owner must know what else can be done with it. Calls
 * nest: the innermost one is abandoned.
 */
bool mem_try(void (*work)(void *ctx), void *ctx, size_t *ret_size);

/* Whether this thread is inside mem_try(). */
bool mem_is_trying(void);

struct arena {
	struct arena_chunk *chunks; /* newest first */
	u8 *at, *end;               /* free space in the newest chunk */
	size_t total;               /* bytes allocated so far */
};

/* n bytes aligned to 8, not cleared, valid until arena_fini(). */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n);
void *arena_copy(struct arena *a, const void *p, size_t n);
char *arena_strdup(struct arena *a, const char *s, size_t n); /* adds the NUL */
void arena_fini(struct arena *a);

#endif
