/* How functions call each other: inlined, again, as the last thing, never to return. */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "scene.h"

NOINLINE void hot_plain(void)
{
	SPIN; /* at hot_plain */
}

/* chain: hot_plain <- scene_plain <- main */
NOINLINE void scene_plain(void)
{
	hot_plain(); /* at scene_plain */
	AFTER;
}

/* ---- inlined ---- */

INLINE void inner(void)
{
	SPIN; /* at inner */
}

INLINE void outer(void)
{
	AFTER;
	inner(); /* at outer */
}

NOINLINE void hot_inlines(void)
{
	outer(); /* at hot_inlines */
}

INLINE void calls_inlined(void)
{
	hot_inlines(); /* at calls_inlined */
	AFTER;
}

/* chain: (inner) <- (outer) <- hot_inlines <- (calls_inlined) <- scene_inlines <- main */
NOINLINE void scene_inlines(void)
{
	calls_inlined(); /* at scene_inlines */
	AFTER;
}

/* ---- recursion ---- */

NOINLINE void hot_recursion(void)
{
	SPIN; /* at hot_recursion */
}

NOINLINE void again(int n)
{
	if (n)
		again(n - 1); /* at again */
	else
		hot_recursion(); /* at again_last */
	AFTER;
}

/* chain: hot_recursion <- again@again_last <- again*5 <- scene_recursion <- main */
NOINLINE void scene_recursion(void)
{
	again(5); /* at scene_recursion */
	AFTER;
}

NOINLINE void hot_mutual(void)
{
	SPIN; /* at hot_mutual */
}

NOINLINE void odd(int n);

NOINLINE void even(int n)
{
	if (n)
		odd(n - 1); /* at even */
	else
		hot_mutual(); /* at even_last */
	AFTER;
}

NOINLINE void odd(int n)
{
	even(n - 1); /* at odd */
	AFTER;
}

/* chain: hot_mutual <- even@even_last <- odd <- even <- odd <- even <- scene_mutual <- main */
NOINLINE void scene_mutual(void)
{
	even(4); /* at scene_mutual */
	AFTER;
}

NOINLINE void hot_deep(void)
{
	SPIN; /* at hot_deep */
}

NOINLINE void down(int n)
{
	if (n)
		down(n - 1); /* at down */
	else
		hot_deep(); /* at down_last */
	AFTER;
}

/* More frames than the kernel follows frame pointers (perf_event_max_stack). */
/* chain: hot_deep <- down@down_last <- down*150 <- scene_deep <- main -- dwarf */
/* chain: hot_deep <- down@down_last <- down+ <- cut -- not dwarf */
NOINLINE void scene_deep(void)
{
	down(150); /* at scene_deep */
	AFTER;
}

/* ---- calls that are jumps ---- */

extern const char __start_text_of_tail[], __stop_text_of_tail[];

static const char *caller;

NOINLINE void hot_tail(void)
{
	caller = __builtin_return_address(0);
	SPIN; /* at hot_tail */
}

__attribute__((section("text_of_tail"))) NOINLINE void calls_last(void)
{
	hot_tail(); /* at calls_last */
}

/* chain: hot_tail <- calls_last if not has_tail_calls <- scene_tail <- main */
NOINLINE void scene_tail(void)
{
	calls_last(); /* at scene_tail */
	printf("fact has_tail_calls %d\n",
		caller < __start_text_of_tail || caller > __stop_text_of_tail);
}

/* ---- functions in two parts ---- */

__attribute__((cold)) NOINLINE void hot_cold(void)
{
	SPIN; /* at hot_cold */
}

NOINLINE void divided(int is_rare)
{
	AFTER;
	if (__builtin_expect(is_rare, 0)) {
		hot_cold(); /* at divided.cold at divided */
		AFTER;
	}
	AFTER;
}

/* chain: hot_cold <- divided.cold if is_split <- divided if not is_split <- scene_split <- main -- has_locals */
/* chain: hot_cold <- ~ if is_split <- divided if not is_split <- scene_split <- main -- not has_locals */
NOINLINE void scene_split(void)
{
	divided(1); /* at scene_split */
	AFTER;
}

/* ---- jumps out ---- */

static jmp_buf out;

NOINLINE void hot_landed(void)
{
	SPIN; /* at hot_landed */
}

NOINLINE void jumps(int n)
{
	if (!n)
		longjmp(out, 1);
	jumps(n - 1);
	AFTER;
}

