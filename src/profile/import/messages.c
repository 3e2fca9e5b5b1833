#include "profile/import/messages.h"

int messages_damaged(const struct import *in, const struct bytes *at, const char *reason,
	struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%s': at offset 0x%llx%s, %s", in->path,
		(unsigned long long)at->offset, in->is_packed ? " of the unpacked data" : "",
		reason);
}

int messages_cut_off(const struct import *in, const struct bytes *at, struct err *err)
{
	return messages_damaged(in, at, "a field of the profile is cut off or damaged", err);
}

int messages_take_numbers(const struct import *in, struct bytes b, u64 *const *places, size_t n,
	struct err *err)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&b, &f)) > 0)
		if (f.number < n && places[f.number] && f.type == PROTOBUF_VARINT)
			*places[f.number] = f.value;
	return got ? messages_cut_off(in, &b, err) : 0;
}

const char *messages_string(struct importing *b, const message_strings *strings, u64 i)
{
	if (i >= strings->n)
		return intern_str(&b->profile->strings, "");
	return intern_add(&b->profile->strings, (const char *)strings->at[i].at,
		bytes_left(&strings->at[i]));
}
