#include "cmd/probe/probe.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/selfname.h"
#include "cmd/cmd.h"
#include "cmd/symbols.h"
#include "event/dynevents.h"
#include "symbol/kernel/vmlinux.h"
#include "symbol/probe/markers.h"

#define AT(member) offsetof(struct probe_asked, member)

static int take_list(void *target, const char *value, struct err *err)
{
	(void)err;
	((struct probe_asked *)target)->list = value ? value : "";
	return 0;
}

static int take_functions(void *target, const char *value, struct err *err)
{
	(void)err;
	((struct probe_asked *)target)->functions = value ? value : "";
	return 0;
}

static const struct opt options[] = {
	{.kind = OPT_TITLE, .help = "What to do"},
	{'a', "add", OPT_LIST, AT(adds), "PROBE", "add a probe; so does a word without an option",
		.flags = OPT_COMMON},
	{'d', "del", OPT_LIST, AT(deletes), "[GROUP:]EVENT", "remove probes; * and ? stand for any",
		.flags = OPT_COMMON},
	{'l', "list", OPT_CALL, 0, "[GROUP:]EVENT", "list the probes that exist",
		.flags = OPT_OPTIONAL | OPT_COMMON, .call = take_list},
	{'D', "definition", OPT_LIST, AT(definitions), "PROBE",
		"print what would be written to uprobe_events or kprobe_events"},
	{'V', "vars", OPT_STR, AT(variables), "PLACE",
		"list the variables that a probe there can record", .flags = OPT_COMMON},
	{'L', "line", OPT_STR, AT(lines), "PLACE", "show the source: numbered lines can be probed",
		.flags = OPT_COMMON},
	{'F', "funcs", OPT_CALL, 0, "FILTER", "list the functions that can be probed",
		.flags = OPT_OPTIONAL | OPT_COMMON, .call = take_functions},
	{.kind = OPT_TITLE, .help = "Where"},
	{'x', "exec", OPT_STR, AT(program), "FILE", "probe this program or library, not the kernel",
		.flags = OPT_COMMON},
	{'m', "module", OPT_STR, AT(module), "MODULE", "probe this module of the kernel"},
	{'k', "vmlinux", OPT_STR, AT(vmlinux), "FILE",
		"take the kernel's debug information from FILE"},
	{'s', "source", OPT_STR, AT(sources), "DIR", "look for sources below DIR"},
	{0, "symfs", OPT_STR, AT(symfs), "DIR",
		"find the symbols of FILE in the file below DIR that has its path, or its name"},
	{0, "target-ns", OPT_U64, AT(target_pid), "PID", "FILE is as process PID sees it"},
	{.kind = OPT_TITLE, .help = "How"},
	{'n', "dry-run", OPT_BOOL, AT(is_dry), NULL, "check everything, and add or remove nothing"},
	{'f', "force", OPT_BOOL, AT(is_forced), NULL,
		"add a probe whose name exists as NAME_1, and where no instruction begins"},
	{0, "max-probes", OPT_U64, AT(most), "N", "refuse probes that are at more than N places",
		.min = 1},
	{0, "inlines", OPT_TRI, AT(inlines), NULL,
		"also probe inlined calls of functions (default)"},
	{0, "filter", OPT_STR, AT(filter), "FILTER",
		"with -V, -F: names that fit, such as 'a* & !*_slow'; -F without it: \"!_*\""},
	{0, "bootconfig", OPT_BOOL, AT(is_bootconfig), NULL,
		"with -D: what a boot configuration of the kernel defines the probe with"},
	{0, "externs", OPT_BOOL, AT(has_externs), NULL, "with -V: also global variables"},
	{0, "range", OPT_BOOL, AT(has_ranges), NULL,
		"with -V: also say where each variable has a place"},
	{0, "demangle", OPT_TRI, AT(demangles), NULL,
		"show names as in the source (default) or as in the file"},
	{'q', "quiet", OPT_BOOL, AT(is_quiet), NULL,
		"print nothing but errors and what was asked for"},
	{'v', "verbose", OPT_COUNT, AT(verbosity), NULL,
		"also print the definitions that are written"},
	{0, "cache", OPT_BOOL, AT(lists_cache), NULL,
		"with -l: the markers (SDT) of the files in the build-id cache; else no effect"},
	{.kind = OPT_NOTHING,
		.name = "demangle-kernel",
		.help = "names of the kernel are not mangled"},
	{.kind = OPT_END},
};

/* ---- files ---- */

/* A name without a folder is a program of PATH, unless it is a file here. */
static char *find_program(const char *name)
{
	const char *at = getenv("PATH");
	char path[4096];

	if (strchr(name, '/') || !access(name, F_OK))
		return mem_strdup(name);
	while (at && *at) {
		size_t n = strcspn(at, ":");

		if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)n, at, name) <
				sizeof(path) &&
			!access(path, X_OK))
			return mem_strdup(path);
		at += n + (at[n] == ':');
	}
	return mem_strdup(name);
}

