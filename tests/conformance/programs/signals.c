/* Functions that are interrupted, and stacks that are not the thread's. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <ucontext.h>

#include "scene.h"

static volatile int has_fired;

NOINLINE void hot_in_timer(void)
{
	SPIN; /* at hot_in_timer */
}

NOINLINE void on_timer(int signo)
{
	(void)signo;
	hot_in_timer(); /* at on_timer */
	has_fired = 1;
}

/* A leaf: where frame pointers are left out it has no frame at all. */
NOINLINE void interrupted(void)
{
	HAVE_FRAME;
	while (!has_fired) /* at interrupted */
		;
}

/* chain: hot_in_timer <- on_timer <- ~ <- interrupted if dwarf <- scene_timer <- main */
NOINLINE void scene_timer(void)
{
	struct itimerval soon = {{0, 0}, {0, 2000}};

	has_fired = 0;
	signal(SIGVTALRM, on_timer);
	setitimer(ITIMER_VIRTUAL, &soon, NULL);
	interrupted(); /* at scene_timer */
	AFTER;
}

/* ---- interrupted at a function's very first instruction ---- */

NOINLINE void hot_in_fault(void)
{
	SPIN; /* at hot_in_fault */
}

NOINLINE void on_fault(int signo, siginfo_t *info, void *context)
{
	(void)signo, (void)info;
	hot_in_fault(); /* at on_fault */
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

void faults(void);

/* chain: hot_in_fault <- on_fault <- ~ <- faults@any if dwarf <- scene_fault if dwarf <- main */
NOINLINE void scene_fault(void)
{
	struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	sigaction(SIGILL, &act, NULL);
	faults(); /* at scene_fault */
	AFTER;
}

/* ---- on a stack of its own ---- */

static char other_stack[32768] __attribute__((aligned(16)));

NOINLINE void hot_on_altstack(void)
{
	SPIN; /* at hot_on_altstack */
}

NOINLINE void on_altstack(int signo, siginfo_t *info, void *context)
{
	(void)signo, (void)info;
	hot_on_altstack(); /* at on_altstack */
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

/* What lay on the thread's own stack is not in a dump of the other one. */
/* chain: hot_on_altstack <- on_altstack <- ~ <- faults@any <- cut -- dwarf */
/* chain: hot_on_altstack <- on_altstack <- ~ <- main -- not dwarf */
NOINLINE void scene_altstack(void)
{
	stack_t other = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
	struct sigaction act = {.sa_sigaction = on_altstack, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigaltstack(&other, NULL);
	sigaction(SIGILL, &act, NULL);
	faults();
	AFTER;
}

static ucontext_t back, coroutine;

NOINLINE void hot_coroutine(void)
{
	SPIN; /* at hot_coroutine */
}

/* chain: hot_coroutine <- coroutine_body <- ~ <- end -- dwarf */
NOINLINE void coroutine_body(void)
{
	hot_coroutine(); /* at coroutine_body */
	AFTER;
}

NOINLINE void scene_coroutine(void)
{
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = other_stack;
	coroutine.uc_stack.ss_size = sizeof(other_stack);
	coroutine.uc_link = &back;
	makecontext(&coroutine, coroutine_body, 0);
	swapcontext(&back, &coroutine);
	AFTER;
}
