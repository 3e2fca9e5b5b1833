/*
 * failing.c - calls of the C library that fail, for tests (LD_PRELOAD).
 *
 * In       FAILING_CALLS  "memory" (malloc, calloc, realloc, posix_memalign), "mmap" or "short"
 *          FAILING_AT     the first call that fails, from 1 on; "short": every how many-th is interrupted
 *          FAILING_FOR    how many calls in a row fail; default 1, 0: all that follow
 *          FAILING_SPARES words in names of libraries, with ':' between: their own allocations do
 *                         not fail
 *          FAILING_COUNT  a file that gets the number of calls, when the program ends by itself
 * Out      NULL, MAP_FAILED, EINTR, or a part of what was asked for
 *
 * Only calls of the program that it was loaded for fail, not those of programs that it starts.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum kind { NONE, MEMORY, MAPPING, SHORT };

static enum kind kind;
static unsigned long first = ULONG_MAX, last;
static atomic_ulong calls;
static pid_t self;
static const char *count_file, *spared = "";

/*
 * What is asked for before begin(): by dlsym(), which says where malloc is, and by a sanitizer,
 * whose own is not ready.
 */
static char early[1 << 20];
static size_t early_used;
static int has_begun;

static void *early_alloc(size_t size)
{
	void *p = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	return early_used <= sizeof(early) ? p : NULL;
}

static int is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early < sizeof(early);
}

/* The function behind this one. */
static void *next(const char *name, void **known)
{
	if (!*known)
		*known = dlsym(RTLD_NEXT, name);
	return *known;
}

#define NEXT(name, type)    \
	static void *known; \
	__typeof__(type) *real = (__typeof__(type) *)next(name, &known)

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void begin(void)
{
	static const char *const names[] = {"LD_PRELOAD", "FAILING_CALLS", "FAILING_AT",
		"FAILING_FOR", "FAILING_SPARES", "FAILING_COUNT"};
	const char *what = getenv("FAILING_CALLS");
	unsigned long n;

	has_begun = 1;
	if (!what)
		return;
	count_file = getenv("FAILING_COUNT");
	spared = getenv("FAILING_SPARES") ? getenv("FAILING_SPARES") : "";
	first = number("FAILING_AT", ULONG_MAX);
	n = number("FAILING_FOR", 1);
	last = n ? first + n - 1 : ULONG_MAX;
	self = getpid();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
	kind = !strcmp(what, "memory") ? MEMORY : !strcmp(what, "mmap") ? MAPPING : SHORT;
}

__attribute__((destructor)) static void end(void)
{
	char text[32];
	int fd;

	if (!count_file || getpid() != self)
		return;
	fd = open(count_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || dprintf(fd, "%lu\n", atomic_load(&calls)) < 0)
		snprintf(text, sizeof(text), "no count");
}

static int is_spared(const void *caller)
{
	const char *word = spared;
	Dl_info library;

	if (!*spared || !dladdr(caller, &library) || !library.dli_fname)
		return 0;
	for (size_t n; *word; word += n + (word[n] == ':')) {
		char one[64];

		n = strcspn(word, ":");
		snprintf(one, sizeof(one), "%.*s", (int)n, word);
		if (strstr(library.dli_fname, one))
			return 1;
	}
	return 0;
}

static int fails(enum kind asked, const void *caller)
{
	unsigned long n;

	if (kind != asked || getpid() != self || is_spared(caller))
		return 0;
	n = atomic_fetch_add(&calls, 1) + 1;
	if (n < first || n > last)
		return 0;
	errno = ENOMEM;
	return 1;
}

#define CALLER __builtin_return_address(0)

/* ---- memory ---- */

void *malloc(size_t size)
{
	if (!has_begun)
		return early_alloc(size);
	NEXT("malloc", void *(size_t));
	return fails(MEMORY, CALLER) ? NULL : real(size);
}

void *calloc(size_t n, size_t size)
{
	if (!has_begun)
		return early_alloc(n * size);
	NEXT("calloc", void *(size_t, size_t));
	return fails(MEMORY, CALLER) ? NULL : real(n, size);
}

static void *realloc_early(void *p, size_t size)
{
	void *to = malloc(size);

	return p && to ? memcpy(to, p, MIN(size, (size_t)(early + sizeof(early) - (char *)p))) : to;
}

void *realloc(void *p, size_t size)
{
	if (!has_begun || is_early(p))
		return realloc_early(p, size);
	NEXT("realloc", void *(void *, size_t));
	return fails(MEMORY, CALLER) ? NULL : real(p, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	NEXT("posix_memalign", int(void **, size_t, size_t));

	return fails(MEMORY, CALLER) ? ENOMEM : real(ret, alignment, size);
}

void free(void *p)
{
	if (!p || is_early(p))
		return;
	NEXT("free", void(void *));
	real(p);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	NEXT("mmap", void *(void *, size_t, int, int, int, off_t));

	return fails(MAPPING, CALLER) ? MAP_FAILED : real(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
	return mmap(at, size, protection, flags, fd, offset);
}

/* ---- files ---- */

/* How much of `size` a file or a pipe gives or takes this time; 0: it is interrupted. */
static size_t share(int fd, size_t size)
{
	struct stat st;
	unsigned long n;

	if (kind != SHORT || getpid() != self || size < 2)
		return size;
	/* Counters, descriptors of events and terminals are not read in parts. */
	if (fstat(fd, &st) || !(S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode)))
		return size;
	n = atomic_fetch_add(&calls, 1) + 1;
	return n % first == 0 ? 0 : n % 2 ? (size + 1) / 2 : 1 + n % size;
}

static ssize_t interrupted(void)
{
	errno = EINTR;
	return -1;
}

ssize_t read(int fd, void *to, size_t size)
{
	NEXT("read", ssize_t(int, void *, size_t));
	size_t part = share(fd, size);

	return size && !part ? interrupted() : real(fd, to, part);
}

ssize_t pread(int fd, void *to, size_t size, off_t at)
{
	NEXT("pread", ssize_t(int, void *, size_t, off_t));
	size_t part = share(fd, size);

	return size && !part ? interrupted() : real(fd, to, part, at);
}

ssize_t pread64(int fd, void *to, size_t size, off64_t at)
{
	return pread(fd, to, size, at);
}

ssize_t write(int fd, const void *from, size_t size)
{
	NEXT("write", ssize_t(int, const void *, size_t));
	size_t part = share(fd, size);

	return size && !part ? interrupted() : real(fd, from, part);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
{
	NEXT("pwrite", ssize_t(int, const void *, size_t, off_t));
	size_t part = share(fd, size);

	return size && !part ? interrupted() : real(fd, from, part, at);
}

ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at)
{
	return pwrite(fd, from, size, at);
}
