/*
 * pfm.h - events by the names of libpfm4: -e pfm:NAME.
 *
 * Errors   ERR_NOENT for a name that libpfm does not know here; ERR_INVAL for attributes that make no
 *          sense; ERR_UNSUPPORTED if pace was built without it
 * Source   pfm_get_os_event_encoding(3), libpfm4's README
 */
#ifndef PACE_EVENT_PFM_H
#define PACE_EVENT_PFM_H

#include "base/err.h"
#include "base/types.h"
#include "event/attr.h"

bool pfm_is_built_in(void);

/*
 * Encodes the event `name` ("skl::INST_RETIRED:ANY:u", without "pfm:") into *ret: type, config words,
 * exclude bits and precision; the rest of *ret is 0.
 */
int pfm_encode(const char *name, struct event_attr *ret, struct err *err);

#endif
