/*
 * nametag.h - adds the event's id to records: PERF_SAMPLE_IDENTIFIER, where it was not requested.
 *
 * If a recording has only one event, its samples need no id. Together with other events they do: each
 * sample gets an id in front, each other record of the kernel one at its end, where readers find it
 * whatever else the record holds.
 * In       records and their event's format, without the id
 * Out      records of the same event with PERF_SAMPLE_IDENTIFIER in its sample_type
 * Errors   ERR_LIMIT for a record that has no room for eight more bytes
 */
#ifndef PACE_FILE_NAMETAG_H
#define PACE_FILE_NAMETAG_H

#include "record/sample.h"

/*
 * Sets *ret_rec to `rec` with a tag, in `room`; or to `rec` itself if it has a tag or needs none.
 * The tag is the record's own ID if it has one, else `id`.
 */
int nametag_put(const struct sample_format *format, const struct record *rec, u64 id,
	struct str *room, struct record *ret_rec, struct err *err);

#endif
