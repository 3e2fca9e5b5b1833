#include "cmd/annotate/annotating.h"

#include "cmd/strict.h"

#include <stdio.h>
#include <unistd.h>

#include "base/workers.h"
#include "cmd/cmd.h"
#include "event/abi.h"
#include "profile/gather/filter.h"
#include "symbol/name/demangle.h"

enum { CANDIDATES_SHOWN = 20 };

/* ---- options ---- */

static int choose_figure(struct annotating *r, struct err *err)
{
	const struct annotate_command *o = r->options;

	if (o->has_counts && o->has_periods)
		return err_set(err, ERR_INVAL,
			"--show-nr-samples and --show-total-period want the same column");
	r->view.figure = o->has_counts ? ANNOTATE_SAMPLES
		: o->has_periods       ? ANNOTATE_PERIOD
				       : ANNOTATE_PERCENT;
	return 0;
}

static int choose(struct annotating *r, struct err *err)
{
	const struct annotate_command *o = r->options;
	const bool is_data = form_is_data(form_chosen(&o->forms));

	if (choose_figure(r, err) || code_options_check(&o->code, err))
		return err->code;
	if (o->cpus && cpus_parse(&r->cpus, o->cpus, err))
		return err_prefix(err, "--cpu");
	code_options_tell(&o->code, &o->symbols, &r->assembly, &r->view);
	r->assembly.style = symbol_options_style(&o->symbols, o->verbose);
	/* Chains of templates would bury the code. */
	r->assembly.frame_style =
		r->assembly.style | (is_data || o->verbose ? 0 : DEMANGLE_COMPACT);
	r->assembly.has_source = o->code.has_source || o->has_places || is_data;
	r->assembly.has_code = o->code.has_source && !is_data;
	r->assembly.datanames = &r->datanames;
	r->view.events = &r->recorded.trace.session.reader.events;
	r->view.has_places = o->has_places;
	r->view.has_types = o->has_code_types;
	r->view.has_full_paths = o->has_full_paths;
	r->view.is_quiet = o->is_quiet;
	r->view.has_colour = colour_is_on(o->colour, STDOUT_FILENO);
	return 0;
}

int annotating_open(struct annotating *r, const struct annotate_command *options, const char *input,
	struct err *err)
{
	memset(r, 0, sizeof(*r));
	r->options = options;
	r->n_workers = options->n_workers ? (unsigned)options->n_workers : workers_available();
	cmd_log_init(&r->log, options->verbose ? LOG_DEBUG : LOG_NOTE);
	if (!choose(r, err) && !recorded_open(&r->recorded, input, &r->log, err))
		return 0;
	if (err->code != ERR_INVAL)
		cmd_explain_missing(input, err);
	cpus_fini(&r->cpus);
	log_fini(&r->log);
	return err->code;
}

/* ---- stages ---- */

static int check_cpus(const struct annotating *r, struct err *err)
{
	if (!r->options->cpus)
		return 0;
	vec_each(e, &r->recorded.trace.session.reader.events)
		if (!(e->attr.sample_type & PERF_SAMPLE_CPU))
			return err_set(err, ERR_INVAL,
				"-C: the recording does not say on which CPU its samples were taken: record it with --sample-cpu");
	return 0;
}

int annotating_count(struct annotating *r, struct err *err)
{
	const struct annotate_command *o = r->options;
	const struct profile_filter filter = {.dsos = o->dsos,
		.comms = o->comms,
		.is_relative = true};
	struct recorded_options reading = {.n_workers = r->n_workers,
		.labels = profile_filter_labels(&filter) |
			(o->has_types ? LABEL_BIT(LABEL_ACCESS) : 0),
		.skid = typing_skid(o->skid),
		.cpus = &r->cpus,
		.naming.style = r->assembly.style};
	const struct visitor blocks = blocks_visitor(&r->blocks);
	struct recorded *in = &r->recorded;

	symbol_options_tell(&o->symbols, o->debuginfod_s, &reading);
	if (blocks_are_there(&in->trace.session)) {
		r->assembly.blocks = &r->blocks;
		reading.visitors[reading.n_visitors++] = &blocks;
	}
	if (check_cpus(r, err) || recorded_read(in, &reading, err))
		return err->code;
	blocks_sort(&r->blocks);
	profile_filter_apply(&in->profile, &filter);
	annotation_init(&r->annotation, &in->profile);
	return 0;
}

/* ---- which functions ---- */

static const char *name_of(const struct annotating *r, u32 function)
{
	return annotation_symbol(&r->annotation, &r->annotation.functions.at[function])->name;
}

static const char *dso_of(const struct annotating *r, u32 function)
{
	const struct profile_symbol *s =
		annotation_symbol(&r->annotation, &r->annotation.functions.at[function]);

	return r->recorded.profile.dsos.at[s->dso].name;
}

/* Lists the functions that `name` is a part of, with their shares, and fails. */
static int refuse_ambiguous(const struct annotating *r, const char *name, const u32 *found,
	size_t n, struct err *err)
{
	struct str text = {0};

	for (size_t i = 0; i < n && i < CANDIDATES_SHOWN; i++) {
		str_addf(&text, "%7.2f%%  ", r->annotation.functions.at[found[i]].share);
		str_add_safe(&text, name_of(r, found[i]), strlen(name_of(r, found[i])));
		str_add(&text, "  ");
		str_add_safe(&text, dso_of(r, found[i]), strlen(dso_of(r, found[i])));
		str_addc(&text, '\n');
	}
	if (n > CANDIDATES_SHOWN)
		str_addf(&text, "  and %zu more\n", n - CANDIDATES_SHOWN);
	fputs(str_text(&text), stderr);
	str_fini(&text);
	return err_set(err, ERR_INVAL,
		"'%s' matches %zu functions: write one of these names in full", name, n);
}

int annotating_find(const struct annotating *r, const char *name, u32 *ret, size_t *ret_n,
	struct err *err)
{
	bool is_whole;

	*ret_n = annotation_find(&r->annotation, name, ret, &is_whole);
	if (!*ret_n)
		return err_set(err, ERR_NOENT,
			"no sampled function is called '%s': 'pace report' lists the sampled functions",
			name);
	if (!is_whole && *ret_n > 1)
		return refuse_ambiguous(r, name, ret, *ret_n, err);
	return 0;
}

void annotating_say_code(struct annotating *r, const struct assembly *a)
{
	if (a->no_code.code)
		return;
	log_debug(&r->log, "'%s': %llu bytes of %s from %s, disassembled by %s%s%s",
		a->symbol->name, (unsigned long long)a->code.n,
		a->code.isa ? a->code.isa->name : "an unknown processor", str_text(&a->code.origin),
		str_text(&a->disasm.by), a->disasm.why.n ? ", because " : "",
		str_text(&a->disasm.why));
}

bool annotating_is_whole(const struct annotating *r)
{
	return !r->log.has_warned && !ledger_has_unread(&r->recorded.ledger);
}

bool annotating_has_lost(const struct annotating *r)
{
	return strict_fails(&cmd_annotate, r->options->is_strict,
		r->recorded.trace.session.reader.path, &r->recorded.ledger);
}

void annotating_fini(struct annotating *r)
{
	annotation_fini(&r->annotation);
	blocks_fini(&r->blocks);
	datanames_fini(&r->datanames);
	typefiles_fini(&r->typefiles);
	recorded_close(&r->recorded);
	cpus_fini(&r->cpus);
	log_fini(&r->log);
}
