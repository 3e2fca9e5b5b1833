#include "unwind/starts.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "arch/x86_decode.h"

enum { ALIGNED = 16 };

typedef VEC(u64) place_list;

/* A jump: within a function, or a tail call. */
struct leap {
	u64 from, to;
};

struct scan {
	struct starts *starts;
	const struct bytes *code;
	size_t n;
	bool is_64;
	place_list taken; /* addresses taken: of functions, and of places within functions */
	VEC(struct leap) leaps;
	place_list fresh; /* ascending: starts that no instruction runs into */
};

static bool is_code(const struct scan *s, u64 va)
{
	for (size_t i = 0; i < s->n; i++)
		if (va - s->code[i].offset < bytes_left(&s->code[i]))
			return true;
	return false;
}

/* Whether the next instruction is reached by jumps only: jmp, ret, hlt, ud2, int3. */
static bool ends_flow(const struct x86_op *op)
{
	u8 code = op->opcode;

	if (op->map == X86_0F)
		return code == 0x0b;
	return op->map == X86_ONE &&
		(code == 0xe9 || code == 0xeb || code == 0xc3 || code == 0xc2 || code == 0xf4 ||
			code == 0xcc || (code == 0xff && (op->reg & 7) == 4));
}

/* Notes the target of a call, or the address taken, by an instruction that ends at `next`. */
static void note_target(struct scan *s, const struct x86_op *op, u64 next)
{
	enum { SMALL = 1 << 20 }; /* below this a number is probably a size, not an address */
	u8 code = op->opcode;
	bool is_call = code == 0xe8 && op->imm, is_jump = code == 0xe9 || code == 0xeb;
	bool is_address = code == 0x8d && op->is_relative;
	bool is_number = (code >> 3 == 0xb8 >> 3 || code == 0xc7) && op->imm >= SMALL;
	u64 to = is_number           ? (u64)op->imm
		: is_call || is_jump ? next + (u64)op->imm
				     : next + (u64)(s64)op->disp;

	if (op->map != X86_ONE || (!is_call && !is_jump && !is_address && !is_number))
		return;
	if (!s->is_64)
		to = (u32)to;
	if (!is_code(s, to))
		return;
	if (is_call)
		starts_add(s->starts, to);
	else if (is_jump)
		vec_add(&s->leaps, ((struct leap){next - 1, to}));
	else
		vec_add(&s->taken, to);
}

static void scan_piece(struct scan *s, const struct bytes *b)
{
	u32 n = (u32)MIN(bytes_left(b), (size_t)UINT32_MAX), size;
	bool is_fresh = true, is_padded = false;
	struct x86_op op;

	for (u32 at = 0; at < n; at += size) {
		u64 va = b->offset + at;

		/* Some assemblers pad with zeros. */
		if (is_fresh && !b->at[at]) {
			size = 1;
			is_padded = true;
			continue;
		}
		size = x86_decode(b->at + at, n - at, s->is_64, &op);
		if (!size) {
			size = 1;
			is_fresh = is_padded = false;
			continue;
		}
		/* A call ends a function, too, if its callee does not return: then only padding shows it. */
		if (is_fresh || (is_padded && va % ALIGNED == 0))
			vec_add(&s->fresh, va);
		is_padded = x86_is_padding(&op);
		is_fresh = ends_flow(&op) || (is_fresh && is_padded);
		note_target(s, &op, va + size);
	}
}

SORT_NUMBERS(by_value, u64)

void starts_finish(struct starts *s)
{
	size_t n = 0;

	if (s->at.n)
		qsort(s->at.at, s->at.n, sizeof(*s->at.at), by_value);
	vec_each(at, &s->at)
		if (!n || s->at.at[n - 1] != *at)
			s->at.at[n++] = *at;
	s->at.n = n;
}

static bool is_fresh(const struct scan *s, u64 va)
{
	return s->fresh.n && bsearch(&va, s->fresh.at, s->fresh.n, sizeof(va), by_value);
}

/* Adds the taken addresses that are functions. Labels of computed jumps have their addresses taken, too. */
static void add_taken(struct scan *s)
{
	vec_each(to, &s->taken)
		if (is_fresh(s, *to))
			starts_add(s->starts, *to);
	s->taken.n = 0;
}

/* A jump over the start of another function leaves its own function: a tail call. */
static void take_leaps(struct scan *s)
{
	u64 of_from, of_to, end;

	for (size_t i = 0; i < s->leaps.n; i++) {
		const struct leap *l = &s->leaps.at[i];

		if (!is_fresh(s, l->to) || !starts_around(s->starts, l->from, &of_from, &end) ||
			!starts_around(s->starts, l->to, &of_to, &end) || of_from == of_to)
			continue;
		vec_add(&s->taken, l->to);
	}
}

/* Scans aligned words. */
static void scan_data(struct scan *s, struct bytes b)
{
	unsigned word = s->is_64 ? 8 : 4;
	const void *p;

	bytes_skip(&b, -b.offset % word);
	while (bytes_take(&b, word, &p)) {
		u64 to = s->is_64 ? load_u64(p) : load_u32(p);

		if (to && is_code(s, to))
			vec_add(&s->taken, to);
	}
}

/* Collects the starts that no instruction runs into: the others are places within a function. */
static void find_outer(struct scan *s)
{
	struct starts *all = s->starts;
	size_t n_aligned = 0;

	vec_each(at, &all->at)
		n_aligned += *at % ALIGNED == 0;
	all->is_aligned = n_aligned >= all->at.n - all->at.n / 10;
	vec_each(at, &all->at)
		if (is_fresh(s, *at))
			vec_add(&all->outer, *at);
}

void starts_find(struct starts *s, const struct starts_input *in)
{
	struct scan scan = {.starts = s, .code = in->code, .n = in->n_code, .is_64 = in->is_64};

	for (size_t i = 0; i < in->n_code; i++) {
		scan_piece(&scan, &in->code[i]);
		s->end = MAX(s->end, in->code[i].offset + bytes_left(&in->code[i]));
	}
	for (size_t i = 0; i < in->n_data; i++)
		scan_data(&scan, in->data[i]);
	add_taken(&scan);
	starts_finish(s);
	take_leaps(&scan);
	add_taken(&scan);
	starts_finish(s);
	find_outer(&scan);
	vec_fini(&scan.taken);
	vec_fini(&scan.leaps);
	vec_fini(&scan.fresh);
}

void starts_add(struct starts *s, u64 rva)
{
	vec_add(&s->at, rva);
}

bool starts_around(const struct starts *s, u64 rva, u64 *ret_start, u64 *ret_end)
{
	size_t next = search_behind(s->at.at, s->at.n, sizeof(*s->at.at), rva);

	if (!next || rva >= s->end)
		return false;
	*ret_start = s->at.at[next - 1];
	*ret_end = next < s->at.n ? s->at.at[next] : s->end;
	return true;
}

bool starts_function_between(const struct starts *s, u64 start, u64 rva)
{
	size_t next = search_behind(s->outer.at, s->outer.n, sizeof(*s->outer.at), rva);
	/*
	 * Where functions are aligned and this one is, unaligned starts are places within it. musl's memset()
	 * is unaligned.
	 */
	bool is_strict = s->is_aligned && start % ALIGNED == 0;

	for (; next && s->outer.at[next - 1] > start; next--)
		if (!is_strict || s->outer.at[next - 1] % ALIGNED == 0)
			return true;
	return false;
}

void starts_fini(struct starts *s)
{
	vec_fini(&s->at);
	vec_fini(&s->outer);
	memset(s, 0, sizeof(*s));
}
