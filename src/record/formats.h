/*
 * formats.h - the sample formats of all events of a session, and which event a record belongs to.
 *
 * In       the event list, with the ids that the kernel gave
 * Owns     its formats and the table of ids; not the events
 * Life     the session's; the events must not change meanwhile
 * Threads  read-only between formats_init() and formats_add(): any number of readers
 */
#ifndef PACE_RECORD_FORMATS_H
#define PACE_RECORD_FORMATS_H

#include "base/table.h"
#include "event/event.h"
#include "record/sample.h"

enum { FORMATS_KINDS_MAX = 16 };

struct formats {
	struct sample_format *at; /* one for each event */
	size_t n, cap;
	bool has_ids;
	bool ids_agree;    /* all samples have ids, at the same place */
	u32 id_from_start; /* bytes after a sample's header */
	u32 id_from_end;   /* bytes before the end of another record */
	bool has_reads;    /* samples of some event hold values of counters */
	u64 time_in_all;   /* PERF_SAMPLE_TIME if samples and other records all carry times */
	struct table by_id;
	struct {
		u64 id;
		u32 event;
	} * ids;
	size_t n_ids, ids_cap;
	/* The first event of each kind of samples; kinds beyond the limit are not told apart. */
	u32 kinds[FORMATS_KINDS_MAX];
	size_t n_kinds;
};

/*
 * Whether several events have samples of the same format without ids: all of these go to the first event. Events without any
 * field, whose counts are recorded, have no samples.
 */
static inline bool formats_are_untold(const struct formats *f)
{
	return f->n > 1 && !f->has_ids && f->n_kinds == 1 && f->at[0].type;
}

/*
 * Whether samples have several formats without ids at a common place. The event of a sample then follows
 * from its form; a sample that fits several events has none (TABLE_NONE).
 */
static inline bool formats_are_mixed(const struct formats *f)
{
	return !f->has_ids && f->n_kinds > 1;
}

void formats_init(struct formats *f, const struct event_list *events);
/* Takes in the events that have come since; earlier events must not have changed. */
void formats_add(struct formats *f, const struct event_list *events);
void formats_fini(struct formats *f);

/*
 * The event of a record: 0 if there is only one or the record does not say; TABLE_NONE for an unknown id,
 * and for samples whose form fits several events.
 */
u32 formats_event(const struct formats *f, const struct record *rec);

/* The format of an event's samples; that of the first event for TABLE_NONE. */
static inline const struct sample_format *formats_format(const struct formats *f, u32 event)
{
	return &f->at[event == TABLE_NONE ? 0 : event];
}

/* The time of a record of that event; 0: it has none. */
u64 formats_time(const struct formats *f, const struct record *rec, u32 event);

/* The event with that id, or TABLE_NONE; 0 for the id 0, which no event has. */
u32 formats_event_of_id(const struct formats *f, u64 id);

/* Swaps a record of the other byte order, in place; false if it is malformed. */
bool formats_swap(const struct formats *f, u8 *bytes, u16 size);

#endif
