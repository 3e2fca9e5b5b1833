#include "unwind/bychain.h"

#include "event/abi.h"
#include "unwind/bycode.h"
#include "unwind/prologue.h"
#include "unwind/outermost.h"

/* The kernel's addresses in user code: the interrupted one, then return addresses. */
struct frames {
	const u8 *at;
	u64 n;
};

static u64 frame_at(const struct frames *f, u64 i)
{
	return load_u64(f->at + 8 * i);
}

/* The addresses behind the last marker of user code; all chains have one. */
static struct frames user_frames(const struct sample_words *chain)
{
	struct frames f = {0};

	for (u64 i = 0; i < chain->n; i++) {
		u64 word = load_u64(chain->at + 8 * i);

		if (word == PERF_CONTEXT_USER)
			f = (struct frames){chain->at + 8 * (i + 1), 0};
		else if (word >= PERF_CONTEXT_MAX)
			f = (struct frames){0};
		else if (f.at)
			f.n++;
	}
	return f;
}

static bool pointer_of_sample(const struct walk *w, const struct stack_input *in, u64 *ret_v)
{
	struct walk first = {.arch = w->arch};

	walk_take_regs(&first, in);
	*ret_v = first.regs[w->arch->fp];
	return walk_has(&first, w->arch->fp);
}

/*
 * Whether this is a Go function suspended in a call: the top of its frame holds its caller's frame pointer.
 */
static bool has_silent_frame(const struct walk *w, const struct row *row, bool is_return)
{
	return is_return && w->code.cfi->keeps_pointers && row->cfa.kind == ROW_REGISTER &&
		row->cfa.from == w->arch->sp && row->cfa.value >= 2 * w->arch->word;
}

/* The frame pointer's value in the last frame. */
static bool pointer_of_walk(struct walk *w, u64 *ret_v)
{
	u32 function, row;

	*ret_v = w->regs[w->arch->fp];
	if (walk_find_row(w, w->regs[w->arch->ip] - w->is_return, &function, &row)) {
		const struct row *r = &w->stack->rows.at.at[row];

		if (has_silent_frame(w, r, w->is_return)) {
			*ret_v = w->regs[w->arch->sp] + (u64)r->cfa.value - 2 * w->arch->word;
			return true;
		}
	}
	return walk_has(w, w->arch->fp);
}

/*
 * Finds which of the kernel's frames the walk's frame pointer points to; its return address is the next one
 * in the chain. The frame pointers are followed again inside the dump and must lead to the same addresses.
 */
static bool find_frame(struct walk *w, const struct stack_input *in, const struct frames *f,
	u64 *ret_frame)
{
	u8 word = w->arch->word;
	u64 at, next, ip, wanted;

	if (!pointer_of_walk(w, &wanted) || !pointer_of_sample(w, in, &at))
		return false;
	for (u64 i = 0; i + 1 < f->n; i++) {
		if (at == wanted) {
			*ret_frame = i;
			return true;
		}
		if (!walk_read(w, at, word, &next) || !walk_read(w, at + word, word, &ip) ||
			ip != frame_at(f, i + 1) || next <= at)
			return false;
		at = next;
	}
	return false;
}

enum say { SAYS_ARCH_NO_REG, SAYS_FRAME, SAYS_ROOT };

/* Whether the row finds the CFA, and with it what a call pushed, by the frame pointer alone. */
static enum say say_of_row(const struct walk *w, const struct rows_function *code,
	const struct row *row, bool is_return)
{
	const struct row_rule *rule = w->stack->rows.rules.at + row->first_rule;
	s64 word = w->arch->word;
	bool has_pointer = false, has_return = false;

	if (code->is_signal)
		return SAYS_ARCH_NO_REG;
	for (u32 i = 0; i < row->n_rules; i++, rule++) {
		bool is_slot = rule->kind == ROW_OFFSET;

		if (rule->reg == code->return_reg && rule->kind == ROW_UNDEFINED)
			return SAYS_ROOT;
		has_pointer |= rule->reg == w->arch->fp && is_slot && rule->value == -2 * word;
		has_return |= rule->reg == code->return_reg && is_slot && rule->value == -word;
	}
	if (has_silent_frame(w, row, is_return))
		return SAYS_FRAME;
	return has_pointer && has_return && row->cfa.kind == ROW_REGISTER &&
			row->cfa.from == w->arch->fp && row->cfa.value == 2 * word
		? SAYS_FRAME
		: SAYS_ARCH_NO_REG;
}

/* Whether the code of a function without call frame information has made a frame before the call it is in. */
static bool has_made_frame(const struct walk *w, bool is_return)
{
	struct stack_bytes code;
	enum arch_frame frame;

	walk_look(w, w->regs[w->arch->ip], &code);
	if (!code.at || code.into == STACK_START_UNKNOWN)
		return false;
	frame = prologue_frame(w->arch, &code);
	return frame == ARCH_FRAME_MADE || (is_return && frame == ARCH_FRAME_SOMETIMES);
}

static bool may_be_returned_to(const struct walk *w, u64 ip)
{
	struct stack_code code;
	struct stack_bytes bytes;

	w->places->find(w->places->ctx, ip - 1, &code);
	walk_look(w, ip, &bytes);
	return code.is_code &&
		(prologue_is_returned_to(w->arch, &bytes) || outermost_is_goexit(w->arch, &bytes));
}

/* What is known of the last frame's function at the point where it was left. */
static enum say ask(struct walk *w, bool is_return)
{
	struct stack_bytes bytes;
	u32 function, row;

	w->at = w->regs[w->arch->ip] - is_return;
	if (walk_find_row(w, w->at, &function, &row)) {
		const struct rows *rows = &w->stack->rows;

		return say_of_row(w, &rows->functions.at[function], &rows->at.at[row], is_return);
	}
	walk_look(w, w->regs[w->arch->ip], &bytes);
	if (bycode_is_entry(w, w->regs[w->arch->ip]) || (is_return && bycode_is_last(w)))
		return SAYS_ROOT;
	return has_made_frame(w, is_return) ? SAYS_FRAME : SAYS_ARCH_NO_REG;
}

enum stack_ending bychain_walk(struct walk *w, const struct stack_input *in,
	enum stack_ending ending)
{
	struct frames f = in->chain ? user_frames(in->chain) : (struct frames){0};
	bool is_return = w->is_return, is_main = false;
	struct stack_bytes bytes;
	u64 frame;

	/* Where calls leave return addresses in a register, frames do not show which functions keep them. */
	if (w->arch->link != ARCH_NO_REG || !find_frame(w, in, &f, &frame))
		return ending;
	for (; !is_main; frame++, is_return = true) {
		enum say say = ask(w, is_return);
		u64 ip;

		if (say == SAYS_ROOT)
			return STACK_COMPLETE;
		if (say == SAYS_ARCH_NO_REG || frame + 1 >= f.n)
			return ending;
		ip = frame_at(&f, frame + 1) & w->arch->va_mask;
		if (!may_be_returned_to(w, ip))
			return ending;
		if (w->stack->chain.n > in->max_frames)
			return STACK_TOO_DEEP;
		walk_look(w, w->regs[w->arch->ip], &bytes);
		is_main = bytes.is_main;
		w->regs[w->arch->ip] = ip;
		vec_add(&w->stack->chain, ip);
		w->stack->n_frames++;
	}
	/* The start-up code that calls main keeps no frame pointer, and has no caller. */
	return STACK_COMPLETE;
}
