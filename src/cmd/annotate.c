#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/out.h"
#include "base/workers.h"
#include "cmd/cmd.h"
#include "cmd/strict.h"
#include "cmd/symbols.h"
#include "event/abi.h"
#include "profile/annotation.h"
#include "profile/assembly.h"
#include "profile/blocks.h"
#include "profile/filter.h"
#include "profile/recorded.h"
#include "symbol/llvm.h"
#include "view/annotate.h"

enum { CANDIDATES_SHOWN = 20 };

struct annotate_command {
	bool is_strict;
	const char *input, *symbol, *dsos, *comms, *cpus;
	struct symbol_options symbols;
	const char *syntax, *engine, *objdump, *prefix, *percent_type;
	u64 n_stripped, n_functions, n_workers;
	double percent_limit, debuginfod_s;
	bool is_text, is_json, is_forced, is_grouped;
	bool has_places, has_counts, has_periods, has_full_paths, skips_missing;
	bool has_bytes;
	int has_source;
	bool is_quiet;
	unsigned verbose;
};

#define AT(member) offsetof(struct annotate_command, member)

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to read"},
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE; default perf.data"},
	{'f', "force", OPT_BOOL, AT(is_forced), NULL,
		"read it whoever it belongs to (always; perf asks)"},
	SYMBOL_FILE_ROWS(annotate_command),
	{0, "debuginfod", OPT_DOUBLE, AT(debuginfod_s), "SECONDS",
		"fetch missing files (DEBUGINFOD_URLS) for so long; default 10, 0: never",
		.max = 86400},
	{0, "prefix", OPT_STR, AT(prefix), "DIR", "look for files of source below DIR"},
	{0, "prefix-strip", OPT_U64, AT(n_stripped), "N",
		"of their paths leave out the first N directories"},
	{0, NULL, OPT_TITLE, 0, NULL, "Which functions, and which of their samples"},
	{'s', "symbol", OPT_STR, AT(symbol), "NAME", "the same as FUNCTION"},
	{'d', "dsos", OPT_STR, AT(dsos), "DSO,...", "only functions of these files"},
	{0, "comms", OPT_STR, AT(comms), "NAME,...", "only of threads with these names"},
	{'C', "cpu", OPT_STR, AT(cpus), "LIST", "only samples on these CPUs, like 0-3,8"},
	{0, "percent-limit", OPT_DOUBLE, AT(percent_limit), "PCT",
		"without FUNCTION: those with this share of all; default 0", .max = 100},
	{0, "max-functions", OPT_U64, AT(n_functions), "N",
		"without FUNCTION: at most N; default all", .min = 1},
	{0, "skip-missing", OPT_BOOL, AT(skips_missing), NULL,
		"leave out functions whose code is not here"},
	{0, NULL, OPT_TITLE, 0, NULL, "What of each instruction"},
	{0, "percent-type", OPT_STR, AT(percent_type), "TYPE",
		"local-period (default), local-hits, global-period or global-hits"},
	{'n', "show-nr-samples", OPT_BOOL, AT(has_counts), NULL, "samples instead of percent"},
	{0, "show-total-period", OPT_BOOL, AT(has_periods), NULL, "periods instead of percent"},
	{0, "asm-raw", OPT_BOOL, AT(has_bytes), NULL, "its bytes"},
	{'l', "print-line", OPT_BOOL, AT(has_places), NULL,
		"file and line of those that were sampled"},
	{0, "source", OPT_TRI, AT(has_source), NULL, "lines of source between them (default)"},
	{'P', "full-paths", OPT_BOOL, AT(has_full_paths), NULL,
		"files of source with their directories"},
	{0, "group", OPT_BOOL, AT(is_grouped), NULL, "events side by side (always)"},
	{0, NULL, OPT_TITLE, 0, NULL, "How"},
	{0, "stdio", OPT_BOOL, AT(is_text), NULL, "plain text (always, in this version)"},
	{0, "json", OPT_BOOL, AT(is_json), NULL, "all of it as JSON, see pace-annotate(1)"},
	{'M', "disassembler-style", OPT_STR, AT(syntax), "STYLE",
		"of x86 code: att (default) or intel"},
	{0, "disassembler", OPT_STR, AT(engine), "WHICH",
		"only llvm, objdump or raw; default the first of them that is here"},
	{0, "objdump", OPT_STR, AT(objdump), "FILE", "this objdump program"},
	STRICT_ROW(struct annotate_command),
	SYMBOL_NAME_ROWS(annotate_command),
	{'q', "quiet", OPT_BOOL, AT(is_quiet), NULL, "no summary, no notes"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say where files were looked for, and who disassembles"},
	{'j', "threads", OPT_U64, AT(n_workers), "N", "use N threads; default all cores", .min = 1,
		.max = WORKERS_MAX},
	{.kind = OPT_END},
};

