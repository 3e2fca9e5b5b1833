/*
 * dump.h - records as they are in the file: where they stand, their bytes, and each of their fields.
 *
 * In       records, in this machine's byte order
 * Out      text; foreign text in it is made safe
 * Owns     nothing
 */
#ifndef PACE_VIEW_DUMP_H
#define PACE_VIEW_DUMP_H

#include "base/str.h"
#include "record/formats.h"
#include "record/record.h"

void dump_add_record(const struct formats *formats, const char *path, const struct record *rec,
	struct str *text);

#endif
