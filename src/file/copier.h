/*
 * copier.h - writes a new recording, record by record, from one or several others.
 *
 * In       events; whole records; the sections of an open recording, some of them replaced
 * Out      a file in file mode, in this machine's byte order, not packed. It gets its name only when
 *          it is complete
 * Owns     the file until it is finished or abandoned; the replacement sections
 * Errors   those of writer; ERR_UNSUPPORTED for records that refer to places in the file they came from
 */
#ifndef PACE_FILE_COPIER_H
#define PACE_FILE_COPIER_H

#include "file/fresh.h"
#include "file/reader.h"
#include "file/writer.h"

struct copier {
	struct fresh *to; /* borrowed; NULL: a pipe */
	struct writer writer;
	struct str batch;                         /* records not yet written */
	const struct reader *model;               /* whose sections are copied */
	struct str sections[LAYOUT_FEATURE_BITS]; /* replacements */
	bool is_replaced[LAYOUT_FEATURE_BITS];    /* an empty replacement leaves the section out */
	int section_errno;         /* from a section that could not be read; 0: none */
	u64 first_time, last_time; /* of samples */
	u64 n_records, n_samples;
};

int copier_open(struct copier *c, struct fresh *to, const struct event_list *events,
	struct err *err);

/* Writes a pipe instead: the sections go first, as `info` has them, and nothing is replaced. The descriptor is closed at the end. */
int copier_open_pipe(struct copier *c, int fd, const struct event_list *events,
	const struct file_info *info, struct err *err);

/* Adds a record. Leaves out records that describe their old file or how it was packed. */
int copier_add(struct copier *c, const struct record *rec, struct err *err);

/* Adds a sample with its time. */
int copier_add_sample(struct copier *c, const struct record *rec, u64 time, struct err *err);

/* Replaces a section by what the caller appends to the result; if nothing, the section is left out. */
struct str *copier_replace(struct copier *c, unsigned id);

/*
 * Writes the sections and the header and gives the file its name. Closes everything, also after an
 * error.
 */
int copier_finish(struct copier *c, const struct reader *model, struct err *err);
void copier_abandon(struct copier *c);

#endif