/* Everything between the file and the page. */
struct annotating {
	const struct annotate_command *options;
	struct log log;
	struct recorded recorded;
	struct annotation annotation;
	struct blocks blocks;
	struct cpus cpus;
	struct assembly_options assembly;
	struct annotate_options view;
	unsigned n_workers;
	size_t n_shown;
};

/* ---- options ---- */

static int choose_figure(struct annotating *r, struct err *err)
{
	static const struct {
		const char *name;
		bool is_global, is_by_hits;
	} types[] = {
		{"local-period", false, false},
		{"local-hits", false, true},
		{"global-period", true, false},
		{"global-hits", true, true},
	};
	const struct annotate_command *o = r->options;

	if (o->has_counts && o->has_periods)
		return err_set(err, ERR_INVAL,
			"--show-nr-samples and --show-total-period want the same column");
	r->view.figure = o->has_counts ? ANNOTATE_SAMPLES
		: o->has_periods       ? ANNOTATE_PERIOD
				       : ANNOTATE_PERCENT;
	for (size_t i = 0; i < ARRAY_SIZE(types) && o->percent_type; i++)
		if (!strcmp(types[i].name, o->percent_type)) {
			r->view.is_global = types[i].is_global;
			r->view.is_by_hits = types[i].is_by_hits;
			return 0;
		}
	return o->percent_type
		? err_set(err, ERR_INVAL,
			  "--percent-type '%s' is none of local-period, local-hits, global-period, global-hits",
			  o->percent_type)
		: 0;
}

static int choose_disassembler(struct annotating *r, struct err *err)
{
	const struct annotate_command *o = r->options;
	struct disasm_options *d = &r->assembly.disasm;

	if (o->syntax && strcmp(o->syntax, "intel") && strcmp(o->syntax, "att"))
		return err_set(err, ERR_INVAL, "-M '%s' is neither att nor intel", o->syntax);
	d->is_intel = o->syntax && !strcmp(o->syntax, "intel");
	d->objdump = o->objdump;
	if (o->engine)
		d->engine = disasm_engine(o->engine);
	if (o->engine && !d->engine)
		return err_set(err, ERR_INVAL, "--disassembler '%s' is none of llvm, objdump, raw",
			o->engine);
	return 0;
}

static int choose(struct annotating *r, struct err *err)
{
	const struct annotate_command *o = r->options;

	if (choose_figure(r, err) || choose_disassembler(r, err))
		return err->code;
	if (o->cpus && cpus_parse(&r->cpus, o->cpus, err))
		return err_prefix(err, "--cpu");
	r->assembly.style = symbol_options_style(&o->symbols, o->verbose);
	r->assembly.has_source = o->has_source || o->has_places || o->is_json;
	r->assembly.has_code = o->has_source && !o->is_json;
	r->assembly.places = (struct source_places){o->symbols.symfs ? o->symbols.symfs : "",
		o->prefix, o->prefix ? o->n_stripped : 0};
	r->view.events = &r->recorded.session.reader.events;
	r->view.has_bytes = o->has_bytes;
	r->view.has_places = o->has_places;
	r->view.has_source = o->has_source;
	r->view.has_full_paths = o->has_full_paths;
	r->view.is_quiet = o->is_quiet;
	return 0;
}

/* ---- stages ---- */

static void *load_llvm(void *unused)
{
	const char *name;
	struct err err;

	(void)unused;
	llvm_load(&name, &err);
	return NULL;
}

