#include "profile/check/ledger.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "symbol/types/datatype.h"
#include "symbol/jit/runtime.h"
#include "unwind/ending.h"

static const struct {
	const char *key; /* in batches */
	const char *unit;
	const char *what;
	/* LOST_BEFORE: never in the file. NOT_READ: not readable, or not plausible. INFORMS: nothing is lost */
	enum { INFORMS, LOST_BEFORE, NOT_READ } kind;
} causes[] = {
	[LEDGER_DROPPED_BY_KERNEL] = {"dropped", "samples",
		"were dropped by the kernel because a ring was full", LOST_BEFORE},
	[LEDGER_LOST_RECORDS] = {"lost-records", "records",
		"were dropped by the kernel because a ring was full", LOST_BEFORE},
	[LEDGER_THROTTLED] = {"throttled", "times",
		"the kernel stopped sampling for a moment (it took too much time)", INFORMS},
	[LEDGER_DAMAGED] = {"damaged", "bytes", "of the file are damaged and were not read",
		NOT_READ},
	[LEDGER_UNREADABLE] = {"unreadable", "records",
		"do not have the fields that their event says they have", NOT_READ},
	[LEDGER_STOPPED] = {"stopped", "samples", "were not read because reading was stopped",
		NOT_READ},
	[LEDGER_UNSCANNED] = {"unscanned", "bytes",
		"of the file were not read because reading was stopped", NOT_READ},
	[LEDGER_FOREIGN] = {"foreign", "samples",
		"belong to events that the file does not describe", NOT_READ},
	[LEDGER_ODD] = {"odd", "records", "have impossible values", NOT_READ},
	[LEDGER_NOT_NATIVE] = {"not-native", "records", "cannot be converted to this byte order",
		NOT_READ},
	[LEDGER_NAMELESS] = {"nameless", "samples", "have no function name", INFORMS},
	[LEDGER_INTERPRETED] = {"interpreted", "samples", "show an interpreter, not what it runs",
		INFORMS},
	[LEDGER_LINELESS] = {"lineless", "samples", "have no known source line", INFORMS},
	[LEDGER_INLINELESS] = {"inlineless", "samples", "may lack their inlined functions",
		INFORMS},
	[LEDGER_TYPELESS] = {"typeless", "samples", "have no known data type", INFORMS},
	[LEDGER_TRUNCATED] = {"truncated", "samples", "have stacks that end before their roots",
		INFORMS},
	[LEDGER_UNWATCHED] = {"not-watched", "seconds", "were not watched", LOST_BEFORE},
	[LEDGER_UNKEPT] = {"not-kept", "seconds", "were watched, but could not be written",
		LOST_BEFORE},
	[LEDGER_REPORTED] = {"", "", "are missing", LOST_BEFORE},
};

void ledger_fini(struct ledger *l)
{
	vec_fini(&l->entries);
	arena_fini(&l->arena);
}

static void add(struct ledger *l, enum ledger_cause cause, u64 amount, double share,
	const char *where, const char *remedy)
{
	if (!amount)
		return;
	vec_add(&l->entries,
		((struct ledger_entry){cause, amount, share, causes[cause].unit,
			arena_strdup(&l->arena, where, strlen(where)),
			arena_strdup(&l->arena, remedy, strlen(remedy))}));
}

