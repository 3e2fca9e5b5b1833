#include "unwind/stack.h"

#include "base/hash.h"
#include "event/abi.h"
#include "unwind/edge.h"
#include "unwind/expression.h"

enum { REMEMBERED = 1 << 13 };

/* ---- architectures ---- */

static const u8 x86_64_regs[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 255, 255, 255, 255, 255, 255, 255, 8,
	9, 10, 11, 12, 13, 14, 15};
static const u8 i386_regs[] = {0, 3, 1, 2, 6, 7, 5, 4, 8};
static const u8 arm64_regs[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
	19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

static const struct arch {
	const u8 *dwarf; /* by the number in sample masks */
	u8 n_regs;
	u8 sp, fp, ip; /* DWARF numbers; ip: where the sampled address is put */
	u8 link;       /* where a call leaves its return address; 255: on the stack */
	u8 word;
	u64 code; /* bits of an address that are address: the others sign it (pointer authentication) */
} archs[] = {
	[STACK_X86_64] = {x86_64_regs, ARRAY_SIZE(x86_64_regs), 7, 6, 16, 255, 8, UINT64_MAX},
	[STACK_I386] = {i386_regs, ARRAY_SIZE(i386_regs), 4, 5, 8, 255, 4, UINT32_MAX},
	[STACK_ARM64] = {arm64_regs, ARRAY_SIZE(arm64_regs), 31, 29, 32, 30, 8, (1ull << 48) - 1},
};

enum stack_arch stack_arch_of(const char *machine, u64 regs_abi)
{
	static const struct {
		const char *machine;
		enum stack_arch of_64, of_32;
	} known[] = {
		{"x86_64", STACK_X86_64, STACK_I386},
		{"i386", STACK_OTHER, STACK_I386},
		{"i586", STACK_OTHER, STACK_I386},
		{"i686", STACK_OTHER, STACK_I386},
		{"aarch64", STACK_ARM64, STACK_OTHER},
		{"arm64", STACK_ARM64, STACK_OTHER},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].machine, machine))
			return regs_abi == PERF_SAMPLE_REGS_ABI_64    ? known[i].of_64
				: regs_abi == PERF_SAMPLE_REGS_ABI_32 ? known[i].of_32
								      : STACK_OTHER;
	return STACK_OTHER;
}

/* ---- one walk ---- */

struct walk {
	struct stack *stack;
	const struct arch *arch;
	enum stack_arch number; /* arch's */
	const struct stack_places *places;
	const struct sample_stack *dump;
	u64 dump_start;
	u64 regs[ROW_REGS];
	u64 known; /* bit n: regs[n] */
	u64 cfa;
	u64 at; /* what was looked up for the last frame: an instruction of its call */
	bool has_missed_above;  /* a read failed because the dump ends before it */
	bool has_left;          /* the last frames are not on the stack that was dumped */
	bool has_missed_below;  /* a register's place lies below the stack pointer */
	struct stack_code code; /* of the last frame */
};

static bool has(const struct walk *w, unsigned reg)
{
	return reg < ROW_REGS && w->known >> reg & 1;
}

/* Behind the end of the dump. One that is not full ends where the stack does. */
static bool is_cut_off(const struct walk *w, u64 va)
{
	u64 n = w->dump->dyn_size;

	return va - w->dump_start < n + (64 << 20) && n + 8 > w->dump->bytes.n;
}

static bool read_stack(void *ctx, u64 va, unsigned size, u64 *ret_v)
{
	struct walk *w = ctx;
	u64 at = va - w->dump_start, n = w->dump->dyn_size;
	u64 v = 0;

	if (va < w->dump_start) {
		w->has_missed_below = true;
		return false;
	}
	if (n < size || at > n - size) {
		w->has_missed_above |= is_cut_off(w, va);
		return false;
	}
	memcpy(&v, (const u8 *)w->dump->bytes.at + at, size);
	*ret_v = v;
	return true;
}

static void take_regs(struct walk *w, const struct stack_input *in)
{
	u64 k = 0;

	for (unsigned bit = 0; bit < 64 && k < in->regs->values.n; bit++) {
		if (!(in->mask >> bit & 1))
			continue;
		if (bit < w->arch->n_regs && w->arch->dwarf[bit] < ROW_REGS) {
			w->regs[w->arch->dwarf[bit]] = load_u64(in->regs->values.at + 8 * k);
			w->known |= 1ull << w->arch->dwarf[bit];
		}
		k++;
	}
}