static int check_cpus(const struct annotating *r, struct err *err)
{
	if (!r->options->cpus)
		return 0;
	vec_each(e, &r->recorded.session.reader.events)
		if (!(e->attr.sample_type & PERF_SAMPLE_CPU))
			return err_set(err, ERR_INVAL,
				"-C: the recording does not say on which CPU its samples were taken ('record --sample-cpu' does)");
	return 0;
}

/* Samples into functions, counted. */
static int count(struct annotating *r, struct err *err)
{
	const struct annotate_command *o = r->options;
	const struct profile_filter filter = {.dsos = o->dsos,
		.comms = o->comms,
		.is_relative = true};
	struct recorded_options reading = {.n_workers = r->n_workers,
		.labels = profile_filter_labels(&filter),
		.cpus = &r->cpus,
		.naming.style = r->assembly.style};
	struct recorded *in = &r->recorded;

	symbol_options_tell(&o->symbols, o->debuginfod_s, &reading);
	if (check_cpus(r, err) || recorded_read(in, &reading, err))
		return err->code;
	profile_filter_apply(&in->profile, &filter);
	annotation_init(&r->annotation, &in->profile);
	if (!blocks_are_there(&in->session))
		return 0;
	r->assembly.blocks = &r->blocks;
	return blocks_find(&r->blocks, &in->session, &in->machine, &r->cpus, r->n_workers, err);
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

/* A name that more than one function has a part of: which, and how hot they are. */
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
	return err_set(err, ERR_INVAL, "'%s' is a part of %zu names: write one of these in full",
		name, n);
}

static int choose_named(struct annotating *r, const char *name, u32 *ret, size_t *ret_n,
	struct err *err)
{
	bool is_whole;

	*ret_n = annotation_find(&r->annotation, name, ret, &is_whole);
	if (!*ret_n)
		return err_set(err, ERR_NOENT,
			"no sampled function is called '%s': 'pace report' lists those that are",
			name);
	if (!is_whole && *ret_n > 1)
		return refuse_ambiguous(r, name, ret, *ret_n, err);
	return 0;
}

static size_t choose_hottest(const struct annotating *r, u32 *ret)
{
	const struct annotate_command *o = r->options;
	size_t n = 0;

	for (u32 i = 0; i < r->annotation.functions.n; i++) {
		if (r->annotation.functions.at[i].share < o->percent_limit ||
			(o->n_functions && n == o->n_functions))
			break;
		ret[n++] = i;
	}
	return n;
}

/* Samples without a function cannot be shown here; true if there are any. */
static bool say_nameless(struct annotating *r)
{
	u64 n = 0, all = 0;

	for (size_t e = 0; e < r->recorded.profile.events.n; e++) {
		n += r->annotation.nameless[e].n_samples;
		all += r->annotation.totals[e].n_samples;
	}
	if (n)
		log_note(&r->log,
			"%llu samples (%.2f%%) are in no function that has a name: 'pace report' says why",
			(unsigned long long)n, 100.0 * (double)n / (double)all);
	return n > 0;
}

static void say_disassembler(struct annotating *r, const struct assembly *a)
{
	if (a->no_code.code)
		return;
	log_debug(&r->log, "'%s': %llu bytes of %s from %s, disassembled by %s%s%s",
		a->symbol->name, (unsigned long long)a->code.n,
		a->code.isa ? a->code.isa->name : "an unknown processor", str_text(&a->code.origin),
		str_text(&a->disasm.by), a->disasm.why.n ? ", because " : "",
		str_text(&a->disasm.why));
}

/* False: there is no code, and it is left out. */
static bool show_function(struct annotating *r, struct out *out, u32 function)
{
	struct assembly a;
	bool is_shown;

	assembly_init(&a, &r->annotation, &r->annotation.functions.at[function],
		&r->recorded.resolver, &r->assembly);
	say_disassembler(r, &a);
	is_shown = !a.no_code.code || !r->options->skips_missing;
	if (is_shown) {
		if (r->n_shown++)
			str_add(&out->text, r->options->is_json ? ",\n" : "\n");
		if (r->options->is_json)
			annotate_json(out, &a, &r->view);
		else
			annotate_text(out, &a, &r->view);
	}
	assembly_fini(&a);
	return is_shown;
}

