#include "unwind/cfi.h"

#include <stdlib.h>

#include "base/hash.h"
#include "unwind/leb.h"

enum {
	REMEMBERED_STATES = 16,   /* DW_CFA_remember_state inside of each other */
	ROWS_OF_FUNCTION = 16384, /* the largest real ones have some hundreds */
	RULES_CACHED = 4 << 20,
};

/* How pointers are written: the low half says the size, the high half what they count from. */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_PCREL = 0x10,
	PE_TEXTREL = 0x20,
	PE_DATAREL = 0x30,
	PE_FUNCREL = 0x40,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

struct cie {
	u64 offset;
	u64 code_align;
	s64 data_align;
	u8 return_reg, pointers;
	bool is_signal, has_data; /* has_data: FDEs have a size of augmentation data */
	u8 address_size;
	struct bytes instructions;
};

struct fde {
	struct cie cie;
	u64 start, end;
	struct bytes instructions;
};

static struct bytes section_of(const struct cfi *cfi, bool is_debug_frame)
{
	return is_debug_frame ? cfi->in.debug_frame : cfi->in.eh_frame;
}

/* ---- pointers ---- */

static bool take_fixed(struct bytes *b, unsigned size, bool is_signed, u64 *ret_v)
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

/* The number as it is written, without what it counts from. */
static bool take_number(struct bytes *b, u8 encoding, u8 address_size, u64 *ret_v)
{
	s64 s;

	switch (encoding & 0x0f) {
	case PE_ABSPTR:
		return take_fixed(b, address_size, false, ret_v);
	case PE_ULEB128:
		return leb_u64(b, ret_v);
	case PE_SLEB128:
		if (!leb_s64(b, &s))
			return false;
		*ret_v = (u64)s;
		return true;
	case PE_UDATA2:
	case PE_SDATA2:
		return take_fixed(b, 2, encoding & 0x08, ret_v);
	case PE_UDATA4:
	case PE_SDATA4:
		return take_fixed(b, 4, encoding & 0x08, ret_v);
	case PE_UDATA8:
	case PE_SDATA8:
		return take_fixed(b, 8, encoding & 0x08, ret_v);
	}
	return false;
}

static bool take_pointer(const struct cfi *cfi, struct bytes *b, u8 encoding, u8 address_size,
	u64 *ret_v)
{
	u64 field = b->offset, v;

	/* What an indirect pointer points to is only there in the process. */
	if (encoding & PE_INDIRECT || !take_number(b, encoding, address_size, &v))
		return false;
	switch (encoding & 0x70) {
	case 0:
		break;
	case PE_PCREL:
		v += field;
		break;
	case PE_TEXTREL:
		v += cfi->in.text;
		break;
	case PE_DATAREL:
		v += cfi->in.data;
		break;
	default:
		return false;
	}
	*ret_v = address_size == 4 ? (u32)v : v;
	return true;
}

/* ---- entries ---- */

/*
 * One entry: its bytes behind the length, and the number that tells CIEs from FDEs. False at the
 * end.
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

/* What the letters of the augmentation announce, behind its size. */
static bool take_augmentation(const char *letters, struct bytes data, struct cie *cie)
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
				!take_number(&data, encoding, cie->address_size, &v))
				return false;
			break;
		case 'S':
			cie->is_signal = true;
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

static bool take_cie(const struct cfi *cfi, struct bytes b, struct cie *ret_cie)
{
	struct cie cie = {.pointers = PE_ABSPTR, .address_size = cfi->in.is_64 ? 8 : 4};
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
		(!bytes_u8(&b, &cie.address_size) || !bytes_u8(&b, &segment) || segment ||
			(cie.address_size != 4 && cie.address_size != 8)))
		return false;
	if (!leb_u64(&b, &cie.code_align) || !leb_s64(&b, &cie.data_align))
		return false;
	if (version == 1 ? !bytes_u8(&b, &cie.return_reg) : !leb_u64(&b, &reg))
		return false;
	if (version != 1)
		cie.return_reg = (u8)MIN(reg, (u64)UINT8_MAX);
	if (cie.return_reg >= CFI_REGS)
		return false;
	/* Letters behind others than 'z' announce no size, so nobody knows what follows. */
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

/*
 * The FDE at an offset of its section, and its CIE, which may be in *cie already. False if it is
 * none, or makes no sense.
 */
