#include "view/screen/namesearch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SPECIAL "\\^$.*+?()[]{}|"

static bool has_upper(const char *text)
{
	while (*text && !isupper((unsigned char)*text))
		text++;
	return *text;
}

static void add_literal(struct str *to, const char *text)
{
	for (; *text; text++) {
		if (strchr(SPECIAL, *text))
			str_addc(to, '\\');
		str_addc(to, *text);
	}
}

static void add_word(struct namesearch *s, const char *word, bool is_first)
{
	static const char *const fields[] = {[NAMESEARCH_DSO] = "dso:",
		[NAMESEARCH_FILE] = "file:",
		[NAMESEARCH_THREAD] = "thread:"};
	struct namesearch_word w = {.is_first = is_first};
	struct str literal = {0};
	int flags;

	for (size_t i = NAMESEARCH_DSO; i < ARRAY_SIZE(fields); i++)
		if (!strncmp(word, fields[i], strlen(fields[i]))) {
			w.field = (u8)i;
			word += strlen(fields[i]);
			break;
		}
	w.is_cased = has_upper(word);
	/* Most words are only letters: looking for them as such is much quicker, and many names are asked for each key. */
	if (!strpbrk(word, SPECIAL)) {
		w.literal = strdup(word);
		vec_add(&s->words, w);
		return;
	}
	flags = REG_EXTENDED | REG_NOSUB | (w.is_cased ? 0 : REG_ICASE);
	if (regcomp(&w.regexp, word, flags)) {
		add_literal(&literal, word);
		s->is_plain = true;
		if (regcomp(&w.regexp, str_text(&literal), flags)) {
			str_fini(&literal);
			return;
		}
	}
	str_fini(&literal);
	vec_add(&s->words, w);
}

/* Where a word ends: blanks and '|' that are escaped or in brackets are part of it. */
static size_t word_length(const char *text)
{
	size_t n = 0;
	int depth = 0;

	for (; text[n]; n++) {
		const char c = text[n];

		if (c == '\\' && text[n + 1]) {
			n++;
			continue;
		}
		depth += (c == '(' || c == '[') - (c == ')' || c == ']');
		if (depth <= 0 && (c == '|' || isspace((unsigned char)c)))
			break;
	}
	return n;
}

void namesearch_add_name(const char *name, struct str *text)
{
	str_addc(text, '^');
	for (; *name; name++) {
		/* A blank ends a word, unless it is in brackets. */
		if (isspace((unsigned char)*name))
			str_add(text, "[[:space:]]");
		else
			add_literal(text, (const char[]){*name, '\0'});
	}
	str_addc(text, '$');
}

void namesearch_set(struct namesearch *s, const char *text)
{
	struct str word = {0};
	bool is_first = true;

	namesearch_fini(s);
	while (*text) {
		const size_t n = word_length(text);

		if (n) {
			const size_t before = s->words.n;

			str_cut(&word, 0);
			str_addn(&word, text, n);
			add_word(s, str_text(&word), is_first);
			is_first = is_first && s->words.n == before;
		}
		text += n;
		is_first |= *text == '|';
		text += *text != '\0';
	}
	str_fini(&word);
}

static bool is_in(const struct namesearch_word *w, const char *name)
{
	if (!name)
		return false;
	if (w->literal)
		return w->is_cased ? strstr(name, w->literal) : strcasestr(name, w->literal);
	return !regexec(&w->regexp, name, 0, NULL, 0);
}

static bool word_matches(const struct namesearch_word *w, const char *const *names)
{
	return is_in(w, names[w->field]) ||
		(w->field == NAMESEARCH_NAME && is_in(w, names[NAMESEARCH_THREAD]));
}

bool namesearch_matches(const struct namesearch *s, const char *const *names)
{
	bool matches = false;

	for (size_t i = 0; i < s->words.n; i++) {
		if (s->words.at[i].is_first && matches)
			return true;
		matches = (s->words.at[i].is_first || matches) &&
			word_matches(&s->words.at[i], names);
	}
	return matches;
}

void namesearch_fini(struct namesearch *s)
{
	vec_each(w, &s->words) {
		if (!w->literal)
			regfree(&w->regexp);
		free(w->literal);
	}
	vec_fini(&s->words);
	*s = (struct namesearch){0};
}