void ledger_add_tally(struct ledger *l, const struct session_tally *t)
{
	double all = (double)(t->n_samples + t->n_lost_samples);
	char where[160];

	l->n_samples = t->n_samples;
	add(l, LEDGER_DROPPED_BY_KERNEL, t->n_lost_samples,
		all ? (double)t->n_lost_samples / all : -1, "",
		"record with larger rings (-m) or a lower frequency (-F)");
	/* LOST records also count the samples that LOST_SAMPLES records count. */
	add(l, LEDGER_LOST_RECORDS, t->n_lost_records - MIN(t->n_lost_records, t->n_lost_samples),
		-1, "", "record with larger rings (-m) or a lower frequency (-F)");
	add(l, LEDGER_THROTTLED, t->n_throttled, -1, "", "a lower frequency (-F) avoids it");
	if (t->damage.reason) {
		snprintf(where, sizeof(where), "from offset 0x%llx on: %s",
			(unsigned long long)t->damage.offset, t->damage.reason);
		add(l, LEDGER_DAMAGED, MAX(t->damage.bytes, (u64)1), -1, where, "");
	}
	if (t->undecoded_type) {
		const char *name = record_type_name(t->undecoded_type);

		snprintf(where, sizeof(where), "the first at offset 0x%llx: %s (%u)",
			(unsigned long long)t->undecoded_offset, name ? name : "record",
			t->undecoded_type);
		add(l, LEDGER_UNREADABLE, t->n_undecoded, -1, where, "");
	} else {
		add(l, LEDGER_UNREADABLE, t->n_undecoded, -1, "", "");
	}
	add(l, LEDGER_STOPPED, t->n_stopped_samples, all ? (double)t->n_stopped_samples / all : -1,
		"", "");
	add(l, LEDGER_UNSCANNED, t->n_stopped_bytes, -1, "", "");
	add(l, LEDGER_FOREIGN, t->n_foreign_id, all ? (double)t->n_foreign_id / all : -1, "", "");
	if (t->n_odd) {
		snprintf(where, sizeof(where), "the first at offset 0x%llx: %s",
			(unsigned long long)t->odd_offset, oddity_text(t->oddity));
		add(l, LEDGER_ODD, t->n_odd, all ? (double)t->n_odd / all : -1, where, "");
	}
	add(l, LEDGER_NOT_NATIVE, t->n_not_native, -1, "", "");
}

/* ---- in batches ---- */

void ledger_to_batch(const struct ledger *l, struct batch *b)
{
	vec_each(e, &l->entries)
		batch_lose(b, causes[e->cause].key, e->where, e->unit, e->amount);
}

const char *ledger_key(enum ledger_cause cause)
{
	return causes[cause].key;
}

void ledger_add_batch(struct ledger *l, const struct batch *b)
{
	vec_each(loss, &b->losses) {
		const char *key = batch_string(b, loss->cause),
			   *where = batch_string(b, loss->where);
		const bool is_share =
			!strcmp(batch_string(b, loss->unit), "samples") && l->n_samples;
		enum ledger_cause cause = 0;
		struct str text = {0};

		while (cause < LEDGER_REPORTED && strcmp(causes[cause].key, key))
			cause++;
		/* What another pace, or a database, has its own word for. */
		if (cause == LEDGER_REPORTED)
			str_addf(&text, "%s%s", key, *where ? ": " : "");
		str_add(&text, where);
		add(l, cause, loss->amount,
			is_share ? MIN((double)loss->amount / (double)l->n_samples, 1.0) : -1,
			str_text(&text), "");
		if (loss->amount)
			l->entries.at[l->entries.n - 1].unit = arena_strdup(&l->arena,
				batch_string(b, loss->unit), strlen(batch_string(b, loss->unit)));
		str_fini(&text);
	}
}

static int by_amount(const void *a, const void *b)
{
	const struct ledger_entry *x = a, *y = b;

	if (x->amount != y->amount)
		return x->amount > y->amount ? -1 : 1;
	return strcmp(x->where, y->where);
}

static const struct dso *dso_of(const struct profile *p, const struct resolver *r, size_t i)
{
	return r->machine->dsos.at.at[p->dsos.at[i].source];
}

/* Something that samples may lack. */
struct lack {
	enum ledger_cause cause;
	/* The kind of lack of a sample in this frame, 0 .. LINE_GAPS - 1; negative: none. */
	int (*kind)(const struct profile *p, const struct resolver *r,
		const struct profile_frame *f);
	const char *(*reason)(const struct resolver *r, const struct dso *dso, enum line_gap kind);
};

