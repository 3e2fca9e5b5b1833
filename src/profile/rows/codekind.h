/*
 * codekind.h - kinds of code, by which pictures colour functions: a character each, which is also what files hold.
 */
#ifndef PACE_PROFILE_CODEKIND_H
#define PACE_PROFILE_CODEKIND_H

enum codekind {
	CODEKIND_TASK = 't', /* no code: a thread's name, above its stacks */
	CODEKIND_PROGRAM = 'u',
	CODEKIND_LIBRARY = 'l',
	CODEKIND_KERNEL = 'k',
	CODEKIND_JIT = 'j',
	CODEKIND_INLINED = 'i',
	CODEKIND_NAMELESS = '?', /* its name is not known */
	CODEKIND_CUT = '!',      /* stands for callers that were not found */
};

#endif
