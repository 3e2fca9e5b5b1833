/*
 * http.h - asks a server: one POST, one answer of bounded size.
 *
 * libcurl is loaded when the first server is asked, so that it need not be installed where nobody has a fleet.
 * In       an address, what is sent, who asks
 * Out      the status and the text of the answer
 * Owns     the connection, which is kept between requests
 * Errors   ERR_UNSUPPORTED: no libcurl; ERR_LIMIT: the answer is longer than allowed; ERR_SYS: no answer, or only a part
 *          of it: whether the server did what it was asked for is not known. A status of 500 is no error here
 * Threads  one at a time for each struct http
 */
#ifndef PACE_FLEET_HTTP_H
#define PACE_FLEET_HTTP_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

enum http_packing { HTTP_PLAIN, HTTP_GZIP, HTTP_ZSTD };

/* Who asks; NULL: not said. */
struct http_login {
	const char *user, *password;
	const char *token; /* instead: "Authorization: Bearer" */
	const char *
		authority; /* a file of certificates that the server's is checked with; NULL: the system's */
};

struct http {
	void *handle;
	struct http_login login; /* borrowed */
	u64 n_sent, n_received;  /* bytes of bodies, as they travelled; received: unpacked */
	/* Asked about once a second while a question is out: true gives it up, which is an ERR_SYS. NULL: nobody asks. */
	bool (*is_over)(void *ctx);
	void *ctx;
};

struct http_question {
	const char *url;
	const char *text;
	size_t n;
	enum http_packing packing; /* `text` is not packed yet */
	u32 timeout_ms;
	size_t answer_most; /* bytes */
};

struct http_answer {
	long status;
	struct str text;
};

int http_open(struct http *h, const struct http_login *login, struct err *err);
void http_close(struct http *h);

/* The answer is cleared before; str_fini() its text. */
int http_ask(struct http *h, const struct http_question *q, struct http_answer *answer,
	struct err *err);

#endif
