/*
 * mcp_about.c - load and ledger: what a recording is, and what its answers lack. See mcp_shapes.h.
 *
 * Both read the recording as `pace report` does, so that the ledger is the one that it prints with --ledger.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cmd/mcp/mcp_shapes.h"
#include "cmd/report/report_about.h"
#include "cmd/report/reporting.h"
#include "profile/check/brief.h"

typedef void about_tell(const struct mcp_question *q, const struct reporting *r,
	struct mcp_answer *a);

static int read_whole(struct reporting *r, struct err *err)
{
	if (answer_open(&r->answer, &r->options->answer, err) ||
		choice_make(&r->choice, r->options, &r->recorded, err))
		return err->code;
	return reporting_read(r, err);
}

static int with_recording(const struct mcp_question *q, about_tell *tell, struct mcp_answer *a,
	struct err *err)
{
	struct report_options o;
	struct reporting r = {.options = &o, .is_silent = true};
	int result;

	report_options_init(&o);
	o.input = q->paths.at[0];
	report_options_settle(&o);
	cmd_log_init(&r.log, LOG_NOTE);
	result = recorded_open_any(&r.recorded, o.input, &r.log, err);
	if (result) {
		log_fini(&r.log);
		report_options_fini(&o);
		return result;
	}
	result = read_whole(&r, err);
	if (!result)
		tell(q, &r, a);
	reporting_close(&r);
	report_options_fini(&o);
	return result;
}

/* ---- load ---- */

/* What the recording says about itself: command, machine, times. */
static void add_facts(const struct recorded *in, const char *path, struct mcp_answer *a)
{
	struct page_about about;

	report_about(in, path, &about);
	json_open(&a->members, "about", '{');
	vec_each(fact, &about.facts) {
		mcp_json_name(&a->members, fact->name, fact->text);
		str_addf(&a->head, "%s: ", fact->name);
		mcp_add_name(&a->head, fact->text);
		str_addc(&a->head, '\n');
	}
	json_close(&a->members, '}');
	page_about_fini(&about);
}

static void add_span(const struct recorded *in, struct mcp_answer *a)
{
	const struct file_info *info = &in->trace.session.reader.info;

	if (!recorded_has_trace(in) || !info->has_times)
		return;
	json_open(&a->members, "time_span", '{');
	mcp_json_fixed(&a->members, "from", (double)info->first_time / 1e9, 6);
	mcp_json_fixed(&a->members, "to", (double)info->last_time / 1e9, 6);
	mcp_json_fixed(&a->members, "seconds", (double)(info->last_time - info->first_time) / 1e9,
		6);
	json_close(&a->members, '}');
}

static void add_event_rows(const struct profile *p, struct mcp_answer *a)
{
	struct str data = {0}, text = {0};

	vec_each(event, &p->events) {
		mcp_json_name(&data, "event", event->name);
		json_u64(&data, "samples", event->n_samples);
		str_addf(&text, "  %9llu  ", (unsigned long long)event->n_samples);
		mcp_add_name(&text, event->name);
		mcp_answer_row(a, &data, &text, 0);
	}
	a->share_left = -1;
	str_fini(&data);
	str_fini(&text);
}

static void add_brief(const struct reporting *r, struct mcp_answer *a)
{
	const struct profile *p = &r->recorded.profile;
	struct brief brief;

	brief_init(&brief, p, &r->recorded.ledger);
	json_open(&a->members, "hottest", '[');
	for (size_t i = 0; i < brief.n; i++) {
		const struct brief_function *f = &brief.functions[i];
		const char *name = p->symbols.at[f->symbol].name;

		str_addc(&a->members, '{');
		mcp_json_name(&a->members, "function", name);
		mcp_json_fixed(&a->members, "share", f->share * 100, 4);
		json_close(&a->members, '}');
		str_add(&a->head, i ? ", " : "Hottest: ");
		mcp_add_name(&a->head, name);
		str_addf(&a->head, " %.2f%%", f->share * 100);
	}
	json_close(&a->members, ']');
	str_add(&a->head, brief.n ? "\n" : "");
	if (brief.n_stacks) {
		const double whole = 100.0 * (double)brief.n_whole / (double)brief.n_stacks;

		mcp_json_fixed(&a->members, "whole_stacks", whole, 2);
		str_addf(&a->head, "Whole stacks: %.2f%%\n", whole);
	} else {
		json_null(&a->members, "whole_stacks");
		str_add(&a->head, "Call chains: none were recorded\n");
	}
}

static void add_losses(const struct recorded *in, struct mcp_answer *a)
{
	struct str losses = {0};

	ledger_add_losses(&in->ledger, &losses);
	str_cut(&losses, MIN(losses.n, (size_t)MCP_NOTES_BYTES));
	mcp_answer_losses_said(a, losses.n ? losses.at : "none");
	str_fini(&losses);
}

static void tell_load(const struct mcp_question *q, const struct reporting *r, struct mcp_answer *a)
{
	char id[24];

	snprintf(id, sizeof(id), "r%llu", (unsigned long long)q->id);
	json_text(&a->members, "id", id);
	str_addf(&a->head, "Id: %s (other tools take it instead of the path)\n", id);
	add_facts(&r->recorded, q->paths.at[0], a);
	add_span(&r->recorded, a);
	add_brief(r, a);
	str_add(&a->head, "    Samples  Event\n");
	add_event_rows(&r->recorded.profile, a);
	add_losses(&r->recorded, a);
}

int mcp_read_load(const struct mcp_question *q, struct mcp_answer *a, struct err *err)
{
	return with_recording(q, tell_load, a, err);
}

/* ---- ledger ---- */

static void tell_ledger(const struct mcp_question *q, const struct reporting *r,
	struct mcp_answer *a)
{
	const struct ledger *l = &r->recorded.ledger;
	struct str data = {0}, text = {0};

	(void)q;
	json_u64(&a->members, "samples", l->n_samples);
	json_bool(&a->members, "has_unread", ledger_has_unread(l));
	str_addf(&a->head, "What answers from this recording lack: %s\n",
		l->entries.n ? "" : "nothing is known to be missing");
	vec_each(e, &l->entries) {
		json_u64(&data, "amount", e->amount);
		json_text(&data, "unit", e->unit);
		if (e->share >= 0)
			mcp_json_fixed(&data, "share", e->share * 100, 4);
		mcp_json_name(&data, "where", e->where);
		mcp_json_name(&data, "remedy", e->remedy);
		ledger_add_entry(e, &text);
		json_text(&data, "sentence", text.at);
		mcp_answer_row(a, &data, &text, 0);
	}
	a->share_left = -1;
	add_losses(&r->recorded, a);
	str_fini(&data);
	str_fini(&text);
}

int mcp_read_ledger(const struct mcp_question *q, struct mcp_answer *a, struct err *err)
{
	return with_recording(q, tell_ledger, a, err);
}
