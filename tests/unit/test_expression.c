#include "test.h"

#include "unwind/expression.h"

/* Memory: the word at va holds va + 1. */
static bool read_word(void *ctx, u64 va, unsigned size, u64 *ret_v)
{
	(void)ctx;
	if (va < 0x1000)
		return false;
	*ret_v = size == 8 ? va + 1 : (va + 1) & ((1ull << 8 * size) - 1);
	return true;
}

static const u64 regs[8] = {[6] = 0x2000, [7] = 0x3000};

static const struct expression_case {
	const char *code;
	size_t n;
	bool fails;
	u64 value;
} cases[] = {
#define RUN(code, value)                             \
	{                                            \
		code, sizeof(code) - 1, false, value \
	}
#define BAD(code)                               \
	{                                       \
		code, sizeof(code) - 1, true, 0 \
	}
	RUN("\x77\x08", 0x3008),           /* breg7 8 */
	RUN("\x76\x78", 0x1ff8),           /* breg6 -8 */
	RUN("\x77\x00\x06", 0x3001),       /* deref */
	RUN("\x0a\x34\x12\x94\x01", 0x35), /* deref_size 1 */
	RUN("\x77\x08\x76\x00\x3f\x1a\x3b\x2a\x33\x24\x22",
		0x3008), /* the procedure linkage table's */
	RUN("\x77\x08\x3c\x3f\x1a\x3b\x2a\x33\x24\x22", 0x3010),
	RUN("\x09\xff", UINT64_MAX),          /* const1s */
	RUN("\x0b\xfe\xff\x1f", 2),           /* const2s, neg */
	RUN("\x0b\xfe\xff\x19", 2),           /* abs */
	RUN("\x35\x32\x1c", 3),               /* minus */
	RUN("\x09\xf9\x32\x1b", (u64)-3),     /* div is signed */
	RUN("\x37\x33\x1d", 1),               /* mod */
	RUN("\x31\x32\x33\x17\x13\x13", 3),   /* rot: the top becomes the third */
	RUN("\x31\x32\x16\x13", 2),           /* swap, drop */
	RUN("\x31\x32\x33\x15\x02", 1),       /* pick 2 */
	RUN("\x31\x32\x14\x22", 3),           /* over, plus: 2 + 1 */
	RUN("\x09\xf8\x31\x26", (u64)-4),     /* shra */
	RUN("\x31\x08\x40\x24", 0),           /* shl by 64 */
	RUN("\x31\x28\x01\x00\x96\x35", 5),   /* bra over a nop */
	RUN("\x2f\x01\x00\xff\x35", 5),       /* skip over what nobody knows */
	RUN("\x23\x05", 0x7005),              /* plus_uconst on the first value */
	RUN("\x06", 0x7001),                  /* deref of the first value */
	BAD("\x13\x13"),                      /* drop of nothing */
	BAD("\x31\x30\x1b"),                  /* by zero */
	BAD("\x31\x30\x1d"), BAD("\x30\x06"), /* memory that is not there */
	BAD("\x70\x00"),                      /* a register that is not known */
	BAD("\x92\x64\x00"),                  /* one that there is none */
	BAD("\xff"), BAD("\x0a\x34"),         /* cut off */
	BAD("\x2f\xfd\xff"),                  /* for ever */
	BAD("\x2f\x40\x00"),                  /* out of it */
	BAD("\x31\x2f\xfc\xff"),              /* deeper and deeper */
};

TEST(expression_computes_what_dwarf_says)
{
	const u64 first = 0x7000;
	struct expression_world world = {regs, 1 << 6 | 1 << 7, 8, 8, read_word, NULL, 0};
	u64 v;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct expression_case *c = &cases[i];

		v = 0;
		if (expression_eval(bytes_of(c->code, c->n), &world, &first, &v) == c->fails)
			test_failed(__FILE__, __LINE__, "case %zu", i);
		if (!c->fails && v != c->value)
			test_failed(__FILE__, __LINE__, "case %zu is 0x%llx, not 0x%llx", i,
				(unsigned long long)v, (unsigned long long)c->value);
	}
	CHECK(!expression_eval(bytes_of("", 0), &world, NULL, &v));
}

TEST(expression_of_a_32_bit_program_wraps_at_32_bits)
{
	const u64 small[1] = {0xfffffffc};
	struct expression_world world = {small, 1, 1, 4, read_word, NULL, 0};
	u64 v;

	CHECK(expression_eval(bytes_of("\x70\x08", 2), &world, NULL, &v));
	CHECK_EQ(v, 4);
}
