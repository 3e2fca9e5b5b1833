#include "symbol/dwarf/scopehead.h"

/* Finds the attributes of an entry and their forms. Returns NULL if the entry is not a function's. */
static const struct dietree_attribute *find(const struct dietree *t, u64 offset,
	struct bytes *ret_b)
{
	const struct dietree_abbrev *a;
	struct bytes b = t->info;
	u64 code;

	if (offset < t->unit.first || offset >= t->end)
		return NULL;
	b.end = b.at + t->end;
	b.at += offset;
	if (!leb_u64(&b, &code) || code >= t->table.n)
		return NULL;
	a = &t->table.at[code];
	*ret_b = b;
	return dietree_is_scope(a->tag) ? t->attributes.at + a->first_attribute : NULL;
}

static bool take_entry(const struct dietree *t, struct bytes *b, u64 form, struct scopehead *h,
	u64 *ret_offset)
{
	u64 distance;

	if (form == DW_FORM_ref_addr || form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 ||
		form == DW_FORM_ref_sup8 || form == DW_FORM_ref_sig8) {
		h->is_far = true;
		return dietree_skip_form(&t->unit, b, form);
	}
	if (!dieform_entry(b, form, &distance))
		return false;
	*ret_offset = t->unit.begin + distance;
	return true;
}

static bool take_value(const struct dietree *t, const struct dieform_texts *texts,
	const struct dietree_attribute *a, struct bytes *b, struct scopehead *h,
	bool *ret_high_is_size)
{
	const struct dietree_unit *u = &t->unit;

	switch (a->name) {
	case DW_AT_low_pc:
		return h->has_low = dieform_address(b, u, a->form, &h->low);
	case DW_AT_high_pc:
		*ret_high_is_size = a->form != DW_FORM_addr;
		return h->has_high = *ret_high_is_size
			? dieform_number(b, a->form, a->constant, &h->high)
			: dieform_address(b, u, a->form, &h->high);
	case DW_AT_ranges:
		return h->has_ranges = dieform_place(b, u, a->form, &h->ranges);
	case DW_AT_call_file:
		return h->has_file = dieform_number(b, a->form, a->constant, &h->call_file);
	case DW_AT_call_line:
		return dieform_number(b, a->form, a->constant, &h->call_line);
	case DW_AT_call_column:
		return dieform_number(b, a->form, a->constant, &h->call_column);
	case DW_AT_abstract_origin:
		return take_entry(t, b, a->form, h, &h->origin);
	case DW_AT_specification:
		return take_entry(t, b, a->form, h, &h->specification);
	case DW_AT_name:
		return dieform_text(b, u, a->form, texts, &h->name);
	case DW_AT_linkage_name:
		return dieform_text(b, u, a->form, texts, &h->linkage_name);
	case DW_AT_MIPS_linkage_name:
		return dieform_text(b, u, a->form, texts, &h->old_linkage_name);
	default:
		return a->size >= 0 ? bytes_skip(b, (u64)a->size)
				    : dietree_skip_form(u, b, a->form);
	}
}

bool scopehead_read(const struct dietree *t, const struct dieform_texts *texts, u64 offset,
	struct scopehead *ret)
{
	struct scopehead h = {0};
	bool high_is_size = false;
	struct bytes b;
	const struct dietree_attribute *a = find(t, offset, &b);

	if (!a)
		return false;
	for (; a->form; a++)
		if (!take_value(t, texts, a, &b, &h, &high_is_size))
			return false;
	if (high_is_size)
		h.high += h.low;
	*ret = h;
	return true;
}

bool scopehead_name(const struct dietree *t, const struct dieform_texts *texts, u64 offset,
	const char **ret_name)
{
	enum { CHAIN_MAX = 16 };
	const char *name = NULL, *old = NULL;

	for (int i = 0; i < CHAIN_MAX; i++) {
		struct scopehead h;

		if (!scopehead_read(t, texts, offset, &h))
			return false;
		name = name ? name : h.name;
		old = old ? old : h.old_linkage_name;
		if (h.linkage_name || (!h.is_far && !h.origin && !h.specification)) {
			*ret_name = h.linkage_name ? h.linkage_name : old ? old : name;
			return true;
		}
		if (h.is_far)
			return false;
		offset = h.origin ? h.origin : h.specification;
	}
	return false;
}
