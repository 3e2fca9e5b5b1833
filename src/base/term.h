/*
 * term.h - what is at the other end of a file descriptor.
 */
#ifndef PACE_BASE_TERM_H
#define PACE_BASE_TERM_H

#include "base/types.h"

bool term_is_terminal(int fd);
unsigned term_columns(int fd); /* 80 if the terminal does not tell */

#endif
