/*
 * access.h - what a sample says of a memory access (PERF_SAMPLE_DATA_SRC), in words.
 *
 * In       the word that the kernel writes
 * Out      texts, in the words that perf's users know
 * Owns     nothing
 * Source   linux/perf_event.h: union perf_mem_data_src
 */
#ifndef PACE_RECORD_ACCESS_H
#define PACE_RECORD_ACCESS_H

#include "base/str.h"
#include "base/types.h"

enum access_part {
	ACCESS_LEVEL, /* where the data was: "L1 hit" */
	ACCESS_SNOOP, /* what other caches had of it */
	ACCESS_LOCK,  /* whether the instruction was locked */
	ACCESS_TLB,
	ACCESS_BLOCK, /* what a load had to wait for */
	ACCESS_PARTS,
};

/* The bits of a part: words that differ only in others are the same there. */
u64 access_bits(u64 data_src, enum access_part part);
/* False if nothing is known of it: "N/A". */
bool access_add_text(u64 data_src, enum access_part part, struct str *text);

/* All of it: "|OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A". */
void access_add_summary(u64 data_src, struct str *text);

/* What a transaction's PERF_SAMPLE_TRANSACTION says: "TX SYNC RETRY :ff". */
void access_add_transaction(u64 transaction, struct str *text);

#endif
