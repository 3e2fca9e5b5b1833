#include "file/salvage.h"

#include "base/fd.h"

enum { BUF_BYTES = 256 << 10 };

static bool is_before_data(const struct reader *r, const struct layout_section *s)
{
	return !s->size || s->offset + s->size <= r->data_start;
}

/* A recorder that came to its end has written sections. Without attrs before, this was no recorder of today. */
static bool may_go_on(const struct reader *r)
{
	const struct layout_header *h = &r->header;

	if (r->is_foreign || r->is_directory || r->is_version_1 || !h->data.size || !r->events.n)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(h->features); i++)
		if (h->features[i])
			return false;
	return is_before_data(r, &h->attrs) && is_before_data(r, &r->ids) &&
		is_before_data(r, &h->event_types);
}

/* A record that a kernel writes, by one of the file's events. */
static bool is_sound_event(const struct formats *f, const struct record *rec)
{
	u32 event = formats_event(f, rec);
	const struct sample_format *format;
	union record_body body;
	struct sample sample = {0};
	struct err ignored;

	if (event == TABLE_NONE || rec->size % 8)
		return false;
	format = &f->at[event];
	if (rec->type == PERF_RECORD_SAMPLE)
		return !sample_decode(format, rec->at + RECORD_HEADER_SIZE,
			rec->size - RECORD_HEADER_SIZE, UINT64_MAX, &sample, &ignored);
	return record_decode(rec, format->trailer, &body, &ignored) > 0 &&
		(!format->trailer || sample_decode_trailer(format, rec, &sample));
}

/* Those of a recorder's own that stand between them, and that nothing follows which is no record. */
static bool is_sound(const struct formats *f, const struct record *rec)
{
	switch (rec->type) {
	case PERF_RECORD_FINISHED_ROUND:
	case PERF_RECORD_FINISHED_INIT:
		return rec->size == RECORD_HEADER_SIZE && !rec->misc;
	case PERF_RECORD_COMPRESSED:
	case PERF_RECORD_COMPRESSED2:
		return rec->size > RECORD_HEADER_SIZE && !rec->misc;
	default:
		return rec->type < PERF_RECORD_USER_TYPE_START && is_sound_event(f, rec);
	}
}

u64 salvage_find(const struct reader *r, u64 *ret_end)
{
	u64 at = r->data_end, n_records = 0;
	struct formats formats;
	bool is_whole = true;
	u8 *buf;

	*ret_end = r->data_end;
	if (r->data_end >= r->file_size || !may_go_on(r))
		return 0;
	formats_init(&formats, &r->events);
	buf = mem_alloc(BUF_BYTES);
	while (is_whole && at < r->file_size) {
		ssize_t n = fd_read_some_at(r->parts.at[0].fd, buf, BUF_BYTES, at);
		u64 done = 0;

		while (n >= RECORD_HEADER_SIZE && done + RECORD_HEADER_SIZE <= (u64)n) {
			struct record_header h;
			struct record rec;

			memcpy(&h, buf + done, sizeof(h));
			if (h.size < sizeof(h) || done + h.size > (u64)n)
				break;
			rec = (struct record){h.type, h.misc, h.size, buf + done, at + done};
			if (!is_sound(&formats, &rec)) {
				is_whole = false;
				break;
			}
			done += h.size;
			n_records++;
		}
		/* What does not fit into this much is no record, or its end is missing. */
		is_whole &= done > 0;
		at += done;
	}
	mem_free(buf);
	formats_fini(&formats);
	*ret_end = at;
	return n_records;
}
