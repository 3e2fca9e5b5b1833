/*
 * sample.h - one sample: which fields it has, in which order, and what they hold.
 *
 * The field table (sample.c) is in the order the kernel writes. Decoding, measuring, encoding,
 * printing and byte swapping walk the same rows, so the order is stated once.
 * In       an attr (what was asked for) and the bytes after a record's header, in this machine's
 *          byte order; sample_swap() and sample_swap_trailer() convert others to it
 * Out      struct sample; chains, stacks and raw bytes are views into the record
 * Life     views are valid as long as the record's buffer
 * Errors   ERR_FORMAT with the field that does not fit; swapping only tells that one does not
 * Source   Linux kernel/events/core.c, perf_output_sample(): the order in which fields are put; the
 *          comment in linux/perf_event.h is older and misses CGROUP
 *
 * Bits 0 to 5 were record_type before Linux 2.6.31, with the same meaning (GROUP is READ), but values of groups
 * had the event first, and a chain began with u16 nr, hv, kernel, user: how many addresses of each, without
 * markers.
 */
#ifndef PACE_RECORD_SAMPLE_H
#define PACE_RECORD_SAMPLE_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "event/attr.h"
#include "record/record.h"

struct arch;

/* n 64-bit words at any address: read them with load_u64(). */
struct sample_words {
	const u8 *at;
	u64 n;
};

struct sample_read {
	u64 time_enabled, time_running; /* ns; 0 if not recorded */
	struct sample_words values;     /* of words_each words: value, [id], [lost] */
	u64 n_values;                   /* 1 without PERF_FORMAT_GROUP */
};

struct sample_branches {
	u64 n;
	u64 hw_index;
	const u8 *entries;  /* n of 24 bytes: from, to, flags */
	const u8 *counters; /* n words with PERF_SAMPLE_BRANCH_COUNTERS, else NULL */
};

struct sample_regs {
	u64 abi; /* 0: none, 1: 32 bit, 2: 64 bit */
	struct sample_words values;
};

struct sample_stack {
	struct record_bytes bytes; /* the dump, of which dyn_size bytes are real */
	u64 dyn_size;
};

struct sample {
	u64 id; /* from IDENTIFIER or ID */
	u64 ip;
	u32 pid, tid;
	u64 time; /* ns of the perf clock */
	u64 addr;
	u64 stream_id;
	u32 cpu;
	u32 cpu_reserved;
	u64 period;
	struct sample_read read;
	struct sample_words chain; /* with PERF_CONTEXT_* markers, innermost first */
	struct record_bytes raw;
	struct sample_branches branches;
	struct sample_regs user_regs;
	struct sample_stack user_stack;
	u64 weight; /* WEIGHT, or the three parts of WEIGHT_STRUCT: u32, u16, u16 */
	u64 data_src;
	u64 transaction;
	struct sample_regs intr_regs;
	u64 phys_addr;
	u64 cgroup;
	u64 data_page_size;
	u64 code_page_size;
	struct record_bytes aux;
	u64 n_rest; /* bytes after the last field, if that was decoded */
};

/* What the samples of one event look like, worked out once from its attr. */
struct sample_format {
	u64 type; /* PERF_SAMPLE_* */
	u64 read_format;
	u64 branch_type;
	u64 user_regs, intr_regs; /* register masks */
	u8 n_rows;
	u8 rows[32]; /* positions in the field table */
	u16 trailer; /* bytes at the end of the other records; 0 without sample_id_all */
	u64 unknown; /* sample_type bits that are not in the table: samples end before them */
	/*
	 * The rows before the first one of variable size are copied without looking at the table.
	 */
	u8 n_fixed;            /* how many */
	u64 fixed_bits;        /* which */
	u16 fixed_members[12]; /* where each goes: offsets in struct sample */
};

void sample_format_init(struct sample_format *format, const struct event_attr *attr);

/*
 * Decodes the body (n bytes after the header) into *sample, whose other members stay as they are:
 * clear it once before samples of this format go into it. Only fields in `wanted` (PERF_SAMPLE_*)
 * and those before the last of them are certain to be decoded.
 */
int sample_decode(const struct sample_format *format, const u8 *body, size_t n, u64 wanted,
	struct sample *sample, struct err *err);

/*
 * Decodes the trailer of a record that is not a sample: id, pid, tid, time, stream_id, cpu. False if
 * it is cut off.
 */
bool sample_decode_trailer(const struct sample_format *format, const struct record *rec,
	struct sample *ret_sample);

/* Appends the body of a SAMPLE record; sample_decode() of it gives the same sample. */
void sample_encode(const struct sample_format *format, const struct sample *sample,
	struct str *out);

/* Appends the trailer, as the kernel does to other records. */
void sample_encode_trailer(const struct sample_format *format, const struct sample *sample,
	struct str *out);

/*
 * Swaps a SAMPLE's body (n bytes after the header) of the other byte order to this machine's, in
 * place. The bytes of RAW, of AUX and of user stacks are not swapped, because only their readers know
 * what is in them. False if a field does not fit: the fields before it are swapped.
 */
bool sample_swap(const struct sample_format *format, u8 *body, size_t n);

/*
 * Swaps the trailer of a record of `size` bytes, header included, that is not a sample. False, with
 * nothing changed, if the record is too small for a trailer.
 */
bool sample_swap_trailer(const struct sample_format *format, u8 *at, u16 size);

/* Adds one line "name value" for each field; the registers are those of `arch`. */
void sample_add_text(const struct sample_format *format, const struct sample *sample,
	const struct arch *arch, struct str *text);

/* Decodes the counter values of a sample or of a READ record; false if they do not fit. */
bool sample_decode_read(const struct sample_format *format, struct bytes *b,
	struct sample_read *read);

/*
 * The i-th counter value of a sample with PERF_SAMPLE_READ, the id of its event and how many samples it
 * lost (0: not recorded).
 */
struct sample_value {
	u64 value, id, lost;
};
struct sample_value sample_read_value(const struct sample_format *format,
	const struct sample_read *read, u64 i);

/* Where a field is, from the body's start; false if it is not one of the leading fields of fixed size. */
bool sample_word_place(const struct sample_format *format, u64 bit, u32 *ret_from_start);

/*
 * Where the word that identifies the event is: from the body's start or, for trailers, from the
 * record's end. False if there is none.
 */
bool sample_id_place(const struct sample_format *format, u32 *ret_from_start, u32 *ret_from_end);

/* Where the time is in trailers, from the record's end; 0: they have none. */
u32 sample_time_place(const struct sample_format *format);

#endif
