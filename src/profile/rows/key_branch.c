#include "profile/rows/key_family.h"

#include <string.h>

#include "profile/code/ipc.h"
#include "record/branch.h"

static void cell_of_function(const struct key_value *v, struct cell *ret)
{
	key_set_function(&v->hist->profile->symbols.at[v->label], CELL_PLACE, ret);
}

static u64 prediction_of(const struct profile *p, u64 flags)
{
	(void)p;
	return flags & (BRANCH_MISPREDICTED | BRANCH_PREDICTED);
}

/* Not all branches tell whether they were predicted. */
static void set_prediction(u64 bits, bool is_yes, struct cell *ret)
{
	if (bits)
		cell_text(ret, is_yes ? "Y" : "N");
	else
		cell_unknown(ret, CELL_NOT_KNOWN);
}

static void cell_of_mispredicted(const struct key_value *v, struct cell *ret)
{
	set_prediction(v->label, !(v->label & BRANCH_PREDICTED), ret);
}

static void cell_of_predicted(const struct key_value *v, struct cell *ret)
{
	set_prediction(v->label, v->label & BRANCH_PREDICTED, ret);
}

static u64 in_transaction_of(const struct profile *p, u64 flags)
{
	(void)p;
	return flags & BRANCH_IN_TRANSACTION;
}

static void cell_of_in_transaction(const struct key_value *v, struct cell *ret)
{
	cell_text(ret, v->label ? "T" : ".");
}

static u64 abort_of(const struct profile *p, u64 flags)
{
	(void)p;
	return flags & BRANCH_ABORT;
}

static void cell_of_abort(const struct key_value *v, struct cell *ret)
{
	cell_text(ret, v->label ? "A" : ".");
}

static u64 cycles_of(const struct profile *p, u64 flags)
{
	(void)p;
	return branch_cycles(flags);
}

static void cell_of_cycles(const struct key_value *v, struct cell *ret)
{
	if (v->label)
		cell_number(ret, CELL_COUNT, v->label);
	else
		cell_unknown(ret, CELL_NOT_KNOWN);
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
	key_add_symbol(s, text);
	str_addf(text, "+0x%llx", (unsigned long long)(f->at - s->start));
}

static const char *line_at(const struct profile *p, u32 frame)
{
	const struct profile_symbol *s = &p->symbols.at[p->frames.at[frame].symbol];

	return s->has_line ? s->line : NULL;
}

/*
 * "[sum+0x10 -> sum+0x44]", or, if lines are known, "[a.c:12 -> a.c:14] sum+0x10..0x44" because several runs
 * may have the same lines. A question mark stands for an unrecorded start.
 */
