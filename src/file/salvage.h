/*
 * salvage.h - finds records behind the end given by a file's header.
 *
 * A recorder that is killed has written more than its header says: pace's recorder updates the header ten
 * times a second.
 * In       a reader that has read a file's header and attrs; for a directory, the file with the header
 * Out      where the last sound record behind its data ends, and how many there are
 * Owns     nothing
 * Errors   none: what cannot be read is logged and counts as missing
 *
 * The data may be followed by something else: sections, ids, names of events, the rest of a longer file. A
 * file that has any of these is left alone, and the search ends at the first bytes that are not a record
 * as the file's own events write it.
 */
#ifndef PACE_FILE_SALVAGE_H
#define PACE_FILE_SALVAGE_H

#include "file/reader.h"

/*
 * Returns how many records are behind the end of the first part; *ret_end is the end of the last
 * one.
 */
u64 salvage_find(const struct reader *r, struct log *log, u64 *ret_end);

#endif
