#include "base/lookalike.h"

#include <string.h>

#include "base/types.h"

/* clang-format off: a row a kind */
static const struct lookalike known[] = {
	{"\u2010", '-'},
	{"\u2011", '-'},
	{"\u2012", '-'},
	{"\u2013", '-'},
	{"\u2014", '-'},
	{"\u2212", '-'},
	{"\u2018", '\''},
	{"\u2019", '\''},
	{"\u201a", '\''},
	{"\u201c", '"'},
	{"\u201d", '"'},
	{"\u201e", '"'},
};
/* clang-format on */

const struct lookalike *lookalike_at(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strncmp(text, known[i].utf8, LOOKALIKE_BYTES))
			return &known[i];
	return NULL;
}
