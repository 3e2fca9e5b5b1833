/*
 * metricexpr.h - the arithmetic of metrics: a formula over counts, compiled once and computed often.
 *
 *     expr    = or [ "if" or "else" expr ]
 *     or      = xor { "|" xor }          xor = and { "^" and }          and = compare { "&" compare }
 *     compare = sum { ( "<" | ">" | "<=" | ">=" | "==" | "!=" ) sum }
 *     sum     = product { ( "+" | "-" ) product }
 *     product = unary { ( "*" | "/" | "%" ) unary }
 *     unary   = "-" unary | "(" expr ")" | number | name | "#" literal
 *             | ( "min" | "max" | "d_ratio" ) "(" expr "," expr ")"
 *             | ( "source_count" | "has_event" | "has_pmu" | "strcmp_cpuid_str" ) "(" name ")"
 *     number  = 12 | 1.5 | .5 | 1e9 | 1e-3 | 0x1f | NaN
 *     name    = letters, digits and _ . : ? @ or one of \- \, \= \: \/
 *
 * A name is that of an event or of another metric. In it "@" stands for "/" and "?" for a number that the caller
 * gives: "cpu@EVENT\,cmask\=1@" is the event cpu/EVENT,cmask=1/.
 *
 * What is not known is NaN, and so is all that is computed from it, but for branches that are not taken. "/" and "%"
 * by 0 are NaN, d_ratio(x, 0) is 0; "&", "|" and "^" are 0 or 1, by whether both sides are 0.
 *
 * In       text
 * Out      the names that it needs, its value
 * Owns     all strings
 * Errors   ERR_INVAL with the column, ERR_LIMIT for formulas that no table has
 * Source   tools/perf/util/expr.y, expr.l; tools/perf/pmu-events/metric.py
 */
#ifndef PACE_EVENT_METRICEXPR_H
#define PACE_EVENT_METRICEXPR_H

#include "base/err.h"
#include "base/mem.h"
#include "base/types.h"
#include "base/vec.h"

struct metricexpr_name {
	const char *text; /* as -e takes it, or a metric's name */
	u32 column;       /* where it is first, from 1 on */
};

struct metricexpr {
	VEC(struct metricexpr_node)
	nodes; /* operands before what is made of them; the last is the whole */
	VEC(struct metricexpr_name) names;
	struct arena arena;
	bool has_parameter; /* there is a "?" */
};

/* What formulas ask for. Numbers are NaN if they are not known. `name` is an index into names. */
struct metricexpr_world {
	double (*value)(void *ctx, u32 name);   /* the event's count, or the metric's value */
	double (*sources)(void *ctx, u32 name); /* how many PMUs have counted it */
	bool (*has_event)(void *ctx, u32 name);
	bool (*has_pmu)(void *ctx, const char *pmu);
	bool (*is_cpu)(void *ctx, const char *model);
	double (*literal)(void *ctx, const char *name); /* without its '#', in lower case */
	void *ctx;
};

/* `parameter` takes the place of "?". */
int metricexpr_compile(struct metricexpr *x, const char *text, u32 parameter, struct err *err);
void metricexpr_fini(struct metricexpr *x);

/*
 * Fills in for each name whether the value depends on it. What can be decided without counts (literals, has_event, has_pmu,
 * strcmp_cpuid_str) decides here which branches count; slots `value` and `sources` are not called.
 */
void metricexpr_needs(const struct metricexpr *x, const struct metricexpr_world *world,
	bool *ret_needs);

double metricexpr_value(const struct metricexpr *x, const struct metricexpr_world *world);

/* Whether text is the name of a literal, without its '#': "smt_on". */
bool metricexpr_is_literal(const char *name);

#endif
