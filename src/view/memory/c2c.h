/*
 * c2c.h - cache lines that CPUs take from each other, as text or JSON.
 *
 * In       profile/memory/sharing, with names
 * Out      what all accesses found; lines by their HITM, in a table; for each of them who uses which of its bytes, and what that
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
	enum c2c_display display; /* by which loads lines are chosen and sorted */
	unsigned node_info;       /* 1: what the CPUs of each node did; 2: which they were */
	u64 max_lines;            /* in full; 0: all */
	bool has_stats_only;
	bool is_quiet;
};

/* HITM, or loads from peers, as the options count them. */
u64 c2c_hot(const struct c2c_options *o, const struct sharing_count *c);

/* The lines that have some, those with most first: positions in s->lines; to be freed. */
u32 *c2c_order(const struct sharing *s, const struct c2c_options *o, size_t *ret_n);

/* "false", "true", or NULL: nothing is known. */
const char *c2c_verdict(enum sharing_verdict verdict);

struct c2c_calls;
/* calls: of each use; NULL: none */
void c2c_text(struct out *out, const struct sharing *s, struct c2c_calls *calls,
	const struct c2c_options *o);
void c2c_rows(const struct form *form, struct out *out, const struct sharing *s,
	struct c2c_calls *calls, const struct c2c_options *o);

#endif
