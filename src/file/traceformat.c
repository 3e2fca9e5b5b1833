#include "file/traceformat.h"

#include <stdlib.h>
#include <string.h>

enum { NESTING_LIMIT = 256 };

/* ---- what a format looks like ---- */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_';
}

static bool skip_text(const char **p, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(*p, text, n))
		return false;
	*p += n;
	return true;
}

static bool skip_words(const char **p, const char *others)
{
	const char *start = *p;

	while (is_word(**p) || (**p && strchr(others, **p)))
		(*p)++;
	return *p > start;
}

/* Skips a number of at most 7 digits, after the word `before` and followed by a semicolon. */
static bool skip_number(const char **p, const char *before)
{
	const char *start;

	if (!skip_text(p, before))
		return false;
	for (start = *p; **p >= '0' && **p <= '9'; (*p)++)
		;
	return *p > start && *p - start <= 7 && skip_text(p, ";");
}

/* Skips a type and a name: at least two words, brackets closed at once, nothing else. */
static bool skip_declaration(const char **p)
{
	unsigned n_words = 0;

	for (; **p != ';'; n_words++) {
		if (!skip_words(p, ""))
			return false;
		if (skip_text(p, "[")) {
			skip_words(p, "");
			if (!skip_text(p, "]"))
				return false;
		}
		if (**p != ';' && **p != ' ' && **p != '*')
			return false;
		while (**p == ' ' || **p == '*')
			(*p)++;
	}
	return n_words >= 2 && skip_text(p, ";");
}

static bool skip_field(const char **p)
{
	if (!skip_text(p, "\tfield:") || !skip_declaration(p) || !skip_number(p, "\toffset:") ||
		!skip_number(p, "\tsize:"))
		return false;
	if (**p == '\t' && !skip_number(p, "\tsigned:"))
		return false;
	return skip_text(p, "\n");
}

/* ---- what its print line looks like ---- */

/*
 * Position in an expression of C, as the kernel's print lines use it: libtraceevent's parser
 * follows null pointers if one is incomplete, and evaluates constants without checking what it
 * divides by.
 */
struct line {
	const char *p;
	unsigned depth;
};

static bool skip_expression(struct line *l);

static char peek(struct line *l)
{
	while (*l->p == ' ' || *l->p == '\t' || *l->p == '\n')
		l->p++;
	return *l->p;
}

static bool skip_char(struct line *l, char c)
{
	if (peek(l) != c)
		return false;
	l->p++;
	return true;
}

/* Skips adjacent strings, which form one. */
static bool skip_strings(struct line *l)
{
	while (skip_char(l, '"')) {
		for (; *l->p != '"'; l->p++)
			if (!*l->p || (*l->p == '\\' && !*++l->p))
				return false;
		l->p++;
	}
	return true;
}

/* Skips items up to `end`, separated by commas. An item is a list in braces, or an expression. */
static bool skip_list(struct line *l, char end)
{
	if (skip_char(l, end))
		return true;
	do {
		if (skip_char(l, '{') ? !skip_list(l, '}') : !skip_expression(l))
			return false;
	} while (skip_char(l, ','));
	return skip_char(l, end);
}

/* Skips "(unsigned char *)" if something follows that it casts. */
static bool skip_cast(struct line *l)
{
	struct line try = *l;
	bool is_type = false;

	if (!skip_char(&try, '('))
		return false;
	peek(&try);
	if (!is_word(*try.p) || (*try.p >= '0' && *try.p <= '9'))
		return false;
	for (; is_word(peek(&try)) || *try.p == '*'; try.p++)
		is_type |= try.p > l->p && (*try.p == '*' || try.p[-1] == ' ');
	if (!skip_char(&try, ')') || !peek(&try))
		return false;
	/* (a) - 1 is not a cast, (unsigned long)-1 is one. */
	if (!is_word(*try.p) && !strchr(is_type ? "(\"~!-" : "(\"~!", *try.p))
		return false;
	*l = try;
	return true;
}

