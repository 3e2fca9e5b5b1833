#include "symbol/probe/probetext.h"

#include <ctype.h>
#include <string.h>

#include "base/num.h"

/* Where parsing is. */
struct reading {
	struct probe_text *t;
	const char *at;
	struct err *err;
};

static bool is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_identifier(const char *text)
{
	if (!is_name_start(*text))
		return false;
	while (is_name_char(*text))
		text++;
	return !*text;
}

static int expected_number(const char *what, const char *at, struct err *err)
{
	return err_set(err, ERR_INVAL, "expected %s at '%s'", what, at);
}

/* Reads a decimal or hexadecimal number. */
static int read_number(const char **at, const char *what, u64 *ret, struct err *err)
{
	const char *start = *at, *p = start;
	bool is_hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');

	if (is_hex)
		p += 2;
	if (!num_scan(&p, is_hex ? 16 : 10, ret))
		return expected_number(what, start, err);
	*at = p;
	return 0;
}

/* How much of the text is a function or a file: up to what says more about the place. "::" and templates belong to it. */
static size_t place_length(const char *text)
{
	size_t n = 0;
	int depth = 0;

	for (; text[n]; n++) {
		char c = text[n];

		if (c == '<')
			depth++;
		else if (c == '>' && depth)
			depth--;
		else if (depth)
			continue;
		else if (c == ':' && text[n + 1] == ':')
			n++;
		else if (strchr(":@+%;", c))
			break;
	}
	return n;
}

/* Whether a place is a file: prog.c, lib/x.h; not f.constprop.0 or f.cold. */
static bool is_file(const char *place, char next)
{
	static const char *const clones[] = {"cold", "part", "isra", "constprop", "clone"};
	const char *dot = strrchr(place, '.');

	if (strchr(place, '/'))
		return true;
	if (!dot || (next != ':' && next != ';' && next) || !is_name_start(dot[1]))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(clones); i++)
		if (!strcmp(dot + 1, clones[i]))
			return false;
	return true;
}

/* ---- the place ---- */

static int check_event_name(const char *what, const char *name, struct err *err)
{
	return is_identifier(name)
		? 0
		: err_set(err, ERR_INVAL, "'%s' is not a name for %s: letters, digits and '_' are",
			  name, what);
}

/* [GROUP:]EVENT= */
static int read_event(struct reading *r)
{
	size_t n = strcspn(r->at, ";=@+%<");
	char *name, *colon;

	if (r->at[n] != '=')
		return 0;
	name = arena_strdup(&r->t->texts, r->at, n);
	r->at += n + 1;
	colon = strchr(name, ':');
	if (colon) {
		*colon = '\0';
		r->t->group = name;
		name = colon + 1;
		if (check_event_name("a group", r->t->group, r->err))
			return r->err->code;
	}
	r->t->event = name;
	return check_event_name("an event", name, r->err);
}

static int read_marker(struct reading *r, const char *at)
{
	const char *colon = strchr(at, ':');

	if (!strncmp(at, "sdt_", 4))
		at += 4;
	if (colon) {
		r->t->provider = arena_strdup(&r->t->texts, at, colon - at);
		at = colon + 1;
	}
	r->t->mark = at;
	if (!*at || (colon && !*r->t->provider))
		return err_set(r->err, ERR_INVAL, "a marker is written %%PROVIDER:NAME, not '%s'",
			r->at);
	return 0;
}

static int read_file_name(struct reading *r)
{
	size_t n = strcspn(r->at, ":+%;");

	if (!n)
		return err_set(r->err, ERR_INVAL, "expected the name of a file after '@'");
	r->t->file = arena_strdup(&r->t->texts, r->at, n);
	r->at += n;
	return 0;
}

/* What stands behind the function or the file. */
static int read_details(struct reading *r)
{
	struct probe_text *t = r->t;

	while (*r->at) {
		char c = *r->at++;
		int e = 0;

		if (c == '@') {
			e = read_file_name(r);
		} else if (c == ':') {
			e = read_number(&r->at, "the number of a line", &t->line, r->err);
			/* Line 0 of a function is where it begins. */
			t->has_line = t->line || !t->function;
		} else if (c == '+') {
			e = read_number(&r->at, "an offset in bytes", &t->offset, r->err);
			t->has_offset = true;
		} else if (c == ';') {
			t->pattern = r->at;
			r->at += strlen(r->at);
			if (!*t->pattern)
				return err_set(r->err, ERR_INVAL, "expected a pattern after ';'");
		} else if (c == '%' && !strncmp(r->at, "return", 6)) {
			t->is_return = true;
			r->at += 6;
		} else {
			return err_set(r->err, ERR_INVAL,
				"'%s' says nothing about a place: ':LINE', '+OFFSET', '%%return' and '@FILE' do",
				r->at - 1);
		}
		if (e)
			return e;
	}
	return 0;
}

