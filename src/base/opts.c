#include "base/opts.h"

#include <stdlib.h>

#include "base/lookalike.h"
#include "base/nearest.h"
#include "base/num.h"
#include "base/vec.h"

/* One use of an option. Uses take effect after all words have been read. */
struct use {
	const struct opt *opt;
	bool is_on;        /* false for --no-x */
	const char *value; /* NULL: none */
};

struct parser {
	VEC(struct use) uses;
	const struct opt *table;
	u8 *target;
	int argc, at; /* at: the next unread word */
	char **argv;
	struct err *err;
};

static bool is_foreign(const struct opt *o)
{
	return o->kind == OPT_NOTHING || o->kind == OPT_REFUSED;
}

bool opts_is_shown(const struct opt *o)
{
	return !(o->flags & OPT_HIDDEN) && !is_foreign(o);
}

bool opts_takes_value(const struct opt *o)
{
	return (is_foreign(o) && o->arg) || (o->kind >= OPT_U64 && o->kind <= OPT_LIST) ||
		(o->kind == OPT_CALL && !(o->flags & OPT_NO_VALUE));
}

/* The option as messages name it: --name, or -x if it has no long name. */
static const char *display_name(const struct opt *o, char buf[80])
{
	struct str s = {0};

	if (o->name)
		str_addf(&s, "--%s", o->name);
	else
		str_addf(&s, "-%c", o->letter);
	memcpy(buf, s.at, MIN(s.n, (size_t)79));
	buf[MIN(s.n, (size_t)79)] = '\0';
	str_fini(&s);
	return buf;
}

static int check_range(const struct opt *o, double v, struct err *err)
{
	char name[80];

	if (v >= o->min && (!o->max || v <= o->max))
		return 0;
	if (o->max)
		return err_set(err, ERR_INVAL, "option '%s': %.10g is not between %llu and %llu",
			display_name(o, name), v, (unsigned long long)o->min,
			(unsigned long long)o->max);
	return err_set(err, ERR_INVAL, "option '%s': %.10g is less than %llu",
		display_name(o, name), v, (unsigned long long)o->min);
}

static int set_number(const struct opt *o, void *to, const char *value, struct err *err)
{
	char name[80], *end;
	double d;

	if (o->kind == OPT_U64) {
		u64 v;

		if (num_parse(value, &v, err))
			return err_prefix(err, "option '%s'", display_name(o, name));
		if (check_range(o, (double)v, err))
			return err->code;
		memcpy(to, &v, sizeof(v));
		return 0;
	}
	d = strtod(value, &end);
	if (end == value || *end || !(d == d))
		return err_set(err, ERR_INVAL, "option '%s': '%s' is not a number",
			display_name(o, name), value);
	if (check_range(o, d, err))
		return err->code;
	memcpy(to, &d, sizeof(d));
	return 0;
}

static int apply(struct parser *p, const struct use *use)
{
	const struct opt *o = use->opt;
	void *to = p->target + o->offset;
	const char *value = use->value;
	bool is_on = use->is_on;
	char name[80];

	if (o->kind == OPT_REFUSED && is_on)
		return err_set(p->err, ERR_UNSUPPORTED, "%s: %s", display_name(o, name), o->help);
	if (is_foreign(o))
		return 0;
	if (o->kind == OPT_BOOL)
		memcpy(to, &is_on, sizeof(is_on));
	else if (o->kind == OPT_TRI)
		memcpy(to, &(int){is_on}, sizeof(int));
	else if (o->kind == OPT_COUNT)
		memcpy(to, &(unsigned){load_u32(to) + 1}, sizeof(unsigned));
	else if (o->kind == OPT_STR)
		memcpy(to, &value, sizeof(value));
	else if (o->kind == OPT_LIST)
		vec_add((struct opt_list *)to, value);
	else if (o->kind == OPT_CALL) {
		if (o->call(p->target, value, p->err))
			return err_prefix(p->err, "option '%s'", display_name(o, name));
	} else
		return set_number(o, to, value, p->err);
	return 0;
}

/* Notes a use of the option with its value, or NULL; `is_on` is false for --no-x. */
static int add(struct parser *p, const struct opt *o, bool is_on, const char *value)
{
	vec_add(&p->uses, ((struct use){o, is_on, value}));
	return 0;
}

/* Drops the earlier uses of an option with a value, and, for an OPT_CALL, those of the switch at its offset. */
static int take_back(struct parser *p, const struct opt *o)
{
	size_t kept = 0;

	vec_each(use, &p->uses)
		if (use->opt != o &&
			!(o->kind == OPT_CALL && o->offset && use->opt->offset == o->offset))
			p->uses.at[kept++] = *use;
	p->uses.n = kept;
	return 0;
}

