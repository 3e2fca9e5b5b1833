/*
 * condition.h - what counters must say for something to happen: "ipc<0.5 for 50ms and page-faults/s>1000".
 *
 *     CONDITION = TERM { "and" TERM }      TERM = NAME OP NUMBER [ "for" DURATION ]
 *     NAME      = "ipc" | "cpu-util" | EVENT "/s"      OP = "<" | "<=" | ">" | ">="
 *     NUMBER    = digits with a fraction; of cpu-util also in "%"      DURATION = number "ms" | "s"
 *
 * In       the text; each term's value at each look
 * Out      whether it holds: all terms at once, each for its duration without a look at which it did not
 * Owns     the names
 * Units    instructions per cycle; CPUs kept busy (1 or 100% is one CPU); events a second of time
 * Errors   ERR_INVAL with the column, counted from 1
 */
#ifndef PACE_COLLECT_CONDITION_H
#define PACE_COLLECT_CONDITION_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"

enum condition_kind { CONDITION_RATE, CONDITION_IPC, CONDITION_UTIL };
enum condition_op { CONDITION_LESS, CONDITION_AT_MOST, CONDITION_MORE, CONDITION_AT_LEAST };

struct condition_term {
	enum condition_kind kind;
	enum condition_op op;
	char *name;   /* as it was said, without "/s" */
	double limit; /* 80% is 0.8 */
	u64 hold_ns;
	double value; /* at the last look; NAN: nothing was counted */
	u64 since_ns; /* of the first look since which it holds */
	bool is_holding;
};

struct condition {
	VEC(struct condition_term) terms;
	bool has_fired; /* and has been true ever since */
};

int condition_parse(struct condition *c, const char *text, struct err *err);
void condition_fini(struct condition *c);

/*
 * A look at `now_ns`: `values` by term. True when the condition begins to hold; then not again before it
 * has been false.
 */
bool condition_look(struct condition *c, u64 now_ns, const double *values);

/* "page-faults/s 2310.5, ipc 0.41": the values of the last look. */
void condition_add_values(const struct condition *c, struct str *text);

#endif
