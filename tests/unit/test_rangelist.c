#include "symbol/dwarf/rangelist.h"

#include <dwarf.h>

#include "base/str.h"

#include "test.h"

/* .debug_addr */
static const u64 addresses[] = {0x1000, 0x1040, 0x2000};

static struct rangelist_source source_of(const void *lists, size_t n, u16 version)
{
	return (struct rangelist_source){.lists = bytes_of(lists, n),
		.addresses = bytes_of(addresses, sizeof(addresses)),
		.base = 0x100,
		.version = version,
		.address_bytes = 8};
}

/* "100-140 200-240", with " wrong" behind it if the list ended where it should not. */
static const char *said(const struct rangelist_source *s, u64 value, bool is_index)
{
	static struct str text;
	struct rangelist l;
	u64 start, end;

	str_clear(&text);
	rangelist_open(&l, s, value, is_index);
	while (rangelist_next(&l, &start, &end))
		str_addf(&text, "%s%llx-%llx", text.n ? " " : "", (unsigned long long)start,
			(unsigned long long)end);
	if (l.is_wrong)
		str_addf(&text, "%swrong", text.n ? " " : "");
	/* It stays at its end. */
	CHECK(!rangelist_next(&l, &start, &end));
	return str_text(&text);
}

TEST(rangelist_of_version_4_is_pairs_and_bases)
{
	static const u64 words[] = {0x10, 0x20, UINT64_MAX, 0x5000, 1, 2, 0, 0, 7, 8};
	static const u32 narrow[] = {0x10, 0x20, UINT32_MAX, 0x5000, 1, 2, 0, 0};
	struct rangelist_source s = source_of(words, sizeof(words), 4);

	CHECK_STR(said(&s, 0, false), "110-120 5001-5002");
	CHECK_STR(said(&s, 16, false), "5001-5002");
	/* No end. */
	CHECK_STR(said(&s, 64, false), "107-108 wrong");
	CHECK_STR(said(&s, sizeof(words) + 1, false), "wrong");
	s = source_of(narrow, sizeof(narrow), 4);
	s.address_bytes = 4;
	CHECK_STR(said(&s, 0, false), "110-120 5001-5002");
}

TEST(rangelist_of_version_5_knows_all_kinds)
{
	static const u8 bytes[] = {DW_RLE_offset_pair, 0x10, 0x20,
		/* base_address */
		DW_RLE_base_address, 0, 0x50, 0, 0, 0, 0, 0, 0, DW_RLE_offset_pair, 1, 2,
		DW_RLE_base_addressx, 2, DW_RLE_offset_pair, 3, 4, DW_RLE_startx_endx, 0, 1,
		DW_RLE_startx_length, 1, 8,
		/* start_end, start_length */
		DW_RLE_start_end, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0,
		DW_RLE_start_length, 0, 1, 0, 0, 0, 0, 0, 0, 5, DW_RLE_end_of_list};
	struct rangelist_source s = source_of(bytes, sizeof(bytes), 5);

	CHECK_STR(said(&s, 0, false),
		"110-120 5001-5002 2003-2004 1000-1040 1040-1048 1-9 100-105");
	/* Cut anywhere it is wrong, and what was before is there. */
	for (size_t n = 0; n + 1 < sizeof(bytes); n++) {
		u8 *cut = malloc(n ? n : 1);

		memcpy(cut, bytes, n);
		s = source_of(cut, n, 5);
		CHECK_HAS(said(&s, 0, false), n < 3 ? "wrong" : "110-120 ");
		CHECK_HAS(said(&s, 0, false), "wrong");
		free(cut);
	}
}

TEST(rangelist_that_makes_no_sense_is_wrong)
{
	static const u8 kinds[] = {0x77}, beyond[] = {DW_RLE_startx_length, 3, 1, 0},
			huge[] = {DW_RLE_base_addressx, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0};
	struct rangelist_source s = source_of(kinds, sizeof(kinds), 5);

	CHECK_STR(said(&s, 0, false), "wrong");
	s = source_of(beyond, sizeof(beyond), 5);
	CHECK_STR(said(&s, 0, false), "wrong");
	s = source_of(huge, sizeof(huge), 5);
	CHECK_STR(said(&s, 0, false), "wrong");
	/* An index without addresses. */
	s.addresses = (struct bytes){0};
	CHECK_STR(said(&s, 0, false), "wrong");
}

TEST(rangelist_is_found_by_its_number)
{
	struct {
		u32 length;
		u16 version;
		u8 address, segment;
		u32 count, offsets[2];
		u8 lists[8];
	} narrow = {28, 5, 8, 0, 2, {8, 12},
		{DW_RLE_offset_pair, 1, 2, 0, DW_RLE_offset_pair, 3, 4, 0}};
	struct {
		u32 mark;
		u8 length[8];
		u8 version[2], address, segment;
		u8 count[4], offset[8];
		u8 lists[4];
	} wide = {UINT32_MAX, {28}, {5}, 8, 0, {1}, {8}, {DW_RLE_offset_pair, 5, 6, 0}};
	struct rangelist_source s = source_of(&narrow, sizeof(narrow), 5);

	CHECK_STR(said(&s, 0, true), "101-102");
	CHECK_STR(said(&s, 1, true), "103-104");
	CHECK_STR(said(&s, 2, true), "wrong");
	narrow.offsets[0] = 1000;
	CHECK_STR(said(&s, 0, true), "wrong");
	narrow.count = UINT32_MAX;
	CHECK_STR(said(&s, 1 << 30, true), "wrong");
	s = source_of(&wide, sizeof(wide), 5);
	CHECK_STR(said(&s, 0, true), "105-106");
	CHECK_STR(said(&s, 1, true), "wrong");
	for (size_t n = 0; n < 24; n++) {
		s = source_of(&wide, n, 5);
		CHECK_STR(said(&s, 0, true), "wrong");
	}
}
