/*
 * fd.h - reads and writes that signals do not interrupt.
 *
 * In       descriptors of files and pipes
 * Units    bytes; offsets count from the start of the file
 * Errors   an errno; the caller, who knows what was read or written, passes it to err_sys()
 */
#ifndef PACE_BASE_FD_H
#define PACE_BASE_FD_H

#include <sys/types.h>

#include "base/types.h"

/* Reads up to n bytes. Returns how many, 0 at the end of the file, or -1 with errno. */
ssize_t fd_read(int fd, void *p, size_t n);
ssize_t fd_read_some_at(int fd, void *p, size_t n, u64 offset);

/* Reads all n bytes at an offset. Returns 0 or an errno; EIO if the file is too short. */
int fd_read_at(int fd, void *p, size_t n, u64 offset);

/* Writes all n bytes. Returns 0 or an errno; ENOSPC if the descriptor takes no more. */
int fd_write(int fd, const void *p, size_t n);
int fd_write_at(int fd, const void *p, size_t n, u64 offset);

/* Whether a link leads to a device, a folder, a pipe, or to what a standard stream of this process is. */
bool fd_link_leads_to_stream(const char *link);

#endif
