#include "record/record.h"

#include "base/bytes.h"
#include "event/attr.h"
#include "record/fields.h"

enum { SHOWN_MAX = 4096 }; /* entries or bytes of one field in text */

/* The kinds of fixed size: how many bytes they have, and how many bytes each number in them has. */
static const struct {
	u8 size, unit;
} scalars[] = {
	[F_U8] = {1, 1},
	[F_U16] = {2, 2},
	[F_U32] = {4, 4},
	[F_U64] = {8, 8},
	[F_S32] = {4, 4},
	[F_S64] = {8, 8},
	[F_HEX32] = {4, 4},
	[F_HEX64] = {8, 8},
	[F_DOUBLE] = {8, 8},
	[F_TAG] = {8, 1},
	[F_DEVICE] = {8, 4},
	[F_BUILD_ID] = {24, 1},
	[F_BUILD_ID2] = {24, 1},
	[F_PART] = {0, 0},
};

/* ---- what the rows say ---- */

static bool is_scalar(u8 kind)
{
	return scalars[kind].size;
}

static u64 value_of(const struct record_dependence *d, const u8 *base)
{
	const u8 *p = base + d->member;

	return d->size == 8 ? load_u64(p) : d->size == 4 ? load_u32(p) : load_u16(p);
}

static bool is_there(const struct record_field *f, u16 misc, const u8 *base)
{
	u64 v;

	if ((f->with_misc && !(misc & f->with_misc)) || misc & f->without_misc)
		return false;
	if (!f->when.size)
		return true;
	v = value_of(&f->when, base);
	return v >= f->when.least && v <= f->when.most;
}

/* Bytes of a field that is always of one size; 0 for others. */
static u64 fixed_size(const struct record_field *f)
{
	return scalars[f->kind].size ? scalars[f->kind].size : f->size;
}

/* Bytes of an entry of a list. */
static u64 entry_size(const struct record_field *entry)
{
	u64 n = 0;

	for (; entry->kind != F_END; entry++)
		n += fixed_size(entry);
	return n;
}

/* The row after the last one. */
static const struct record_field *end_row(const struct record_field *f)
{
	while (f->kind != F_END)
		f++;
	return f;
}

static struct record_end end_of(const struct record_type *t, const void *body)
{
	struct record_end end;

	memcpy(&end, (const u8 *)body + end_row(t->fields)->member, sizeof(end));
	return end;
}

/* ---- walking over a record's bytes ---- */

struct walk {
	struct bytes b;
	u16 misc;
	bool is_foreign; /* the bytes are swapped to this machine's order, in place */
	u8 n_missing;
	const char *failed; /* the field that does not fit */
};

/* Swaps n bytes of numbers of `unit` bytes each. */
static void swap_units(u8 *p, u64 n, u8 unit)
{
	for (; unit > 1 && n >= unit; n -= unit, p += unit) {
		for (u8 low = 0, high = unit - 1; low < high; low++, high--) {
			u8 byte = p[low];

			p[low] = p[high];
			p[high] = byte;
		}
	}
}

static void swap_entries(u8 *p, u64 n, const struct record_field *entry)
{
	for (u8 *end = p + n; p < end;) {
		for (const struct record_field *f = entry; f->kind != F_END; f++) {
			swap_units(p, fixed_size(f), scalars[f->kind].unit);
			p += fixed_size(f);
		}
	}
}

static bool take_scalar(struct walk *w, const struct record_field *f, u8 *base)
{
	const void *p;

	if (!bytes_take(&w->b, scalars[f->kind].size, &p))
		return false;
	if (w->is_foreign)
		swap_units((u8 *)p, scalars[f->kind].size, scalars[f->kind].unit);
	memcpy(base + f->member, p, scalars[f->kind].size);
	if (f->kind == F_BUILD_ID) {
		struct record_mmap *m = (void *)base;

		m->build_id_claim = m->build_id_size > BUILD_ID_MAX ? m->build_id_size : 0;
		m->build_id_size = MIN(m->build_id_size, BUILD_ID_MAX);
	}
	return true;
}

static u64 attr_bytes(const struct walk *w)
{
	u32 size;

	if (bytes_left(&w->b) < ATTR_SIZE_VER0)
		return ATTR_SIZE_VER0;
	size = load_u32(w->b.at + 4);
	size = w->is_foreign ? __builtin_bswap32(size) : size;
	/* The first attrs named no size; one that is too small counts as none. */
	return MAX(size, (u32)ATTR_SIZE_VER0);
}