static int check_place(const struct probe_text *t, struct err *err)
{
	if (t->has_line + t->has_offset + t->is_return + (t->pattern != NULL) > 1)
		return err_set(err, ERR_INVAL,
			"'%s': a probe has either a line, an offset, a pattern or %%return",
			t->given);
	if (!t->function && !t->has_line && !t->pattern)
		return err_set(err, ERR_INVAL,
			"'%s' is a file: a probe in it needs a line, %s:LINE, or a function, FUNCTION@%s",
			t->file, t->file, t->file);
	if (!t->function && (t->has_offset || t->is_return))
		return err_set(err, ERR_INVAL, "'%s': offsets and %%return need a function",
			t->given);
	return 0;
}

static int read_place(struct reading *r)
{
	struct probe_text *t = r->t;
	size_t n;
	char *place;

	if (read_event(r))
		return r->err->code;
	if (*r->at == '%' || !strncmp(r->at, "sdt_", 4))
		return read_marker(r, r->at + (*r->at == '%'));
	if (r->at[0] == '0' && (r->at[1] == 'x' || r->at[1] == 'X')) {
		t->has_address = true;
		if (read_number(&r->at, "an address", &t->address, r->err))
			return r->err->code;
		return *r->at
			? err_set(r->err, ERR_INVAL, "unexpected '%s' after an address", r->at)
			: 0;
	}
	n = place_length(r->at);
	if (!n)
		return err_set(r->err, ERR_INVAL, "expected a function or a file at '%s'", r->at);
	place = arena_strdup(&t->texts, r->at, n);
	r->at += n;
	if (is_file(place, *r->at))
		t->file = place;
	else
		t->function = place;
	return read_details(r) ? r->err->code : check_place(t, r->err);
}

/* ---- arguments ---- */

/* Cuts the type off: the text behind the last ':' that is no part of '::'. */
static const char *cut_type(char *text)
{
	char *colon = strrchr(text, ':');

	if (!colon || colon == text || colon[-1] == ':')
		return NULL;
	*colon = '\0';
	return colon + 1;
}

static int read_members(struct probe_arg *a, char *at, struct arena *texts, struct err *err)
{
	while (*at) {
		struct probe_member m = {0};
		const char *p;

		if (*at == '[') {
			p = at + 1;
			if (read_number(&p, "the number of an element", &m.index, err))
				return err->code;
			if (*p != ']')
				return err_set(err, ERR_INVAL, "expected ']' at '%s'", p);
			at += p + 1 - at;
		} else {
			size_t n = 0;

			m.is_arrow = at[0] == '-' && at[1] == '>';
			if (!m.is_arrow && *at != '.')
				return err_set(err, ERR_INVAL, "expected '.', '->' or '[' at '%s'",
					at);
			at += m.is_arrow ? 2 : 1;
			while (is_name_char(at[n]))
				n++;
			if (!n)
				return err_set(err, ERR_INVAL,
					"expected the name of a member at '%s'", at);
			m.name = arena_strdup(texts, at, n);
			at += n;
		}
		vec_add(&a->members, m);
	}
	return 0;
}

static int read_variable(struct probe_arg *a, char *at, struct arena *texts, struct err *err)
{
	size_t n = 0;

	while (is_name_char(at[n]) || (at[n] == ':' && at[n + 1] == ':') ||
		(n && at[n] == ':' && at[n - 1] == ':'))
		n++;
	if (!is_name_start(*at))
		return err_set(err, ERR_INVAL,
			"'%s' is neither a variable nor a place that the kernel knows: VARIABLE, VARIABLE->MEMBER, %%REGISTER, $retval",
			at);
	a->text = arena_strdup(texts, at, n);
	return read_members(a, at + n, texts, err);
}

