#include <ctype.h>
#include <dwarf.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sysfile.h"
#include "cmd/probe/probe.h"
#include "symbol/code/source.h"
#include "symbol/name/demangle.h"
#include "symbol/probe/probearg.h"
#include "symbol/types/dwarftype.h"

enum { LINES_AROUND = 10, LINES_BEHIND = 2 };

/* ---- filters ---- */

struct filter {
	const char *at, *word;
};

static bool fits_any(struct filter *f);

static bool fits_one(struct filter *f)
{
	char glob[256];
	size_t n;
	bool fits;

	f->at += strspn(f->at, " ");
	if (*f->at == '!') {
		f->at++;
		return !fits_one(f);
	}
	if (*f->at == '(') {
		f->at++;
		fits = fits_any(f);
		f->at += *f->at == ')';
		return fits;
	}
	n = strcspn(f->at, " &|()");
	snprintf(glob, sizeof(glob), "%.*s", (int)n, f->at);
	f->at += n;
	f->at += strspn(f->at, " ");
	return !fnmatch(glob, f->word, 0);
}

static bool fits_all(struct filter *f)
{
	bool fits = fits_one(f);

	while (*f->at == '&') {
		f->at++;
		fits &= fits_one(f);
	}
	return fits;
}

static bool fits_any(struct filter *f)
{
	bool fits = fits_all(f);

	while (*f->at == '|') {
		f->at++;
		fits |= fits_all(f);
	}
	return fits;
}

bool probe_fits_filter(const char *filter, const char *word)
{
	struct filter f = {filter, word};

	return !filter || !*filter || fits_any(&f);
}

/* ---- functions ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_kernel_functions(struct intern *names, struct err *err)
{
	struct str all = {0};
	char *rest, *line;

	if (!sysfile_read("/proc/kallsyms", 256 << 20, &all, err)) {
		rest = all.at;
		while ((line = strsep(&rest, "\n")) != NULL) {
			char *name = strchr(line, ' ');

			if (name && strchr("tTwW", name[1]) && name[1] && !strchr(line, '\t'))
				intern_str(names, name + 3);
		}
	}
	str_fini(&all);
}

int probe_show_functions(const struct probe_asked *o, struct out *out, struct err *err)
{
	const char *filter = *o->functions ? o->functions : o->filter ? o->filter : "!_*";
	struct intern names = {0}, strings = {0};
	struct probe_file f = {0};
	bool has_file;
	int r = probe_open_file(o, &f, &has_file, err);

	if (r)
		return r;
	err->code = 0;
	if (has_file)
		vec_each(s, &f.names) {
			if (s->is_plt)
				continue;
			intern_str(&names, o->demangles ? demangle(s->name, 0, &strings) : s->name);
		}
	else
		add_kernel_functions(&names, err);
	if (names.strings.n)
		qsort(names.strings.at, names.strings.n, sizeof(*names.strings.at), by_text);
	vec_each(name, &names.strings) {
		if (!probe_fits_filter(filter, *name))
			continue;
		str_add_safe(&out->text, *name, strlen(*name));
		str_addc(&out->text, '\n');
		out_flush_some(out);
	}
	intern_fini(&names);
	intern_fini(&strings);
	probefile_close(&f);
	return err->code;
}

/* ---- variables ---- */

/* "[0-12,12-30]": the code of the function in which the variable has a place. */
static void add_ranges(struct probe_file *f, const struct probe_spot *spot, Dwarf_Die *variable,
	struct str *text)
{
	Dwarf_Attribute a;
	Dwarf_Addr base, start, end;
	Dwarf_Op *ops;
	ptrdiff_t next = 0;
	size_t n, count = 0;

	(void)f;
	if (!dwarf_attr_integrate(variable, DW_AT_location, &a))
		return;
	str_addf(text, "\t@<%s+[", spot->name);
	while ((next = dwarf_getlocations(&a, next, &base, &start, &end, &ops, &n)) > 0) {
		if (count++)
			str_addc(text, ',');
		if (start == 0 && end == (Dwarf_Addr)-1)
			str_add(text, "all");
		else
			str_addf(text, "%llu-%llu", (unsigned long long)(start - spot->start),
				(unsigned long long)(end - spot->start));
	}
	str_add(text, "]>");
}

/* perf's way of writing types: "char*", "struct s*". */
static void add_type(Dwarf_Die *type, struct str *text)
{
	struct str name = {0};
	char *blank;

	if (type->addr)
		dwarftype_add_name(type, &name);
	else
		str_add(&name, "void");
	blank = strrchr(str_text(&name), ' ');
	if (blank && !strcmp(blank, " []"))
		strcpy(blank, "*");
	else if (blank && (blank[1] == '*' || blank[1] == '&'))
		memmove(blank, blank + 1, strlen(blank));
	str_add_safe(text, str_text(&name), strlen(str_text(&name)));
	str_fini(&name);
}

