#include "base/cmdline.h"

#include <string.h>

/* Characters that mean something to a shell outside quotes, and those that do so only at the start of a word. */
static const char special[] = "|&;<>()$`*?[]{}!\n";
static const char special_first[] = "~#";

static void add_word(struct cmdline *w, const char *text, size_t n)
{
	vec_add(w, arena_strdup(&w->arena, text, n));
}

static void end_list(struct cmdline *w)
{
	vec_add(w, NULL);
	w->n--;
}

/* Adds the text after an opening quote and moves *at past the closing one; false if there is no closing quote. */
static bool take_quoted(struct cmdline *w, const char **at, char quote, struct str *word)
{
	const char *p = *at;

	for (; *p && *p != quote; p++) {
		if (quote == '"' && (*p == '$' || *p == '`'))
			w->needs_shell = true;
		/* Between double quotes, a backslash is literal except before these. */
		if (quote == '"' && *p == '\\' && p[1] && strchr("$`\"\\", p[1]))
			p++;
		str_addc(word, *p);
	}
	*at = p + 1;
	return *p == quote;
}

static int take_word(struct cmdline *w, const char **at, struct str *word, struct err *err)
{
	const char *p = *at;

	if (strchr(special_first, *p))
		w->needs_shell = true;
	while (*p && *p != ' ' && *p != '\t') {
		char c = *p++;

		/* NAME=value before the first word is an assignment. */
		w->needs_shell |= strchr(special, c) || (c == '=' && !w->n);
		if (c == '\'' || c == '"') {
			if (!take_quoted(w, &p, c, word))
				return err_set(err, ERR_INVAL, "the quote %c is not closed", c);
		} else if (c == '\\' && !*p) {
			return err_set(err, ERR_INVAL,
				"a backslash at the end has nothing to quote");
		} else {
			str_addc(word, c == '\\' ? *p++ : c);
		}
	}
	*at = p;
	return 0;
}

int cmdline_split(struct cmdline *w, const char *text, struct err *err)
{
	struct str word = {0};
	int r = 0;

	memset(w, 0, sizeof(*w));
	for (const char *p = text; !r;) {
		p += strspn(p, " \t");
		if (!*p)
			break;
		str_clear(&word);
		r = take_word(w, &p, &word, err);
		add_word(w, str_text(&word), word.n);
	}
	str_fini(&word);
	end_list(w);
	if (!r && !w->n)
		r = err_set(err, ERR_INVAL, "there is no command in it");
	if (r)
		cmdline_fini(w);
	else if (w->needs_shell)
		w->n = 0;
	return r;
}

void cmdline_make_shell(struct cmdline *w, const char *text)
{
	memset(w, 0, sizeof(*w));
	w->needs_shell = true;
	add_word(w, "sh", 2);
	add_word(w, "-c", 2);
	add_word(w, text, strlen(text));
	end_list(w);
}

void cmdline_fini(struct cmdline *w)
{
	vec_fini(w);
	arena_fini(&w->arena);
}

/* ---- from words to text ---- */

static bool is_plain(const char *word)
{
	return *word &&
		!word[strspn(word,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+@%")];
}

void cmdline_add_word(struct str *text, const char *word)
{
	if (is_plain(word)) {
		str_add(text, word);
		return;
	}
	str_addc(text, '\'');
	while (*word) {
		size_t n = strcspn(word, "'");

		str_add_safe(text, word, n);
		word += n;
		if (*word == '\'') {
			str_add(text, "'\\''");
			word++;
		}
	}
	str_addc(text, '\'');
}
