#include "fleet/http.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <zstd.h>

#include "base/gzip.h"

/* ---- libcurl, whose header need not be installed: these numbers never change ---- */

enum curl_option {
	CURL_WRITE_TO = 10001,
	CURL_URL = 10002,
	CURL_ERROR_TEXT = 10010,
	CURL_POST_FIELDS = 10015,
	CURL_USER_AGENT = 10018,
	CURL_HEADERS = 10023,
	CURL_PROGRESS_OF = 10057,
	CURL_AUTHORITY = 10065,
	CURL_ACCEPT_ENCODING = 10102,
	CURL_USER = 10173,
	CURL_PASSWORD = 10174,
	CURL_WRITE = 20011,
	CURL_PROGRESS = 20219,
	CURL_POST_SIZE = 30120,
	CURL_NO_PROGRESS = 43,
	CURL_NO_SIGNAL = 99,
	CURL_TIMEOUT_MS = 155,
	CURL_CONNECT_MS = 156,
	CURL_PROTOCOLS = 181,
	CURL_STATUS = 0x200000 + 2, /* of curl_easy_getinfo() */
};

enum {
	HTTP_AND_HTTPS = 3,
	GLOBAL_ALL = 3,
	ABORTED_BY_US = 42,
	ERROR_BYTES = 256,
	CONNECT_MS = 5000
};

#define FUNCTIONS(X)                                    \
	X(easy_init, void *, (void))                    \
	X(easy_setopt, int, (void *, int, ...))         \
	X(easy_getinfo, int, (void *, int, ...))        \
	X(easy_perform, int, (void *))                  \
	X(easy_cleanup, void, (void *))                 \
	X(easy_reset, void, (void *))                   \
	X(easy_strerror, const char *, (int))           \
	X(global_init, int, (long))                     \
	X(slist_append, void *, (void *, const char *)) \
	X(slist_free_all, void, (void *))

static struct {
#define MEMBER(name, type, parameters) type(*name) parameters;
	FUNCTIONS(MEMBER)
	char why[512]; /* why it could not be loaded; "" if it was */
} curl;

static void *load_some(void)
{
	/* The same library, with another one for TLS. */
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
	void *handle = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !handle; i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return handle;
}

