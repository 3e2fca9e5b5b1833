#include "base/mem.h"
#include "base/sort.h"

#include "test.h"

static u64 state = 0x2545f4914f6cdd1dULL;

static u64 next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* The value is the position before sorting, so this order is the stable one. */
static int by_key_then_value(const void *a, const void *b)
{
	const struct sort_item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void check_sorts_like_qsort(struct sort_item *items, size_t n)
{
	struct sort_item *expected = mem_alloc(n * sizeof(*items) + 1);

	for (size_t i = 0; i < n; i++)
		items[i].value = i;
	memcpy(expected, items, n * sizeof(*items));
	qsort(expected, n, sizeof(*expected), by_key_then_value);
	sort_by_key(items, n);
	for (size_t i = 0; i < n; i++) {
		CHECK_EQ(items[i].key, expected[i].key);
		CHECK_EQ(items[i].value, expected[i].value);
	}
	mem_free(expected);
}

TEST(sort_is_stable_and_orders_all_small_sizes)
{
	static const u64 masks[] = {0, 1, 7, 0xff, 0x7ff, 0x800, 0xfff, 0xffffffff, ~0ULL};

	for (size_t n = 0; n <= 100; n++) {
		for (size_t m = 0; m < ARRAY_SIZE(masks); m++) {
			struct sort_item items[101];

			for (size_t i = 0; i < n; i++)
				items[i].key = next_random() & masks[m];
			items[n] = (struct sort_item){77, 88};
			check_sorts_like_qsort(items, n);
			CHECK_EQ(items[n].key, 77);
			CHECK_EQ(items[n].value, 88);
		}
	}
}

TEST(sort_is_stable_and_orders_many)
{
	enum { N = 100000 };
	/* Few keys, many keys, only high bits, keys that differ in the first and the last digit. */
	static const u64 masks[] = {0x3, 0xffff, 0xffULL << 56, 0x8000000000000001ULL, ~0ULL};
	struct sort_item *items = mem_alloc(N * sizeof(*items));

	for (size_t m = 0; m < ARRAY_SIZE(masks); m++) {
		for (size_t i = 0; i < N; i++)
			items[i].key = next_random() & masks[m];
		check_sorts_like_qsort(items, N);
	}
	mem_free(items);
}

TEST(sort_orders_every_single_bit)
{
	struct sort_item items[64 + 1];

	for (size_t bit = 0; bit < 64; bit++)
		items[bit].key = 1ULL << (63 - bit);
	items[64].key = 0;
	check_sorts_like_qsort(items, ARRAY_SIZE(items));
	CHECK_EQ(items[0].key, 0);
	CHECK_EQ(items[1].key, 1);
	CHECK_EQ(items[64].key, 1ULL << 63);
}

TEST(sort_takes_any_number_of_passes)
{
	/* Keys that differ in k digits need k passes: the result must end up in the caller's array.
	 */
	for (unsigned digits = 1; digits <= 6; digits++) {
		struct sort_item items[200];
		u64 mask = digits == 6 ? ~0ULL : (1ULL << (11 * digits)) - 1;

		for (size_t i = 0; i < ARRAY_SIZE(items); i++)
			items[i].key = next_random() & mask;
		check_sorts_like_qsort(items, ARRAY_SIZE(items));
	}
}

TEST(sort_leaves_sorted_and_equal_items_and_turns_reversed_ones)
{
	enum { N = 1000 };
	struct sort_item items[N];

	for (size_t i = 0; i < N; i++)
		items[i].key = i / 3;
	check_sorts_like_qsort(items, N);
	for (size_t i = 0; i < N; i++)
		items[i].key = ~0ULL;
	check_sorts_like_qsort(items, N);
	for (size_t i = 0; i < N; i++)
		items[i].key = ~0ULL - i;
	check_sorts_like_qsort(items, N);
	/* Only the last is out of place. */
	for (size_t i = 0; i < N; i++)
		items[i].key = i + 1;
	items[N - 1].key = 0;
	check_sorts_like_qsort(items, N);
	sort_by_key(NULL, 0);
}
