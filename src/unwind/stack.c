#include "unwind/stack.h"

#include "event/abi.h"
#include "unwind/bychain.h"
#include "unwind/bycode.h"
#include "unwind/byrow.h"
#include "unwind/prologue.h"
#include "unwind/flow.h"
#include "unwind/sigframe.h"

enum { REMEMBERED = 1 << 13 };

static void add_interrupted(struct stack *s, u64 ip)
{
	vec_add(&s->chain, (u64)PERF_CONTEXT_USER);
	vec_add(&s->chain, ip);
}

/*
 * A signal handler returns to the first instruction of a trampoline, which has called nothing: the
 * instruction before it belongs to another function.
 */
static void mark_trampoline(struct stack *s)
{
	u64 ip = s->chain.at[--s->chain.n];

	add_interrupted(s, ip);
}

/*
 * Steps one frame up by a row; or by the code, if the row says that a register's slot lies below the stack
 * pointer: an epilogue has popped it (compilers do not describe each pop).
 */
static enum stack_ending step_up(struct walk *w, const struct rows_function *code,
	const struct row *row, bool is_return)
{
	u64 regs[ROW_REGS], known = w->known, cfa = w->cfa;
	enum stack_ending ending;

	if (is_return)
		return byrow_step(w, code, row);
	memcpy(regs, w->regs, sizeof(regs));
	ending = byrow_step(w, code, row);
	if (!w->has_missed_below || ending == STACK_COMPLETE)
		return ending;
	if (ending == STACK_ENDINGS) {
		struct walk by_row = *w;

		memcpy(w->regs, regs, sizeof(regs));
		w->known = known;
		w->cfa = cfa;
		if (!bycode_edge(w, true))
			*w = by_row;
		return STACK_ENDINGS;
	}
	return bycode_edge(w, true) ? STACK_ENDINGS : ending;
}

/*
 * Whether a return address is a function's first instruction and no function ends before it with a
 * call: the address was planted, as for coroutines.
 */
static bool is_planted(struct walk *w, u32 *ret_code, u32 *ret_row)
{
	struct stack_bytes bytes;

	walk_look(w, w->regs[w->arch->ip], &bytes);
	if (bytes.at && prologue_is_returned_to(w->arch, &bytes))
		return false;
	return walk_find_row(w, w->regs[w->arch->ip], ret_code, ret_row) &&
		w->stack->rows.functions.at[*ret_code].start == w->code.rva;
}

/*
 * A function whose address was planted mostly has no caller. Go plants one between a
 * function called from C and the Go function that called C: there the row finds a return address that follows
 * a call.
 */
static bool step_out_of_planted(struct walk *w, const struct rows_function *code,
	const struct row *row)
{
	struct walk before = *w;
	struct stack_code caller;
	struct stack_bytes bytes;

	w->at = w->regs[w->arch->ip];
	if (byrow_step(w, code, row) == STACK_ENDINGS) {
		w->places->find(w->places->ctx, w->regs[w->arch->ip] - 1, &caller);
		walk_look(w, w->regs[w->arch->ip], &bytes);
		if (caller.is_code && bytes.at && prologue_is_returned_to(w->arch, &bytes))
			return true;
	}
	*w = before;
	return false;
}

static bool is_in_system_call(const struct walk *w)
{
	struct stack_bytes bytes;

	walk_look(w, w->regs[w->arch->ip], &bytes);
	return prologue_is_behind_system_call(w->arch, &bytes);
}

/*
 * Finds the row of a call, which precedes its return address. A trampoline that begins at the return
 * address was not called from the function before it.
 */
static bool find_caller_row(struct walk *w, u32 *ret_code, u32 *ret_row)
{
	struct stack_bytes bytes;

	if (!walk_find_row(w, w->at, ret_code, ret_row))
		return false;
	if (w->stack->rows.functions.at[*ret_code].end != w->code.rva + 1)
		return true;
	walk_look(w, w->at + 1, &bytes);
	return !sigframe_is_trampoline(w->arch, &bytes);
}

/*
 * In a process's first function the number of its arguments lies where other functions have their return
 * address; call frame information that a compiler made does not say so. `ip` is in the last function.
 */
static bool is_argc(const struct walk *w, u64 ip)
{
	enum { CODE_FIRST = 0x10000 }; /* below it the kernel maps nothing: vm.mmap_min_addr */

	return w->regs[w->arch->ip] < CODE_FIRST && bycode_is_entry(w, ip);
}

/* Walks on from the n-th frame. The first frame was interrupted. */
static enum stack_ending walk_on(struct walk *w, u32 n, u32 max_frames)
{
	bool is_return = n > 1, is_start = false;
	u32 code, row;

