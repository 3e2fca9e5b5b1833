#include "record/formats.h"

#include "base/hash.h"
#include "base/mem.h"

void formats_init(struct formats *f, const struct event_list *events)
{
	size_t n_ids = 0;

	memset(f, 0, sizeof(*f));
	f->n = events->n;
	f->at = mem_zalloc(MAX(events->n, (size_t)1) * sizeof(*f->at));
	f->time_in_all = PERF_SAMPLE_TIME;
	f->has_ids = events->n > 1;
	for (size_t i = 0; i < events->n; i++) {
		u32 from_start = 0, from_end = 0;

		sample_format_init(&f->at[i], &events->at[i].attr);
		f->time_in_all &= events->at[i].attr.flags & ATTR_SAMPLE_ID_ALL ? f->at[i].type : 0;
		/* Ids help only where they can be found before it is known whose they are. */
		f->has_ids = f->has_ids && sample_id_place(&f->at[i], &from_start, &from_end) &&
			(i == 0 || (from_start == f->id_from_start && from_end == f->id_from_end));
		f->id_from_start = from_start;
		f->id_from_end = from_end;
		n_ids += events->at[i].n_ids;
	}
	f->ids = mem_alloc(MAX(n_ids, (size_t)1) * sizeof(*f->ids));
	for (size_t i = 0; i < events->n; i++) {
		for (u32 k = 0; k < events->at[i].n_ids; k++) {
			u64 id = events->at[i].ids[k];

			table_add(&f->by_id, hash_u64(id), f->n_ids);
			f->ids[f->n_ids].id = id;
			f->ids[f->n_ids++].event = i;
		}
	}
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
	struct table_probe probe = table_probe(&f->by_id, hash_u64(id));
	u32 i;

	while ((i = table_next(&f->by_id, &probe)) != TABLE_NONE)
		if (f->ids[i].id == id)
			return f->ids[i].event;
	/* Synthesized records carry id 0; they concern the session, not an event. */
	return id ? TABLE_NONE : 0;
}

u32 formats_event(const struct formats *f, const struct record *rec)
{
	u32 from_header;

	if (!f->has_ids)
		return 0;
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
