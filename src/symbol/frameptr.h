/*
 * frameptr.h - whether a program keeps frame pointers, so that its callers can be found by them.
 *
 * In       a program's file
 * Out      the share of its code in which the frame pointer leads to the caller, by its call frame
 *          information, looked at in some hundred places
 * Source   System V ABI supplements for x86-64 and i386; Procedure Call Standard for the Arm 64-bit
 *          architecture
 */
#ifndef PACE_SYMBOL_FRAMEPTR_H
#define PACE_SYMBOL_FRAMEPTR_H

enum frameptr {
	FRAMEPTR_UNKNOWN, /* no file, no call frame information, another architecture */
	FRAMEPTR_KEPT,
	FRAMEPTR_OMITTED,
};

enum frameptr frameptr_of_file(const char *path);

#endif
