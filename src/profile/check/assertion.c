#include "profile/check/assertion.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

/* The unit of a value: only equal units can be compared. */
enum unit { SHARE, COUNT, TRUTH };

static const struct {
	const char *name;
	enum assertion_word word;
	enum unit unit;
	bool has_name;
} words[] = {
	{"share", ASSERTION_SHARE, SHARE, true},
	{"self", ASSERTION_SHARE, SHARE, true},
	{"children", ASSERTION_CHILDREN, SHARE, true},
	{"total", ASSERTION_CHILDREN, SHARE, true},
	{"dso", ASSERTION_DSO, SHARE, true},
	{"comm", ASSERTION_COMM, SHARE, true},
	{"nameless", ASSERTION_NAMELESS, SHARE, false},
	{"lost", ASSERTION_LOST, SHARE, false},
	{"samples", ASSERTION_SAMPLES, COUNT, false},
};

enum op {
	NUMBER,
	WORD,
	PLUS,
	MINUS,
	LESS,
	LESS_EQUAL,
	MORE,
	MORE_EQUAL,
	EQUAL,
	OTHER,
	NOT,
	AND,
	OR
};

/* Longer ones first, because some begin with others. */
static const struct {
	const char *text;
	enum op op;
} comparisons[] = {
	{"<=", LESS_EQUAL},
	{">=", MORE_EQUAL},
	{"==", EQUAL},
	{"!=", OTHER},
	{"<", LESS},
	{">", MORE},
};

struct assertion_node {
	enum op op;
	enum unit unit;
	double number;
	u8 word;          /* position in `words` */
	const char *name; /* of a WORD that has one */
	const struct assertion_node *left, *right;
};

struct parser {
	struct assertion *assertion;
	const char *at;
	unsigned depth;
	struct err *err;
};

/* Sets the error, with its place in the text, and returns NULL. */
static const struct assertion_node *fail(struct parser *p, const char *at, const char *what)
{
	if (*at)
		err_set(p->err, ERR_INVAL, "%s, at character %td: '%.40s'", what,
			at - p->assertion->text + 1, at);
	else
		err_set(p->err, ERR_INVAL, "%s, at its end", what);
	return NULL;
}

static const struct assertion_node *node(struct parser *p, const struct assertion_node *n)
{
	return arena_copy(&p->assertion->arena, n, sizeof(*n));
}

static void skip_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t\n");
}

static bool take(struct parser *p, const char *text)
{
	size_t n = strlen(text);

	skip_blanks(p);
	if (strncmp(p->at, text, n))
		return false;
	p->at += n;
	return true;
}

/* ---- values ---- */

/* Parses "(NAME)". Parentheses in NAME are balanced, or NAME is in quotes. */
static const char *take_name(struct parser *p)
{
	const char *from, *to;
	unsigned open = 0;

	if (!take(p, "("))
		return fail(p, p->at, "a name in parentheses is missing here"), NULL;
	skip_blanks(p);
	from = p->at;
	if (*from == '"') {
		to = strchr(++from, '"');
		if (!to)
			return fail(p, p->at, "this quote has no end"), NULL;
		p->at = to + 1;
		if (!take(p, ")"))
			return fail(p, p->at, "')' is missing here"), NULL;
	} else {
		for (to = from; *to && (*to != ')' || open); to++)
			open += *to == '(' ? 1 : *to == ')' ? -1 : 0;
		if (!*to)
			return fail(p, from, "this name has no end: ')' is missing"), NULL;
		p->at = to + 1;
		while (to > from && to[-1] == ' ')
			to--;
	}
	if (to == from)
		return fail(p, from, "a name is missing here"), NULL;
	return arena_strdup(&p->assertion->arena, from, (size_t)(to - from));
}

/* All words but their other names, which follow them in the table. */
static const struct assertion_node *fail_unknown(struct parser *p, const char *at)
{
	struct str text = {0};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!i || words[i].word != words[i - 1].word)
			str_addf(&text, "%s%s%s", i ? ", " : "this is none of ", words[i].name,
				words[i].has_name ? "(NAME)" : "");
	fail(p, at, str_text(&text));
	str_fini(&text);
	return NULL;
}

static const struct assertion_node *parse_word(struct parser *p)
{
	size_t n = 0;
	const char *from = p->at;

	while (isalpha((unsigned char)from[n]) || from[n] == '_')
		n++;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct assertion_node w = {.op = WORD, .unit = words[i].unit, .word = (u8)i};

		if (strlen(words[i].name) != n || memcmp(words[i].name, from, n))
			continue;
		p->at += n;
		p->assertion->words |= 1u << words[i].word;
		if (words[i].has_name) {
			w.name = take_name(p);
			if (!w.name)
				return NULL;
		}
		return node(p, &w);
	}
	return n ? fail_unknown(p, from)
		 : fail(p, from, "a value is missing here, like share(NAME), 5% or 1000");
}

static const struct assertion_node *parse_value(struct parser *p)
{
	struct assertion_node number = {.op = NUMBER, .unit = COUNT};
	char *end;

	skip_blanks(p);
	if (!isdigit((unsigned char)*p->at) && *p->at != '.')
		return parse_word(p);
	number.number = strtod(p->at, &end);
	if (end == p->at)
		return fail(p, p->at, "this is not a number");
	p->at = end;
	if (take(p, "%"))
		number.unit = SHARE;
	return node(p, &number);
}

