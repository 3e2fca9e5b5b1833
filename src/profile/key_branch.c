#include "profile/key_family.h"

#include <string.h>

#include "base/num.h"

/* linux/perf_event.h: struct perf_branch_entry, the bits behind the addresses */
enum { MISPREDICTED = 1, PREDICTED = 2, IN_TRANSACTION = 4, ABORT = 8, CYCLES_SHIFT = 4 };

static void print_function(const struct hist *h, const struct hist_entry *e, u64 symbol,
	struct str *text)
{
	(void)e;
	key_add_function(h->profile, (u32)symbol, text);
}

static u64 prediction_of(const struct profile *p, u64 flags)
{
	(void)p;
	return flags & (MISPREDICTED | PREDICTED);
}

static void print_mispredicted(const struct hist *h, const struct hist_entry *e, u64 bits,
	struct str *text)
{
	(void)h;
	(void)e;
	str_add(text, bits & PREDICTED ? "N" : bits ? "Y" : "N/A");
}

static void print_predicted(const struct hist *h, const struct hist_entry *e, u64 bits,
	struct str *text)
{
	(void)h;
	(void)e;
	str_add(text, bits & PREDICTED ? "Y" : bits ? "N" : "N/A");
}

static u64 in_transaction_of(const struct profile *p, u64 flags)
{
	(void)p;
	return flags & IN_TRANSACTION;
}

static void print_in_transaction(const struct hist *h, const struct hist_entry *e, u64 bit,
	struct str *text)
{
	(void)h;
	(void)e;
	str_add(text, bit ? "T" : ".");
}

static u64 abort_of(const struct profile *p, u64 flags)
{
	(void)p;
	return flags & ABORT;
}

static void print_abort(const struct hist *h, const struct hist_entry *e, u64 bit, struct str *text)
{
	(void)h;
	(void)e;
	str_add(text, bit ? "A" : ".");
}

static u64 cycles_of(const struct profile *p, u64 flags)
{
	(void)p;
	return flags >> CYCLES_SHIFT & UINT16_MAX;
}

static void print_cycles(const struct hist *h, const struct hist_entry *e, u64 cycles,
	struct str *text)
{
	(void)h;
	(void)e;
	if (cycles)
		num_add_u64(text, cycles);
	else
		str_addc(text, '-');
}

/* ---- runs of code ---- */

static int compare_blocks(const struct profile *p, u64 a, u64 b)
{
	const struct profile_block x = profile_block(a), y = profile_block(b);
	int c = key_compare_addresses(p, x.end, y.end);

	if (c || x.start == PROFILE_NO_FRAME || y.start == PROFILE_NO_FRAME)
		return c ? c : (y.start == PROFILE_NO_FRAME) - (x.start == PROFILE_NO_FRAME);
	return key_compare_addresses(p, x.start, y.start);
}

/* "function+0x1c", or the address in the file. */
static void add_point(const struct profile *p, u32 frame, struct str *text)
{
	const struct profile_frame *f = &p->frames.at[frame];
	const struct profile_symbol *s = &p->symbols.at[f->symbol];

	if (!s->name) {
		str_addf(text, "0x%llx", (unsigned long long)f->at);
		return;
	}
	key_add_symbol(p, s, false, text);
	str_addf(text, "+0x%llx", (unsigned long long)(f->at - s->start));
}

static const char *line_at(const struct profile *p, u32 frame)
{
	const struct profile_symbol *s = &p->symbols.at[p->frames.at[frame].symbol];

	return s->has_line ? s->line : NULL;
}

/*
 * "[sum+0x10 -> sum+0x44]"; where lines are known "[a.c:12 -> a.c:14] sum+0x10..0x44": several runs may
 * be of the same lines. A question mark is where a run began that nobody recorded.
 */
static void print_block(const struct hist *h, const struct hist_entry *e, u64 label,
	struct str *text)
{
	const struct profile *p = h->profile;
	const struct profile_block block = profile_block(label);
	bool has_start = block.start != PROFILE_NO_FRAME;
	const char *from = has_start ? line_at(p, block.start) : "?";
	const char *to = line_at(p, block.end);

