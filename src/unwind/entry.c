#include "unwind/entry.h"

#include "unwind/leb.h"

/*
 * Takes one entry: the bytes after its length, and the number that distinguishes CIEs from FDEs. Returns
 * false at the end.
 */
static bool take_entry(struct bytes *section, struct bytes *ret_entry, u64 *ret_id, u64 *ret_id_at,
	bool *ret_is_64)
{
	u32 length, id;
	u64 size;
	bool is_64;

	if (!bytes_u32(section, &length))
		return false;
	is_64 = length == UINT32_MAX;
	size = length;
	if (is_64 && !bytes_u64(section, &size))
		return false;
	/* .eh_frame ends with a length of 0. */
	if (!size || !bytes_sub(section, size, ret_entry))
		return false;
	*ret_id_at = ret_entry->offset;
	*ret_is_64 = is_64;
	if (is_64)
		return bytes_u64(ret_entry, ret_id);
	if (!bytes_u32(ret_entry, &id))
		return false;
	*ret_id = id;
	return true;
}

static bool is_cie(bool is_debug_frame, bool is_64, u64 id)
{
	return id == (!is_debug_frame ? 0 : is_64 ? UINT64_MAX : UINT32_MAX);
}

/* Reads the augmentation data that the letters after 'z' announce. */
static bool take_augmentation(const char *letters, struct bytes data, struct entry_cie *cie)
{
	for (; *letters; letters++) {
		u8 encoding;
		u64 v;

		switch (*letters) {
		case 'L':
			if (!bytes_u8(&data, &encoding))
				return false;
			break;
		case 'R':
			if (!bytes_u8(&data, &cie->pointers))
				return false;
			break;
		case 'P':
			if (!bytes_u8(&data, &encoding) ||
				!encoded_number(&data, encoding, cie->bases.address_size, &v))
				return false;
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case ENTRY_CHANGES_STACK:
			cie->changes_stack = true;
			break;
		case 'B': /* AArch64: return addresses are signed with the B key */
		case 'G': /* AArch64: memory tagging of the stack */
			break;
		default:
			return false;
		}
	}
	return true;
}

static bool take_cie(const struct encoded_bases *bases, struct bytes b, struct entry_cie *ret_cie)
{
	struct entry_cie cie = {.pointers = ENCODED_ABSPTR, .bases = *bases};
	const char *letters;
	struct bytes data;
	u64 size, reg;
	u8 version, segment;
	size_t n;

	if (!bytes_u8(&b, &version) || !bytes_cstr(&b, &letters, &n))
		return false;
	if (version != 1 && version != 3 && version != 4)
		return false;
	if (version == 4 &&
		(!bytes_u8(&b, &cie.bases.address_size) || !bytes_u8(&b, &segment) || segment ||
			(cie.bases.address_size != 4 && cie.bases.address_size != 8)))
		return false;
	if (!leb_u64(&b, &cie.code_align) || !leb_s64(&b, &cie.data_align))
		return false;
	if (version == 1 ? !bytes_u8(&b, &cie.return_reg) : !leb_u64(&b, &reg))
		return false;
	if (version != 1)
		cie.return_reg = (u8)MIN(reg, (u64)UINT8_MAX);
	/* Without a leading 'z' there is no size, so the length of what follows is unknown. */
	if (n && letters[0] != 'z')
		return false;
	if (n) {
		cie.has_data = true;
		if (!leb_u64(&b, &size) || !bytes_sub(&b, size, &data) ||
			!take_augmentation(letters + 1, data, &cie))
			return false;
	}
	cie.instructions = b;
	*ret_cie = cie;
	return true;
}

bool entry_fde(const struct entry_section *section, struct bytes at, struct entry_fde *fde)
{
	struct entry_cie *cie = &fde->cie;
	struct bytes b, whole = section->bytes, c;
	u64 id, id_at, cie_at, cie_id, ignored, size;
	bool is_64;

	if (!take_entry(&at, &b, &id, &id_at, &is_64) || is_cie(section->is_debug_frame, is_64, id))
		return false;
	cie_at = section->is_debug_frame ? id : id_at - id - whole.offset;
	if (cie_at != cie->offset || !cie->bases.address_size) {
		if (!bytes_skip(&whole, cie_at) ||
			!take_entry(&whole, &c, &cie_id, &ignored, &is_64) ||
			!is_cie(section->is_debug_frame, is_64, cie_id) ||
			!take_cie(&section->bases, c, cie))
			return false;
		cie->offset = cie_at;
	}
	if (!encoded_pointer(&b, cie->pointers, &cie->bases, &fde->start) ||
		!encoded_number(&b, cie->pointers & 0x0f, cie->bases.address_size, &size))
		return false;
	fde->end = fde->start + size;
	if (cie->has_data && (!leb_u64(&b, &size) || !bytes_skip(&b, size)))
		return false;
	fde->instructions = b;
	return fde->start < fde->end;
}

bool entry_skip(struct bytes *section)
{
	struct bytes ignored;
	u64 id, id_at;
	bool is_64;

	return take_entry(section, &ignored, &id, &id_at, &is_64);
}
