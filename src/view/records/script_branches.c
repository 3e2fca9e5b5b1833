/*
 * script_branches.c - the last branches before a sample: as addresses, names or offsets, as JSON, and
 * as the code that ran between them.
 */
#include <elf.h>

#include "base/json.h"
#include "event/abi.h"
#include "record/branch.h"
#include "arch/arch.h"
#include "view/records/script.h"

enum {
	STRETCH_MAX = 1 << 14, /* bytes from a branch's target to the next branch; more is damage */
	INSTRUCTION_MAX = 15,
};

/* Branches lead from user space into the kernel and back: the address of each end tells its mode. */
static struct chain_step end_of(u64 address)
{
	u8 mode = (s64)address < 0 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;

	return (struct chain_step){address, mode, false};
}

/* "/M/X/A/7/": prediction, in a transaction, abort, cycles; '-' means no or unknown. */
static void add_flags(const struct branch *b, struct str *text)
{
	str_addf(text, "/%c/%c/%c/%u/ ",
		b->flags & BRANCH_MISPREDICTED        ? 'M'
			: b->flags & BRANCH_PREDICTED ? 'P'
						      : '-',
		b->flags & BRANCH_IN_TRANSACTION ? 'X' : '-', b->flags & BRANCH_ABORT ? 'A' : '-',
		branch_cycles(b->flags));
}

static void add_named(struct script *s, const struct thread_state *t, const struct branch *b,
	u64 fields, enum script_form form, struct str *text)
{
	struct chain_step from = end_of(b->from), to = end_of(b->to);
	u64 place = fields & (SCRIPT_DSO | SCRIPT_SRCLINE);

	if (form == SCRIPT_AS_OFFSET)
		str_addc(text, ' ');
	script_add_place(s, t, &from, place, form, text);
	str_addc(text, '/');
	script_add_place(s, t, &to, place, form, text);
	add_flags(b, text);
}

void script_add_branches(struct script *s, const struct thread_state *state,
	const struct sample *sample, u64 fields, struct str *text)
{
	const struct sample_branches *br = &sample->branches;
	bool has_names = !(fields & SCRIPT_BRSTACK) && fields & SCRIPT_BRSTACKSYM;
	bool has_offsets = !has_names && !(fields & SCRIPT_BRSTACK) && fields & SCRIPT_BRSTACKOFF;

	for (u64 i = 0; i < br->n; i++) {
		struct branch b = branch_at(br->entries, i);

		if (fields & SCRIPT_BRSTACK) {
			str_addf(text, " 0x%llx/0x%llx", (unsigned long long)b.from,
				(unsigned long long)b.to);
			add_flags(&b, text);
		} else if (has_names) {
			add_named(s, state, &b, fields, SCRIPT_AS_SYMBOL, text);
		} else if (has_offsets) {
			add_named(s, state, &b, fields, SCRIPT_AS_OFFSET, text);
		}
	}
}

void script_add_branches_json(struct script *s, const struct thread_state *state,
	const struct sample *sample, u64 fields, struct str *text)
{
	json_open(text, "branches", '[');
	for (u64 i = 0; i < sample->branches.n; i++) {
		struct branch b = branch_at(sample->branches.entries, i);
		struct chain_step from = end_of(b.from), to = end_of(b.to);

		str_addc(text, '{');
		json_key(text, "from");
		script_add_place(s, state, &from, fields & SCRIPT_SRCLINE, SCRIPT_AS_JSON, text);
		str_addc(text, ',');
		json_key(text, "to");
		script_add_place(s, state, &to, fields & SCRIPT_SRCLINE, SCRIPT_AS_JSON, text);
		str_addc(text, ',');
		if (b.flags & (BRANCH_MISPREDICTED | BRANCH_PREDICTED))
			json_bool(text, "mispredicted", b.flags & BRANCH_MISPREDICTED);
		json_bool(text, "in_transaction", b.flags & BRANCH_IN_TRANSACTION);
		json_bool(text, "abort", b.flags & BRANCH_ABORT);
		if (branch_cycles(b.flags))
			json_u64(text, "cycles", branch_cycles(b.flags));
		json_close(text, '}');
	}
	json_close(text, ']');
}