/* Adds the samples whose innermost function lacks something, by DSO and kind, with the reason. */
static void add_lacking(struct ledger *l, const struct lack *lack, const struct profile *p,
	const struct resolver *r)
{
	u64 *lacking = mem_zalloc((p->dsos.n + 1) * LINE_GAPS * sizeof(*lacking)), all = 0;
	size_t before = l->entries.n;

	vec_each(row, &p->rows) {
		const struct profile_frame *f = &p->frames.at[row->frame];
		int kind = lack->kind(p, r, f);

		if (p->events.at[row->event].is_repeated)
			continue;
		all += row->n_samples;
		if (kind >= 0)
			lacking[f->dso * LINE_GAPS + (unsigned)kind] += row->n_samples;
	}
	for (size_t i = 0; i < p->dsos.n * LINE_GAPS; i++) {
		size_t dso = i / LINE_GAPS;
		const char *why;

		if (!lacking[i])
			continue;
		why = lack->reason(r, dso_of(p, r, dso), i % LINE_GAPS);
		add(l, lack->cause, lacking[i], all ? (double)lacking[i] / (double)all : -1,
			p->dsos.at[dso].name, why ? why : "");
		if (p->has_branches)
			l->entries.at[l->entries.n - 1].unit = "branches";
	}
	if (l->entries.n > before)
		qsort(l->entries.at + before, l->entries.n - before, sizeof(*l->entries.at),
			by_amount);
	mem_free(lacking);
}

static int is_nameless(const struct profile *p, const struct resolver *r,
	const struct profile_frame *f)
{
	(void)r;
	return profile_is_named(&p->symbols.at[f->symbol]) ? -1 : 0;
}

static const char *nameless_reason(const struct resolver *r, const struct dso *dso,
	enum line_gap kind)
{
	(void)kind;
	return resolver_reason(r, dso);
}

void ledger_add_nameless(struct ledger *l, const struct profile *p, const struct resolver *r)
{
	add_lacking(l, &(struct lack){LEDGER_NAMELESS, is_nameless, nameless_reason}, p, r);
}

static int line_kind(const struct profile *p, const struct resolver *r,
	const struct profile_frame *f)
{
	(void)r;
	return p->symbols.at[f->symbol].has_line ? -1 : f->line_gap;
}

static int inline_kind(const struct profile *p, const struct resolver *r,
	const struct profile_frame *f)
{
	if (f->line_gap == LINE_GAP_DAMAGED || f->line_gap == LINE_GAP_TOO_LARGE ||
		f->line_gap == LINE_GAP_ELSEWHERE)
		return f->line_gap;
	return resolver_lines_failed(r, dso_of(p, r, f->dso)) ? LINE_GAP_FILE : -1;
}

/* Python's -X perf names functions py::name:file. */
static bool has_interpreted_names(const struct profile *p)
{
	for (u32 i = 1; i < p->symbols.n; i++)
		if (p->symbols.at[i].name && !strncmp(p->symbols.at[i].name, "py::", 4))
			return true;
	return false;
}

void ledger_add_interpreted(struct ledger *l, const struct profile *p)
{
	static const double hot = 0.2;
	u64 *in = mem_zalloc((p->dsos.n + 1) * sizeof(*in)), all = 0;

	vec_each(row, &p->rows) {
		if (p->events.at[row->event].is_repeated)
			continue;
		all += row->n_samples;
		in[p->frames.at[row->frame].dso] += row->n_samples;
	}
	for (size_t i = 0; i < p->dsos.n; i++) {
		struct str remedy = {0};

		if (all && (double)in[i] >= hot * (double)all && p->dsos.at[i].kind == DSO_FILE &&
			runtime_is_interpreter(p->dsos.at[i].name, &remedy) &&
			!has_interpreted_names(p))
			add(l, LEDGER_INTERPRETED, in[i], (double)in[i] / (double)all,
				p->dsos.at[i].name, str_text(&remedy));
		str_fini(&remedy);
	}
	mem_free(in);
}

void ledger_add_lineless(struct ledger *l, const struct profile *p, const struct resolver *r)
{
	add_lacking(l, &(struct lack){LEDGER_LINELESS, line_kind, resolver_lines_reason}, p, r);
}

void ledger_add_inlineless(struct ledger *l, const struct profile *p, const struct resolver *r)
{
	add_lacking(l, &(struct lack){LEDGER_INLINELESS, inline_kind, resolver_lines_reason}, p, r);
}

