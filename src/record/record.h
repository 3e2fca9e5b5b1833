/*
 * record.h - one record of the stream: its type, and the fields that are not samples.
 *
 * In       a view of the record's bytes, in this machine's byte order
 * Out      a union record_body; strings and byte runs are views into the record
 * Life     a view is valid as long as the buffer it came from
 * Errors   ERR_FORMAT with the record's type, offset and the numbers that disagree
 * Source   linux/perf_event.h: enum perf_event_type; the user types: perf.data-file-format.txt
 *
 * The type table says each layout once; decoding, encoding and printing walk it.
 */
#ifndef PACE_RECORD_RECORD_H
#define PACE_RECORD_RECORD_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "event/abi.h"

struct record_header {
	u32 type;
	u16 misc;
	u16 size; /* header included */
};

struct record {
	u32 type;
	u16 misc;
	u16 size;     /* bytes at `at`, header included */
	const u8 *at; /* the header's first byte */
	u64 offset;   /* where the record stands in its file; 0 in a ring */
};

enum { RECORD_HEADER_SIZE = sizeof(struct record_header), BUILD_ID_MAX = 20 };

/* A run of bytes inside a record. */
struct record_bytes {
	const u8 *at;
	u32 n;
};

struct record_mmap { /* MMAP and MMAP2 */
	u32 pid, tid;
	u64 addr, len, pgoff;
	/* MMAP2 only, and only one of the two: */
	u32 maj, min;
	u64 ino, ino_generation;
	u8 build_id[BUILD_ID_MAX];
	u8 build_id_size; /* 0: none */
	u32 prot, flags;
	struct record_bytes path; /* without the NUL */
};

struct record_comm {
	u32 pid, tid;
	struct record_bytes comm;
};

struct record_task { /* FORK and EXIT */
	u32 pid, ppid, tid, ptid;
	u64 time;
};

struct record_lost { /* LOST and LOST_SAMPLES */
	u64 id;
	u64 lost;
};

struct record_throttle { /* THROTTLE and UNTHROTTLE */
	u64 time, id, stream_id;
};

struct record_aux {
	u64 offset, size, flags;
};

struct record_switch { /* SWITCH_CPU_WIDE; SWITCH has no fields */
	u32 next_prev_pid, next_prev_tid;
};

struct record_ksymbol {
	u64 addr;
	u32 len;
	u16 ksym_type, flags;
	struct record_bytes name;
};

struct record_bpf {
	u16 bpf_type, flags;
	u32 id;
	u64 tag;
};

struct record_cgroup {
	u64 id;
	struct record_bytes path;
};

struct record_text_poke {
	u64 addr;
	u16 old_len, new_len;
	struct record_bytes bytes; /* old_len, then new_len */
};

struct record_rest { /* a count, then that many entries that only their reader understands */
	u64 a, b;
	struct record_bytes bytes;
};

union record_body {
	struct record_mmap mmap;
	struct record_comm comm;
	struct record_task task;
	struct record_lost lost;
	struct record_throttle throttle;
	struct record_aux aux;
	struct record_switch sched_switch;
	struct record_ksymbol ksymbol;
	struct record_bpf bpf;
	struct record_cgroup cgroup;
	struct record_text_poke text_poke;
	struct record_rest rest;
};

/* "MMAP2", "SAMPLE" ... or NULL for a type that is not in the table. */
const char *record_type_name(u32 type);

/* Whether records of this type say who ran where: the machine is made of them. */
bool record_is_state(u32 type);

/*
 * Whether records of this type carry the identifying trailer that sample_id_all asks for: the
 * kernel's do.
 */
static inline bool record_has_trailer(u32 type)
{
	return type < PERF_RECORD_USER_TYPE_START && type != PERF_RECORD_SAMPLE;
}

/*
 * Decodes all but samples. `trailer` bytes at the end are the identifying trailer, not the body. 1:
 * done; 0: the type has no fields in the table; < 0: error.
 */
int record_decode(const struct record *rec, u32 trailer, union record_body *ret_body,
	struct err *err);

/*
 * Appends a record: header, body, padding to 8, then `trailer` bytes of zeros. False if it would be
 * larger than a record can be (65,535 bytes) or the type has no fields in the table.
 */
bool record_encode(u32 type, u16 misc, const union record_body *body, u32 trailer, struct str *out);

/* Adds "name=value" for each field, joined by spaces; foreign text is made safe. */
void record_add_text(u32 type, u16 misc, const union record_body *body, struct str *text);

#endif
