#include "unwind/bycode.h"

#include "unwind/prologue.h"
#include "unwind/outermost.h"
#include "unwind/flow.h"

/* Whether ip can be a return address: a call precedes it. */
static bool is_returned_to(const struct walk *w, u64 ip)
{
	struct stack_code code;
	struct stack_bytes bytes;

	w->places->find(w->places->ctx, ip - 1, &code);
	if (!code.is_code)
		return false;
	walk_look(w, ip, &bytes);
	return prologue_is_returned_to(w->arch, &bytes) || outermost_is_goexit(w->arch, &bytes);
}

/* Moves the walk to the caller that `edge` describes. */
static bool take_edge(struct walk *w, const struct prologue *edge, u64 ip)
{
	u64 sp = edge->regs[w->arch->sp];

	ip &= w->arch->va_mask;
	if (sp < w->cfa || !is_returned_to(w, ip))
		return false;
	memcpy(w->regs, edge->regs, sizeof(w->regs));
	w->known = *edge->known;
	w->regs[w->arch->ip] = ip;
	w->cfa = sp;
	return true;
}

/* Prepares to run the code at the last frame's instruction on a copy of its registers. */
static struct prologue prologue_of(struct walk *w, u64 *regs, u64 *known)
{
	return (struct prologue){.arch = w->arch,
		.regs = regs,
		.known = known,
		.read = walk_read,
		.ctx = w};
}

/*
 * Steps out of a function in code without a file that is suspended in a call and returns soon after it. The
 * trampolines by which Python gives each function a name (-X perf) keep no frame pointer: the register holds
 * another function's.
 */
static bool step_out_of_generated(struct walk *w)
{
	u64 regs[ROW_REGS], known = w->known, to;
	struct prologue edge = prologue_of(w, regs, &known);

	if (!w->places->peek || !w->arch->code)
		return false;
	memcpy(regs, w->regs, sizeof(regs));
	w->places->peek(w->places->ctx, w->regs[w->arch->ip], &edge.code);
	return edge.code.at && prologue_return(&edge, &to) && take_edge(w, &edge, to);
}

bool bycode_edge(struct walk *w, bool is_end_only)
{
	u64 regs[ROW_REGS], known = w->known, ip = w->regs[w->arch->ip], to;
	struct prologue edge = prologue_of(w, regs, &known);

	walk_look(w, ip, &edge.code);
	if (!edge.code.at)
		return false;
	memcpy(regs, w->regs, sizeof(regs));
	if (prologue_return(&edge, &to) && take_edge(w, &edge, to))
		return true;
	memcpy(regs, w->regs, sizeof(regs));
	known = w->known;
	return !is_end_only && prologue_entry(&edge, &to) && take_edge(w, &edge, to);
}

/* Steps out of a function that has made no frame: the return address is where the call left it. */
static bool step_out_of_leaf(struct walk *w, const struct stack_bytes *code, bool must_be_called)
{
	u64 at = w->regs[w->arch->ip], to, sp = w->regs[w->arch->sp];
	bool is_linked = w->arch->link != ARCH_NO_REG;
	struct stack_bytes caller;

	if (is_linked && !walk_has(w, w->arch->link))
		return false;
	if (is_linked)
		to = w->regs[w->arch->link];
	else if (!walk_read(w, sp, w->arch->word, &to))
		return false;
	to &= w->arch->va_mask;
	walk_look(w, to, &caller);
	if (!is_returned_to(w, to) ||
		(must_be_called &&
			prologue_call(w->arch, &caller, to, at - code->into) != PROLOGUE_CALL_HERE))
		return false;
	w->regs[w->arch->sp] = w->cfa = sp + (is_linked ? 0 : w->arch->word);
	w->regs[w->arch->ip] = to;
	return true;
}

/*
 * Whether the frame that the frame pointer points to is the last function's own. If it were another
 * function's, the last function's return address would lie below it.
 */
static bool is_own_frame(struct walk *w, u64 frame)
{
	enum { WORDS_MAX = 512 };
	u64 word = w->arch->word, v;

	if (frame - w->regs[w->arch->sp] > WORDS_MAX * word)
		return false;
	for (u64 va = w->regs[w->arch->sp]; va < frame; va += word)
		if (walk_read(w, va, (unsigned)word, &v) && is_returned_to(w, v & w->arch->va_mask))
			return false;
	return true;
}

/*
 * Steps one frame up by the frame pointer: the caller's is next to the return address. If it is uncertain
 * that the function (which begins at `function`) keeps a frame pointer, the call must be a call of this
 * function, or the frame must be its own.
 */