static bool take_fde(const struct cfi *cfi, bool is_debug_frame, struct bytes *section,
	struct fde *fde)
{
	struct bytes whole = section_of(cfi, is_debug_frame), b, c;
	u64 id, id_at, cie_at, cie_id, ignored, size;
	bool is_64;

	if (!take_entry(section, &b, &id, &id_at, &is_64) || is_cie(is_debug_frame, is_64, id))
		return false;
	cie_at = is_debug_frame ? id : id_at - id - whole.offset;
	if (cie_at != fde->cie.offset || !fde->cie.code_align) {
		if (!bytes_skip(&whole, cie_at) ||
			!take_entry(&whole, &c, &cie_id, &ignored, &is_64) ||
			!is_cie(is_debug_frame, is_64, cie_id) || !take_cie(cfi, c, &fde->cie))
			return false;
		fde->cie.offset = cie_at;
	}
	if (!take_pointer(cfi, &b, fde->cie.pointers, fde->cie.address_size, &fde->start) ||
		!take_number(&b, fde->cie.pointers & 0x0f, fde->cie.address_size, &size))
		return false;
	fde->end = fde->start + size;
	if (fde->cie.has_data && (!leb_u64(&b, &size) || !bytes_skip(&b, size)))
		return false;
	fde->instructions = b;
	return fde->start < fde->end;
}

/* ---- finding ---- */

static int by_start(const void *a, const void *b)
{
	const struct cfi_function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* All FDEs of a section into the index. */
static void add_section(struct cfi *cfi, bool is_debug_frame)
{
	struct bytes section = section_of(cfi, is_debug_frame);
	u64 base = section.offset;
	struct fde fde = {0};

	while (bytes_left(&section)) {
		struct bytes entry, next = section;
		u64 id, id_at, offset = section.offset - base;
		bool is_64;

		if (!take_entry(&next, &entry, &id, &id_at, &is_64))
			return;
		/* Functions that the linker dropped begin at 0. */
		if (take_fde(cfi, is_debug_frame, &section, &fde) && fde.start)
			vec_add(&cfi->index,
				((struct cfi_function){fde.start, fde.end, offset,
					is_debug_frame}));
		section = next;
	}
}

/* The search table of .eh_frame_hdr, if it is of the kind that all linkers write. */
static bool take_table(struct cfi *cfi)
{
	struct bytes b = cfi->in.eh_frame_hdr;
	u8 version, frame, count, table, address_size = cfi->in.is_64 ? 8 : 4;
	u64 ignored, n;

	if (!bytes_u8(&b, &version) || version != 1 || !bytes_u8(&b, &frame) ||
		!bytes_u8(&b, &count) || !bytes_u8(&b, &table) ||
		!take_number(&b, frame, address_size, &ignored) || count == PE_OMIT ||
		!take_number(&b, count, address_size, &n) || table != (PE_DATAREL | PE_SDATA4) ||
		n > bytes_left(&b) / 8)
		return false;
	cfi->table = b;
	cfi->n_in_table = n;
	return true;
}

void cfi_init(struct cfi *cfi, const struct cfi_input *in)
{
	memset(cfi, 0, sizeof(*cfi));
	cfi->in = *in;
	if (!take_table(cfi))
		add_section(cfi, false);
	add_section(cfi, true);
	if (cfi->index.n)
		qsort(cfi->index.at, cfi->index.n, sizeof(*cfi->index.at), by_start);
}

void cfi_init_listed(struct cfi *cfi, const struct cfi_input *in,
	const struct cfi_function *functions, size_t n)
{
	memset(cfi, 0, sizeof(*cfi));
	cfi->in = *in;
	for (size_t i = 0; i < n; i++)
		vec_add(&cfi->index, functions[i]);
}

/* How many bytes the entry at an offset takes; 0: none is there. */
static u64 size_of_entry(const struct cfi *cfi, bool is_debug_frame, u64 at)
{
	struct bytes section = section_of(cfi, is_debug_frame), entry;
	u64 id, id_at, start;
	bool is_64;

	if (!bytes_skip(&section, at))
		return 0;
	start = section.offset;
	return take_entry(&section, &entry, &id, &id_at, &is_64) ? section.offset - start : 0;
}

bool cfi_extent_of(const struct cfi *cfi, const struct cfi_function *f, struct cfi_extent *ret)
{
	struct bytes section = section_of(cfi, f->is_debug_frame);
	struct fde fde = {0};

	if (!bytes_skip(&section, f->entry) || !take_fde(cfi, f->is_debug_frame, &section, &fde))
		return false;
	*ret = (struct cfi_extent){f->entry, size_of_entry(cfi, f->is_debug_frame, f->entry),
		fde.cie.offset, size_of_entry(cfi, f->is_debug_frame, fde.cie.offset)};
	return ret->fde_size && ret->cie_size;
}

void cfi_fini(struct cfi *cfi)
{
	vec_fini(&cfi->index);
	memset(cfi, 0, sizeof(*cfi));
}

/* The i-th pair of the search table. */
static void table_pair(const struct cfi *cfi, u64 i, u64 *ret_start, u64 *ret_fde)
{
	struct bytes b = cfi->table;
	u32 start = 0, fde = 0;

	bytes_skip(&b, 8 * i);
	bytes_u32(&b, &start);
	bytes_u32(&b, &fde);
	/* Both count from the section's beginning. */
	*ret_start = cfi->in.eh_frame_hdr.offset + (u64)(s64)(s32)start;
	*ret_fde = cfi->in.eh_frame_hdr.offset + (u64)(s64)(s32)fde;
	if (!cfi->in.is_64) {
		*ret_start = (u32)*ret_start;
		*ret_fde = (u32)*ret_fde;
	}
}

static bool find_in_table(const struct cfi *cfi, u64 rva, struct cfi_function *ret_function)
{
	u64 low = 0, high = cfi->n_in_table, start, at;
	struct bytes section = cfi->in.eh_frame;
	struct fde fde = {0};

	while (low < high) {
		u64 middle = low + (high - low) / 2;

		table_pair(cfi, middle, &start, &at);
		if (start <= rva)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	table_pair(cfi, low - 1, &start, &at);
	at -= section.offset;
	if (!bytes_skip(&section, at) || !take_fde(cfi, false, &section, &fde) || rva < fde.start ||
		rva >= fde.end)
		return false;
	*ret_function = (struct cfi_function){fde.start, fde.end, at, false};
	return true;
}

static bool find_in_index(const struct cfi *cfi, u64 rva, struct cfi_function *ret_function)
{
	size_t low = 0, high = cfi->index.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cfi->index.at[middle].start <= rva)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || rva >= cfi->index.at[low - 1].end)
		return false;
	*ret_function = cfi->index.at[low - 1];
	return true;
}