static bool eval(struct walk *w, const struct row_rule *rule, const u64 *first, u64 *ret_v)
{
	struct expression_world world = {.regs = w->regs,
		.known = w->known,
		.n_regs = ROW_REGS,
		.address_size = w->arch->word,
		.read = read_stack,
		.ctx = w,
		.bias = w->at - w->code.rva};

	return expression_eval(bytes_of(rule->expression, rule->size), &world, first, ret_v);
}

static bool find_cfa(struct walk *w, const struct row_rule *rule, u64 *ret_cfa)
{
	if (rule->kind == ROW_REGISTER) {
		if (!has(w, rule->from))
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
		if (!has(w, rule->reg))
			return false;
		*ret_v = w->regs[rule->reg];
		return true;
	case ROW_UNDEFINED:
		return false;
	case ROW_OFFSET:
		va = cfa + (u64)rule->value;
		/* Rows keep telling of a slot that an epilogue has emptied: the register has it again. */
		if (va < w->dump_start && has(w, rule->reg) && rule->reg != w->arch->ip) {
			w->has_missed_below = true;
			*ret_v = w->regs[rule->reg];
			return true;
		}
		return read_stack(w, va, w->arch->word, ret_v);
	case ROW_VAL_OFFSET:
		*ret_v = cfa + (u64)rule->value;
		return true;
	case ROW_REGISTER:
		if (!has(w, rule->from))
			return false;
		*ret_v = w->regs[rule->from];
		return true;
	case ROW_EXPRESSION:
		return eval(w, rule, &cfa, &va) && read_stack(w, va, w->arch->word, ret_v);
	case ROW_VAL_EXPRESSION:
		return eval(w, rule, &cfa, ret_v);
	}
	return false;
}

/* Why a value that should be in memory is not there. */
static enum stack_ending ending_of_miss(const struct walk *w)
{
	return !w->dump->dyn_size     ? STACK_NOT_COPIED
		: w->has_left         ? STACK_ELSEWHERE
		: w->has_missed_above ? STACK_DUMP_TOO_SMALL
				      : STACK_CORRUPT;
}

/*
 * One frame up by a row. STACK_ENDINGS: it is done; else why it is not. A frame that lies below its
 * callee's is not on this stack.
 */
static enum stack_ending step_by_row(struct walk *w, const struct rows_function *code,
	const struct row *row)
{
	const struct row_rule *rules =
		row->n_rules ? w->stack->rows.rules.at + row->first_rule : NULL;
	u8 sp = w->arch->sp;
	bool has_return = false;
	u64 values[ROW_REGS], known = w->known & ~(1ull << w->arch->ip), cfa, ip, sp_now;

	w->has_missed_above = w->has_missed_below = false;
	if (!find_cfa(w, &row->cfa, &cfa))
		return ending_of_miss(w);
	if (cfa < w->cfa && !code->is_signal)
		return STACK_CORRUPT;
	known |= 1ull << sp;
	ip = w->regs[code->return_reg];
	for (u32 i = 0; i < row->n_rules; i++) {
		const struct row_rule *rule = &rules[i];
		bool is_return = rule->reg == code->return_reg;

		if (is_return && rule->kind == ROW_UNDEFINED)
			return STACK_COMPLETE;
		known &= ~(1ull << rule->reg);
		if (value_of(w, rule, cfa, &values[i]))
			known |= 1ull << rule->reg;
		else if (is_return)
			return ending_of_miss(w);
		if (is_return)
			ip = values[i];
		has_return |= is_return;
	}
	/* Without a rule the return address is still where the call put it. */
	if (!has_return && (code->return_reg != w->arch->link || !has(w, w->arch->link)))
		return STACK_CORRUPT;
	ip &= w->arch->code;
	if (cfa == w->cfa && ip == w->regs[w->arch->ip])
		return STACK_CORRUPT;
	w->regs[sp] = cfa;
	/* All rules are about the callee's registers: they change only now. */
	for (u32 i = 0; i < row->n_rules; i++)
		if (known >> rules[i].reg & 1)
			w->regs[rules[i].reg] = values[i];
	sp_now = w->regs[sp];
	w->cfa = code->is_signal ? sp_now : cfa;
	w->has_left |= code->is_signal && sp_now - w->dump_start >= w->dump->dyn_size &&
		(sp_now < w->dump_start || !is_cut_off(w, sp_now));
	w->regs[w->arch->ip] = ip;
	w->known = known | 1ull << w->arch->ip;
	return STACK_ENDINGS;
}

