/*
 * compat.h - what older versions of perf can read: they refuse attrs that are larger than those they
 * know, and records of types that they do not know.
 *
 * Source   attr.size by version: include/uapi/linux/perf_event.h, PERF_ATTR_SIZE_VER*
 */
#ifndef PACE_EVENT_COMPAT_H
#define PACE_EVENT_COMPAT_H

#include "base/err.h"
#include "base/types.h"

struct compat {
	u32 attr_size;
	u64 unknown_flags; /* ATTR_* that ask for records it does not know */
	bool can_unpack;   /* it reads compressed records */
};

/* `version` is like "5.10" or "5.10.218". ERR_INVAL if it is not one, ERR_UNSUPPORTED before 4.2. */
int compat_find(const char *version, struct compat *ret, struct err *err);

#endif