bool cfi_find(const struct cfi *cfi, u64 rva, struct cfi_function *ret_function)
{
	return find_in_table(cfi, rva, ret_function) || find_in_index(cfi, rva, ret_function);
}

/* ---- compiling ---- */

struct state {
	struct cfi_rule cfa;
	struct cfi_rule regs[CFI_REGS];
};

struct compiler {
	struct cfi_cache *cache;
	const struct cfi *cfi;
	const struct fde *fde;
	struct state now, initial, remembered[REMEMBERED_STATES];
	unsigned n_remembered;
	u64 at; /* the instruction that the state holds from */
	u32 n_rows;
	bool is_changed;
};

/* The row that holds from `at` on. */
static bool put_row(struct compiler *c)
{
	struct cfi_row row = {c->at, c->now.cfa, (u32)c->cache->rules.n, 0};

	if (!c->is_changed)
		return true;
	if (c->n_rows == ROWS_OF_FUNCTION)
		return false;
	for (unsigned i = 0; i < CFI_REGS; i++)
		if (c->now.regs[i].kind != CFI_SAME)
			vec_add(&c->cache->rules, c->now.regs[i]);
	row.n_rules = (u32)(c->cache->rules.n - row.first_rule);
	vec_add(&c->cache->rows, row);
	c->n_rows++;
	c->is_changed = false;
	return true;
}

static bool advance(struct compiler *c, u64 to)
{
	if (to < c->at)
		return false;
	if (to == c->at)
		return true;
	if (!put_row(c))
		return false;
	c->at = to;
	return true;
}

/* Registers that rows do not tell of (vectors) are read over. */
static void set_rule(struct compiler *c, u64 reg, enum cfi_kind kind, s64 value)
{
	if (reg < CFI_REGS)
		c->now.regs[reg] = (struct cfi_rule){.reg = (u8)reg, .kind = kind, .value = value};
}

