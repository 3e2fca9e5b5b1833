#include "unwind/byrow.h"

#include "unwind/expression.h"

static bool eval(struct walk *w, const struct row_rule *rule, const u64 *first, u64 *ret_v)
{
	struct expression_world world = {.regs = w->regs,
		.known = w->known,
		.n_regs = ROW_REGS,
		.address_size = w->arch->word,
		.read = walk_read,
		.ctx = w,
		.bias = w->at - w->code.rva};

	return expression_eval(bytes_of(rule->expression, rule->size), &world, first, ret_v);
}

static bool find_cfa(struct walk *w, const struct row_rule *rule, u64 *ret_cfa)
{
	if (rule->kind == ROW_REGISTER) {
		if (!walk_has(w, rule->from))
			return false;
		*ret_cfa = w->regs[rule->from] + (u64)rule->value;
		return true;
	}
	return rule->kind == ROW_VAL_EXPRESSION && eval(w, rule, NULL, ret_cfa);
}

/* The caller's value of a register. */
static bool value_of(struct walk *w, const struct row_rule *rule, u64 cfa, u64 *ret_v)
{
	u64 va;

	switch ((enum row_kind)rule->kind) {
	case ROW_SAME:
		if (!walk_has(w, rule->reg))
			return false;
		*ret_v = w->regs[rule->reg];
		return true;
	case ROW_UNDEFINED:
		return false;
	case ROW_OFFSET:
		va = cfa + (u64)rule->value;
		/* Rows still give a slot that an epilogue has popped: the value is back in its register. */
		if (va < w->dump_start && walk_has(w, rule->reg) && rule->reg != w->arch->ip) {
			w->has_missed_below = true;
			*ret_v = w->regs[rule->reg];
			return true;
		}
		return walk_read(w, va, w->arch->word, ret_v);
	case ROW_VAL_OFFSET:
		*ret_v = cfa + (u64)rule->value;
		return true;
	case ROW_REGISTER:
		if (!walk_has(w, rule->from))
			return false;
		*ret_v = w->regs[rule->from];
		return true;
	case ROW_EXPRESSION:
		return eval(w, rule, &cfa, &va) && walk_read(w, va, w->arch->word, ret_v);
	case ROW_VAL_EXPRESSION:
		return eval(w, rule, &cfa, ret_v);
	}
	return false;
}

/*
 * Steps one frame up by a plain row whose registers are all in the dump. Returns false, with nothing
 * changed, if they are not or something is unusual. per frame
 */
static bool plain_step(struct walk *w, const struct row *row)
{
	const struct row_rule *rule = w->stack->rows.rules.at + row->first_rule;
	const struct arch *arch = w->arch;
	u64 n = w->dump->dyn_size, cfa, at, known, ip;
	const u8 *bytes;

	if (arch->word != 8 || !walk_has(w, row->cfa.from))
		return false;
	cfa = w->regs[row->cfa.from] + (u64)row->cfa.value;
	at = cfa - w->dump_start;
	if (cfa < w->cfa || cfa < w->dump_start || at > n || (s64)at + row->lowest < 0 ||
		(s64)at + row->highest + 8 > (s64)n)
		return false;
	bytes = (const u8 *)w->dump->bytes.at + at;
	ip = load_u64(bytes + row->return_at) & arch->va_mask;
	if (cfa == w->cfa && ip == w->regs[arch->ip])
		return false;
	known = w->known | 1ull << arch->sp | 1ull << arch->ip;
	w->regs[arch->sp] = cfa;
	for (u32 i = 0; i < row->n_rules; i++, rule++) {
		w->regs[rule->reg] = load_u64(bytes + rule->value);
		known |= 1ull << rule->reg;
	}
	w->regs[arch->ip] = ip;
	w->known = known;
	w->cfa = cfa;
	w->has_missed_above = w->has_missed_below = false;
	return true;
}

/*
 * Steps one frame up by a row. Returns STACK_ENDINGS, or why there was no step. A frame that lies below
 * its callee's is not on this stack.
 */
enum stack_ending byrow_step(struct walk *w, const struct rows_function *code,
	const struct row *row)
{
	const struct row_rule *rules =
		row->n_rules ? w->stack->rows.rules.at + row->first_rule : NULL;
	u8 sp = w->arch->sp;
	bool has_return = false;
	u64 values[ROW_REGS], known = w->known & ~(1ull << w->arch->ip), cfa, ip;

	if (row->is_plain && !code->is_signal && plain_step(w, row))
		return STACK_ENDINGS;
	w->has_missed_above = w->has_missed_below = false;
	if (row->cfa.kind == ROW_REGISTER && !walk_has(w, row->cfa.from))
		return STACK_NO_REGISTER;
	if (!find_cfa(w, &row->cfa, &cfa))
		return walk_ending_of_miss(w);
	if (cfa < w->cfa && !code->is_signal)
		return code->changes_stack ? STACK_ELSEWHERE : STACK_CORRUPT;
	known |= 1ull << sp;
	ip = w->regs[code->return_reg];
	for (u32 i = 0; i < row->n_rules; i++) {
		const struct row_rule *rule = &rules[i];
		bool is_return = rule->reg == code->return_reg;

		if (is_return && rule->kind == ROW_UNDEFINED)
			return code->changes_stack ? STACK_ELSEWHERE : STACK_COMPLETE;
		known &= ~(1ull << rule->reg);
		if (value_of(w, rule, cfa, &values[i]))
			known |= 1ull << rule->reg;
		else if (is_return)
			return code->changes_stack ? STACK_ELSEWHERE : walk_ending_of_miss(w);
		if (is_return)
			ip = values[i];
		has_return |= is_return;
	}
	/* Without a rule the return address is still where the call left it. */
	if (!has_return && (code->return_reg != w->arch->link || !walk_has(w, w->arch->link)))
		return STACK_CORRUPT;
	ip &= w->arch->va_mask;
	if (cfa == w->cfa && ip == w->regs[w->arch->ip])
		return STACK_CORRUPT;
	w->regs[sp] = cfa;
	/* All rules refer to the callee's registers, so these change only now. */
	for (u32 i = 0; i < row->n_rules; i++)
		if (known >> rules[i].reg & 1)
			w->regs[rules[i].reg] = values[i];
	w->cfa = cfa;
	if (code->is_signal)
		walk_go_to_interrupted(w);
	w->regs[w->arch->ip] = ip;
	w->known = known | 1ull << w->arch->ip;
	return STACK_ENDINGS;
}
