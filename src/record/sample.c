#include "record/sample.h"

#include "base/bytes.h"
#include "event/abi.h"
#include "record/branch.h"
#include "record/samplerow.h"

#define ROW(bit, kind, member, in_trailer)                                                 \
	{                                                                                  \
		PERF_SAMPLE_##bit, #bit, kind, offsetof(struct sample, member), in_trailer \
	}

/* In the order of perf_output_sample(). */
/* clang-format off: a row a fact */
const struct sample_row sample_rows[] = {
	ROW(IDENTIFIER, S_WORD, id, false), /* in the trailer too, but there it is the last */
	ROW(IP, S_WORD, ip, false),
	ROW(TID, S_TWO, pid, true),
	ROW(TIME, S_WORD, time, true),
	ROW(ADDR, S_WORD, addr, false),
	ROW(ID, S_WORD, id, true),
	ROW(STREAM_ID, S_WORD, stream_id, true),
	ROW(CPU, S_TWO, cpu, true),
	ROW(PERIOD, S_WORD, period, false),
	ROW(READ, S_READ, read, false),
	ROW(CALLCHAIN, S_CHAIN, chain, false),
	ROW(RAW, S_RAW, raw, false),
	ROW(BRANCH_STACK, S_BRANCHES, branches, false),
	ROW(REGS_USER, S_REGS, user_regs, false),
	ROW(STACK_USER, S_STACK, user_stack, false),
	{PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT", S_WORD,
		offsetof(struct sample, weight), false},
	ROW(DATA_SRC, S_WORD, data_src, false),
	ROW(TRANSACTION, S_WORD, transaction, false),
	ROW(REGS_INTR, S_REGS, intr_regs, false),
	ROW(PHYS_ADDR, S_WORD, phys_addr, false),
	ROW(CGROUP, S_WORD, cgroup, false),
	ROW(DATA_PAGE_SIZE, S_WORD, data_page_size, false),
	ROW(CODE_PAGE_SIZE, S_WORD, code_page_size, false),
	ROW(AUX, S_AUX, aux, false),
};
/* clang-format on */

enum { ROW_ID = 5 };

_Static_assert(ARRAY_SIZE(sample_rows) <= ARRAY_SIZE(((struct sample_format *)0)->rows),
	"more rows than a format holds");

void sample_format_init(struct sample_format *f, const struct event_attr *attr)
{
	u64 known = 0;

	memset(f, 0, sizeof(*f));
	f->type = attr->sample_type;
	f->read_format = attr->read_format;
	f->branch_type = attr->branch_sample_type;
	f->user_regs = attr->sample_regs_user;
	f->intr_regs = attr->sample_regs_intr;
	for (size_t i = 0; i < ARRAY_SIZE(sample_rows); i++) {
		known |= sample_rows[i].bits;
		if (!(sample_rows[i].bits & f->type))
			continue;
		f->rows[f->n_rows++] = i;
		if (attr->flags & ATTR_SAMPLE_ID_ALL &&
			(sample_rows[i].is_in_trailer ||
				sample_rows[i].bits == PERF_SAMPLE_IDENTIFIER))
			f->trailer += 8;
	}
	f->unknown = f->type & ~known;
	while (f->n_fixed < f->n_rows && f->n_fixed < ARRAY_SIZE(f->fixed_members) &&
		sample_rows[f->rows[f->n_fixed]].kind <= S_TWO) {
		f->fixed_bits |= sample_rows[f->rows[f->n_fixed]].bits;
		f->fixed_members[f->n_fixed] = sample_rows[f->rows[f->n_fixed]].member;
		f->n_fixed++;
	}
}

