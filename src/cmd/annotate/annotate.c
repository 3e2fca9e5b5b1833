#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/workers.h"
#include "cmd/annotate/annotate_browse.h"
#include "cmd/annotate/annotate_diff.h"
#include "cmd/annotate/annotating.h"
#include "cmd/cmd.h"
#include "cmd/colourrow.h"
#include "cmd/strict.h"
#include "profile/code/typeprofile.h"
#include "symbol/code/llvm.h"
#include "view/code/annotate_types.h"

#define AT(member) offsetof(struct annotate_command, member)

/* The defaults without FUNCTION: what fits on a few pages. */
enum { FUNCTIONS_SHOWN = 5, ROWS_AROUND = 2 };

static int set_type(void *target, const char *value, struct err *err)
{
	struct annotate_command *o = target;

	(void)err;
	o->shows_types = true;
	o->type = value;
	return 0;
}

COLOUR_SETTER(annotate_command, colour)

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to read"},
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE; default perf.data"},
	{'f', "force", OPT_BOOL, AT(is_forced), NULL,
		"read files of any owner (always; perf needs -f)"},
	SYMBOL_FILE_ROWS(annotate_command),
	{'m', "modules", OPT_BOOL, AT(has_modules), NULL, "look for the kernel's modules (always)"},
	SYMBOL_FETCH_ROW(annotate_command),
	CODE_PLACE_ROWS(annotate_command),
	{0, NULL, OPT_TITLE, 0, NULL, "Which functions, and which of their samples"},
	{'s', "symbol", OPT_STR, AT(symbol), "NAME", "the same as FUNCTION"},
	{'d', "dsos", OPT_STR, AT(dsos), "DSO,...", "only functions of these files"},
	{0, "comms", OPT_STR, AT(comms), "NAME,...", "only of threads with these names"},
	{'C', "cpu", OPT_STR, AT(cpus), "LIST", "only samples on these CPUs, like 0-3,8"},
	{0, "percent-limit", OPT_DOUBLE, AT(percent_limit), "PCT",
		"without FUNCTION: all functions with at least this share of the total",
		.max = 100},
	{0, "max-functions", OPT_U64, AT(n_functions), "N",
		"without FUNCTION: at most N functions; default 5 unless --percent-limit is given",
		.min = 1},
	{0, "skip-missing", OPT_BOOL, AT(skips_missing), NULL,
		"leave out functions whose code is not found"},
	{0, "all", OPT_BOOL, AT(shows_all), NULL,
		"without FUNCTION: all functions that other options allow, with all their code"},
	{0, "context", OPT_U64, AT(around), "N",
		"only the hottest instructions, with N around each; default 2, or all code if FUNCTION is given",
		.max = UINT32_MAX},
	{0, NULL, OPT_TITLE, 0, NULL, "What to show of each instruction"},
	CODE_FIGURE_ROW(annotate_command),
	{'n', "show-nr-samples", OPT_BOOL, AT(has_counts), NULL, "samples instead of percent"},
	{0, "show-total-period", OPT_BOOL, AT(has_periods), NULL, "periods instead of percent"},
	CODE_BYTES_ROW(annotate_command),
	{'l', "print-line", OPT_BOOL, AT(has_places), NULL,
		"file and line of the sampled instructions"},
	CODE_SOURCE_ROW(annotate_command),
	{0, "code-with-type", OPT_BOOL, AT(has_code_types), NULL,
		"the type of the data that each instruction accesses"},
	{'P', "full-paths", OPT_BOOL, AT(has_full_paths), NULL,
		"source files with their directories"},
	{0, "skip-empty", OPT_BOOL, AT(skips_empty), NULL,
		"no columns of events without samples (always)"},
	{0, "group", OPT_BOOL, AT(is_grouped), NULL, "events side by side (always)"},
	{0, NULL, OPT_TITLE, 0, NULL, "How"},
	{0, "data-type", OPT_CALL, 0, "NAME",
		"show the data types that instructions access, or only the type NAME, with their members, instead of code",
		.flags = OPT_OPTIONAL | OPT_ATTACHED, .call = set_type},
	{0, "type-stat", OPT_BOOL, AT(has_type_stat), NULL,
		"how many samples are at instructions whose data has a known type, and why the others are not"},
	{0, "insn-stat", OPT_BOOL, AT(has_insn_stat), NULL,
		"the same by instruction; with --data-type both go before the types"},
	{0, "skid", OPT_U64, AT(skid), "N",
		"with --data-type: take the sampled instruction (0) or the one that ran before it (1); default 1 if the time went there",
		.max = 1},
	{0, "diff", OPT_BOOL, AT(is_diff), NULL,
		"the code of a function in two recordings, block by block, and what changed"},
	{0, "normalise", OPT_STR, AT(per), "WHAT",
		"with --diff: compare what blocks took (run, default), or shares of the recording (total)"},
	{'D', "dump-raw-trace", OPT_BOOL, AT(is_dump), NULL,
		"print every record instead of code, like 'pace report -D'"},
	{0, "stdio", OPT_BOOL, AT(is_text), NULL,
		"plain text (default, unless stdout is a terminal)"},
	{0, "stdio2", OPT_BOOL, AT(is_text), NULL, "the same"},
	COLOUR_ROW,
	{0, "tui", OPT_TRI, AT(browser), NULL,
		"walk through the code on the terminal (default on one); the key h shows all keys"},
	{0, "json", OPT_BOOL, AT(forms.is_chosen[FORM_JSON]), NULL,
		"print everything as JSON, see pace-annotate(1)"},
	CODE_ENGINE_ROWS(annotate_command),
	{0, "addr2line", OPT_NOTHING, 0, "PATH", "lines are read without another program"},
	{0, "itrace", OPT_REFUSED, 0, "WHAT",
		"AUX traces (Intel PT, CoreSight) are not decoded; 'perf inject --itrace' turns them into samples",
		.flags = OPT_OPTIONAL | OPT_ATTACHED},
	STRICT_ROW(struct annotate_command),
	SYMBOL_NAME_ROWS(annotate_command),
	{0, "demangle-kernel", OPT_BOOL, AT(has_kernel_demangled), NULL,
		"demangle the kernel's names, too (always, with --demangle)"},
	{'q', "quiet", OPT_BOOL, AT(is_quiet), NULL, "no summary, no notes"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say where files were looked for, and what disassembles"},
	{'j', "threads", OPT_U64, AT(n_workers), "N", "use N threads; default all cores", .min = 1,
		.max = WORKERS_MAX},
	{.kind = OPT_END},
};

