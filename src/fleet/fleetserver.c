#include "fleet/fleetserver.h"

#include "base/clock.h"
#include "base/num.h"

enum {
	WORDS_MOST = 64 << 10, /* of an answer that has no rows */
	VERSION_TOKENS = 2202, /* inserts are told apart by a token from here on */
	VERSION_ZSTD = 2010,
};

static void add_parameter(struct str *url, const char *key, const char *value)
{
	str_addf(url, "%c%s=", url->at[url->n - 1] == '/' ? '?' : '&', key);
	for (const char *c = value; *c; c++)
		if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
			(*c >= '0' && *c <= '9') || strchr("-_.", *c))
			str_addc(url, *c);
		else
			str_addf(url, "%%%02x", (u8)*c);
}

static struct str url_of(const struct fleetserver *s)
{
	struct str url = {0};

	str_add(&url, s->url->server);
	add_parameter(&url, "database", s->url->database);
	return url;
}

/* What the server says of why it refuses: the first line, without its own name for it. */
static int refusal(const struct fleetserver *s, struct err *err)
{
	const char *text = str_text(&s->answer.text), *end = strstr(text, ", e.what()");
	size_t n = strcspn(text, "\r\n");

	if (end && (size_t)(end - text) < n)
		n = (size_t)(end - text);
	if (s->answer.status == 401 || s->answer.status == 403)
		return err_set(err, ERR_INVAL,
			"'%s' does not accept who asks (status %ld): PACE_FLEET_USER with PACE_FLEET_PASSWORD_FILE, or PACE_FLEET_TOKEN_FILE, say who it is: %.*s",
			s->url->server, s->answer.status, (int)MIN(n, (size_t)200), text);
	return err_set(err, ERR_INVAL, "'%s' answers with status %ld%s%.*s", s->url->server,
		s->answer.status, n ? ": " : " and no reason", (int)MIN(n, (size_t)400), text);
}

/* Of another program, or cut. */
static bool is_refused_for_good(const struct fleetserver *s)
{
	const long status = s->answer.status;

	return status >= 300 && status < 500 && status != 408 && status != 429;
}

/* ---- questions ---- */

static int ask(struct fleetserver *s, const struct http_question *q, struct err *err)
{
	if (http_ask(&s->http, q, &s->answer, err))
		return err_prefix(err, "'%s'", s->url->server);
	return 0;
}

int fleetserver_select(struct fleetserver *s, const char *query, const char *format, size_t most,
	struct err *err)
{
	struct str url = url_of(s);
	const u64 began_ns = clock_now_ns();
	int result;

	add_parameter(&url, "default_format", format);
	/* An error in the middle must not look like an answer. */
	add_parameter(&url, "wait_end_of_query", "1");
	add_parameter(&url, "enable_http_compression", "1");
	add_parameter(&url, "skip_unavailable_shards", "1");
	/* Lists of minutes and of stacks. */
	add_parameter(&url, "max_query_size", "4000000");
	result = ask(s,
		&(struct http_question){.url = str_text(&url),
			.text = query,
			.n = strlen(query),
			.timeout_ms = s->timeout_ms,
			.answer_most = most},
		err);
	str_fini(&url);
	if (!result && s->answer.status != 200)
		result = refusal(s, err);
	if (!result)
		log_debug(s->log, "%.1f ms, %zu bytes: %.400s",
			(double)(clock_now_ns() - began_ns) / 1e6, s->answer.text.n, query);
	return result;
}

enum fleetserver_outcome fleetserver_insert(struct fleetserver *s, const char *table,
	const struct str *rows, u64 token, struct err *err)
{
	struct str url = url_of(s), words = {0};
	int result;

	str_addf(&words, "INSERT INTO %s FORMAT JSONEachRow", table);
	add_parameter(&url, "query", str_text(&words));
	/* Answered when all servers of a cluster have it. */
	add_parameter(&url, "insert_distributed_sync", "1");
	if (s->version >= VERSION_TOKENS) {
		str_clear(&words);
		num_add_hex(&words, token, 16);
		add_parameter(&url, "insert_deduplication_token", str_text(&words));
		add_parameter(&url, "deduplicate_blocks_in_dependent_materialized_views", "1");
	}
	result = ask(s,
		&(struct http_question){.url = str_text(&url),
			.text = str_text(rows),
			.n = rows->n,
			.packing = s->version >= VERSION_ZSTD ? HTTP_ZSTD : HTTP_GZIP,
			.timeout_ms = s->timeout_ms,
			.answer_most = WORDS_MOST},
		err);
	str_fini(&url);
	str_fini(&words);
	if (result)
		return result == ERR_LIMIT ? FLEETSERVER_REFUSED : FLEETSERVER_UNCLEAR;
	if (s->answer.status == 200 && !s->answer.text.n)
		return FLEETSERVER_DONE;
	if (s->answer.status == 200) {
		err_set(err, ERR_INVAL, "'%s' answers, but not as ClickHouse does", s->url->server);
		return FLEETSERVER_REFUSED;
	}
	refusal(s, err);
	return is_refused_for_good(s) ? FLEETSERVER_REFUSED : FLEETSERVER_UNCLEAR;
}

/* ---- beginning ---- */

/* "18.16.1" */
static u32 version_of(const char *text)
{
	u64 major, minor;

	if (!num_scan(&text, 10, &major) || *text++ != '.' || !num_scan(&text, 10, &minor) ||
		major > 10000 || minor > 99)
		return 0;
	return (u32)(major * 100 + minor);
}

int fleetserver_prepare(struct fleetserver *s, const struct fleeturl *url, u32 timeout_ms,
	struct err *err)
{
	*s = (struct fleetserver){.url = url, .timeout_ms = timeout_ms};
	return http_open(&s->http, &url->login, err);
}

int fleetserver_ask_version(struct fleetserver *s, struct err *err)
{
	if (fleetserver_select(s, "SELECT version()", "TabSeparated", WORDS_MOST, err))
		return err->code;
	s->version = version_of(str_text(&s->answer.text));
	return s->version
		? 0
		: err_set(err, ERR_INVAL, "'%s' answers, but is no ClickHouse", s->url->server);
}

int fleetserver_open(struct fleetserver *s, const struct fleeturl *url, u32 timeout_ms,
	struct err *err)
{
	if (!fleetserver_prepare(s, url, timeout_ms, err) && !fleetserver_ask_version(s, err))
		return 0;
	fleetserver_close(s);
	return err->code;
}

void fleetserver_close(struct fleetserver *s)
{
	http_close(&s->http);
	str_fini(&s->answer.text);
}

void fleetserver_quote(struct str *sql, const char *text)
{
	str_addc(sql, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			str_addc(sql, '\\');
		str_addc(sql, *text);
	}
	str_addc(sql, '\'');
}
