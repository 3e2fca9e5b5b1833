#include "fleet/fleetanswer.h"

#include <endian.h>

struct fleetanswer fleetanswer_of(const struct str *text, const char *server)
{
	return (struct fleetanswer){.left = bytes_of(str_text(text), text->n), .server = server};
}

bool fleetanswer_more(const struct fleetanswer *a)
{
	return !a->is_damaged && bytes_left(&a->left) > 0;
}

u32 fleetanswer_u32(struct fleetanswer *a)
{
	u32 v = 0;

	a->is_damaged |= !bytes_u32(&a->left, &v);
	return le32toh(v);
}

u64 fleetanswer_u64(struct fleetanswer *a)
{
	u64 v = 0;

	a->is_damaged |= !bytes_u64(&a->left, &v);
	return le64toh(v);
}

/* Seven bits a byte, the lowest first. */
u64 fleetanswer_length(struct fleetanswer *a, u64 most)
{
	u64 v = 0;
	u8 byte;

	for (unsigned shift = 0; shift < 63; shift += 7) {
		if (!bytes_u8(&a->left, &byte))
			break;
		v |= (u64)(byte & 127) << shift;
		if (!(byte & 128) && v <= most)
			return v;
		if (!(byte & 128))
			break;
	}
	a->is_damaged = true;
	return 0;
}

const char *fleetanswer_text(struct fleetanswer *a, struct arena *arena)
{
	const u64 n = fleetanswer_length(a, bytes_left(&a->left));
	const void *at;

	if (!n)
		return "";
	if (!bytes_take(&a->left, n, &at)) {
		a->is_damaged = true;
		return "";
	}
	return arena_strdup(arena, at, n);
}

u32 fleetanswer_texts(struct fleetanswer *a, u32 most, const char **texts, struct arena *arena)
{
	const u32 n = (u32)fleetanswer_length(a, most);

	for (u32 i = 0; i < n; i++)
		texts[i] = fleetanswer_text(a, arena);
	return n;
}

int fleetanswer_end(const struct fleetanswer *a, struct err *err)
{
	return a->is_damaged
		? err_set(err, ERR_FORMAT, "the answer of '%s' is damaged or cut off at byte %llu",
			  a->server, (unsigned long long)a->left.offset)
		: 0;
}
