#include "symbol/dwarf/unithead.h"

#include "symbol/dwarf/dieform.h"

/* Reads a unit's header and leaves the cursor at the unit's first entry. */
static bool take_header(struct bytes *b, u64 at, struct dietree_unit *u)
{
	const u8 *info = b->at;
	u64 length;
	u32 word;
	u8 kind;

	if (!bytes_skip(b, at) || !bytes_u32(b, &word))
		return false;
	length = word;
	u->offset_bytes = word == UINT32_MAX ? 8 : 4;
	if (u->offset_bytes == 8 && !bytes_u64(b, &length))
		return false;
	if (length > bytes_left(b))
		return false;
	u->end = (u64)(b->at - info) + length;
	b->end = b->at + length;
	if (!bytes_u16(b, &u->version) || u->version < 2 || u->version > 5)
		return false;
	if (u->version == 5 &&
		(!bytes_u8(b, &kind) || (kind != DW_UT_compile && kind != DW_UT_partial) ||
			!bytes_u8(b, &u->address_bytes)))
		return false;
	if (!bytes_word(b, u->offset_bytes, &u->abbrev_offset) ||
		(u->version < 5 && !bytes_u8(b, &u->address_bytes)))
		return false;
	u->begin = at;
	u->first = (u64)(b->at - info);
	return u->address_bytes == 4 || u->address_bytes == 8;
}

/* Reads the name and form of an attribute; 0 and 0 end the list. */
static bool take_attribute(struct bytes *b, u64 *ret_name, u64 *ret_form, s64 *ret_constant)
{
	return leb_u64(b, ret_name) && leb_u64(b, ret_form) &&
		(*ret_form != DW_FORM_implicit_const || leb_s64(b, ret_constant));
}

static const u8 *skip_leb(const u8 *p, const u8 *end)
{
	while (p < end && *p & 0x80)
		p++;
	return p < end ? p + 1 : end;
}

/* Skips the attributes of an abbreviation. Most abbreviations are only skipped. */
static bool skip_attributes(struct bytes *b)
{
	const u8 *p = b->at, *end = b->end;

	while (p < end) {
		u8 name = *p, form;

		p = skip_leb(p, end);
		if (p == end)
			break;
		form = *p;
		p = skip_leb(p, end);
		if (form == DW_FORM_implicit_const)
			p = skip_leb(p, end);
		if (!name && !form) {
			b->at = p;
			return true;
		}
	}
	return false;
}

/* Moves the cursor from the start of a table to just behind the tag of an abbreviation. */
static bool find_abbrev(struct bytes *b, u64 wanted, u32 *ret_tag)
{
	u64 code, tag;
	u8 has_children;

	while (leb_u64(b, &code) && code) {
		if (!leb_u64(b, &tag) || !bytes_u8(b, &has_children))
			return false;
		*ret_tag = (u32)MIN(tag, (u64)UINT32_MAX);
		if (code == wanted)
			return true;
		if (!skip_attributes(b))
			return false;
	}
	return false;
}

struct attribute {
	u64 name, form;
	s64 constant; /* DW_FORM_implicit_const */
};

static bool take_value(struct bytes *b, const struct attribute *a, struct unithead *head,
	bool *ret_high_is_size)
{
	const struct dietree_unit *u = &head->unit;

	switch (a->name) {
	case DW_AT_low_pc:
		return head->has_low = dieform_address(b, u, a->form, &head->low);
	case DW_AT_high_pc:
		*ret_high_is_size = a->form != DW_FORM_addr;
		return head->has_high = *ret_high_is_size
			? dieform_number(b, a->form, a->constant, &head->high)
			: dieform_address(b, u, a->form, &head->high);
	case DW_AT_ranges:
		return head->has_ranges = dieform_place(b, u, a->form, &head->ranges);
	case DW_AT_stmt_list:
		return head->has_lines = dieform_place(b, u, a->form, &head->lines);
	case DW_AT_comp_dir:
		head->dir_form = (u32)MIN(a->form, (u64)UINT32_MAX);
		head->dir = *b;
		return dietree_skip_form(u, b, a->form);
	case DW_AT_entry_pc:
		head->has_entry = true;
		return dietree_skip_form(u, b, a->form);
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
	case DW_AT_GNU_dwo_id:
		return false;
	default:
		return a->form == DW_FORM_implicit_const || dietree_skip_form(u, b, a->form);
	}
}

bool unithead_read(struct bytes info, struct bytes abbrevs, u64 at, struct unithead *ret)
{
	struct unithead head = {0};
	bool high_is_size = false;
	struct attribute a = {0};
	u64 code;

	if (!take_header(&info, at, &head.unit) || !leb_u64(&info, &code) || !code ||
		!bytes_skip(&abbrevs, head.unit.abbrev_offset) ||
		!find_abbrev(&abbrevs, code, &head.tag))
		return false;
	for (;;) {
		if (!take_attribute(&abbrevs, &a.name, &a.form, &a.constant))
			return false;
		if (!a.name && !a.form)
			break;
		if (!take_value(&info, &a, &head, &high_is_size))
			return false;
	}
	/* The base of its lists. */
	if (head.has_entry && !head.has_low)
		return false;
	if (high_is_size)
		head.high += head.low;
	*ret = head;
	return true;
}

bool unithead_of_entry(struct bytes info, struct bytes abbrevs, u64 entry, struct unithead *ret)
{
	/* Header sizes of version 5 and of earlier ones, with 4-byte offsets, then with 8-byte ones. */
	static const u8 sizes[] = {12, 11, 24, 23};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (entry >= sizes[i] && unithead_read(info, abbrevs, entry - sizes[i], ret) &&
			ret->unit.first == entry)
			return true;
	return false;
}
