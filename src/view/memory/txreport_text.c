/*
 * txreport_text.c - aborted transactions for people.
 */
#include <math.h>

#include "record/access.h"
#include "view/memory/txreport.h"

enum { WIDTH = 78, TITLE_WIDTH = 26 };

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static unsigned long long ull(u64 n)
{
	return n;
}

void txreport_add_place(const struct aborts_place *p, struct str *text)
{
	const char *slash = p->file ? strrchr(p->file, '/') : NULL;

	if (p->function) {
		str_add_safe(text, p->function, strlen(p->function));
		str_addf(text, "+0x%llx", ull(p->function_offset));
	} else {
		str_addf(text, "0x%llx in ", ull(p->address));
		str_add_safe(text, p->dso_name, strlen(p->dso_name));
	}
	if (!p->file)
		return;
	str_add(text, " (");
	str_add_safe(text, slash ? slash + 1 : p->file, strlen(slash ? slash + 1 : p->file));
	str_addf(text, ":%u)", p->line);
}

/* A blank line between two sections. */
static void begin_section(struct str *text)
{
	if (text->n)
		str_addc(text, '\n');
}

/* ---- counts ---- */

static void add_count(struct str *text, const struct txcounts *c, enum tsx_count kind,
	const char *title, double share)
{
	if (!c->is_known[kind])
		return;
	str_addf(text, "  %18.0f  %s", c->value[kind], title);
	if (isfinite(share)) {
		str_fill(text, ' ', TITLE_WIDTH - MIN(strlen(title), (size_t)TITLE_WIDTH));
		str_addf(text, "%7.2f%% of cycles", 100 * share);
	}
	str_addc(text, '\n');
}

void txreport_text_counts(struct out *out, const struct txcounts *c)
{
	struct str *text = &out->text;
	const double length = txcounts_length(c), locks = txcounts_locks(c),
		     aborted = txcounts_share_aborted(c);

	begin_section(text);
	str_add(text, "# What was counted\n#\n");
	add_count(text, c, TSX_CYCLES, "cycles", NAN);
	add_count(text, c, TSX_CYCLES_IN, "cycles in transactions", txcounts_share(c));
	add_count(text, c, TSX_CYCLES_COMMITTED, "cycles that were committed", NAN);
	if (isfinite(aborted))
		str_addf(text, "  %18.0f  %-*s%7.2f%% of cycles\n", aborted * c->value[TSX_CYCLES],
			TITLE_WIDTH, "cycles that were aborted", 100 * aborted);
	add_count(text, c, TSX_STARTS, "transactions (RTM, tx)", NAN);
	add_count(text, c, TSX_ELISIONS, "elisions (HLE, el)", NAN);
	if (isfinite(length))
		str_addf(text, "  %18.0f  cycles each, on average\n", length);
	add_count(text, c, TSX_LOCK_LOADS, "atomic instructions", NAN);
	if (isfinite(locks))
		str_addf(text, "  %18.1f  for each transaction\n", locks);
}

/* ---- causes ---- */

static void add_codes(struct str *text, const aborts_seen *codes, const char *indent)
{
	vec_each(code, codes) {
		const char *means =
			code->value <= UINT8_MAX ? access_abort_code((u8)code->value) : NULL;

		str_addf(text, "%s%8llu  _xabort(0x%llx)%s%s\n", indent, ull(code->n),
			ull(code->value), means ? ": " : "", means ? means : "");
	}
}

static void add_statuses(struct str *text, const aborts_seen *statuses)
{
	vec_each(status, statuses) {
		str_addf(text, "  %8llu  0x%08llx  ", ull(status->n), ull(status->value));
		access_add_abort_status((u32)status->value, text);
		str_addc(text, '\n');
	}
}

void txreport_text_causes(struct out *out, const struct aborts *a)
{
	const struct aborts_count *t = &a->total;
	struct str *text = &out->text;

	begin_section(text);
	str_addf(text,
		"# %llu samples of aborts, which stand for %llu: %llu of RTM (tx), %llu of HLE (el)\n",
		ull(t->n), ull(t->aborts), ull(t->n - t->n_elided), ull(t->n_elided));
	if (a->has_weights && t->n)
		str_addf(text,
			"# Lost: %llu cycles in these samples, %llu each; %.1f%% may succeed if tried again\n",
			ull(t->cycles), ull(t->cycles / t->n), percent(t->n_retry, t->n));
	str_add(text, "#\n# Samples                Cycles           Why\n#\n");
	for (unsigned i = 0; i < ABORT_CAUSES; i++) {
		if (!t->by_cause[i])
			continue;
		str_addf(text, "  %8llu %6.1f%%", ull(t->by_cause[i]),
			percent(t->by_cause[i], t->n));
		str_addf(text, "  %10llu %6.1f%%  %s\n", ull(t->cycles_by_cause[i]),
			percent(t->cycles_by_cause[i], t->cycles), abort_cause_title(i));
		if (i == ABORT_EXPLICIT)
			add_codes(text, &a->codes, "                                 ");
	}
	if (a->statuses.n) {
		str_add(text, "\n# What XBEGIN returned (EAX)\n#\n");
		add_statuses(text, &a->statuses);
	}
}

/* ---- sites ---- */

