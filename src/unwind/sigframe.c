#include "unwind/sigframe.h"

static const struct arch_trampoline *find(const struct arch *arch, const struct stack_bytes *code)
{
	for (unsigned i = 0; code->at && i < arch->n_trampolines; i++) {
		const struct arch_trampoline *t = &arch->trampolines[i];

		if (code->n_after >= t->n_code && !memcmp(code->at, t->code, t->n_code))
			return t;
	}
	return NULL;
}

bool sigframe_is_trampoline(const struct arch *arch, const struct stack_bytes *code)
{
	return find(arch, code) != NULL;
}

bool sigframe_step(struct walk *w)
{
	u8 word = w->arch->word, sp = w->arch->sp, ip = w->arch->ip;
	u64 at = w->regs[sp], regs[ROW_REGS] = {0}, known = 0;
	const struct arch_trampoline *t;
	struct stack_bytes code;

	walk_look(w, w->regs[ip], &code);
	t = find(w->arch, &code);
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
	w->regs[ip] &= w->arch->va_mask;
	walk_go_to_interrupted(w);
	return true;
}