static int read_arg(struct probe_arg *a, const char *word, struct arena *texts, struct err *err)
{
	char *at = arena_strdup(texts, word, strlen(word)), *equals = strchr(at, '='), *user;

	if (equals && *at != '\\') {
		*equals = '\0';
		a->name = at;
		if (!is_identifier(at))
			return err_set(err, ERR_INVAL, "'%s' is not a name for an argument", at);
		at = equals + 1;
	}
	if (!*at)
		return err_set(err, ERR_INVAL, "expected an argument after '%s='", a->name);
	if (!strcmp(at, "$vars") || !strcmp(at, "$params")) {
		a->kind = at[1] == 'v' ? PROBE_ARG_VARS : PROBE_ARG_PARAMS;
		return a->name ? err_set(err, ERR_INVAL,
					 "'%s' are several: they have names of their own", at)
			       : 0;
	}
	/* Programs' memory is read in programs: it does not have to be said. */
	user = strstr(at, "@user");
	if (user && user != at && !user[5])
		*user = '\0';
	a->type = cut_type(at);
	if (a->type && !*a->type)
		return err_set(err, ERR_INVAL, "expected a type after '%s:'", at);
	a->text = at;
	a->kind = PROBE_ARG_KERNEL;
	if (*at && strchr("%$@+-\\", *at) && strncmp(at, "->", 2))
		return 0;
	a->kind = PROBE_ARG_VARIABLE;
	return read_variable(a, at, texts, err);
}

bool probetext_needs_variables(const struct probe_text *t)
{
	vec_each(a, &t->args)
		if (a->kind != PROBE_ARG_KERNEL)
			return true;
	return false;
}

static int read_args(struct reading *r, char *rest)
{
	char *word;

	while ((word = strsep(&rest, " \t\n")) != NULL) {
		struct probe_arg a = {0};
		int e;

		if (!*word)
			continue;
		e = read_arg(&a, word, &r->t->texts, r->err);
		vec_add(&r->t->args, a);
		if (e)
			return e;
	}
	if (!r->t->is_return)
		return 0;
	vec_each(a, &r->t->args)
		if (a->kind != PROBE_ARG_KERNEL)
			return err_set(r->err, ERR_INVAL,
				"variables are gone when the function returns: a probe at %%return records $retval");
	return 0;
}

int probetext_parse(struct probe_text *t, const char *text, struct err *err)
{
	struct reading r = {.t = t, .err = err};
	char *all, *word;

	memset(t, 0, sizeof(*t));
	text += strspn(text, " \t\n");
	t->given = arena_strdup(&t->texts, text, strlen(text));
	all = arena_strdup(&t->texts, text, strlen(text));
	word = strsep(&all, " \t\n");
	r.at = word;
	if (!*word)
		return err_set(err, ERR_INVAL, "a probe needs a function, or a file and a line");
	if (read_place(&r) || (all && read_args(&r, all)))
		return err->code;
	return 0;
}

void probetext_fini(struct probe_text *t)
{
	vec_each(a, &t->args)
		vec_fini(&a->members);
	vec_fini(&t->args);
	arena_fini(&t->texts);
}

/* ---- lines ---- */

static int read_range(struct probe_lines *l, const char *at, struct err *err)
{
	u64 more;
	char sign;

	if (read_number(&at, "the number of a line", &l->from, err))
		return err->code;
	sign = *at;
	if (!sign)
		return 0;
	at++;
	if ((sign != '+' && sign != '-') || read_number(&at, "a number of lines", &more, err) ||
		*at)
		return err_set(err, ERR_INVAL,
			"a range of lines is written FROM-TO or FROM+MORE, without '%s'", at);
	l->to = sign == '-' ? more : l->from + more - (more > 0);
	return l->to < l->from ? err_set(err, ERR_INVAL, "line %llu comes before line %llu",
					 (unsigned long long)l->to, (unsigned long long)l->from)
			       : 0;
}

int probelines_parse(struct probe_lines *l, const char *text, struct err *err)
{
	size_t n = place_length(text);
	char *place;

	memset(l, 0, sizeof(*l));
	if (!n)
		return err_set(err, ERR_INVAL, "expected a function or a file at '%s'", text);
	place = arena_strdup(&l->texts, text, n);
	text += n;
	if (is_file(place, *text))
		l->file = place;
	else
		l->function = place;
	if (*text == '@') {
		n = strcspn(++text, ":");
		l->file = arena_strdup(&l->texts, text, n);
		text += n;
	}
	if (!*text)
		return 0;
	if (*text != ':')
		return err_set(err, ERR_INVAL, "expected ':LINE' at '%s'", text);
	return read_range(l, text + 1, err);
}

void probelines_fini(struct probe_lines *l)
{
	arena_fini(&l->texts);
}
