#include "unwind/rows.h"

#include "base/hash.h"
#include "base/search.h"
#include "unwind/leb.h"

enum {
	REMEMBERED_STATES = 16,   /* nesting depth of DW_CFA_remember_state */
	ROWS_OF_FUNCTION = 16384, /* the largest real ones have some hundreds */
	RULES_CACHED = 4 << 20,
};

struct state {
	struct row_rule cfa;
	s64 cfa_offset; /* kept while the CFA is an expression */
	struct row_rule regs[ROW_REGS];
};

struct compiler {
	struct rows *rows;
	const struct entry_fde *fde;
	u64 at; /* the instruction from which the state is valid */
	bool is_changed;
	u32 n_rows;
	unsigned n_remembered;
	struct state now, initial, remembered[REMEMBERED_STATES];
};

/* Determines whether the row has the rules that nearly all rows have. */
static void describe_rules(const struct compiler *c, struct row *row)
{
	enum { NEAR = 1 << 20 };
	const struct row_rule *rule = row->n_rules ? c->rows->rules.at + row->first_rule : NULL;
	bool has_return = false;

	if (row->cfa.kind != ROW_REGISTER)
		return;
	row->lowest = NEAR;
	row->highest = -NEAR;
	for (u32 i = 0; i < row->n_rules; i++, rule++) {
		if (rule->kind != ROW_OFFSET || rule->value >= NEAR || rule->value <= -NEAR)
			return;
		row->lowest = MIN(row->lowest, (s32)rule->value);
		row->highest = MAX(row->highest, (s32)rule->value);
		if (rule->reg == c->fde->cie.return_reg) {
			row->return_at = (s32)rule->value;
			has_return = true;
		}
	}
	row->is_plain = has_return;
}

/* Adds the row that is valid from `at` on. */
static bool put_row(struct compiler *c)
{
	struct row row = {.start = c->at, .cfa = c->now.cfa, .first_rule = (u32)c->rows->rules.n};

	if (!c->is_changed)
		return true;
	if (c->n_rows == ROWS_OF_FUNCTION)
		return false;
	for (unsigned i = 0; i < ROW_REGS; i++)
		if (c->now.regs[i].kind != ROW_SAME)
			vec_add(&c->rows->rules, c->now.regs[i]);
	row.n_rules = (u32)(c->rows->rules.n - row.first_rule);
	describe_rules(c, &row);
	vec_add(&c->rows->at, row);
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

/* Sets a rule. Registers that have none in rows (vectors) are skipped. */
static void set_rule(struct compiler *c, u64 reg, enum row_kind kind, s64 value)
{
	if (reg < ROW_REGS)
		c->now.regs[reg] = (struct row_rule){.reg = (u8)reg, .kind = kind, .value = value};
}

static bool set_register(struct compiler *c, u64 reg, u64 from)
{
	if (reg >= ROW_REGS)
		return true;
	if (from >= ROW_REGS)
		return false;
	c->now.regs[reg] =
		(struct row_rule){.reg = (u8)reg, .kind = ROW_REGISTER, .from = (u8)from};
	return true;
}

static bool take_expression(struct bytes *b, enum row_kind kind, struct row_rule *ret_rule)
{
	struct bytes expression;
	u64 size;

	if (!leb_u64(b, &size) || size > UINT32_MAX || !bytes_sub(b, size, &expression))
		return false;
	*ret_rule = (struct row_rule){.kind = kind, .size = (u32)size, .expression = expression.at};
	return true;
}

static bool set_expression(struct compiler *c, struct bytes *b, enum row_kind kind)
{
	struct row_rule rule;
	u64 reg;

	if (!leb_u64(b, &reg) || !take_expression(b, kind, &rule))
		return false;
	if (reg < ROW_REGS) {
		rule.reg = (u8)reg;
		c->now.regs[reg] = rule;
	}
	return true;
}

static bool set_cfa(struct compiler *c, u64 reg, s64 value)
{
	if (reg >= ROW_REGS)
		return false;
	c->now.cfa = (struct row_rule){.kind = ROW_REGISTER, .from = (u8)reg, .value = value};
	c->now.cfa_offset = value;
	return true;
}

static bool set_cfa_offset(struct compiler *c, s64 value)
{
	if (c->now.cfa.kind == ROW_UNDEFINED)
		return false;
	c->now.cfa_offset = value;
	if (c->now.cfa.kind == ROW_REGISTER)
		c->now.cfa.value = value;
	return true;
}

static void restore(struct compiler *c, u64 reg)
{
	if (reg < ROW_REGS)
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

/* Scales by the CIE's data alignment. No real code has a product larger than 64 bits. */
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
	/* SPARC's window save; on AArch64 it says that return addresses are signed from here on */
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
		return encoded_pointer(b, c->fde->cie.pointers, &c->fde->cie.bases, &delta) &&
			advance(c, delta);
	case OP_ADVANCE_LOC1:
		if (!bytes_u8(b, &one))
			return false;
		delta = one;
		break;
	case OP_ADVANCE_LOC2:
		if (!encoded_fixed(b, 2, false, &delta))
			return false;
		break;
	case OP_ADVANCE_LOC4:
		if (!encoded_fixed(b, 4, false, &delta))
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
		/* After an expression (libgcrypt's assembly) the last offset is used, as libgcc does. */
		return leb_u64(b, &reg) && c->now.cfa.kind != ROW_UNDEFINED &&
			set_cfa(c, reg, c->now.cfa_offset);
	case OP_DEF_CFA_OFFSET:
		return leb_u64(b, &u) && set_cfa_offset(c, (s64)u);
	case OP_DEF_CFA_OFFSET_SF:
		return take_scaled(c, b, true, &value) && set_cfa_offset(c, value);
	}
	return take_expression(b, ROW_VAL_EXPRESSION, &c->now.cfa);
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
		set_rule(c, reg, ROW_UNDEFINED, 0);
		return true;
	case OP_SAME_VALUE:
		set_rule(c, reg, ROW_SAME, 0);
		return true;
	case OP_RESTORE_EXTENDED:
		restore(c, reg);
		return true;
	case OP_REGISTER:
		return leb_u64(b, &from) && set_register(c, reg, from);
	case OP_GNU_NEGATIVE_OFFSET_EXTENDED:
		if (!take_scaled(c, b, false, &value) || value == INT64_MIN)
			return false;
		set_rule(c, reg, ROW_OFFSET, -value);
		return true;
	}
	if (!take_scaled(c, b, is_signed, &value))
		return false;
	set_rule(c, reg,
		op == OP_VAL_OFFSET || op == OP_VAL_OFFSET_SF ? ROW_VAL_OFFSET : ROW_OFFSET, value);
	return true;
}

