/*
 * copier.h - a recording written anew, record by record, out of one or several others.
 *
 * In       events; whole records; sections: those of an opened recording, but for what is replaced
 * Out      a file in file mode, in this machine's byte order, not packed. It has its name only when
 *          it is complete
 * Owns     the file until it is finished or abandoned; sections that replace others
 * Errors   those of writer; ERR_UNSUPPORTED for records that refer to places in the file they were in
 */
#ifndef PACE_FILE_COPIER_H
#define PACE_FILE_COPIER_H

#include "file/fresh.h"
#include "file/reader.h"
#include "file/writer.h"

struct copier {
	struct fresh *to; /* borrowed */
	struct writer writer;
	struct str batch;                         /* records that were not written yet */
	const struct reader *model;               /* whose sections are taken over */
	struct str sections[LAYOUT_FEATURE_BITS]; /* that replace them */
	bool is_replaced[LAYOUT_FEATURE_BITS];    /* also by nothing */
	int section_errno;                        /* of one that could not be read; 0: none */
	u64 first_time, last_time;                /* of samples */
	u64 n_records, n_samples;
};

int copier_open(struct copier *c, struct fresh *to, const struct event_list *events,
	struct err *err);

/* What says something of the file it stood in, or of how it was packed, is not taken over. */
int copier_add(struct copier *c, const struct record *rec, struct err *err);

/* The same for a sample, with its time. */
int copier_add_sample(struct copier *c, const struct record *rec, u64 time, struct err *err);

/* The section is to be what is appended here; nothing: it is left out. */
struct str *copier_replace(struct copier *c, unsigned id);

/* Sections, header, name. Afterwards, and after errors, nothing is left to be closed. */
int copier_finish(struct copier *c, const struct reader *model, struct err *err);
void copier_abandon(struct copier *c);

#endif