/* chain: hot_landed <- scene_landed <- main */
NOINLINE void scene_landed(void)
{
	if (!setjmp(out))
		jumps(5);
	hot_landed(); /* at scene_landed */
	AFTER;
}

__attribute__((noreturn)) NOINLINE void hot_never_returns(void)
{
	SPIN; /* at hot_never_returns */
	longjmp(out, 1);
}

/* Its call is its last instruction: it would return to the next function. */
NOINLINE void doomed(void)
{
	hot_never_returns(); /* at doomed */
}

/* It may be on its way out too, in the C library. */
/* chain: ... <- hot_never_returns@any <- doomed <- scene_noreturn <- main */
NOINLINE void scene_noreturn(void)
{
	if (!setjmp(out))
		doomed(); /* at scene_noreturn */
	AFTER;
}

/* ---- frames of any size ---- */

NOINLINE void hot_alloca(volatile char *room)
{
	room[0] = 1;
	SPIN; /* at hot_alloca */
}

/* chain: hot_alloca <- scene_alloca <- main */
NOINLINE void scene_alloca(void)
{
	for (long n = 10; n < 3000; n += 2000) {
		hot_alloca(alloca(n)); /* at scene_alloca */
		AFTER;
	}
}

NOINLINE void hot_realigned(volatile int *wide)
{
	wide[0] = 1;
	SPIN; /* at hot_realigned */
}

NOINLINE void realigns(long n)
{
	volatile int wide[16] __attribute__((aligned(128)));
	volatile char room[n];

	room[0] = 0;
	hot_realigned(wide); /* at realigns */
	AFTER;
	wide[1] = room[0];
}

/* chain: hot_realigned <- realigns <- scene_realigned <- main */
NOINLINE void scene_realigned(void)
{
	realigns(33); /* at scene_realigned */
	AFTER;
}

/* ---- where code lies ---- */

NOINLINE void hot_chosen(void)
{
	SPIN; /* at hot_chosen */
}

static void (*choose(void))(void)
{
	return hot_chosen;
}

void chosen_when_loaded(void) __attribute__((ifunc("choose")));

/* chain: hot_chosen <- scene_ifunc <- main */
NOINLINE void scene_ifunc(void)
{
	chosen_when_loaded(); /* at scene_ifunc */
	AFTER;
}

__attribute__((aligned(8192))) NOINLINE void hot_aligned(void)
{
	SPIN; /* at hot_aligned */
}

/* chain: hot_aligned <- scene_aligned <- main */
NOINLINE void scene_aligned(void)
{
	hot_aligned(); /* at scene_aligned */
	AFTER;
}

__attribute__((section(".far"))) NOINLINE void hot_far(void)
{
	SPIN; /* at hot_far */
}

__attribute__((section(".far"))) NOINLINE void calls_far(void)
{
	hot_far(); /* at calls_far */
	AFTER;
}

/* chain: hot_far <- calls_far <- scene_segment <- main */
NOINLINE void scene_segment(void)
{
	calls_far(); /* at scene_segment */
	AFTER;
}

/* ---- other files ---- */

NOINLINE void hot_clock(void)
{
	struct timespec t;

	for (long n = spins / 100; n > 0; n--)
		clock_gettime(CLOCK_MONOTONIC, &t);
}

/* chain: ... <- hot_clock@any <- scene_clock <- main -- dwarf */
NOINLINE void scene_clock(void)
{
	hot_clock(); /* at scene_clock */
	AFTER;
}

NOINLINE void hot_syscall(void)
{
	for (long n = spins / 300; n > 0; n--)
		syscall(SYS_getppid);
}

/* chain: ... <- hot_syscall@any <- scene_syscall <- main -- dwarf */
NOINLINE void scene_syscall(void)
{
	hot_syscall(); /* at scene_syscall */
	AFTER;
}

/* chain: hot_in_library <- scene_library <- main */
NOINLINE void scene_library(void)
{
	hot_in_library(spins); /* at scene_library */
	AFTER;
}

NOINLINE void hot_called_back(void)
{
	SPIN; /* at hot_called_back */
}

/* chain: hot_called_back <- library_calls_back <- scene_callback <- main */
NOINLINE void scene_callback(void)
{
	library_calls_back(hot_called_back); /* at scene_callback */
	AFTER;
}

NOINLINE void hot_plt(void)
{
	for (long n = spins / 4; n > 0; n--)
		outside();
}

/* chain: ... <- hot_plt@any <- scene_plt <- main -- dwarf */
NOINLINE void scene_plt(void)
{
	hot_plt(); /* at scene_plt */
	AFTER;
}
