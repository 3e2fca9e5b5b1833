#include "base/memo.h"

#include "test.h"

struct entry {
	u64 key, value;
};

struct keeper {
	struct memo memo;
	VEC(struct entry) entries;
};

static const struct entry *look(const struct keeper *k, u64 key)
{
	u32 *slot = memo_slot(&k->memo, key);

	return *slot && k->entries.at[*slot - 1].key == key ? &k->entries.at[*slot - 1] : NULL;
}

TEST(memo_knows_what_was_kept_last_in_each_slot)
{
	struct keeper k = {.memo = memo_of(4)};

	CHECK(!look(&k, 1));
	for (u64 key = 0; key < 4; key++)
		memo_keep(&k.entries, memo_slot(&k.memo, key), ((struct entry){key, key * 10}));
	for (u64 key = 0; key < 4; key++)
		CHECK(look(&k, key) && look(&k, key)->value == key * 10);
	/* 5 comes where 1 is; the others stay, and no entry more is needed. */
	memo_keep(&k.entries, memo_slot(&k.memo, 5), ((struct entry){5, 50}));
	CHECK(!look(&k, 1));
	CHECK(look(&k, 5) && look(&k, 5)->value == 50);
	CHECK(look(&k, 3) && look(&k, 3)->value == 30);
	CHECK_EQ(k.entries.n, 4);
	memo_clear(&k.memo);
	k.entries.n = 0;
	for (u64 key = 0; key < 6; key++)
		CHECK(!look(&k, key));
	memo_fini(&k.memo);
	vec_fini(&k.entries);
}
