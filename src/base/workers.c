#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/mem.h"

struct crew {
	void (*piece)(void *ctx, size_t i, unsigned worker);
	void *ctx;
	size_t n_pieces;
	atomic_size_t next;
	atomic_uint next_worker;
	bool is_trying; /* if one worker runs out of memory, all give up */
	atomic_bool is_exhausted;
	atomic_size_t exhausted_by; /* bytes */
};

unsigned workers_available(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return MIN(MAX(n, 1), WORKERS_MAX);
}

static void work(struct crew *crew)
{
	unsigned worker = atomic_fetch_add(&crew->next_worker, 1);
	size_t i;

	while ((i = atomic_fetch_add(&crew->next, 1)) < crew->n_pieces)
		crew->piece(crew->ctx, i, worker);
}

static void take_pieces(void *arg)
{
	work(arg);
}

/* Only notes that memory ran out: the other threads have to end before the caller is left. */
static void try_work(struct crew *crew)
{
	size_t size;

	if (!crew->is_trying) {
		work(crew);
	} else if (!mem_try(take_pieces, crew, &size)) {
		atomic_store(&crew->next, crew->n_pieces);
		atomic_store(&crew->exhausted_by, size);
		atomic_store(&crew->is_exhausted, true);
	}
}

static void *thread_main(void *arg)
{
	try_work(arg);
	return NULL;
}

void workers_run(unsigned n_workers, size_t n_pieces,
	void (*piece)(void *ctx, size_t i, unsigned worker), void *ctx)
{
	struct crew crew = {.piece = piece,
		.ctx = ctx,
		.n_pieces = n_pieces,
		.is_trying = mem_is_trying()};
	pthread_t threads[WORKERS_MAX];
	sigset_t all, old;
	unsigned started = 0;

	n_workers = MIN((size_t)MIN(n_workers, WORKERS_MAX), n_pieces);
	/* Workers block signals, so that the thread gets them that knows what to do about them. */
	sigfillset(&all);
	/* The SIGBUS of a truncated mapped file ends the process if it is blocked (base/mapped.h). */
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (started + 1 < n_workers) {
		/* With fewer threads than wanted the work is the same, only slower. */
		if (pthread_create(&threads[started], NULL, thread_main, &crew))
			break;
		started++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	try_work(&crew);
	while (started)
		pthread_join(threads[--started], NULL);
	if (atomic_load(&crew.is_exhausted))
		mem_exhausted(atomic_load(&crew.exhausted_by));
}
