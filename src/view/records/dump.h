/*
 * dump.h - records as they are in the file: where they stand, their bytes, and each of their fields.
 *
 * In       records, in this machine's byte order
 * Out      text; foreign text in it is made safe
 * Owns     nothing
 */
#ifndef PACE_VIEW_DUMP_H
#define PACE_VIEW_DUMP_H

#include "base/out.h"
#include "base/str.h"
#include "session/session.h"

/* All of a recording, in the order of the file. The tally of the session says what was missed. */
int dump_all(struct session *session, struct out *out, struct err *err);

#endif