/* ---- code ---- */

bool script_code_find(struct code *c, struct script *s, const struct location *l, u64 n)
{
	u64 start = locator_name(&s->locator, l).at;
	struct err ignored;

	memset(c, 0, sizeof(*c));
	for (unsigned more = INSTRUCTION_MAX; more; more--)
		if (!code_find(c, s->locator.resolver, l->dso, start, start + n + more, &ignored))
			return true;
	return false;
}

/* The functions that read this code; NULL: there are none. */
static const struct arch_code *reader_of(const struct code *c)
{
	return c->arch ? c->arch->code : NULL;
}

unsigned script_code_size(const struct code *c, u64 at)
{
	const struct arch_code *reader = reader_of(c);

	return reader ? reader->size(c->arch, c->at + at, (u32)(at < c->n ? c->n - at : 0)) : 0;
}

static bool is_branch(const struct code *c, u64 at)
{
	const struct arch_code *reader = reader_of(c);

	return reader && reader->is_branch &&
		reader->is_branch(c->arch, c->at + at, (u32)(c->n - at));
}

/* The state of a walk over the code before a sample. */
struct walk {
	struct script *s;
	const struct thread_state *t;
	u64 fields;
	u64 function;  /* start of the last function that was named, in memory */
	bool is_named; /* a function was named */
	u64 cycles;    /* so far */
	struct str *text;
};

/* Adds "	outer+23:" where the code of another function begins. */
static void add_title(struct walk *w, const struct location *l, u64 ip)
{
	struct resolver_answer a = locator_name(&w->s->locator, l);
	const char *name = resolver_title(&a, w->s->options->name_style, &w->s->strings);
	u64 start = ip - (a.at - a.start);

	if (!name || (w->is_named && w->function == start))
		return;
	w->is_named = true;
	w->function = start;
	str_addc(w->text, '\t');
	str_add_safe(w->text, name, strlen(name));
	if (a.at > a.start)
		str_addf(w->text, "+%llu", (unsigned long long)(a.at - a.start));
	str_addc(w->text, ':');
	if (w->fields & SCRIPT_SRCLINE) {
		str_addc(w->text, '\t');
		script_add_source(w->s, l, ip, w->text);
	}
	str_addc(w->text, '\n');
}

/* "# MISPRED INTX 7 cycles [14] 1.57 IPC": how the branch left its stretch of code, and what the stretch took. */
static void add_jump(struct walk *w, const struct branch *b, unsigned n_instructions)
{
	str_addf(w->text, "\t#%s%s%s%s", b->flags & BRANCH_PREDICTED ? " PRED" : "",
		b->flags & BRANCH_MISPREDICTED ? " MISPRED" : "",
		b->flags & BRANCH_IN_TRANSACTION ? " INTX" : "",
		b->flags & BRANCH_ABORT ? " ABORT" : "");
	if (!branch_cycles(b->flags))
		return;
	w->cycles += branch_cycles(b->flags);
	str_addf(w->text, " %u cycles [%llu]", branch_cycles(b->flags),
		(unsigned long long)w->cycles);
	if (n_instructions)
		str_addf(w->text, " %.2f IPC", (double)n_instructions / branch_cycles(b->flags));
}

