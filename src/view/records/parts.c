#include "view/records/parts.h"

#include <stdlib.h>

#include "base/sort.h"

SORT_BY(by_offset, struct part, offset, size)

u64 parts_end_of(const struct part *p)
{
	return p->size > UINT64_MAX - p->offset ? UINT64_MAX : p->offset + p->size;
}

static void add_part(struct parts *parts, const char *name, u64 offset, u64 size)
{
	if (size)
		vec_add(parts, ((struct part){name, 0, offset, size}));
}

static void sort_parts(struct parts *parts)
{
	qsort(parts->at, parts->n, sizeof(*parts->at), by_offset);
}

static void pad(const struct reader *r, u64 from, u64 to, struct parts *parts)
{
	if (from < to && to <= r->file_size && reader_is_zero(r, from, to - from))
		add_part(parts, PARTS_PADDING, from, to - from);
}

/*
 * Writers leave room for ids that may come later (of a CPU that is switched on), for sections that turn out empty, and
 * up to the next page.
 */
static void add_padding(const struct reader *r, struct parts *parts)
{
	size_t n = parts->n;
	u64 end = 0;

	for (size_t i = 0; i < n; i++) {
		struct part part = parts->at[i];

		pad(r, end, part.offset, parts);
		end = MAX(end, parts_end_of(&part));
	}
	pad(r, end, r->file_size, parts);
	sort_parts(parts);
}

void parts_list(const struct reader *r, struct parts *parts)
{
	const struct layout_header *h = &r->header;
	u64 n_sections = 0;

	add_part(parts, "header", 0, r->is_pipe_mode ? LAYOUT_PIPE_HEADER : h->size);
	if (r->is_pipe_mode)
		add_part(parts, "events and facts", LAYOUT_PIPE_HEADER,
			r->data_start - MIN(r->data_start, (u64)LAYOUT_PIPE_HEADER));
	if (r->is_directory)
		vec_each(file, &r->parts)
			add_part(parts, file == r->parts.at ? "data" : "data of one more file",
				file->base + file->from, file->end - file->from);
	else
		add_part(parts, "data", r->data_start, r->data_end - r->data_start);
	if (!r->is_pipe_mode) {
		add_part(parts, "attrs", h->attrs.offset, h->attrs.size);
		vec_each(ids, &r->ids)
			add_part(parts, "ids", ids->offset, ids->size);
		add_part(parts, "event types", h->event_types.offset, h->event_types.size);
		for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++) {
			n_sections += layout_has_feature(h, id);
			if (r->sections[id].size)
				vec_add(parts,
					((struct part){NULL, id, r->sections[id].offset,
						r->sections[id].size}));
		}
		n_sections += layout_own(h) != 0;
		if (r->early.size)
			add_part(parts, PARTS_TABLE, r->early.offset, r->early.size);
		else if (!r->is_cut && !r->is_unfinished && !r->n_behind)
			add_part(parts, PARTS_TABLE, h->data.offset + h->data.size,
				n_sections * sizeof(struct layout_section));
	}
	sort_parts(parts);
	if (!r->is_stream && !r->is_directory)
		add_padding(r, parts);
}

void parts_add_name(const struct part *p, struct str *text)
{
	const char *name = p->name ? p->name : feature_name(p->id);

	if (name)
		str_add(text, name);
	else if (p->id >= LAYOUT_SIMPLEPERF)
		str_addf(text, "section %u (simpleperf's?)", p->id);
	else
		str_addf(text, "section %u (unknown)", p->id);
}

void parts_fini(struct parts *parts)
{
	vec_fini(parts);
}
