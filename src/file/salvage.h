/*
 * salvage.h - the records behind the end that a file's header says.
 *
 * A recorder that was killed had written more than it had told its header: pace's tells it ten times a second.
 * In       a reader that has read header and attrs of a file; of a directory, the one with the header
 * Out      where the last sound record behind its data ends, and how many there are
 * Owns     nothing
 * Errors   none: what cannot be read is said, and not there
 *
 * What follows the data may be anything of others: sections, ids, names of events, the rest of a longer
 * file. So a file that has such is left alone, and the first thing that is not a record as the file's own
 * events write it ends the search.
 */
#ifndef PACE_FILE_SALVAGE_H
#define PACE_FILE_SALVAGE_H

#include "file/reader.h"

/* How many records lie behind the end of the first part; *ret_end is where the last of them ends. */
u64 salvage_find(const struct reader *r, struct log *log, u64 *ret_end);

#endif
