/*
 * txcounts.h - what counters say about transactions: how much runs in them, how much is lost, how long they are.
 *
 * In       a recording of counts (stat record), pace's or perf's, with events of transactions
 * Out      sums of what tsx.h tells apart, whatever the events are called; shares of them
 * Errors   those of the file; ERR_FORMAT: it holds no counts; ERR_INVAL: none of transactions
 */
#ifndef PACE_PROFILE_TXCOUNTS_H
#define PACE_PROFILE_TXCOUNTS_H

#include "base/log.h"
#include "event/tsx.h"

struct txcounts {
	double value[TSX_COUNTS];
	bool is_known[TSX_COUNTS];
};

/* Adds the counts of a file to what other files have said; counts that are known already stay. */
int txcounts_read(struct txcounts *c, const char *path, struct log *log, struct err *err);

/* Whether it is a recording of counts rather than of samples. */
bool txcounts_is_file(const char *path);

/* Shares and ratios; NAN: not known. */
double txcounts_share(const struct txcounts *c); /* of cycles: in transactions */
double txcounts_share_aborted(
	const struct txcounts *c);                /* of cycles: in transactions that were aborted */
double txcounts_length(const struct txcounts *c); /* cycles of a transaction, of either kind */
double txcounts_locks(
	const struct txcounts *c); /* lock loads for each transaction that was begun */
double txcounts_starts(const struct txcounts *c); /* transactions of either kind */

#endif