/* Adds one entry for each pair of DSO and reason. */
void ledger_add_typeless(struct ledger *l, const struct profile *p, const struct resolver *r)
{
	u64 *lacking = mem_zalloc((p->dsos.n + 1) * DATATYPE_OUTCOMES * sizeof(*lacking)), all = 0;
	size_t before = l->entries.n;

	for (size_t i = 0; i < p->rows.n; i++) {
		const struct profile_row *row = &p->rows.at[i];
		u8 outcome = p->accesses.at[profile_label(p, i, LABEL_ACCESS)].outcome;

		if (p->events.at[row->event].is_repeated)
			continue;
		all += row->n_samples;
		if (datatype_outcome_reason(outcome))
			lacking[p->frames.at[row->frame].dso * DATATYPE_OUTCOMES + outcome] +=
				row->n_samples;
	}
	for (size_t i = 0; i < p->dsos.n * DATATYPE_OUTCOMES; i++) {
		size_t dso = i / DATATYPE_OUTCOMES;
		enum datatype_outcome outcome = i % DATATYPE_OUTCOMES;
		const char *why = outcome == DATATYPE_NO_DEBUG
			? resolver_lines_reason(r, dso_of(p, r, dso), LINE_GAP_FILE)
			: NULL;

		add(l, LEDGER_TYPELESS, lacking[i], all ? (double)lacking[i] / (double)all : -1,
			p->dsos.at[dso].name, why ? why : datatype_outcome_reason(outcome));
	}
	if (l->entries.n > before)
		qsort(l->entries.at + before, l->entries.n - before, sizeof(*l->entries.at),
			by_amount);
	mem_free(lacking);
}

/* Adds the remedy for stacks with this ending; nothing if none is known. */
static void add_remedy(enum stack_ending ending, u32 dump_bytes, u64 enough, struct str *text)
{
	static const char across[] =
		"frame pointers, if the program keeps them, lead to the root: record with --call-graph fp";
	const u64 most = 65528; /* the size field of a record has 16 bits */
	u64 size = enough ? align_up(MAX(enough, (u64)dump_bytes + 1), 1024) : 2 * (u64)dump_bytes;

	switch (ending) {
	case STACK_ELSEWHERE:
		str_add(text, across);
		break;
	case STACK_DUMP_TOO_SMALL:
		if (dump_bytes >= most)
			str_add(text, across);
		else
			str_addf(text, "record with --call-graph dwarf,%llu%s",
				(unsigned long long)MIN(size, most),
				!enough                ? ""
					: size <= most ? " (enough for 95% of them)"
						       : " (the maximum)");
		break;
	case STACK_NO_CFI:
		str_add(text,
			"compile it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer");
		break;
	case STACK_NO_FRAME_POINTER:
		str_add(text,
			"record with -g alone, which needs no frame pointers, or compile it with -fno-omit-frame-pointer");
		break;
	case STACK_NO_FILE:
		str_add(text,
			"copy the recorded file to this machine, or name its folder with --symfs");
		break;
	case STACK_NO_REGISTER:
		str_add(text,
			"record with permission to sample the kernel: 'sudo sysctl kernel.perf_event_paranoid=1'");
		break;
	case STACK_CALLS_FORGOTTEN:
		str_add(text, "report with --stitch-lbr");
		break;
	case STACK_NO_CODE_FILE:
		str_add(text, "make the program that generated the code keep frame pointers");
		break;
	default:
		break;
	}
}

/* Adds the file that is the cause, or the name of code without a file. */
static void add_culprit(const struct profile_dso *dso, struct str *text)
{
	if (dso->source)
		str_addf(text, ": %s", dso->kind == DSO_JIT ? dso->name : dso->path);
}

/* Adds the switch of a runtime that generated the code; false if there is none. */
static bool add_runtime_remedy(const struct profile_ending *e, const struct profile_dso *dso,
	const struct machine *m, struct str *text)
{
	const struct runtime *runtime = NULL;

	if (dso->kind == DSO_JIT && dso->source &&
		(e->ending == STACK_NO_CODE_FILE || e->ending == STACK_NO_FRAME_POINTER))
		runtime = runtime_of(m, m->dsos.at.at[dso->source]->pid);
	if (runtime)
		str_add(text, runtime->callers);
	return runtime;
}

