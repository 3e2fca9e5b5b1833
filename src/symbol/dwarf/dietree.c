#include "symbol/dwarf/dietree.h"

#include <dwarf.h>

#include "unwind/leb.h"

enum {
	CODES_MAX = 1 << 16, /* abbreviations of a unit; their numbers begin with 1 */
	FORM_IMPLICIT = 0,   /* terminates a list of forms */
	DEPTH_MAX = 1 << 20,
};

/* ---- attributes ---- */

static bool skip_leb(struct bytes *b)
{
	u64 ignored;

	return leb_u64(b, &ignored);
}

/* The size of an attribute, if its form alone determines it; -1: it does not. */
static int fixed_size(const struct dietree_unit *u, unsigned form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return u->address_bytes;
	case DW_FORM_ref_addr:
		return u->version < 3 ? u->address_bytes : u->offset_bytes;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_GNU_ref_alt:
		return u->offset_bytes;
	default:
		return -1;
	}
}

bool dietree_skip_form(const struct dietree_unit *u, struct bytes *b, u64 form)
{
	const char *text;
	size_t length;
	u64 n = 0;
	u16 n2;
	u8 n1;
	u32 n4;
	int size;

	/* An indirect form may name another indirect form: each takes a byte, so this ends. */
	while (form == DW_FORM_indirect)
		if (!leb_u64(b, &form))
			return false;
	size = fixed_size(u, (unsigned)MIN(form, (u64)UINT32_MAX));
	if (size >= 0)
		return bytes_skip(b, (u64)size);
	switch (form) {
	case DW_FORM_string:
		return bytes_cstr(b, &text, &length);
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return skip_leb(b);
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return leb_u64(b, &n) && bytes_skip(b, n);
	case DW_FORM_block1:
		return bytes_u8(b, &n1) && bytes_skip(b, n1);
	case DW_FORM_block2:
		return bytes_u16(b, &n2) && bytes_skip(b, n2);
	case DW_FORM_block4:
		return bytes_u32(b, &n4) && bytes_skip(b, n4);
	default:
		return false;
	}
}

/* ---- abbreviations ---- */

/* Forms are small numbers except GNU's four, which are mapped to bytes that no form has. */
enum { FORM_ODD = 0xf0 };

static const u32 odd_forms[] = {DW_FORM_GNU_addr_index, DW_FORM_GNU_str_index, DW_FORM_GNU_ref_alt,
	DW_FORM_GNU_strp_alt};

static bool pack_form(u64 form, u8 *ret_byte)
{
	for (size_t i = 0; i < ARRAY_SIZE(odd_forms); i++) {
		if (form == odd_forms[i]) {
			*ret_byte = (u8)(FORM_ODD + i);
			return true;
		}
	}
	*ret_byte = (u8)form;
	return form && form < FORM_ODD;
}

static u64 unpack_form(u8 byte)
{
	return byte < FORM_ODD ? byte : odd_forms[byte - FORM_ODD];
}

