#include "symbol/dwarf/rangelist.h"

#include <dwarf.h>

#include "unwind/leb.h"

static bool take_address(const struct rangelist *l, struct bytes *b, u64 *ret_v)
{
	u32 narrow;

	if (l->source->address_bytes == 8)
		return bytes_u64(b, ret_v);
	if (!bytes_u32(b, &narrow))
		return false;
	*ret_v = narrow;
	return true;
}

static bool take_indexed(struct rangelist *l, u64 *ret_v)
{
	struct bytes b = l->source->addresses;
	u64 i;

	return leb_u64(&l->at, &i) && i < UINT32_MAX && b.at &&
		bytes_skip(&b, i * l->source->address_bytes) && take_address(l, &b, ret_v);
}

/* Finds list number i: a unit's part of the section begins with a header and the offsets of its lists. */
static bool find_by_index(struct rangelist *l, u64 i)
{
	struct bytes b = l->source->lists, offsets;
	u64 offset, wide;
	u32 word, count;
	bool is_wide;

	if (!bytes_u32(&b, &word))
		return false;
	is_wide = word == UINT32_MAX;
	/* Skips the version and the sizes of addresses and segments. */
	if ((is_wide && !bytes_u64(&b, &wide)) || !bytes_skip(&b, 4) || !bytes_u32(&b, &count) ||
		i >= count)
		return false;
	offsets = b;
	if (!bytes_skip(&offsets, i * (is_wide ? 8 : 4)))
		return false;
	if (is_wide) {
		if (!bytes_u64(&offsets, &offset))
			return false;
	} else {
		if (!bytes_u32(&offsets, &word))
			return false;
		offset = word;
	}
	l->at = b;
	return bytes_skip(&l->at, offset);
}

static void end(struct rangelist *l, bool is_wrong)
{
	l->is_wrong = is_wrong;
	l->has_ended = true;
}

void rangelist_open(struct rangelist *l, const struct rangelist_source *s, u64 value, bool is_index)
{
	*l = (struct rangelist){.source = s, .at = s->lists, .base = s->base};
	if (!s->lists.at || (is_index ? !find_by_index(l, value) : !bytes_skip(&l->at, value)))
		end(l, true);
}

/* Reads a pair of addresses. A pair that begins with all ones sets a new base. */
static bool next_pair(struct rangelist *l, u64 *ret_start, u64 *ret_end)
{
	const u64 all = l->source->address_bytes == 8 ? UINT64_MAX : UINT32_MAX;
	u64 start, stop;

	for (;;) {
		if (!take_address(l, &l->at, &start) || !take_address(l, &l->at, &stop)) {
			end(l, true);
			return false;
		}
		if (start == all) {
			l->base = stop;
			continue;
		}
		if (!start && !stop) {
			end(l, false);
			return false;
		}
		*ret_start = l->base + start;
		*ret_end = l->base + stop;
		return true;
	}
}

/* Reads one entry of version 5. Returns 1: a range, 0: something else, < 0: malformed. */
static int take_entry(struct rangelist *l, u8 kind, u64 *ret_start, u64 *ret_end)
{
	u64 a, b;

	switch (kind) {
	case DW_RLE_base_addressx:
		return take_indexed(l, &l->base) ? 0 : -1;
	case DW_RLE_base_address:
		return take_address(l, &l->at, &l->base) ? 0 : -1;
	case DW_RLE_startx_endx:
		if (!take_indexed(l, &a) || !take_indexed(l, &b))
			return -1;
		break;
	case DW_RLE_startx_length:
		if (!take_indexed(l, &a) || !leb_u64(&l->at, &b))
			return -1;
		b += a;
		break;
	case DW_RLE_offset_pair:
		if (!leb_u64(&l->at, &a) || !leb_u64(&l->at, &b))
			return -1;
		a += l->base;
		b += l->base;
		break;
	case DW_RLE_start_end:
		if (!take_address(l, &l->at, &a) || !take_address(l, &l->at, &b))
			return -1;
		break;
	case DW_RLE_start_length:
		if (!take_address(l, &l->at, &a) || !leb_u64(&l->at, &b))
			return -1;
		b += a;
		break;
	default:
		return -1;
	}
	*ret_start = a;
	*ret_end = b;
	return 1;
}

bool rangelist_next(struct rangelist *l, u64 *ret_start, u64 *ret_end)
{
	u8 kind;
	int r = 0;

	if (l->has_ended)
		return false;
	if (l->source->version < 5)
		return next_pair(l, ret_start, ret_end);
	while (!r) {
		if (!bytes_u8(&l->at, &kind))
			r = -1;
		else if (kind == DW_RLE_end_of_list)
			break;
		else
			r = take_entry(l, kind, ret_start, ret_end);
	}
	if (r <= 0)
		end(l, r < 0);
	return r > 0;
}
