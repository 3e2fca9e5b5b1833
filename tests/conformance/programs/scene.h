/*
 * scene.h - what the conformance programs share.
 *
 * A scene gets into a situation that is hard to see through and spins there. What a profile of it
 * must say stands beside it: a comment "chain:" names the frames, the innermost first, and
 * "at NAME" marks the line that frame NAME is at. How both are written: tests/conformance/answers.py.
 */
#ifndef SCENE_H
#define SCENE_H

#ifdef __cplusplus
extern "C" {
#endif

extern long spins; /* rounds that a scene spins: some milliseconds */

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
#define INLINE static inline __attribute__((always_inline))

/* gcc leaves frame pointers out of leaf functions unless told otherwise. */
#ifdef HAS_FRAMES
#define HAVE_FRAME __asm__ volatile("" ::"r"(__builtin_frame_address(0)))
#else
#define HAVE_FRAME ((void)0)
#endif

/* All of it is in one line, and in the function that says it. */
#define SPIN                                         \
	HAVE_FRAME;                                  \
	for (long left_ = spins; left_ > 0; left_--) \
	__asm__ volatile("" ::: "memory")
/* Behind a call: then it is not the last thing a function does. */
#define AFTER __asm__ volatile("" ::: "memory")

#define SCENES(X)    \
	X(plain)     \
	X(inlines)   \
	X(recursion) \
	X(mutual)    \
	X(deep)      \
	X(tail)      \
	X(split)     \
	X(landed)    \
	X(noreturn)  \
	X(alloca)    \
	X(realigned) \
	X(ifunc)     \
	X(aligned)   \
	X(segment)   \
	X(clock)     \
	X(syscall)   \
	X(library)   \
	X(callback)  \
	X(plt)       \
	X(timer)     \
	X(fault)     \
	X(altstack)  \
	X(coroutine) \
	X(thread)    \
	X(fork)      \
	X(vfork)     \
	X(exec)      \
	X(dlopen)    \
	X(perfmap)   \
	X(jitdump)   \
	X(bare)      \
	X(rust)      \
	X(template)  \
	X(lambda)    \
	X(virtual)   \
	X(caught)

#define X(name) void scene_##name(void);
SCENES(X)
#undef X

/* libother.so */
void outside(void);
void hot_in_library(long n);
void library_calls_back(void (*f)(void));

#ifdef __cplusplus
}
#endif
#endif
