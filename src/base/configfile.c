#include "base/configfile.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct parsing {
	struct config *config;
	const char *path, *start, *at, *end;
	unsigned line;
	struct str section; /* "report", "pace.record"; empty before the first */
};

static int refuse(const struct parsing *p, const char *why, struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%s', line %u: %s", p->path, p->line, why);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static void skip_blanks(struct parsing *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r'))
		p->at++;
}

static void skip_line(struct parsing *p)
{
	while (p->at < p->end && *p->at != '\n')
		p->at++;
}

static int parse_section(struct parsing *p, struct err *err)
{
	str_clear(&p->section);
	for (p->at++; p->at < p->end && (is_word(*p->at) || *p->at == '.'); p->at++)
		str_addc(&p->section, (char)tolower((unsigned char)*p->at));
	skip_blanks(p);
	if (p->at < p->end && *p->at == '"' && p->section.n) {
		str_addc(&p->section, '.');
		for (p->at++; p->at < p->end && *p->at != '"' && *p->at != '\n'; p->at++) {
			if (*p->at == '\\' && p->at + 1 < p->end && p->at[1] != '\n')
				p->at++;
			str_addc(&p->section, *p->at);
		}
		if (p->at == p->end || *p->at != '"')
			return refuse(p, "the subsection's name has no end", err);
		p->at++;
		skip_blanks(p);
	}
	if (!p->section.n)
		return refuse(p, "a section has a name: [report]", err);
	if (p->at == p->end || *p->at != ']')
		return refuse(p, "']' is missing behind the section's name", err);
	p->at++;
	return 0;
}

/* Adds what \X stands for; a line that ends in \ goes on in the next one. */
static int take_escape(struct parsing *p, struct str *value, struct err *err)
{
	static const char letters[] = "ntb\"\\", meanings[] = "\n\t\b\"\\";
	const char *known = p->at + 1 < p->end && p->at[1] ? strchr(letters, p->at[1]) : NULL;

	if (p->at + 1 < p->end && p->at[1] == '\n')
		p->line++;
	else if (known)
		str_addc(value, meanings[known - letters]);
	else
		return refuse(p, "behind '\\' stands none of n, t, b, \", \\ and the line's end",
			err);
	p->at += 2;
	return 0;
}

static int parse_value(struct parsing *p, struct str *value, struct err *err)
{
	bool is_quoted = false;
	size_t kept = 0; /* blanks behind the value are not part of it */

	skip_blanks(p);
	while (p->at < p->end && *p->at != '\n') {
		const char c = *p->at;

		if (c == '\\') {
			if (take_escape(p, value, err))
				return err->code;
			kept = value->n;
			continue;
		}
		if (!is_quoted && (c == '#' || c == ';')) {
			skip_line(p);
			break;
		}
		p->at++;
		if (c == '"')
			is_quoted = !is_quoted;
		else
			str_addc(value, c);
		if (is_quoted || (c != ' ' && c != '\t' && c != '\r'))
			kept = value->n;
	}
	if (is_quoted)
		return refuse(p, "a quote is not closed", err);
	str_cut(value, kept);
	return 0;
}

static int parse_entry(struct parsing *p, size_t from, struct err *err)
{
	struct config_entry e = {.path = p->path,
		.line = p->line,
		.from = from,
		.name_at = (size_t)(p->at - p->start)};
	struct str key = {0}, value = {0};
	int r = 0;

	str_addf(&key, "%s.", str_text(&p->section));
	for (; p->at < p->end && is_word(*p->at); p->at++)
		str_addc(&key, (char)tolower((unsigned char)*p->at));
	skip_blanks(p);
	if (!p->section.n) {
		r = refuse(p, "a key stands before the first section, like [report]", err);
	} else if (p->at < p->end && *p->at == '=') {
		p->at++;
		r = parse_value(p, &value, err);
		if (!r)
			e.value = arena_strdup(&p->config->arena, str_text(&value), value.n);
	} else if (p->at < p->end && *p->at != '\n' && *p->at != '#' && *p->at != ';') {
		r = refuse(p, "'=' is missing behind the key", err);
	}
	if (!r) {
		skip_line(p);
		e.to = (size_t)(MIN(p->at + 1, p->end) - p->start);
		e.key = arena_strdup(&p->config->arena, key.at, key.n);
		vec_add(&p->config->entries, e);
	}
	str_fini(&key);
	str_fini(&value);
	return r;
}

