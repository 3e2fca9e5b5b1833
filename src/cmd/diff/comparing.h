/*
 * comparing.h - the recordings that diff compares, read into a comparison of each of their events.
 *
 * In       what options ask for; recordings, and which side each is on
 * Out      for each event of the first recording, its delta; stacks of all recordings, if the form wants them
 * Owns     what it reads, until comparing_fini(); not the options
 * Errors   those of options and of recordings
 */
#ifndef PACE_CMD_COMPARING_H
#define PACE_CMD_COMPARING_H

#include "base/hash.h"
#include "cmd/fleetinput.h"
#include "cmd/symbols.h"
#include "profile/check/recorded.h"
#include "profile/diff/delta.h"
#include "profile/diff/branchstreams.h"
#include "profile/gather/filter.h"
#include "view/forms/forms.h"
#include "view/rows/diffrows.h"
#include "view/rows/stackrows.h"

#define DIFF_BASELINE "perf.data.old" /* where nothing is named */

struct diff_command {
	bool is_strict;
	const char *sort, *per;
	struct diff_options view;
	struct profile_filter filter;
	struct recorded_options reading;
	struct symbol_options symbols;
	double debuginfod_s;
	const char *cpus, *pids, *tids, *time;
	const char *store;  /* of windows; NULL: the user's */
	struct opt_list at; /* windows of it; none: files are compared */
	bool is_usual;      /* with the same time of other days */
	const char *html;   /* the file that gets the page; NULL: none */
	struct form_choice forms;
	bool has_children, is_forced, is_dump;
	bool has_streams; /* --stream */
	u64 order, n_workers;
	unsigned verbose;
};

struct compared { /* an event of the first recording */
	char *name;
	struct delta delta;
	u64 *n_unknown; /* with -c cycles: runs of code that are not compared, by recording */
	struct branchstreams streams; /* with --stream, instead of the delta's rows */
};

struct comparing {
	struct diff_command *options;
	struct log *log;
	const struct key *keys[HIST_KEYS_MAX];
	size_t n_keys;
	VEC(struct delta_recording) recordings;
	VEC(struct fleetinput *) windows; /* those of them that are windows of a store */
	VEC(struct compared) events;
	struct table by_name; /* indexes `events` */
	struct stackrows stacks;
	struct str ledger;              /* with --html: of all recordings */
	bool lacks_cycles[DELTA_SIDES]; /* some recording has branches without cycles */
	bool has_warned, has_lost;
	size_t n_imports; /* of the recordings: profiles that other programs made */
};

/* Whether stacks are read. */
bool diff_wants_stacks(const struct diff_command *o);

/* Whether rows are compared: of stacks only pages want to know how much runs differ. */
bool diff_wants_rows(const struct diff_command *o);

/* Reads all recordings, which the caller has added. */
int comparing_read(struct comparing *c, struct err *err);
void comparing_fini(struct comparing *c);

#endif
