#include "event/metricexpr.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

/* The largest formula today has 500 nodes, and parentheses 20 deep. */
enum { NODES_MAX = 5000, DEPTH_MAX = 200, LITERAL_SIZE = 32 };

enum op {
	OP_NUMBER,
	OP_NAME,
	OP_SOURCES,
	OP_HAS_EVENT,
	OP_HAS_PMU,
	OP_IS_CPU,
	OP_LITERAL,
	OP_NEGATE,
	OP_ADD,
	OP_SUBTRACT,
	OP_MULTIPLY,
	OP_DIVIDE,
	OP_REMAINDER,
	OP_LESS,
	OP_MORE,
	OP_AT_MOST,
	OP_AT_LEAST,
	OP_EQUAL,
	OP_DIFFERENT,
	OP_OR,
	OP_XOR,
	OP_AND,
	OP_MIN,
	OP_MAX,
	OP_RATIO,
	OP_IF, /* value, condition, the other value */
};

struct metricexpr_node {
	enum op op;
	u32 args[3];
	u32 name;         /* OP_NAME, OP_SOURCES, OP_HAS_EVENT */
	const char *text; /* OP_HAS_PMU, OP_IS_CPU, OP_LITERAL */
	double number;
};

static const char *const literals[] = {"smt_on", "core_wide", "num_cpus", "num_cpus_online",
	"num_cores", "num_dies", "num_packages", "system_tsc_freq", "slots", "has_pmem",
	"ebs_mode"};

bool metricexpr_is_literal(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(literals); i++)
		if (!strcmp(name, literals[i]))
			return true;
	return false;
}

/* ---- words ---- */

struct reader {
	struct metricexpr *x;
	const char *text, *at;
	u32 parameter;
	unsigned depth;
	struct err *err;
};

static void skip_blanks(struct reader *r)
{
	r->at += strspn(r->at, " \t\r\n");
}

/* Says what was expected where the reader is; -1. */
static int fail(struct reader *r, const char *expected)
{
	size_t n = strlen(r->at);

	if (!n)
		err_set(r->err, ERR_INVAL, "column %zu: expected %s, but the formula ends there",
			(size_t)(r->at - r->text) + 1, expected);
	else
		err_set(r->err, ERR_INVAL, "column %zu: expected %s, not '%.*s%s'",
			(size_t)(r->at - r->text) + 1, expected, (int)MIN(n, (size_t)24), r->at,
			n > 24 ? "..." : "");
	return -1;
}

static int too_large(struct reader *r)
{
	err_set(r->err, ERR_LIMIT,
		"column %zu: the formula has more than %d parts, or parentheses more than %d deep",
		(size_t)(r->at - r->text) + 1, NODES_MAX, DEPTH_MAX);
	return -1;
}

/* The length of the name that begins here; 0: there is none. */
static size_t name_length(const char *at)
{
	size_t n = 0;

	for (;;) {
		if (isalnum((u8)at[n]) || (at[n] && strchr("_.:?@", at[n])))
			n++;
		else if (at[n] == '\\' && at[n + 1] && strchr("-,=:/", at[n + 1]))
			n += 2;
		else
			return n;
	}
}

static size_t digits(const char *at)
{
	return strspn(at, "0123456789");
}

/* The length of the number that begins here; 0: there is none. */
static size_t number_length(const char *at)
{
	size_t n = digits(at), sign;
	bool has_digits = n;

	if (n == 1 && at[0] == '0' && (at[1] | 0x20) == 'x' && isxdigit((u8)at[2]))
		return 2 + strspn(at + 2, "0123456789abcdefABCDEF");
	if (at[n] == '.') {
		has_digits |= digits(at + n + 1) > 0;
		n += 1 + digits(at + n + 1);
	}
	if (!has_digits)
		return 0;
	sign = (at[n] | 0x20) == 'e' && (at[n + 1] == '-' || at[n + 1] == '+');
	if ((at[n] | 0x20) == 'e' && digits(at + n + 1 + sign))
		n += 1 + sign + digits(at + n + 1 + sign);
	return n;
}

/* Takes the operator or bracket `word` if it is next. */
static bool take(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	skip_blanks(r);
	if (strncmp(r->at, word, n))
		return false;
	r->at += n;
	return true;
}

/* Takes the word `if` or `else` if it is next. */
static bool take_word(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	skip_blanks(r);
	if (strncmp(r->at, word, n) || name_length(r->at) != n)
		return false;
	r->at += n;
	return true;
}

