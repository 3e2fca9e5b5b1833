/*
 * dieform.h - reads values of attributes, according to their forms.
 *
 * In       a cursor at the value; the sizes of the unit
 * Out      the value, with the cursor after it; false if the form is unexpected, or the value is truncated
 * Source   DWARF 5, 7.5.5 (classes and forms)
 */
#ifndef PACE_SYMBOL_DIEFORM_H
#define PACE_SYMBOL_DIEFORM_H

#include <dwarf.h>

#include "symbol/dwarf/dietree.h"
#include "unwind/leb.h"

static inline bool dieform_address(struct bytes *b, const struct dietree_unit *u, u64 form,
	u64 *ret_v)
{
	return form == DW_FORM_addr && bytes_word(b, u->address_bytes, ret_v);
}

/* Reads an offset into another section; before version 4 it was plain data. */
static inline bool dieform_place(struct bytes *b, const struct dietree_unit *u, u64 form,
	u64 *ret_v)
{
	if (form == DW_FORM_sec_offset)
		return bytes_word(b, u->offset_bytes, ret_v);
	return (form == DW_FORM_data4 || form == DW_FORM_data8) &&
		bytes_word(b, form == DW_FORM_data8 ? 8 : 4, ret_v);
}

/* constant: for DW_FORM_implicit_const. */
static inline bool dieform_number(struct bytes *b, u64 form, s64 constant, u64 *ret_v)
{
	u32 four;
	u16 two;
	u8 one;

	switch (form) {
	case DW_FORM_implicit_const:
		*ret_v = (u64)constant;
		return true;
	case DW_FORM_udata:
		return leb_u64(b, ret_v);
	case DW_FORM_data8:
		return bytes_u64(b, ret_v);
	case DW_FORM_data4:
		return bytes_u32(b, &four) && (*ret_v = four, true);
	case DW_FORM_data2:
		return bytes_u16(b, &two) && (*ret_v = two, true);
	case DW_FORM_data1:
		return bytes_u8(b, &one) && (*ret_v = one, true);
	default:
		return false;
	}
}

/* Reads a reference to another entry of the same unit: an offset from the unit's header. */
static inline bool dieform_entry(struct bytes *b, u64 form, u64 *ret_v)
{
	switch (form) {
	case DW_FORM_ref_udata:
		return dieform_number(b, DW_FORM_udata, 0, ret_v);
	case DW_FORM_ref8:
		return dieform_number(b, DW_FORM_data8, 0, ret_v);
	case DW_FORM_ref4:
		return dieform_number(b, DW_FORM_data4, 0, ret_v);
	case DW_FORM_ref2:
		return dieform_number(b, DW_FORM_data2, 0, ret_v);
	case DW_FORM_ref1:
		return dieform_number(b, DW_FORM_data1, 0, ret_v);
	default:
		return false;
	}
}

/* The sections with strings. */
struct dieform_texts {
	struct bytes str, line_str;
};

static inline bool dieform_text(struct bytes *b, const struct dietree_unit *u, u64 form,
	const struct dieform_texts *texts, const char **ret_text)
{
	struct bytes section;
	u64 offset;
	size_t n;

	if (form == DW_FORM_string)
		return bytes_cstr(b, ret_text, &n);
	if ((form != DW_FORM_strp && form != DW_FORM_line_strp) ||
		!bytes_word(b, u->offset_bytes, &offset))
		return false;
	section = form == DW_FORM_strp ? texts->str : texts->line_str;
	return section.at && bytes_skip(&section, offset) && bytes_cstr(&section, ret_text, &n);
}

#endif
