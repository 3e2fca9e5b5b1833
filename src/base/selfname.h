/*
 * selfname.h - the name under which this program speaks: "pace", or "perf" where it stands in perf's place.
 */
#ifndef PACE_BASE_SELFNAME_H
#define PACE_BASE_SELFNAME_H

#include "base/types.h"

/* What begins messages and the answer to --version. */
const char *program_name(void);

bool program_is_perf(void);

/* The version of perf in whose place it stands: 6, or what PACE_AS_PERF begins with from 7 on. */
unsigned program_perf_version(void);

/* From now on it stands in perf's place. Once, before other threads begin. */
void program_be_perf(void);

#endif