bool dietree_is_scope(u32 tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/*
 * Reads the attributes of one abbreviation, and adds up the sizes of the first ones, as far as they are
 * fixed.
 */
static bool read_forms(struct dietree *t, struct bytes *b, struct dietree_abbrev *a)
{
	bool is_fixed = true, has_address = false, is_scope = dietree_is_scope(a->tag);

	a->first_attribute = (u32)t->attributes.n;
	for (;;) {
		u64 name, form;
		s64 constant = 0;
		int size;
		u8 byte;

		if (!leb_u64(b, &name) || !leb_u64(b, &form))
			return false;
		if (!name && !form)
			break;
		if (form == DW_FORM_implicit_const && !leb_s64(b, &constant))
			return false;
		has_address |= name == DW_AT_low_pc || name == DW_AT_ranges;
		size = fixed_size(&t->unit, (unsigned)MIN(form, (u64)UINT32_MAX));
		if (is_scope)
			vec_add(&t->attributes,
				((struct dietree_attribute){(u32)MIN(name, (u64)UINT32_MAX),
					(u32)MIN(form, (u64)UINT32_MAX), size, constant}));
		if (form == DW_FORM_implicit_const)
			continue;
		if (is_fixed && size >= 0 && a->fixed_bytes < 1 << 20) {
			a->fixed_bytes += (u32)size;
			continue;
		}
		is_fixed = false;
		if (!pack_form(form, &byte))
			return false;
		vec_add(&t->forms, byte);
	}
	vec_add(&t->forms, FORM_IMPLICIT);
	if (is_scope)
		vec_add(&t->attributes, ((struct dietree_attribute){0}));
	a->has_code = has_address && is_scope;
	return true;
}

static void read_abbrevs(struct dietree *t)
{
	struct bytes b = t->abbrevs;
	u64 code, tag;
	u8 has_children;

	t->table.n = t->forms.n = t->attributes.n = 0;
	if (!bytes_skip(&b, t->unit.abbrev_offset))
		return;
	while (leb_u64(&b, &code) && code && code < CODES_MAX && leb_u64(&b, &tag) &&
		bytes_u8(&b, &has_children)) {
		struct dietree_abbrev a = {.tag = (u32)MIN(tag, (u64)UINT32_MAX),
			.has_children = has_children != 0,
			.first_form = (u32)t->forms.n};

		if (!read_forms(t, &b, &a))
			return;
		while (t->table.n <= code)
			vec_add(&t->table, ((struct dietree_abbrev){0}));
		/* If a number comes twice, the first abbreviation counts. */
		if (!t->table.at[code].tag)
			t->table.at[code] = a;
	}
}

/* ---- the walk ---- */

void dietree_begin(struct dietree *t, const struct dietree_unit *unit)
{
	bool is_same = t->table.n && t->unit.abbrev_offset == unit->abbrev_offset &&
		t->unit.address_bytes == unit->address_bytes &&
		t->unit.offset_bytes == unit->offset_bytes && t->unit.version == unit->version;

	t->unit = *unit;
	t->at = unit->first;
	t->end = MIN(unit->end, (u64)bytes_left(&t->info));
	t->depth = 0;
	t->is_wrong = false;
	if (!is_same)
		read_abbrevs(t);
}

static bool wrong(struct dietree *t)
{
	t->is_wrong = true;
	t->at = t->end;
	return false;
}

static bool skip_attributes(struct dietree *t, const struct dietree_abbrev *a, struct bytes *b)
{
	if (!bytes_skip(b, a->fixed_bytes))
		return false;
	for (const u8 *form = t->forms.at + a->first_form; *form; form++)
		if (!dietree_skip_form(&t->unit, b, unpack_form(*form)))
			return false;
	return true;
}

bool dietree_next(struct dietree *t, struct dietree_entry *ret_entry)
{
	struct bytes b = t->info;
	u32 least = UINT32_MAX;

	if (t->at >= t->end)
		return false;
	b.end = b.at + t->end;
	b.at += t->at;
	while (b.at < b.end) {
		u64 offset = (u64)(b.at - t->info.at), code;
		const struct dietree_abbrev *a;
		u32 depth = t->depth;

		if (!leb_u64(&b, &code))
			return wrong(t);
		if (!code) {
			/* The end of a list of children; after the unit's own entry there may be padding. */
			if (t->depth)
				t->depth--;
			continue;
		}
		a = code < t->table.n ? &t->table.at[code] : NULL;
		if (!a || !a->tag || !skip_attributes(t, a, &b))
			return wrong(t);
		if (a->has_children && t->depth++ > DEPTH_MAX)
			return wrong(t);
		least = MIN(least, depth);
		if (!a->has_code)
			continue;
		t->at = (u64)(b.at - t->info.at);
		*ret_entry = (struct dietree_entry){offset, a->tag, depth, least};
		return true;
	}
	t->at = t->end;
	return false;
}

void dietree_fini(struct dietree *t)
{
	vec_fini(&t->table);
	vec_fini(&t->forms);
	vec_fini(&t->attributes);
}
