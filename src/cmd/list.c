#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/out.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/formrow.h"
#include "collect/known/inventory.h"
#include "collect/known/metriclist.h"
#include "collect/known/slotsite.h"
#include "event/tables.h"
#include "event/tsx.h"
#include "view/pages/list.h"
#include "view/pages/list_markers.h"
#include "view/pages/list_metrics.h"
#include "view/pages/list_perf.h"

struct list_options {
	struct inventory_options inventory;
	const char *copy;
	struct form_choice forms;
	const char *tables; /* to install */
	const char *output;
	bool has_all_cpus, removes_tables;
	bool has_perfs_members;
	bool has_no_descriptions, is_long, has_details, is_raw, has_only_names;
};

#define AT(member) offsetof(struct list_options, member)

/* perf's word for the PMU of one kind of core. */
static int set_core_type(void *target, const char *value, struct err *err)
{
	struct list_options *o = target;

	if (strcmp(value, "core") != 0 && strcmp(value, "atom") != 0)
		return err_set(err, ERR_INVAL,
			"'%s': a kind of core is core or atom; --unit takes any PMU", value);
	o->inventory.pmu = !strcmp(value, "core") ? "cpu_core" : "cpu_atom";
	return 0;
}

static int choose_members(void *target, const char *value, struct err *err)
{
	struct list_options *o = target;

	o->has_perfs_members = !strncmp(value, "perf", 4) && (!value[4] || !strcmp(value + 4, "7"));
	if (!o->has_perfs_members && strcmp(value, "pace") != 0)
		return err_set(err, ERR_INVAL, "--columns '%s': it is perf or pace", value);
	return 0;
}

static const struct opt options[] = {
	{.kind = OPT_TITLE, .help = "Which events"},
	{0, "all", OPT_BOOL, AT(inventory.has_all), NULL,
		"list tracepoints even if no WORD asks for them"},
	{0, "unit", OPT_STR, AT(inventory.pmu), "PMU", "only events of this PMU"},
	{0, "deprecated", OPT_BOOL, AT(inventory.has_deprecated), NULL,
		"also events that a vendor's table calls deprecated"},
	{0, "cputype", OPT_CALL, 0, "core|atom",
		"only events of this kind of core (Intel's hybrid CPUs)", .call = set_core_type},
	{.kind = OPT_TITLE, .help = "What to show of them"},
	{0, "details", OPT_BOOL, AT(has_details), NULL,
		"everything that is known: description, encoding, terms, why it does not open"},
	{'v', "long-desc", OPT_BOOL, AT(is_long), NULL, "the same as --details"},
	{0, "raw", OPT_BOOL, AT(is_raw), NULL, "the encoding instead of a description"},
	{0, "no-desc", OPT_BOOL, AT(has_no_descriptions), NULL, "names, and whether they open"},
	{0, "raw-dump", OPT_BOOL, AT(has_only_names), NULL,
		"only the names, in one line, tracepoints too"},
	{'j', "json", OPT_BOOL, AT(forms.is_chosen[FORM_JSON]), NULL,
		"an array of objects, tracepoints too; pace-list(1) describes them"},
	{0, "columns", OPT_CALL, 0, "perf|pace",
		"the members of events in -j and the lines of the text: perf's, or pace's (default)",
		.call = choose_members},
	FORM_ROW(struct list_options, forms),
	{'o', "output", OPT_STR, AT(output), "FILE", "write to FILE instead of the terminal"},
	{'d', "desc", OPT_NOTHING, 0, NULL, "descriptions are shown unless --no-desc is given"},
	{0, "debug", OPT_NOTHING, 0, NULL, "--details says all that is known of an event"},
	{.kind = OPT_TITLE, .help = "Where to look"},
	{0, "events-dir", OPT_STR, AT(inventory.events_dir), "DIR",
		"the vendors' tables of events, as in Linux's tools/perf/pmu-events or Intel's perfmon"},
	{0, "sysfs", OPT_STR, AT(copy), "DIR",
		"list from a copy of another machine's /sys, without opening events"},
	{.kind = OPT_TITLE, .help = "Tables of the CPU's vendor, for all commands"},
	{0, "install-tables", OPT_STR, AT(tables), "PATH",
		"keep this CPU's from Linux's sources (a folder or an archive) or Intel's perfmon"},
	{0, "all-cpus", OPT_BOOL, AT(has_all_cpus), NULL, "with it: those of all CPUs"},
	{0, "remove-tables", OPT_BOOL, AT(removes_tables), NULL, "remove what was installed"},
	{.kind = OPT_END},
};

