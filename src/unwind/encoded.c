#include "unwind/encoded.h"

#include "unwind/leb.h"

bool encoded_fixed(struct bytes *b, unsigned size, bool is_signed, u64 *ret_v)
{
	u16 two;
	u32 four;

	if (size == 8)
		return bytes_u64(b, ret_v);
	if (size == 4) {
		if (!bytes_u32(b, &four))
			return false;
		*ret_v = is_signed ? (u64)(s64)(s32)four : four;
		return true;
	}
	if (!bytes_u16(b, &two))
		return false;
	*ret_v = is_signed ? (u64)(s64)(int16_t)two : two;
	return true;
}

bool encoded_number(struct bytes *b, u8 encoding, u8 address_size, u64 *ret_v)
{
	s64 s;

	switch (encoding & 0x0f) {
	case ENCODED_ABSPTR:
		return encoded_fixed(b, address_size, false, ret_v);
	case ENCODED_ULEB128:
		return leb_u64(b, ret_v);
	case ENCODED_SLEB128:
		if (!leb_s64(b, &s))
			return false;
		*ret_v = (u64)s;
		return true;
	case ENCODED_UDATA2:
	case ENCODED_SDATA2:
		return encoded_fixed(b, 2, encoding & 0x08, ret_v);
	case ENCODED_UDATA4:
	case ENCODED_SDATA4:
		return encoded_fixed(b, 4, encoding & 0x08, ret_v);
	case ENCODED_UDATA8:
	case ENCODED_SDATA8:
		return encoded_fixed(b, 8, encoding & 0x08, ret_v);
	}
	return false;
}

bool encoded_pointer(struct bytes *b, u8 encoding, const struct encoded_bases *bases, u64 *ret_v)
{
	u64 field = b->offset, v;

	/* The target of an indirect pointer exists in the process only. */
	if (encoding & ENCODED_INDIRECT || !encoded_number(b, encoding, bases->address_size, &v))
		return false;
	switch (encoding & 0x70) {
	case 0:
		break;
	case ENCODED_PCREL:
		v += field;
		break;
	case ENCODED_TEXTREL:
		v += bases->text;
		break;
	case ENCODED_DATAREL:
		v += bases->data;
		break;
	default:
		return false;
	}
	*ret_v = bases->address_size == 4 ? (u32)v : v;
	return true;
}
