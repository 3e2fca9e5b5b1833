/*
 * fleetanswer.h - rows of ClickHouse's RowBinary, read with checks.
 *
 *     while (fleetanswer_more(&a)) {
 *             u64 hash = fleetanswer_u64(&a);
 *             ...
 *     }
 *     if (fleetanswer_end(&a, err)) ...
 *
 * In       the bytes of an answer, hostile ones included
 * Out      values; 0 and "" after damage, which fleetanswer_end() reports
 * Owns     nothing; texts are copied into the arena that is given
 * Errors   ERR_FORMAT: the answer ends within a row
 */
#ifndef PACE_FLEET_FLEETANSWER_H
#define PACE_FLEET_FLEETANSWER_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

struct fleetanswer {
	struct bytes left;
	const char *server; /* of messages */
	bool is_damaged;
};

struct fleetanswer fleetanswer_of(const struct str *text, const char *server);

bool fleetanswer_more(const struct fleetanswer *a);
u32 fleetanswer_u32(struct fleetanswer *a);
u64 fleetanswer_u64(struct fleetanswer *a);
/* A number of bytes or elements, no more than `most`. */
u64 fleetanswer_length(struct fleetanswer *a, u64 most);
const char *fleetanswer_text(struct fleetanswer *a, struct arena *arena);
/* n texts; their number. */
u32 fleetanswer_texts(struct fleetanswer *a, u32 most, const char **texts, struct arena *arena);
int fleetanswer_end(const struct fleetanswer *a, struct err *err);

#endif
