/*
 * statfile.h - counts in a perf.data file, as `stat record` writes them.
 *
 * In       opened counters with ids, their readings; what they measure
 * Out      records: units and scales, threads and CPUs, how counts are aggregated; then for each moment
 *          the readings of all counters and the mark that ends it
 * Units    readings count from the start, as perf's do; times are ns since the start
 * Errors   the writer's
 * Source   perf.data-file-format.txt: STAT_CONFIG, STAT, STAT_ROUND, EVENT_UPDATE
 */
#ifndef PACE_FILE_STATFILE_H
#define PACE_FILE_STATFILE_H

#include "collect/open/counting.h"
#include "event/target.h"
#include "file/writer.h"

/* Tags of STAT_CONFIG. */
enum statfile_tag { STATFILE_AGGR_MODE, STATFILE_INTERVAL, STATFILE_SCALE };

/* perf's numbers for its ways to aggregate counts; they differ between its versions. */
enum statfile_mode {
	STATFILE_MODE_NONE, /* every CPU by itself */
	STATFILE_MODE_GLOBAL,
	STATFILE_MODE_SOCKET,
	STATFILE_MODE_DIE,
	STATFILE_MODE_CORE,
	STATFILE_MODE_THREAD,
};

struct statfile_config {
	u64 mode; /* enum statfile_mode */
	u64 interval_ms;
	bool is_scaled;
};

enum statfile_round { STATFILE_ROUND_INTERVAL, STATFILE_ROUND_FINAL };

/* Writes what precedes the readings. `unit` and `scale` give an event's unit and the factor to it. */
int statfile_begin(struct writer *w, const struct counting *counting, const struct target *target,
	const struct statfile_config *config, const char *(*unit)(const struct event *e),
	double (*scale)(const struct event *e), struct err *err);

/* Writes the last readings and the mark of the moment. */
int statfile_round(struct writer *w, const struct counting *counting, const struct target *target,
	enum statfile_round round, u64 time_ns, struct err *err);

#endif
