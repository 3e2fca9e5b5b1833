/*
 * c2c.h - cache lines that CPUs take from each other, as text or JSON.
 *
 * In       profile/memory/sharing, with names
 * Out      the totals of all accesses; a table of lines by their HITM; for each line the users of its bytes, and what that
 *          means; or one object of JSON, whose members are in pace-c2c(1)
 * Owns     nothing
 */
#ifndef PACE_VIEW_C2C_H
#define PACE_VIEW_C2C_H

#include "base/out.h"
#include "profile/memory/sharing.h"
#include "view/forms/forms.h"

enum c2c_display { C2C_TOTAL, C2C_LOCAL, C2C_REMOTE, C2C_PEER };

struct c2c_options {
	enum c2c_display display; /* the loads that lines are chosen and sorted by */
	unsigned node_info;       /* 1: what the CPUs of each node did; 2: which CPUs they were */
	u64 max_lines;            /* shown in full; 0: all */
	bool has_stats_only;
	bool is_quiet;
	bool has_colour; /* shares have colours in text */
};

/* HITM, or loads from peers, as the options choose. */
u64 c2c_hot(const struct c2c_options *o, const struct sharing_count *c);

/* Indexes in s->lines of the lines that have any, the hottest first. The caller frees it. */
u32 *c2c_order(const struct sharing *s, const struct c2c_options *o, size_t *ret_n);

/* "false", "true", or NULL: unknown. */
const char *c2c_verdict(enum sharing_verdict verdict);

struct c2c_calls;
/* calls: the callers of each use; NULL: none */
void c2c_text(struct out *out, const struct sharing *s, struct c2c_calls *calls,
	const struct c2c_options *o);
void c2c_rows(const struct form *form, struct out *out, const struct sharing *s,
	struct c2c_calls *calls, const struct c2c_options *o);

#endif
