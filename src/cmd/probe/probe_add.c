#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/selfname.h"
#include "base/sysfile.h"
#include "cmd/probe/probe.h"
#include "event/dynevents.h"
#include "symbol/find/filecache.h"
#include "symbol/probe/markers.h"

enum { SUFFIX_MAX = 1024, NAME_MAX_BYTES = 64 };

struct added {
	enum dynevent_kind kind;
	const char *group, *event, *words;
};

/* What is added together. */
struct adding {
	const struct probe_asked *asked;
	struct out *out;
	struct dynevents known; /* those that exist */
	bool can_share;         /* several places can have one name */
	VEC(struct added) added;
	struct arena texts;
};

static bool is_known(const struct adding *a, const char *group, const char *event)
{
	vec_each(e, &a->known.at)
		if (!strcmp(e->group, group) && !strcmp(e->name, event))
			return true;
	return false;
}

static bool is_added(const struct adding *a, const char *group, const char *event)
{
	vec_each(e, &a->added)
		if (!strcmp(e->group, group) && !strcmp(e->event, event))
			return true;
	return false;
}

/* The name with the first number that makes it new: lookup, lookup_1. */
static int choose_name(struct adding *a, const struct probe_line *l, bool may_number, char *buf,
	size_t size, struct err *err)
{
	snprintf(buf, size, "%s", l->event);
	if (!is_known(a, l->group, buf) && !is_added(a, l->group, buf))
		return 0;
	if (!may_number)
		return err_set(err, ERR_INVAL,
			"there is a probe '%s:%s' already: 'pace probe -d %s:%s' removes it, -f adds another one, NAME=... calls it otherwise",
			l->group, l->event, l->group, l->event);
	for (unsigned i = 1; i < SUFFIX_MAX; i++) {
		snprintf(buf, size, "%s_%u", l->event, i);
		if (!is_known(a, l->group, buf) && !is_added(a, l->group, buf))
			return 0;
	}
	return err_set(err, ERR_LIMIT, "there are %d probes '%s:%s_N' already", SUFFIX_MAX,
		l->group, l->event);
}

static void remember(struct adding *a, enum dynevent_kind kind, const struct probe_line *l,
	const char *event)
{
	struct added one = {.kind = kind,
		.group = arena_strdup(&a->texts, l->group, strlen(l->group)),
		.event = arena_strdup(&a->texts, event, strlen(event)),
		.words = arena_strdup(&a->texts, l->words, strlen(l->words))};

	vec_add(&a->added, one);
}

/* The kernel's Documentation/trace/boottime-trace.rst; all probes are of the group kprobes there. */
static void add_bootconfig(const struct probe_line *l, const char *event, struct str *text)
{
	str_addf(text, "ftrace.event.kprobes.%s.probes = '%s%s%s'", event, l->place,
		l->is_return ? "%return" : "", l->args);
}

/* first: the event that the first place of this probe got; "": none yet. */
static int add_line(struct adding *a, enum dynevent_kind kind, const struct probe_line *l,
	char *first, struct err *err)
{
	char event[NAME_MAX_BYTES + 8];
	bool shares = *first && a->can_share;
	struct str text = {0};
	int r = 0;

	if (strlen(l->event) > NAME_MAX_BYTES)
		return err_set(err, ERR_LIMIT,
			"'%s' has more than %d characters, too many for an event: NAME=%s gives it a shorter one",
			l->event, NAME_MAX_BYTES, l->event);
	if (shares)
		snprintf(event, sizeof(event), "%s", first);
	else
		r = choose_name(a, l, a->asked->is_forced || *first, event, sizeof(event), err);
	if (r)
		return r;
	if (a->asked->is_bootconfig)
		add_bootconfig(l, event, &text);
	else
		probeline_add(l, event, &text);
	if (a->asked->definitions.n) {
		str_addf(&a->out->text, "%s\n", str_text(&text));
	} else if (!a->asked->is_dry) {
		r = dynevents_define(NULL, kind, str_text(&text), err);
		/* Places that record other arguments cannot share a name. */
		if (r && shares && err->sys == EEXIST &&
			!choose_name(a, l, true, event, sizeof(event), err)) {
			str_clear(&text);
			probeline_add(l, event, &text);
			r = dynevents_define(NULL, kind, str_text(&text), err);
		}
	}
	if (a->asked->verbosity && !a->asked->definitions.n)
		fprintf(stderr, "%s\n", str_text(&text));
	if (!r) {
		remember(a, kind, l, event);
		if (!*first)
			snprintf(first, sizeof(event), "%s", event);
	}
	str_fini(&text);
	return r;
}

