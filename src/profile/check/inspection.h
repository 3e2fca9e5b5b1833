/*
 * inspection.h - counts and checks a recording, record by record: what is in it, and what is odd, lost or
 * broken.
 *
 * In       an open reader; a log for messages while reading
 * Out      struct inspection, which view/records/lint shows as text
 * Owns     its arrays and strings
 * Units    times are ns of the perf clock, offsets those of the reader
 * Errors   reading errors. Damage is not an error: an inspection is there to find it
 * Threads  one
 */
#ifndef PACE_PROFILE_INSPECTION_H
#define PACE_PROFILE_INSPECTION_H

#include "base/err.h"
#include "base/log.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"
#include "file/reader.h"

struct inspection_type {
	u32 type;
	u64 n, bytes;
};

/* How often something was found, with the first and the worst case. */
struct inspection_finding {
	u64 n;
	u64 offset;       /* of the first record */
	u64 worst_ns;     /* for findings about times */
	u64 worst_offset; /* of the record with worst_ns */
	const char *what; /* the error of the first one, or NULL */
};

struct inspection_event {
	u64 n_samples;
	u64 n_dropped; /* by LOST_SAMPLES records */
};

struct inspection {
	VEC(struct inspection_type) types;   /* ascending */
	VEC(struct inspection_event) events; /* as many as the reader has */
	u64 n_records, n_samples;
	u64 n_payload_bytes; /* after AUXTRACE and TRACING_DATA records, not counted in their sizes */

	u64 first_time, last_time; /* of all records with a time; 0: there are none */

	struct inspection_finding unordered; /* records after one with a later time */
	u64 unordered_bytes;            /* how far before its position the worst of them belongs */
	struct inspection_finding late; /* older than an earlier FINISHED_ROUND permits */
	struct inspection_finding backwards; /* after a later one of the same thread and CPU */
	struct inspection_finding unknown;   /* of types without a name */
	struct inspection_finding foreign;   /* samples of events that the file does not describe */
	struct inspection_finding undecoded; /* records too short for their fields */
	struct inspection_finding odd;       /* records with impossible values: record/oddity.h */
	struct inspection_finding unaligned; /* records whose size is not a multiple of 8 */
	u64 n_not_native; /* records of the other byte order that cannot be converted */

	u64 n_lost_records, n_lost_samples; /* dropped by the kernel */
	u64 n_filtered;                     /* dropped by a BPF filter, as the user asked */
	u64 n_throttled, n_aux_truncated;
	struct reader_damage damage;
	struct arena arena;
};

int inspection_take(struct inspection *s, struct reader *r, struct log *log, struct err *err);
void inspection_fini(struct inspection *s);

/* How many records of a type there are. */
u64 inspection_count(const struct inspection *s, u32 type);

#endif