static void add_spot_variables(const struct probe_asked *o, struct probe_file *f,
	const struct probe_spot *spot, struct str *text)
{
	const struct symbol *symbol = symtab_find(&f->symbols, spot->address);
	struct intern lines = {0};
	probe_variables all = {0};

	str_addf(text, "\t@<%s+%llu>\n", symbol ? symbol->name : spot->name,
		(unsigned long long)(spot->address - (symbol ? symbol->start : spot->start)));
	probearg_list(f, spot, o->has_externs, o->has_ranges, &all);
	vec_each(v, &all) {
		struct str line = {0};

		if (!probe_fits_filter(o->filter, v->name))
			continue;
		str_add(&line, "\t\t");
		if (o->has_ranges)
			str_add(&line,
				probearg_is_there(f, spot, &v->entry) ? "[VAL]\t" : "[   ]\t");
		add_type(&v->type, &line);
		str_addf(&line, "\t%s", v->name);
		if (o->has_ranges)
			add_ranges(f, spot, &v->entry, &line);
		intern_str(&lines, str_text(&line));
		str_fini(&line);
	}
	if (lines.strings.n)
		qsort(lines.strings.at, lines.strings.n, sizeof(*lines.strings.at), by_text);
	vec_each(line, &lines.strings)
		str_addf(text, "%s\n", *line);
	if (!lines.strings.n)
		str_add(text, "\t\t(none)\n");
	vec_fini(&all);
	intern_fini(&lines);
}

static int open_described(const struct probe_asked *o, struct probe_file *f, const char *what,
	struct err *err)
{
	bool has_file;

	if (probe_open_file(o, f, &has_file, err))
		return err->code;
	if (!has_file)
		return err_set(err, ERR_NOENT,
			"%s of the kernel need its vmlinux with debug information: install linux-image-$(uname -r)-dbg (kernel-debuginfo), or name it with -k",
			what);
	return f->dwarf ? 0 : probefile_needs_debug(f, what, err);
}

int probe_show_variables(const struct probe_asked *o, struct out *out, struct err *err)
{
	struct probe_file f = {0};
	struct probe_spots spots = {0};
	struct probe_text text = {0};
	int r = open_described(o, &f, "variables", err);

	if (!r)
		r = probetext_parse(&text, o->variables, err);
	if (!r)
		r = probepoint_find(&f, &text, o->inlines ? 0 : PROBEPOINT_NO_INLINES, &spots, err);
	if (!r) {
		str_addf(&out->text, "Available variables at %s\n", text.given);
		vec_each(spot, &spots.at)
			if (spot->code.addr)
				add_spot_variables(o, &f, spot, &out->text);
	}
	probepoints_fini(&spots);
	probetext_fini(&text);
	probefile_close(&f);
	return r;
}

/* ---- lines ---- */

/* Which lines of a source file have code where statements begin. */
struct line_set {
	VEC(u64) at;
};

