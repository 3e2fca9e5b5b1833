#include "cmd/top/top_plain.h"

#include <string.h>
#include <sys/ioctl.h>

#include "base/json.h"
#include "base/num.h"
#include "base/term.h"
#include "cmd/live/feedfleet.h"
#include "event/abi.h"
#include "view/forms/forms.h"

enum {
	NS = 1000000000,
	VERSION = 1,       /* of the JSON documents */
	ROWS_OF_PIPE = 30, /* where there is no terminal whose height decides */
	HEAD_LINES = 10,
};

static u64 per_second(u64 n, u64 span_ns)
{
	return span_ns ? (u64)((double)n * NS / (double)span_ns + 0.5) : 0;
}

static void add_samplers(const struct feed *f, struct str *text)
{
	const struct event_attr *a = &f->events.at[0].attr;

	if (a->flags & ATTR_FREQ)
		str_addf(text, "%llu Hz", (unsigned long long)a->sample_period);
	else
		str_addf(text, "one of %llu", (unsigned long long)a->sample_period);
}

void top_add_measured(const struct feed *f, struct str *text)
{
	if (f->fleet) {
		feedfleet_add_measured(f, text);
		return;
	}
	/* Of time on and off CPUs nothing is sampled: all of it is counted. */
	if (!f->wall.is_on) {
		add_samplers(f, text);
		str_add(text, ", ");
	}
	str_add(text, f->whose);
}

void top_add_modes(const struct moment *m, const struct feed_facts *facts, struct str *text)
{
	const double all = (double)MAX(m->n_samples, (u64)1);

	if (facts->has_wall) {
		livewall_add_states(&facts->wall, text);
		return;
	}
	if (!facts->is_of_fleet)
		str_addf(text, "%.0f%% idle, ", 100 * (double)m->n_idle / all);
	str_addf(text, "%.0f%% kernel", 100 * (double)m->n_kernel / all);
}

void top_add_rates(const struct feed_facts *facts, struct str *text)
{
	num_add_grouped(text, per_second(facts->n_samples, facts->span_ns));
	str_add(text, "/s, ");
	num_add_grouped(text, facts->n_lost_all);
	str_addf(text, " lost; pace: %.1f%% CPU, ", facts->own_cpu_pct);
	num_add_bytes(text, facts->own_bytes);
}

/* Which events have a table: those with samples, or the first one. */
static bool has_table(const struct top_rows *r, const struct moment *s, u32 event)
{
	if (s->profile.events.at[event].n_samples)
		return true;
	for (u32 i = 0; i < top_rows_n_tables(r, s); i++)
		if (s->profile.events.at[i].n_samples)
			return false;
	return !event;
}

static u32 n_tables(const struct top_rows *r, const struct moment *s)
{
	u32 n = 0;

	for (u32 event = 0; event < top_rows_n_tables(r, s); event++)
		n += has_table(r, s, event);
	return n;
}

/* As many as fit, so that nothing scrolls; with call chains, the first rows of these. */
static u64 rows_that_fit(const struct top_rows *r, const struct moment *s, int fd)
{
	struct winsize size;
	u64 lines;

	if (r->options->n_rows)
		return r->options->n_rows;
	if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_row)
		return ROWS_OF_PIPE;
	lines = size.ws_row / MAX(n_tables(r, s), 1u);
	return lines > HEAD_LINES ? lines - HEAD_LINES : 1;
}

