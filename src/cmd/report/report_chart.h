/*
 * report_chart.h - report: what CPUs and tasks did, for forms that show it beside samples.
 *
 * In       a recording that was read, and its path: records are walked once more, in the order of time
 * Out      struct chart
 * Errors   those of reading
 */
#ifndef PACE_CMD_REPORT_CHART_H
#define PACE_CMD_REPORT_CHART_H

#include "profile/chart/chart.h"
#include "profile/check/recorded.h"

/*
 * *ret_has: the recording tells what the scheduler did, and *ret is to be freed with chart_fini(). A note says if it does but cannot be
 * read twice.
 */
int report_chart(const struct recorded *r, const char *path, struct chart *ret, bool *ret_has,
	struct err *err);

#endif