/* ---- one recording ---- */

static bool is_data(const struct annotate_command *o)
{
	return form_is_data(form_chosen(&o->forms));
}

/* JSON is for programs: it holds everything unless options limit it. */
static u64 functions_wanted(const struct annotate_command *o)
{
	if (o->n_functions || o->shows_all || is_data(o) || o->percent_limit > 0)
		return o->n_functions ? o->n_functions : UINT64_MAX;
	return FUNCTIONS_SHOWN;
}

static size_t choose_hottest(const struct annotating *r, u32 *ret)
{
	const u64 most = functions_wanted(r->options);
	size_t n = 0;

	for (u32 i = 0; i < r->annotation.functions.n; i++) {
		if (r->annotation.functions.at[i].share < r->options->percent_limit || n == most)
			break;
		ret[n++] = i;
	}
	return n;
}

/* Says that only a part of the code is shown, and how to see the rest. */
static void say_excerpt(struct annotating *r, size_t n_functions)
{
	if (r->view.is_excerpt && n_functions)
		log_note(&r->log,
			"only the hottest instructions of %zu of %zu functions are shown: 'pace annotate NAME' shows all code of one function, --all everything",
			n_functions, r->annotation.functions.n);
}

/* Notes the samples that lie in no named function; true if there are any. */
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

/* False: the function has no code and was left out (--skip-missing). */
static bool show_function(struct annotating *r, struct out *out, u32 function, size_t *n_shown)
{
	struct assembly a;
	struct rowtypes types = {0};
	const struct rowtypes *wanted = r->view.has_types ? &types : NULL;
	bool is_shown;

	assembly_init(&a, &r->annotation, &r->annotation.functions.at[function],
		&r->recorded.trace.resolver, &r->assembly);
	annotating_say_code(r, &a);
	is_shown = !a.no_code.code || !r->options->skips_missing;
	if (is_shown) {
		if (++*n_shown > 1)
			str_add(&out->text, is_data(r->options) ? ",\n" : "\n");
		if (wanted)
			rowtypes_init(&types, &a, &r->recorded.trace.resolver, &r->typefiles);
		if (is_data(r->options))
			annotate_json(out, &a, wanted, &r->view);
		else
			annotate_text(out, &a, wanted, &r->view);
	}
	rowtypes_fini(&types);
	assembly_fini(&a);
	return is_shown;
}

