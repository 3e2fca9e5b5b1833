#include "file/nametag.h"

#include "event/abi.h"
#include "test.h"

static struct record record_of(u8 *at, u32 type, u16 size)
{
	struct record_header header = {type, 0, size};

	memcpy(at, &header, sizeof(header));
	return (struct record){.type = type, .size = size, .at = at};
}

static u64 word(const struct record *rec, size_t at)
{
	u64 v;

	memcpy(&v, rec->at + at, sizeof(v));
	return v;
}

TEST(nametag_says_the_event_where_readers_of_the_tagged_event_look_for_it)
{
	struct event_attr attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		.flags = ATTR_SAMPLE_ID_ALL};
	struct sample_format before, after;
	u32 from_start, from_end;
	struct str room = {0};
	struct record rec, tagged;
	u8 raw[64] = {0};
	struct err err;

	sample_format_init(&before, &attr);
	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	sample_format_init(&after, &attr);
	CHECK(sample_id_place(&after, &from_start, &from_end));
	rec = record_of(raw, PERF_RECORD_SAMPLE, 24);
	memset(raw + 8, 0x11, 16);
	CHECK(!nametag_put(&before, &rec, 77, &room, &tagged, &err));
	CHECK_EQ(tagged.size, 32);
	CHECK_EQ(word(&tagged, 8 + from_start), 77);
	CHECK_EQ(word(&tagged, 16), 0x1111111111111111);
	rec = record_of(raw, PERF_RECORD_COMM, 40);
	CHECK(!nametag_put(&before, &rec, 78, &room, &tagged, &err));
	CHECK_EQ(tagged.size, 48);
	CHECK_EQ(word(&tagged, tagged.size - from_end), 78);
	CHECK_EQ(tagged.at[6], 48);
	/* Once is enough, and perf's own records have no place for it. */
	CHECK(!nametag_put(&after, &rec, 79, &room, &tagged, &err));
	CHECK(tagged.at == rec.at);
	rec = record_of(raw, PERF_RECORD_USER_TYPE_START, 16);
	CHECK(!nametag_put(&before, &rec, 79, &room, &tagged, &err));
	CHECK(tagged.at == rec.at);
	str_fini(&room);
}

TEST(nametag_says_the_id_that_a_record_has_already)
{
	struct event_attr attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ID,
		.flags = ATTR_SAMPLE_ID_ALL};
	u64 sample[] = {0, 1, 2, 55}, comm[] = {0, 1, 2, 56};
	struct sample_format format;
	struct str room = {0};
	struct record rec, tagged;
	struct err err;

	sample_format_init(&format, &attr);
	rec = record_of((u8 *)sample, PERF_RECORD_SAMPLE, sizeof(sample));
	CHECK(!nametag_put(&format, &rec, 77, &room, &tagged, &err));
	CHECK_EQ(word(&tagged, 8), 55);
	rec = record_of((u8 *)comm, PERF_RECORD_COMM, sizeof(comm));
	CHECK(!nametag_put(&format, &rec, 77, &room, &tagged, &err));
	CHECK_EQ(word(&tagged, tagged.size - 8), 56);
	str_fini(&room);
}

TEST(nametag_refuses_what_would_be_too_long)
{
	static u8 raw[UINT16_MAX + 1];
	struct event_attr attr = {.sample_type = PERF_SAMPLE_IP};
	struct sample_format format;
	struct str room = {0};
	struct record rec, tagged;
	struct err err;

	sample_format_init(&format, &attr);
	rec = record_of(raw, PERF_RECORD_SAMPLE, 65520);
	CHECK(!nametag_put(&format, &rec, 1, &room, &tagged, &err));
	rec = record_of(raw, PERF_RECORD_SAMPLE, 65528);
	CHECK_EQ(nametag_put(&format, &rec, 1, &room, &tagged, &err), ERR_LIMIT);
	CHECK_HAS(err.msg, "65528");
	str_fini(&room);
}