/* Finds where the value of an option comes from: attached to it, or the next word. */
static int apply_with_value(struct parser *p, const struct opt *o, const char *attached)
{
	char name[80];

	if (attached)
		return add(p, o, true, attached);
	if (o->flags & OPT_OPTIONAL &&
		(o->flags & OPT_ATTACHED || p->at >= p->argc || p->argv[p->at][0] == '-' ||
			(o->is_value && !o->is_value(p->argv[p->at]))))
		return add(p, o, true, NULL);
	if (p->at >= p->argc)
		return err_set(p->err, ERR_INVAL, "option '%s' needs a value: %s",
			display_name(o, name), o->arg ? o->arg : "VALUE");
	return add(p, o, true, p->argv[p->at++]);
}

/* NULL: no option has this letter. */
static const struct opt *find_letter(const struct parser *p, char letter)
{
	const struct opt *o = p->table;

	while (o->kind != OPT_END && (o->kind == OPT_TITLE || o->letter != letter))
		o++;
	return o->kind == OPT_END ? NULL : o;
}

static int parse_letters(struct parser *p, const char *letters)
{
	while (*letters) {
		const struct opt *o = find_letter(p, *letters);

		if (!o)
			return *letters == 'h'
				? OPTS_HELP
				: err_set(p->err, ERR_INVAL, "there is no option '-%c'", *letters);
		letters++;
		if (opts_takes_value(o) && (!*letters || !o->is_value || o->is_value(letters)))
			return apply_with_value(p, o, *letters ? letters : NULL);
		add(p, o, true, NULL);
	}
	return 0;
}

enum match { MATCH_NONE, MATCH_BEGINNING, MATCH_WHOLE };

/*
 * Whether `word` (n bytes) names this row, and whether it switches the row on or off. Options with a value
 * match their --no-x only if `with_values`, which is for words that name nothing else.
 */
static enum match match_long(const struct opt *o, const char *word, size_t n, bool with_values,
	bool *ret_is_on)
{
	bool can_invert = o->kind == OPT_BOOL || o->kind == OPT_TRI || (is_foreign(o) && !o->arg) ||
		(with_values && opts_takes_value(o));
	const char *name = o->name;
	bool is_on = true;

	if (!name || o->kind == OPT_TITLE)
		return MATCH_NONE;
	if (strncmp(name, word, n)) {
		if (!can_invert)
			return MATCH_NONE;
		if (n > 3 && !strncmp(word, "no-", 3)) {
			word += 3;
			n -= 3;
		} else if (!strncmp(name, "no-", 3)) {
			name += 3;
		} else {
			return MATCH_NONE;
		}
		if (strncmp(name, word, n))
			return MATCH_NONE;
		is_on = false;
	}
	*ret_is_on = is_on;
	return name[n] ? MATCH_BEGINNING : MATCH_WHOLE;
}

static int unknown_long(struct parser *p, const char *word, size_t n)
{
	struct nearest near = {.typed = word};
	struct str hint = {0};
	char typed[80];

	memcpy(typed, word, MIN(n, sizeof(typed) - 1));
	typed[MIN(n, sizeof(typed) - 1)] = '\0';
	near.typed = typed;
	for (const struct opt *o = p->table; o->kind != OPT_END; o++)
		if (o->name && opts_is_shown(o))
			nearest_offer(&near, o->name);
	if (near.best)
		str_addf(&hint, "; did you mean '--%s'?", near.best);
	err_set(p->err, ERR_INVAL, "there is no option '--%s'%s", typed, str_text(&hint));
	str_fini(&hint);
	return p->err->code;
}

/* The row that a word (n bytes) names, or NULL; *ret_other is another row that it may mean, or NULL. */
static const struct opt *find_long(const struct parser *p, const char *word, size_t n,
	bool with_values, bool *ret_is_on, const struct opt **ret_other)
{
	const struct opt *found = NULL;

	*ret_other = NULL;
	for (const struct opt *o = p->table; o->kind != OPT_END; o++) {
		bool row_is_on;
		enum match m = match_long(o, word, n, with_values, &row_is_on);

		if (m == MATCH_NONE)
			continue;
		if (m == MATCH_BEGINNING && found) {
			*ret_other = o;
			continue;
		}
		found = o;
		*ret_is_on = row_is_on;
		if (m == MATCH_WHOLE) {
			*ret_other = NULL;
			break;
		}
	}
	return found;
}

