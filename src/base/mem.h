/*
 * mem.h - memory that is there, or the program says so and ends.
 *
 * Allocation never returns NULL. Every size that comes from input is bounded before it gets here,
 * so a failure means that the machine has no memory left; then the out-of-memory hook runs (it may
 * save a recording) and the process aborts. Sizes are in bytes.
 *
 * A library must not end the program that uses it: what it does inside of mem_try() is given up
 * instead, and its caller is told.
 *
 * arena    many small things that die together (the command's lifetime)
 * Threads  an arena belongs to one thread at a time; mem_try() is about the thread that calls it
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
 * Large blocks may lie on huge pages: 512 page faults less for each. Only a hint; those of the
 * functions above have it.
 */
void mem_prefer_huge(void *p, size_t size);

/* Called once with the size that could not be had, before abort(); other threads wait then. */
void mem_on_exhaustion(void (*hook)(size_t size));

/*
 * `size` bytes could not be had (0: it is not known how many), as other libraries tell: what the
 * functions above do then.
 */
void mem_exhausted(size_t size) __attribute__((noreturn));

/*
 * Whether work(ctx) came to its end: false if there was not the memory for it. It was left at that
 * place then, as by longjmp(): locks that it took are still taken, and of what it had only that is
 * not lost which something outside of it holds. Such an object can be closed; whatever else is done
 * with it is for its owner to know. They may be inside of each other: the innermost is left.
 */
bool mem_try(void (*work)(void *ctx), void *ctx, size_t *ret_size);

/* Whether this thread is inside of mem_try(). */
bool mem_is_trying(void);

struct arena {
	struct arena_chunk *chunks; /* newest first */
	u8 *at, *end;               /* free space in the newest chunk */
	size_t total;               /* bytes asked from the system so far */
};

/* n bytes aligned to 8, not cleared, valid until arena_fini(). */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n);
void *arena_copy(struct arena *a, const void *p, size_t n);
char *arena_strdup(struct arena *a, const char *s, size_t n); /* adds the NUL */
void arena_fini(struct arena *a);

#endif
