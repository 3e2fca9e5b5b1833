#include "unwind/stack.h"

#include "base/hash.h"
#include "event/abi.h"
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

const char *stack_ending_text(enum stack_ending ending)
{
	static const char *const texts[STACK_ENDINGS] = {
		[STACK_COMPLETE] = "complete",
		[STACK_DUMP_TOO_SMALL] = "stack dump too small",
		[STACK_NO_CFI] = "no unwind information",
		[STACK_NO_FILE] = "file missing",
		[STACK_NO_CODE_FILE] = "code without a file",
		[STACK_NO_MAP] = "no such code",
		[STACK_NO_FRAME_POINTER] = "no frame pointers",
		[STACK_TOO_DEEP] = "too many frames",
		[STACK_CORRUPT] = "corrupt",
		[STACK_OTHER_ARCH] = "unknown machine",
	};

	return texts[ending];
}

/* ---- one walk ---- */

struct walk {
	struct stack *stack;
	const struct arch *arch;
	const struct stack_places *places;
	const struct sample_stack *dump;
	u64 dump_start;
	u64 regs[CFI_REGS];
	u64 known; /* bit n: regs[n] */
	u64 cfa;
	bool has_missed_above;  /* a read failed because the dump ends before it */
	struct stack_code code; /* of the last frame */
};

static bool has(const struct walk *w, unsigned reg)
{
	return reg < CFI_REGS && w->known >> reg & 1;
}

static bool read_stack(void *ctx, u64 va, unsigned size, u64 *ret_v)
{
	struct walk *w = ctx;
	u64 at = va - w->dump_start, n = w->dump->dyn_size;
	u64 v = 0;

	if (va < w->dump_start)
		return false;
	if (n < size || at > n - size) {
		/* A dump that is not full ends where the stack does. */
		w->has_missed_above |= at < n + (64 << 20) && n + 8 > w->dump->bytes.n;
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
		if (bit < w->arch->n_regs && w->arch->dwarf[bit] < CFI_REGS) {
			w->regs[w->arch->dwarf[bit]] = load_u64(in->regs->values.at + 8 * k);
			w->known |= 1ull << w->arch->dwarf[bit];
		}
		k++;
	}
}

static bool eval(struct walk *w, const struct cfi_rule *rule, const u64 *first, u64 *ret_v)
{
	struct expression_world world = {.regs = w->regs,
		.known = w->known,
		.n_regs = CFI_REGS,
		.address_size = w->arch->word,
		.read = read_stack,
		.ctx = w,
		.bias = w->regs[w->arch->ip] - w->code.rva};

	return expression_eval(bytes_of(rule->expression, rule->size), &world, first, ret_v);
}

static bool find_cfa(struct walk *w, const struct cfi_rule *rule, u64 *ret_cfa)
{
	if (rule->kind == CFI_REGISTER) {
		if (!has(w, rule->from))
			return false;
		*ret_cfa = w->regs[rule->from] + (u64)rule->value;
		return true;
	}
	return rule->kind == CFI_VAL_EXPRESSION && eval(w, rule, NULL, ret_cfa);
}

/* The caller's value of a register. */
static bool value_of(struct walk *w, const struct cfi_rule *rule, u64 cfa, u64 *ret_v)
{
	u64 va;

	switch ((enum cfi_kind)rule->kind) {
	case CFI_SAME:
		if (!has(w, rule->reg))
			return false;
		*ret_v = w->regs[rule->reg];
		return true;
	case CFI_UNDEFINED:
		return false;
	case CFI_OFFSET:
		return read_stack(w, cfa + (u64)rule->value, w->arch->word, ret_v);
	case CFI_VAL_OFFSET:
		*ret_v = cfa + (u64)rule->value;
		return true;
	case CFI_REGISTER:
		if (!has(w, rule->from))
			return false;
		*ret_v = w->regs[rule->from];
		return true;
	case CFI_EXPRESSION:
		return eval(w, rule, &cfa, &va) && read_stack(w, va, w->arch->word, ret_v);
	case CFI_VAL_EXPRESSION:
		return eval(w, rule, &cfa, ret_v);
	}
	return false;
}

/* Why a value that should be in memory is not there. */
static enum stack_ending ending_of_miss(const struct walk *w)
{
	return w->has_missed_above ? STACK_DUMP_TOO_SMALL : STACK_CORRUPT;
}

/*
 * One frame up by a row. STACK_ENDINGS: it is done; else why it is not. A frame that lies below its
 * callee's is not on this stack.
 */