void ledger_add_endings(struct ledger *l, const struct profile *p, const struct machine *m,
	u32 dump_bytes)
{
	size_t before = l->entries.n;
	u64 all = 0;

	vec_each(e, &p->events)
		all += e->n_samples;
	vec_each(e, &p->endings) {
		struct str where = {0}, remedy = {0};

		if (e->ending == STACK_COMPLETE)
			continue;
		str_add(&where, ending_text(e->ending));
		add_culprit(&p->dsos.at[e->dso], &where);
		if (!add_runtime_remedy(e, &p->dsos.at[e->dso], m, &remedy))
			add_remedy(e->ending, dump_bytes, p->enough_dump, &remedy);
		add(l, LEDGER_TRUNCATED, e->n_samples,
			all ? (double)e->n_samples / (double)all : -1, str_text(&where),
			str_text(&remedy));
		str_fini(&where);
		str_fini(&remedy);
	}
	if (l->entries.n > before)
		qsort(l->entries.at + before, l->entries.n - before, sizeof(*l->entries.at),
			by_amount);
}

bool ledger_has_unread(const struct ledger *l)
{
	vec_each(e, &l->entries)
		if (causes[e->cause].kind == NOT_READ)
			return true;
	return false;
}

/* Whether the text is "samples in FILE ...". */
static bool is_of_dso(enum ledger_cause cause)
{
	return cause == LEDGER_NAMELESS || cause == LEDGER_LINELESS || cause == LEDGER_INLINELESS ||
		cause == LEDGER_TYPELESS || cause == LEDGER_INTERPRETED;
}

void ledger_add_entry(const struct ledger_entry *e, struct str *text)
{
	num_add_grouped(text, e->amount);
	str_addc(text, ' ');
	str_add_safe(text, e->unit, strlen(e->unit));
	str_addc(text, ' ');
	if (e->share >= 0)
		str_addf(text, "(%.2f%%) ", e->share * 100);
	if (is_of_dso(e->cause))
		str_addf(text, "in ");
	else
		str_addf(text, "%s%s", causes[e->cause].what, *e->where ? ", " : "");
	str_add_safe(text, e->where, strlen(e->where));
	if (is_of_dso(e->cause))
		str_addf(text, " %s", causes[e->cause].what);
	if (*e->remedy) {
		str_add(text, ": ");
		str_add_safe(text, e->remedy, strlen(e->remedy));
	}
}

u64 ledger_amount(const struct ledger *l, enum ledger_cause cause)
{
	u64 amount = 0;

	vec_each(e, &l->entries)
		amount += e->cause == cause ? e->amount : 0;
	return amount;
}

void ledger_add_losses(const struct ledger *l, struct str *text)
{
	vec_each(e, &l->entries) {
		if (causes[e->cause].kind == INFORMS && e->cause != LEDGER_THROTTLED)
			continue;
		str_add(text, text->n ? "; " : "");
		ledger_add_entry(e, text);
	}
}

static void add_line(const struct ledger_entry *e, struct str *text)
{
	str_add(text, "# ");
	ledger_add_entry(e, text);
	str_addc(text, '\n');
}

void ledger_warn(const struct ledger *l, struct log *log)
{
	struct str text = {0};

	vec_each(e, &l->entries) {
		if (causes[e->cause].kind != NOT_READ)
			continue;
		str_clear(&text);
		ledger_add_entry(e, &text);
		log_warn(log, "%s", str_text(&text));
	}
	str_fini(&text);
}

void ledger_add_text(const struct ledger *l, bool in_full, struct str *text)
{
	/* Without in_full only the file that lacks the most names, lines or stacks is mentioned. */
	bool has_said[] = {[LEDGER_NAMELESS] = false,
		[LEDGER_INTERPRETED] = false,
		[LEDGER_INLINELESS] = false,
		[LEDGER_TYPELESS] = false,
		[LEDGER_TRUNCATED] = false};

	vec_each(e, &l->entries)
		if (in_full || causes[e->cause].kind != INFORMS || e->cause == LEDGER_THROTTLED)
			add_line(e, text);
	vec_each(e, &l->entries) {
		bool is_told_once = is_of_dso(e->cause) || e->cause == LEDGER_TRUNCATED;

		if (in_full || !is_told_once || e->share < 0.01 || has_said[e->cause])
			continue;
		has_said[e->cause] = true;
		add_line(e, text);
	}
}
