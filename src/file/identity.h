/*
 * identity.h - what every recording says of itself: which machine, which command line, which events.
 *
 * In       this machine; the events; the command line without the program's name
 * Out      struct file_info, to be finished with file_info_fini(); words and ids are borrowed
 */
#ifndef PACE_FILE_IDENTITY_H
#define PACE_FILE_IDENTITY_H

#include "file/feature.h"

void identity_fill(struct file_info *info, const struct event_list *events, const char *version,
	int argc, char **argv);

/* By which clock the events were timed, and what it and the wall clock say now. */
void identity_add_clock(struct file_info *info, s32 clock);

#endif
