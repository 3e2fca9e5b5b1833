#include "base/hash.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/vec.h"

#include "test.h"

/* A map from u64 keys to the order they were added in, as every user of the table has one. */
struct keys {
	struct table table;
	VEC(u64) at;
};

static u32 find(const struct keys *k, u64 hash, u64 key)
{
	struct table_probe probe = table_probe(&k->table, hash);
	u32 i;

	while ((i = table_next(&k->table, &probe)) != TABLE_NONE)
		if (k->at.at[i] == key)
			return i;
	return TABLE_NONE;
}

static void add(struct keys *k, u64 hash, u64 key)
{
	table_add(&k->table, hash, k->at.n);
	vec_add(&k->at, key);
}

static void fini(struct keys *k)
{
	table_fini(&k->table);
	vec_fini(&k->at);
}

/* A sequence that looks random and never repeats. */
static u64 scramble(u64 i)
{
	i = (i ^ i >> 31) * 0x7fb5d329728ea185ULL;
	i = (i ^ i >> 27) * 0x81dadef4bc2dd44dULL;
	return i ^ i >> 33;
}

TEST(table_that_is_empty_finds_nothing)
{
	struct keys k = {0};

	CHECK_EQ(find(&k, 0, 0), TABLE_NONE);
	CHECK_EQ(find(&k, ~0ULL, 0), TABLE_NONE);
	table_clear(&k.table);
	CHECK_EQ(find(&k, 0, 0), TABLE_NONE);
	fini(&k);
	CHECK(!k.table.slots);
}

TEST(table_finds_what_was_added_after_growing)
{
	enum { N = 1000000 };
	struct keys k = {0};

	for (u32 i = 0; i < N; i++) {
		u64 key = scramble(i);

		if (i % 1000 == 0)
			CHECK_EQ(find(&k, hash_u64(key), key), TABLE_NONE);
		add(&k, hash_u64(key), key);
		CHECK_EQ(k.table.n, i + 1);
	}
	for (u32 i = 0; i < N; i++)
		CHECK_EQ(find(&k, hash_u64(scramble(i)), scramble(i)), i);
	for (u32 i = N; i < N + N / 4; i++)
		CHECK_EQ(find(&k, hash_u64(scramble(i)), scramble(i)), TABLE_NONE);
	fini(&k);
}

TEST(table_is_never_more_than_five_eighths_full)
{
	struct keys k = {0};

	for (u64 i = 0; i < 300000; i++) {
		add(&k, hash_u64(i), i);
		CHECK((u64)k.table.n * 8 <= ((u64)k.table.mask + 1) * 5);
	}
	fini(&k);
}

TEST(table_reserve_makes_room_at_once)
{
	static const u64 sizes[] = {0, 1, 39, 40, 41, 80, 81, 1000, 100000};

	for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
		struct keys k = {0};
		u64 *slots;

		table_reserve(&k.table, sizes[s]);
		slots = k.table.slots;
		CHECK(slots);
		CHECK_EQ(k.table.n, 0);
		for (u64 i = 0; i < sizes[s]; i++)
			add(&k, hash_u64(i), i);
		CHECK(k.table.slots == slots);
		for (u64 i = 0; i < sizes[s]; i++)
			CHECK_EQ(find(&k, hash_u64(i), i), i);
		fini(&k);
	}
}

TEST(table_reserve_keeps_the_entries_and_never_shrinks)
{
	struct keys k = {0};
	u32 mask;

	for (u64 i = 0; i < 100; i++)
		add(&k, hash_u64(i), i);
	table_reserve(&k.table, 1 << 20);
	mask = k.table.mask;
	CHECK(mask + 1 >= 1 << 20);
	table_reserve(&k.table, 1);
	CHECK_EQ(k.table.mask, mask);
	for (u64 i = 0; i < 100; i++)
		CHECK_EQ(find(&k, hash_u64(i), i), i);
	fini(&k);
}

/* Keys are compared by the caller, so equal hashes cost time and nothing else. */
TEST(table_of_equal_hashes_terminates_and_finds_each)
{
	enum { N = 3000 };
	static const u64 hashes[] = {0, ~0ULL, 0x123456789abcdef0ULL};

	for (size_t h = 0; h < ARRAY_SIZE(hashes); h++) {
		struct keys k = {0};
		struct table_probe probe;
		u32 n = 0;

		for (u64 key = 0; key < N; key++)
			add(&k, hashes[h], key);
		for (u64 key = 0; key < N; key++)
			CHECK_EQ(find(&k, hashes[h], key), key);
		CHECK_EQ(find(&k, hashes[h], N), TABLE_NONE);
		/* Another hash that begins at the same slot. */
		CHECK_EQ(find(&k, hashes[h] ^ 1ULL << 63, 0), TABLE_NONE);

		probe = table_probe(&k.table, hashes[h]);
		while (table_next(&k.table, &probe) != TABLE_NONE)
			n++;
		CHECK_EQ(n, N);
		fini(&k);
	}
}

