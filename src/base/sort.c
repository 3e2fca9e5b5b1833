#include "base/sort.h"

#include "base/mem.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static void insertion(struct sort_item *a, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sort_item item = a[i];
		size_t j = i;

		for (; j > 0 && a[j - 1].key > item.key; j--)
			a[j] = a[j - 1];
		a[j] = item;
	}
}

/* One counting pass over the digit at `shift`, from a to b. */
static void radix_pass(const struct sort_item *a, struct sort_item *b, size_t n, unsigned shift)
{
	size_t start[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < n; i++)
		start[a[i].key >> shift & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t count = start[d];

		start[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		b[start[a[i].key >> shift & (DIGITS - 1)]++] = a[i];
}

void sort_by_key(struct sort_item *items, size_t n)
{
	struct sort_item *from = items, *to, *other;
	u64 all_and = ~0ULL, all_or = 0;
	bool is_sorted = true;

	for (size_t i = 0; i < n; i++) {
		all_and &= items[i].key;
		all_or |= items[i].key;
		is_sorted = is_sorted && (i == 0 || items[i - 1].key <= items[i].key);
	}
	if (is_sorted)
		return;
	if (n <= 32) {
		insertion(items, n);
		return;
	}
	other = mem_alloc(n * sizeof(*other));
	to = other;
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct sort_item *swap = from;

		/* A digit that is the same in all keys orders nothing. */
		if (((all_and ^ all_or) >> shift & (DIGITS - 1)) == 0)
			continue;
		radix_pass(from, to, n, shift);
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, n * sizeof(*items));
	mem_free(other);
}
