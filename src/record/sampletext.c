#include "base/bytes.h"
#include "record/branch.h"
#include "record/regs.h"
#include "record/samplerow.h"

static void add_words(const struct sample_words *words, struct str *text)
{
	for (u64 i = 0; i < words->n; i++)
		str_addf(text, " %llx", (unsigned long long)load_u64(words->at + i * 8));
}

static void add_regs(u64 mask, const struct sample_regs *regs, const struct arch *arch,
	struct str *text)
{
	u64 k = 0;

	str_addf(text, " abi %llu", (unsigned long long)regs->abi);
	for (unsigned bit = 0; bit < 64 && k < regs->values.n; bit++) {
		char name[16];

		if (!(mask >> bit & 1))
			continue;
		str_addf(text, " %s=0x%llx", regs_name(arch, bit, name, sizeof(name)),
			(unsigned long long)load_u64(regs->values.at + 8 * k++));
	}
}

/* A line each, the newest first: "0: 401106 -> 40111a 7 cycles M X A". */
static void add_branches(const struct sample_branches *br, struct str *text)
{
	static const struct {
		u64 bit;
		const char *word; /* as "script -F brstack" has it */
	} flags[] = {{BRANCH_MISPREDICTED, " M"}, {BRANCH_PREDICTED, " P"},
		{BRANCH_IN_TRANSACTION, " X"}, {BRANCH_ABORT, " A"}};

	str_addf(text, " n %llu", (unsigned long long)br->n);
	for (u64 i = 0; i < br->n; i++) {
		struct branch b = branch_at(br->entries, i);

		str_addf(text, "\n    %2llu: %016llx -> %016llx %u cycles", (unsigned long long)i,
			(unsigned long long)b.from, (unsigned long long)b.to,
			branch_cycles(b.flags));
		for (size_t k = 0; k < ARRAY_SIZE(flags); k++)
			str_add(text, b.flags & flags[k].bit ? flags[k].word : "");
	}
}

static void add_row(const struct sample_format *f, const struct sample_row *row,
	const struct sample *s, const struct arch *arch, struct str *text)
{
	const void *from = (const u8 *)s + row->member;
	const struct sample_stack *stack = from;
	const struct sample_branches *br = from;
	const struct sample_read *read = from;

	str_addf(text, "%s", row->name);
	switch ((enum sample_kind)row->kind) {
	case S_WORD:
		str_addf(text,
			row->bits & (PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_ID)
				? " %llu"
				: " 0x%llx",
			(unsigned long long)load_u64(from));
		break;
	case S_TWO:
		str_addf(text, row->bits == PERF_SAMPLE_TID ? " %u/%u" : " %u", load_u32(from),
			load_u32((const u8 *)from + 4));
		break;
	case S_READ:
		str_addf(text,
			" n %llu enabled %llu running %llu:", (unsigned long long)read->n_values,
			(unsigned long long)read->time_enabled,
			(unsigned long long)read->time_running);
		add_words(&read->values, text);
		break;
	case S_CHAIN:
		str_addf(text, " n %llu:", (unsigned long long)s->chain.n);
		add_words(&s->chain, text);
		break;
	case S_RAW:
	case S_AUX:
		str_addf(text, " %u bytes", ((const struct record_bytes *)from)->n);
		break;
	case S_BRANCHES:
		add_branches(br, text);
		break;
	case S_REGS:
		add_regs(sample_regs_mask(f, row), from, arch, text);
		break;
	case S_STACK:
		str_addf(text, " %u bytes, %llu real", stack->bytes.n,
			(unsigned long long)stack->dyn_size);
		break;
	}
	str_addc(text, '\n');
}

void sample_add_text(const struct sample_format *f, const struct sample *s, const struct arch *arch,
	struct str *text)
{
	for (unsigned i = 0; i < f->n_rows; i++)
		add_row(f, &sample_rows[f->rows[i]], s, arch, text);
}