static int parse_long(struct parser *p, const char *word)
{
	const char *equals = strchr(word, '='), *value = equals ? equals + 1 : NULL;
	size_t n = equals ? (size_t)(equals - word) : strlen(word);
	const struct opt *found, *other;
	bool is_on = true;

	found = find_long(p, word, n, false, &is_on, &other);
	if (!found)
		found = find_long(p, word, n, true, &is_on, &other);
	if (!found)
		return n == 4 && !strncmp(word, "help", 4) ? OPTS_HELP : unknown_long(p, word, n);
	if (other)
		return err_set(p->err, ERR_INVAL, "option '--%.*s' could be '--%s' or '--%s'",
			(int)n, word, found->name, other->name);
	if (opts_takes_value(found) && is_on)
		return apply_with_value(p, found, value);
	if (value)
		return err_set(p->err, ERR_INVAL, "option '--%s%s' takes no value, '%s' was given",
			opts_takes_value(found) ? "no-" : "", found->name, value);
	return opts_takes_value(found) ? take_back(p, found) : add(p, found, is_on, NULL);
}

/* How many bytes the dash has, a keyboard's or a printed one, that the text begins with; 0 if there is none. */
static size_t dash_bytes(const char *at)
{
	const struct lookalike *printed = lookalike_at(at);

	if (*at == '-')
		return 1;
	return printed && printed->plain == '-' ? LOOKALIKE_BYTES : 0;
}

/*
 * Refuses a word that would be an option if its dashes were not those of printed text: nobody means a
 * file or a command of that name.
 */
static int check_printed(struct parser *p, const char *word)
{
	const char *name = word;
	bool is_on, is_printed = false, is_long;
	const struct opt *other;
	size_t n;

	while ((n = dash_bytes(name))) {
		is_printed |= n > 1;
		name += n;
	}
	n = strcspn(name, "=");
	is_long = n > 1 && find_long(p, name, n, true, &is_on, &other);
	if (!is_printed || !*name || (!is_long && !find_letter(p, *name)))
		return 0;
	return err_set(p->err, ERR_INVAL,
		"'%s' begins with a printed dash, which is not the '-' of a keyboard: type '%s%s'",
		word, is_long ? "--" : "-", name);
}

/* Reads all words, or with OPTS_STOP those before the first one that is not an option. */
static int parse_words(struct parser *p, unsigned flags, int *ret_kept)
{
	while (p->at < p->argc) {
		char *word = p->argv[p->at];
		int r = check_printed(p, word);

		if (r)
			return r;
		if (word[0] != '-' || !word[1]) {
			if (flags & OPTS_STOP)
				break;
			p->argv[(*ret_kept)++] = word;
			p->at++;
			continue;
		}
		p->at++;
		if (!strcmp(word, "--"))
			break;
		r = word[1] == '-' ? parse_long(p, word + 2) : parse_letters(p, word + 1);
		if (r)
			return r;
	}
	return 0;
}

int opts_parse(const struct opt *table, void *target, unsigned flags, int *argc, char **argv,
	struct err *err)
{
	struct parser p = {.table = table,
		.target = target,
		.argc = *argc,
		.argv = argv,
		.err = err};
	int kept = 0, r = parse_words(&p, flags, &kept);

	for (size_t i = 0; i < p.uses.n && !r; i++)
		r = apply(&p, &p.uses.at[i]);
	vec_fini(&p.uses);
	if (r)
		return r;
	while (p.at < p.argc)
		argv[kept++] = argv[p.at++];
	*argc = kept;
	return 0;
}

/* How the help shows the argument, after the option's name. */
static const char *argument_format(const struct opt *o)
{
	if (!(o->flags & OPT_OPTIONAL))
		return " %s";
	if (o->is_value)
		return " [%s]";
	return o->name ? "[=%s]" : "[%s]";
}

void opts_add_help(const struct opt *table, struct str *text)
{
	enum { HELP_COLUMN = 34 };

	for (const struct opt *o = table; o->kind != OPT_END; o++)
		if (o->flags & OPT_COMMON) {
			str_add(text, "\nMost users need only the options marked with *.\n");
			break;
		}
	for (const struct opt *o = table; o->kind != OPT_END; o++) {
		size_t start;

		if (!opts_is_shown(o))
			continue;
		if (o->kind == OPT_TITLE) {
			str_addf(text, "\n%s\n", o->help);
			continue;
		}
		start = text->n;
		str_add(text, o->flags & OPT_COMMON ? "* " : "  ");
		if (o->letter)
			str_addf(text, "-%c%s", o->letter, o->name ? ", " : "");
		else
			str_add(text, "    ");
		if (o->name)
			str_addf(text, "--%s", o->name);
		if (opts_takes_value(o))
			str_addf(text, argument_format(o), o->arg ? o->arg : "VALUE");
		if (text->n - start < HELP_COLUMN)
			str_fill(text, ' ', HELP_COLUMN - (text->n - start));
		else
			str_addc(text, '\n'), str_fill(text, ' ', HELP_COLUMN);
		str_addf(text, "%s\n", o->help);
	}
}
