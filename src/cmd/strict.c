#include "cmd/strict.h"

#include "base/selfname.h"
#include <stdio.h>

bool strict_fails(const struct cmd *cmd, bool is_strict, const char *path,
	const struct ledger *ledger)
{
	struct str text = {0};
	bool fails;

	if (is_strict)
		ledger_add_losses(ledger, &text);
	fails = text.n > 0;
	if (fails)
		fprintf(stderr, "%s %s: --strict: '%s': %s\n", program_name(), cmd->name, path,
			str_text(&text));
	str_fini(&text);
	return fails;
}
