#include "fleet/fleeturl.h"

#include <stdlib.h>

#include "base/sysfile.h"

enum { SECRET_BYTES = 1 << 16 };

/* `is_read`: for reading. */
static const struct scheme {
	const char *begin, *as;
	u32 port; /* 0: that of the protocol */
} schemes[] = {
	{"clickhouse://", "http://", 8123},
	{"clickhouses://", "https://", 8443},
	{"http://", "http://", 0},
	{"https://", "https://", 0},
};

enum { N_READING = 2 };

static const struct scheme *scheme_of(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(text, schemes[i].begin, strlen(schemes[i].begin)))
			return &schemes[i];
	return NULL;
}

bool fleeturl_is(const char *text)
{
	return scheme_of(text, N_READING) != NULL;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9'    ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : -1;
}

/* The text without its escapes; NULL: they are wrong. */
static const char *decoded(struct fleeturl *u, const char *at, size_t n)
{
	char *out = arena_alloc(&u->arena, n + 1);
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (at[i] != '%') {
			out[k++] = at[i];
			continue;
		}
		if (i + 2 >= n || digit_of(at[i + 1]) < 0 || digit_of(at[i + 2]) < 0)
			return NULL;
		out[k] = (char)(digit_of(at[i + 1]) * 16 + digit_of(at[i + 2]));
		if (!out[k++])
			return NULL;
		i += 2;
	}
	out[k] = '\0';
	return out;
}

static int parse_words(struct fleeturl *u, const char *at, struct err *err)
{
	while (*at) {
		const size_t n = strcspn(at, "&"), key = strcspn(at, "=&");
		struct fleeturl_word word;

		if (key < n) {
			word.key = decoded(u, at, key);
			word.value = decoded(u, at + key + 1, n - key - 1);
			if (!word.key || !word.value)
				return err_set(err, ERR_INVAL,
					"'%s': a '%%' needs two digits behind it", u->text);
			if (!strcmp(word.key, "database"))
				u->database = word.value;
			else
				vec_add(&u->words, word);
		} else if (n) {
			return err_set(err, ERR_INVAL, "'%s': '%.*s' is not KEY=VALUE", u->text,
				(int)MIN(n, (size_t)60), at);
		}
		at += n + (at[n] == '&');
	}
	return 0;
}

/* USER@HOST:PORT */
static int parse_server(struct fleeturl *u, const struct scheme *scheme, const char *at, size_t n,
	struct err *err)
{
	const char *sign = memchr(at, '@', n), *bracket;
	struct str server = {0};
	bool has_port;

	if (sign) {
		if (memchr(at, ':', (size_t)(sign - at)))
			return err_set(err, ERR_INVAL,
				"the address has a password in it, which everybody on this machine can read: put it into a file and name it by PACE_FLEET_PASSWORD_FILE");
		u->login.user = decoded(u, at, (size_t)(sign - at));
		n -= (size_t)(sign + 1 - at);
		at = sign + 1;
	}
	if (!n || *at == ':')
		return err_set(err, ERR_INVAL, "'%s' names no host", u->text);
	bracket = memchr(at, ']', n);
	has_port = memchr(bracket ? bracket : at, ':', bracket ? n - (size_t)(bracket - at) : n);
	str_addf(&server, "%s%.*s", scheme->as, (int)n, at);
	if (!has_port && scheme->port)
		str_addf(&server, ":%u", scheme->port);
	str_addc(&server, '/');
	u->server = arena_strdup(&u->arena, server.at, server.n);
	str_fini(&server);
	return 0;
}

int fleeturl_parse(struct fleeturl *u, const char *text, struct err *err)
{
	const struct scheme *scheme = scheme_of(text, ARRAY_SIZE(schemes));
	const char *at;
	size_t n;

	*u = (struct fleeturl){.text = text, .database = "default"};
	if (!scheme)
		return err_set(err, ERR_INVAL,
			"'%.200s' is no address of a server: http://HOST:8123/, for example", text);
	for (const char *c = text; *c; c++)
		if (*c <= ' ' || *c > '~')
			return err_set(err, ERR_INVAL,
				"'%.200s': the address has a character that must be written as %%XX",
				text);
	at = text + strlen(scheme->begin);
	n = strcspn(at, "/?");
	if (parse_server(u, scheme, at, n, err))
		return err->code;
	at += n;
	if (*at == '/') {
		n = strcspn(++at, "/?");
		if (n)
			u->database = decoded(u, at, n);
		at += n;
		at += *at == '/';
	}
	if (!u->database || (*at && *at != '?'))
		return err_set(err, ERR_INVAL, "'%s': a database is one word behind the '/'", text);
	return *at ? parse_words(u, at + 1, err) : 0;
}

void fleeturl_fini(struct fleeturl *u)
{
	vec_fini(&u->words);
	arena_fini(&u->arena);
	*u = (struct fleeturl){0};
}

const char *fleeturl_word(const struct fleeturl *u, const char *key)
{
	const char *value = NULL;

	vec_each(word, &u->words)
		if (!strcmp(word->key, key))
			value = word->value;
	return value;
}

/* ---- secrets ---- */

static const char *of_environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* The first line of a file. */
static int read_secret(struct fleeturl *u, const char *path, const char **ret_secret,
	struct err *err)
{
	struct str text = {0};
	size_t n;

	if (sysfile_read(path, SECRET_BYTES, &text, err)) {
		str_fini(&text);
		return err->code;
	}
	n = strcspn(str_text(&text), "\r\n");
	if (n)
		*ret_secret = arena_strdup(&u->arena, text.at, n);
	else
		err_set(err, ERR_INVAL, "'%s' is empty: its first line is the secret", path);
	explicit_bzero(text.at, text.n);
	str_fini(&text);
	return n ? 0 : err->code;
}

int fleeturl_login(struct fleeturl *u, const struct fleeturl_secrets *s, struct err *err)
{
	static const struct fleeturl_secrets none;
	const char *password = s ? s->password_file : NULL, *token = s ? s->token_file : NULL;

	s = s ? s : &none;
	password = password ? password : of_environment("PACE_FLEET_PASSWORD_FILE");
	token = token ? token : of_environment("PACE_FLEET_TOKEN_FILE");
	if (s->user)
		u->login.user = s->user;
	if (!u->login.user)
		u->login.user = of_environment("PACE_FLEET_USER");
	u->login.authority = s->authority ? s->authority : of_environment("PACE_FLEET_CA");
	u->login.password = of_environment("PACE_FLEET_PASSWORD");
	u->login.token = of_environment("PACE_FLEET_TOKEN");
	if (password && read_secret(u, password, &u->login.password, err))
		return err->code;
	if (token && read_secret(u, token, &u->login.token, err))
		return err->code;
	if (u->login.password && !u->login.user && !u->login.token)
		u->login.user = "default";
	return 0;
}