static bool set_register(struct compiler *c, u64 reg, u64 from)
{
	if (reg >= CFI_REGS)
		return true;
	if (from >= CFI_REGS)
		return false;
	c->now.regs[reg] =
		(struct cfi_rule){.reg = (u8)reg, .kind = CFI_REGISTER, .from = (u8)from};
	return true;
}

static bool take_expression(struct bytes *b, enum cfi_kind kind, struct cfi_rule *ret_rule)
{
	struct bytes expression;
	u64 size;

	if (!leb_u64(b, &size) || size > UINT32_MAX || !bytes_sub(b, size, &expression))
		return false;
	*ret_rule = (struct cfi_rule){.kind = kind, .size = (u32)size, .expression = expression.at};
	return true;
}

static bool set_expression(struct compiler *c, struct bytes *b, enum cfi_kind kind)
{
	struct cfi_rule rule;
	u64 reg;

	if (!leb_u64(b, &reg) || !take_expression(b, kind, &rule))
		return false;
	if (reg < CFI_REGS) {
		rule.reg = (u8)reg;
		c->now.regs[reg] = rule;
	}
	return true;
}

static bool set_cfa(struct compiler *c, u64 reg, s64 value)
{
	if (reg >= CFI_REGS)
		return false;
	c->now.cfa = (struct cfi_rule){.kind = CFI_REGISTER, .from = (u8)reg, .value = value};
	return true;
}

static bool set_cfa_offset(struct compiler *c, s64 value)
{
	if (c->now.cfa.kind != CFI_REGISTER)
		return false;
	c->now.cfa.value = value;
	return true;
}

static void restore(struct compiler *c, u64 reg)
{
	if (reg < CFI_REGS)
		c->now.regs[reg] = c->initial.regs[reg];
}

static bool remember(struct compiler *c)
{
	if (c->n_remembered == REMEMBERED_STATES)
		return false;
	c->remembered[c->n_remembered++] = c->now;
	return true;
}

static bool recall(struct compiler *c)
{
	if (!c->n_remembered)
		return false;
	c->now = c->remembered[--c->n_remembered];
	return true;
}

/* Scaled by the CIE's alignment; a product too large for 64 bits is nothing that code does. */
static bool scaled(const struct compiler *c, s64 n, s64 *ret_v)
{
	return !__builtin_mul_overflow(n, c->fde->cie.data_align, ret_v);
}

static bool take_scaled(const struct compiler *c, struct bytes *b, bool is_signed, s64 *ret_v)
{
	s64 s;
	u64 u;

	if (is_signed)
		return leb_s64(b, &s) && scaled(c, s, ret_v);
	return leb_u64(b, &u) && scaled(c, (s64)u, ret_v);
}

