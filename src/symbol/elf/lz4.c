#include "symbol/elf/lz4.h"

enum { MAGIC = 0x184d2204, MATCH_LEAST = 4, MORE = 15 };

struct unpacking {
	struct str *out;
	size_t began; /* size of `out` before unpacking */
	u64 limit;
	bool is_full;
};

/* A length of 15 continues in the following bytes, up to the first that is not 255. */
static bool take_length(struct bytes *b, u64 *length)
{
	u8 more = 255;

	if (*length != MORE)
		return true;
	while (more == 255) {
		if (!bytes_u8(b, &more))
			return false;
		*length += more;
	}
	return true;
}

static bool has_room(struct unpacking *u, u64 n)
{
	u->is_full |= n > u->limit - (u->out->n - u->began);
	return !u->is_full;
}

/* Repeats earlier output; source and result may overlap. */
static void repeat(struct str *out, u64 back, u64 n)
{
	str_reserve(out, n + 1);
	for (u64 i = 0; i < n; i++)
		out->at[out->n + i] = out->at[out->n + i - back];
	out->n += n;
	out->at[out->n] = '\0';
}

/* Returns false if the block is damaged, or the result too large. */
static bool take_block(struct unpacking *u, struct bytes b)
{
	while (bytes_left(&b)) {
		const void *literals;
		u64 n, back;
		u16 offset;
		u8 token;

		if (!bytes_u8(&b, &token))
			return false;
		n = token >> 4;
		if (!take_length(&b, &n) || !has_room(u, n) || !bytes_take(&b, n, &literals))
			return false;
		str_addn(u->out, literals, n);
		/* The last literals have no match after them. */
		if (!bytes_left(&b))
			return true;
		n = token & MORE;
		if (!bytes_u16(&b, &offset) || !take_length(&b, &n))
			return false;
		back = offset;
		n += MATCH_LEAST;
		if (!back || back > u->out->n - u->began || !has_room(u, n))
			return false;
		repeat(u->out, back, n);
	}
	return true;
}

/* Reads what the header tells about the rest: its size, and whether blocks have a checksum. */
static bool take_header(struct bytes *b, bool *ret_has_sums, bool *ret_has_sum)
{
	enum { VERSION = 0x40, SUMS = 0x10, SIZE = 8, SUM = 4, DICTIONARY = 1 };
	u8 flags, ignored;
	u32 magic;

	if (!bytes_u32(b, &magic) || magic != MAGIC || !bytes_u8(b, &flags) ||
		!bytes_u8(b, &ignored) || (flags & 0xc0) != VERSION || flags & DICTIONARY)
		return false;
	*ret_has_sums = flags & SUMS;
	*ret_has_sum = flags & SUM;
	return (!(flags & SIZE) || bytes_skip(b, sizeof(u64))) && bytes_u8(b, &ignored);
}

static bool take_frame(struct unpacking *u, struct bytes *b)
{
	bool has_sums, has_sum;
	const void *at;
	u32 size = 1;

	if (!take_header(b, &has_sums, &has_sum))
		return false;
	while (bytes_u32(b, &size) && size) {
		bool is_plain = size >> 31;

		size &= INT32_MAX;
		if (!bytes_take(b, size, &at) || (has_sums && !bytes_skip(b, sizeof(u32))))
			return false;
		if (is_plain ? !has_room(u, size) : !take_block(u, bytes_of(at, size)))
			return false;
		if (is_plain)
			str_addn(u->out, at, size);
	}
	return !size && (!has_sum || bytes_skip(b, sizeof(u32)));
}

int lz4_unpack(struct bytes packed, u64 limit, struct str *out, struct err *err)
{
	struct unpacking u = {out, out->n, limit, false};

	while (bytes_left(&packed))
		if (!take_frame(&u, &packed))
			return u.is_full
				? err_set(err, ERR_LIMIT, "it unpacks to more than %llu bytes",
					  (unsigned long long)limit)
				: err_set(err, ERR_FORMAT, "its LZ4 data is damaged or cut off");
	return 0;
}
