/*
 * pprof.h - the numbers of the fields of pprof's Profile, which the importer reads and the export form writes.
 *
 * Source   github.com/google/pprof, proto/profile.proto
 */
#ifndef PACE_PROFILE_IMPORT_PPROF_H
#define PACE_PROFILE_IMPORT_PPROF_H

enum {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING = 6,
	PPROF_DEFAULT_TYPE = 14,
};

#endif
