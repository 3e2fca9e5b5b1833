/*
 * spans.h - the spans of time that a user asks for.
 *
 *     12.5,13     from 12.5 s to 13 s of the recording's clock; either end may be missing
 *     10%-20%     a part of the whole; several are separated by commas
 *     30%/2       the second of the parts of 30 % each
 *
 * Units    ns
 * Errors   ERR_INVAL with the text that makes no sense; ERR_UNSUPPORTED where percentages are
 *          asked for and the recording does not say when it began and ended
 */
#ifndef PACE_SESSION_SPANS_H
#define PACE_SESSION_SPANS_H

#include "base/err.h"
#include "base/types.h"
#include "base/vec.h"

struct span {
	u64 from, to; /* both inclusive */
};

struct spans {
	struct span *at;
	size_t n, cap;
};

int spans_parse(struct spans *spans, const char *text, u64 first, u64 last, struct err *err);
void spans_fini(struct spans *spans);

/* True if there are no spans, or one of them has the time. */
bool spans_have(const struct spans *spans, u64 time);

#endif
