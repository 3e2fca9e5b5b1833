/*
 * ledger.h - what a result lacks: everything dropped, cut, throttled or nameless, by cause.
 *
 * In       the tally of a session; the outcomes of naming
 * Out      entries: what, how much, where, and the one command that would mend most of it
 * Owns     its strings
 *
 * Invariant: samples in the file = samples shown + samples here under a cause that loses samples.
 */
#ifndef PACE_PROFILE_LEDGER_H
#define PACE_PROFILE_LEDGER_H

#include "base/str.h"
#include "profile/batch/batch.h"
#include "profile/gather/profile.h"
#include "session/session.h"
#include "symbol/resolve/resolver.h"

enum ledger_cause {
	LEDGER_DROPPED_BY_KERNEL, /* rings were full: samples that never got into the file */
	LEDGER_LOST_RECORDS,      /* the same for records of all kinds */
	LEDGER_THROTTLED,         /* the kernel stopped sampling for a moment */
	LEDGER_DAMAGED,           /* bytes of the file that are not records */
	LEDGER_UNREADABLE,        /* samples whose fields do not fit their event */
	LEDGER_STOPPED,           /* samples that the user did not want to wait for */
	LEDGER_UNSCANNED,   /* bytes of the file behind the place where the user stopped reading */
	LEDGER_FOREIGN,     /* samples of events the file does not describe */
	LEDGER_ODD,         /* records with impossible values */
	LEDGER_NOT_NATIVE,  /* records of the other byte order that cannot be converted */
	LEDGER_NAMELESS,    /* samples in functions whose name is not known */
	LEDGER_INTERPRETED, /* samples in an interpreter, which hides what it runs */
	LEDGER_LINELESS,    /* samples whose source line is not known */
	LEDGER_INLINELESS,  /* samples in code whose debug information could not be read */
	LEDGER_TYPELESS,    /* samples that access data whose type is not known */
	LEDGER_TRUNCATED,   /* samples whose stacks end before their roots */
	LEDGER_UNWATCHED,   /* time of a window in which nobody watched */
	LEDGER_UNKEPT,      /* time that was watched, but there was no room to keep it */
	LEDGER_REPORTED,    /* what a batch says is missing, in its own words */
};

struct ledger_entry {
	enum ledger_cause cause;
	u64 amount;         /* samples, branches, records or bytes */
	double share;       /* of all samples, 0..1; negative: not applicable */
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

/*
 * The entries as losses of a batch, and back: their cause is a key there, by which ledger_add_batch() knows it again;
 * other causes are taken as words.
 */
void ledger_to_batch(const struct ledger *l, struct batch *b);
void ledger_add_batch(struct ledger *l, const struct batch *b);
const char *ledger_key(enum ledger_cause cause);
void ledger_add_tally(struct ledger *l, const struct session_tally *t);

/* Samples whose innermost frame has no name, DSO by DSO. */
void ledger_add_nameless(struct ledger *l, const struct profile *p, const struct resolver *r);

/* Samples in an interpreter, if there are many and no function that it runs has a name. */
void ledger_add_interpreted(struct ledger *l, const struct profile *p);

/* Samples whose innermost frame has no source line, by DSO and cause. */
void ledger_add_lineless(struct ledger *l, const struct profile *p, const struct resolver *r);

/*
 * Samples that may lack inlined functions, by DSO and cause: files whose debug information could not be read.
 * Files without any are not mentioned.
 */
void ledger_add_inlineless(struct ledger *l, const struct profile *p, const struct resolver *r);

/* Samples whose data type is not known, by reason and DSO. */
void ledger_add_typeless(struct ledger *l, const struct profile *p, const struct resolver *r);

/*
 * Samples whose stacks ended before their roots, by cause and DSO; dump_bytes: the size of their stack dumps.
 */
void ledger_add_endings(struct ledger *l, const struct profile *p, const struct machine *m,
	u32 dump_bytes);

/* Whether something that is in the file could not be read. */
bool ledger_has_unread(const struct ledger *l);

/* What was lost of a cause, in all places. */
u64 ledger_amount(const struct ledger *l, enum ledger_cause cause);

/* Adds what is missing from the samples: never taken, not in the file, or not readable; "a; b", or nothing. */
void ledger_add_losses(const struct ledger *l, struct str *text);

/* Warns of everything in the file that could not be read. */
void ledger_warn(const struct ledger *l, struct log *log);

/* Adds one entry as a sentence. */
void ledger_add_entry(const struct ledger_entry *e, struct str *text);

/* Adds lines that begin with "# ": the worst entry of each cause, or all entries with `in_full`. */
void ledger_add_text(const struct ledger *l, bool in_full, struct str *text);

#endif
