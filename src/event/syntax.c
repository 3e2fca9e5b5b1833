#include "event/syntax.h"

#include <stdio.h>
#include <string.h>

#include "base/lookalike.h"

#define BLANKS " \t\n"

struct lexer {
	const char *text, *at;
	struct arena *arena;
	struct err *err;
};

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		(c && strchr("_-.*?!@[]", c));
}

static struct word read_word(struct lexer *lx)
{
	struct word w = {.at = lx->at};

	while (is_word_char(*lx->at))
		lx->at++;
	w.n = lx->at - w.at;
	return w;
}

static void skip_blanks(struct lexer *lx)
{
	lx->at += strspn(lx->at, BLANKS);
}

static bool accept(struct lexer *lx, char c)
{
	if (*lx->at != c)
		return false;
	lx->at++;
	return true;
}

int syntax_fail(const char *text, const char *at, int code, const char *message, struct err *err)
{
	enum { BEFORE = 60, SHOWN = 160 };
	const char *from = strlen(text) > SHOWN && at - text > BEFORE ? at - BEFORE : text;
	const char *before = from > text ? "..." : "", *behind = strlen(from) > SHOWN ? "..." : "";

	err_set(err, code, "%s", message);
	if (at == text)
		return err_prefix(err, "event '%.*s%s'", SHOWN, text, behind);
	return err_prefix(err, "event '%s%.*s%s' at column %zu", before, SHOWN, from, behind,
		(size_t)(at - text) + 1);
}

const char *syntax_copy(struct word w, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)MIN(w.n, size - 1), w.at);
	return buf;
}

static bool ends_with_comma(const struct lexer *lx)
{
	return lx->at > lx->text && lx->at[-1] == ',';
}

static int expected(struct lexer *lx, const char *what)
{
	const struct lookalike *copied = lookalike_at(lx->at);
	char message[160];

	if (copied)
		snprintf(message, sizeof(message),
			"expected %s, found the '%s' of printed text: type %c", what, copied->utf8,
			copied->plain);
	else if (*lx->at)
		snprintf(message, sizeof(message), "expected %s, found '%c'", what, *lx->at);
	else
		/* The shell has cut -e cycles, instructions at its blank. */
		snprintf(message, sizeof(message), "expected %s, found the end%s", what,
			ends_with_comma(lx) ? "; put a list with blanks in quotes" : "");
	return syntax_fail(lx->text, lx->at, ERR_INVAL, message, lx->err);
}

/* ---- terms ---- */

/* Reads 'a word with: anything' between quotes, without the quotes. */
static int read_quoted(struct lexer *lx, struct word *ret_word)
{
	char quote = *lx->at++;
	const char *end = strchr(lx->at, quote);

	if (!end) {
		lx->at += strlen(lx->at);
		return expected(lx, quote == '\'' ? "a closing ' quote" : "a closing \" quote");
	}
	*ret_word = (struct word){lx->at, end - lx->at};
	lx->at = end + 1;
	return 0;
}

/* Whether a term follows: ",name=". */
static bool is_before_term(const char *at)
{
	if (*at++ != ',')
		return false;
	at += strspn(at, BLANKS);
	while (is_word_char(*at))
		at++;
	return *at == '=';
}

static bool is_path(const char *at)
{
	at += *at == '.';
	at += *at == '.';
	return at[0] == '/' && at[1] && !strchr(",:/", at[1]);
}

/*
 * The name of a file ends at the comma before another term, or at a slash that only modifiers follow:
 * uprobe/path=/bin/ls/u. An ambiguous name has to be quoted.
 */
static struct word read_path(struct lexer *lx)
{
	size_t n = strcspn(lx->at, ",{}" BLANKS), tail = n;
	struct word w = {.at = lx->at, .n = n};

	while (tail && lx->at[tail - 1] != '/')
		tail--;
	if (tail > 1 && !is_before_term(lx->at + n) &&
		strspn(lx->at + tail, ":ukhGHIpPSDWebR") == n - tail)
		w.n = tail - 1;
	lx->at += w.n;
	return w;
}

static int read_value(struct lexer *lx, struct word *ret_value)
{
	if (*lx->at == '\'' || *lx->at == '"')
		return read_quoted(lx, ret_value);
	*ret_value = is_path(lx->at) ? read_path(lx) : read_word(lx);
	return ret_value->n ? 0 : expected(lx, "a value");
}

static int read_terms(struct lexer *lx, struct node *node)
{
	struct term **to = &node->terms;

	node->has_slashes = true;
	for (skip_blanks(lx); !accept(lx, '/'); skip_blanks(lx)) {
		struct term *term = *to = arena_zalloc(lx->arena, sizeof(*term));

		term->name = read_word(lx);
		if (!term->name.n)
			return expected(lx, "the name of a term or '/'");
		if (accept(lx, '=') && read_value(lx, &term->value))
			return lx->err->code;
		to = &term->next;
		skip_blanks(lx);
		if (!accept(lx, ',') && *lx->at != '/')
			return expected(lx, "',' or '/'");
	}
	return 0;
}

/* Whether this is a condition on a tracepoint's fields: it has blanks, brackets or operators, which terms do not. */
static bool is_filter(const char *at)
{
	at += strspn(at, BLANKS);
	while (is_word_char(*at))
		at++;
	return *at && (*at == '=' ? at[1] == '=' : *at != ',' && *at != '/');
}

