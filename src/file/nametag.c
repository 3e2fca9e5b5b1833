#include "file/nametag.h"

#include "event/abi.h"

int nametag_put(const struct sample_format *format, const struct record *rec, u64 id,
	struct str *room, struct record *ret_rec, struct err *err)
{
	bool is_sample = rec->type == PERF_RECORD_SAMPLE;
	u32 from_start, from_end, body = sizeof(struct record_header);
	size_t front = is_sample ? body : rec->size;

	*ret_rec = *rec;
	if (format->type & PERF_SAMPLE_IDENTIFIER ||
		(!is_sample && (!record_has_trailer(rec->type) || !format->trailer)))
		return 0;
	if (rec->size > UINT16_MAX - sizeof(id))
		return err_set(err, ERR_LIMIT,
			"a record of %u bytes at 0x%llx has no room for its event's id", rec->size,
			(unsigned long long)rec->offset);
	if (sample_id_place(format, &from_start, &from_end)) {
		u32 at = is_sample ? body + from_start : rec->size - MIN(from_end, (u32)rec->size);

		if (at + sizeof(id) <= rec->size)
			memcpy(&id, rec->at + at, sizeof(id));
	}
	str_clear(room);
	str_addn(room, rec->at, front);
	str_addn(room, &id, sizeof(id));
	str_addn(room, rec->at + front, rec->size - front);
	ret_rec->size = (u16)room->n;
	memcpy(room->at + offsetof(struct record_header, size), &ret_rec->size,
		sizeof(ret_rec->size));
	ret_rec->at = (const u8 *)room->at;
	return 0;
}