/* Bytes of a field here; UINT64_MAX: more than any record has. */
static u64 run_size(const struct walk *w, const struct record_field *f, const u8 *base)
{
	u64 left = bytes_left(&w->b), each, count;

	switch ((enum record_field_kind)f->kind) {
	case F_CHARS:
		return f->is_optional ? MIN(left, f->size) : f->size;
	case F_CSTR:
		return strnlen((const char *)w->b.at, left);
	case F_BYTES:
		return f->count.size ? value_of(&f->count, base) : left;
	case F_LIST:
		each = entry_size(f->of);
		if (!f->count.size)
			return left / each * each;
		count = value_of(&f->count, base);
		return count > left / each ? UINT64_MAX : count * each;
	case F_ATTR:
		return attr_bytes(w);
	default:
		return fixed_size(f);
	}
}

static bool take_run(struct walk *w, const struct record_field *f, u8 *base)
{
	u64 n = run_size(w, f, base);
	struct record_bytes run;
	const void *p;

	if (!bytes_take(&w->b, n, &p))
		return false;
	run = (struct record_bytes){p, n};
	memcpy(base + f->member, &run, sizeof(run));
	if (w->is_foreign && f->kind == F_LIST)
		swap_entries((u8 *)p, run.n, f->of);
	if (w->is_foreign && f->kind == F_ATTR)
		attr_swap((u8 *)p, run.n);
	return true;
}

static bool walk_fields(struct walk *w, const struct record_field *f, u8 *base)
{
	for (; f->kind != F_END; f++) {
		bool fits;

		if (!is_there(f, w->misc, base))
			continue;
		if (f->is_optional && (w->n_missing || run_size(w, f, base) > bytes_left(&w->b))) {
			w->n_missing++;
			continue;
		}
		if (f->kind == F_PART)
			fits = walk_fields(w, f->of, base + f->member);
		else
			fits = is_scalar(f->kind) ? take_scalar(w, f, base) : take_run(w, f, base);
		if (!fits) {
			w->failed = w->failed ? w->failed : f->name;
			return false;
		}
	}
	return true;
}

int record_decode(const struct record *rec, u32 trailer, union record_body *ret_body,
	struct err *err)
{
	const struct record_type *t = record_type_find(rec->type);
	union record_body body = {0};
	struct walk w = {.misc = rec->misc};
	struct record_end end;

	if (!t || !t->fields)
		return 0;
	if (rec->size < RECORD_HEADER_SIZE + trailer)
		return err_set(err, ERR_FORMAT,
			"%s record at offset 0x%llx: %u bytes cannot hold its trailer of %u",
			t->name, (unsigned long long)rec->offset, rec->size, trailer);
	w.b = bytes_of(rec->at + RECORD_HEADER_SIZE, rec->size - RECORD_HEADER_SIZE - trailer);
	if (!walk_fields(&w, t->fields, (u8 *)&body))
		return err_set(err, ERR_FORMAT,
			"%s record at offset 0x%llx: its %u bytes end before '%s'", t->name,
			(unsigned long long)rec->offset, rec->size, w.failed);
	end = (struct record_end){w.b.at, bytes_left(&w.b), w.n_missing};
	memcpy((u8 *)&body + end_row(t->fields)->member, &end, sizeof(end));
	*ret_body = body;
	return 1;
}

void record_swap_header(struct record_header *header)
{
	header->type = __builtin_bswap32(header->type);
	header->misc = __builtin_bswap16(header->misc);
	header->size = __builtin_bswap16(header->size);
}

bool record_swap(u8 *at, u16 size, u32 trailer)
{
	union record_body body = {0};
	struct walk w = {.is_foreign = true};
	struct record_header header;
	const struct record_type *t;

	if (size < RECORD_HEADER_SIZE + (u64)trailer)
		return false;
	memcpy(&header, at, sizeof(header));
	t = record_type_find(header.type);
	if (!t || !t->fields)
		return true;
	w.misc = header.misc;
	w.b = bytes_of(at + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE - trailer);
	return walk_fields(&w, t->fields, (u8 *)&body);
}

/* ---- the way back ---- */

