/*
 * madeup.h - a recording that is being made up: its events, its records, its sections.
 *
 * In       a number, which decides everything
 * Out      bytes
 * Owns     its contents
 */
#ifndef PACE_TESTS_FUZZ_MADEUP_H
#define PACE_TESTS_FUZZ_MADEUP_H

#include "base/random.h"
#include "base/str.h"
#include "event/event.h"
#include "record/sample.h"

enum { MADEUP_EVENTS = 40 };

struct madeup {
	struct random dice;
	struct event_list events;
	struct sample_format formats[MADEUP_EVENTS];
	u64 time;
	struct str data;    /* the stream */
	struct str body;    /* of the record that is being made */
	struct arena arena; /* what samples and sections point to */
};

u32 madeup_below(struct madeup *m, u32 n);
bool madeup_once_in(struct madeup *m, u32 n);
u64 madeup_number(struct madeup *m);
const char *madeup_name(struct madeup *m); /* until the next one */
char *madeup_kept_name(struct madeup *m);

/* Appends a feature section; false if this file is to have none of that number. */
bool madeup_add_section(struct madeup *m, unsigned id, struct str *out);

/* Appends what recordings carry with them: symbols, places, code and dumps of files that do not exist. */
void madeup_add_embedded(struct madeup *m, struct str *out);

#endif