/* Whether the running kernel has a function of that name. */
static int check_kernel_function(const struct probe_text *t, struct err *err)
{
	struct str all = {0}, word = {0};
	int r = 0;

	if (sysfile_read("/proc/kallsyms", 256 << 20, &all, err)) {
		str_fini(&all);
		return 0; /* the kernel will tell */
	}
	str_addf(&word, " %s", t->function ? t->function : "");
	for (const char *at = all.at; at && (at = strstr(at, str_text(&word))) != NULL;
		at += word.n)
		if (at[word.n] == '\n' || at[word.n] == '\t' || !at[word.n])
			goto found;
	r = err_set(err, ERR_NOENT,
		"the kernel has no function '%s'; 'pace probe -F --filter PATTERN' lists them",
		t->function);
found:
	str_fini(&word);
	str_fini(&all);
	return r;
}

/* first: as of add_line(). */
static int add_one(struct adding *a, struct probe_file *f, const char *definition, char *first,
	struct err *err);

/* Whether the file at a path is still the build that the cache knows. */
static bool is_still(const struct marker *m)
{
	struct str id = {0};
	struct err ignored;
	const bool is = !filecache_id(m->path, &id, &ignored) && !strcmp(str_text(&id), m->id);

	str_fini(&id);
	return is;
}

/* A marker without a program is one of each file in the build-id cache that has it, as in perf. */
static int add_from_cache(struct adding *a, const struct probe_text *t, const char *definition,
	char *first, struct err *err)
{
	struct markers m = {0};
	struct str word = {0};
	int r = markers_add_cache(&m, err);
	size_t n = 0;

	str_addf(&word, "%s%s%s", t->provider ? t->provider : "", t->provider ? ":" : "", t->mark);
	markers_finish(&m);
	for (size_t i = 0; !r && i < m.at.n; i++) {
		const struct marker *one = &m.at.at[i];
		struct probe_file f;
		bool is_done = false;

		for (size_t k = 0; k < i && !is_done; k++)
			is_done = m.at.at[k].path == one->path && marker_is(&m.at.at[k], word.at);
		if (is_done || !marker_is(one, word.at) || !is_still(one))
			continue;
		n++;
		r = probefile_open(&f, one->path, NULL, false, err);
		if (!r) {
			r = add_one(a, &f, definition, first, err);
			probefile_close(&f);
		}
	}
	if (!r && !n)
		r = err_set(err, ERR_NOENT,
			"'%s': no file of the build-id cache has such a marker: -x FILE names the program, 'pace buildid-cache -a FILE' puts it there",
			t->given);
	markers_fini(&m);
	str_fini(&word);
	return r;
}

static int add_one(struct adding *a, struct probe_file *f, const char *definition, char *first,
	struct err *err)
{
	const struct probe_asked *o = a->asked;
	const struct probe_options options = {.flags = o->inlines ? 0 : PROBEPOINT_NO_INLINES,
		.most = o->most,
		.is_forced = o->is_forced,
		.module = o->module};
	enum dynevent_kind kind = f && !f->is_kernel ? DYNEVENT_UPROBE : DYNEVENT_KPROBE;
	struct probe_list list = {0};
	struct probe_text text;
	int r = probetext_parse(&text, definition, err);