static int by_number(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* skips_entries: not those on which a function's code begins, which are shown as the function's line 0. */
static void add_unit_lines(const struct probe_file *f, Dwarf_Die *unit, const char *file,
	bool skips_entries, struct line_set *set)
{
	const struct symbol *symbol;
	Dwarf_Lines *lines;
	Dwarf_Addr address;
	size_t n;

	if (dwarf_getsrclines(unit, &lines, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *its = dwarf_linesrc(line, NULL, NULL);
		bool is_statement = false, is_end = false;
		int number = 0;

		(void)dwarf_linebeginstatement(line, &is_statement);
		(void)dwarf_lineendsequence(line, &is_end);
		(void)dwarf_lineno(line, &number);
		if (!its || !is_statement || is_end || number <= 0 ||
			dwarf_lineaddr(line, &address) || !probepoint_fits(its, file))
			continue;
		symbol = skips_entries ? symtab_find(&f->symbols, address) : NULL;
		if (!symbol || symbol->start != address)
			vec_add(&set->at, (u64)number);
	}
}

static bool has_line(const struct line_set *set, u64 line)
{
	return set->at.n && bsearch(&line, set->at.at, set->at.n, sizeof(line), by_number) != NULL;
}

/* Where a function ends in the source: its last line with code. */
static u64 last_line(Dwarf_Die *unit, Dwarf_Die *function, const char *file, u64 first)
{
	Dwarf_Lines *lines;
	Dwarf_Addr address;
	size_t n;
	u64 last = first;
	int number;

	if (dwarf_getsrclines(unit, &lines, &n))
		return first;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *its = dwarf_linesrc(line, NULL, NULL);

		if (its && !dwarf_lineaddr(line, &address) && dwarf_haspc(function, address) > 0 &&
			!dwarf_lineno(line, &number) && (u64)number > last &&
			probepoint_fits(its, file))
			last = (u64)number;
	}
	return last;
}

/* The lines to show, and what their numbers count from. */
struct shown {
	const char *file, *dir;
	u64 base; /* the line that is called 0; 0: numbers are the file's */
	u64 from, to;
	const char *title;
};

static int place_function(struct probe_file *f, const struct probe_lines *l, struct shown *s,
	struct err *err)
{
	Dwarf_Die unit, function;

	if (!probepoint_function(f, l->function, l->file, &unit, &function) ||
		!probepoint_declared(&function, &s->file, &s->base))
		return probepoint_unknown(f, l->function, err);
	s->title = dwarf_diename(&function);
	s->from = s->base + l->from;
	s->to = l->to ? s->base + l->to
		      : last_line(&unit, &function, s->file, s->base) + LINES_BEHIND;
	if (!l->to && s->to < s->from + LINES_AROUND && l->from)
		s->to = s->from + LINES_AROUND;
	return 0;
}

static int place_file(struct probe_file *f, const struct probe_lines *l, struct shown *s,
	struct err *err)
{
	s->from = MAX(l->from, (u64)1);
	s->to = l->to ? l->to : l->from ? l->from + LINES_AROUND : UINT64_MAX;
	vec_each(unit, &f->units) {
		Dwarf_Files *files;
		size_t n;

		if (dwarf_getsrcfiles(unit, &files, &n))
			continue;
		for (size_t i = 0; i < n; i++) {
			const char *name = dwarf_filesrc(files, i, NULL, NULL);

			if (name && probepoint_fits(name, l->file)) {
				s->file = name;
				return 0;
			}
		}
	}
	return err_set(err, ERR_NOENT, "'%s' was built from no file '%s'", f->path, l->file);
}

static int print_lines(struct probe_file *f, const struct shown *s, const char *sources,
	struct out *out, struct err *err)
{
	const struct source_places places = {.symfs = sources ? sources : ""};
	struct line_set set = {0};
	struct source source;
	size_t n;
	const char *text;

	vec_each(unit, &f->units)
		add_unit_lines(f, unit, s->file, s->title != NULL, &set);
	if (set.at.n)
		qsort(set.at.at, set.at.n, sizeof(*set.at.at), by_number);
	source_open(&source, &places, s->dir, s->file, 0);
	if (source.state == SOURCE_MISSING) {
		err_set(err, ERR_NOENT, "%s: -s names the folder below which sources are",
			source.why.at);
	} else {
		if (s->title)
			str_addf(&out->text, "<%s@%s:%llu>\n", s->title, s->file,
				(unsigned long long)(s->from - s->base));
		else
			str_addf(&out->text, "<%s:%llu>\n", s->file, (unsigned long long)s->from);
		for (u64 i = s->from; i <= s->to && (text = source_line(&source, (u32)i, &n));
			i++) {
			/* The function itself is line 0, whichever line its code begins on. */
			if (has_line(&set, i) || (s->title && i == s->base))
				str_addf(&out->text, "%7llu  ", (unsigned long long)(i - s->base));
			else
				str_fill(&out->text, ' ', 9);
			while (n) {
				const char *tab = memchr(text, '\t', n);
				size_t k = tab ? (size_t)(tab - text) : n;

				str_add_safe(&out->text, text, k);
				if (tab)
					str_addc(&out->text, '\t');
				text += k + (tab != NULL);
				n -= k + (tab != NULL);
			}
			str_addc(&out->text, '\n');
			out_flush_some(out);
		}
	}
	source_close(&source);
	vec_fini(&set.at);
	return err->code;
}

int probe_show_lines(const struct probe_asked *o, struct out *out, struct err *err)
{
	struct probe_file f = {0};
	struct probe_lines lines = {0};
	struct shown shown = {0};
	int r = open_described(o, &f, "lines", err);

	if (!r)
		r = probelines_parse(&lines, o->lines, err);
	if (!r)
		r = lines.function ? place_function(&f, &lines, &shown, err)
				   : place_file(&f, &lines, &shown, err);
	if (!r) {
		err->code = 0;
		r = print_lines(&f, &shown, o->sources, out, err);
	}
	probelines_fini(&lines);
	probefile_close(&f);
	return r;
}
