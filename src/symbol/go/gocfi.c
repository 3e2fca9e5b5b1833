#include "symbol/go/gocfi.h"

#include <dwarf.h>

#include "arch/arch.h"
#include "symbol/go/gosteps.h"
#include "unwind/entry.h"

enum { IS_OUTMOST = 1 << 0, CHANGES_STACK = 1 << 1 };

struct processor {
	u8 word, sp, return_reg; /* DWARF numbers */
	u8 fp;                   /* frame pointer of functions with a frame; 0: they keep none */
	bool is_pushed;          /* a call pushes the return address */
};

struct maker {
	struct processor p;
	struct gotab table;
	struct str *out;
	size_t cies[2]; /* for most functions, and for those that change to another stack */
};

/* ---- bytes ---- */

static void add_leb(struct str *s, u64 v)
{
	do {
		str_addc(s, (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0)));
		v >>= 7;
	} while (v);
}

static void add_number(struct str *s, u64 v, u8 size)
{
	/* In this machine's byte order. */
	u32 narrow = (u32)v;
	u16 half = (u16)v;

	if (size == 2)
		str_addn(s, (const char *)&half, size);
	else
		str_addn(s, size == 8 ? (const char *)&v : (const char *)&narrow, size);
}

static size_t begin_entry(struct str *s)
{
	add_number(s, 0, 4);
	return s->n;
}

static void end_entry(struct str *s, size_t from, u8 word)
{
	u32 size;

	str_fill(s, DW_CFA_nop, align_up(s->n - from + 4, word) - (s->n - from + 4));
	size = (u32)(s->n - from);
	memcpy(s->at + from - 4, &size, sizeof(size));
}

/* ---- entries ---- */

static void add_cie(struct maker *m, bool changes_stack)
{
	const struct processor *p = &m->p;
	size_t from = begin_entry(m->out);

	m->cies[changes_stack] = from - 4;
	add_number(m->out, UINT32_MAX, 4);
	str_addc(m->out, 3); /* version */
	str_addc(m->out, 'z');
	if (changes_stack)
		str_addc(m->out, ENTRY_CHANGES_STACK);
	str_addc(m->out, 0);
	add_leb(m->out, m->table.quantum);
	str_addc(m->out, (char)(-p->word & 0x7f)); /* SLEB128 */
	add_leb(m->out, p->return_reg);
	add_leb(m->out, 0); /* no augmentation data */
	str_addc(m->out, DW_CFA_def_cfa);
	add_leb(m->out, p->sp);
	add_leb(m->out, p->is_pushed ? p->word : 0);
	str_addc(m->out, (char)(p->is_pushed ? DW_CFA_offset | p->return_reg : DW_CFA_same_value));
	add_leb(m->out, p->is_pushed ? 1 : p->return_reg);
	end_entry(m->out, from, p->word);
}

static void add_advance(const struct maker *m, u64 n)
{
	n /= m->table.quantum;
	if (!n)
		return;
	if (n < 0x40) {
		str_addc(m->out, (char)(DW_CFA_advance_loc | n));
	} else {
		str_addc(m->out, n > UINT16_MAX ? DW_CFA_advance_loc4 : DW_CFA_advance_loc2);
		add_number(m->out, n, n > UINT16_MAX ? 4 : 2);
	}
}

static void add_depth(const struct maker *m, u32 depth)
{
	const struct processor *p = &m->p;

	str_addc(m->out, DW_CFA_def_cfa_offset);
	add_leb(m->out, depth + (p->is_pushed ? p->word : 0));
	if (p->is_pushed)
		return;
	/* The link register is saved at the lower end of the frame. */
	str_addc(m->out, (char)(depth ? DW_CFA_offset | p->return_reg : DW_CFA_same_value));
	add_leb(m->out, depth ? depth / p->word : p->return_reg);
}

static void add_cfa(const struct maker *m, u8 reg, u32 offset)
{
	str_addc(m->out, DW_CFA_def_cfa);
	add_leb(m->out, reg);
	add_leb(m->out, offset);
}

/*
 * The code size on x86-64 from the first change of the stack pointer until the frame pointer is the
 * function's own: mov %rsp, %rbp after it was pushed (since Go 1.21), or
 * mov %rbp, N(%rsp); lea N(%rsp), %rbp.
 */
static u32 prologue_of(const struct maker *m, u32 depth)
{
	return depth == m->p.word ? 3 : depth - m->p.word < 0x80 ? 10 : 16;
}