static int annotate(struct annotating *r, const char *name, struct out *out, struct err *err)
{
	u32 *chosen;
	size_t n, n_skipped = 0;
	bool has_nameless;

	if (choose(r, err) || count(r, err))
		return err->code;
	chosen = mem_alloc((r->annotation.functions.n + 1) * sizeof(*chosen));
	has_nameless = say_nameless(r);
	if (!name) {
		n = choose_hottest(r, chosen);
		if (!n)
			log_warn(&r->log, "%s",
				r->annotation.functions.n ? "no function has that share"
					: has_nameless    ? "no sampled function has a name"
							  : "nothing was sampled there");
	} else if (choose_named(r, name, chosen, &n, err)) {
		mem_free(chosen);
		return err->code;
	}
	if (r->options->is_json)
		annotate_json_begin(out, &r->annotation, &r->view);
	for (size_t i = 0; i < n; i++) {
		n_skipped += !show_function(r, out, chosen[i]);
		out_flush_some(out);
	}
	if (r->options->is_json)
		annotate_json_end(out);
	if (n_skipped)
		log_note(&r->log, "%zu functions are left out: their code is not here", n_skipped);
	mem_free(chosen);
	ledger_warn(&r->recorded.ledger, &r->log);
	return 0;
}

static void annotating_fini(struct annotating *r)
{
	annotation_fini(&r->annotation);
	blocks_fini(&r->blocks);
	recorded_close(&r->recorded);
	cpus_fini(&r->cpus);
	log_fini(&r->log);
}

/* The one word that is no option, or -s. */
static int choose_name(const struct annotate_command *o, int argc, char **argv,
	const char **ret_name, struct err *err)
{
	if (argc > 1)
		return err_set(err, ERR_INVAL, "'%s' is one word too many: one function at a time",
			argv[1]);
	if (argc && o->symbol && strcmp(o->symbol, argv[0]))
		return err_set(err, ERR_INVAL, "-s '%s' and '%s' are two functions", o->symbol,
			argv[0]);
	*ret_name = argc ? argv[0] : o->symbol;
	return 0;
}

static int run_annotate(int argc, char **argv)
{
	struct annotate_command o = {.has_source = true,
		.symbols.demangles = true,
		.debuginfod_s = 10};
	struct out out = {.fd = STDOUT_FILENO};
	struct annotating r = {.options = &o};
	int status = cmd_parse(&cmd_annotate, &o, 0, &argc, argv);
	const char *name = NULL;
	pthread_t llvm;
	bool has_thread;
	struct err err;

	if (status >= 0)
		return status;
	if (choose_name(&o, argc, argv, &name, &err))
		return cmd_fail(&cmd_annotate, &err, EXIT_USAGE);
	cmd_log_init(&r.log, o.verbose ? LOG_DEBUG : LOG_NOTE);
	r.n_workers = o.n_workers ? o.n_workers : workers_available();
	status = EXIT_OK;
	o.input = cmd_input(o.input);
	if (recorded_open(&r.recorded, o.input, &r.log, &err)) {
		cmd_explain_missing(o.input, &err);
		log_fini(&r.log);
		return cmd_fail(&cmd_annotate, &err, EXIT_USAGE);
	}
	/* It takes as long as all the rest: meanwhile the samples are read. */
	has_thread = !o.engine && !o.objdump && r.n_workers > 1 &&
		!pthread_create(&llvm, NULL, load_llvm, NULL);
	if (annotate(&r, name, &out, &err))
		status = cmd_fail(&cmd_annotate, &err,
			err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	if (out_close(&out, &err))
		status = cmd_fail(&cmd_annotate, &err, EXIT_FAILED);
	if (has_thread)
		pthread_join(llvm, NULL);
	if (status == EXIT_OK &&
		strict_fails(&cmd_annotate, o.is_strict, o.input, &r.recorded.ledger))
		status = EXIT_INCOMPLETE;
	if (status == EXIT_OK && (r.log.has_warned || ledger_has_unread(&r.recorded.ledger)))
		status = EXIT_FAILED;
	annotating_fini(&r);
	return status;
}

const struct cmd cmd_annotate = {
	.name = "annotate",
	.summary = "show the code of functions, and where in it the time went",
	.usage = {"[OPTIONS] [FUNCTION]", NULL},
	.options = options,
	.run = run_annotate,
};