/* Whether somebody looks for TopDown's events, or for all. */
static bool asks_for_topdown(const struct inventory_options *o)
{
	bool is_asked = !o->n_words && !o->pmu;

	for (size_t i = 0; i < o->n_words; i++)
		is_asked |= strstr(o->words[i], "topdown") || strstr(o->words[i], "slots") ||
			!strcmp(o->words[i], "hw") || !strcmp(o->words[i], "pmu");
	return is_asked;
}

/* "TopDown ('pace stat --topdown'): level 1 on cpu (...)" */
static void add_topdown(const struct inventory_options *o, struct str *text)
{
	struct tma_plan plan;
	struct err err;

	str_add(text, "TopDown ('pace stat --topdown'): ");
	if (tma_plan_open(&plan, o->sysfs, &err)) {
		str_addf(text, "no, %s", err.msg);
		return;
	}
	slotsite_add_text(&plan, text);
	tma_plan_close(&plan);
}

static struct list_style style_of(const struct list_options *o)
{
	return (struct list_style){
		.columns = !o->output && term_is_terminal(STDOUT_FILENO)
			? term_columns(STDOUT_FILENO)
			: 0,
		.has_descriptions = !o->has_no_descriptions,
		.has_encoding = o->is_raw,
		.has_details = o->has_details || o->is_long,
	};
}

static bool has_perfs_json(const struct list_options *o)
{
	return o->has_perfs_members && o->forms.is_chosen[FORM_JSON];
}

/* Who asks for more than perf's lines say gets pace's text. */
static bool has_perfs_text(const struct list_options *o)
{
	return o->has_perfs_members && !form_is_data(form_chosen(&o->forms)) &&
		!o->has_only_names && !o->has_details && !o->is_long && !o->is_raw;
}

static void print(const struct inventory *m, const struct list_options *o, struct out *out)
{
	struct list_style style = style_of(o);
	struct str topdown = {0};

	if (asks_for_topdown(&o->inventory) && style.has_descriptions) {
		add_topdown(&o->inventory, &topdown);
		style.topdown = str_text(&topdown);
	}
	if (has_perfs_json(o))
		list_perf_events(m, o->has_details || o->is_long, out);
	else if (form_is_data(form_chosen(&o->forms)))
		list_rows(form_chosen(&o->forms), m, out);
	else if (o->has_only_names)
		list_names(m, out);
	else if (has_perfs_text(o))
		list_perf_text(m, !o->has_no_descriptions, out);
	else
		list_text(m, &style, out);
	str_fini(&topdown);
}

/* Nothing is called so: why not, if it is about TopDown. */
static void explain_topdown(const struct inventory_options *o, struct err *err)
{
	struct tma_plan plan;
	struct err why;

	if (!o->n_words || !strstr(o->words[0], "topdown"))
		return;
	if (tma_plan_open(&plan, o->sysfs, &why))
		err_set(err, err->code, "TopDown has no events here: %.300s", why.msg);
	else
		tma_plan_close(&plan);
}

/* The same for an event of transactions. */
static void explain_transactions(const struct inventory_options *o, struct err *err)
{
	if (o->n_words && tsx_is_event(o->words[0]))
		err_set(err, err->code, "'%s' counts transactions: %s", o->words[0],
			tsx_reason_of_event(o->sysfs));
}

/* perf's words for metrics, and for groups of them. */
static bool is_metrics(const char *word, bool *ret_are_groups)
{
	*ret_are_groups = !strcmp(word, "metricgroup") || !strcmp(word, "metricgroups");
	return *ret_are_groups || !strcmp(word, "metric") || !strcmp(word, "metrics");
}

static void print_metrics(const struct metriclist *l, const struct list_options *o, bool are_groups,
	struct out *out)
{
	const struct form *form = form_chosen(&o->forms);
	const struct list_style style = style_of(o);

	if (form_is_data(form))
		(are_groups ? list_groups_rows : list_metrics_rows)(form, l, out);
	else if (o->has_only_names)
		list_metrics_names(l, are_groups, out);
	else if (has_perfs_text(o) && are_groups)
		list_perf_groups(l, false, false, out);
	else if (has_perfs_text(o))
		list_perf_metrics(l, style.has_descriptions, out);
	else
		(are_groups ? list_groups_text : list_metrics_text)(l, &style, out);
}