/* Adds an instruction without the end of its line; its bytes are padded if a remark follows. */
static void add_bytes(struct walk *w, u64 ip, const struct code *c, u64 at, unsigned size,
	bool has_remark)
{
	enum { BYTES_WIDTH = 30 };
	size_t start;

	str_addf(w->text, "\t%016llx\t", (unsigned long long)ip);
	start = w->text->n;
	str_add(w->text, "insn: ");
	for (unsigned i = 0; i < size; i++)
		str_addf(w->text, "%02x ", c->at[at + i]);
	if (has_remark && w->text->n - start < BYTES_WIDTH)
		str_fill(w->text, ' ', BYTES_WIDTH - (w->text->n - start));
	if (w->fields & SCRIPT_BRSTACKINSNLEN)
		str_addf(w->text, "\tilen: %u", size);
}

static void say_missing(struct walk *w, u64 start, u64 end)
{
	str_addf(w->text, "\t... no code from %llx to %llx ...\n", (unsigned long long)start,
		(unsigned long long)end);
}

/* Adds the code from `start` to the branch that ends it; of the oldest, only the branch itself. */
static void add_stretch(struct walk *w, u64 start, const struct branch *b, bool is_oldest)
{
	struct chain_step step = end_of(start);
	struct location l;
	struct code c;
	unsigned size, n = 0;
	u64 at = 0, length = b->from - start;

	/* Entries that the CPU had not filled yet are all zeros. */
	if (!b->from || b->from < start || length > STRETCH_MAX)
		return;
	locator_find(&w->s->locator, w->t, &step, &l);
	if (!script_code_find(&c, w->s, &l, length)) {
		say_missing(w, start, b->from);
		return;
	}
	for (; at <= length && (size = script_code_size(&c, at)); at += size) {
		bool is_last = at == length;

		step.ip = start + at;
		locator_find(&w->s->locator, w->t, &step, &l);
		add_title(w, &l, step.ip);
		add_bytes(w, step.ip, &c, at, size, is_last);
		n++;
		if (is_last)
			add_jump(w, b, is_oldest ? 0 : n);
		str_addc(w->text, '\n');
	}
	/* The last instruction must be at the branch. */
	if (at <= length || script_code_size(&c, length) != at - length)
		str_add(w->text, "\tmismatch of LBR data and executable\n");
	code_fini(&c);
}

/* Adds the code from the newest branch's target to the sample. */
static void add_end(struct walk *w, u64 start, u64 ip)
{
	struct chain_step step = end_of(start);
	struct location l;
	struct code c;
	unsigned size;

	if (ip < start || ip - start > STRETCH_MAX)
		return;
	locator_find(&w->s->locator, w->t, &step, &l);
	if (!script_code_find(&c, w->s, &l, ip - start)) {
		say_missing(w, start, ip);
		return;
	}
	for (u64 at = 0; at <= ip - start && (size = script_code_size(&c, at)); at += size) {
		step.ip = start + at;
		locator_find(&w->s->locator, w->t, &step, &l);
		add_title(w, &l, step.ip);
		add_bytes(w, step.ip, &c, at, size, false);
		str_addc(w->text, '\n');
		/* If this branch was taken, the newest branches are missing from the record. */
		if (at < ip - start && is_branch(&c, at)) {
			str_add(w->text, "\t... not reaching sample ...\n");
			break;
		}
	}
	code_fini(&c);
}

void script_add_branch_code(struct script *s, const struct thread_state *state,
	const struct sample *sample, u64 fields, struct str *text)
{
	const struct sample_branches *br = &sample->branches;
	struct walk w = {.s = s, .t = state, .fields = fields, .text = text};
	struct branch b;
	u64 target, n = br->n;

	if (!n)
		return;
	/* One more branch begins the oldest block. */
	if (s->options->max_blocks && n > s->options->max_blocks + 1)
		n = s->options->max_blocks + 1;
	str_addc(text, '\n');
	b = branch_at(br->entries, n - 1);
	add_stretch(&w, b.from, &b, true);
	for (u64 i = n - 1; i--;) {
		target = branch_at(br->entries, i + 1).to;
		b = branch_at(br->entries, i);
		add_stretch(&w, target, &b, false);
	}
	add_end(&w, branch_at(br->entries, 0).to, sample->ip);
}
