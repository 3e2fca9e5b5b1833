/*
 * freshpages.h - pages that nobody has touched before: each touch is one page fault, exactly.
 */
#ifndef PACE_TESTS_UNIT_FRESHPAGES_H
#define PACE_TESTS_UNIT_FRESHPAGES_H

#include <stddef.h>

volatile char *freshpages_map(size_t n);
void freshpages_unmap(volatile char *pages, size_t n);

/* Writes to the first n of them. */
void freshpages_write(volatile char *pages, size_t n);

/* Writes to n pages of its own. */
void freshpages_touch(size_t n);

#endif