static int list_metrics(const struct list_options *o, bool are_groups, struct log *log,
	struct out *out)
{
	struct metriclist list;
	struct err err;

	if (metriclist_open(&list, &o->inventory, log, &err))
		return cmd_fail(&cmd_list, &err, err.code == ERR_NOENT ? EXIT_FAILED : EXIT_USAGE);
	print_metrics(&list, o, are_groups, out);
	metriclist_close(&list);
	return EXIT_OK;
}

/* ---- markers ---- */

static bool is_file(const char *word)
{
	return strchr(word, '/') || !access(word, R_OK);
}

/* Of the words behind "sdt" those that are files name programs, others choose markers. */
static bool is_chosen(const struct marker *m, const struct list_options *o)
{
	bool is_any = true;

	for (size_t i = 0; i < o->inventory.n_words; i++) {
		if (is_file(o->inventory.words[i]))
			continue;
		is_any = false;
		if (marker_is(m, o->inventory.words[i]))
			return true;
	}
	return is_any;
}

static int find_markers(const struct list_options *o, struct markers *m, struct err *err)
{
	bool has_files = false;
	int r = 0;
	size_t n = 0;

	for (size_t i = 0; !r && i < o->inventory.n_words; i++) {
		if (!is_file(o->inventory.words[i]))
			continue;
		has_files = true;
		r = markers_add_file(m, o->inventory.words[i], err);
	}
	if (!r && !has_files)
		r = markers_add_cache(m, err);
	if (r)
		return r;
	markers_finish(m);
	vec_each(one, &m->at)
		if (is_chosen(one, o))
			m->at.at[n++] = *one;
	m->at.n = n;
	return n
		? 0
		: err_set(err, ERR_NOENT,
			  has_files
				  ? "there are no such markers in it"
				  : "no file of the build-id cache has such markers: 'pace list sdt FILE' looks into FILE, 'pace buildid-cache -a FILE' puts it there");
}

static int list_markers(const struct list_options *o, struct out *out)
{
	const struct form *form = form_chosen(&o->forms);
	const struct list_style style = style_of(o);
	struct markers m = {0};
	struct err err;
	int status = EXIT_OK;

	if (find_markers(o, &m, &err) && !(o->has_perfs_members && err.code == ERR_NOENT))
		status = cmd_fail(&cmd_list, &err, EXIT_FAILED);
	else if (has_perfs_json(o)) {
		str_add(&out->text, "[\n");
		list_markers_perf_json(&m, 0, out);
		str_add(&out->text, m.at.n ? "\n]\n" : "]\n");
	} else if (form_is_data(form))
		list_markers_rows(form, &m, out);
	else if (o->has_only_names)
		list_markers_names(&m, out);
	else if (has_perfs_text(o))
		list_markers_perf_text(&m, out);
	else
		list_markers_text(&m, &style, out);
	markers_fini(&m);
	return status;
}

/* perf lists metrics, and the markers of the cache, behind all events, and with these chooses among them. */
static void add_metrics(const struct list_options *o, struct log *log, struct out *out)
{
	struct metriclist l;
	struct err err;

	if (metriclist_open(&l, &o->inventory, log, &err))
		return;
	list_perf_groups(&l, true, !o->has_no_descriptions, out);
	metriclist_close(&l);
}

static void add_markers(const struct list_options *o, struct out *out)
{
	struct markers m = {0};
	struct err err;

	if (!find_markers(o, &m, &err))
		list_markers_perf_text(&m, out);
	markers_fini(&m);
}

static int list_events(const struct list_options *o, struct log *log, struct out *out)
{
	struct inventory inventory;
	int status = EXIT_OK, r;
	struct err err;

	if (inventory_open(&inventory, &o->inventory, log, &err))
		return cmd_fail(&cmd_list, &err, EXIT_USAGE);
	r = inventory_choose(&inventory, &err);
	if (r && (!o->has_perfs_members || err.code != ERR_NOENT)) {
		explain_topdown(&o->inventory, &err);
		explain_transactions(&o->inventory, &err);
		status = cmd_fail(&cmd_list, &err, EXIT_FAILED);
	} else {
		/* Callers of perf look for names in what is printed. */
		if (r)
			log_note(log, "%s", err.msg);
		if (!o->has_only_names && !has_perfs_json(o))
			inventory_try(&inventory);
		print(&inventory, o, out);
		if (has_perfs_text(o) && !o->inventory.pmu) {
			add_markers(o, out);
			if (!o->inventory.n_words)
				add_metrics(o, log, out);
		}
	}
	inventory_close(&inventory);
	return status;
}

