#include "base/mem.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK_MIN = 4 << 10, CHUNK_MAX = 8 << 20 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
};

struct attempt {
	struct attempt *outer;
	volatile size_t size; /* bytes that could not be allocated */
	jmp_buf back;
};

/* initial-exec: storage that libc allocates at the first access would fail without a chance to report it. */
static _Thread_local struct attempt *innermost __attribute__((tls_model("initial-exec")));

static void (*exhaustion_hook)(size_t size);

void mem_on_exhaustion(void (*hook)(size_t size))
{
	exhaustion_hook = hook;
}

void mem_exhausted(size_t size)
{
	static atomic_flag is_said = ATOMIC_FLAG_INIT;

	if (innermost) {
		innermost->size = size;
		longjmp(innermost->back, 1);
	}
	/* Threads run out of memory together; one of them reports it and ends the process. */
	while (atomic_flag_test_and_set(&is_said))
		pause();
	if (exhaustion_hook)
		exhaustion_hook(size);
	abort();
}

bool mem_try(void (*work)(void *ctx), void *ctx, size_t *ret_size)
{
	struct attempt a = {.outer = innermost};
	bool is_done = !setjmp(a.back);

	if (is_done) {
		innermost = &a;
		work(ctx);
	} else {
		*ret_size = a.size;
	}
	innermost = a.outer;
	return is_done;
}

bool mem_is_trying(void)
{
	return innermost != NULL;
}

static void *must(void *p, size_t size)
{
	if (UNLIKELY(p == NULL))
		mem_exhausted(size);
	return p;
}

void mem_prefer_huge(void *p, size_t size)
{
	enum { LARGE = 4 << 20, PAGE = 4096 };
	uintptr_t start = align_up((uintptr_t)p, PAGE);

	if (UNLIKELY(size >= LARGE))
		(void)madvise((void *)start, (size - PAGE) & ~(size_t)(PAGE - 1), MADV_HUGEPAGE);
}

static void *large(void *p, size_t size)
{
	mem_prefer_huge(p, size);
	return p;
}

/* For size 0, a libc may return NULL, and realloc() has freed the block then. */
static size_t at_least_one(size_t size)
{
	return MAX(size, (size_t)1);
}

void *mem_alloc(size_t size)
{
	return large(must(malloc(at_least_one(size)), size), size);
}

void *mem_zalloc(size_t size)
{
	return large(must(calloc(1, at_least_one(size)), size), size);
}

void *mem_realloc(void *p, size_t size)
{
	return large(must(realloc(p, at_least_one(size)), size), size);
}

char *mem_strdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(mem_alloc(n), s, n);
}

void mem_free(void *p)
{
	free(p);
}

static void arena_grow(struct arena *a, size_t n)
{
	/*
	 * Chunks double, so that a large session makes few of them while a small arena stays small: there
	 * may be thousands of arenas, one for each event.
	 */
	size_t size = a->chunks ? MIN(a->chunks->size * 2, (size_t)CHUNK_MAX) : (size_t)CHUNK_MIN;
	struct arena_chunk *c;

	size = MAX(size, n + sizeof(*c));
	c = mem_alloc(size);
	c->next = a->chunks;
	c->size = size;
	a->chunks = c;
	a->at = (u8 *)(c + 1);
	a->end = (u8 *)c + size;
	a->total += size;
}

void *arena_alloc(struct arena *a, size_t n)
{
	void *p;

	n = align_up(n, 8);
	/* Not "<": a new arena has room for 0 bytes, but no address to return for them. */
	if ((size_t)(a->end - a->at) <= n)
		arena_grow(a, n);
	p = a->at;
	a->at += n;
	return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
	return memset(arena_alloc(a, n), 0, n);
}

void *arena_copy(struct arena *a, const void *p, size_t n)
{
	void *to = arena_alloc(a, n);

	return n ? memcpy(to, p, n) : to;
}

char *arena_strdup(struct arena *a, const char *s, size_t n)
{
	char *to = arena_alloc(a, n + 1);

	memcpy(to, s, n);
	to[n] = '\0';
	return to;
}

void arena_fini(struct arena *a)
{
	struct arena_chunk *c = a->chunks;

	while (c) {
		struct arena_chunk *next = c->next;

		mem_free(c);
		c = next;
	}
	memset(a, 0, sizeof(*a));
}
