/*
 * identity.h - what every recording says about itself: which machine, which command line, which events.
 *
 * In       this machine; the events; the command line without the program's name
 * Out      struct file_info, to be released by file_info_fini(). It borrows words and ids
 */
#ifndef PACE_FILE_IDENTITY_H
#define PACE_FILE_IDENTITY_H

#include "file/feature.h"

void identity_fill(struct file_info *info, const struct event_list *events, const char *version,
	int argc, char **argv);

/* Adds the clock that timed the events, and the present times of that clock and the wall clock. */
void identity_add_clock(struct file_info *info, s32 clock);

#endif