void top_show_text(const struct feed *f, const struct top_rows *r, const struct moment *s,
	const struct feed_facts *facts, struct out *out)
{
	const bool is_terminal = term_is_terminal(out->fd);
	const u64 most = rows_that_fit(r, s, out->fd);
	struct page page = {.form = &form_text,
		.out = out,
		.text = &r->text,
		.width = is_terminal ? term_columns(out->fd) : 0};

	if (term_can_erase(out->fd))
		str_add(&out->text, "\033[H\033[J");
	str_add(&out->text, "# Samples: ");
	top_add_rates(facts, &out->text);
	str_add(&out->text, "; ");
	top_add_modes(s, facts, &out->text);
	str_add(&out->text, "; ");
	top_add_measured(f, &out->text);
	str_add(&out->text, "\n#\n");
	page_begin(&page);
	for (u32 event = 0; event < top_rows_n_tables(r, s); event++) {
		struct top_table t;

		if (!has_table(r, s, event))
			continue;
		top_table_open(&t, r, &s->profile, &s->calls, event, most);
		page.form->table(&page, &t.rows.rows);
		top_table_close(&t);
	}
	page_end(&page, NULL);
	if (f->fleet)
		ledger_add_text(&f->fleet->ledger, false, &out->text);
	out_flush(out);
}

static void add_fleet_json(const struct feedfleet *fleet, struct str *text)
{
	struct str sentence = {0};

	json_u64(text, "hosts", fleet->n_hosts);
	json_u64(text, "from_ns", fleet->from_ns);
	json_u64(text, "to_ns", fleet->to_ns);
	json_open(text, "missing", '[');
	vec_each(e, &fleet->ledger.entries) {
		str_clear(&sentence);
		ledger_add_entry(e, &sentence);
		json_element(text, str_text(&sentence));
	}
	json_close(text, ']');
	str_fini(&sentence);
}

static void add_facts_json(const struct feed *f, const struct feed_facts *facts, struct str *text)
{
	json_u64(text, "refresh", facts->nr);
	json_u64(text, "time_ns", facts->time_ns);
	json_u64(text, "span_ns", facts->span_ns);
	json_u64(text, "samples", facts->n_samples);
	json_u64(text, "lost", facts->n_lost);
	json_u64(text, "lost_so_far", facts->n_lost_all);
	json_text(text, "measured", f->whose);
	json_key(text, "own_cpu_percent");
	num_add_fixed(text, facts->own_cpu_pct, 2);
	str_addc(text, ',');
	json_u64(text, "own_bytes", facts->own_bytes);
}

static void add_wall_json(const struct livewall_facts *facts, struct str *text)
{
	json_u64(text, "threads", facts->n_threads);
	json_u64(text, "cpu_ns", facts->ns[WALL_CPU]);
	json_u64(text, "runnable_ns", facts->ns[WALL_RUNNABLE]);
	json_u64(text, "blocked_ns", facts->ns[WALL_BLOCKED]);
	json_u64(text, "unseen_ns", facts->untold_ns);
}

/* Events that only help to find callers or waits have no table. */
static u32 n_documents(const struct feed *f, const struct top_rows *r, const struct moment *s)
{
	const u32 n = top_rows_n_tables(r, s);

	return r->options->record.records.has_wall || f->fleet ? n : MIN(f->n_events, n);
}

void top_show_json(const struct feed *f, const struct top_rows *r, const struct moment *s,
	const struct feed_facts *facts, struct out *out)
{
	struct page page = {.out = out, .text = &r->text, .list = "events"};
	const struct form_choice json = {.is_chosen = {[FORM_JSON] = true}};

	page.form = form_chosen(&json);
	str_addc(&out->text, '{');
	json_u64(&out->text, "version", VERSION);
	add_facts_json(f, facts, &out->text);
	if (f->fleet)
		add_fleet_json(f->fleet, &out->text);
	if (facts->has_wall) {
		add_wall_json(&facts->wall, &out->text);
	} else {
		if (!f->fleet)
			json_u64(&out->text, "idle_samples", s->n_idle);
		json_u64(&out->text, "kernel_samples", s->n_kernel);
	}
	json_open(&out->text, page.list, '[');
	for (u32 event = 0; event < n_documents(f, r, s); event++) {
		struct top_table t;

		top_table_open(&t, r, &s->profile, &s->calls, event, r->options->n_rows);
		page.form->table(&page, &t.rows.rows);
		top_table_close(&t);
	}
	page.form->end(&page, NULL);
	out_flush(out);
}