/* The running kernel's vmlinux, if it is installed. */
static char *find_vmlinux(void)
{
	struct vmlinux_wish wish = {.symfs = ""};
	struct vmlinux found;
	struct utsname name;
	struct log log;
	struct err ignored;
	char *path;

	cmd_log_init(&log, LOG_WARN);
	wish.log = &log;
	uname(&name);
	wish.release = name.release;
	if (vmlinux_search(&found, &wish, &ignored))
		return NULL;
	path = mem_strdup(found.elf.path);
	vmlinux_close(&found);
	return path;
}

/*
 * Opens the file below --symfs that stands for FILE; the kernel, which opens the file that it probes itself, is told of FILE.
 */
static int open_below(const struct probe_asked *o, struct probe_file *f, const char *path,
	struct err *err)
{
	bool is_flat;
	const char *folder = symbol_symfs(o->symfs, &is_flat);
	char *real = realpath(path, NULL), *called = real ? real : mem_strdup(path);
	const char *slash = strrchr(called, '/');
	struct str below = {0};
	int r;

	str_addf(&below, "%s%s%s", folder, called[0] == '/' ? "" : "/", called);
	if (is_flat || access(str_text(&below), F_OK)) {
		str_clear(&below);
		str_addf(&below, "%s/%s", folder, slash ? slash + 1 : called);
	}
	r = probefile_open(f, str_text(&below), NULL, !o->program, err);
	if (r) {
		err_prefix(err, "--symfs");
		free(called);
	} else {
		free(f->path);
		f->path = called;
	}
	str_fini(&below);
	return r;
}

int probe_open_file(const struct probe_asked *o, struct probe_file *f, bool *ret_has,
	struct err *err)
{
	bool is_module = o->module && strchr(o->module, '/');
	char root[64], *path;
	int r = 0;

	if (o->program && (o->module || o->vmlinux))
		return err_set(err, ERR_INVAL,
			"-x is for programs, -m and -k are for the kernel: choose one");
	snprintf(root, sizeof(root), "/proc/%llu/root", (unsigned long long)o->target_pid);
	if (o->program)
		path = find_program(o->program);
	else if (o->vmlinux || is_module)
		path = mem_strdup(is_module ? o->module : o->vmlinux);
	else
		path = o->module ? NULL : find_vmlinux();
	*ret_has = path != NULL;
	if (path && o->symfs)
		r = open_below(o, f, path, err);
	else if (path)
		r = probefile_open(f, path, o->program && o->target_pid ? root : NULL, !o->program,
			err);
	mem_free(path);
	return r;
}

/* ---- listing and removing ---- */

/* Whether an event is meant by [GROUP:]EVENT, with wildcards. "" means all. */
static bool is_meant(const struct dynevent *e, const char *pattern)
{
	const char *colon = strchr(pattern, ':');
	char group[256];

	if (!*pattern)
		return true;
	if (!colon)
		return !fnmatch(pattern, e->name, 0);
	snprintf(group, sizeof(group), "%.*s", (int)(colon - pattern), pattern);
	return !fnmatch(group, e->group, 0) && !fnmatch(colon + 1, e->name, 0);
}

/* The files of listed probes: each is opened once. */
struct opened {
	struct probe_file file;
	bool is_open;
	char *path;
};

static struct probe_file *file_of(struct opened *o, const char *path)
{
	struct err ignored;

	if (o->path && !strcmp(o->path, path))
		return o->is_open ? &o->file : NULL;
	probefile_close(&o->file);
	mem_free(o->path);
	o->path = mem_strdup(path);
	o->is_open = !probefile_open(&o->file, path, NULL, false, &ignored);
	return o->is_open ? &o->file : NULL;
}

static void add_listed(const struct dynevent *e, struct opened *opened, struct str *text)
{
	size_t start = text->n;
	const char *colon = e->kind == DYNEVENT_UPROBE ? strrchr(e->place, ':') : NULL;
	struct str path = {0};
	struct probe_file *f;

	str_addf(text, "  %s:%s", e->group, e->name);
	str_pad_right(text, start, 22);
	str_add(text, " (on ");
	if (colon) {
		str_addn(&path, e->place, colon - e->place);
		f = file_of(opened, str_text(&path));
		if (!f ||
			!probeline_add_place(f, strtoull(colon + 1, NULL, 16), e->is_return, text))
			str_add(text, colon + 1);
		str_addf(text, " in %s", str_text(&path));
	} else {
		size_t n = strlen(e->place);

		/* A function's start goes without saying. */
		if (n > 2 && !strcmp(e->place + n - 2, "+0"))
			n -= 2;
		str_addf(text, "%.*s%s", (int)n, e->place, e->is_return ? "%return" : "");
	}
	for (const char *at = e->args, *sep = " with "; *at; sep = " ") {
		size_t n = strcspn(at, " ");

		str_addf(text, "%s%.*s", sep, (int)MIN(strcspn(at, "="), n), at);
		at += n + (at[n] == ' ');
	}
	str_add(text, ")\n");
	str_fini(&path);
}

