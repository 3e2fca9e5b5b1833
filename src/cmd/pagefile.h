/*
 * pagefile.h - the file of a page or a picture: it gets its name when it is complete.
 *
 * In       a path, or "-", the standard output; what writes the page
 * Out      out->fd is STDOUT_FILENO before; it is the new file's while it is open, standard output's again afterwards
 * Errors   those of file/fresh; ERR_SYS: the page could not be written
 */
#ifndef PACE_CMD_PAGEFILE_H
#define PACE_CMD_PAGEFILE_H

#include "base/out.h"
#include "file/fresh.h"

int pagefile_open(struct fresh *f, const char *path, struct out *out, struct err *err);

/* `result`: of what wrote the page; returns it, or another one if the file fails. */
int pagefile_close(struct fresh *f, struct out *out, int result, struct err *err);

#endif
