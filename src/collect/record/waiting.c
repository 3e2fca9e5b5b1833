#include "collect/record/waiting.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "event/children.h"

enum {
	LOOK_NS = 5000000,      /* minimum time between two looks */
	COST = 100,             /* and at least this many times as long as a look took */
	LOOKS_FOR_CHILDREN = 4, /* children are looked for at every fourth look */
	LOOKS_FORGOTTEN = 1000, /* a thread missing for this long is forgotten */
};

void waiting_init(struct waiting *w, clockid_t clock, size_t stack_bytes)
{
	memset(w, 0, sizeof(*w));
	w->clock = clock;
	w->stack_bytes = stack_bytes;
	w->stack = mem_alloc(stack_bytes + 1);
}

void waiting_fini(struct waiting *w)
{
	vec_fini(&w->pids);
	vec_fini(&w->threads);
	table_fini(&w->by_tid);
	mem_free(w->stack);
	memset(w, 0, sizeof(*w));
}

void waiting_add(struct waiting *w, pid_t pid)
{
	vec_each(known, &w->pids)
		if (*known == pid)
			return;
	vec_add(&w->pids, pid);
}

/* Reads a thread's file in one read. Returns its size, or < 0 with errno. */
static ssize_t read_file(pid_t pid, pid_t tid, const char *name, char *buf, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = fd_read(fd, buf, size - 1);
	close(fd);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

/* How often the thread has been put on a CPU; 0: unknown. */
static u64 runs_of(pid_t pid, pid_t tid)
{
	unsigned long long runs = 0;
	char text[96];

	if (read_file(pid, tid, "schedstat", text, sizeof(text)) <= 0 ||
		sscanf(text, "%*u %*u %llu", &runs) != 1)
		return 0;
	return runs;
}

static struct waiting_thread *thread_of(struct waiting *w, pid_t pid, pid_t tid)
{
	struct table_probe probe = table_probe(&w->by_tid, hash_u64((u64)tid));
	u32 i;

	while ((i = table_next(&w->by_tid, &probe)) != TABLE_NONE)
		if (w->threads.at[i].tid == tid)
			break;
	if (i == TABLE_NONE) {
		i = w->threads.n;
		table_add(&w->by_tid, hash_u64((u64)tid), i);
		vec_add(&w->threads, ((struct waiting_thread){.pid = pid, .tid = tid}));
	}
	/* The tid may belong to another thread by now. */
	if (w->threads.at[i].pid != pid)
		w->threads.at[i] = (struct waiting_thread){.pid = pid, .tid = tid};
	w->threads.at[i].look = w->n_looks;
	return &w->threads.at[i];
}

/* Parses "NUMBER ARGS... SP PC", "-1 SP PC" outside of system calls, or "running". */
static bool parse_place(const char *text, u64 *ret_sp, u64 *ret_ip)
{
	const char *words[16];
	size_t n = 0;

	for (const char *p = text; n < ARRAY_SIZE(words) && *p; n++) {
		words[n] = p;
		p += strcspn(p, " \n");
		p += strspn(p, " \n");
	}
	if (n < 3)
		return false;
	*ret_sp = strtoull(words[n - 2], NULL, 16);
	*ret_ip = strtoull(words[n - 1], NULL, 16);
	return *ret_sp && *ret_ip;
}

/*
 * Copies as much of the stack as exists: a transfer stops before the first piece that is not fully
 * mapped.
 */
static size_t copy_stack(const struct waiting *w, pid_t pid, u64 sp)
{
	enum { PIECE = 4096, PIECES = 17 };
	struct iovec here = {w->stack, w->stack_bytes}, there[PIECES];
	size_t n = 0, k = 0;
	ssize_t r;

	while (n < w->stack_bytes && k < PIECES) {
		size_t size = MIN(PIECE - (sp + n) % PIECE, w->stack_bytes - n);

		there[k++] = (struct iovec){(void *)(uintptr_t)(sp + n), size};
		n += size;
	}
	r = process_vm_readv(pid, &here, 1, there, k, 0);
	return r > 0 ? (size_t)r : 0;
}

static void look_at(struct waiting *w, pid_t pid, pid_t tid,
	void (*tell)(void *ctx, const struct waiting_place *place), void *ctx)
{
	struct waiting_thread *t = thread_of(w, pid, tid);
	struct waiting_place place = {.pid = pid, .tid = tid, .stack = w->stack};
	u64 runs = runs_of(pid, tid);
	char text[256];

	/* Without the number a new wait cannot be told from an old one. */
	if (!runs || runs == t->n_runs)
		return;
	if (read_file(pid, tid, "syscall", text, sizeof(text)) < 0) {
		w->n_refused += errno == EPERM || errno == EACCES;
		return;
	}
	if (!parse_place(text, &place.sp, &place.ip))
		return;
	place.n = copy_stack(w, pid, place.sp);
	place.time = clock_ns_of(w->clock);
	/* Report the wait only if it lasted from the first of these reads to the last. */
	if (runs_of(pid, tid) != runs || read_file(pid, tid, "syscall", text, sizeof(text)) <= 0 ||
		!strncmp(text, "running", 7) || runs_of(pid, tid) != runs)
		return;
	t->n_runs = runs;
	w->n_told++;
	tell(ctx, &place);
}

/* Adds the children that a thread has started. */
static void look_for_children(struct waiting *w, pid_t pid, pid_t tid)
{
	struct children children = {0};

	children_add(&children, pid, tid);
	vec_each(child, &children)
		waiting_add(w, *child);
	vec_fini(&children);
}

/* Looks at the threads of a process. False: it has ended. */
static bool look_at_process(struct waiting *w, pid_t pid,
	void (*tell)(void *ctx, const struct waiting_place *place), void *ctx)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((entry = readdir(dir)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		look_at(w, pid, tid, tell, ctx);
		if (w->n_looks % LOOKS_FOR_CHILDREN == 1)
			look_for_children(w, pid, tid);
	}
	closedir(dir);
	return true;
}

/*
 * Forgets old threads: tids are reused, and memory should not grow with every thread that ever
 * existed.
 */
static void forget(struct waiting *w)
{
	size_t n = 0;

	table_clear(&w->by_tid);
	vec_each(t, &w->threads) {
		if (t->look + LOOKS_FORGOTTEN < w->n_looks)
			continue;
		table_add(&w->by_tid, hash_u64((u64)t->tid), (u32)n);
		w->threads.at[n++] = *t;
	}
	w->threads.n = n;
}

void waiting_look(struct waiting *w, void (*tell)(void *ctx, const struct waiting_place *place),
	void *ctx)
{
	u64 began = clock_now_ns();
	size_t n = 0, n_pids = w->pids.n;

	w->n_looks++;
	for (size_t i = 0; i < n_pids; i++)
		if (!look_at_process(w, w->pids.at[i], tell, ctx))
			w->pids.at[i] = 0;
	vec_each(pid, &w->pids)
		if (*pid)
			w->pids.at[n++] = *pid;
	w->pids.n = n;
	if (w->n_looks % LOOKS_FORGOTTEN == 0)
		forget(w);
	w->due_ns = began + MAX((u64)LOOK_NS, COST * (clock_now_ns() - began));
}