static int by_name(const void *a, const void *b)
{
	const struct dynevent *x = a, *y = b;
	int r = strcmp(x->group, y->group);

	r = r ? r : strcmp(x->name, y->name);
	return r ? r : strcmp(x->place, y->place);
}

static int list_probes(const struct probe_asked *o, struct out *out, struct err *err)
{
	struct opened opened = {0};
	struct dynevents all;
	int r = dynevents_read(&all, NULL, err);

	if (!r && all.at.n)
		qsort(all.at.at, all.at.n, sizeof(*all.at.at), by_name);
	for (size_t i = 0; !r && i < all.at.n; i++)
		if (is_meant(&all.at.at[i], o->list))
			add_listed(&all.at.at[i], &opened, &out->text);
	probefile_close(&opened.file);
	mem_free(opened.path);
	dynevents_fini(&all);
	return r;
}

/* perf's form: a line for each build of a file, then its markers. */
static int list_cache(const struct probe_asked *o, struct out *out, struct err *err)
{
	struct markers m = {0};

	if (o->program ? markers_add_file(&m, o->program, err) : markers_add_cache(&m, err))
		return err->code;
	markers_finish(&m);
	vec_each(first, &m.at) {
		bool is_listed = false;

		for (const struct marker *one = m.at.at; one < first && !is_listed; one++)
			is_listed = one->path == first->path && one->id == first->id;
		if (is_listed)
			continue;
		str_add_safe(&out->text, first->path, strlen(first->path));
		str_addf(&out->text, " (%s):\n", first->id);
		for (const struct marker *one = first; one < m.at.at + m.at.n; one++) {
			if (one->path != first->path || one->id != first->id ||
				(*o->list && !marker_is(one, o->list)))
				continue;
			marker_add_name(one, &out->text);
			str_addc(&out->text, '=');
			str_add_safe(&out->text, one->name, strlen(one->name));
			str_addc(&out->text, '\n');
		}
	}
	markers_fini(&m);
	return 0;
}

/* "there is no probe 'x'; did you mean 'y'?" */
static int no_probe(const struct dynevents *all, const char *pattern, struct err *err)
{
	struct nearest near = {.typed = pattern};
	struct str hint = {0};

	vec_each(e, &all->at)
		nearest_offer(&near, e->name);
	nearest_add_hint(&near, &hint);
	err_set(err, ERR_NOENT, "there is no probe '%s'%s", pattern, str_text(&hint));
	str_fini(&hint);
	return err->code;
}

static bool is_of_program(const struct dynevent *e, const char *path)
{
	const char *colon = strrchr(e->place, ':');

	return !path ||
		(e->kind == DYNEVENT_UPROBE && colon &&
			(size_t)(colon - e->place) == strlen(path) &&
			!strncmp(e->place, path, colon - e->place));
}

static int delete_fitting(const struct probe_asked *o, const struct dynevents *all,
	const char *pattern, struct out *out, struct err *err)
{
	char *path = o->program ? realpath(o->program, NULL) : NULL;
	size_t n_removed = 0;
	int r = 0;

	for (size_t i = 0; !r && i < all->at.n; i++) {
		const struct dynevent *e = &all->at.at[i], *before = i ? e - 1 : NULL;

		if (!is_meant(e, pattern) || !is_of_program(e, path))
			continue;
		n_removed++;
		/* Sorted by name: those that share one are removed together. */
		if (before && !strcmp(before->group, e->group) && !strcmp(before->name, e->name))
			continue;
		if (!o->is_dry)
			r = dynevents_remove(NULL, e->kind, e->group, e->name, err);
		if (!r && !o->is_quiet && program_is_perf())
			fprintf(stderr, "Removed event: %s:%s\n", e->group, e->name);
		else if (!r && !o->is_quiet)
			str_addf(&out->text, "Removed event: %s:%s\n", e->group, e->name);
	}
	free(path);
	return !r && !n_removed ? no_probe(all, pattern, err) : r;
}

static int delete_probes(const struct probe_asked *o, struct out *out, struct err *err)
{
	struct dynevents all;
	int r = dynevents_read(&all, NULL, err);

	if (!r && all.at.n)
		qsort(all.at.at, all.at.n, sizeof(*all.at.at), by_name);
	for (size_t i = 0; !r && i < o->deletes.n; i++)
		r = delete_fitting(o, &all, o->deletes.at[i], out, err);
	dynevents_fini(&all);
	return r;
}