struct sample_value sample_read_value(const struct sample_format *f, const struct sample_read *read,
	u64 i)
{
	bool is_group = f->read_format & PERF_FORMAT_GROUP,
	     has_id = f->read_format & PERF_FORMAT_ID, has_lost = f->read_format & PERF_FORMAT_LOST;
	/* The times of a lone counter stand between its value and its id. */
	u64 to_id = is_group ? 1
			     : 1 + !!(f->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			!!(f->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	u64 at = is_group ? i * sample_words_each_value(f) : 0;

	return (struct sample_value){load_u64(read->values.at + at * 8),
		has_id ? load_u64(read->values.at + (at + to_id) * 8) : 0,
		has_lost ? load_u64(read->values.at + (at + to_id + has_id) * 8) : 0};
}

static bool take_words(struct bytes *b, u64 n, struct sample_words *ret)
{
	const void *p;

	/* n comes from the record: the division keeps n * 8 from wrapping. */
	if (n > bytes_left(b) / 8 || !bytes_take(b, n * 8, &p))
		return false;
	ret->at = p;
	ret->n = n;
	return true;
}

bool sample_decode_read(const struct sample_format *f, struct bytes *b, struct sample_read *read)
{
	bool is_group = f->read_format & PERF_FORMAT_GROUP;
	u64 value = 0;

	read->n_values = 1;
	/* One counter: value, times, id, lost. A group: n, times, n times (value, id, lost). */
	if (is_group && !bytes_u64(b, &read->n_values))
		return false;
	read->values.at = b->at;
	if (!is_group && !bytes_u64(b, &value))
		return false;
	if (f->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED && !bytes_u64(b, &read->time_enabled))
		return false;
	if (f->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING && !bytes_u64(b, &read->time_running))
		return false;
	if (is_group) {
		if (read->n_values > bytes_left(b) / 8)
			return false;
		return take_words(b, read->n_values * sample_words_each_value(f), &read->values);
	}
	/*
	 * The words of a lone counter are not neighbours: the view starts at its value and spans
	 * the times.
	 */
	if (!bytes_skip(b, (sample_words_each_value(f) - 1) * 8))
		return false;
	read->values.n = (b->at - read->values.at) / 8;
	return true;
}

static bool decode_branches(const struct sample_format *f, struct bytes *b,
	struct sample_branches *br)
{
	const void *p;

	if (!bytes_u64(b, &br->n))
		return false;
	if (f->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX && !bytes_u64(b, &br->hw_index))
		return false;
	if (br->n > bytes_left(b) / BRANCH_SIZE || !bytes_take(b, br->n * BRANCH_SIZE, &p))
		return false;
	br->entries = p;
	if (!(f->branch_type & PERF_SAMPLE_BRANCH_COUNTERS))
		return true;
	if (br->n > bytes_left(b) / 8 || !bytes_take(b, br->n * 8, &p))
		return false;
	br->counters = p;
	return true;
}

static bool decode_regs(u64 mask, struct bytes *b, struct sample_regs *regs)
{
	regs->values = (struct sample_words){0};
	if (!bytes_u64(b, &regs->abi))
		return false;
	return !regs->abi || take_words(b, __builtin_popcountll(mask), &regs->values);
}

static bool decode_sized(struct bytes *b, u64 n, struct record_bytes *ret)
{
	const void *p;

	if (!bytes_take(b, n, &p))
		return false;
	ret->at = p;
	ret->n = n;
	return true;
}

static bool decode_stack(struct bytes *b, struct sample_stack *stack)
{
	u64 n;

	*stack = (struct sample_stack){0};
	if (!bytes_u64(b, &n))
		return false;
	if (!n)
		return true;
	if (!decode_sized(b, n, &stack->bytes) || !bytes_u64(b, &stack->dyn_size))
		return false;
	stack->dyn_size = MIN(stack->dyn_size, n);
	return true;
}

static bool decode_raw(struct bytes *b, struct record_bytes *raw)
{
	u32 n;

	if (!bytes_u32(b, &n) || !decode_sized(b, n, raw))
		return false;
	return bytes_skip(b, MIN(align_up(4 + (u64)n, 8) - 4 - n, bytes_left(b)));
}

/* per sample: the kinds that most samples consist of come first */
static inline bool decode_row(const struct sample_format *f, const struct sample_row *row,
	struct bytes *b, struct sample *s)
{
	void *to = (u8 *)s + row->member;
	u64 n;

	if (row->kind <= S_TWO) {
		const void *p;

		if (!bytes_take(b, 8, &p))
			return false;
		memcpy(to, p, 8);
		return true;
	}
	switch ((enum sample_kind)row->kind) {
	case S_CHAIN:
		return bytes_u64(b, &n) && take_words(b, n, to);
	case S_READ:
		return sample_decode_read(f, b, to);
	case S_RAW:
		return decode_raw(b, to);
	case S_BRANCHES:
		return decode_branches(f, b, to);
	case S_REGS:
		return decode_regs(sample_regs_mask(f, row), b, to);
	case S_STACK:
		return decode_stack(b, to);
	case S_AUX:
		return bytes_u64(b, &n) && decode_sized(b, n, to);
	case S_WORD:
	case S_TWO:
		break;
	}
	return false;
}

int sample_decode(const struct sample_format *f, const u8 *body, size_t n, u64 wanted,
	struct sample *sample, struct err *err)
{
	struct bytes b = bytes_of(body, n);
	unsigned i = 0;

	wanted &= f->type;
	if (LIKELY(n >= 8u * f->n_fixed)) {
		for (; i < f->n_fixed; i++)
			memcpy((u8 *)sample + f->fixed_members[i], body + 8 * i, 8);
		b.at += 8 * i;
		wanted &= ~f->fixed_bits;
	}
	for (; i < f->n_rows && wanted; i++) {
		const struct sample_row *row = &sample_rows[f->rows[i]];

		wanted &= ~row->bits;
		if (UNLIKELY(!decode_row(f, row, &b, sample)))
			return err_set(err, ERR_FORMAT,
				"a sample of %zu bytes ends inside its field %s", n, row->name);
	}
	sample->n_rest = i == f->n_rows && !f->unknown ? bytes_left(&b) : 0;
	return 0;
}

bool sample_decode_trailer(const struct sample_format *f, const struct record *rec,
	struct sample *ret_sample)
{
	struct bytes b;

	if (rec->size < RECORD_HEADER_SIZE + f->trailer)
		return false;
	memset(ret_sample, 0, sizeof(*ret_sample));
	if (!f->trailer)
		return true;
	b = bytes_of(rec->at + rec->size - f->trailer, f->trailer);
	for (unsigned i = 0; i < f->n_rows; i++) {
		const struct sample_row *row = &sample_rows[f->rows[i]];

		if (row->is_in_trailer && !decode_row(f, row, &b, ret_sample))
			return false;
	}
	return !(f->type & PERF_SAMPLE_IDENTIFIER) || bytes_u64(&b, &ret_sample->id);
}

bool sample_word_place(const struct sample_format *f, u64 bit, u32 *ret_from_start)
{
	for (unsigned i = 0; i < f->n_fixed; i++) {
		*ret_from_start = 8 * i;
		if (sample_rows[f->rows[i]].bits & bit)
			return true;
	}
	return false;
}

bool sample_id_place(const struct sample_format *f, u32 *ret_from_start, u32 *ret_from_end)
{
	u32 behind = 0;

	if (f->type & PERF_SAMPLE_IDENTIFIER) {
		*ret_from_start = 0;
		*ret_from_end = 8;
		return true;
	}
	if (!(f->type & PERF_SAMPLE_ID))
		return false;
	for (unsigned i = 0; i < f->n_rows; i++)
		behind += sample_rows[f->rows[i]].is_in_trailer && f->rows[i] >= ROW_ID ? 8 : 0;
	sample_word_place(f, PERF_SAMPLE_ID, ret_from_start);
	*ret_from_end = behind;
	return true;
}

u32 sample_time_place(const struct sample_format *f)
{
	u32 from_end = f->type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;

	if (!f->trailer || !(f->type & PERF_SAMPLE_TIME))
		return 0;
	for (unsigned i = 0; i < f->n_rows; i++)
		if (sample_rows[f->rows[i]].is_in_trailer &&
			sample_rows[f->rows[i]].bits >= PERF_SAMPLE_TIME)
			from_end += 8;
	return from_end;
}

/* ---- the way back ---- */

static void put_word(struct str *out, u64 v)
{
	str_addn(out, &v, sizeof(v));
}

static void encode_read(const struct sample_format *f, const struct sample_read *read,
	struct str *out)
{
	if (!(f->read_format & PERF_FORMAT_GROUP)) {
		str_addn(out, read->values.at, read->values.n * 8);
		return;
	}
	put_word(out, read->n_values);
	if (f->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put_word(out, read->time_enabled);
	if (f->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put_word(out, read->time_running);
	str_addn(out, read->values.at, read->values.n * 8);
}

static void encode_branches(const struct sample_format *f, const struct sample_branches *br,
	struct str *out)
{
	put_word(out, br->n);
	if (f->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		put_word(out, br->hw_index);
	str_addn(out, br->entries, br->n * BRANCH_SIZE);
	if (f->branch_type & PERF_SAMPLE_BRANCH_COUNTERS)
		str_addn(out, br->counters, br->n * 8);
}

static void encode_row(const struct sample_format *f, const struct sample_row *row,
	const struct sample *s, struct str *out)
{
	const void *from = (const u8 *)s + row->member;
	const struct sample_words *words = from;
	const struct record_bytes *run = from;
	const struct sample_regs *regs = from;
	const struct sample_stack *stack = from;

	switch ((enum sample_kind)row->kind) {
	case S_WORD:
	case S_TWO:
		str_addn(out, from, 8);
		break;
	case S_READ:
		encode_read(f, from, out);
		break;
	case S_CHAIN:
		put_word(out, words->n);
		str_addn(out, words->at, words->n * 8);
		break;
	case S_RAW:
		str_addn(out, &run->n, 4);
		str_addn(out, run->at, run->n);
		str_fill(out, '\0', align_up(4 + (u64)run->n, 8) - 4 - run->n);
		break;
	case S_BRANCHES:
		encode_branches(f, from, out);
		break;
	case S_REGS:
		put_word(out, regs->abi);
		str_addn(out, regs->values.at, regs->values.n * 8);
		break;
	case S_STACK:
		put_word(out, stack->bytes.n);
		str_addn(out, stack->bytes.at, stack->bytes.n);
		if (stack->bytes.n)
			put_word(out, stack->dyn_size);
		break;
	case S_AUX:
		put_word(out, run->n);
		str_addn(out, run->at, run->n);
		break;
	}
}

void sample_encode(const struct sample_format *f, const struct sample *s, struct str *out)
{
	for (unsigned i = 0; i < f->n_rows; i++)
		encode_row(f, &sample_rows[f->rows[i]], s, out);
}

void sample_encode_trailer(const struct sample_format *f, const struct sample *s, struct str *out)
{
	if (!f->trailer)
		return;
	for (unsigned i = 0; i < f->n_rows; i++)
		if (sample_rows[f->rows[i]].is_in_trailer)
			encode_row(f, &sample_rows[f->rows[i]], s, out);
	if (f->type & PERF_SAMPLE_IDENTIFIER)
		put_word(out, s->id);
}
