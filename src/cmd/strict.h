/*
 * strict.h - --strict: a result that lacks samples has its own exit status.
 *
 * In       the ledger of a recording
 * Out      a message about what was lost; true
 */
#ifndef PACE_CMD_STRICT_H
#define PACE_CMD_STRICT_H

#include "cmd/cmd.h"
#include "profile/check/ledger.h"

#define STRICT_ROW(type)                                                \
	{                                                               \
		0, "strict", OPT_BOOL, offsetof(type, is_strict), NULL, \
			"exit with status 3 if any samples were lost"   \
	}

/* If `is_strict` and samples of `path` were lost, reports them and returns true. */
bool strict_fails(const struct cmd *cmd, bool is_strict, const char *path,
	const struct ledger *ledger);

#endif
