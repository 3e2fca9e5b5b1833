/*
 * record.h - one record of the stream: its type, and the fields that are not samples.
 *
 * In       a view of the record's bytes, in this machine's byte order; record_swap() converts others
 *          to it
 * Out      a union record_body; strings, lists and byte runs are views into the record
 * Life     a view is valid as long as the buffer it came from
 * Errors   ERR_FORMAT with the record's type, offset and the numbers that disagree; swapping only
 *          tells that it failed
 * Source   linux/perf_event.h: enum perf_event_type; the user types: perf.data-file-format.txt
 *
 * The type table states each layout once; decoding, encoding, printing and swapping walk it. A body
 * that was decoded encodes to the same bytes, whatever they were.
 *
 * Documents from before Linux 2.6.31 give type 2 to MUNMAP (today LOST), and bit 2 of misc to OVERFLOW: such a
 * record was a sample, and its type held the bits of its fields. Today that bit is part of the CPU mode. No such
 * file is known, and pace reads none.
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

/*
 * Whether a record can have that size. The kernel's sizes are multiples of 8, except for samples with a
 * stack dump: a dump that reaches the end of the address space is cut there (32-bit programs, whose stack
 * pointers are multiples of 4).
 */
static inline bool record_is_size_sound(u32 type, u16 size)
{
	return size >= RECORD_HEADER_SIZE && (size % 8 == 0 || type == PERF_RECORD_SAMPLE);
}

/* A run of bytes inside a record, or the entries of a list: read these with load_u64() and the like. */
struct record_bytes {
	const u8 *at;
	u32 n;
};

/*
 * How the record ended, so that encoding gives its bytes again. Clear it if a decoded body was
 * changed. Bodies made by hand leave it zero: then text gets its NUL, the record is padded to 8 and
 * has every field.
 */
struct record_end {
	const u8 *at; /* what followed the last field: NULs, padding, fields that the table lacks */
	u32 n;
	u8 n_missing; /* fields that are newer than the program that wrote the record */
};

struct record_empty { /* SWITCH, FINISHED_ROUND, FINISHED_INIT */
	struct record_end end;
};

struct record_mmap { /* MMAP and MMAP2 */
	u32 pid, tid;
	u64 addr, len, pgoff;
	/* MMAP2 only, and only one of the two: */
	u32 maj, min;
	u64 ino, ino_generation;
	u8 build_id_size; /* 0: none */
	u8 build_id_reserved[3];
	u8 build_id[BUILD_ID_MAX];
	u8 build_id_claim; /* the size that the record says, if it is more than BUILD_ID_MAX */
	u32 prot, flags;
	struct record_bytes path; /* without the NUL */
	struct record_end end;
};

struct record_comm {
	u32 pid, tid;
	struct record_bytes comm;
	struct record_end end;
};

struct record_task { /* FORK and EXIT */
	u32 pid, ppid, tid, ptid;
	u64 time;
	struct record_end end;
};

struct record_lost { /* LOST and LOST_SAMPLES */
	u64 id;
	u64 lost;
	struct record_end end;
};

struct record_throttle { /* THROTTLE and UNTHROTTLE */
	u64 time, id, stream_id;
	struct record_end end;
};

struct record_read {
	u32 pid, tid;
	struct record_bytes values; /* u64, as the event's read_format has them */
	struct record_end end;
};

struct record_aux {
	u64 offset, size, flags;
	struct record_end end;
};

struct record_aux_output_hw_id {
	u64 hw_id;
	struct record_end end;
};

struct record_switch { /* SWITCH_CPU_WIDE; SWITCH has no fields */
	u32 next_prev_pid, next_prev_tid;
	struct record_end end;
};

struct record_namespaces {
	u32 pid, tid;
	u64 nr;
	struct record_bytes namespaces; /* nr of: u64 dev, ino */
	struct record_end end;
};

struct record_ksymbol {
	u64 addr;
	u32 len;
	u16 ksym_type, flags;
	struct record_bytes name;
	struct record_end end;
};

