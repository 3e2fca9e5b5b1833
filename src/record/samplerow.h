/*
 * samplerow.h - the table of sample fields, for the code that decodes, swaps and prints them.
 *
 * Only record/sample* includes it.
 */
#ifndef PACE_RECORD_SAMPLEROW_H
#define PACE_RECORD_SAMPLEROW_H

#include "base/types.h"
#include "event/abi.h"
#include "record/sample.h"

enum sample_kind {
	S_WORD,     /* u64 */
	S_TWO,      /* two u32, side by side in struct sample */
	S_READ,     /* counter values */
	S_CHAIN,    /* u64 n, n words */
	S_RAW,      /* u32 n, n bytes, padded to 8 together */
	S_BRANCHES, /* u64 n, [hw index], n entries, [n counters] */
	S_REGS,     /* u64 abi, and if that is not 0 the registers of the mask */
	S_STACK,    /* u64 n, and if that is not 0 n bytes and the number of real ones */
	S_AUX,      /* u64 n, n bytes */
};

struct sample_row {
	u64 bits; /* PERF_SAMPLE_*: any of them */
	const char *name;
	u8 kind;
	u16 member; /* offset in struct sample */
	bool is_in_trailer;
};

/* In the order of perf_output_sample(). */
extern const struct sample_row sample_rows[];

static inline u64 sample_words_each_value(const struct sample_format *f)
{
	return 1 + !!(f->read_format & PERF_FORMAT_ID) + !!(f->read_format & PERF_FORMAT_LOST);
}

static inline u64 sample_regs_mask(const struct sample_format *f, const struct sample_row *row)
{
	return row->bits == PERF_SAMPLE_REGS_USER ? f->user_regs : f->intr_regs;
}

#endif