	(void)e;
	if (!from || !to) {
		str_addc(text, '[');
		if (has_start)
			add_point(p, block.start, text);
		else
			str_addc(text, '?');
		str_add(text, " -> ");
		add_point(p, block.end, text);
		str_addc(text, ']');
		return;
	}
	str_addc(text, '[');
	str_add_safe(text, from, strlen(from));
	str_add(text, " -> ");
	str_add_safe(text, to, strlen(to));
	str_add(text, "] ");
	add_point(p, has_start ? block.start : block.end, text);
	if (has_start)
		str_addf(text, "..0x%llx",
			(unsigned long long)(p->frames.at[block.end].at -
				p->symbols.at[p->frames.at[block.start].symbol].start));
}

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "dso_from",
		.header = "Source Shared Object",
		.help = "file where branches come from",
		.label = LABEL_FROM,
		.value = key_dso_of,
		.compare = key_compare_texts,
		.print = key_print_name},
	{.name = "symbol_from",
		.header = "Source Symbol",
		.help = "function where branches come from",
		.label = LABEL_FROM,
		.value = key_function_of,
		.compare = key_compare_functions,
		.print = print_function},
	{.name = "srcline_from",
		.header = "From Source:Line",
		.help = "line of source where branches come from",
		.label = LABEL_FROM,
		.is_of_line = true,
		.value = key_line_of,
		.compare = key_compare_texts,
		.print = key_print_name},
	{.name = "addr_from",
		.header = "Source Address",
		.help = "function and place where branches come from",
		.label = LABEL_FROM,
		.compare = key_compare_addresses,
		.print = key_print_place},
	{.name = "dso_to",
		.header = "Target Shared Object",
		.help = "file where they go",
		.label = LABEL_TO,
		.value = key_dso_of,
		.compare = key_compare_texts,
		.print = key_print_name},
	{.name = "symbol_to",
		.header = "Target Symbol",
		.help = "function where they go",
		.label = LABEL_TO,
		.value = key_function_of,
		.compare = key_compare_functions,
		.print = print_function},
	{.name = "srcline_to",
		.header = "To Source:Line",
		.help = "line of source where they go",
		.label = LABEL_TO,
		.is_of_line = true,
		.value = key_line_of,
		.compare = key_compare_texts,
		.print = key_print_name},
	{.name = "addr_to",
		.header = "Target Address",
		.help = "function and place where they go",
		.label = LABEL_TO,
		.compare = key_compare_addresses,
		.print = key_print_place},
	{.name = "mispredict",
		.header = "Branch Mispredicted",
		.unknown = "N/A",
		.help = "Y, N, or N/A where the processor does not say",
		.label = LABEL_BRANCH,
		.value = prediction_of,
		.print = print_mispredicted},
	{.name = "predicted",
		.header = "Branch Predicted",
		.unknown = "N/A",
		.help = "the opposite",
		.label = LABEL_BRANCH,
		.value = prediction_of,
		.print = print_predicted},
	{.name = "in_tx",
		.header = "Branch in transaction",
		.help = "T: it was in a transaction",
		.label = LABEL_BRANCH,
		.value = in_transaction_of,
		.print = print_in_transaction},
	{.name = "abort",
		.header = "Transaction abort",
		.help = "A: it is where a transaction was aborted",
		.label = LABEL_BRANCH,
		.value = abort_of,
		.print = print_abort},
	{.name = "cycles",
		.header = "Basic Block Cycles",
		.unknown = "-",
		.help = "since the branch before it; -: not counted",
		.is_descending = true,
		.label = LABEL_BRANCH,
		.value = cycles_of,
		.print = print_cycles,
		.number = print_cycles},
	{.name = "block",
		.header = "[Program Block Range]",
		.help = "straight run of code, from where a branch went to the next one (--total-cycles)",
		.label = LABEL_BLOCK,
		.is_of_line = true,
		.compare = compare_blocks,
		.print = print_block},
};
/* clang-format on */

const struct key_family key_branches = {keys, ARRAY_SIZE(keys)};
