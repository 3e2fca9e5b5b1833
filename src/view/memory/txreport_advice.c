/*
 * txreport_advice.c - what counts and aborts mean for the program, in sentences.
 */
#include <math.h>

#include "record/access.h"
#include "view/memory/txreport.h"

/* Shares above and below which something is worth a sentence; of the seed document's kind: "small", "significant". */
static const double FEW = 0.02, MANY_ABORTED = 0.05, MAIN_CAUSE = 0.15, LOCKS_EACH = 2, SHORT = 100;

static void add(txreport_sentences *s, struct str *text)
{
	vec_add(s, mem_strdup(str_text(text)));
	str_clear(text);
}

static void advise_on_counts(const struct txcounts *c, txreport_sentences *s, struct str *text)
{
	const double share = txcounts_share(c), aborted = txcounts_share_aborted(c),
		     locks = txcounts_locks(c), length = txcounts_length(c),
		     starts = txcounts_starts(c);

	if (starts == 0) {
		str_add(text,
			"No transaction was begun: the locks do not elide. With glibc, GLIBC_TUNABLES=glibc.elision.enable=1 lets pthread mutexes do so; other lock libraries have to be built for it.");
		add(s, text);
	} else if (share < FEW) {
		str_addf(text,
			"Only %.2f%% of the cycles are in transactions: locks take little of the time, or few of them elide.",
			100 * share);
		add(s, text);
	}
	if (locks > LOCKS_EACH) {
		str_addf(text,
			"There are %.1f atomic instructions for each transaction that was begun: some locks do not elide. 'pace record -g -e r21d0:p' shows which.",
			locks);
		add(s, text);
	}
	if (aborted > MANY_ABORTED) {
		str_addf(text, "%.2f%% of the cycles were spent in transactions that were aborted",
			100 * aborted);
		if (share > 0 && aborted > share / 2)
			str_add(text,
				", more than in those that were committed: here elision costs more than it saves, until the causes below are gone");
		str_addc(text, '.');
		add(s, text);
	}
	if (length < SHORT) {
		str_addf(text,
			"A transaction takes %.0f cycles: beginning and ending it costs about as much. Hold locks around more work, if there is more.",
			length);
		add(s, text);
	}
}

/* The site where a cause costs most; NULL: it has none. */
static const struct aborts_site *worst(const struct aborts *a, enum abort_cause cause)
{
	const struct aborts_site *found = NULL;

	vec_each(site, &a->sites) {
		const struct aborts_count *c = &site->count;

		if (c->by_cause[cause] &&
			(!found ||
				c->cycles_by_cause[cause] > found->count.cycles_by_cause[cause] ||
				(c->cycles_by_cause[cause] == found->count.cycles_by_cause[cause] &&
					c->by_cause[cause] > found->count.by_cause[cause])))
			found = site;
	}
	return found;
}

static const char *const remedies[ABORT_CAUSES] = {
	[ABORT_EXPLICIT] = "the program's own XABORT. See which of its conditions held there.",
	[ABORT_CONFLICT] =
		"threads use memory that another one writes at the same time. Look at what the whole critical section writes, not only at the place: give each thread its own counters, put data that is written apart from data that is read (64 bytes), and write shared data last.",
	[ABORT_WRITES] =
		"a critical section writes more than the first-level cache holds. Split it, or write into memory of the thread's own and publish the result.",
	[ABORT_READS] =
		"a critical section reads more than can be tracked. Search before taking the lock, or split it.",
	[ABORT_INSTRUCTION] =
		"an instruction that transactions may not execute: a system call, I/O, CPUID, or a page that is touched for the first time. Move it out of the critical section, or touch the memory before.",
	[ABORT_OUTSIDE] =
		"interrupts. Long transactions meet more of them: shorten those that take longest; samples of cycles are interrupts, too.",
	[ABORT_UNTOLD] =
		"causes were not recorded: 'pace tsx record' does, or 'record --transaction -W'.",
};

static const char *remedy_of(const struct aborts *a, enum abort_cause cause)
{
	enum { LOCK_BUSY = 0xff };

	/* Mostly another thread gave up eliding and took the lock, which aborts all others. */
	if (cause == ABORT_EXPLICIT && a->codes.n && a->codes.at[0].value == LOCK_BUSY)
		return "the lock was taken by a thread that does not elide, which makes all others wait: after an abort threads take the lock, so remove the other causes first, then let the library retry more often.";
	return remedies[cause];
}

static void advise_on_cause(const struct aborts *a, enum abort_cause cause, txreport_sentences *s,
	struct str *text)
{
	const struct aborts_count *t = &a->total;
	const struct aborts_site *site = worst(a, cause);
	const bool has_cycles = a->has_weights && t->cycles;
	const double of_cycles = has_cycles
		? (double)t->cycles_by_cause[cause] / (double)t->cycles
		: 0,
		     of_aborts = (double)t->by_cause[cause] / (double)t->n;

	if (!site || (of_cycles < MAIN_CAUSE && of_aborts < MAIN_CAUSE))
		return;
	str_addf(text, "%.1f%% of the aborts", 100 * of_aborts);
	if (has_cycles)
		str_addf(text, " (%.1f%% of the cycles that were lost)", 100 * of_cycles);
	str_addf(text, ": %s Most of it is at ", remedy_of(a, cause));
	txreport_add_place(&a->places.at[site->place], text);
	if (site->sections.n) {
		str_add(text, ", in the critical section of ");
		txreport_add_place(&a->places.at[site->sections.at[0].value], text);
	}
	str_addc(text, '.');
	add(s, text);
}

/* The causes, the most expensive first. */
static void advise_on_aborts(const struct aborts *a, txreport_sentences *s, struct str *text)
{
	bool is_done[ABORT_CAUSES] = {0};

	for (unsigned n = 0; a->total.n && n < ABORT_CAUSES; n++) {
		unsigned most = ABORT_CAUSES;

		for (unsigned i = 0; i < ABORT_CAUSES; i++) {
			const u64 *by =
				a->total.cycles ? a->total.cycles_by_cause : a->total.by_cause;

			if (!is_done[i] && (most == ABORT_CAUSES || by[i] > by[most]))
				most = i;
		}
		is_done[most] = true;
		advise_on_cause(a, (enum abort_cause)most, s, text);
	}
}

void txreport_advise(const struct txreport_found *found, txreport_sentences *ret)
{
	struct str text = {0};

	if (found->counts)
		advise_on_counts(found->counts, ret, &text);
	if (found->aborts)
		advise_on_aborts(found->aborts, ret, &text);
	if (!ret->n) {
		str_add(&text, "Nothing here needs attention.");
		add(ret, &text);
	}
	str_fini(&text);
}

void txreport_sentences_fini(txreport_sentences *s)
{
	vec_each(text, s)
		mem_free(*text);
	vec_fini(s);
}
