#include "unwind/walk.h"

#include "base/hash.h"

static bool is_full(const struct walk *w)
{
	return w->dump->dyn_size + 8 > w->dump->bytes.n;
}

bool walk_is_cut_off(const struct walk *w, u64 va)
{
	return va - w->dump_start < w->dump->dyn_size + (64 << 20) && is_full(w);
}

/*
 * Whether va was not in memory. The kernel copies page by page, up to the first page that is not present:
 * a program may not have touched all pages of a large frame.
 */
static bool is_absent(const struct walk *w, u64 va)
{
	enum { PAGE = 4096 };
	u64 n = w->dump->dyn_size;

	return n && (w->dump_start + n) % PAGE == 0 && va - w->dump_start < n + (64 << 20);
}

bool walk_read(void *ctx, u64 va, unsigned size, u64 *ret_v)
{
	struct walk *w = ctx;
	u64 at = va - w->dump_start, n = w->dump->dyn_size;
	u64 v = 0;

	if (va < w->dump_start) {
		w->has_missed_below = true;
		return false;
	}
	if (n < size || at > n - size) {
		w->has_missed_above |= walk_is_cut_off(w, va) || is_absent(w, va);
		return false;
	}
	memcpy(&v, (const u8 *)w->dump->bytes.at + at, size);
	*ret_v = v;
	return true;
}

void walk_go_to_interrupted(struct walk *w)
{
	u64 sp = w->regs[w->arch->sp];

	w->cfa = sp;
	w->has_left |= sp - w->dump_start >= w->dump->dyn_size &&
		(sp < w->dump_start || !walk_is_cut_off(w, sp));
}

enum stack_ending walk_ending_of_miss(const struct walk *w)
{
	return !w->dump->dyn_size      ? STACK_NOT_COPIED
		: w->has_left          ? STACK_ELSEWHERE
		: !w->has_missed_above ? STACK_CORRUPT
		: is_full(w)           ? STACK_DUMP_TOO_SMALL
				       : STACK_NOT_COPIED;
}

void walk_take_regs(struct walk *w, const struct stack_input *in)
{
	u64 k = 0;

	for (unsigned bit = 0; bit < 64 && k < in->regs->values.n; bit++) {
		if (!(in->mask >> bit & 1))
			continue;
		if (bit < w->arch->n_regs && w->arch->regs[bit].dwarf < ROW_REGS) {
			u8 reg = w->arch->regs[bit].dwarf;

			w->regs[reg] = load_u64(in->regs->values.at + 8 * k);
			w->known |= 1ull << reg;
		}
		k++;
	}
}

/* Most addresses have been looked up before. */
bool walk_find_row(struct walk *w, u64 ip, u32 *ret_function, u32 *ret_row)
{
	struct stack *s = w->stack;
	u32 *slot = memo_slot(&s->memo, hash_mix(ip, w->places->space));
	const struct stack_remembered *known = *slot ? &s->remembered.at[*slot - 1] : NULL;
	bool is_cleared = false;

	if (known && known->space == w->places->space && known->ip == ip) {
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
	if (is_cleared) {
		memo_clear(&s->memo);
		s->remembered.n = 0;
	}
	if (w->code.is_lasting)
		memo_keep(&s->remembered, slot,
			((struct stack_remembered){ip, w->places->space, *ret_row, *ret_function,
				w->code}));
	return true;
}

void walk_look(const struct walk *w, u64 ip, struct stack_bytes *ret_bytes)
{
	*ret_bytes = (struct stack_bytes){.into = STACK_START_UNKNOWN};
	if (w->places->look)
		w->places->look(w->places->ctx, ip, ret_bytes);
	if (!w->arch->code)
		ret_bytes->at = NULL;
}