/* The name of n bytes as -e takes it. */
static const char *unescape(struct reader *r, const char *at, size_t n)
{
	struct str text = {0};
	const char *result;

	for (size_t i = 0; i < n; i++) {
		if (at[i] == '\\')
			str_addc(&text, at[++i]);
		else if (at[i] == '@')
			str_addc(&text, '/');
		else if (at[i] == '?') {
			str_addf(&text, "%u", r->parameter);
			r->x->has_parameter = true;
		} else
			str_addc(&text, at[i]);
	}
	result = arena_strdup(&r->x->arena, str_text(&text), text.n);
	str_fini(&text);
	return result;
}

/* ---- from text to nodes ---- */

/* Every function of this part returns a node's index, or -1 with an error. */

static int parse_expr(struct reader *r);
static int parse_unary(struct reader *r);

static int add(struct reader *r, struct metricexpr_node node)
{
	if (r->x->nodes.n >= NODES_MAX)
		return too_large(r);
	vec_add(&r->x->nodes, node);
	return (int)r->x->nodes.n - 1;
}

static u32 name_index(struct reader *r, const char *text, const char *at)
{
	vec_each(name, &r->x->names)
		if (!strcmp(name->text, text))
			return (u32)(name - r->x->names.at);
	vec_add(&r->x->names, ((struct metricexpr_name){text, (u32)(at - r->text) + 1}));
	return (u32)r->x->names.n - 1;
}

static int parse_literal(struct reader *r)
{
	char name[LITERAL_SIZE];
	size_t n = name_length(r->at + 1);

	for (size_t i = 0; i < MIN(n, sizeof(name) - 1); i++)
		name[i] = (char)tolower((u8)r->at[1 + i]);
	name[MIN(n, sizeof(name) - 1)] = '\0';
	if (n >= sizeof(name) || !metricexpr_is_literal(name))
		return fail(r, "a literal like #smt_on, #num_cpus or #slots");
	r->at += 1 + n;
	return add(r,
		(struct metricexpr_node){.op = OP_LITERAL,
			.text = arena_strdup(&r->x->arena, name, n)});
}

static int parse_number(struct reader *r, size_t n)
{
	char text[64];
	u64 hex;
	const char *p = text + 2;
	struct metricexpr_node node = {.op = OP_NUMBER};

	if (n >= sizeof(text))
		return fail(r, "a shorter number");
	memcpy(text, r->at, n);
	text[n] = '\0';
	if ((text[1] | 0x20) == 'x') {
		if (!num_scan(&p, 16, &hex))
			return fail(r, "a number of 64 bits");
		node.number = (double)hex;
	} else
		node.number = strtod(text, NULL);
	r->at += n;
	return add(r, node);
}

/* The functions with two formulas, and those with one name. */
static const struct {
	const char *name;
	enum op op;
	bool takes_name;
} functions[] = {
	{"min", OP_MIN, false},
	{"max", OP_MAX, false},
	{"d_ratio", OP_RATIO, false},
	{"source_count", OP_SOURCES, true},
	{"has_event", OP_HAS_EVENT, true},
	{"has_pmu", OP_HAS_PMU, true},
	{"strcmp_cpuid_str", OP_IS_CPU, true},
};

static int parse_two(struct reader *r, enum op op)
{
	int a = parse_expr(r), b;

	if (a < 0)
		return a;
	if (!take(r, ","))
		return fail(r, "',' and a second argument");
	b = parse_expr(r);
	if (b < 0)
		return b;
	if (!take(r, ")"))
		return fail(r, "')' after two arguments");
	return add(r, (struct metricexpr_node){.op = op, .args = {(u32)a, (u32)b}});
}

static int parse_named(struct reader *r, enum op op)
{
	struct metricexpr_node node = {.op = op};
	size_t n;

	skip_blanks(r);
	n = name_length(r->at);
	if (!n)
		return fail(r, "a name");
	node.text = unescape(r, r->at, n);
	if (op == OP_SOURCES || op == OP_HAS_EVENT)
		node.name = name_index(r, node.text, r->at);
	r->at += n;
	if (!take(r, ")"))
		return fail(r, "')' after the name");
	return add(r, node);
}

static int parse_name(struct reader *r, size_t n)
{
	const char *at = r->at;

	if ((n == 2 && !strncmp(at, "if", n)) || (n == 4 && !strncmp(at, "else", n)))
		return fail(r, "a value");
	r->at += n;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (strlen(functions[i].name) == n && !strncmp(at, functions[i].name, n) &&
			take(r, "("))
			return functions[i].takes_name ? parse_named(r, functions[i].op)
						       : parse_two(r, functions[i].op);
	if (n == 3 && !strncasecmp(at, "nan", n))
		return add(r, (struct metricexpr_node){.op = OP_NUMBER, .number = NAN});
	return add(r,
		(struct metricexpr_node){.op = OP_NAME,
			.name = name_index(r, unescape(r, at, n), at)});
}

