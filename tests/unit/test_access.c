#include "test.h"

#include "profile/rows/key_family.h"
#include "record/access.h"

static const char *text_of(u64 word, enum access_part part)
{
	static char buf[4][128];
	static unsigned next;
	struct str text = {0};
	char *to = buf[next++ % ARRAY_SIZE(buf)];

	access_add_text(word, part, &text);
	snprintf(to, sizeof(buf[0]), "%s", str_text(&text));
	str_fini(&text);
	return to;
}

TEST(access_says_where_the_data_was)
{
	CHECK_STR(text_of(0, ACCESS_LEVEL), "N/A");
	CHECK_STR(text_of((u64)(2 | 8) << 5, ACCESS_LEVEL), "L1 hit");
	CHECK_STR(text_of((u64)(4 | 8 | 0x20) << 5, ACCESS_LEVEL), "L1 or L2 miss");
	/* The number of the level, once it did not fit into bits any more. */
	CHECK_STR(text_of((u64)2 << 5 | (u64)14 << 33, ACCESS_LEVEL), "PMEM hit");
	CHECK_STR(text_of((u64)2 << 5 | (u64)3 << 33 | (u64)1 << 37, ACCESS_LEVEL),
		"Remote L3 hit");
	CHECK_STR(text_of((u64)2 << 5 | (u64)11 << 33 | (u64)1 << 37 | (u64)1 << 43, ACCESS_LEVEL),
		"Remote core, same node Any cache hit");
}

TEST(access_says_what_an_access_met)
{
	CHECK_STR(text_of((u64)0x10 << 19, ACCESS_SNOOP), "HitM");
	CHECK_STR(text_of((u64)2 << 19 | (u64)1 << 38, ACCESS_SNOOP), "None or Fwd");
	CHECK_STR(text_of((u64)(2 | 8 | 0x10) << 26, ACCESS_TLB), "L1 or L2 hit");
	CHECK_STR(text_of((u64)0x40 << 26, ACCESS_TLB), "Fault");
	CHECK_STR(text_of((u64)2 << 24, ACCESS_LOCK), "Yes");
	CHECK_STR(text_of(0, ACCESS_LOCK), "No");
	CHECK_STR(text_of((u64)1 << 24, ACCESS_LOCK), "N/A");
	CHECK_STR(text_of((u64)2 << 40, ACCESS_BLOCK), "Data");
	CHECK_STR(text_of(0, ACCESS_BLOCK), "N/A");
}

TEST(access_of_all_bits_is_some_text)
{
	for (unsigned part = 0; part < ACCESS_PARTS; part++) {
		CHECK(*text_of(UINT64_MAX, part));
		CHECK_EQ(access_bits(access_bits(UINT64_MAX, part), part),
			access_bits(UINT64_MAX, part));
	}
}

static const char *class_of(u64 word, enum accessclass_field field)
{
	return key_class_title(field, accessclass_of(word, field));
}

TEST(access_is_of_one_class_of_each_field)
{
	const u64 nothing = 0, load = 2, store = 4, prefetched_load = 2 | 8;

	CHECK_STR(class_of(nothing, ACCESSCLASS_OP), "Other");
	CHECK_STR(class_of(load, ACCESSCLASS_OP), "Load");
	CHECK_STR(class_of(load | store, ACCESSCLASS_OP), "Ld+St");
	CHECK_STR(class_of(load | 1, ACCESSCLASS_OP), "Other");
	CHECK_STR(class_of(prefetched_load | 16, ACCESSCLASS_OP), "Pfetch");
	CHECK_STR(class_of(16 | load, ACCESSCLASS_OP), "Exec");
	/* The number of the level counts, not the bits of older kernels. */
	CHECK_STR(class_of((u64)(2 | 8) << 5, ACCESSCLASS_CACHE), "Other");
	CHECK_STR(class_of((u64)1 << 33, ACCESSCLASS_CACHE), "L1");
	CHECK_STR(class_of((u64)12 << 33, ACCESSCLASS_CACHE), "L1-buf");
	CHECK_STR(class_of((u64)13 << 33, ACCESSCLASS_CACHE), "Other");
	CHECK_STR(class_of((u64)13 << 33, ACCESSCLASS_MEMORY), "RAM");
	CHECK_STR(class_of((u64)15 << 33, ACCESSCLASS_MEMORY), "Other");
	CHECK_STR(class_of((u64)(2 | 8) << 26, ACCESSCLASS_DTLB), "L1-Hit");
	CHECK_STR(class_of((u64)(2 | 8 | 16) << 26, ACCESSCLASS_DTLB), "L?-Hit");
	CHECK_STR(class_of((u64)(4 | 32) << 26, ACCESSCLASS_DTLB), "Miss");
	CHECK_STR(class_of((u64)2 << 26, ACCESSCLASS_DTLB), "Other");
	CHECK_STR(class_of((u64)16 << 19, ACCESSCLASS_SNOOP), "HitM");
	CHECK_STR(class_of((u64)(16 | 4) << 19, ACCESSCLASS_SNOOP), "Other");
	for (unsigned field = 0; field < ACCESSCLASS_FIELDS; field++)
		for (u64 word = 1; word; word <<= 1)
			CHECK(*class_of(word, field) && *class_of(~word, field));
}

static void check_transaction(u64 word, const char *expected)
{
	struct str text = {0};

	access_add_transaction(word, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(access_tells_the_flags_of_a_transaction)
{
	check_transaction(0, "");
	check_transaction(1, "EL NEITHER");
	check_transaction(2 | 4 | 0x20, "TX SYNC CON");
	check_transaction(2 | 8 | 0x10, "TX ASYNC RETRY");
	check_transaction(2 | 4 | 0x40 | 0x80, "TX SYNC CAP-WRITE CAP-READ");
	/* A lock that was taken: what lock elision aborts with. */
	check_transaction(2 | 4 | 0x10 | (u64)0xff << 32, "TX SYNC RETRY :ff");
}
