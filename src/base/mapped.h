/*
 * mapped.h - mapped files that another process truncates while we read them.
 *
 * A read beyond the new end of such a file raises SIGBUS. A profiler meets this when a program that
 * runs for hours is rebuilt over the old file.
 * Threads  the setting applies to the whole process
 * Source   mmap(2), sigaction(2): BUS_ADRERR
 */
#ifndef PACE_BASE_MAPPED_H
#define PACE_BASE_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

/* From now on, pages beyond the end of a truncated file read as zeros instead of ending this process. */
void mapped_read_zeros(void);

/*
 * The first page of [at, at + n) that was found truncated and reads as zeros, or NULL. Only the newest
 * 64 such pages are remembered: everything after the first one is lost anyway.
 */
const void *mapped_hurt(const void *at, size_t n);

/* Forgets the truncated pages of [at, at + n), because something new is mapped there. */
void mapped_forget(const void *at, size_t n);

/* Whether mapped_read_zeros() was called. libpace does not call it: it leaves its host's signals alone. */
bool mapped_is_safe(void);

#endif
