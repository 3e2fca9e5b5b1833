/*
 * condition.h - a condition on counters: "ipc<0.5 for 50ms and page-faults/s>1000".
 *
 *     CONDITION = TERM { "and" TERM }      TERM = NAME OP NUMBER [ "for" DURATION ]
 *     NAME      = "ipc" | "cpu-util" | EVENT "/s"      OP = "<" | "<=" | ">" | ">="
 *     NUMBER    = digits with a fraction; for cpu-util also in "%"      DURATION = number "ms" | "s"
 *
 * In       the text; each term's value at each look
 * Out      whether it holds: all terms at once, each at every look during its duration
 * Owns     the names
 * Units    instructions per cycle; CPUs kept busy (1 or 100% is one CPU); events per second of time
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
	char *name;   /* as the user wrote it, without "/s" */
	double limit; /* 80% is 0.8 */
	u64 hold_ns;
	double value; /* at the last look; NAN: nothing was counted */
	u64 since_ns; /* the first of the looks since which it has held */
	bool is_holding;
};

struct condition {
	VEC(struct condition_term) terms;
	bool has_fired; /* it held at the last look */
};

int condition_parse(struct condition *c, const char *text, struct err *err);
void condition_fini(struct condition *c);

/*
 * Takes the values of a look at `now_ns`, by term. True when the condition starts to hold, and then
 * only after it has been false again.
 */
bool condition_look(struct condition *c, u64 now_ns, const double *values);

/* Adds the values of the last look: "page-faults/s 2310.5, ipc 0.41". */
void condition_add_values(const struct condition *c, struct str *text);

#endif
