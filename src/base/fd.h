/*
 * fd.h - reading and writing of descriptors that signals do not interrupt.
 *
 * In       descriptors of files and pipes
 * Units    bytes; offsets count from the start of the file
 * Errors   an errno, for err_sys() with the words of whoever knows what was read
 */
#ifndef PACE_BASE_FD_H
#define PACE_BASE_FD_H

#include <sys/types.h>

#include "base/types.h"

/* What there is, n bytes at most: how many, 0 at the end, -1 with errno. */
ssize_t fd_read(int fd, void *p, size_t n);
ssize_t fd_read_some_at(int fd, void *p, size_t n, u64 offset);

/* All n bytes at an offset: 0 or an errno; EIO if the file ends before. */
int fd_read_at(int fd, void *p, size_t n, u64 offset);

/* All n bytes: 0 or an errno; ENOSPC if nothing more is taken. */
int fd_write(int fd, const void *p, size_t n);
int fd_write_at(int fd, const void *p, size_t n, u64 offset);

#endif
