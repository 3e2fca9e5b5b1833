#include "base/nearest.h"

#include <ctype.h>

enum { NAME_MAX_LENGTH = 64, BEGINNING_MIN = 4 };

/*
 * How many insertions, deletions, replacements and swaps of neighbours turn a into b; letter case is
 * ignored.
 */
static unsigned edit_distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned rows[3][NAME_MAX_LENGTH + 1];
	unsigned *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t j = 0; j <= m; j++)
		last[j] = j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *spare = before;

		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			int ca = tolower((u8)a[i - 1]), cb = tolower((u8)b[j - 1]);
			unsigned d = last[j - 1] + (ca != cb);

			d = MIN(d, last[j] + 1);
			d = MIN(d, now[j - 1] + 1);
			if (i > 1 && j > 1 && ca == tolower((u8)b[j - 2]) &&
				tolower((u8)a[i - 2]) == cb)
				d = MIN(d, before[j - 2] + 1);
			now[j] = d;
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[m];
}

void nearest_offer(struct nearest *near, const char *name)
{
	size_t n = strlen(near->typed), m = strlen(name);
	unsigned d, enough;

	if (n > NAME_MAX_LENGTH || m > NAME_MAX_LENGTH || !n)
		return;
	/* A third of the letters may be wrong. A name cut short counts as one mistake, a longer one as two. */
	enough = MAX(n, m) / 3;
	d = edit_distance(near->typed, n, name, m);
	if (n >= 3 && m > n && !strncmp(near->typed, name, n))
		d = 1;
	else if (m >= BEGINNING_MIN && n > m && !strncmp(near->typed, name, m))
		d = MIN(d, 2);
	if (d > enough || (near->best && d >= near->distance))
		return;
	near->best = name;
	near->distance = d;
}

void nearest_add_hint(const struct nearest *near, struct str *text)
{
	if (near->best)
		str_addf(text, "; did you mean '%s'?", near->best);
}