/* ---- without rows ---- */

static void look(const struct walk *w, u64 ip, struct stack_bytes *ret_bytes)
{
	*ret_bytes = (struct stack_bytes){.into = STACK_START_UNKNOWN};
	if (w->places->look)
		w->places->look(w->places->ctx, ip, ret_bytes);
}

/* Whether it makes sense that a function returns there: the call is before it. */
static bool is_returned_to(const struct walk *w, u64 ip)
{
	struct stack_code code;
	struct stack_bytes bytes;

	w->places->find(w->places->ctx, ip - 1, &code);
	if (!code.is_code)
		return false;
	look(w, ip, &bytes);
	return edge_is_returned_to(w->number, &bytes);
}

/* The caller is what `edge` has become. */
static bool take_edge(struct walk *w, const struct edge *edge, u64 ip)
{
	u64 sp = edge->regs[w->arch->sp];

	ip &= w->arch->code;
	if (sp < w->cfa || !is_returned_to(w, ip))
		return false;
	memcpy(w->regs, edge->regs, sizeof(w->regs));
	w->known = *edge->known;
	w->regs[w->arch->ip] = ip;
	w->cfa = sp;
	return true;
}

/* A function that was interrupted where its own code says how to get out of it. */
static bool step_by_edge(struct walk *w, bool is_end_only)
{
	u64 regs[ROW_REGS], known = w->known, ip = w->regs[w->arch->ip], to;
	struct edge edge = {.arch = w->number,
		.sp = w->arch->sp,
		.fp = w->arch->fp,
		.link = w->arch->link,
		.word = w->arch->word,
		.regs = regs,
		.known = &known,
		.read = read_stack,
		.ctx = w};

	look(w, ip, &edge.code);
	if (!edge.code.at)
		return false;
	memcpy(regs, w->regs, sizeof(regs));
	if (edge_return(&edge, &to) && take_edge(w, &edge, to))
		return true;
	memcpy(regs, w->regs, sizeof(regs));
	known = w->known;
	return !is_end_only && edge_entry(&edge, &to) && take_edge(w, &edge, to);
}

/* A function that has not made a frame: the return address is where the call left it. */
static bool step_out_of_leaf(struct walk *w, const struct stack_bytes *code, bool must_be_called)
{
	u64 at = w->regs[w->arch->ip], to, sp = w->regs[w->arch->sp];
	bool is_linked = w->arch->link != 255;
	struct stack_bytes caller;

	if (is_linked && !has(w, w->arch->link))
		return false;
	if (is_linked)
		to = w->regs[w->arch->link];
	else if (!read_stack(w, sp, w->arch->word, &to))
		return false;
	to &= w->arch->code;
	look(w, to, &caller);
	if (!is_returned_to(w, to) ||
		(must_be_called &&
			edge_call(w->number, &caller, to, at - code->into) != EDGE_CALL_HERE))
		return false;
	w->regs[w->arch->sp] = w->cfa = sp + (is_linked ? 0 : w->arch->word);
	w->regs[w->arch->ip] = to;
	return true;
}

/*
 * Whether the frame that the frame pointer points to is the last function's own: if it were another's,
 * the return address of the last one would lie below.
 */
static bool is_own_frame(struct walk *w, u64 frame)
{
	enum { WORDS_MAX = 512 };
	u64 word = w->arch->word, v;

	if (frame - w->regs[w->arch->sp] > WORDS_MAX * word)
		return false;
	for (u64 va = w->regs[w->arch->sp]; va < frame; va += word)
		if (read_stack(w, va, (unsigned)word, &v) && is_returned_to(w, v & w->arch->code))
			return false;
	return true;
}

/*
 * One frame up by the frame pointer: below the return address lies the caller's. Where it is not sure
 * that the function (which begins at `function`) keeps one, the call must be one of this function, or
 * the frame its own.
 */
