/*
 * access.h - what a sample says about a memory access (PERF_SAMPLE_DATA_SRC) or an aborted transaction, in words.
 *
 * In       the word that the kernel writes
 * Out      texts, in the words that perf's users know
 * Owns     nothing
 * Source   linux/perf_event.h: union perf_mem_data_src, PERF_TXN_*; Intel's manual, volume 1, 16.3.5 (status of RTM aborts);
 *          glibc, sysdeps/unix/sysv/linux/x86/hle.h (codes)
 */
#ifndef PACE_RECORD_ACCESS_H
#define PACE_RECORD_ACCESS_H

#include "base/str.h"
#include "base/types.h"

enum access_part {
	ACCESS_OPERATION, /* "LOAD" */
	ACCESS_LEVEL,     /* where the data was: "L1 hit" */
	ACCESS_SNOOP,     /* whether other caches had it */
	ACCESS_LOCK,      /* whether the instruction was locked */
	ACCESS_TLB,
	ACCESS_BLOCK, /* what a load had to wait for */
	ACCESS_PARTS,
};

/* The bits of one part: words that agree in them are equal in that part. */
u64 access_bits(u64 data_src, enum access_part part);
/* Adds one part in words; false if it is unknown: "N/A". */
bool access_add_text(u64 data_src, enum access_part part, struct str *text);

/* Adds all parts: "|OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A". */
void access_add_summary(u64 data_src, struct str *text);

/* Adds a PERF_SAMPLE_TRANSACTION in words: "TX SYNC RETRY :ff". */
void access_add_transaction(u64 transaction, struct str *text);

/* What the code that XABORT was given means by custom: "the lock was busy"; NULL: what the program means by it. */
const char *access_abort_code(u8 code);

/* Adds the status word that XBEGIN returns in EAX: "explicit, _xabort(0xff): the lock was busy; retry". */
void access_add_abort_status(u32 status, struct str *text);

#endif