static int parse_line(struct parsing *p, struct err *err)
{
	const size_t from = (size_t)(p->at - p->start);
	int r = 0;

	skip_blanks(p);
	if (p->at < p->end && *p->at == '[') {
		r = parse_section(p, err);
		skip_blanks(p);
	}
	if (r || p->at == p->end || *p->at == '\n')
		return r;
	if (*p->at == '#' || *p->at == ';') {
		skip_line(p);
		return 0;
	}
	if (!isalpha((unsigned char)*p->at))
		return refuse(p, "this is neither a [section], nor a key, nor a comment", err);
	return parse_entry(p, from, err);
}

int config_parse(struct config *c, const char *path, const char *text, size_t n, struct err *err)
{
	struct parsing p =
		{.config = c, .path = path, .start = text, .at = text, .end = text + n, .line = 1};
	int r = 0;

	if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		p.at += 3;
	while (!r && p.at < p.end) {
		r = parse_line(&p, err);
		if (p.at < p.end)
			p.at++;
		p.line++;
	}
	str_fini(&p.section);
	return r;
}

void config_fini(struct config *c)
{
	vec_fini(&c->entries);
	arena_fini(&c->arena);
}

const struct config_entry *config_find(const struct config *c, const char *key)
{
	const struct config_entry *found = NULL;

	vec_each(e, &c->entries)
		if (!strcmp(e->key, key))
			found = e;
	return found;
}

bool config_bool(const struct config_entry *e, bool *ret)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {{"true", true}, {"yes", true}, {"on", true}, {"false", false}, {"no", false},
		{"off", false}, {"", false}};

	if (!e->value || (*e->value && strspn(e->value, "0123456789") == strlen(e->value))) {
		*ret = !e->value || strspn(e->value, "0") != strlen(e->value);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcasecmp(words[i].word, e->value)) {
			*ret = words[i].value;
			return true;
		}
	return false;
}

bool config_is_key(const char *key)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');

	if (!first || first == key || !isalpha((unsigned char)last[1]) || strpbrk(key, "\n\"\\"))
		return false;
	for (const char *p = key; p < first; p++)
		if (!is_word(*p))
			return false;
	for (const char *p = last + 1; *p; p++)
		if (!is_word(*p))
			return false;
	return true;
}

static void add_entry(struct str *out, const char *name, const char *value)
{
	const size_t n = strlen(value);
	const bool needs_quotes =
		!n || value[0] == ' ' || value[n - 1] == ' ' || strpbrk(value, "#;\t\r\n\"\\");

	str_addf(out, "\t%s = %s", name, needs_quotes ? "\"" : "");
	for (const char *p = value; *p; p++)
		if (*p == '\n')
			str_add(out, "\\n");
		else if (*p == '"' || *p == '\\')
			str_addf(out, "\\%c", *p);
		else
			str_addc(out, *p);
	str_addf(out, "%s\n", needs_quotes ? "\"" : "");
}

static void add_section(struct str *out, const char *key)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');

	str_addf(out, "[%.*s", (int)(first - key), key);
	if (last > first)
		str_addf(out, " \"%.*s\"", (int)(last - first - 1), first + 1);
	str_add(out, "]\n");
}

static void lower(char *key)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');

	for (char *p = key; *p; p++)
		if (p < first || p > last)
			*p = (char)tolower((unsigned char)*p);
}

int config_change(const char *path, const char *text, size_t n, const char *key, const char *value,
	struct str *out, struct err *err)
{
	struct config c = {0};
	char *low = mem_strdup(key);
	const char *name = strrchr(key, '.') + 1;
	const size_t n_section = (size_t)(name - key);
	const struct config_entry *old = NULL, *beside = NULL;
	int r;

	lower(low);
	r = config_parse(&c, path, text, n, err);
	if (!r) {
		vec_each(e, &c.entries) {
			if (!strcmp(e->key, low))
				old = e;
			if (!strncmp(e->key, low, n_section) && !strchr(e->key + n_section, '.'))
				beside = e;
		}
		const size_t from = old ? old->from
			: beside        ? beside->to
					: n,
			     to = old ? old->to : from;
		str_addn(out, text, from);
		/* The last line may go on in what comes next: it must not. */
		if (out->n &&
			(out->at[out->n - 1] != '\n' ||
				(from == n && n > 1 && out->at[out->n - 2] == '\\')))
			str_addc(out, '\n');
		/* [section] key = value on one line */
		if (old && memchr(text + from, '[', old->name_at - from)) {
			str_addn(out, text + from, old->name_at - from);
			while (out->at[out->n - 1] == ' ' || out->at[out->n - 1] == '\t')
				str_cut(out, out->n - 1);
			str_addc(out, '\n');
		}
		if (!old && !beside)
			add_section(out, low);
		add_entry(out, name, value);
		str_addn(out, text + to, n - to);
	}
	config_fini(&c);
	mem_free(low);
	return r;
}