static bool step_by_frame_pointer(struct walk *w, bool is_sure, u64 function)
{
	u8 word = w->arch->word, fp = w->arch->fp, sp = w->arch->sp;
	u64 frame = w->regs[fp], caller, ip;
	struct stack_bytes code;

	if (!walk_has(w, fp) || frame < w->regs[sp] || frame + 2 * word < w->cfa || frame % word)
		return false;
	if (!walk_read(w, frame, word, &caller) || !walk_read(w, frame + word, word, &ip))
		return false;
	ip &= w->arch->va_mask;
	if (!is_returned_to(w, ip))
		return false;
	walk_look(w, ip, &code);
	if (!is_sure && prologue_call(w->arch, &code, ip, function) != PROLOGUE_CALL_HERE &&
		!(w->arch->link == ARCH_NO_REG && is_own_frame(w, frame)))
		return false;
	w->regs[fp] = caller;
	w->regs[sp] = w->cfa = frame + 2 * word;
	w->regs[w->arch->ip] = ip;
	w->known = 1ull << fp | 1ull << sp | 1ull << w->arch->ip;
	return true;
}

bool bycode_by_frame_pointer(struct walk *w)
{
	return step_by_frame_pointer(w, true, 0);
}

bool bycode_is_start(const struct walk *w, u64 ip)
{
	struct stack_bytes code;

	walk_look(w, ip, &code);
	return code.at && !code.into && !prologue_is_returned_to(w->arch, &code);
}

bool bycode_is_entry(const struct walk *w, u64 ip)
{
	struct stack_bytes code;

	walk_look(w, ip, &code);
	return code.is_entry;
}

bool bycode_is_last(const struct walk *w)
{
	struct stack_bytes code;

	walk_look(w, w->regs[w->arch->ip], &code);
	return outermost_is_exit(w->arch, &code) || outermost_is_goexit(w->arch, &code);
}

/*
 * Steps up by what all instructions of the function up to this one have done to the stack. The other
 * registers are unknown afterwards: functions without call frame information may have changed them.
 */
static bool step_by_flow(struct walk *w, const struct stack_bytes *code)
{
	u8 word = w->arch->word, fp = w->arch->fp, sp = w->arch->sp;
	u64 by_sp, by_fp, slot, ip, caller = w->regs[fp];
	struct flow flow;

	if (!w->stack->flows)
		w->stack->flows = flow_memo_new();
	if (!flow_recall(w->stack->flows, w->arch, code, &flow))
		return false;
	by_sp = w->regs[sp] + (u64)flow.sp;
	by_fp = w->regs[fp] + (u64)flow.fp;
	/* If the frame pointer's value is unknown, the stack pointer is enough. */
	if (flow.fp != FLOW_UNKNOWN && !walk_has(w, fp))
		flow.fp = FLOW_UNKNOWN;
	if (flow.sp == FLOW_UNKNOWN && flow.fp == FLOW_UNKNOWN)
		return false;
	slot = flow.sp != FLOW_UNKNOWN ? by_sp : by_fp;
	if (flow.sp != FLOW_UNKNOWN && flow.fp != FLOW_UNKNOWN && by_sp != by_fp)
		return false;
	if (slot < w->regs[sp] || slot + word < w->cfa || !walk_read(w, slot, word, &ip))
		return false;
	ip &= w->arch->va_mask;
	if (!is_returned_to(w, ip) && !bycode_is_start(w, ip))
		return false;
	w->known &= 1ull << fp;
	if (flow.saved == FLOW_UNKNOWN ||
		(flow.saved && !walk_read(w, slot - (u64)flow.saved, word, &caller)))
		w->known = 0;
	else if (flow.saved)
		w->known = 1ull << fp;
	w->regs[fp] = caller;
	w->regs[sp] = w->cfa = slot + word;
	w->regs[w->arch->ip] = ip;
	w->known |= 1ull << sp | 1ull << w->arch->ip;
	return true;
}

bool bycode_step(struct walk *w, bool is_return)
{
	struct stack_bytes code;
	u64 at = w->regs[w->arch->ip];
	enum arch_frame frame;

	/* The call may be followed by nothing but the function's end (_init). */
	if (bycode_edge(w, is_return))
		return true;
	w->has_missed_above = false;
	walk_look(w, at, &code);
	/* Generated code mostly keeps frame pointers; other code has to prove it. */
	if (code.into == STACK_START_UNKNOWN && is_return && !code.n_after &&
		step_out_of_generated(w))
		return true;
	if (code.into == STACK_START_UNKNOWN)
		return step_by_frame_pointer(w, is_return || !code.at, 0);
	if (step_by_flow(w, &code))
		return true;
	/* The place of the return address is known, but it was not recorded. */
	if (w->has_missed_above)
		return false;
	frame = prologue_frame(w->arch, &code);
	/* A function that is suspended in a call has made its frame before it, if it ever makes one. */
	if (frame == ARCH_FRAME_MADE || (is_return && frame == ARCH_FRAME_SOMETIMES))
		return step_by_frame_pointer(w, true, 0);
	if (!is_return && step_out_of_leaf(w, &code, frame != ARCH_FRAME_LEAF))
		return true;
	if (frame == ARCH_FRAME_LEAF)
		return false;
	if (step_by_frame_pointer(w, false, at - code.into))
		return true;
	/* The frame pointer need not point to a frame: nothing says that a larger dump would help. */
	w->has_missed_above = false;
	return false;
}
