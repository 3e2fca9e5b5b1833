/*
 * which.h - which samples of a recording are counted: what --cpu and --time say.
 *
 * In       the words; the recording that they are about
 * Out      CPUs and spans, for profile/check/recorded
 * Owns     both
 * Errors   ERR_INVAL: wrong words, or samples that lack what they need
 */
#ifndef PACE_CMD_WHICH_H
#define PACE_CMD_WHICH_H

#include "event/cpus.h"
#include "session/session.h"
#include "session/spans.h"

struct which {
	struct cpus cpus;
	struct spans spans;
};

/* Fails unless every sample carries `field`. `what` completes "does not say ... its samples were taken": "when". */
int which_check_field(const struct session *s, const char *option, u64 field, const char *what,
	struct err *err);

/* A NULL in `cpus` or `time` means all. */
int which_choose(struct which *w, const char *cpus, const char *time, const struct session *s,
	struct err *err);
void which_fini(struct which *w);

#endif
