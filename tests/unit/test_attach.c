#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "collect/run/attach.h"

/* Parts that write down what becomes of them, on this very process. */
static struct {
	char told[256];
	unsigned n_to_begin;  /* threads that the second part starts, one at a time it is opened */
	unsigned n_listed;    /* threads of the target when the second part was opened last */
	unsigned fails_after; /* the second part fails when it was opened so often; 0: never */
	struct target target;
} seen;

static void tell(const char *what, const char *name)
{
	size_t n = strlen(seen.told);

	snprintf(seen.told + n, sizeof(seen.told) - n, "%s%s ", what, name);
}

static void *wait_forever(void *arg)
{
	pause();
	return arg;
}

static int open_first(void *ctx, struct err *err)
{
	(void)err;
	tell("+", ctx);
	return 0;
}

static int open_second(void *ctx, struct err *err)
{
	pthread_t thread;

	tell("+", ctx);
	seen.n_listed = seen.target.threads.n;
	if (seen.n_to_begin && seen.n_to_begin--)
		CHECK(!pthread_create(&thread, NULL, wait_forever, NULL));
	if (seen.fails_after && !--seen.fails_after)
		return err_set(err, ERR_LIMIT, "no more");
	return 0;
}

static void close_part(void *ctx)
{
	tell("-", ctx);
}

static size_t reopen(void *ctx, s32 cpu)
{
	(void)ctx;
	(void)cpu;
	return 0;
}

/* Opens both on ourselves. */
static int attach(struct attach *a, bool inherits, struct err *err)
{
	static char pid[16];
	static struct target_words words = {.pids = pid};

	snprintf(pid, sizeof(pid), "%d", getpid());
	CHECK(!target_init(&seen.target, &words, err));
	attach_init(a, &seen.target, "tested", NULL);
	attach_add(a, &(struct attach_part){"a", open_first, close_part, reopen});
	attach_add(a, &(struct attach_part){"b", open_second, close_part, reopen});
	return attach_open(a, inherits ? &words : NULL, err);
}

static void end(struct attach *a)
{
	attach_fini(a);
	target_fini(&seen.target);
}

TEST(attach_opens_every_part_once_if_no_thread_begins_meanwhile)
{
	struct attach a;
	struct err err;

	CHECK(!attach(&a, true, &err));
	CHECK_STR(seen.told, "+a +b ");
	CHECK_EQ(a.n_attempts, 1);
	CHECK_EQ(a.late.n, 0);
	end(&a);
}

TEST(attach_opens_all_parts_again_when_a_thread_begins_while_one_of_them_is_opened)
{
	struct attach a;
	struct err err;

	seen.n_to_begin = 1;
	CHECK(!attach(&a, true, &err));
	CHECK_STR(seen.told, "+a +b -b -a +a +b ");
	CHECK_EQ(a.n_attempts, 2);
	CHECK_EQ(seen.n_listed, 2);
	CHECK_EQ(a.late.n, 0);
	end(&a);
}

TEST(attach_opens_once_what_is_not_inherited)
{
	struct attach a;
	struct err err;

	seen.n_to_begin = 1;
	CHECK(!attach(&a, false, &err));
	CHECK_STR(seen.told, "+a +b ");
	end(&a);
}

TEST(attach_leaves_nothing_open_when_a_part_fails)
{
	struct attach a;
	struct err err;

	seen.n_to_begin = 1;
	seen.fails_after = 2;
	CHECK(attach(&a, true, &err));
	CHECK_STR(err.msg, "no more");
	CHECK_STR(seen.told, "+a +b -b -a +a +b -a ");
	end(&a);
}
