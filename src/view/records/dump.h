/*
 * dump.h - records as they are in the file: their offsets, their bytes, and each of their fields.
 *
 * In       records, in this machine's byte order
 * Out      text; text from the file is made safe
 * Owns     nothing
 */
#ifndef PACE_VIEW_DUMP_H
#define PACE_VIEW_DUMP_H

#include "base/out.h"
#include "base/str.h"
#include "session/session.h"

/* Dumps a whole recording, in the order of the file. The session's tally says what was missed. */
int dump_all(struct session *session, struct out *out, struct err *err);

#endif
