/*
 * api.h - what the files of the public functions share.
 */
#ifndef PACE_API_H
#define PACE_API_H

#include "base/err.h"
#include "collect/counter.h"
#include "collect/presence.h"
#include "collect/userread.h"
#include "pace.h"
#include "record/sample.h"

#define PUBLIC __attribute__((visibility("default")))

struct pace_counter {
	struct counter counter;
	struct event_attr attr; /* as it was opened */
	struct userread user;
	struct presence presence; /* of a group, the leader's */
	char *name, *unit;
	double scale;
	struct pace_group *group; /* that owns it; NULL: it is alone */
};

/* Copies an error to its public form; returns its code. */
int api_give_error(const struct err *from, struct pace_error *to);

/*
 * What mem_try() says when it was left. No slot of the host's runs inside of it: a host that jumps
 * out of one, or throws, would leave us there.
 */
int api_exhausted(size_t size, struct err *err, const char *fmt, ...) PRINTF(3, 4);

/*
 * A sample's public form. Its chain and branches must be where 64-bit words may be: those of a ring
 * are, those of a file need not.
 */
struct pace_sample api_public_sample(const struct sample_format *format, const struct sample *s,
	const struct pace_record *record);

#endif