/* ---- the command ---- */

/*
 * Words without an option: a probe and its arguments, as shells split them. A word with blanks is a whole probe, so
 * that several can be given.
 */
static void take_words(struct probe_asked *o, int argc, char **argv, struct intern *texts)
{
	struct str text = {0};

	for (int i = 0; i < argc; i++) {
		bool is_whole = strchr(argv[i], ' ') != NULL;

		if (is_whole && text.n) {
			vec_add(&o->adds, intern_str(texts, text.at));
			str_clear(&text);
		}
		str_addf(&text, "%s%s", text.n ? " " : "", argv[i]);
	}
	if (text.n)
		vec_add(&o->adds, intern_str(texts, text.at));
	str_fini(&text);
}

static int check_choice(const struct probe_asked *o, struct err *err)
{
	int n = (o->adds.n > 0) + (o->deletes.n > 0) + (o->definitions.n > 0) + (o->list != NULL) +
		(o->variables != NULL) + (o->lines != NULL) + (o->functions != NULL);

	if (!n)
		return err_set(err, ERR_INVAL,
			"nothing to do: 'pace probe -x FILE FUNCTION' adds a probe, -l lists probes");
	/* Scripts remove a probe and add it again. */
	if (n > 1 && !(n == 2 && o->adds.n && o->deletes.n))
		return err_set(err, ERR_INVAL, "-a, -d, -D, -F, -l, -L and -V: choose one");
	if (o->is_bootconfig && !o->definitions.n)
		return err_set(err, ERR_INVAL, "--bootconfig is a form of definitions: -D PROBE");
	if (o->symfs && o->target_pid)
		return err_set(err, ERR_INVAL,
			"--symfs and --target-ns both say where FILE lies: choose one");
	return 0;
}

static int act(const struct probe_asked *o, struct out *out, struct err *err)
{
	if (o->deletes.n && delete_probes(o, out, err))
		return err->code;
	if (o->list && o->lists_cache)
		return list_cache(o, out, err);
	if (o->list)
		return list_probes(o, out, err);
	if (o->variables)
		return probe_show_variables(o, out, err);
	if (o->lines)
		return probe_show_lines(o, out, err);
	if (o->functions)
		return probe_show_functions(o, out, err);
	return o->adds.n || o->definitions.n ? probe_add(o, out, err) : 0;
}

static int run_probe(int argc, char **argv)
{
	struct probe_asked o = {.inlines = true, .demangles = true};
	struct out out = {.fd = STDOUT_FILENO};
	struct intern texts = {0};
	int status = cmd_parse(&cmd_probe, &o, 0, &argc, argv);
	struct err err = {0}, why;

	if (status >= 0)
		return status;
	status = EXIT_OK;
	if (o.definitions.n && argc) {
		/* -D PROBE ARG ... */
		struct str text = {0};

		str_add(&text, o.definitions.at[o.definitions.n - 1]);
		for (int i = 0; i < argc; i++)
			str_addf(&text, " %s", argv[i]);
		o.definitions.at[o.definitions.n - 1] = intern_str(&texts, text.at);
		str_fini(&text);
	} else {
		take_words(&o, argc, argv, &texts);
	}
	if (check_choice(&o, &err))
		status = cmd_fail(&cmd_probe, &err, EXIT_USAGE);
	else if (act(&o, &out, &err))
		status = cmd_fail(&cmd_probe, &err,
			err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	if (out_close(&out, &why))
		status = cmd_fail(&cmd_probe, &why, EXIT_FAILED);
	vec_fini(&o.adds);
	vec_fini(&o.deletes);
	vec_fini(&o.definitions);
	intern_fini(&texts);
	return status;
}

const struct cmd cmd_probe = {
	.name = "probe",
	.summary = "add, list and remove probes: events at functions and lines, with variables",
	.usage = {"[-x FILE] [--add] 'PLACE [VARIABLE...]'", "-d [GROUP:]EVENT...",
		"-l [[GROUP:]EVENT]", "[-x FILE] -V PLACE | -L PLACE | -F", NULL},
	.notes =
		"PLACE: FUNCTION[@SOURCE][:LINE|+OFFSET|%return|;PATTERN], SOURCE:LINE, 0xADDRESS, %PROVIDER:MARKER\n"
		"VARIABLE: [NAME=]VARIABLE[->MEMBER|.MEMBER|[N]][:TYPE], $vars, $params, $retval, %REGISTER\n"
		"LINE counts from the function's; [GROUP:]NAME= before PLACE names the event.\n",
	.options = options,
	.is_paged = true,
	.run = run_probe,
};
