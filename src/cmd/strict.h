/*
 * strict.h - --strict: a result that is not made of all samples has an exit status of its own.
 *
 * In       the ledger of a recording
 * Out      a message of what was lost; true
 */
#ifndef PACE_CMD_STRICT_H
#define PACE_CMD_STRICT_H

#include "cmd/cmd.h"
#include "profile/check/ledger.h"

#define STRICT_ROW(type)                                                       \
	{                                                                      \
		0, "strict", OPT_BOOL, offsetof(type, is_strict), NULL,        \
			"exit with 3 if samples were lost, for whatever cause" \
	}

/* Says what was lost of `path`, if anything was and somebody wants to know. */
bool strict_fails(const struct cmd *cmd, bool is_strict, const char *path,
	const struct ledger *ledger);

#endif