/* How many fields of this record are optional. */
static unsigned n_optional(const struct record_field *f, u16 misc, const u8 *base)
{
	unsigned n = 0;

	for (; f->kind != F_END; f++)
		n += f->is_optional && is_there(f, misc, base);
	return n;
}

static void encode_scalar(const struct record_field *f, const u8 *base, struct str *out)
{
	const struct record_mmap *m = (const void *)base;

	str_addn(out, base + f->member, scalars[f->kind].size);
	if (f->kind == F_BUILD_ID && m->build_id_claim > BUILD_ID_MAX)
		out->at[out->n - scalars[f->kind].size] = m->build_id_claim;
}

static bool encode_run(const struct record_field *f, const u8 *base, bool is_by_hand,
	struct str *out)
{
	struct record_bytes run;

	memcpy(&run, base + f->member, sizeof(run));
	if (f->kind == F_CHARS || f->kind == F_GAP)
		run.n = MIN(run.n, f->size);
	if (f->count.size) {
		u64 each = f->kind == F_LIST ? entry_size(f->of) : 1;

		if (run.n % each || value_of(&f->count, base) != run.n / each)
			return false;
	}
	str_addn(out, run.at, run.n);
	if ((f->kind == F_CHARS || f->kind == F_GAP) && is_by_hand)
		str_fill(out, '\0', f->size - run.n);
	if (f->kind == F_CSTR && is_by_hand)
		str_addc(out, '\0');
	return true;
}

static bool encode_fields(const struct record_field *f, u16 misc, const u8 *base,
	const struct record_end *end, struct str *out)
{
	unsigned n_left = n_optional(f, misc, base);

	for (; f->kind != F_END; f++) {
		bool is_fine = true;

		if (!is_there(f, misc, base))
			continue;
		if (f->is_optional && n_left-- <= end->n_missing)
			break;
		if (f->kind == F_PART)
			is_fine = encode_fields(f->of, misc, base + f->member, end, out);
		else if (is_scalar(f->kind))
			encode_scalar(f, base, out);
		else
			is_fine = encode_run(f, base, !end->at, out);
		if (!is_fine)
			return false;
	}
	return true;
}

bool record_encode(u32 type, u16 misc, const union record_body *body, u32 trailer, struct str *out)
{
	const struct record_type *t = record_type_find(type);
	struct record_header header = {.type = type, .misc = misc};
	size_t start = out->n, size;
	struct record_end end;
	bool is_fine;

	if (!t || !t->fields)
		return false;
	end = end_of(t, body);
	str_addn(out, &header, sizeof(header));
	is_fine = encode_fields(t->fields, misc, (const u8 *)body, &end, out);
	if (end.at)
		str_addn(out, end.at, end.n);
	else
		str_fill(out, '\0', align_up(out->n - start, 8) - (out->n - start));
	str_fill(out, '\0', trailer);
	size = out->n - start;
	if (!is_fine || size > UINT16_MAX) {
		str_cut(out, start);
		return false;
	}
	header.size = size;
	memcpy(out->at + start, &header, sizeof(header));
	return true;
}

/* ---- text ---- */

static void add_hex(const u8 *p, u64 n, struct str *text)
{
	for (u64 i = 0; i < MIN(n, SHOWN_MAX); i++)
		str_addf(text, "%02x", p[i]);
	if (n > SHOWN_MAX)
		str_addf(text, "... %llu more", (unsigned long long)(n - SHOWN_MAX));
}

static void add_chars(const u8 *p, u64 n, struct str *text)
{
	str_add_safe(text, (const char *)p, n ? strnlen((const char *)p, n) : 0);
}

static void add_double(const u8 *p, struct str *text)
{
	double v;

	memcpy(&v, p, sizeof(v));
	str_addf(text, "%g", v);
}