/* Runs an instruction whose operation fills the whole byte. */
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
		return set_expression(c, b, ROW_EXPRESSION);
	case OP_VAL_EXPRESSION:
		return set_expression(c, b, ROW_VAL_EXPRESSION);
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
			set_rule(c, low, ROW_OFFSET, value);
		} else if (op >> 6 == 3) {
			restore(c, low);
		} else if (!run_long(c, op, &b)) {
			return false;
		}
		c->is_changed |= !is_advance && op != OP_NOP;
	}
	return true;
}

/* Fills in the function's rows, and lowers `end` if they do not reach so far. */
static void compile(struct rows *rows, const struct entry_fde *fde, struct rows_function *function)
{
	struct compiler *c = mem_alloc(sizeof(*c));

	/* Clears all but the remembered states, which are most of the structure. */
	memset(c, 0, offsetof(struct compiler, remembered));
	c->rows = rows;
	c->fde = fde;
	c->at = fde->start;
	function->first_row = (u32)rows->at.n;
	for (unsigned i = 0; i < ROW_REGS; i++)
		c->now.regs[i].reg = (u8)i;
	c->now.cfa.kind = ROW_UNDEFINED;
	c->is_changed = true;
	if (run(c, fde->cie.instructions)) {
		c->initial = c->now;
		/* An error in the middle keeps the rows before it. */
		if (!run(c, fde->instructions) || !put_row(c))
			function->end = c->at;
	}
	function->n_rows = c->n_rows;
	mem_free(c);
}

static void clear(struct rows *rows)
{
	rows->functions.n = rows->at.n = rows->rules.n = 0;
	table_clear(&rows->index);
}

void rows_fini(struct rows *rows)
{
	vec_fini(&rows->functions);
	vec_fini(&rows->at);
	vec_fini(&rows->rules);
	table_fini(&rows->index);
}

static u32 add_function(struct rows *rows, const struct cfi *cfi, const struct cfi_function *place,
	const struct entry_fde *fde, u64 hash, bool *ret_is_cleared)
{
	struct rows_function function = {.cfi = cfi,
		.entry = place->entry,
		.is_debug_frame = place->is_debug_frame,
		.start = fde->start,
		.end = fde->end,
		.covered_to = fde->end,
		.return_reg = fde->cie.return_reg,
		.is_signal = fde->cie.is_signal,
		.changes_stack = fde->cie.changes_stack};

	const u32 most = rows->most ? rows->most : RULES_CACHED;

	if (rows->rules.n > most || rows->at.n > most) {
		clear(rows);
		*ret_is_cleared = true;
	}
	if (function.return_reg < ROW_REGS)
		compile(rows, fde, &function);
	table_add(&rows->index, hash, rows->functions.n);
	vec_add(&rows->functions, function);
	return (u32)rows->functions.n - 1;
}

/* The function of an entry, compiled if it is new. TABLE_NONE: the entry does not cover rva. */
static u32 function_of(struct rows *rows, const struct cfi *cfi, const struct cfi_function *place,
	u64 rva, bool *ret_is_cleared)
{
	u64 hash = hash_mix(place->entry << 1 | place->is_debug_frame, (u64)(uintptr_t)cfi);
	struct table_probe probe = table_probe(&rows->index, hash);
	struct entry_fde fde;
	u32 i;

	while ((i = table_next(&rows->index, &probe)) != TABLE_NONE) {
		const struct rows_function *f = &rows->functions.at[i];

		if (f->cfi == cfi && f->entry == place->entry &&
			f->is_debug_frame == place->is_debug_frame)
			return rva >= f->start && rva < f->covered_to ? i : TABLE_NONE;
	}
	return cfi_take(cfi, place, rva, &fde)
		? add_function(rows, cfi, place, &fde, hash, ret_is_cleared)
		: TABLE_NONE;
}

bool rows_find(struct rows *rows, const struct cfi *cfi, u64 rva, u32 *ret_function, u32 *ret_row,
	bool *ret_is_cleared)
{
	struct cfi_function places[CFI_CANDIDATES];
	unsigned n = cfi_candidates(cfi, rva, places);
	const struct rows_function *function;
	u32 i = TABLE_NONE, next;

	for (unsigned k = 0; k < n && i == TABLE_NONE; k++)
		i = function_of(rows, cfi, &places[k], rva, ret_is_cleared);
	if (i == TABLE_NONE)
		return false;
	function = &rows->functions.at[i];
	if (!function->n_rows || rva >= function->end)
		return false;
	next = (u32)search_behind(&rows->at.at[function->first_row].start, function->n_rows,
		sizeof(*rows->at.at), rva);
	if (!next)
		return false;
	*ret_function = i;
	*ret_row = function->first_row + next - 1;
	return true;
}