static void add_causes_of(struct str *text, const struct aborts_site *site)
{
	const char *separator = "";

	for (unsigned i = 0; i < ABORT_CAUSES; i++) {
		if (!site->count.by_cause[i])
			continue;
		str_addf(text, "%s%s", separator, abort_cause_word(i));
		if (site->count.by_cause[i] < site->count.n)
			str_addf(text, " %llu", ull(site->count.by_cause[i]));
		separator = ", ";
	}
}

static void add_step(struct str *text, const struct aborts *a, const struct aborts_step *step,
	u64 n)
{
	str_add(text, "        ");
	txreport_add_place(&a->places.at[step->from], text);
	str_add(text, " -> ");
	txreport_add_place(&a->places.at[step->to], text);
	if (step->n_times > n)
		str_addf(text, "  x %.3g", (double)step->n_times / (double)n);
	str_addc(text, '\n');
}

static void add_path(struct str *text, const struct aborts *a, const struct aborts_site *site,
	const struct aborts_path *path)
{
	str_addf(text, "      %.1f%% of %llu samples with branches, %s:\n",
		percent(path->n, site->n_with_branches), ull(site->n_with_branches),
		path->n_steps ? "this way" : "without a branch in the transaction");
	if (path->begun != ABORTS_NO_PLACE) {
		str_add(text, "        the transaction began behind ");
		txreport_add_place(&a->places.at[path->begun], text);
		str_addc(text, '\n');
	} else if (!path->is_whole) {
		str_add(text, "        ... (it began before the branches that were kept)\n");
	}
	for (u32 i = 0; i < path->n_steps; i++)
		add_step(text, a, &a->steps.at[path->first + i], path->n);
	str_add(text, "        ");
	txreport_add_place(&a->places.at[site->place], text);
	str_add(text, ": aborted\n");
}

static void add_site(struct str *text, const struct aborts *a, const struct aborts_site *site,
	const struct txreport_options *o)
{
	const struct aborts_count *c = &site->count;
	size_t n = o->max_paths ? MIN(site->n_paths, (size_t)o->max_paths) : site->n_paths;

	str_addf(text, "\n  %5.1f%%  ",
		a->total.cycles ? percent(c->cycles, a->total.cycles) : percent(c->n, a->total.n));
	txreport_add_place(&a->places.at[site->place], text);
	str_addf(text, "\n      %llu sample%s", ull(c->n), c->n == 1 ? "" : "s");
	if (a->has_weights)
		str_addf(text, ", %llu cycles, %llu each", ull(c->cycles), ull(c->cycles / c->n));
	str_add(text, ": ");
	add_causes_of(text, site);
	if (c->n_retry)
		str_addf(text, "; %llu may succeed if tried again", ull(c->n_retry));
	str_addc(text, '\n');
	add_codes(text, &site->codes, "    ");
	for (size_t i = 0; i < MIN(site->sections.n, (size_t)2); i++) {
		str_add(text, "      critical section of ");
		txreport_add_place(&a->places.at[site->sections.at[i].value], text);
		if (site->sections.n > 1)
			str_addf(text, ", %.1f%%", percent(site->sections.at[i].n, c->n));
		str_addc(text, '\n');
	}
	for (size_t i = 0; i < n; i++)
		add_path(text, a, site, &a->paths.at[site->first_path + i]);
	if (a->has_branches && !site->n_with_branches)
		str_add(text, "      no branches of the transaction were recorded here\n");
}

void txreport_text_sites(struct out *out, const struct aborts *a, const struct txreport_options *o)
{
	size_t n = o->max_sites ? MIN(a->sites.n, (size_t)o->max_sites) : a->sites.n;
	struct str *text = &out->text;

	str_addf(text, "\n# Where, by %s%s\n",
		a->total.cycles ? "cycles that were lost" : "samples",
		a->has_branches ? "; with the last branches in the transaction, the oldest first"
				: "; -b records the branches in the transaction");
	if (a->has_landings)
		str_add(text,
			"# These are places that aborts led to: only events with ':pp' tell where they were\n");
	for (size_t i = 0; i < n; i++)
		add_site(text, a, &a->sites.at[i], o);
	if (n < a->sites.n)
		str_addf(text, "\n  %zu more places: --max-sites 0 shows all\n", a->sites.n - n);
}

/* ---- advice ---- */

/* Adds a sentence in lines, behind a dash. */
static void add_wrapped(struct str *text, const char *sentence)
{
	size_t column = 2;

	str_add(text, "- ");
	while (*sentence) {
		size_t n = strcspn(sentence, " ");

		if (column > 2 && column + 1 + n > WIDTH) {
			str_add(text, "\n  ");
			column = 2;
		} else if (column > 2) {
			str_addc(text, ' ');
			column++;
		}
		str_addn(text, sentence, n);
		column += n;
		sentence += n + (sentence[n] == ' ');
	}
	str_addc(text, '\n');
}

void txreport_text_advice(struct out *out, const struct txreport_found *found)
{
	txreport_sentences sentences = {0};

	txreport_advise(found, &sentences);
	str_add(&out->text, "\n# What to do\n#\n");
	vec_each(s, &sentences)
		add_wrapped(&out->text, *s);
	txreport_sentences_fini(&sentences);
}
