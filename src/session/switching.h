/*
 * switching.h - the spans in which samples count, begun by one event and ended by another.
 *
 * The first sample of the event that switches on begins a span, the next sample of the event that
 * switches off ends it, and so on; both may be the same event. Without the first event samples count
 * from the start, without the second up to the end. Samples that switch do not count unless they are
 * asked for; other samples of the two events, which change nothing, count like any.
 * In       the samples of the first pass, as an observer of it
 * Out      spans of time
 * Owns     spans
 * Units    ns, or offsets in the file, as session_sample.time
 * Errors   ERR_INVAL if the recording has no such event
 */
#ifndef PACE_SESSION_SWITCHING_H
#define PACE_SESSION_SWITCHING_H

#include "session/decoder.h"
#include "session/spans.h"

struct switching_options {
	const char *on, *off; /* names of events; NULL: none */
	bool shows_switches;  /* samples that switch count, too */
};

struct switching_mark {
	u64 time, offset; /* of the sample; in the file */
	u8 roles;
};

struct switching {
	struct session_observer observer;
	const struct switching_options *options;
	struct session *session;
	struct session_tally ignored;
	struct decoder decoder;
	VEC(u8) roles; /* by event: what it switches */
	VEC(struct switching_mark) marks;
	VEC(struct span) on; /* ascending and disjoint */
};

/* Observes the first pass, which must not have begun. *w must stay where it is until that pass is over. */
void switching_watch(struct switching *w, struct session *s, const struct switching_options *o);

/* Makes the spans, after the first pass. */
int switching_cut(struct switching *w, struct err *err);

bool switching_has(const struct switching *w, u64 time); /* per sample */
void switching_fini(struct switching *w);

#endif