struct record_bpf {
	u16 bpf_type, flags;
	u32 id;
	u8 tag[8]; /* a hash of the program */
	struct record_end end;
};

struct record_cgroup {
	u64 id;
	struct record_bytes path;
	struct record_end end;
};

struct record_text_poke {
	u64 addr;
	u16 old_len, new_len;
	struct record_bytes bytes; /* old_len, then new_len */
	struct record_end end;
};

struct record_callchain_deferred {
	u64 cookie; /* chains of samples that end in PERF_CONTEXT_USER_DEFERRED and this continue here */
	u64 nr;
	struct record_bytes ips; /* nr of u64 */
	struct record_end end;
};

struct record_attr {
	struct record_bytes attr; /* as many bytes as it says itself: attr_read() */
	struct record_bytes ids;  /* u64 */
	struct record_end end;
};

struct record_event_type {
	u64 event_id;
	struct record_bytes name; /* 64 bytes */
	struct record_end end;
};

struct record_tracing_data {
	u32 size; /* bytes that follow the record */
	struct record_end end;
};

struct record_build_id {
	s32 pid;         /* -1: the host */
	u8 build_id[24]; /* 20 bytes; with MISC_BUILD_ID_SIZE the next byte says how many count */
	struct record_bytes path;
	struct record_end end;
};

struct record_id_index {
	u64 nr;
	struct record_bytes entries; /* nr of: u64 id, idx, cpu, tid */
	struct record_bytes guests;  /* nr of: u64 machine_pid, vcpu; optional */
	struct record_end end;
};

struct record_auxtrace_info {
	u32 trace_type, reserved;
	struct record_bytes priv; /* u64 */
	struct record_end end;
};

struct record_auxtrace {
	u64 size; /* bytes that follow the record */
	u64 offset, reference;
	u32 idx, tid, cpu, reserved;
	struct record_end end;
};

struct record_auxtrace_error {
	u32 error_type, code, cpu, pid, tid;
	u32 fmt; /* 0: without time; 2: with machine_pid and vcpu */
	u64 ip, time;
	struct record_bytes msg; /* 64 bytes, or as many as the record has */
	u32 machine_pid, vcpu;
	struct record_end end;
};

struct record_thread_map {
	u64 nr;
	struct record_bytes threads; /* nr of: u64 pid, char comm[16] */
	struct record_end end;
};

enum record_cpu_map_type { RECORD_CPU_LIST, RECORD_CPU_MASK, RECORD_CPU_RANGE };

struct record_cpu_map {
	u16 map_type;                /* enum record_cpu_map_type */
	u16 nr;                      /* entries of cpus */
	u16 long_size;               /* of a mask: bytes of an entry */
	struct record_bytes padding; /* before a mask of 8-byte entries */
	struct record_bytes cpus;    /* u16 numbers, or the words of a mask */
	u8 any_cpu, range_reserved;  /* of a range; any_cpu: the pseudo-CPU -1 is in it too */
	u16 start_cpu, end_cpu;      /* end_cpu is in it */
	struct record_end end;
};

struct record_stat_config {
	u64 nr;
	struct record_bytes config; /* nr of: u64 tag, val */
	struct record_end end;
};

struct record_stat {
	u64 id;
	s32 cpu, thread;
	u64 val, ena, run;
	struct record_end end;
};

struct record_stat_round {
	u64 round_type, time;
	struct record_end end;
};

enum record_update_type {
	RECORD_UPDATE_UNIT,
	RECORD_UPDATE_SCALE,
	RECORD_UPDATE_NAME,
	RECORD_UPDATE_CPUS,
};

struct record_event_update {
	u64 update_type; /* enum record_update_type: says which of the others is there */
	u64 id;
	double scale;
	struct record_bytes text; /* the unit or the name */
	struct record_cpu_map cpus;
	struct record_end end;
};

