/* Functions of nocfi.S, which say little or nothing about themselves. */
#include "scene.h"

void hot_bare_leaf(long n);
void hot_bare_frame(long n);
void bare_frame_calls(void (*f)(void));
void bare_push_calls(void (*f)(void));

NOINLINE void hot_under_frame(void)
{
	SPIN; /* at hot_under_frame */
}

NOINLINE void hot_under_push(void)
{
	SPIN; /* at hot_under_push */
}

/* Without a frame and without a word about it, only the code tells where the caller is. */
/* chain: hot_bare_frame@any <- scene_bare@bare_frame <- main */
/* chain: hot_bare_leaf@any <- scene_bare@bare_leaf if dwarf <- main */
/* chain: hot_under_frame <- bare_frame_calls@any <- scene_bare@bare_frame_calls <- main */
/* What pushes and calls without keeping a frame pointer is not followed: no caller, and no false one. */
/* chain: hot_under_push <- bare_push_calls@any <- scene_bare@bare_push_calls <- main -- dwarf */
/* chain: hot_under_push <- bare_push_calls@any <- cut -- dwarf */
/* chain: hot_under_push <- bare_push_calls@any <- main -- not dwarf */
NOINLINE void scene_bare(void)
{
	hot_bare_frame(spins);             /* at bare_frame */
	hot_bare_leaf(spins);              /* at bare_leaf */
	bare_frame_calls(hot_under_frame); /* at bare_frame_calls */
	bare_push_calls(hot_under_push);   /* at bare_push_calls */
	AFTER;
}