static enum stack_ending step_by_row(struct walk *w, const struct cfi_code *code,
	const struct cfi_row *row)
{
	const struct cfi_rule *rules =
		row->n_rules ? w->stack->cache.rules.at + row->first_rule : NULL;
	u8 sp = w->arch->sp;
	bool has_return = false;
	u64 regs[CFI_REGS], known = w->known & ~(1ull << w->arch->ip), cfa, ip = 0;

	w->has_missed_above = false;
	if (!find_cfa(w, &row->cfa, &cfa))
		return ending_of_miss(w);
	if (cfa < w->cfa && !code->is_signal)
		return STACK_CORRUPT;
	memcpy(regs, w->regs, sizeof(regs));
	regs[sp] = cfa;
	known |= 1ull << sp;
	for (u32 i = 0; i < row->n_rules; i++) {
		const struct cfi_rule *rule = &rules[i];

		if (rule->reg == code->return_reg && rule->kind == CFI_UNDEFINED)
			return STACK_COMPLETE;
		known &= ~(1ull << rule->reg);
		if (value_of(w, rule, cfa, &regs[rule->reg]))
			known |= 1ull << rule->reg;
		else if (rule->reg == code->return_reg)
			return ending_of_miss(w);
		has_return |= rule->reg == code->return_reg;
	}
	/* Without a rule the return address is still where the call put it. */
	if (!has_return && (code->return_reg != w->arch->link || !has(w, w->arch->link)))
		return STACK_CORRUPT;
	ip = regs[code->return_reg] & w->arch->code;
	if (cfa == w->cfa && ip == w->regs[w->arch->ip])
		return STACK_CORRUPT;
	regs[w->arch->ip] = ip;
	w->cfa = code->is_signal ? regs[sp] : cfa;
	memcpy(w->regs, regs, sizeof(regs));
	w->known = known | 1ull << w->arch->ip;
	return STACK_ENDINGS;
}

/* One frame up by the frame pointer: below the return address lies the caller's. */
static bool step_by_frame_pointer(struct walk *w)
{
	u8 word = w->arch->word, fp = w->arch->fp, sp = w->arch->sp;
	struct stack_code code;
	u64 frame = w->regs[fp], caller, ip;

	if (!has(w, fp) || frame < w->regs[sp] || frame + 2 * word < w->cfa || frame % word)
		return false;
	if (!read_stack(w, frame, word, &caller) || !read_stack(w, frame + word, word, &ip))
		return false;
	ip &= w->arch->code;
	w->places->find(w->places->ctx, ip - 1, &code);
	if (!code.is_code)
		return false;
	w->regs[fp] = caller;
	w->regs[sp] = w->cfa = frame + 2 * word;
	w->regs[w->arch->ip] = ip;
	w->known = 1ull << fp | 1ull << sp | 1ull << w->arch->ip;
	return true;
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
	if (!cfi_row_of(&s->cache, w->code.cfi, w->code.rva, ret_function, ret_row, &is_cleared)) {
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

static enum stack_ending walk_on(struct walk *w, u32 max_frames)
{
	bool is_return = false;
	u32 code, row;

	for (u32 n = 1;; n++) {
		u64 ip = w->regs[w->arch->ip] - is_return;
		enum stack_ending ending;

		if (find_row(w, ip, &code, &row)) {
			const struct cfi_code *c = &w->stack->cache.codes.at[code];

			if (c->is_signal && is_return)
				mark_trampoline(w->stack);
			ending = step_by_row(w, c, &w->stack->cache.rows.at[row]);
			if (ending != STACK_ENDINGS)
				return ending;
			is_return = !c->is_signal;
		} else if (step_by_frame_pointer(w)) {
			is_return = true;
		} else {
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

	s->chain.n = 0;
	if (in->arch >= STACK_OTHER)
		return (struct stack_end){STACK_OTHER_ARCH, 0};
	w.arch = &archs[in->arch];
	take_regs(&w, in);
	if (!has(&w, w.arch->sp) || !has(&w, w.arch->ip))
		return (struct stack_end){STACK_CORRUPT, 0};
	w.dump_start = w.cfa = w.regs[w.arch->sp];
	add_interrupted(s, w.regs[w.arch->ip]);
	s->n_frames++;
	return (struct stack_end){walk_on(&w, in->max_frames), w.code.dso};
}

void stack_init(struct stack *s)
{
	memset(s, 0, sizeof(*s));
	s->remembered = mem_zalloc(REMEMBERED * sizeof(*s->remembered));
}

void stack_fini(struct stack *s)
{
	cfi_cache_fini(&s->cache);
	mem_free(s->remembered);
	vec_fini(&s->chain);
}
