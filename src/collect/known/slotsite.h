/*
 * slotsite.h - why this machine has no TopDown, and what works instead.
 *
 * In       the site; sysfs
 * Out      a plan (event/tmaplan.h), or the reason, in a sentence that begins with "TopDown ..."
 * Errors   ERR_UNSUPPORTED
 */
#ifndef PACE_COLLECT_SLOTSITE_H
#define PACE_COLLECT_SLOTSITE_H

#include "base/str.h"
#include "collect/around/site.h"
#include "event/tmaplan.h"

/* tma_plan_open() on the site's machine. */
int slotsite_open(struct tma_plan *p, const struct site *site, struct err *err);

/* The reason why an event of the plan could not be opened here; `why`: what opening it said. */
int slotsite_refuse(const struct site *site, const char *event, const char *why, struct err *err);

/* Adds what there is: "levels 1 and 2 on cpu_core (Intel, metrics register); level 1 on cpu_atom (...)". */
void slotsite_add_text(const struct tma_plan *p, struct str *text);

/* Whether the machine's CPUs share cores between threads. */
bool slotsite_has_smt(const struct site *site);

#endif