static int annotate(struct annotating *r, const char *name, struct out *out, struct err *err)
{
	u32 *chosen;
	size_t n, n_skipped = 0, n_shown = 0;
	bool has_nameless;
	int result;

	if (annotating_count(r, err))
		return err->code;
	r->view.is_excerpt =
		r->options->around != ANNOTATE_NOT_SAID || (!name && !r->options->shows_all);
	r->view.around = r->options->around != ANNOTATE_NOT_SAID ? r->options->around : ROWS_AROUND;
	chosen = mem_alloc((r->annotation.functions.n + 1) * sizeof(*chosen));
	has_nameless = say_nameless(r);
	if (!name) {
		n = choose_hottest(r, chosen);
		if (!n)
			log_warn(&r->log, "%s",
				r->annotation.functions.n
					? "no function reaches the --percent-limit"
					: has_nameless
					? "no sampled function has a name"
					: "there are no samples, or none that match the options");
	} else if (annotating_find(r, name, chosen, &n, err)) {
		mem_free(chosen);
		return err->code;
	}
	if (n && annotate_browse_is_wanted(r, out)) {
		result = annotate_browse(r, chosen[0], err);
		mem_free(chosen);
		ledger_warn(&r->recorded.ledger, &r->log);
		return result;
	}
	if (is_data(r->options))
		annotate_json_begin(out, &r->annotation, &r->view);
	for (size_t i = 0; i < n; i++) {
		n_skipped += !show_function(r, out, chosen[i], &n_shown);
		out_flush_some(out);
	}
	if (is_data(r->options))
		annotate_json_end(out);
	if (!name)
		say_excerpt(r, n_shown);
	if (n_skipped)
		log_note(&r->log, "%zu functions are left out: their code was not found",
			n_skipped);
	mem_free(chosen);
	ledger_warn(&r->recorded.ledger, &r->log);
	return 0;
}

/* ---- types of data ---- */

static void count_instructions(struct annotating *r, struct insnstat *s)
{
	const struct typing_events typing = recorded_typing(&r->recorded);
	const size_t n_events = r->recorded.profile.events.n;
	bool *is_before = mem_alloc(n_events + 1);

	for (u32 e = 0; e < n_events; e++)
		is_before[e] = typing_distance(&typing, e) == TYPING_ONE_BEFORE;
	r->assembly.has_source = r->assembly.has_code = false;
	insnstat_add_nameless(s, &r->annotation);
	vec_each(f, &r->annotation.functions) {
		struct assembly a;
		struct rowtypes types;

		assembly_init(&a, &r->annotation, f, &r->recorded.trace.resolver, &r->assembly);
		rowtypes_init(&types, &a, &r->recorded.trace.resolver, &r->typefiles);
		insnstat_add(s, &a, &types, is_before);
		rowtypes_fini(&types);
		assembly_fini(&a);
	}
	insnstat_sort(s);
	mem_free(is_before);
}

static int show_types(struct annotating *r, struct out *out, struct err *err)
{
	const struct annotate_command *o = r->options;
	struct typeprofile typeprofile;
	struct insnstat insnstat = {0};
	const struct annotate_types shown = {.types = &typeprofile,
		.has_types = o->shows_types,
		.has_outcomes = o->has_type_stat,
		.instructions = o->has_insn_stat ? &insnstat : NULL};
	int result = annotating_count(r, err);

	if (result)
		return result;
	if (o->has_insn_stat)
		count_instructions(r, &insnstat);
	typeprofile_init(&typeprofile, &r->recorded.profile);
	if (o->type && !typeprofile_keep(&typeprofile, o->type))
		result = err_set(err, ERR_NOENT,
			"no sampled instruction accesses a type with members called '%s': 'pace report -s type' lists the types that are accessed",
			o->type);
	else if (is_data(o))
		annotate_types_rows(form_chosen(&o->forms), out, &shown, &r->view);
	else
		annotate_types_text(out, &shown, &r->view);
	typeprofile_fini(&typeprofile);
	insnstat_fini(&insnstat);
	ledger_warn(&r->recorded.ledger, &r->log);
	return result;
}

/* ---- the command ---- */

static void *load_llvm(void *unused)
{
	const char *name;
	struct err err;

	(void)unused;
	llvm_load(&name, &err);
	return NULL;
}

static int annotate_one(const struct annotate_command *o, const char *name, struct out *out,
	struct annotate_result *ret, struct err *err)
{
	struct annotating r;
	int result = annotating_open(&r, o, cmd_input(o->input), err);

	if (result)
		return result;
	ret->is_open = true;
	result = o->has_types ? show_types(&r, out, err) : annotate(&r, name, out, err);
	ret->is_whole = annotating_is_whole(&r);
	ret->has_lost = annotating_has_lost(&r);
	annotating_fini(&r);
	return result;
}

