/*
 * nametag.h - records that say whose they are: PERF_SAMPLE_IDENTIFIER, put in where nobody asked for it.
 *
 * The only event of a recording needs no id in its samples. Beside other events it does: each sample
 * gets one in front, each other record of the kernel one at its end, where readers look for it
 * whatever else is in them.
 * In       records and the format of their event, as they are
 * Out      records of the same event with PERF_SAMPLE_IDENTIFIER in its sample_type
 * Errors   ERR_LIMIT for a record that is too long for eight bytes more
 */
#ifndef PACE_FILE_NAMETAG_H
#define PACE_FILE_NAMETAG_H

#include "record/sample.h"

/*
 * *ret_rec is rec with a tag, in `room`, or rec itself if it has one or needs none. Its own ID, if
 * there is one, is what the tag says, else `id`.
 */
int nametag_put(const struct sample_format *format, const struct record *rec, u64 id,
	struct str *room, struct record *ret_rec, struct err *err);

#endif
