#include "record/formats.h"

#include "base/hash.h"
#include "base/mem.h"

void formats_init(struct formats *f, const struct event_list *events)
{
	memset(f, 0, sizeof(*f));
	formats_add(f, events);
}

static void *make_room(void *p, size_t needed, size_t *cap, size_t size)
{
	if (p && needed <= *cap)
		return p;
	*cap = MAX(needed, 2 * *cap);
	return mem_realloc(p, MAX(*cap, (size_t)1) * size);
}

static u32 position_of(const struct formats *f, u64 id)
{
	struct table_probe probe = table_probe(&f->by_id, hash_u64(id));
	u32 i;

	while ((i = table_next(&f->by_id, &probe)) != TABLE_NONE)
		if (f->ids[i].id == id)
			return i;
	return TABLE_NONE;
}

static void add_ids(struct formats *f, u32 event, const struct event *e)
{
	f->ids = make_room(f->ids, f->n_ids + e->n_ids, &f->ids_cap, sizeof(*f->ids));
	for (u32 k = 0; k < e->n_ids; k++) {
		/* The first event that has an id keeps it: many equal ids would be slow to find. */
		if (position_of(f, e->ids[k]) != TABLE_NONE)
			continue;
		table_add(&f->by_id, hash_u64(e->ids[k]), f->n_ids);
		f->ids[f->n_ids].id = e->ids[k];
		f->ids[f->n_ids++].event = event;
	}
}

static bool is_same_kind(const struct sample_format *a, const struct sample_format *b)
{
	return a->type == b->type && a->read_format == b->read_format &&
		a->branch_type == b->branch_type && a->user_regs == b->user_regs &&
		a->intr_regs == b->intr_regs && a->trailer == b->trailer;
}

static void add_kind(struct formats *f, u32 event)
{
	for (size_t i = 0; i < f->n_kinds; i++)
		if (is_same_kind(&f->at[f->kinds[i]], &f->at[event]))
			return;
	if (f->n_kinds < FORMATS_KINDS_MAX)
		f->kinds[f->n_kinds++] = event;
}

void formats_add(struct formats *f, const struct event_list *events)
{
	if (!f->n) {
		f->time_in_all = PERF_SAMPLE_TIME;
		f->ids_agree = true;
	}
	f->at = make_room(f->at, events->n, &f->cap, sizeof(*f->at));
	/* Unknown events get the first format, so there has to be one. */
	if (!events->n)
		memset(f->at, 0, sizeof(*f->at));
	for (; f->n < events->n; f->n++) {
		const struct event *e = &events->at[f->n];
		struct sample_format *format = &f->at[f->n];
		u32 from_start = 0, from_end = 0;

		memset(format, 0, sizeof(*format));
		sample_format_init(format, &e->attr);
		f->has_reads |= format->type & PERF_SAMPLE_READ;
		f->time_in_all &= e->attr.flags & ATTR_SAMPLE_ID_ALL ? format->type : 0;
		/* Ids help only if they can be found before the event is known. */
		f->ids_agree = f->ids_agree && sample_id_place(format, &from_start, &from_end) &&
			(!f->n || (from_start == f->id_from_start && from_end == f->id_from_end));
		f->id_from_start = from_start;
		f->id_from_end = from_end;
		add_ids(f, (u32)f->n, e);
		add_kind(f, (u32)f->n);
	}
	f->has_ids = f->n > 1 && f->ids_agree;
}

void formats_fini(struct formats *f)
{
	mem_free(f->at);
	mem_free(f->ids);
	table_fini(&f->by_id);
	memset(f, 0, sizeof(*f));
}

u32 formats_event_of_id(const struct formats *f, u64 id)
{
	u32 i = position_of(f, id);

	if (i != TABLE_NONE)
		return f->ids[i].event;
	/* Synthesized records carry id 0; they concern the session, not an event. */
	return id ? TABLE_NONE : 0;
}

/* ---- events whose ids are not all at one place ---- */

/* Whether the bytes of a sample fit the format exactly. */
static bool has_form(const struct sample_format *format, const struct record *rec)
{
	u32 n = rec->size - RECORD_HEADER_SIZE;
	struct sample sample = {0};
	struct str again = {0};
	struct err ignored;
	bool is_it = !sample_decode(format, rec->at + RECORD_HEADER_SIZE, n, UINT64_MAX, &sample,
		&ignored);

	if (is_it)
		sample_encode(format, &sample, &again);
	is_it = is_it && again.n == n;
	str_fini(&again);
	return is_it;
}