static int install_tables(const struct list_options *o, struct log *log, struct out *out)
{
	const struct tables_options wanted = {o->tables, o->inventory.sysfs, o->has_all_cpus};
	struct tables_result result;
	struct err err;

	if (tables_install(&wanted, &result, log, &err))
		return cmd_fail(&cmd_list, &err, err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	str_addf(&out->text, "installed the tables of %s in '%s': %u files, ",
		o->has_all_cpus ? "all CPUs" : result.cpuid, result.folder, result.n_files);
	num_add_bytes(&out->text, result.n_bytes);
	str_addc(&out->text, '\n');
	if (!o->has_all_cpus)
		str_addf(&out->text,
			"%u events (%u are of PMUs that this machine lacks), %u metrics\n",
			result.n_events, result.n_absent, result.n_metrics);
	return EXIT_OK;
}

static int remove_tables(struct out *out)
{
	char folder[4096];
	struct err err;

	if (tables_remove(folder, &err))
		return cmd_fail(&cmd_list, &err, EXIT_FAILED);
	str_addf(&out->text, "removed '%s'\n", folder);
	return EXIT_OK;
}

/* --output: only that file is written, and replaced whole if it is there. */
static int open_output(const struct list_options *o, struct out *out, struct err *err)
{
	if (!o->output || !strcmp(o->output, "-"))
		return 0;
	out->fd = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	out->name = o->output;
	return out->fd < 0 ? err_sys(err, errno, "opening '%s'", o->output) : 0;
}

static int run_list(int argc, char **argv)
{
	struct list_options o = {.inventory.sysfs = "/sys"};
	struct out out = {.fd = STDOUT_FILENO};
	int status = cmd_parse(&cmd_list, &o, 0, &argc, argv);
	char tracefs[512];
	bool are_groups = false, has_metrics, has_markers;
	struct log log;
	struct err err;

	if (status >= 0)
		return status;
	if (o.copy) {
		snprintf(tracefs, sizeof(tracefs), "%s/kernel/tracing", o.copy);
		o.inventory.is_copy = true;
		o.inventory.sysfs = o.copy;
		o.inventory.tracefs = tracefs;
	}
	o.inventory.words = argv;
	o.inventory.n_words = argc;
	if (form_check(&o.forms, FORM_OF_ROWS, &err) || open_output(&o, &out, &err))
		return cmd_fail(&cmd_list, &err, EXIT_USAGE);
	o.inventory.has_all |=
		form_is_data(form_chosen(&o.forms)) || o.has_only_names || o.has_perfs_members;
	cmd_log_init(&log, LOG_NOTE);
	has_metrics = argc && is_metrics(argv[0], &are_groups);
	has_markers = argc && !strcmp(argv[0], "sdt");
	o.inventory.words += has_metrics || has_markers;
	o.inventory.n_words -= has_metrics || has_markers;
	status = o.tables          ? install_tables(&o, &log, &out)
		: o.removes_tables ? remove_tables(&out)
		: has_metrics      ? list_metrics(&o, are_groups, &log, &out)
		: has_markers      ? list_markers(&o, &out)
				   : list_events(&o, &log, &out);
	if (out_close(&out, &err) ||
		(out.fd != STDOUT_FILENO && close(out.fd) &&
			err_sys(&err, errno, "writing '%s'", o.output)))
		status = cmd_fail(&cmd_list, &err, EXIT_FAILED);
	log_fini(&log);
	return status;
}

const struct cmd cmd_list = {
	.name = "list",
	.summary = "list what can be measured here: events, tracepoints, PMUs, metrics",
	.usage = {"[OPTIONS] [WORD...]", NULL},
	.notes =
		"A WORD is a group (hw, sw, cache, pmu, raw, breakpoint, tracepoint, table), a PMU, a topic, a system of\n"
		"tracepoints, a pattern like 'sched:*', or text to find in names or descriptions. If several words\n"
		"are not groups, an event must match all of them. 'metrics' and 'metricgroups' list what stat -M takes;\n"
		"'sdt' the markers of programs: those of the FILEs behind it, or of all in the build-id cache. Other words\n"
		"after them choose among these.\n",
	.options = options,
	.is_paged = true,
	.run = run_list,
};
