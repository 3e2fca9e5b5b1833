#include "base/bytes.h"
#include "record/branch.h"
#include "record/samplerow.h"

struct swap {
	u8 *at, *end;
};

/* Skips n bytes and returns where they start; NULL if fewer are left. */
static u8 *pass(struct swap *s, u64 n)
{
	u8 *p = s->at;

	if (n > (u64)(s->end - s->at))
		return NULL;
	s->at += n;
	return p;
}

static bool swap_words(struct swap *s, u64 n)
{
	u8 *p;

	/* n comes from the record: the division keeps n * 8 from wrapping. */
	if (n > (u64)(s->end - s->at) / 8)
		return false;
	for (p = s->at; n; n--, p += 8) {
		u64 v = __builtin_bswap64(load_u64(p));

		memcpy(p, &v, 8);
	}
	s->at = p;
	return true;
}

static bool swap_u32(struct swap *s, u32 *ret_v)
{
	u8 *p = pass(s, 4);

	if (!p)
		return false;
	*ret_v = __builtin_bswap32(load_u32(p));
	memcpy(p, ret_v, 4);
	return true;
}

/* Swaps a word that says how much follows, and returns it. */
static bool swap_count(struct swap *s, u64 *ret_n)
{
	const u8 *p = s->at;

	if (!swap_words(s, 1))
		return false;
	*ret_n = load_u64(p);
	return true;
}

static bool swap_two(struct swap *s)
{
	u32 v;

	return s->end - s->at >= 8 && swap_u32(s, &v) && swap_u32(s, &v);
}

static bool swap_read(const struct sample_format *f, struct swap *s)
{
	u64 n_values = 1,
	    n_times = !!(f->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		!!(f->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);

	if (f->read_format & PERF_FORMAT_GROUP && !swap_count(s, &n_values))
		return false;
	return n_values <= (u64)(s->end - s->at) / 8 &&
		swap_words(s, n_times + n_values * sample_words_each_value(f));
}

/*
 * The bit fields of a branch's flags (struct perf_branch_entry), by their widths: big-endian
 * compilers begin with the highest bit, so that the value of the swapped word has each field at the
 * other end.
 */
static u64 branch_flags_from_other_end(u64 flags)
{
	static const u8 widths[] = {
		1,  /* mispred */
		1,  /* predicted */
		1,  /* in_tx */
		1,  /* abort */
		16, /* cycles */
		4,  /* type */
		2,  /* spec */
		4,  /* new_type */
		3,  /* priv */
		31, /* reserved */
	};
	u64 result = 0;

	for (unsigned i = 0, shift = 0; i < ARRAY_SIZE(widths); shift += widths[i++]) {
		u64 field = flags >> (64 - shift - widths[i]) & ((1ULL << widths[i]) - 1);

		result |= field << shift;
	}
	return result;
}

static bool swap_branches(const struct sample_format *f, struct swap *s)
{
	u64 n;

	if (!swap_count(s, &n))
		return false;
	if (f->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX && !swap_words(s, 1))
		return false;
	if (n > (u64)(s->end - s->at) / BRANCH_SIZE)
		return false;
	for (u64 i = 0; i < n; i++) {
		u64 flags;

		swap_words(s, 3);
		flags = branch_flags_from_other_end(load_u64(s->at - 8));
		memcpy(s->at - 8, &flags, 8);
	}
	return !(f->branch_type & PERF_SAMPLE_BRANCH_COUNTERS) || swap_words(s, n);
}

static bool swap_regs(u64 mask, struct swap *s)
{
	u64 abi;

	return swap_count(s, &abi) && (!abi || swap_words(s, __builtin_popcountll(mask)));
}

static bool swap_row(const struct sample_format *f, const struct sample_row *row, struct swap *s)
{
	u32 n_raw;
	u64 n;

	switch ((enum sample_kind)row->kind) {
	case S_WORD:
		return swap_words(s, 1);
	case S_TWO:
		return swap_two(s);
	case S_READ:
		return swap_read(f, s);
	case S_CHAIN:
		return swap_count(s, &n) && swap_words(s, n);
	case S_RAW:
		if (!swap_u32(s, &n_raw) || !pass(s, n_raw))
			return false;
		n = align_up(4 + (u64)n_raw, 8) - 4 - n_raw;
		return pass(s, MIN(n, (u64)(s->end - s->at)));
	case S_BRANCHES:
		return swap_branches(f, s);
	case S_REGS:
		return swap_regs(sample_regs_mask(f, row), s);
	case S_STACK:
		return swap_count(s, &n) && (!n || (pass(s, n) && swap_words(s, 1)));
	case S_AUX:
		return swap_count(s, &n) && pass(s, n);
	}
	return false;
}

bool sample_swap(const struct sample_format *f, u8 *body, size_t n)
{
	struct swap s = {body, body + n};

	for (unsigned i = 0; i < f->n_rows; i++)
		if (!swap_row(f, &sample_rows[f->rows[i]], &s))
			return false;
	return true;
}

bool sample_swap_trailer(const struct sample_format *f, u8 *at, u16 size)
{
	struct swap s;

	if (size < RECORD_HEADER_SIZE + f->trailer)
		return false;
	if (!f->trailer)
		return true;
	s = (struct swap){at + size - f->trailer, at + size};
	for (unsigned i = 0; i < f->n_rows; i++)
		if (sample_rows[f->rows[i]].is_in_trailer)
			swap_row(f, &sample_rows[f->rows[i]], &s);
	if (f->type & PERF_SAMPLE_IDENTIFIER)
		swap_words(&s, 1);
	return true;
}
