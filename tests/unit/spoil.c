#include "unit/spoil.h"

#include "test.h"

void spoil_bytes(struct spoil *s, void *bytes, size_t begin, size_t end, unsigned n)
{
	u8 *at = bytes;

	CHECK(begin < end && n <= SPOIL_MOST);
	for (s->n = 0; s->n < n; s->n++) {
		size_t place = begin + random_below(&s->random, (u32)(end - begin));

		s->at[s->n] = place;
		s->was[s->n] = at[place];
		at[place] = (u8)random_next(&s->random);
	}
}

void spoil_mend(struct spoil *s, void *bytes)
{
	/* One byte may have been changed twice. */
	while (s->n) {
		s->n--;
		((u8 *)bytes)[s->at[s->n]] = s->was[s->n];
	}
}
