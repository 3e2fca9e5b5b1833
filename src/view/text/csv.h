/*
 * csv.h - a table as comma separated values, written to a file row by row.
 *
 * Cells are quoted as RFC 4180 says, only where they must be; lines end with LF alone. Text from recordings
 * is made safe first (str_add_safe), so a cell never holds a line break.
 * In       the directory's descriptor and its name, for messages
 * Out      a new file, 0600: one that was there is replaced, a symbolic link is not followed
 * Owns     the descriptor, the buffer
 * Errors   csv_open(); csv_close() says whether every byte arrived, and names the file
 */
#ifndef PACE_VIEW_CSV_H
#define PACE_VIEW_CSV_H

#include "base/out.h"

struct csv {
	struct out out; /* out.sys: why writing ended */
	char *path;     /* NULL: not open */
	struct str cell;
	bool has_cells; /* in this row */
};

int csv_open(struct csv *c, int dir_fd, const char *dir, const char *name, struct err *err);
/* Writes the rest and closes the file; does nothing if it is closed already. */
int csv_close(struct csv *c, struct err *err);

void csv_text(struct csv *c, const char *text, size_t n);
void csv_word(struct csv *c, const char *text);
void csv_u64(struct csv *c, u64 v);
void csv_none(struct csv *c); /* an empty cell */
void csv_end_row(struct csv *c);

#endif