static bool step_by_frame_pointer(struct walk *w, bool is_sure, u64 function)
{
	u8 word = w->arch->word, fp = w->arch->fp, sp = w->arch->sp;
	u64 frame = w->regs[fp], caller, ip;
	struct stack_bytes code;

	if (!has(w, fp) || frame < w->regs[sp] || frame + 2 * word < w->cfa || frame % word)
		return false;
	if (!read_stack(w, frame, word, &caller) || !read_stack(w, frame + word, word, &ip))
		return false;
	ip &= w->arch->code;
	if (!is_returned_to(w, ip))
		return false;
	look(w, ip, &code);
	if (!is_sure && edge_call(w->number, &code, ip, function) != EDGE_CALL_HERE &&
		!(w->arch->link == 255 && is_own_frame(w, frame)))
		return false;
	w->regs[fp] = caller;
	w->regs[sp] = w->cfa = frame + 2 * word;
	w->regs[w->arch->ip] = ip;
	w->known = 1ull << fp | 1ull << sp | 1ull << w->arch->ip;
	return true;
}

static bool is_at_entry(const struct walk *w)
{
	struct stack_bytes code;

	look(w, w->regs[w->arch->ip], &code);
	return code.is_entry;
}

/* One frame up without rows. */
static bool step_by_code(struct walk *w, bool is_return)
{
	struct edge edge = {.arch = w->number, .word = w->arch->word};
	u64 at = w->regs[w->arch->ip];
	enum edge_frame frame;

	w->has_missed_above = false;
	/* Behind the call there may be nothing but the end (_init). */
	if (step_by_edge(w, is_return))
		return true;
	look(w, at, &edge.code);
	/* Generated code mostly keeps a frame; of other code it has to be shown. */
	if (edge.code.into == STACK_START_UNKNOWN)
		return step_by_frame_pointer(w, is_return || !edge.code.at, 0);
	frame = edge_frame(&edge);
	/* Who has called somebody has made its frame before, if it ever makes one. */
	if (frame == EDGE_FRAME || (is_return && frame == EDGE_SOMETIMES))
		return step_by_frame_pointer(w, true, 0);
	if (!is_return && step_out_of_leaf(w, &edge.code, frame != EDGE_LEAF))
		return true;
	return frame != EDGE_LEAF && step_by_frame_pointer(w, false, at - edge.code.into);
}

/* ---- rows ---- */

/* The row for an address of this space: mostly it was met before. */
static bool find_row(struct walk *w, u64 ip, u32 *ret_function, u32 *ret_row)
{
	struct stack *s = w->stack;
	struct stack_remembered *known =
		&s->remembered[hash_mix(ip, w->places->space) % REMEMBERED];
	bool is_cleared = false;

	if (known->space == w->places->space + 1 && known->ip == ip) {
		w->code = known->code;
		*ret_function = known->function;
		*ret_row = known->row;
		return true;
	}
	w->places->find(w->places->ctx, ip, &w->code);
	if (!w->code.cfi)
		return false;
	if (!rows_find(&s->rows, w->code.cfi, w->code.rva, ret_function, ret_row, &is_cleared)) {
		w->code.ending = STACK_NO_CFI;
		return false;
	}
	if (is_cleared)
		memset(s->remembered, 0, REMEMBERED * sizeof(*s->remembered));
	if (w->code.is_lasting)
		*known = (struct stack_remembered){ip, w->places->space + 1, *ret_row,
			*ret_function, w->code};
	return true;
}

static void add_interrupted(struct stack *s, u64 ip)
{
	vec_add(&s->chain, (u64)PERF_CONTEXT_USER);
	vec_add(&s->chain, ip);
}

/*
 * A signal handler returns to the first instruction of a trampoline, which has called nobody: what
 * is before it belongs to another function.
 */
static void mark_trampoline(struct stack *s)
{
	u64 ip = s->chain.at[--s->chain.n];

	add_interrupted(s, ip);
}

/*
 * One frame up by a row, or by the code, where the row says that a register lies below the stack
 * pointer: an epilogue has popped it (compilers do not describe each pop).
 */