/* The function's name: the argument, or -s. With --diff the argument follows two recordings. */
static int choose_name(const struct annotate_command *o, int argc, char **argv,
	const char **ret_name, struct err *err)
{
	int n = o->is_diff ? 2 : 0;

	if (argc < n)
		return err_set(err, ERR_INVAL,
			"--diff needs two recordings: pace annotate --diff OLD NEW [FUNCTION]");
	if (argc > n + 1)
		return err_set(err, ERR_INVAL,
			"unexpected argument '%s': give one function at a time", argv[n + 1]);
	if (argc > n && o->symbol && strcmp(o->symbol, argv[n]))
		return err_set(err, ERR_INVAL, "-s '%s' and '%s' name two functions: give one",
			o->symbol, argv[n]);
	if (o->has_types && (o->is_diff || argc || o->symbol))
		return err_set(err, ERR_INVAL,
			"--data-type shows types, not functions: --data-type=NAME shows one of them");
	if (o->is_diff && o->has_code_types)
		return err_set(err, ERR_INVAL,
			"--code-with-type shows types in the code of one recording: leave --diff out");
	if (o->skid <= 1 && !o->has_types)
		return err_set(err, ERR_INVAL, "--skid needs --data-type");
	if (n && o->input)
		return err_set(err, ERR_INVAL,
			"-i does not work with --diff: name both recordings as arguments");
	*ret_name = argc > n ? argv[n] : o->symbol;
	return 0;
}

/* Under -D perf prints records instead of code: that is report's work. */
static int dump(const struct annotate_command *o)
{
	char *words[] = {(char *)(uintptr_t) "report", (char *)(uintptr_t) "-D",
		(char *)(uintptr_t) "-i", (char *)(uintptr_t)cmd_input(o->input), NULL};

	return cmd_report.run((int)ARRAY_SIZE(words) - 1, words);
}

/* `pace annotate FILE [FUNCTION]`: the first argument is the input if it names a recording. */
static void take_input(struct annotate_command *o, int *argc, char **argv)
{
	if (o->input || o->is_diff || !*argc || !reader_is_recording(argv[0]))
		return;
	o->input = argv[0];
	(*argc)--;
	for (int i = 0; i < *argc; i++)
		argv[i] = argv[i + 1];
}

static int run_annotate(int argc, char **argv)
{
	struct annotate_command o = {.code = CODE_OPTIONS_DEFAULT,
		.browser = -1,
		.symbols.demangles = true,
		.symbols.makes_names = true,
		.skid = TYPING_NOT_SAID,
		.around = ANNOTATE_NOT_SAID,
		.debuginfod_s = 10};
	struct out out = {.fd = STDOUT_FILENO};
	int status = cmd_parse(&cmd_annotate, &o, 0, &argc, argv), r;
	struct annotate_result result = {0};
	bool has_thread;
	const char *name = NULL;
	pthread_t llvm;
	struct err err;

	if (status >= 0)
		return status;
	take_input(&o, &argc, argv);
	o.has_types = o.shows_types || o.has_type_stat || o.has_insn_stat;
	if (o.is_dump)
		return dump(&o);
	if (choose_name(&o, argc, argv, &name, &err) || annotate_browse_check(&o, &err))
		return cmd_fail(&cmd_annotate, &err, EXIT_USAGE);
	status = EXIT_OK;
	/* Loading LLVM takes as long as everything else, so it happens while the samples are read. */
	has_thread = !o.code.engine && !o.code.objdump && o.n_workers != 1 &&
		workers_available() > 1 && !pthread_create(&llvm, NULL, load_llvm, NULL);
	r = o.is_diff ? annotate_diff(&o, argv, name, &out, &result, &err)
		      : annotate_one(&o, name, &out, &result, &err);
	if (r)
		status = cmd_fail(&cmd_annotate, &err,
			err.code == ERR_INVAL || !result.is_open ? EXIT_USAGE : EXIT_FAILED);
	if (out_close(&out, &err))
		status = cmd_fail(&cmd_annotate, &err, EXIT_FAILED);
	if (has_thread)
		pthread_join(llvm, NULL);
	if (status == EXIT_OK && result.has_lost)
		return EXIT_INCOMPLETE;
	return status == EXIT_OK && !result.is_whole ? EXIT_FAILED : status;
}

const struct cmd cmd_annotate = {
	.name = "annotate",
	.summary = "show the code of functions, and where in it the time went",
	.usage = {"[OPTIONS] [FILE] [FUNCTION]", "--data-type[=NAME] [OPTIONS] [FILE]",
		"--diff [OPTIONS] OLD NEW [FUNCTION]", NULL},
	.options = options,
	.is_paged = true,
	.run = run_annotate,
};
