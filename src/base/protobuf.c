#include "base/protobuf.h"

bool protobuf_varint(struct bytes *list, u64 *ret_v)
{
	enum { LONGEST = 10 };
	struct bytes b = *list;
	u64 v = 0;
	u8 byte;

	for (unsigned i = 0; i < LONGEST && bytes_u8(&b, &byte); i++) {
		/* The tenth byte has room for one bit. */
		if (i == LONGEST - 1 && byte > 1)
			return false;
		v |= (u64)(byte & 0x7f) << (7 * i);
		if (byte & 0x80)
			continue;
		*list = b;
		*ret_v = v;
		return true;
	}
	return false;
}

int protobuf_next(struct bytes *message, struct protobuf_field *ret)
{
	struct protobuf_field f = {0};
	struct bytes b = *message;
	u32 narrow = 0;
	bool is_there;
	u64 tag;

	if (!bytes_left(&b))
		return 0;
	if (!protobuf_varint(&b, &tag) || tag >> 3 == 0 || tag >> 32)
		return -1;
	f.number = (u32)(tag >> 3);
	f.type = tag & 7;
	switch (f.type) {
	case PROTOBUF_VARINT:
		is_there = protobuf_varint(&b, &f.value);
		break;
	case PROTOBUF_I64:
		is_there = bytes_u64(&b, &f.value);
		break;
	case PROTOBUF_BYTES:
		is_there = protobuf_varint(&b, &f.value) && bytes_sub(&b, f.value, &f.bytes);
		break;
	case PROTOBUF_I32:
		is_there = bytes_u32(&b, &narrow);
		f.value = narrow;
		break;
	default:
		is_there = false;
	}
	if (!is_there)
		return -1;
	*message = b;
	*ret = f;
	return 1;
}

void protobuf_add_varint(struct str *list, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		str_addc(list, (char)(v | 0x80));
	str_addc(list, (char)v);
}

static void add_tag(struct str *message, u32 number, enum protobuf_type type)
{
	protobuf_add_varint(message, (u64)number << 3 | type);
}

void protobuf_add_u64(struct str *message, u32 number, u64 v)
{
	if (!v)
		return;
	add_tag(message, number, PROTOBUF_VARINT);
	protobuf_add_varint(message, v);
}

void protobuf_add_bytes(struct str *message, u32 number, const void *data, size_t n)
{
	add_tag(message, number, PROTOBUF_BYTES);
	protobuf_add_varint(message, n);
	str_addn(message, data, n);
}