static enum stack_ending step_up(struct walk *w, const struct rows_function *code,
	const struct row *row, bool is_return)
{
	u64 regs[ROW_REGS], known = w->known, cfa = w->cfa;
	enum stack_ending ending;

	if (is_return)
		return step_by_row(w, code, row);
	memcpy(regs, w->regs, sizeof(regs));
	ending = step_by_row(w, code, row);
	if (!w->has_missed_below || ending == STACK_COMPLETE)
		return ending;
	if (ending == STACK_ENDINGS) {
		struct walk by_row = *w;

		memcpy(w->regs, regs, sizeof(regs));
		w->known = known;
		w->cfa = cfa;
		if (!step_by_edge(w, true))
			*w = by_row;
		return STACK_ENDINGS;
	}
	return step_by_edge(w, true) ? STACK_ENDINGS : ending;
}

/*
 * Whether a return address is a function's first instruction, and no function ends before it with a
 * call: what was made to return there, as coroutines are, has no caller.
 */
static bool is_planted(struct walk *w)
{
	struct stack_bytes bytes;
	u32 code, row;

	look(w, w->regs[w->arch->ip], &bytes);
	if (bytes.at && edge_is_returned_to(w->number, &bytes))
		return false;
	return find_row(w, w->regs[w->arch->ip], &code, &row) &&
		w->stack->rows.functions.at[code].start == w->code.rva;
}

static bool is_in_system_call(const struct walk *w)
{
	struct stack_bytes bytes;

	look(w, w->regs[w->arch->ip], &bytes);
	return edge_is_behind_system_call(w->number, &bytes);
}

static enum stack_ending walk_on(struct walk *w, u32 max_frames)
{
	bool is_return = false;
	u32 code, row;

	for (u32 n = 1;; n++) {
		u64 ip = w->regs[w->arch->ip] - is_return;
		enum stack_ending ending;

		w->at = ip;
		/* Who is in a system call is behind its instruction, which may be a function's last. */
		if (find_row(w, ip, &code, &row) ||
			(n == 1 && is_in_system_call(w) &&
				find_row(w, w->at = ip - 1, &code, &row))) {
			const struct rows_function *c = &w->stack->rows.functions.at[code];

			if (c->is_signal && is_return)
				mark_trampoline(w->stack);
			ending = step_up(w, c, &w->stack->rows.at.at[row], is_return);
			if (ending != STACK_ENDINGS)
				return ending;
			is_return = !c->is_signal;
		} else if (is_at_entry(w)) {
			return STACK_COMPLETE;
		} else if (is_return && is_planted(w)) {
			mark_trampoline(w->stack);
			return STACK_COMPLETE;
		} else if (step_by_code(w, is_return)) {
			is_return = true;
		} else {
			w->places->find(w->places->ctx, ip, &w->code);
			return w->code.is_code ? w->code.ending : STACK_NO_MAP;
		}
		/* The ABIs mark the outermost frame so where nothing else does. */
		if (!w->regs[w->arch->ip])
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

struct stack_end stack_walk(struct stack *s, const struct stack_input *in,
	const struct stack_places *places)
{
	struct walk w = {.stack = s, .places = places, .dump = in->stack};
	enum stack_ending ending;
	bool is_full;

	s->chain.n = 0;
	if (in->arch >= STACK_OTHER)
		return (struct stack_end){.ending = STACK_OTHER_ARCH};
	w.arch = &archs[in->arch];
	w.number = in->arch;
	take_regs(&w, in);
	if (!has(&w, w.arch->sp) || !has(&w, w.arch->ip))
		return (struct stack_end){.ending = STACK_CORRUPT};
	w.dump_start = w.cfa = w.regs[w.arch->sp];
	add_interrupted(s, w.regs[w.arch->ip]);
	s->n_frames++;
	ending = walk_on(&w, in->max_frames);
	is_full = in->stack->dyn_size + w.arch->word > in->stack->bytes.n;
	return (struct stack_end){ending, w.code.dso, w.dump_start,
		is_full ? w.cfa : w.dump_start + in->stack->dyn_size};
}

void stack_init(struct stack *s)
{
	memset(s, 0, sizeof(*s));
	s->remembered = mem_zalloc(REMEMBERED * sizeof(*s->remembered));
}

void stack_fini(struct stack *s)
{
	rows_fini(&s->rows);
	mem_free(s->remembered);
	vec_fini(&s->chain);
}