enum {
	OP_NOP = 0x00,
	OP_SET_LOC,
	OP_ADVANCE_LOC1,
	OP_ADVANCE_LOC2,
	OP_ADVANCE_LOC4,
	OP_OFFSET_EXTENDED,
	OP_RESTORE_EXTENDED,
	OP_UNDEFINED,
	OP_SAME_VALUE,
	OP_REGISTER,
	OP_REMEMBER_STATE,
	OP_RESTORE_STATE,
	OP_DEF_CFA,
	OP_DEF_CFA_REGISTER,
	OP_DEF_CFA_OFFSET,
	OP_DEF_CFA_EXPRESSION,
	OP_EXPRESSION,
	OP_OFFSET_EXTENDED_SF,
	OP_DEF_CFA_SF,
	OP_DEF_CFA_OFFSET_SF,
	OP_VAL_OFFSET,
	OP_VAL_OFFSET_SF,
	OP_VAL_EXPRESSION,
	OP_MIPS_ADVANCE_LOC8 = 0x1d,
	/* SPARC's window save; for AArch64 it says that return addresses are signed from here on */
	OP_AARCH64_NEGATE_RA_STATE = 0x2d,
	OP_GNU_ARGS_SIZE = 0x2e,
	OP_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

static bool run_advance(struct compiler *c, u8 op, struct bytes *b)
{
	u64 delta = 0;
	u8 one;

	switch (op) {
	case OP_SET_LOC:
		return take_pointer(c->cfi, b, c->fde->cie.pointers, c->fde->cie.address_size,
			       &delta) &&
			advance(c, delta);
	case OP_ADVANCE_LOC1:
		if (!bytes_u8(b, &one))
			return false;
		delta = one;
		break;
	case OP_ADVANCE_LOC2:
		if (!take_fixed(b, 2, false, &delta))
			return false;
		break;
	case OP_ADVANCE_LOC4:
		if (!take_fixed(b, 4, false, &delta))
			return false;
		break;
	case OP_MIPS_ADVANCE_LOC8:
		if (!bytes_u64(b, &delta))
			return false;
		break;
	}
	return advance(c, c->at + delta * c->fde->cie.code_align);
}

static bool run_cfa(struct compiler *c, u8 op, struct bytes *b)
{
	s64 value;
	u64 reg, u;

	switch (op) {
	case OP_DEF_CFA:
		return leb_u64(b, &reg) && leb_u64(b, &u) && set_cfa(c, reg, (s64)u);
	case OP_DEF_CFA_SF:
		return leb_u64(b, &reg) && take_scaled(c, b, true, &value) &&
			set_cfa(c, reg, value);
	case OP_DEF_CFA_REGISTER:
		return leb_u64(b, &reg) && c->now.cfa.kind == CFI_REGISTER &&
			set_cfa(c, reg, c->now.cfa.value);
	case OP_DEF_CFA_OFFSET:
		return leb_u64(b, &u) && set_cfa_offset(c, (s64)u);
	case OP_DEF_CFA_OFFSET_SF:
		return take_scaled(c, b, true, &value) && set_cfa_offset(c, value);
	}
	return take_expression(b, CFI_VAL_EXPRESSION, &c->now.cfa);
}

static bool run_rule(struct compiler *c, u8 op, struct bytes *b)
{
	bool is_signed = op == OP_OFFSET_EXTENDED_SF || op == OP_VAL_OFFSET_SF;
	u64 reg, from;
	s64 value;

	if (!leb_u64(b, &reg))
		return false;
	switch (op) {
	case OP_UNDEFINED:
		set_rule(c, reg, CFI_UNDEFINED, 0);
		return true;
	case OP_SAME_VALUE:
		set_rule(c, reg, CFI_SAME, 0);
		return true;
	case OP_RESTORE_EXTENDED:
		restore(c, reg);
		return true;
	case OP_REGISTER:
		return leb_u64(b, &from) && set_register(c, reg, from);
	case OP_GNU_NEGATIVE_OFFSET_EXTENDED:
		if (!take_scaled(c, b, false, &value) || value == INT64_MIN)
			return false;
		set_rule(c, reg, CFI_OFFSET, -value);
		return true;
	}
	if (!take_scaled(c, b, is_signed, &value))
		return false;
	set_rule(c, reg,
		op == OP_VAL_OFFSET || op == OP_VAL_OFFSET_SF ? CFI_VAL_OFFSET : CFI_OFFSET, value);
	return true;
}

/* An instruction whose operation fills the byte. */
static bool run_long(struct compiler *c, u8 op, struct bytes *b)
{
	u64 ignored;

	switch (op) {
	case OP_NOP:
	case OP_AARCH64_NEGATE_RA_STATE:
		return true;
	case OP_SET_LOC:
	case OP_ADVANCE_LOC1:
	case OP_ADVANCE_LOC2:
	case OP_ADVANCE_LOC4:
	case OP_MIPS_ADVANCE_LOC8:
		return run_advance(c, op, b);
	case OP_REMEMBER_STATE:
		return remember(c);
	case OP_RESTORE_STATE:
		return recall(c);
	case OP_DEF_CFA:
	case OP_DEF_CFA_SF:
	case OP_DEF_CFA_REGISTER:
	case OP_DEF_CFA_OFFSET:
	case OP_DEF_CFA_OFFSET_SF:
	case OP_DEF_CFA_EXPRESSION:
		return run_cfa(c, op, b);
	case OP_EXPRESSION:
		return set_expression(c, b, CFI_EXPRESSION);
	case OP_VAL_EXPRESSION:
		return set_expression(c, b, CFI_VAL_EXPRESSION);
	case OP_GNU_ARGS_SIZE:
		return leb_u64(b, &ignored);
	case OP_OFFSET_EXTENDED:
	case OP_RESTORE_EXTENDED:
	case OP_UNDEFINED:
	case OP_SAME_VALUE:
	case OP_REGISTER:
	case OP_OFFSET_EXTENDED_SF:
	case OP_VAL_OFFSET:
	case OP_VAL_OFFSET_SF:
	case OP_GNU_NEGATIVE_OFFSET_EXTENDED:
		return run_rule(c, op, b);
	}
	return false;
}

static bool run(struct compiler *c, struct bytes b)
{
	u8 op;

	while (bytes_u8(&b, &op)) {
		bool is_advance = op >> 6 == 1 || (op >= OP_SET_LOC && op <= OP_ADVANCE_LOC4) ||
			op == OP_MIPS_ADVANCE_LOC8;
		u8 low = op & 0x3f;
		s64 value;

		if (op >> 6 == 1) {
			if (!advance(c, c->at + low * c->fde->cie.code_align))
				return false;
		} else if (op >> 6 == 2) {
			if (!take_scaled(c, &b, false, &value))
				return false;
			set_rule(c, low, CFI_OFFSET, value);
		} else if (op >> 6 == 3) {
			restore(c, low);
		} else if (!run_long(c, op, &b)) {
			return false;
		}
		c->is_changed |= !is_advance && op != OP_NOP;
	}
	return true;
}

/* Fills in the function's rows, and `end` if they do not reach so far. */
static void compile(struct cfi_cache *cache, const struct cfi *cfi, const struct fde *fde,
	struct cfi_code *code)
{
	struct compiler *c = mem_zalloc(sizeof(*c));

