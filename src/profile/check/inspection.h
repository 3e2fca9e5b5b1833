/*
 * inspection.h - a recording counted and checked, record by record: what is in it, what is odd, lost or
 * broken.
 *
 * In       an open reader; a log for what it says meanwhile
 * Out      struct inspection, which view/records/lint makes text of
 * Owns     its arrays and strings
 * Units    times are ns of the perf clock, offsets those of the reader
 * Errors   reading errors. Damage is no error: it is what an inspection is for
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

/* How often something was met, the first time and the worst. */
struct inspection_finding {
	u64 n;
	u64 offset;       /* of the first record */
	u64 worst_ns;     /* where it is about times */
	u64 worst_offset; /* of the record with that */
	const char *what; /* the error that the first one gave, or NULL */
};

struct inspection_event {
	u64 n_samples;
	u64 n_dropped; /* by LOST_SAMPLES records */
};

struct inspection {
	VEC(struct inspection_type) types;   /* ascending */
	VEC(struct inspection_event) events; /* as many as the reader has */
	u64 n_records, n_samples;
	u64 n_payload_bytes; /* behind AUXTRACE and TRACING_DATA records, in none of their sizes */

	u64 first_time, last_time; /* of all records that carry one; 0: none does */

	struct inspection_finding unordered; /* records behind a later one */
	u64 unordered_bytes; /* how far in front of its place the worst of them belongs */
	struct inspection_finding late; /* older than what a FINISHED_ROUND before them promises */
	struct inspection_finding backwards; /* behind a later one of the same thread and CPU */
	struct inspection_finding unknown;   /* of types without a name */
	struct inspection_finding foreign;   /* samples of events that the file does not describe */
	struct inspection_finding undecoded; /* with fields that do not fit into them */
	struct inspection_finding odd;       /* records that say what cannot be: record/oddity.h */
	struct inspection_finding unaligned; /* with a size that is no multiple of 8 */
	u64 n_not_native;                    /* of the other byte order, and no sense in this one */

	u64 n_lost_records, n_lost_samples; /* dropped by the kernel */
	u64 n_filtered;                     /* dropped by a BPF filter, as was wished */
	u64 n_throttled, n_aux_truncated;
	struct reader_damage damage;
	struct arena arena;
};

int inspection_take(struct inspection *s, struct reader *r, struct log *log, struct err *err);
void inspection_fini(struct inspection *s);

/* How many records of a type there are. */
u64 inspection_count(const struct inspection *s, u32 type);

#endif