static int parse_operand(struct reader *r)
{
	size_t n_name, n_number;
	int result;

	if (take(r, "-")) {
		result = parse_unary(r);
		return result < 0
			? result
			: add(r, (struct metricexpr_node){.op = OP_NEGATE, .args = {(u32)result}});
	}
	if (take(r, "(")) {
		result = parse_expr(r);
		return result < 0 || take(r, ")") ? result : fail(r, "an operator or ')'");
	}
	if (*r->at == '#')
		return parse_literal(r);
	n_name = name_length(r->at);
	n_number = number_length(r->at);
	/* The longer one: "1e-9" is a number, "4k_aliasing" a name. */
	if (n_number && n_number >= n_name)
		return parse_number(r, n_number);
	return n_name ? parse_name(r, n_name) : fail(r, "a value");
}

static int parse_unary(struct reader *r)
{
	int result;

	if (++r->depth > DEPTH_MAX)
		return too_large(r);
	result = parse_operand(r);
	r->depth--;
	return result;
}

/* Operators with two sides, by how strongly they bind; the longer word of two comes first. */
static const struct {
	unsigned level;
	const char *word;
	enum op op;
} operators[] = {
	{0, "|", OP_OR},
	{1, "^", OP_XOR},
	{2, "&", OP_AND},
	{3, "<=", OP_AT_MOST},
	{3, ">=", OP_AT_LEAST},
	{3, "==", OP_EQUAL},
	{3, "!=", OP_DIFFERENT},
	{3, "<", OP_LESS},
	{3, ">", OP_MORE},
	{4, "+", OP_ADD},
	{4, "-", OP_SUBTRACT},
	{5, "*", OP_MULTIPLY},
	{5, "/", OP_DIVIDE},
	{5, "%", OP_REMAINDER},
};

enum { LEVELS = 6 };

static bool take_operator(struct reader *r, unsigned level, enum op *ret_op)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (operators[i].level == level && take(r, operators[i].word)) {
			*ret_op = operators[i].op;
			return true;
		}
	}
	return false;
}

static int parse_level(struct reader *r, unsigned level)
{
	int left = level < LEVELS ? parse_level(r, level + 1) : parse_unary(r), right;
	enum op op;

	while (left >= 0 && level < LEVELS && take_operator(r, level, &op)) {
		right = parse_level(r, level + 1);
		left = right < 0 ? right
				 : add(r,
					   (struct metricexpr_node){.op = op,
						   .args = {(u32)left, (u32)right}});
	}
	return left;
}

static int parse_expr(struct reader *r)
{
	int value = parse_level(r, 0), condition, other;

	if (value < 0 || !take_word(r, "if"))
		return value;
	condition = parse_level(r, 0);
	if (condition < 0)
		return condition;
	if (!take_word(r, "else"))
		return fail(r, "an operator or 'else'");
	if (++r->depth > DEPTH_MAX)
		return too_large(r);
	other = parse_expr(r);
	r->depth--;
	return other < 0 ? other
			 : add(r,
				   (struct metricexpr_node){.op = OP_IF,
					   .args = {(u32)value, (u32)condition, (u32)other}});
}

int metricexpr_compile(struct metricexpr *x, const char *text, u32 parameter, struct err *err)
{
	struct reader r = {.x = x, .text = text, .at = text, .parameter = parameter, .err = err};
	int root;

	*x = (struct metricexpr){0};
	root = parse_expr(&r);
	skip_blanks(&r);
	if (root >= 0 && *r.at)
		root = fail(&r, "an operator");
	if (root >= 0)
		return 0;
	metricexpr_fini(x);
	return err->code;
}

void metricexpr_fini(struct metricexpr *x)
{
	vec_fini(&x->nodes);
	vec_fini(&x->names);
	arena_fini(&x->arena);
}

/* ---- values ---- */

static double compare(enum op op, double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	switch (op) {
	case OP_LESS:
		return a < b;
	case OP_MORE:
		return a > b;
	case OP_AT_MOST:
		return a <= b;
	case OP_AT_LEAST:
		return a >= b;
	case OP_EQUAL:
		return a == b;
	default:
		return a != b;
	}
}

