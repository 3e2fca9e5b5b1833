#include "file/salvage.h"

#include <errno.h>

#include "base/fd.h"

enum { BUF_BYTES = 256 << 10 };

static bool is_before_data(const struct reader *r, const struct layout_section *s)
{
	return !s->size || s->offset + s->size <= r->data_start;
}

/*
 * Whether the recorder may have been killed. A completed recording has sections; only old recorders
 * wrote attrs last.
 */
static bool may_go_on(const struct reader *r)
{
	const struct layout_header *h = &r->header;

	if (r->is_version_1 || !h->data.size || !r->events.n)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(h->features); i++)
		if (h->features[i])
			return false;
	vec_each(ids, &r->ids)
		if (!is_before_data(r, ids))
			return false;
	return is_before_data(r, &h->attrs) && is_before_data(r, &h->event_types);
}

/* Whether this is a record that the kernel would write for one of the file's events. */
static bool is_sound_event(const struct formats *f, const struct record *rec)
{
	u32 event = formats_event(f, rec);
	const struct sample_format *format;
	union record_body body;
	struct sample sample = {0};
	struct err ignored;

	if (event == TABLE_NONE || !record_is_size_sound(rec->type, rec->size))
		return false;
	format = &f->at[event];
	if (rec->type == PERF_RECORD_SAMPLE)
		return !sample_decode(format, rec->at + RECORD_HEADER_SIZE,
			rec->size - RECORD_HEADER_SIZE, UINT64_MAX, &sample, &ignored);
	return record_decode(rec, format->trailer, &body, &ignored) > 0 &&
		(!format->trailer || sample_decode_trailer(format, rec, &sample));
}

/*
 * Whether this is a kernel's record, or one of the recorder's own between them. Not those with data
 * behind them.
 */
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

/*
 * The size of a sound record, which is swapped to this machine's byte order; 0: not a sound or
 * whole record.
 */
static u16 sound_size(const struct formats *f, bool is_foreign, u8 *at, u64 n)
{
	struct record_header h;

	if (n < sizeof(h))
		return 0;
	memcpy(&h, at, sizeof(h));
	if (is_foreign)
		record_swap_header(&h);
	if (h.size < sizeof(h) || h.size > n || (is_foreign && !formats_swap(f, at, h.size)))
		return 0;
	return is_sound(f, &(struct record){h.type, h.misc, h.size, at, 0}) ? h.size : 0;
}

u64 salvage_find(const struct reader *r, struct log *log, u64 *ret_end)
{
	const struct reader_part *part = &r->parts.at[0];
	u64 at = part->end, n_records = 0, done = 1;
	struct formats formats;
	u8 *buf;

	*ret_end = part->end;
	if (part->end >= r->file_size || !may_go_on(r))
		return 0;
	formats_init(&formats, &r->events);
	buf = mem_alloc(BUF_BYTES);
	/* A record that does not fit into the buffer is none, or is incomplete. */
	for (; done && at < r->file_size; at += done) {
		ssize_t n = fd_read_some_at(part->fd, buf, BUF_BYTES, at);
		u16 size;

		if (n < 0)
			log_warn(log, "'%s': reading at offset 0x%llx: %s", r->path,
				(unsigned long long)at, strerror(errno));
		done = 0;
		while (n > 0 &&
			(size = sound_size(&formats, r->is_foreign, buf + done, (u64)n - done))) {
			done += size;
			n_records++;
		}
	}
	mem_free(buf);
	formats_fini(&formats);
	*ret_end = at;
	return n_records;
}