struct record_time_conv {
	u64 time_shift, time_mult, time_zero;
	u64 time_cycles, time_mask; /* from here on optional */
	u8 cap_user_time_zero, cap_user_time_short;
	struct record_end end;
};

struct record_feature {
	u64 feat_id;
	struct record_bytes data; /* as in the section of that number; always in the file's order */
	struct record_end end;
};

struct record_compressed { /* COMPRESSED and COMPRESSED2 */
	u64 data_size;     /* COMPRESSED2 only: bytes of data */
	struct record_bytes data;
	struct record_end end;
};

struct record_bpf_metadata {
	struct record_bytes prog_name; /* 16 bytes */
	u64 nr_entries;
	struct record_bytes entries; /* nr_entries of: char key[64], value[256] */
	struct record_end end;
};

union record_body {
	struct record_mmap mmap; /* the largest one: {0} clears all */
	struct record_empty empty;
	struct record_comm comm;
	struct record_task task;
	struct record_lost lost;
	struct record_throttle throttle;
	struct record_read read;
	struct record_aux aux;
	struct record_aux_output_hw_id aux_output_hw_id;
	struct record_switch sched_switch;
	struct record_namespaces namespaces;
	struct record_ksymbol ksymbol;
	struct record_bpf bpf;
	struct record_cgroup cgroup;
	struct record_text_poke text_poke;
	struct record_callchain_deferred callchain_deferred;
	struct record_attr attr;
	struct record_event_type event_type;
	struct record_tracing_data tracing_data;
	struct record_build_id build_id;
	struct record_id_index id_index;
	struct record_auxtrace_info auxtrace_info;
	struct record_auxtrace auxtrace;
	struct record_auxtrace_error auxtrace_error;
	struct record_thread_map thread_map;
	struct record_cpu_map cpu_map;
	struct record_stat_config stat_config;
	struct record_stat stat;
	struct record_stat_round stat_round;
	struct record_event_update event_update;
	struct record_time_conv time_conv;
	struct record_feature feature;
	struct record_compressed compressed;
	struct record_bpf_metadata bpf_metadata;
};

/* The record at offset `at` of n bytes; false if there is no whole one. */
static inline bool record_in(const void *records, size_t n, size_t at, struct record *ret)
{
	struct record_header header;

	if (n < at + sizeof(header))
		return false;
	memcpy(&header, (const u8 *)records + at, sizeof(header));
	if (header.size < sizeof(header) || header.size > n - at)
		return false;
	*ret = (struct record){header.type, header.misc, header.size, (const u8 *)records + at, 0};
	return true;
}

/* "MMAP2", "SAMPLE" ... or NULL for a type that is not in the table. */
const char *record_type_name(u32 type);

/* Whether records of this type say who ran where: the machine is built from them. */
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
 * Appends a record: header, body, its end or padding to 8, then `trailer` bytes of zeros. False if
 * it would be larger than a record can be (65,535 bytes), a list does not have the number of entries
 * that the body says, or the type has no fields in the table.
 */
bool record_encode(u32 type, u16 misc, const union record_body *body, u32 trailer, struct str *out);

/*
 * Adds "name=value" for each field, joined by spaces, lists as [a b]; foreign text is made safe.
 * At most 4096 entries or bytes of a field are shown.
 */
void record_add_text(u32 type, u16 misc, const union record_body *body, struct str *text);

/* Swaps a header of the other byte order to this machine's. */
void record_swap_header(struct record_header *header);

/*
 * Swaps the body of a record of the other byte order to this machine's, in place. `at` has `size`
 * bytes; its header is swapped already. Not swapped are the last `trailer` bytes, which are for
 * sample_swap_trailer(); samples, for sample_swap(); types that are not in the table; and, inside a
 * record, the bytes of texts, build-ids, machine code, compressed data and feature sections. False
 * if a field does not fit: the fields before it are swapped, the rest is not.
 */
bool record_swap(u8 *at, u16 size, u32 trailer);

#endif
