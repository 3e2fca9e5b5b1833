/*
 * rowtext.h - a batch as rows of the fleet's tables: JSON, a line for each row.
 *
 * In       a batch; the host's name and labels are facts of it: "host", "label.NAME"; columns of rows are "service",
 *          "comm" and labels
 * Out      lines for fleet/schema.h's tables, valid UTF-8 whatever names hold
 * Owns     the text of the labels
 */
#ifndef PACE_FLEET_ROWTEXT_H
#define PACE_FLEET_ROWTEXT_H

#include "profile/batch/batch.h"
#include "base/str.h"

#define ROWTEXT_LABEL "label." /* begins a fact that is a label */

enum rowtext_mode { /* of schema.c's "modes" */
	ROWTEXT_MODE = 15,
	ROWTEXT_NAMED = 16,
	ROWTEXT_INLINED = 32,
};

struct rowtext {
	const struct batch *batch;
	u64 id; /* the same for equal batches, on any machine */
	const char *host;
	u64 host_hash;
	const char *service; /* of rows without that column; "": none */
	u32 column_service, column_comm;
	struct str names, values;         /* labels of the host, as elements of JSON's arrays */
	struct str row_names, row_values; /* the same without those that rows have themselves */
	char time[24];
};

/* `service`: see there; NULL: none. */
void rowtext_init(struct rowtext *t, const struct batch *b, const char *service);
void rowtext_fini(struct rowtext *t);

void rowtext_add_sample(const struct rowtext *t, size_t row, struct str *out);
void rowtext_add_stack(const struct rowtext *t, u32 stack, struct str *out);
void rowtext_add_batch(const struct rowtext *t, struct str *out);

/* What a row counts as: its service and its type. */
const char *rowtext_service(const struct rowtext *t, size_t row);

#endif