TEST(table_takes_the_same_key_twice)
{
	struct keys k = {0};
	struct table_probe probe;

	add(&k, hash_u64(5), 5);
	add(&k, hash_u64(5), 5);
	probe = table_probe(&k.table, hash_u64(5));
	CHECK_EQ(table_next(&k.table, &probe), 0);
	CHECK_EQ(table_next(&k.table, &probe), 1);
	CHECK_EQ(table_next(&k.table, &probe), TABLE_NONE);
	fini(&k);
}

TEST(table_slots_around_the_end_wrap)
{
	struct keys k = {0};

	/* The slot comes from the hash's high half: all of these want the last one. */
	for (u64 key = 0; key < 20; key++)
		add(&k, 0xffffffff00000000ULL - (key << 40), key);
	for (u64 key = 0; key < 20; key++)
		CHECK_EQ(find(&k, 0xffffffff00000000ULL - (key << 40), key), key);
	fini(&k);
}

TEST(table_clear_forgets_the_entries_and_keeps_the_memory)
{
	struct keys k = {0};
	u64 *slots;

	for (u64 i = 0; i < 1000; i++)
		add(&k, hash_u64(i), i);
	slots = k.table.slots;
	table_clear(&k.table);
	CHECK_EQ(k.table.n, 0);
	for (u64 i = 0; i < 1000; i++)
		CHECK_EQ(find(&k, hash_u64(i), i), TABLE_NONE);
	k.at.n = 0;
	for (u64 i = 0; i < 1000; i++)
		add(&k, hash_u64(i), i + 7);
	CHECK(k.table.slots == slots);
	CHECK_EQ(find(&k, hash_u64(999), 1006), 999);
	fini(&k);
}

TEST(table_takes_the_largest_position)
{
	struct table t = {0};
	struct table_probe probe;

	table_add(&t, 0, TABLE_NONE - 1);
	probe = table_probe(&t, 0);
	CHECK_EQ(table_next(&t, &probe), TABLE_NONE - 1);
	CHECK_EQ(table_next(&t, &probe), TABLE_NONE);
	table_fini(&t);
}

TEST(hash_does_not_depend_on_the_address)
{
	u8 buf[64 + 8], text[64];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (u8)(i * 7);
	for (size_t n = 0; n <= sizeof(text); n++) {
		u64 first = hash_bytes(text, n);

		for (size_t shift = 0; shift < 8; shift++) {
			memcpy(buf + shift, text, n);
			CHECK_EQ(hash_bytes(buf + shift, n), first);
			if (n % 8 == 0)
				CHECK_EQ(hash_words(buf + shift, n / 8, 1),
					hash_words(text, n / 8, 1));
		}
	}
}

TEST(hash_of_zeros_depends_on_their_number)
{
	static const u8 zeros[300];
	u64 hashes[ARRAY_SIZE(zeros) + 1];

	for (size_t n = 0; n <= ARRAY_SIZE(zeros); n++) {
		hashes[n] = hash_bytes(zeros, n);
		for (size_t k = 0; k < n; k++)
			CHECK(hashes[k] != hashes[n]);
	}
}

TEST(hash_changes_with_every_bit_and_with_the_seed)
{
	u8 text[40] = {0};
	u64 plain = hash_bytes(text, sizeof(text)), words = hash_words(text, 5, 1);

	CHECK(hash_words(text, 5, 2) != words);
	for (size_t bit = 0; bit < sizeof(text) * 8; bit++) {
		text[bit / 8] ^= 1 << bit % 8;
		CHECK(hash_bytes(text, sizeof(text)) != plain);
		CHECK(hash_words(text, 5, 1) != words);
		text[bit / 8] ^= 1 << bit % 8;
	}
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The table uses the upper half, so it must be spread as well as the whole. */
TEST(hash_spreads_sequences_over_the_upper_half)
{
	enum { N = 1 << 18 };
	u64 *hashes = mem_alloc(N * sizeof(*hashes));

	/* Neighbouring addresses, page numbers, and small counts in the upper half. */
	for (unsigned shift = 0; shift <= 36; shift += 12) {
		size_t same = 0;

		for (u64 i = 0; i < N; i++)
			hashes[i] = hash_u64(i << shift) >> 32;
		qsort(hashes, N, sizeof(*hashes), by_value);
		for (size_t i = 1; i < N; i++)
			same += hashes[i] == hashes[i - 1];
		/* By chance: N * N / 2^33, which is 8. The worst of 1,500 keys had 1,771, which costs nothing. */
		CHECK(same < N / 32);
	}
	mem_free(hashes);
}