/* Skips what may follow a name: members, indexes, arguments. */
static bool skip_behind(struct line *l)
{
	for (;;) {
		peek(l);
		if (skip_text(&l->p, "->") || skip_text(&l->p, ".")) {
			if (!skip_words(&l->p, ""))
				return false;
		} else if (skip_char(l, '[')) {
			if (!skip_expression(l) || !skip_char(l, ']'))
				return false;
		} else if (skip_char(l, '(')) {
			if (!skip_list(l, ')'))
				return false;
		} else {
			return true;
		}
	}
}

static bool skip_operand(struct line *l)
{
	while (strchr("!~-+", peek(l)) && *l->p)
		l->p++;
	if (skip_cast(l))
		return skip_operand(l);
	if (*l->p == '"')
		return skip_strings(l);
	/* 'x' */
	if (*l->p == '\'' && l->p[1] && !strchr("'\\\n", l->p[1]) && l->p[2] == '\'')
		return l->p += 3, true;
	if (skip_char(l, '('))
		return skip_expression(l) && skip_char(l, ')') && skip_behind(l);
	if (skip_text(&l->p, "sizeof"))
		return skip_char(l, '(') && (peek(l), skip_words(&l->p, " *>.-")) &&
			skip_char(l, ')');
	if (*l->p >= '0' && *l->p <= '9')
		return skip_words(&l->p, "");
	return skip_words(&l->p, "") && skip_behind(l);
}

/* Whether the next operand is a nonzero number, in parentheses or not, or a size. */
static bool is_divisor(struct line l)
{
	unsigned n = 0;
	char *end;

	while (skip_char(&l, '('))
		n++;
	if (!strncmp(l.p, "sizeof", 6))
		return true;
	if (*l.p < '0' || *l.p > '9' || !strtoull(l.p, &end, 0))
		return false;
	l.p = end;
	while (is_word(*l.p))
		l.p++;
	while (n && skip_char(&l, ')'))
		n--;
	return !n;
}

static bool skip_operator(struct line *l, bool *is_division)
{
	static const char *const all[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-",
		"*", "/", "%", "<", ">", "&", "|", "^"};

	peek(l);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (!skip_text(&l->p, all[i]))
			continue;
		*is_division = *all[i] == '/' || *all[i] == '%';
		return true;
	}
	return false;
}

static bool skip_operands(struct line *l)
{
	unsigned n_divisions = 0;
	bool is_division;

	if (!skip_operand(l))
		return false;
	while (skip_operator(l, &is_division)) {
		n_divisions += is_division;
		/* The parser might disagree with us on which of two divisions comes first. */
		if (is_division && (n_divisions > 1 || !is_divisor(*l)))
			return false;
		if (!skip_operand(l))
			return false;
	}
	if (!skip_char(l, '?'))
		return true;
	return skip_expression(l) && skip_char(l, ':') && skip_expression(l);
}

static bool skip_expression(struct line *l)
{
	bool result;

	if (l->depth >= NESTING_LIMIT)
		return false;
	l->depth++;
	result = skip_operands(l);
	l->depth--;
	return result;
}

/* Whether the text is a string followed by arguments. */
static bool is_print_line(const char *text)
{
	struct line l = {text, 0};

	if (peek(&l) != '"' || !skip_strings(&l))
		return false;
	while (skip_char(&l, ','))
		if (!skip_expression(&l))
			return false;
	return !peek(&l);
}

bool traceformat_is_one(const char *text, size_t n, const char **ret_print)
{
	const char *p = text;

	for (size_t i = 0; i < n; i++)
		if ((text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 127)
			return false;
	/* libtraceevent takes other names for a lack of memory. */
	if (!skip_text(&p, "name: ") || !skip_words(&p, "") || !skip_text(&p, "\nID: ") ||
		!skip_words(&p, "") || !skip_text(&p, "\nformat:\n"))
		return false;
	while (*p == '\t' || *p == '\n')
		if (!skip_text(&p, "\n") && !skip_field(&p))
			return false;
	*ret_print = p;
	return skip_text(&p, "print fmt: ");
}

static bool has_sane_depth(const char *p)
{
	size_t n = 0;

	for (; *p; p++)
		n += strchr("([{?!~+-*/%<>=&|^", *p) != NULL;
	return n <= TRACEFORMAT_OPERATORS;
}

bool traceformat_is_printable(const char *print)
{
	return has_sane_depth(print) && is_print_line(print + strlen("print fmt: "));
}