	*c = (struct compiler){.cache = cache, .cfi = cfi, .fde = fde, .at = fde->start};
	code->first_row = (u32)cache->rows.n;
	for (unsigned i = 0; i < CFI_REGS; i++)
		c->now.regs[i].reg = (u8)i;
	c->now.cfa.kind = CFI_UNDEFINED;
	c->is_changed = true;
	if (run(c, fde->cie.instructions)) {
		c->initial = c->now;
		/* What goes wrong in the middle leaves what is before it. */
		if (!run(c, fde->instructions) || !put_row(c))
			code->end = c->at;
	}
	code->n_rows = c->n_rows;
	mem_free(c);
}

static void clear(struct cfi_cache *cache)
{
	cache->codes.n = cache->rows.n = cache->rules.n = 0;
	table_clear(&cache->index);
}

void cfi_cache_fini(struct cfi_cache *cache)
{
	vec_fini(&cache->codes);
	vec_fini(&cache->rows);
	vec_fini(&cache->rules);
	table_fini(&cache->index);
}

/* The function's code, compiled if it is met for the first time. */
static u32 code_of(struct cfi_cache *cache, const struct cfi *cfi,
	const struct cfi_function *function, bool *ret_is_cleared)
{
	u64 hash = hash_mix(function->start, (u64)(uintptr_t)cfi);
	struct table_probe probe = table_probe(&cache->index, hash);
	struct bytes section = section_of(cfi, function->is_debug_frame);
	struct cfi_code code = {.cfi = cfi, .start = function->start, .end = function->end};
	struct fde fde = {0};
	u32 i;

	while ((i = table_next(&cache->index, &probe)) != TABLE_NONE)
		if (cache->codes.at[i].cfi == cfi && cache->codes.at[i].start == function->start)
			return i;
	if (cache->rules.n > RULES_CACHED || cache->rows.n > RULES_CACHED) {
		clear(cache);
		*ret_is_cleared = true;
	}
	if (bytes_skip(&section, function->entry) &&
		take_fde(cfi, function->is_debug_frame, &section, &fde)) {
		code.return_reg = fde.cie.return_reg;
		code.is_signal = fde.cie.is_signal;
		compile(cache, cfi, &fde, &code);
	}
	table_add(&cache->index, hash, cache->codes.n);
	vec_add(&cache->codes, code);
	return (u32)cache->codes.n - 1;
}

bool cfi_row_of(struct cfi_cache *cache, const struct cfi *cfi, u64 rva, u32 *ret_code,
	u32 *ret_row, bool *ret_is_cleared)
{
	struct cfi_function function;
	bool is_cleared = false;
	const struct cfi_code *code;
	u32 i, low, high;

	if (!cfi_find(cfi, rva, &function))
		return false;
	i = code_of(cache, cfi, &function, &is_cleared);
	if (is_cleared)
		*ret_is_cleared = true;
	code = &cache->codes.at[i];
	low = code->first_row;
	high = low + code->n_rows;
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (cache->rows.at[middle].start <= rva)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == code->first_row || rva >= code->end)
		return false;
	*ret_code = i;
	*ret_row = low - 1;
	return true;
}
