/*
 * fence.h - what this process may open from now on: the kernel's Landlock.
 *
 * In       paths, and what is allowed below each
 * Out      after fence_raise() everything else is refused with EACCES, for this thread and all that it starts: files, programs,
 *          and, where the kernel can, TCP connections and signals to other processes. What is open already stays open
 * Owns     the set of rules, until fence_raise() or fence_drop()
 * Errors   ERR_UNSUPPORTED: this kernel has no Landlock (Linux 5.13), or it is switched off
 * Threads  raised before other threads begin
 * Source   linux/landlock.h, landlock(7)
 */
#ifndef PACE_BASE_FENCE_H
#define PACE_BASE_FENCE_H

#include "base/err.h"
#include "base/types.h"

struct fence {
	int rules;
	u64 known; /* rights that this kernel knows */
};

/* Whether the kernel offers it. */
bool fence_is_there(void);

int fence_open(struct fence *f, struct err *err);

/* A path that does not exist changes nothing. */
void fence_allow_read(struct fence *f, const char *path);
void fence_allow_run(struct fence *f, const char *path);   /* and to read */
void fence_allow_write(struct fence *f, const char *path); /* and to read, make and remove files */

/* There is no way back. Also gives up the rights of setuid programs. */
int fence_raise(struct fence *f, struct err *err);
void fence_drop(struct fence *f);

#endif