/* One side can be enough to know the result, as for "0 & x". */
static double combine(enum op op, double a, double b)
{
	bool has_nan = isnan(a) || isnan(b);

	if (op == OP_AND)
		return a == 0 || b == 0 ? 0 : has_nan ? NAN : 1;
	if (op == OP_OR)
		return (!isnan(a) && a != 0) || (!isnan(b) && b != 0) ? 1 : has_nan ? NAN : 0;
	return has_nan ? NAN : (a == 0) != (b == 0);
}

static double calculate(enum op op, double a, double b)
{
	switch (op) {
	case OP_ADD:
		return a + b;
	case OP_SUBTRACT:
		return a - b;
	case OP_MULTIPLY:
		return a * b;
	case OP_DIVIDE:
		return b == 0 ? NAN : a / b;
	case OP_REMAINDER:
		return fmod(trunc(a), trunc(b));
	case OP_RATIO:
		return b == 0 ? 0 : a / b;
	/* fmin() and fmax() would hide what is not known. */
	case OP_MIN:
		return isnan(a) || isnan(b) ? NAN : MIN(a, b);
	case OP_MAX:
		return isnan(a) || isnan(b) ? NAN : MAX(a, b);
	case OP_OR:
	case OP_XOR:
	case OP_AND:
		return combine(op, a, b);
	default:
		return compare(op, a, b);
	}
}

/* The value of a node whose operands are known; NaN if it depends on a count and counts are not asked for. */
static double value_of(const struct metricexpr_node *n, const double *values,
	const struct metricexpr_world *w, bool has_counts)
{
	const double condition = n->op == OP_IF ? values[n->args[1]] : 0;

	switch (n->op) {
	case OP_NUMBER:
		return n->number;
	case OP_NAME:
		return has_counts ? w->value(w->ctx, n->name) : NAN;
	case OP_SOURCES:
		return has_counts ? w->sources(w->ctx, n->name) : NAN;
	case OP_HAS_EVENT:
		return w->has_event(w->ctx, n->name);
	case OP_HAS_PMU:
		return w->has_pmu(w->ctx, n->text);
	case OP_IS_CPU:
		return w->is_cpu(w->ctx, n->text);
	case OP_LITERAL:
		return w->literal(w->ctx, n->text);
	case OP_NEGATE:
		return -values[n->args[0]];
	case OP_IF:
		if (isnan(condition))
			return NAN;
		return values[n->args[condition != 0 ? 0 : 2]];
	default:
		return calculate(n->op, values[n->args[0]], values[n->args[1]]);
	}
}

/* The values of all nodes, which the caller frees. */
static double *evaluate(const struct metricexpr *x, const struct metricexpr_world *w,
	bool has_counts)
{
	double *values = mem_alloc((x->nodes.n + 1) * sizeof(*values));

	for (size_t i = 0; i < x->nodes.n; i++)
		values[i] = value_of(&x->nodes.at[i], values, w, has_counts);
	return values;
}

double metricexpr_value(const struct metricexpr *x, const struct metricexpr_world *world)
{
	double *values = evaluate(x, world, true), result = values[x->nodes.n - 1];

	mem_free(values);
	return result;
}

/* ---- needs ---- */

/* Marks the operands that a node's value depends on, where `values` are those that need no count. */
static void mark_operands(const struct metricexpr_node *n, const double *values, bool *is_used)
{
	const u32 *args = n->args;

	switch (n->op) {
	case OP_IF:
		is_used[args[1]] = isnan(values[args[1]]);
		if (is_used[args[1]] || values[args[1]] != 0)
			is_used[args[0]] = true;
		if (is_used[args[1]] || values[args[1]] == 0)
			is_used[args[2]] = true;
		return;
	case OP_NEGATE:
		is_used[args[0]] = true;
		return;
	case OP_DIVIDE:
	case OP_REMAINDER:
	case OP_RATIO:
		if (values[args[1]] == 0)
			return;
		break;
	default:
		if (n->op < OP_NEGATE)
			return;
	}
	is_used[args[0]] = is_used[args[1]] = true;
}

void metricexpr_needs(const struct metricexpr *x, const struct metricexpr_world *world,
	bool *ret_needs)
{
	double *values = evaluate(x, world, false);
	bool *is_used = mem_zalloc(x->nodes.n + 1);

	memset(ret_needs, 0, x->names.n);
	is_used[x->nodes.n - 1] = true;
	for (size_t i = x->nodes.n; i-- > 0;) {
		const struct metricexpr_node *n = &x->nodes.at[i];

		/* What is known without counts needs none. */
		if (!is_used[i] || !isnan(values[i]))
			continue;
		if (n->op == OP_NAME || n->op == OP_SOURCES)
			ret_needs[n->name] = true;
		mark_operands(n, values, is_used);
	}
	mem_free(values);
	mem_free(is_used);
}