static const struct assertion_node *parse_sum(struct parser *p)
{
	const struct assertion_node *left = parse_value(p);

	while (left) {
		struct assertion_node sum = {.unit = left->unit, .left = left};
		const char *from;

		skip_blanks(p);
		from = p->at;
		if (take(p, "+"))
			sum.op = PLUS;
		else if (take(p, "-"))
			sum.op = MINUS;
		else
			break;
		sum.right = parse_value(p);
		if (!sum.right)
			return NULL;
		if (sum.right->unit != left->unit)
			return fail(p, from,
				"one of these is a share in %, the other is a plain number");
		left = node(p, &sum);
	}
	return left;
}

/* ---- conditions ---- */

static const struct assertion_node *parse_either(struct parser *p);

static const struct assertion_node *parse_comparison(struct parser *p)
{
	struct assertion_node c = {.unit = TRUTH};
	const char *from;

	c.left = parse_sum(p);
	if (!c.left)
		return NULL;
	skip_blanks(p);
	from = p->at;
	for (size_t i = 0; i < ARRAY_SIZE(comparisons); i++) {
		if (!take(p, comparisons[i].text))
			continue;
		c.op = comparisons[i].op;
		c.right = parse_sum(p);
		if (!c.right)
			return NULL;
		return c.left->unit == c.right->unit
			? node(p, &c)
			: fail(p, from,
				  "one of these is a share, which is compared with something like 5%, the other is a number");
	}
	return fail(p, from, "a comparison is missing here, like > 5%");
}

static const struct assertion_node *parse_one(struct parser *p)
{
	struct assertion_node no = {.op = NOT, .unit = TRUTH};
	const struct assertion_node *inner;
	const char *from;

	skip_blanks(p);
	from = p->at;
	if (++p->depth > DEPTH_MAX)
		return fail(p, from, "this is nested too deep");
	if (take(p, "!")) {
		no.left = parse_one(p);
		inner = no.left ? node(p, &no) : NULL;
	} else if (take(p, "(")) {
		inner = parse_either(p);
		if (inner && !take(p, ")"))
			inner = fail(p, p->at, "')' is missing here");
	} else {
		inner = parse_comparison(p);
	}
	p->depth--;
	return inner;
}

static const struct assertion_node *parse_both(struct parser *p)
{
	const struct assertion_node *left = parse_one(p);

	while (left && take(p, "&&")) {
		struct assertion_node both = {.op = AND, .unit = TRUTH, .left = left};

		both.right = parse_one(p);
		left = both.right ? node(p, &both) : NULL;
	}
	return left;
}

static const struct assertion_node *parse_either(struct parser *p)
{
	const struct assertion_node *left = parse_both(p);

	while (left && take(p, "||")) {
		struct assertion_node either = {.op = OR, .unit = TRUTH, .left = left};

		either.right = parse_both(p);
		left = either.right ? node(p, &either) : NULL;
	}
	return left;
}

int assertion_parse(struct assertion *c, const char *text, struct err *err)
{
	struct parser p = {.assertion = c, .at = text, .err = err};

	memset(c, 0, sizeof(*c));
	c->text = text;
	c->root = parse_either(&p);
	skip_blanks(&p);
	if (c->root && *p.at)
		c->root = fail(&p, p.at, "only && or || can follow here");
	if (c->root)
		return 0;
	assertion_fini(c);
	return err->code;
}

void assertion_fini(struct assertion *c)
{
	arena_fini(&c->arena);
	memset(c, 0, sizeof(*c));
}

/* ---- answers ---- */

struct judging {
	assertion_value *value;
	void *ctx;
	struct str *said; /* NULL: values are not wanted */
};

static void say(const struct judging *j, const struct assertion_node *n, double v)
{
	struct str *text = j->said;

	if (!text)
		return;
	str_add(text, text->n ? ", " : "");
	str_add(text, words[n->word].name);
	if (n->name) {
		str_addc(text, '(');
		str_add_safe(text, n->name, strlen(n->name));
		str_addc(text, ')');
	}
	str_addf(text, n->unit == SHARE ? " is %.2f%%" : " is %.0f", v);
}

static double number_of(const struct judging *j, const struct assertion_node *n)
{
	double v;

	switch (n->op) {
	case NUMBER:
		return n->number;
	case WORD:
		v = j->value(j->ctx, words[n->word].word, n->name);
		say(j, n, v);
		return v;
	case PLUS:
		v = number_of(j, n->left);
		return v + number_of(j, n->right);
	default:
		v = number_of(j, n->left);
		return v - number_of(j, n->right);
	}
}

static bool is_so(const struct judging *j, const struct assertion_node *n)
{
	double a, b;

	if (n->op == NOT)
		return !is_so(j, n->left);
	if (n->op == AND)
		return is_so(j, n->left) && is_so(j, n->right);
	if (n->op == OR)
		return is_so(j, n->left) || is_so(j, n->right);
	a = number_of(j, n->left);
	b = number_of(j, n->right);
	switch (n->op) {
	case LESS:
		return a < b;
	case LESS_EQUAL:
		return a <= b;
	case MORE:
		return a > b;
	case MORE_EQUAL:
		return a >= b;
	case EQUAL:
		return a == b;
	default:
		return a != b;
	}
}

bool assertion_holds(const struct assertion *c, assertion_value *value, void *ctx,
	struct str *ret_values)
{
	return is_so(&(struct judging){value, ctx, ret_values}, c->root);
}

bool assertion_matches(const char *pattern, const char *text)
{
	const char *star = NULL, *again = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			again = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
