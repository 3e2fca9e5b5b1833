/*
 * readperf.h - the rows of pace readperf's tables.
 *
 * In       records in time order, processes as they end, functions at the end
 * Out      rows of csv
 * Owns     nothing
 * Units    times are ns; addresses are hexadecimal with 0x
 */
#ifndef PACE_VIEW_READPERF_H
#define PACE_VIEW_READPERF_H

#include "event/event.h"
#include "profile/rows/hist.h"
#include "profile/check/processlist.h"
#include "record/record.h"
#include "record/sample.h"
#include "view/text/csv.h"

/* What overview.csv says about one record. */
struct readperf_record {
	const struct record *rec;
	const union record_body *body; /* NULL: a sample, or it could not be read */
	const struct sample *sample;   /* NULL: none, or it could not be read */
	const char *event;             /* of the sample; NULL: there is only one event */
	bool has_task, has_time;
	u64 nr; /* from 0, in the order of the file */
	u32 pid, tid;
	u64 time;
};

void readperf_start_overview(struct csv *c);
void readperf_add_record(struct csv *c, const struct readperf_record *r, struct str *scratch);

/* n_by_type as in struct session_tally. */
void readperf_add_stat(struct csv *c, const u64 *n_by_type, size_t n);

/* If there are several events, each has its own columns after the sums. */
void readperf_start_processes(struct csv *c, const struct event_list *events);
void readperf_add_process(struct csv *c, const struct processlist_process *p, size_t n_events);

void readperf_start_results(struct csv *c, bool has_events);
/* Adds the functions of one event, in the order of the histogram. */
void readperf_add_results(struct csv *c, const struct hist *h, bool has_events);

#endif