/* Reads up to the slash that is not between double quotes. */
static int read_filter(struct lexer *lx, struct node *node)
{
	bool is_quoted = false;

	node->has_slashes = true;
	node->filter.at = lx->at;
	for (; *lx->at && (is_quoted || *lx->at != '/'); lx->at++)
		is_quoted ^= *lx->at == '"';
	node->filter.n = lx->at - node->filter.at;
	return accept(lx, '/') ? 0 : expected(lx, "'/' after the filter");
}

/* After the second slash, modifiers need no colon. */
static int read_modifiers_behind(struct lexer *lx, struct node *node)
{
	bool has_colon = accept(lx, ':');
	struct word mods = read_word(lx);

	if (has_colon && !mods.n)
		return expected(lx, "modifiers");
	if (mods.n && node->modifiers.n)
		return syntax_fail(lx->text, mods.at, ERR_INVAL,
			"modifiers are given once, after the slashes", lx->err);
	if (mods.n)
		node->modifiers = mods;
	return 0;
}

/* ---- nodes ---- */

static int read_node(struct lexer *lx, bool is_in_group, struct node **ret_node);

static int read_group(struct lexer *lx, struct node *group)
{
	struct node **to = &group->children;

	group->kind = NODE_GROUP;
	do {
		if (read_node(lx, true, to))
			return lx->err->code;
		to = &(*to)->next;
	} while (accept(lx, ','));
	if (!accept(lx, '}'))
		return expected(lx, "',' or '}'");
	if (accept(lx, ':')) {
		group->modifiers = read_word(lx);
		if (!group->modifiers.n)
			return expected(lx, "modifiers");
	}
	return 0;
}

static bool is_access(struct word w)
{
	size_t n = 0;

	while (n < w.n && strchr("rwx", w.at[n]))
		n++;
	return w.n && n == w.n;
}

/* After "mem:": addr[/len][:access][:modifiers][/terms/[modifiers]] */
static int read_breakpoint(struct lexer *lx, struct node *node)
{
	struct word w;

	node->kind = NODE_BREAKPOINT;
	node->words[1] = node->words[2] = (struct word){0};
	node->words[0] = read_word(lx);
	if (!node->words[0].n)
		return expected(lx, "an address");
	if (accept(lx, '/')) {
		node->words[1] = read_word(lx);
		if (!node->words[1].n)
			return expected(lx, "the number of bytes to watch");
	}
	while (accept(lx, ':')) {
		w = read_word(lx);
		if (!w.n)
			return expected(lx, "r, w, x or modifiers");
		if (is_access(w) && !node->words[2].at && !node->modifiers.at)
			node->words[2] = w;
		else if (!node->modifiers.at)
			node->modifiers = w;
		else
			return syntax_fail(lx->text, w.at, ERR_INVAL,
				"modifiers are given once, after one ':'", lx->err);
	}
	if (!accept(lx, '/'))
		return 0;
	return read_terms(lx, node) ? lx->err->code : read_modifiers_behind(lx, node);
}

static bool is_mem(struct word w)
{
	return w.n == 3 && !strncmp(w.at, "mem", 3);
}

static bool is_pfm(struct word w)
{
	return w.n == 3 && !strncmp(w.at, "pfm", 3);
}

/* After "pfm:": libpfm has a syntax of its own, which ends where ours goes on. */
static int read_pfm(struct lexer *lx, struct node *node)
{
	node->kind = NODE_PFM;
	node->words[0] = (struct word){lx->at, strcspn(lx->at, ",}" BLANKS)};
	lx->at += node->words[0].n;
	return node->words[0].n ? 0 : expected(lx, "the name of an event, as libpfm has it");
}

/* name[:name[:modifiers]], with slashes after the name of a PMU, an event or a tracepoint. */
static int read_event(struct lexer *lx, bool is_in_group, struct node *node)
{
	node->words[0] = read_word(lx);
	if (!node->words[0].n)
		return expected(lx, "the name of an event");
	if (accept(lx, '/'))
		return read_terms(lx, node) ? lx->err->code : read_modifiers_behind(lx, node);
	if (!is_in_group && accept(lx, '{'))
		return read_group(lx, node);
	for (size_t i = 1; i < ARRAY_SIZE(node->words) && accept(lx, ':'); i++) {
		if (i == 1 && is_pfm(node->words[0]))
			return read_pfm(lx, node);
		if (i == 1 && is_mem(node->words[0]))
			return read_breakpoint(lx, node);
		if (!is_in_group && i == 1 && accept(lx, '{'))
			return read_group(lx, node);
		node->words[i] = read_word(lx);
		if (!node->words[i].n)
			return expected(lx, "modifiers or the name of a tracepoint");
		if (i > 1 || !accept(lx, '/'))
			continue;
		if (is_filter(lx->at) ? read_filter(lx, node) : read_terms(lx, node))
			return lx->err->code;
		return read_modifiers_behind(lx, node);
	}
	return 0;
}

static int read_node(struct lexer *lx, bool is_in_group, struct node **ret_node)
{
	struct node *node = *ret_node = arena_zalloc(lx->arena, sizeof(*node));
	int r;

	skip_blanks(lx);
	node->start = lx->at;
	r = !is_in_group && accept(lx, '{') ? read_group(lx, node)
					    : read_event(lx, is_in_group, node);
	node->end = lx->at;
	skip_blanks(lx);
	return r;
}

int syntax_read(const char *text, struct arena *arena, struct node **ret_first, struct err *err)
{
	struct lexer lx = {.text = text, .at = text, .arena = arena, .err = err};
	struct node *first = NULL, **to = &first;

	do {
		if (read_node(&lx, false, to))
			return err->code;
		to = &(*to)->next;
	} while (accept(&lx, ','));
	if (*lx.at)
		return expected(&lx, "',' or the end");
	*ret_first = first;
	return 0;
}
