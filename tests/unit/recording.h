/*
 * recording.h - a perf.data file made by hand, in memory, for tests.
 *
 * In       events, then records in the order in which the file shall have them
 * Out      the file's bytes; where each record begins
 * Owns     events, records
 * Units    times are ns; offsets count from the start of the file unless they are said to be in
 * `data`
 */
#ifndef PACE_TESTS_UNIT_RECORDING_H
#define PACE_TESTS_UNIT_RECORDING_H

#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"
#include "event/event.h"
#include "file/feature.h"
#include "record/record.h"
#include "record/sample.h"
#include "trace/trace.h"

struct recording {
	struct event_list events;
	struct str data;
	VEC(u64) starts; /* of the records, in data */
};

/* Whose record it is, and when: what the trailer says. */
struct recording_who {
	u32 pid, tid;
	u64 time;
};

void recording_fini(struct recording *r);

/* Adds an event with `n_ids` ids: first_id, first_id + 1, ... All have ATTR_SAMPLE_ID_ALL. */
void recording_event(struct recording *r, const char *name, u64 sample_type, u64 first_id,
	u32 n_ids);

/* Adds any record: a header, n bytes. */
void recording_raw(struct recording *r, u32 type, u16 misc, const void *body, size_t n);

/* Adds a record of the type table with the trailer of event 0. */
void recording_add(struct recording *r, u32 type, u16 misc, const union record_body *body,
	struct recording_who who);
void recording_comm(struct recording *r, u16 misc, struct recording_who who, const char *comm);
void recording_mmap(struct recording *r, u16 misc, struct recording_who who, u64 addr, u64 len,
	u64 pgoff, const char *path);
void recording_fork(struct recording *r, u32 ppid, u32 ptid, struct recording_who child);
void recording_exit(struct recording *r, struct recording_who who);

/* Adds a sample of event `event`. */
void recording_sample(struct recording *r, u32 event, u16 misc, const struct sample *sample);

/*
 * Makes an example: two events and n samples of theirs, with records of several kinds and sizes
 * between them. Their code is in a file that no machine has.
 */
void recording_example(struct recording *r, u32 n_samples);

/* Fills in sections of several shapes. What they point to is not theirs; file_info_fini() frees the
 * rest. */
void recording_describe(const struct recording *r, struct file_info *ret_info);

/* Where the data begins in the composed file. */
u64 recording_data_offset(const struct recording *r);

/* Appends the whole file; `info` NULL: without sections. */
void recording_compose(const struct recording *r, const struct file_info *info, struct str *file);

/* The same, into a file. */
void recording_write(const struct recording *r, const struct file_info *info, const char *path);

/* Writes the file, forgets the recording, and reads the file up to where its samples begin. */
void recording_scan(struct recording *r, struct trace *ret_trace);

/* A copy of n bytes in a block of exactly that size: reading behind its end is an error that ASan
 * sees. */
void *recording_exact(const void *p, size_t n);

/* A record over bytes that begin with its header; its size is the smaller of what the header says
 * and n. */
struct record recording_view(const void *p, size_t n);

/* Numbers that look random and are the same in every run. */
u64 recording_random(u64 *state);
static inline u64 recording_below(u64 *state, u64 limit)
{
	return recording_random(state) % limit;
}

#endif