	for (;; n++) {
		u64 ip = w->regs[w->arch->ip] - is_return;
		enum stack_ending ending;

		w->at = ip;
		w->is_return = is_return;
		/* A thread in a system call is behind its instruction, which may be the function's last. */
		if ((is_return ? find_caller_row(w, &code, &row)
			       : walk_find_row(w, ip, &code, &row)) ||
			(n == 1 && is_in_system_call(w) &&
				walk_find_row(w, w->at = ip - 1, &code, &row))) {
			const struct rows_function *c = &w->stack->rows.functions.at[code];

			if (c->is_signal && is_return)
				mark_trampoline(w->stack);
			ending = step_up(w, c, &w->stack->rows.at.at[row], is_return);
			if (ending != STACK_ENDINGS &&
				(ending != STACK_NO_REGISTER || !bycode_step(w, is_return)))
				return ending;
			is_return = !c->is_signal;
		} else if (bycode_is_entry(w, w->regs[w->arch->ip]) ||
			(is_return && bycode_is_last(w))) {
			return STACK_COMPLETE;
		} else if (sigframe_step(w)) {
			if (is_return)
				mark_trampoline(w->stack);
			is_return = false;
		} else if (is_return && is_planted(w, &code, &row)) {
			mark_trampoline(w->stack);
			if (!step_out_of_planted(w, &w->stack->rows.functions.at[code],
				    &w->stack->rows.at.at[row]))
				return STACK_COMPLETE;
		} else if (bycode_step(w, is_return) || (is_start && bycode_by_frame_pointer(w))) {
			is_start = bycode_is_start(w, w->regs[w->arch->ip]);
			is_return = !is_start;
		} else {
			w->places->find(w->places->ctx, ip, &w->code);
			if (!w->code.is_code)
				return STACK_NO_MAP;
			/* A missing file may use its frame pointer for anything. */
			return w->has_missed_above && w->code.ending != STACK_NO_FILE
				? walk_ending_of_miss(w)
				: w->code.ending;
		}
		/* The ABIs mark the outermost frame this way where nothing else does. */
		if (!w->regs[w->arch->ip] || is_argc(w, ip))
			return STACK_COMPLETE;
		if (n == max_frames)
			return STACK_TOO_DEEP;
		if (is_return)
			vec_add(&w->stack->chain, w->regs[w->arch->ip]);
		else
			add_interrupted(w->stack, w->regs[w->arch->ip]);
		w->stack->n_frames++;
	}
}

static bool begin(struct walk *w, const struct stack_input *in)
{
	walk_take_regs(w, in);
	w->dump_start = w->cfa = w->regs[w->arch->sp];
	return walk_has(w, w->arch->sp) && walk_has(w, w->arch->ip);
}

/*
 * Whether the call frame information is probably wrong. That of hand-written assembly can be: glibc's memcpy
 * of i386 omits some of its pushes. If the first caller is not in code, or is 0, the code may give a better one.
 */
static bool is_told_falsely(const struct walk *w, enum stack_ending ending)
{
	size_t n = w->stack->chain.n;

	return (n == 3 && ending == STACK_NO_MAP) ||
		(n == 2 && ending == STACK_COMPLETE && !w->regs[w->arch->ip]);
}

static bool begin_by_code(struct walk *w, const struct stack_input *in)
{
	struct walk again = {.stack = w->stack,
		.arch = w->arch,
		.places = w->places,
		.dump = w->dump};
	struct stack_code code;

	begin(&again, in);
	again.at = again.regs[w->arch->ip];
	/* If the sampled address is in no code itself, its callers cannot be expected to be. */
	w->places->find(w->places->ctx, again.at, &code);
	if (!code.cfi || !bycode_step(&again, false))
		return false;
	*w = again;
	w->code = code;
	return true;
}

struct stack_end stack_walk(struct stack *s, const struct stack_input *in,
	const struct stack_places *places)
{
	struct walk w = {.stack = s, .places = places, .dump = in->stack};
	enum stack_ending ending;
	bool is_full;

	s->chain.n = 0;
	if (!in->arch || !in->arch->n_regs)
		return (struct stack_end){.ending = STACK_OTHER_ARCH};
	w.arch = in->arch;
	if (!begin(&w, in))
		return (struct stack_end){.ending = STACK_CORRUPT};
	add_interrupted(s, w.regs[w.arch->ip]);
	s->n_frames++;
	ending = walk_on(&w, 1, in->max_frames);
	if (is_told_falsely(&w, ending) && in->max_frames > 1 && begin_by_code(&w, in)) {
		s->n_frames += 3 - s->chain.n;
		s->chain.n = 2;
		vec_add(&s->chain, w.regs[w.arch->ip]);
		ending = walk_on(&w, 2, in->max_frames);
	}
	if (ending == STACK_DUMP_TOO_SMALL || ending == STACK_NOT_COPIED)
		ending = bychain_walk(&w, in, ending);
	is_full = in->stack->dyn_size + w.arch->word > in->stack->bytes.n;
	return (struct stack_end){ending, w.code.dso, w.dump_start,
		is_full ? w.cfa : w.dump_start + in->stack->dyn_size};
}

void stack_init(struct stack *s)
{
	memset(s, 0, sizeof(*s));
	s->memo = memo_of(REMEMBERED);
}

void stack_fini(struct stack *s)
{
	rows_fini(&s->rows);
	memo_fini(&s->memo);
	flow_memo_free(s->flows);
	vec_fini(&s->remembered);
	vec_fini(&s->chain);
}