/* The id that a record of that format has; 0: it has none. */
static u64 own_id(const struct sample_format *format, const struct record *rec)
{
	bool is_sample = rec->type == PERF_RECORD_SAMPLE;
	u32 from_start = 0, from_end = 0, at;

	if (!sample_id_place(format, &from_start, &from_end) ||
		(!is_sample && from_end + RECORD_HEADER_SIZE > rec->size))
		return 0;
	at = is_sample ? RECORD_HEADER_SIZE + from_start : rec->size - from_end;
	return at + 8 <= rec->size ? load_u64(rec->at + at) : 0;
}

/* The event whose id is where its format has ids, else the only one without ids whose format fits. */
static u32 event_by_form(const struct formats *f, const struct record *rec)
{
	bool is_sample = rec->type == PERF_RECORD_SAMPLE;
	u32 n_forms = 0, found = TABLE_NONE;

	for (size_t i = 0; i < f->n_kinds; i++) {
		const struct sample_format *format = &f->at[f->kinds[i]];
		u64 id = own_id(format, rec);
		u32 event = id ? formats_event_of_id(f, id) : TABLE_NONE;

		if (is_sample ? !has_form(format, rec) : !format->trailer)
			continue;
		if (event != TABLE_NONE && is_same_kind(&f->at[event], format))
			return event;
		if (format->type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
			continue;
		found = n_forms++ ? found : f->kinds[i];
	}
	if (!is_sample)
		return found == TABLE_NONE ? 0 : found;
	return n_forms == 1 ? found : TABLE_NONE;
}

u32 formats_event(const struct formats *f, const struct record *rec)
{
	u32 from_header;

	if (!f->has_ids)
		return UNLIKELY(f->n_kinds > 1) ? event_by_form(f, rec) : 0;
	if (rec->type == PERF_RECORD_SAMPLE) {
		from_header = RECORD_HEADER_SIZE + f->id_from_start;
	} else {
		if (!f->at[0].trailer || rec->size < RECORD_HEADER_SIZE + f->id_from_end)
			return 0;
		from_header = rec->size - f->id_from_end;
	}
	if (from_header + 8 > rec->size)
		return TABLE_NONE;
	return formats_event_of_id(f, load_u64(rec->at + from_header));
}

u64 formats_time(const struct formats *f, const struct record *rec, u32 event)
{
	const struct sample_format *format = formats_format(f, event);
	struct sample sample = {0};
	struct err err;

	if (rec->type == PERF_RECORD_SAMPLE) {
		if (sample_decode(format, rec->at + RECORD_HEADER_SIZE,
			    rec->size - RECORD_HEADER_SIZE, PERF_SAMPLE_TIME, &sample, &err))
			return 0;
	} else if (!record_has_trailer(rec->type) || !sample_decode_trailer(format, rec, &sample)) {
		return 0;
	}
	/* Records that perf synthesizes have all bits of the time set. */
	return sample.time == UINT64_MAX ? 0 : sample.time;
}

/* ---- records of the other byte order ---- */

/* The event of a record whose body is not swapped yet. */
static u32 event_of_foreign(const struct formats *f, const u8 *bytes, const struct record_header *h)
{
	u8 copy[8];
	u32 at, event;

	if (!f->has_ids)
		return 0;
	if (h->type != PERF_RECORD_SAMPLE && (!f->at[0].trailer || f->id_from_end > h->size))
		return 0;
	at = h->type == PERF_RECORD_SAMPLE ? RECORD_HEADER_SIZE + f->id_from_start
					   : h->size - f->id_from_end;
	if (at + sizeof(copy) > h->size)
		return 0;
	memcpy(copy, bytes + at, sizeof(copy));
	event = formats_event_of_id(f, __builtin_bswap64(load_u64(copy)));
	return event == TABLE_NONE ? 0 : event;
}

bool formats_swap(const struct formats *f, u8 *bytes, u16 size)
{
	const struct sample_format *format;
	struct record_header h;

	memcpy(&h, bytes, sizeof(h));
	record_swap_header(&h);
	memcpy(bytes, &h, sizeof(h));
	if (h.size != size)
		return false;
	/* Before the events are known, only records about events come. */
	if (!f->n)
		return h.type >= PERF_RECORD_USER_TYPE_START && record_swap(bytes, size, 0);
	/* The event of a sample follows from its fields, which would have to be swapped first. */
	if (h.type == PERF_RECORD_SAMPLE && formats_are_mixed(f))
		return false;
	format = &f->at[event_of_foreign(f, bytes, &h)];
	if (h.type == PERF_RECORD_SAMPLE)
		return sample_swap(format, bytes + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE);
	if (!record_has_trailer(h.type))
		return record_swap(bytes, size, 0);
	return record_swap(bytes, size, format->trailer) &&
		sample_swap_trailer(format, bytes, size);
}
