/*
 * mapped.h - mapped files that somebody else cuts off while we read them.
 *
 * What was behind the new end of such a file cannot be read any more: SIGBUS. Who reads the files of
 * programs that run for hours meets that: a program that is built anew over the old one.
 * Threads  the setting is the process's
 * Source   mmap(2), sigaction(2): BUS_ADRERR
 */
#ifndef PACE_BASE_MAPPED_H
#define PACE_BASE_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

/* From now on such pages read as zeros, instead of ending this process. */
void mapped_read_zeros(void);

/*
 * The first page of [at, at + n) that reads as zeros, or NULL. Of very many such pages some are
 * forgotten: what was cut has them all behind the first one.
 */
const void *mapped_hurt(const void *at, size_t n);

/* Something new is mapped at [at, at + n): what was there before is forgotten. */
void mapped_forget(const void *at, size_t n);

/* Whether mapped_read_zeros() was called: a library leaves its host's signals alone. */
bool mapped_is_safe(void);

#endif