static void add_block(const struct profile *p, u64 label, struct str *text)
{
	const struct profile_block block = profile_block(label);
	bool has_start = block.start != PROFILE_NO_FRAME;
	const char *from = has_start ? line_at(p, block.start) : "?";
	const char *to = line_at(p, block.end);

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

static void cell_of_block(const struct key_value *v, struct cell *ret)
{
	add_block(v->hist->profile, v->label, v->room);
	cell_text(ret, str_text(v->room));
}

/* ---- branches before samples ---- */

/* SUM_TIMED: branches whose cycles were counted. */
enum history_sum { SUM_TOLD, SUM_PREDICTED, SUM_ABORTS, SUM_TIMED, SUM_CYCLES };

static u64 history_of(const struct profile_branch *b, enum history_sum what, u64 n_samples)
{
	switch (what) {
	case SUM_TIMED:
		return b->cycles ? n_samples : 0;
	case SUM_TOLD:
		return b->n_told;
	case SUM_PREDICTED:
		return b->n_predicted;
	case SUM_ABORTS:
		return b->n_aborts;
	case SUM_CYCLES:
		return b->cycles;
	}
	return 0;
}

/* A sum over all branches before a row's samples: each has two frames in the stack, its source being the outer one. */
static u64 sum_history(const struct profile *p, size_t row, u32 what)
{
	const struct profile_row *r = &p->rows.at[row];
	u32 branch = r->branches;
	u64 sum = 0;

	for (u32 stack = r->callers; stack; stack = p->stacks.at[stack].parent)
		if (p->frames.at[p->stacks.at[stack].frame].branch == PROFILE_BRANCH_FROM)
			sum += history_of(&p->branches.at[branch++], what, r->n_samples);
	return sum;
}

#define HISTORY(what)                         \
	{                                     \
		LABEL_NONE, sum_history, what \
	}

static const struct hist_sum predictions[] = {HISTORY(SUM_PREDICTED), HISTORY(SUM_TOLD)};
static const struct hist_sum aborts[] = {HISTORY(SUM_ABORTS)};
static const struct hist_sum cycles[] = {HISTORY(SUM_CYCLES), HISTORY(SUM_TIMED)};

static u64 total_of(const struct hist *h, const struct hist_entry *e, u32 k,
	const struct hist_sum *sum)
{
	return hist_total_sum(h, e, k, sum);
}

static u64 predicted_of_history(const struct hist *h, const struct hist_entry *e, u32 k)
{
	const u64 n_told = total_of(h, e, k, &predictions[1]);

	return n_told ? 10000 * total_of(h, e, k, &predictions[0]) / n_told : 0;
}

static void cell_of_predicted_history(const struct key_value *v, struct cell *ret)
{
	const u64 n_told = total_of(v->hist, v->entry, v->event, &predictions[1]);

	if (!n_told) {
		cell_unknown(ret, CELL_NOT_KNOWN);
		return;
	}
	cell_share(ret, total_of(v->hist, v->entry, v->event, &predictions[0]), n_told);
	ret->spans = 0;
}

static u64 aborts_of_history(const struct hist *h, const struct hist_entry *e, u32 k)
{
	return total_of(h, e, k, aborts);
}

static void cell_of_aborts_in_history(const struct key_value *v, struct cell *ret)
{
	cell_number(ret, CELL_COUNT, aborts_of_history(v->hist, v->entry, v->event));
}

static u64 cycles_of_history(const struct hist *h, const struct hist_entry *e, u32 k)
{
	const u64 n = total_of(h, e, k, &cycles[1]);

	return n ? 1000 * total_of(h, e, k, &cycles[0]) / n : 0;
}

static void cell_of_cycles_in_history(const struct key_value *v, struct cell *ret)
{
	const u64 n = total_of(v->hist, v->entry, v->event, &cycles[1]);

	if (n)
		cell_real(ret,
			(double)total_of(v->hist, v->entry, v->event, &cycles[0]) / (double)n, 1);
	else
		cell_unknown(ret, CELL_NOT_KNOWN);
}

/* ---- instructions per cycle ---- */

#define NO_IPC "no run of its code between branches was sampled with cycles"

static const struct ipc_function *ipc_of(const struct key_value *v)
{
	const struct ipc *ipc = v->hist->options->ipc;
	const struct ipc_function *f =
		ipc ? &ipc->of[profile_function(v->hist->profile, v->entry->symbol)] : NULL;

	return f && f->n_cycles ? f : NULL;
}

static void cell_of_ipc(const struct key_value *v, struct cell *ret)
{
	const struct ipc_function *f = ipc_of(v);

	if (f)
		cell_real(ret, (double)f->n_run / (double)f->n_cycles, 2);
	else
		cell_unknown(ret, NO_IPC);
}

static void cell_of_coverage(const struct key_value *v, struct cell *ret)
{
	const struct ipc_function *f = ipc_of(v);

	if (f)
		cell_real(ret, 100 * (double)f->n_covered / (double)f->n_code, 1);
	else
		cell_unknown(ret, NO_IPC);
}

/* Both, in perf's words. */
static void cell_of_ipc_and_coverage(const struct key_value *v, struct cell *ret)
{
	const struct ipc_function *f = ipc_of(v);

	if (!f) {
		cell_unknown(ret, NO_IPC);
		return;
	}
	str_addf(v->room, "%-5.2f [%5.1f%%]", (double)f->n_run / (double)f->n_cycles,
		100 * (double)f->n_covered / (double)f->n_code);
	cell_text(ret, str_text(v->room));
	ret->real = (double)f->n_run / (double)f->n_cycles;
}

static const struct key ipc_data[] = {
	{.name = "ipc", .title = "IPC", .is_value = true, .kind = CELL_REAL, .cell = cell_of_ipc},
	{.name = "ipc_coverage",
		.title = "IPC Coverage",
		.is_value = true,
		.kind = CELL_REAL,
		.cell = cell_of_coverage}};

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "dso_from",
		.title = "Source Shared Object",
		.help = "file where branches come from",
		.label = LABEL_FROM,
		.value = key_dso_of,
		.compare = key_compare_texts,
		.kind = CELL_TEXT,
		.cell = key_cell_name},
	{.name = "symbol_from",
		.title = "Source Symbol",
		.help = "function where branches come from",
		.label = LABEL_FROM,
		.value = key_function_of,
		.compare = key_compare_functions,
		.kind = CELL_PLACE,
		.cell = cell_of_function},
	{.name = "srcline_from",
		.title = "From Source:Line",
		.help = "source line where branches come from",
		.label = LABEL_FROM,
		.is_of_line = true,
		.value = key_line_of,
		.compare = key_compare_texts,
		.kind = CELL_TEXT,
		.cell = key_cell_name},
	{.name = "addr_from",
		.title = "Source Address",
		.help = "function and offset where branches come from",
		.label = LABEL_FROM,
		.compare = key_compare_addresses,
		.kind = CELL_PLACE,
		.cell = key_cell_place},
	{.name = "dso_to",
		.title = "Target Shared Object",
		.help = "file where branches go",
		.label = LABEL_TO,
		.value = key_dso_of,
		.compare = key_compare_texts,
		.kind = CELL_TEXT,
		.cell = key_cell_name},
	{.name = "symbol_to",
		.title = "Target Symbol",
		.help = "function where branches go",
		.label = LABEL_TO,
		.value = key_function_of,
		.compare = key_compare_functions,
		.kind = CELL_PLACE,
		.cell = cell_of_function},
	{.name = "srcline_to",
		.title = "To Source:Line",
		.help = "source line where branches go",
		.label = LABEL_TO,
		.is_of_line = true,
		.value = key_line_of,
		.compare = key_compare_texts,
		.kind = CELL_TEXT,
		.cell = key_cell_name},
	{.name = "addr_to",
		.title = "Target Address",
		.help = "function and offset where branches go",
		.label = LABEL_TO,
		.compare = key_compare_addresses,
		.kind = CELL_PLACE,
		.cell = key_cell_place},
	{.name = "mispredict",
		.title = "Branch Mispredicted",
		.help = "Y or N; N/A if the processor does not tell",
		.label = LABEL_BRANCH,
		.value = prediction_of,
		.kind = CELL_TEXT,
		.cell = cell_of_mispredicted},
	{.name = "predicted",
		.title = "Branch Predicted",
		.help = "the opposite of mispredict: N, Y or N/A",
		.label = LABEL_BRANCH,
		.value = prediction_of,
		.kind = CELL_TEXT,
		.cell = cell_of_predicted},
	{.name = "in_tx",
		.title = "Branch in transaction",
		.help = "T: the branch was in a transaction",
		.label = LABEL_BRANCH,
		.value = in_transaction_of,
		.kind = CELL_TEXT,
		.cell = cell_of_in_transaction},
	{.name = "abort",
		.title = "Transaction abort",
		.help = "A: the branch aborted a transaction",
		.label = LABEL_BRANCH,
		.value = abort_of,
		.kind = CELL_TEXT,
		.cell = cell_of_abort},
	{.name = "cycles",
		.title = "Basic Block Cycles",
		.help = "cycles since the previous branch; -: not counted",
		.is_descending = true,
		.label = LABEL_BRANCH,
		.value = cycles_of,
		.kind = CELL_COUNT,
		.cell = cell_of_cycles},
	{.name = "callchain_branch_predicted",
		.title = "Predicted",
		.help = "share of the branches before samples that were predicted (--branch-history)",
		.is_value = true,
		.is_of_history = true,
		.sums = predictions,
		.n_sums = ARRAY_SIZE(predictions),
		.is_data = true,
		.figure = predicted_of_history,
		.kind = CELL_SHARE,
		.cell = cell_of_predicted_history},
	{.name = "callchain_branch_abort",
		.title = "Abort",
		.help = "number of the branches before samples that aborted transactions (--branch-history)",
		.is_value = true,
		.is_of_history = true,
		.sums = aborts,
		.n_sums = ARRAY_SIZE(aborts),
		.is_data = true,
		.figure = aborts_of_history,
		.kind = CELL_COUNT,
		.cell = cell_of_aborts_in_history},
	{.name = "callchain_branch_cycles",
		.title = "Cycles",
		.help = "cycles from branch to branch before samples, on average, where they were counted (--branch-history)",
		.is_value = true,
		.is_of_history = true,
		.sums = cycles,
		.n_sums = ARRAY_SIZE(cycles),
		.is_data = true,
		.figure = cycles_of_history,
		.kind = CELL_REAL,
		.cell = cell_of_cycles_in_history},
	{.name = "ipc_lbr",
		.alias = "ipc",
		.title = "IPC   [IPC Coverage]",
		.help = "instructions per cycle of the function, and how much of its code was timed between branches",
		.is_value = true,
		.is_of_code = true,
		.data = ipc_data,
		.n_data = ARRAY_SIZE(ipc_data),
		.kind = CELL_TEXT,
		.cell = cell_of_ipc_and_coverage},
	{.name = "block",
		.title = "[Program Block Range]",
		.help = "straight run of code, from a branch target to the next branch (--total-cycles)",
		.label = LABEL_BLOCK,
		.is_of_line = true,
		.compare = compare_blocks,
		.kind = CELL_TEXT,
		.cell = cell_of_block},
};
/* clang-format on */

const struct key_family key_branches = {"branches", keys, ARRAY_SIZE(keys)};
