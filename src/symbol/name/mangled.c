#include "symbol/name/mangled.h"

#include <ctype.h>
#include <stdlib.h>

/* ---- OCaml ---- */

static int hex_digit(char c)
{
	return isdigit((u8)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The start of the number that the compiler appends to each function, _120; or the end. */
static const char *ocaml_stamp(const char *name)
{
	const char *end = name + strlen(name), *p = end;

	while (p > name && isdigit((u8)p[-1]))
		p--;
	return p < end && p > name && p[-1] == '_' ? p - 1 : end;
}

/* Whether the function is anonymous. All of these are called "fun": their numbers tell them apart. */
static bool is_nameless(const char *name, const char *end)
{
	return end - name > 4 && !strncmp(end - 3, "fun", 3) && (end[-4] == '_' || end[-4] == '.');
}

bool mangled_ocaml(const char *name, struct str *text)
{
	const char *p = name + 4, *end;

	if (strncmp(name, "caml", 4) || !isupper((u8)*p))
		return false;
	end = ocaml_stamp(p);
	if (is_nameless(p, end))
		end += strlen(end);
	for (; p < end; p++) {
		if (p[0] == '_' && p[1] == '_' && p + 2 < end) {
			str_addc(text, '.');
			p++;
		} else if (p[0] == '$' && p + 2 < end && hex_digit(p[1]) >= 2 &&
			hex_digit(p[1]) < 8 && hex_digit(p[2]) >= 0) {
			/* Letters of operators are written as two hexadecimal digits. */
			str_addc(text, (char)((u32)hex_digit(p[1]) << 4 | (u32)hex_digit(p[2])));
			p += 2;
		} else {
			str_addc(text, *p);
		}
	}
	return true;
}

/* ---- Java ---- */

/* Appends a/b/C as a.b.C, up to the ';', and moves *p behind it. Returns false if there is none. */
static bool take_class(const char **p, struct str *text)
{
	const char *end = strchr(*p, ';');

	if (!end || end == *p || memchr(*p, '(', end - *p))
		return false;
	for (; *p < end; (*p)++)
		str_addc(text, **p == '/' ? '.' : **p);
	(*p)++;
	return true;
}

/* Appends one type of a descriptor: I, [B, Ljava/lang/String;. */
static bool take_type(const char **p, struct str *text)
{
	static const struct {
		char letter;
		const char *word;
	} types[] = {{'B', "byte"}, {'C', "char"}, {'D', "double"}, {'F', "float"}, {'I', "int"},
		{'J', "long"}, {'S', "short"}, {'Z', "boolean"}, {'V', "void"}};
	size_t n_arrays = strspn(*p, "["), i = 0;

	*p += n_arrays;
	if (**p == 'L') {
		(*p)++;
		if (!take_class(p, text))
			return false;
	} else {
		while (i < ARRAY_SIZE(types) && types[i].letter != **p)
			i++;
		if (i == ARRAY_SIZE(types))
			return false;
		str_add(text, types[i].word);
		(*p)++;
	}
	while (n_arrays--)
		str_add(text, "[]");
	return true;
}

/* Parses (types)type. */
static bool take_parameters(const char **p, struct str *parameters, struct str *result)
{
	if (*(*p)++ != '(')
		return false;
	str_addc(parameters, '(');
	for (bool is_first = true; **p && **p != ')'; is_first = false) {
		if (!is_first)
			str_add(parameters, ", ");
		if (!take_type(p, parameters))
			return false;
	}
	if (*(*p)++ != ')')
		return false;
	str_addc(parameters, ')');
	return take_type(p, result) && !**p;
}

bool mangled_java(const char *name, bool with_parameters, struct str *text)
{
	struct str method = {0}, parameters = {0}, result = {0};
	const char *p = name + 1;
	bool is_java = *name == 'L' && take_class(&p, &method);

	if (is_java) {
		size_t n;

		p += 2 * (p[0] == ':' && p[1] == ':');
		n = strcspn(p, "(");
		str_addc(&method, '.');
		str_addn(&method, p, n);
		p += n;
		is_java = n && (!*p || take_parameters(&p, &parameters, &result));
	}
	if (is_java && with_parameters && result.n)
		str_addf(text, "%s ", result.at);
	if (is_java)
		str_add(text, method.at);
	if (is_java && with_parameters)
		str_add(text, str_text(&parameters));
	str_fini(&method);
	str_fini(&parameters);
	str_fini(&result);
	return is_java;
}
