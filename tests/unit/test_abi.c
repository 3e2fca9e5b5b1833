#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stddef.h>

#include "test.h"

#include "abi_list.h"

static void same_number(const struct abi_number *ours, const char *name, unsigned long long theirs)
{
	CHECK_STR(ours->name, name);
	if (ours->number != theirs)
		test_failed(__FILE__, __LINE__,
			"%s is %llu (0x%llx), the header says %llu (0x%llx)", name, ours->number,
			ours->number, theirs, theirs);
}

static void same_place(const struct abi_place *ours, const char *name, unsigned long offset,
	unsigned long size)
{
	CHECK_STR(ours->name, name);
	if (ours->offset != offset || ours->size != size)
		test_failed(__FILE__, __LINE__, "%s is %lu bytes at %lu, in the header %lu at %lu",
			name, ours->size, ours->offset, size, offset);
}

TEST(abi_numbers_are_those_of_the_header)
{
	const struct abi_number *ours = abi_numbers;

#define SAME(n) same_number(ours++, #n, (unsigned long long)(n));
	ABI_NUMBERS(SAME)
#undef SAME
	CHECK(!ours->name);
}

TEST(abi_attr_sizes_are_those_of_the_header)
{
	const struct abi_number *ours = abi_sizes;

#define SAME(n, theirs) same_number(ours++, #n, theirs);
	ABI_SIZES(SAME)
#undef SAME
	CHECK(!ours->name);
}

/* The kernel's bit field stands right behind read_format. */
static unsigned long long flags_word(const struct perf_event_attr *attr)
{
	unsigned long long word;

	memcpy(&word, (const char *)attr + offsetof(struct perf_event_attr, read_format) + 8,
		sizeof(word));
	return word;
}

TEST(attr_flags_are_the_bits_of_the_header)
{
	const struct abi_number *ours = abi_flags;

#define SAME(n, field) same_number(ours++, #n, flags_word(&(struct perf_event_attr){.field = 1}));
	ABI_FLAGS(SAME)
#undef SAME
	CHECK(!ours->name);
}

TEST(attr_fields_lie_where_the_header_has_them)
{
	const struct abi_place *ours = abi_fields;

#define SAME(m, theirs)                                                  \
	same_place(ours++, #m, offsetof(struct perf_event_attr, theirs), \
		sizeof(((struct perf_event_attr *)0)->theirs));
	ABI_FIELDS(SAME)
#undef SAME
	CHECK(!ours->name);
}

TEST(ring_page_fields_lie_where_the_header_has_them)
{
	const struct abi_place *ours = abi_page;

#define SAME(m, theirs)                                                       \
	same_place(ours++, #m, offsetof(struct perf_event_mmap_page, theirs), \
		sizeof(((struct perf_event_mmap_page *)0)->theirs));
	ABI_PAGE(SAME)
#undef SAME
	CHECK(!ours->name);
}