static void load(void)
{
	void *handle = load_some();
	const char *lacks = NULL;

	if (!handle) {
		snprintf(curl.why, sizeof(curl.why),
			"libcurl.so.4 cannot be loaded (%s): install it (package libcurl4)",
			dlerror());
		return;
	}
#define FIND(name, type, parameters)                         \
	*(void **)&curl.name = dlsym(handle, "curl_" #name); \
	lacks = curl.name ? lacks : #name;
	FUNCTIONS(FIND)
	if (lacks)
		snprintf(curl.why, sizeof(curl.why), "libcurl.so.4 lacks curl_%s()", lacks);
	else if (curl.global_init(GLOBAL_ALL))
		snprintf(curl.why, sizeof(curl.why), "libcurl.so.4 cannot be initialized");
}

int http_open(struct http *h, const struct http_login *login, struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	*h = (struct http){0};
	if (login)
		h->login = *login;
	pthread_once(&once, load);
	if (curl.why[0])
		return err_set(err, ERR_UNSUPPORTED, "%s", curl.why);
	h->handle = curl.easy_init();
	return h->handle ? 0 : err_set(err, ERR_SYS, "libcurl.so.4 cannot be used");
}

void http_close(struct http *h)
{
	if (h->handle)
		curl.easy_cleanup(h->handle);
	*h = (struct http){0};
}

/* ---- one question ---- */

struct receiving {
	struct str *text;
	size_t most;
	bool is_too_long;
};

static size_t receive(const char *at, size_t size, size_t n, void *ctx)
{
	struct receiving *r = ctx;

	n *= size;
	if (n > r->most - r->text->n) {
		r->is_too_long = true;
		return 0;
	}
	str_addn(r->text, at, n);
	return n;
}

static void pack(const struct http_question *q, struct str *packed)
{
	enum { QUICK = 3 };
	size_t room, n;

	if (q->packing == HTTP_GZIP) {
		gzip_add(q->text, q->n, packed);
		return;
	}
	room = ZSTD_compressBound(q->n);
	str_reserve(packed, room);
	n = ZSTD_compress(packed->at, room, q->text, q->n, QUICK);
	packed->n = ZSTD_isError(n) ? 0 : n;
}

static void *headers_of(const struct http *h, const struct http_question *q)
{
	/* No type that makes a server look for a form; and no pause before the body is sent. */
	void *list = curl.slist_append(NULL, "Content-Type: application/octet-stream");
	struct str token = {0};

	list = curl.slist_append(list, "Expect:");
	if (q->packing != HTTP_PLAIN)
		list = curl.slist_append(list,
			q->packing == HTTP_GZIP ? "Content-Encoding: gzip"
						: "Content-Encoding: zstd");
	if (h->login.token) {
		str_addf(&token, "Authorization: Bearer %s", h->login.token);
		list = curl.slist_append(list, str_text(&token));
	}
	str_fini(&token);
	return list;
}

/* Not zero: the question is given up. */
static int watch(void *ctx, int64_t to_come, int64_t came, int64_t to_go, int64_t gone)
{
	const struct http *h = ctx;

	(void)to_come;
	(void)came;
	(void)to_go;
	(void)gone;
	return h->is_over(h->ctx);
}

static void prepare(struct http *h, const struct http_question *q)
{
	curl.easy_reset(h->handle);
	if (h->is_over) {
		curl.easy_setopt(h->handle, CURL_NO_PROGRESS, 0L);
		curl.easy_setopt(h->handle, CURL_PROGRESS_OF, h);
		curl.easy_setopt(h->handle, CURL_PROGRESS, watch);
	}
	curl.easy_setopt(h->handle, CURL_NO_SIGNAL, 1L);
	curl.easy_setopt(h->handle, CURL_PROTOCOLS, (long)HTTP_AND_HTTPS);
	curl.easy_setopt(h->handle, CURL_URL, q->url);
	curl.easy_setopt(h->handle, CURL_USER_AGENT, "pace");
	curl.easy_setopt(h->handle, CURL_ACCEPT_ENCODING, "");
	curl.easy_setopt(h->handle, CURL_CONNECT_MS, (long)MIN(q->timeout_ms, (u32)CONNECT_MS));
	curl.easy_setopt(h->handle, CURL_TIMEOUT_MS, (long)MAX(q->timeout_ms, 1u));
	if (h->login.authority)
		curl.easy_setopt(h->handle, CURL_AUTHORITY, h->login.authority);
	if (h->login.user && !h->login.token)
		curl.easy_setopt(h->handle, CURL_USER, h->login.user);
	if (h->login.password && !h->login.token)
		curl.easy_setopt(h->handle, CURL_PASSWORD, h->login.password);
}

int http_ask(struct http *h, const struct http_question *q, struct http_answer *answer,
	struct err *err)
{
	struct receiving receiving = {&answer->text, q->answer_most, false};
	char why[ERROR_BYTES] = "";
	struct str packed = {0};
	void *headers = headers_of(h, q);
	int result;

	answer->status = 0;
	str_clear(&answer->text);
	if (q->packing != HTTP_PLAIN)
		pack(q, &packed);
	prepare(h, q);
	curl.easy_setopt(h->handle, CURL_HEADERS, headers);
	curl.easy_setopt(h->handle, CURL_POST_SIZE,
		(int64_t)(q->packing == HTTP_PLAIN ? q->n : packed.n));
	curl.easy_setopt(h->handle, CURL_POST_FIELDS,
		q->packing == HTTP_PLAIN ? q->text : str_text(&packed));
	curl.easy_setopt(h->handle, CURL_WRITE, receive);
	curl.easy_setopt(h->handle, CURL_WRITE_TO, &receiving);
	curl.easy_setopt(h->handle, CURL_ERROR_TEXT, why);
	result = curl.easy_perform(h->handle);
	curl.easy_setopt(h->handle, CURL_ERROR_TEXT, NULL);
	curl.easy_getinfo(h->handle, CURL_STATUS, &answer->status);
	h->n_sent += q->packing == HTTP_PLAIN ? q->n : packed.n;
	h->n_received += answer->text.n;
	curl.slist_free_all(headers);
	str_fini(&packed);
	if (receiving.is_too_long)
		return err_set(err, ERR_LIMIT, "the answer has more than %zu bytes",
			q->answer_most);
	if (result == ABORTED_BY_US)
		return err_set(err, ERR_SYS, "given up before it answered");
	if (result)
		return err_set(err, ERR_SYS, "%s", why[0] ? why : curl.easy_strerror(result));
	return 0;
}
