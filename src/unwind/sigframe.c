#include "unwind/sigframe.h"

/* A trampoline's code, and where the saved registers are when it begins. */
struct trampoline {
	u8 code[12];
	u8 n_code;
	u8 pointer;  /* offset from sp to the pointer to the ucontext; 0: there is none */
	u16 context; /* offset of the registers, from sp or from the ucontext */
	const u16 *offsets;
	u8 n_offsets;
};

/* Indexed by DWARF register number. */
static const u16 x86_64_offsets[] = {144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80,
	88, 96, 168};
static const u16 i386_offsets[] = {44, 40, 36, 32, 28, 24, 20, 16, 56};
static const u16 arm64_offsets[] = {8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120,
	128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256, 264};

#define OFFSETS(of) of, ARRAY_SIZE(of)

static const struct trampoline x86_64_trampolines[] = {
	/* mov $15, %rax; syscall */
	{{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, 9, 0, 0, OFFSETS(x86_64_offsets)},
	/* mov $15, %eax; syscall */
	{{0xb8, 15, 0, 0, 0, 0x0f, 0x05}, 7, 0, 0, OFFSETS(x86_64_offsets)},
};

static const struct trampoline i386_trampolines[] = {
	/* pop %eax; mov $119, %eax; int $0x80: the signal's number, the registers */
	{{0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80}, 8, 0, 4, OFFSETS(i386_offsets)},
	/* mov $173, %eax; int $0x80: the number, pointers to siginfo and ucontext */
	{{0xb8, 173, 0, 0, 0, 0xcd, 0x80}, 7, 8, 20, OFFSETS(i386_offsets)},
};

static const struct trampoline arm64_trampolines[] = {
	/* mov x8, #139; svc #0: siginfo, then the ucontext, whose general registers come late */
	{{0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}, 8, 0, 128 + 176, OFFSETS(arm64_offsets)},
};

static const struct {
	const struct trampoline *at;
	size_t n;
} trampolines[STACK_OTHER] = {
	[STACK_X86_64] = {x86_64_trampolines, ARRAY_SIZE(x86_64_trampolines)},
	[STACK_I386] = {i386_trampolines, ARRAY_SIZE(i386_trampolines)},
	[STACK_ARM64] = {arm64_trampolines, ARRAY_SIZE(arm64_trampolines)},
};

static const struct trampoline *find(enum stack_arch arch, const struct stack_bytes *code)
{
	if (!code->at || arch >= STACK_OTHER)
		return NULL;
	for (size_t i = 0; i < trampolines[arch].n; i++) {
		const struct trampoline *t = &trampolines[arch].at[i];

		if (code->n_after >= t->n_code && !memcmp(code->at, t->code, t->n_code))
			return t;
	}
	return NULL;
}

bool sigframe_is_trampoline(enum stack_arch arch, const struct stack_bytes *code)
{
	return find(arch, code) != NULL;
}

bool sigframe_step(struct walk *w)
{
	u8 word = w->arch->word, sp = w->arch->sp, ip = w->arch->ip;
	u64 at = w->regs[sp], regs[ROW_REGS] = {0}, known = 0;
	const struct trampoline *t;
	struct stack_bytes code;

	walk_look(w, w->regs[ip], &code);
	t = find(w->number, &code);
	if (!t || !walk_has(w, sp))
		return false;
	w->has_missed_above = false;
	if (t->pointer && !walk_read(w, at + t->pointer, word, &at))
		return false;
	at += t->context;
	for (unsigned i = 0; i < t->n_offsets; i++)
		if (walk_read(w, at + t->offsets[i], word, &regs[i]))
			known |= 1ull << i;
	if (!(known >> sp & 1) || !(known >> ip & 1))
		return false;
	memcpy(w->regs, regs, sizeof(regs));
	w->known = known;
	w->regs[ip] &= w->arch->code;
	walk_go_to_interrupted(w);
	return true;
}
