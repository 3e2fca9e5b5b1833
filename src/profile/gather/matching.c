#include "profile/gather/matching.h"

int matching_compile(regex_t *expression, const char *text, struct err *err)
{
	char reason[128];
	int r = regcomp(expression, text, REG_EXTENDED | REG_NOSUB);

	if (!r)
		return 0;
	regerror(r, expression, reason, sizeof(reason));
	return err_set(err, ERR_INVAL, "'%.100s' is not a regular expression: %s", text, reason);
}

bool *matching_symbols(const struct profile *p, const regex_t *expression)
{
	bool *matches = mem_zalloc(p->symbols.n + 1);

	for (size_t i = 1; i < p->symbols.n; i++)
		matches[i] = p->symbols.at[i].name &&
			!regexec(expression, p->symbols.at[i].name, 0, NULL, 0);
	return matches;
}
