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
	bool ids_agree;    /* all samples have them at the same place */
	u32 id_from_start; /* bytes behind a sample's header */
	u32 id_from_end;   /* bytes before the end of another record */
	bool has_reads;    /* samples of some event hold what counters had counted */
	u64 time_in_all;   /* PERF_SAMPLE_TIME if samples and other records all carry times */
	struct table by_id;
	struct {
		u64 id;
		u32 event;
	} * ids;
	size_t n_ids, ids_cap;
	/* The first event of each kind of samples; more kinds than there is room for are not told apart. */
	u32 kinds[FORMATS_KINDS_MAX];
	size_t n_kinds;
};

/* Whether several events have samples of one kind that do not say whose they are: they go to the first. */
static inline bool formats_are_untold(const struct formats *f)
{
	return f->n > 1 && !f->has_ids && f->n_kinds == 1;
}

/*
 * Whether ids, if there are any, are not at one place in all samples: whose a sample is follows from the
 * form of it then, and where that is several events', it is nobody's (TABLE_NONE).
 */
static inline bool formats_are_mixed(const struct formats *f)
{
	return !f->has_ids && f->n_kinds > 1;
}

void formats_init(struct formats *f, const struct event_list *events);
/* Takes in the events that have come since; those of before have not changed. */
void formats_add(struct formats *f, const struct event_list *events);
void formats_fini(struct formats *f);

/*
 * The event of a record: 0 if there is but one or the record does not say, TABLE_NONE for an id nobody
 * has, and for samples that may be of several events with other forms.
 */
u32 formats_event(const struct formats *f, const struct record *rec);

/* The format of an event's samples; of the first one for records of no event, TABLE_NONE. */
static inline const struct sample_format *formats_format(const struct formats *f, u32 event)
{
	return &f->at[event == TABLE_NONE ? 0 : event];
}

/* When a record of that event was written; 0: it does not say. */
u64 formats_time(const struct formats *f, const struct record *rec, u32 event);

/* The event with that id; 0 for the id 0, which nobody has. */
u32 formats_event_of_id(const struct formats *f, u64 id);

/* Turns a record of the other byte order around, in place; false if it makes no sense. */
bool formats_swap(const struct formats *f, u8 *bytes, u16 size);

#endif
