/*
 * difftables.h - what 'pace diff OLD -- NEW' finds, as tables, for views that show one at a time.
 *
 * In       two recordings, where names come from
 * Out      for each event that the first one has: a table of rows, and in words what the comparison is of
 * Owns     everything, until diff_tables_free()
 * Errors   those of recordings; what else is said goes to the log
 */
#ifndef PACE_CMD_DIFFTABLES_H
#define PACE_CMD_DIFFTABLES_H

#include "cmd/symbols.h"
#include "profile/rows/rowset.h"

struct diff_tables;

/* NULL: *err says why. The log and the paths must stay. */
struct diff_tables *diff_tables_new(const char *old, const char *new,
	const struct symbol_options *symbols, struct log *log, struct err *err);
void diff_tables_free(struct diff_tables *t);

size_t diff_tables_n(const struct diff_tables *t);
/* It has the columns of 'pace diff', and the share of the newer recording. */
const struct rowset *diff_tables_rows(const struct diff_tables *t, size_t table);
const char *diff_tables_event(const struct diff_tables *t, size_t table);
const char *diff_tables_words(const struct diff_tables *t, size_t table);

#endif
