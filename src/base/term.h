/*
 * term.h - what is at the other end of a file descriptor.
 */
#ifndef PACE_BASE_TERM_H
#define PACE_BASE_TERM_H

#include "base/types.h"

bool term_is_terminal(int fd);
bool term_has_utf8(void);      /* the user's locale says that terminals show UTF-8 */
unsigned term_columns(int fd); /* 80 if the terminal does not tell */
unsigned term_rows(int fd);    /* 24 */
bool term_can_erase(int fd);   /* a terminal whose lines can be written again */

#endif
