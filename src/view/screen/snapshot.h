/*
 * snapshot.h - writes what a view shows to a new file in the current folder.
 *
 * In       the beginning of the file's name; text
 * Out      the first file NAME.N that was not there; a message for the user
 * Owns     nothing
 * Errors   are in the message
 */
#ifndef PACE_VIEW_SNAPSHOT_H
#define PACE_VIEW_SNAPSHOT_H

#include "base/str.h"

/* Replaces the message. */
void snapshot_write(const char *name, const struct str *text, struct str *message);

#endif
