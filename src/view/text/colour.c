#include "view/text/colour.h"

#include <stdlib.h>
#include <string.h>

#include "base/term.h"
#include "base/utf8.h"

int colour_parse(const char *word, enum colour_mode *ret, struct err *err)
{
	static const char *const words[] =
		{[COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word ? word : "always", words[i])) {
			*ret = (enum colour_mode)i;
			return 0;
		}
	return err_set(err, ERR_INVAL, "'%.60s' is none of always, never, auto", word);
}

bool colour_is_on(enum colour_mode mode, int fd)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (mode != COLOUR_AUTO)
		return mode == COLOUR_ALWAYS;
	return term_is_terminal(fd) && term && strcmp(term, "dumb") && !(none && *none);
}

const char *colour_of_share(double share)
{
	return share >= 0.05 ? COLOUR_RED : share > 0.005 ? COLOUR_GREEN : "";
}

void colour_paint(struct str *text, size_t start, const char *colour)
{
	const size_t length = strlen(colour), n = text->n - start;

	if (!length)
		return;
	str_fill(text, ' ', length);
	memmove(text->at + start + length, text->at + start, n);
	memcpy(text->at + start, colour, length);
	str_add(text, COLOUR_END);
}

/* The columns of the first character; *ret_length: its bytes. A byte that is no part of UTF-8 is one of its own. */
static inline unsigned character(const char *at, size_t n, size_t *ret_length)
{
	u32 cp;

	*ret_length = 1;
	if ((u8)*at < 0x80)
		return 1;
	*ret_length = utf8_length((const u8 *)at, n, &cp);
	if (*ret_length)
		return utf8_columns(cp);
	*ret_length = 1;
	return 1;
}

size_t colour_fitting(const char *text, size_t n, size_t columns)
{
	size_t used = 0;

	for (size_t i = 0, length; i < n; i += length) {
		used += character(text + i, n - i, &length);
		if (used > columns)
			return i;
	}
	return n;
}

size_t colour_columns(const char *text, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0, length; i < n; i += length)
		columns += character(text + i, n - i, &length);
	for (const char *at = text; (at = memchr(at, '\033', n - (size_t)(at - text))) != NULL;)
		for (bool is_end = false; at < text + n && !is_end; at++) {
			is_end = *at == 'm';
			columns--;
		}
	return columns;
}
