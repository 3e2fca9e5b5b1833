/*
 * dynevents.h - the probes that were put into the kernel and into programs through tracefs.
 *
 * In       uprobe_events and kprobe_events
 * Out      definitions, as the kernel has them
 * Owns     the texts, until dynevents_fini()
 * Errors   ERR_NOENT: no tracefs, or this kernel has no such probes; ERR_PERM: they are root's; ERR_INVAL: the
 *          kernel refuses a definition, with its own words
 * Source   Documentation/trace/uprobetracer.rst, kprobetrace.rst
 */
#ifndef PACE_EVENT_DYNEVENTS_H
#define PACE_EVENT_DYNEVENTS_H

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

enum dynevent_kind { DYNEVENT_UPROBE, DYNEVENT_KPROBE, DYNEVENT_KINDS };

struct dynevent {
	enum dynevent_kind kind;
	bool is_return;
	const char *group, *name;
	const char *place; /* FILE:0xOFFSET, or FUNCTION+OFFSET */
	const char *args;  /* "a=%di:s32 b=..."; "": none */
};

struct dynevents {
	VEC(struct dynevent) at;
	struct arena texts;
};

/* Reads those of both kinds. A kind that this kernel lacks is left out. root NULL: where tracefs is mounted. */
int dynevents_read(struct dynevents *d, const char *root, struct err *err);
void dynevents_fini(struct dynevents *d);

/* Reads definitions, one a line, as uprobe_events has them. */
void dynevents_parse(struct dynevents *d, enum dynevent_kind kind, const char *text);

/* Defines a probe: "p:group/name PLACE ARGS". ERR_NOENT also if the file to probe is gone. */
int dynevents_define(const char *root, enum dynevent_kind kind, const char *definition,
	struct err *err);

/* Removes all probes of that name. */
int dynevents_remove(const char *root, enum dynevent_kind kind, const char *group, const char *name,
	struct err *err);

/* Whether the kernel lets several places have one name (since Linux 5.5). */
bool dynevents_can_share_names(const char *root);

#endif
