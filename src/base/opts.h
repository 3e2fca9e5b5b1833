/*
 * opts.h - command line options as a table: parsing, checking, help.
 *
 * In       a table of rows, closed by OPT_END; the struct that the rows' offsets point into; argc,
 *          argv
 * Out      the struct filled; argv compacted to the words that are not options
 * Forms    -x  -xVALUE  -x VALUE  -xyz  --long  --long=VALUE  --long VALUE  --no-long  --  and any
 *          beginning of a long name that only one row has. --no-long of an option with a value undoes
 *          the earlier uses of that option
 * Owns     nothing: strings point into argv; an opt_list's array is the caller's to vec_fini()
 * Errors   ERR_INVAL with one sentence, which names the nearest option if there is none of that name
 */
#ifndef PACE_BASE_OPTS_H
#define PACE_BASE_OPTS_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

enum opt_kind {
	OPT_END,
	OPT_TITLE,  /* help: a heading for the rows that follow */
	OPT_BOOL,   /* bool */
	OPT_TRI,    /* int: unchanged (-1) if it is not used, else 0 or 1 */
	OPT_COUNT,  /* unsigned: incremented by each use */
	OPT_U64,    /* u64 within [min, max] */
	OPT_DOUBLE, /* double within [min, max] */
	OPT_STR,    /* const char * */
	OPT_LIST,   /* struct opt_list: the value of each use */
	OPT_CALL,   /* call(target, value): value is NULL, never "", if it was left out */
	/* Options of perf that -h does not show; with `arg` they take a value. */
	OPT_NOTHING, /* has no effect here; `help` says why */
	OPT_REFUSED, /* ERR_UNSUPPORTED: `help` says what is missing, and what to use instead */
};

enum opt_flag {
	/* The value may be left out: the next word is the value only if it does not begin with '-'. */
	OPT_OPTIONAL = 1 << 0,
	OPT_NO_VALUE = 1 << 1, /* an OPT_CALL without value */
	OPT_HIDDEN = 1 << 2,   /* works, not shown by -h */
	OPT_ATTACHED = 1 << 3, /* with OPT_OPTIONAL: the next word is never taken */
	OPT_COMMON = 1 << 4,   /* help marks it with *: one of the few that most users need */
};

struct opt {
	char letter;      /* 0: none */
	const char *name; /* NULL: none; a name "no-x" also answers to --x, which undoes it */
	enum opt_kind kind;
	size_t offset; /* in the target struct; for OPT_CALL the offset of a switch that --no-x undoes too, or 0 */
	const char *arg;  /* help: what the value is called */
	const char *help; /* one sentence, no full stop; for OPT_TITLE the title */
	unsigned flags;
	u64 min, max; /* max 0: no limit */
	int (*call)(void *target, const char *value, struct err *err);
	bool (*is_value)(const char *word); /* with OPT_OPTIONAL: is it its value? */
};

struct opt_list {
	const char **at;
	size_t n, cap;
};

enum {
	OPTS_STOP = 1 << 0, /* the first word that is not an option begins a command line */
	OPTS_HELP = 1,      /* returned: -h or --help was given */
};

/* Returns 0, OPTS_HELP or an error. After 0, argv[0 .. *argc) holds the remaining words, in order. */
int opts_parse(const struct opt *table, void *target, unsigned flags, int *argc, char **argv,
	struct err *err);

/* Whether an option takes a value, which may be left out; whether help shows it. */
bool opts_takes_value(const struct opt *o);
bool opts_is_shown(const struct opt *o);

/* Adds the options' part of a help page. */
void opts_add_help(const struct opt *table, struct str *text);

#endif