static void add_scalar(u8 kind, u16 misc, const u8 *p, struct str *text)
{
	switch ((enum record_field_kind)kind) {
	case F_U8:
		str_addf(text, "%u", *p);
		break;
	case F_U16:
		str_addf(text, "%u", load_u16(p));
		break;
	case F_U32:
		str_addf(text, "%u", load_u32(p));
		break;
	case F_S32:
		str_addf(text, "%d", (s32)load_u32(p));
		break;
	case F_HEX32:
		str_addf(text, "0x%x", load_u32(p));
		break;
	case F_U64:
		str_addf(text, "%llu", (unsigned long long)load_u64(p));
		break;
	case F_S64:
		str_addf(text, "%lld", (long long)load_u64(p));
		break;
	case F_HEX64:
		str_addf(text, "0x%llx", (unsigned long long)load_u64(p));
		break;
	case F_DOUBLE:
		add_double(p, text);
		break;
	case F_TAG:
		add_hex(p, 8, text);
		break;
	case F_DEVICE:
		str_addf(text, "%02x:%02x", load_u32(p), load_u32(p + 4));
		break;
	case F_BUILD_ID:
		add_hex(p + 4, MIN(p[0], (u8)BUILD_ID_MAX), text);
		break;
	case F_BUILD_ID2:
		add_hex(p,
			misc & PERF_RECORD_MISC_BUILD_ID_SIZE ? MIN(p[20], (u8)BUILD_ID_MAX)
							      : BUILD_ID_MAX,
			text);
		break;
	default:
		break;
	}
}

/* One entry: its value, or {name=value name=value}. */
static void add_entry(const struct record_field *entry, const u8 *p, struct str *text)
{
	bool has_names = entry->name;

	for (const struct record_field *f = entry; f->kind != F_END; f++) {
		if (has_names)
			str_addf(text, "%s%s=", f == entry ? "{" : " ", f->name);
		if (f->kind == F_CHARS)
			add_chars(p, f->size, text);
		else
			add_scalar(f->kind, 0, p, text);
		p += fixed_size(f);
	}
	if (has_names)
		str_addc(text, '}');
}

static void add_list(const struct record_field *entry, const struct record_bytes *run,
	struct str *text)
{
	u64 each = entry_size(entry), n = run->n / each;

	str_addc(text, '[');
	for (u64 i = 0; i < MIN(n, SHOWN_MAX); i++) {
		if (i)
			str_addc(text, ' ');
		add_entry(entry, run->at + i * each, text);
	}
	if (n > SHOWN_MAX)
		str_addf(text, " ... %llu more", (unsigned long long)(n - SHOWN_MAX));
	str_addc(text, ']');
}

static void add_attr(const struct record_bytes *run, struct str *text)
{
	struct bytes b = bytes_of(run->at, run->n);
	struct event_attr attr;
	struct err ignored;
	bool is_dropped;

	str_addc(text, '{');
	if (!attr_read(&b, run->n, &attr, &is_dropped, &ignored))
		attr_add_text(&attr, "=", text);
	str_addc(text, '}');
}

static void add_run(const struct record_field *f, const u8 *base, struct str *text)
{
	struct record_bytes run;

	memcpy(&run, base + f->member, sizeof(run));
	switch ((enum record_field_kind)f->kind) {
	case F_CHARS:
		add_chars(run.at, MIN(run.n, f->size), text);
		break;
	case F_CSTR:
		str_add_safe(text, (const char *)run.at, run.n);
		break;
	case F_BYTES:
		add_hex(run.at, run.n, text);
		break;
	case F_LIST:
		add_list(f->of, &run, text);
		break;
	case F_ATTR:
		add_attr(&run, text);
		break;
	default:
		break;
	}
}

static void add_fields(const struct record_field *f, u16 misc, const u8 *base,
	const struct record_end *end, struct str *text)
{
	unsigned n_left = n_optional(f, misc, base);
	const char *between = "";

	for (; f->kind != F_END; f++) {
		if (!is_there(f, misc, base))
			continue;
		if (f->is_optional && n_left-- <= end->n_missing)
			break;
		if (f->kind == F_GAP)
			continue;
		str_addf(text, "%s%s=", between, f->name);
		between = " ";
		if (f->kind == F_PART) {
			str_addc(text, '{');
			add_fields(f->of, misc, base + f->member, end, text);
			str_addc(text, '}');
		} else if (is_scalar(f->kind)) {
			add_scalar(f->kind, misc, base + f->member, text);
		} else {
			add_run(f, base, text);
		}
	}
}

void record_add_text(u32 type, u16 misc, const union record_body *body, struct str *text)
{
	const struct record_type *t = record_type_find(type);
	struct record_end end;

	if (!t || !t->fields)
		return;
	end = end_of(t, body);
	add_fields(t->fields, misc, (const u8 *)body, &end, text);
}
