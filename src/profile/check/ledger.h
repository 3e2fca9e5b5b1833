/*
 * ledger.h - what a result is not made of: everything dropped, cut, throttled or nameless, by
 * cause.
 *
 * In       the tally of a session; the outcomes of naming
 * Out      entries: what, how much, where, and the one command that would repair most of it
 * Owns     its strings
 *
 * Invariant: samples in the file = samples shown + samples here under a cause that loses samples.
 */
#ifndef PACE_PROFILE_LEDGER_H
#define PACE_PROFILE_LEDGER_H

#include "base/str.h"
#include "profile/gather/profile.h"
#include "session/session.h"
#include "symbol/resolve/resolver.h"

enum ledger_cause {
	LEDGER_DROPPED_BY_KERNEL, /* rings were full: samples that never got into the file */
	LEDGER_LOST_RECORDS,      /* the same for records of all kinds */
	LEDGER_THROTTLED,         /* the kernel switched sampling off for moments */
	LEDGER_DAMAGED,           /* bytes of the file that are no records */
	LEDGER_UNREADABLE,        /* samples whose fields do not fit their event */
	LEDGER_FOREIGN,           /* samples of events the file does not describe */
	LEDGER_ODD,               /* records that say what cannot be */
	LEDGER_NOT_NATIVE,        /* records of the other byte order that make no sense */
	LEDGER_NAMELESS,          /* samples in functions that nobody knows the name of */
	LEDGER_INTERPRETED,       /* samples in an interpreter, which hides what it runs */
	LEDGER_LINELESS,          /* samples whose line of source is not known */
	LEDGER_INLINELESS,        /* samples where debug information is that could not be read */
	LEDGER_TYPELESS,          /* samples that access data whose type is not known */
	LEDGER_TRUNCATED,         /* samples whose stacks were not found to their roots */
};

struct ledger_entry {
	enum ledger_cause cause;
	u64 amount;         /* samples, branches, records or bytes */
	double share;       /* of all samples, 0..1; negative if that makes no sense */
	const char *unit;   /* of the amount, in the plural */
	const char *where;  /* a DSO, a place in the file, or "" */
	const char *remedy; /* one sentence or command, or "" */
};

struct ledger {
	VEC(struct ledger_entry) entries; /* worst first within a cause */
	struct arena arena;
	u64 n_samples; /* in the file */
};

void ledger_fini(struct ledger *l);
void ledger_add_tally(struct ledger *l, const struct session_tally *t);

/* Samples whose innermost frame has no name, DSO by DSO. */
void ledger_add_nameless(struct ledger *l, const struct profile *p, const struct resolver *r);

/* Samples in an interpreter, if they are many and nothing of what it runs has a name. */
void ledger_add_interpreted(struct ledger *l, const struct profile *p);

/* Samples whose innermost frame has no line, by DSO and cause; if lines were asked for. */
void ledger_add_lineless(struct ledger *l, const struct profile *p, const struct resolver *r);

/*
 * The same where inlined functions were asked for: that a file has no debug information is nothing to
 * tell, but that what it has could not be read is.
 */
void ledger_add_inlineless(struct ledger *l, const struct profile *p, const struct resolver *r);

/* Samples without a type of data, by reason and DSO; if types were asked for. */
void ledger_add_typeless(struct ledger *l, const struct profile *p, const struct resolver *r);

/*
 * Samples whose stacks, made of stack dumps of so many bytes, ended before their roots, by cause and
 * DSO of the machine.
 */
void ledger_add_endings(struct ledger *l, const struct profile *p, const struct machine *m,
	u32 dump_bytes);

/* Whether something that is in the file could not be read. */
bool ledger_has_unread(const struct ledger *l);

/* What of the samples is missing: never taken, not in the file or not readable; "a; b", or nothing. */
void ledger_add_losses(const struct ledger *l, struct str *text);

/* Says what could not be read. */
void ledger_warn(const struct ledger *l, struct log *log);

/* One line for the worst; several sentences in all with `in_full`. Each line begins with "# ". */
void ledger_add_text(const struct ledger *l, bool in_full, struct str *text);

#endif