/* The same for functions where only the frame pointer leads to the callers, once it is set. */
static void add_frame(const struct maker *m, const struct gosteps *step, bool is_first, u64 *known)
{
	u32 depth = (u32)step->value, prologue = is_first ? prologue_of(m, depth) : 0;

	if (!depth || is_first)
		add_cfa(m, m->p.sp, depth + m->p.word);
	if (!depth || step->to - step->from <= prologue)
		return;
	add_advance(m, prologue);
	*known += prologue;
	add_cfa(m, m->p.fp, 2 * m->p.word);
}

/* Returns the greatest depth. */
static u32 add_steps(const struct maker *m, const struct gotab_function *f, u32 at,
	bool changes_stack)
{
	struct gosteps steps = gosteps_of(&m->table, f, at);
	u64 known = f->start;
	u32 deepest = 0;

	while (gosteps_next(&steps)) {
		u32 depth = (u32)steps.value;

		if (steps.value < 0 || depth % m->p.word)
			break;
		add_advance(m, steps.from - known);
		known = steps.from;
		if (changes_stack)
			add_frame(m, &steps, depth && !deepest, &known);
		else
			add_depth(m, depth);
		deepest = MAX(deepest, depth);
	}
	return deepest;
}

/* Reads where the depths of the stack are, and the flags of the function. Returns false if there are none. */
static bool read_function(const struct maker *m, const struct gotab_function *f, u32 *ret_depths,
	u8 *ret_flags)
{
	struct bytes b = f->description;

	/*
	 * The depths follow the size of the arguments and the address where deferred calls return to. Then come
	 * files, lines, the number of other lists, the unit, since 1.20 the first line, and a number for the runtime.
	 */
	return bytes_skip(&b, 8) && bytes_u32(&b, ret_depths) &&
		bytes_skip(&b, m->table.version == GOTAB_1_20 ? 21 : 17) && bytes_u8(&b, ret_flags);
}

static void add_undefined(const struct maker *m)
{
	str_addc(m->out, DW_CFA_undefined);
	add_leb(m->out, m->p.return_reg);
}

/*
 * In a function that changes to another stack only the frame pointer leads from its callees to its callers, if
 * the function has saved it.
 */
static void add_fde(const struct maker *m, const struct gotab_function *f, u32 depths, u8 flags)
{
	/* A signal handler was called by a trampoline, although Go's runtime treats it as outermost. */
	bool is_handler = f->name && !strcmp(f->name, "runtime.sigtramp");
	bool is_outmost = flags & IS_OUTMOST && !is_handler;
	bool changes_stack = !is_outmost && !is_handler && flags & CHANGES_STACK;
	size_t from = begin_entry(m->out), instructions;

	add_number(m->out, m->cies[changes_stack], 4);
	add_number(m->out, f->start, m->p.word);
	add_number(m->out, f->end - f->start, m->p.word);
	add_leb(m->out, 0); /* no augmentation data */
	instructions = m->out->n;
	if (is_outmost || (changes_stack && !m->p.fp)) {
		add_undefined(m);
	} else if (!add_steps(m, f, depths, changes_stack) && changes_stack) {
		str_cut(m->out, instructions);
		add_undefined(m);
	}
	end_entry(m->out, from, m->p.word);
}

static struct processor processor_of(const struct arch *a)
{
	bool is_pushed = a->link == ARCH_NO_REG;

	return (struct processor){a->word, a->sp, is_pushed ? a->ip : a->link,
		a->go == ARCH_GO_FRAME_POINTERS ? a->fp : 0, is_pushed};
}

bool gocfi_make(const struct elf *elf, struct str *ret_section)
{
	const struct arch *arch = arch_of_machine(elf->machine);
	struct maker m = {.out = ret_section};
	struct gotab_function f;

	if (!arch || arch->go == ARCH_GO_UNKNOWN || !gotab_open(&m.table, elf) ||
		m.table.version == GOTAB_1_2 || !m.table.quantum)
		return false;
	m.p = processor_of(arch);
	add_cie(&m, false);
	add_cie(&m, true);
	for (u64 i = 0; gotab_function(&m.table, i, &f); i++) {
		u32 depths;
		u8 flags;

		if (f.start < f.end && read_function(&m, &f, &depths, &flags) &&
			(depths || flags & (IS_OUTMOST | CHANGES_STACK)))
			add_fde(&m, &f, depths, flags);
	}
	return true;
}