	if (!r && text.mark && !f) {
		r = add_from_cache(a, &text, definition, first, err);
		probetext_fini(&text);
		return r;
	}
	if (!r && a->asked->is_bootconfig && kind == DYNEVENT_UPROBE)
		r = err_set(err, ERR_INVAL,
			"--bootconfig: when the kernel boots there are no programs to probe");
	if (!r && !f && text.function && !o->module)
		r = check_kernel_function(&text, err);
	if (!r)
		r = probelist_make(f, &text, &options, &list, err);
	if (!r && list.notes.n && !o->is_quiet)
		fprintf(stderr, "note: %s", str_text(&list.notes));
	for (size_t i = 0; !r && i < list.at.n; i++)
		r = add_line(a, kind, &list.at.at[i], first, err);
	probelist_fini(&list);
	probetext_fini(&text);
	return r;
}

static void add_events(const struct adding *a, struct str *text)
{
	vec_each(e, &a->added) {
		size_t start = text->n;

		str_addf(text, "  %s:%s", e->group, e->event);
		str_pad_right(text, start, 22);
		str_addf(text, " (on %s)\n", e->words);
	}
}

/* In perf's words, which callers look for on standard error. */
static void say_as_perf(const struct adding *a)
{
	const struct added *last = &a->added.at[a->added.n - 1];
	struct str text = {0};

	str_addf(&text, "Added new event%s:\n", a->added.n == 1 ? "" : "s");
	add_events(a, &text);
	str_addf(&text,
		"\nYou can now use it in all perf tools, such as:\n\n\tperf record -e %s:%s -aR sleep 1\n\n",
		last->group, last->event);
	fputs(str_text(&text), stderr);
	str_fini(&text);
}

static void say_added(const struct adding *a)
{
	const struct probe_asked *o = a->asked;

	if (o->is_quiet || o->definitions.n || !a->added.n)
		return;
	if (program_is_perf()) {
		say_as_perf(a);
		return;
	}
	str_addf(&a->out->text, "%s %s:\n", o->is_dry ? "Would add" : "Added",
		a->added.n == 1 ? "this event" : "these events");
	add_events(a, &a->out->text);
	if (!o->is_dry)
		str_addf(&a->out->text, "\nTo record it:\n\n\tpace record -e %s:%s -a sleep 1\n\n",
			a->added.at[a->added.n - 1].group, a->added.at[a->added.n - 1].event);
}

/* If one of several cannot be added, none is. */
static void take_back(const struct adding *a)
{
	struct err ignored;

	for (size_t i = 0; i < a->added.n && !a->asked->is_dry && !a->asked->definitions.n; i++) {
		const struct added *e = &a->added.at[i];

		if (!is_known(a, e->group, e->event))
			(void)dynevents_remove(NULL, e->kind, e->group, e->event, &ignored);
	}
}

int probe_add(const struct probe_asked *o, struct out *out, struct err *err)
{
	const struct opt_list *list = o->definitions.n ? &o->definitions : &o->adds;
	struct adding a = {.asked = o, .out = out, .can_share = true};
	struct probe_file f = {0};
	bool has_file;
	int r = probe_open_file(o, &f, &has_file, err);

	if (!r && !o->definitions.n) {
		r = dynevents_read(&a.known, NULL, err);
		a.can_share = dynevents_can_share_names(NULL);
		/* What would be added can be seen without any rights. */
		if (o->is_dry)
			r = 0;
	}
	for (size_t i = 0; !r && i < list->n; i++) {
		char first[NAME_MAX_BYTES + 8] = "";

		r = add_one(&a, has_file ? &f : NULL, list->at[i], first, err);
	}
	if (r)
		take_back(&a);
	else
		say_added(&a);
	probefile_close(&f);
	dynevents_fini(&a.known);
	vec_fini(&a.added);
	arena_fini(&a.texts);
	return r;
}
