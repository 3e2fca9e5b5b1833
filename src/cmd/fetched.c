#include "cmd/fetched.h"

#include <time.h>

#include "base/clock.h"
#include "file/standin.h"
#include "profile/batch/batchbytes.h"
#include "profile/rows/key.h"

/* Labels among the keys: what is no key of its own. */
static int group_by_keys(struct fleetquery *q, const char *sort, bool has_comms, struct err *err)
{
	struct str word = {0};
	int result = has_comms ? fleetquery_group_by(q, "comm", err) : 0;

	for (const char *at = sort ? sort : ""; !result && *at;) {
		const size_t n = strcspn(at, ", +");

		str_clear(&word);
		str_addn(&word, at, n);
		if (n && (!strcmp(str_text(&word), "comm") || !key_find(at, n)))
			result = fleetquery_group_by(q, str_text(&word), err);
		at += n + (at[n] != '\0');
	}
	str_fini(&word);
	return result;
}

static int keep(const char *name, const struct batch *b, struct err *err)
{
	struct batch_writer writer = {0};
	struct str bytes = {0};

	if (!batch_write(&writer, b, &bytes, err))
		standin_add(name, bytes.at, bytes.n, err);
	batch_writer_fini(&writer);
	str_fini(&bytes);
	return err->code;
}

static int keep_all(const char *input, const struct fleetread *r, struct fetched_names *names,
	struct err *err)
{
	if (!names)
		return keep(input, &r->parts.at[0].batch, err);
	vec_each(part, &r->parts) {
		struct str name = {0};

		str_addf(&name, "%s%s%s", input, *part->name ? " " : "", part->name);
		vec_add(names, mem_strdup(str_text(&name)));
		str_fini(&name);
		if (keep(names->at[names->n - 1], &part->batch, err))
			return err->code;
	}
	return 0;
}

static int ask(const struct fetched_request *r, const struct fleeturl *url,
	const struct fleetquery *query, struct log *log, struct fleetread *ret, struct err *err)
{
	struct fleetserver server;

	if (fleetserver_prepare(&server, url, query->timeout_ms, err))
		return err->code;
	server.http.is_over = r->is_over;
	server.http.ctx = r->ctx;
	if (!fleetserver_ask_version(&server, err)) {
		server.log = log;
		fleetread(ret, &server, query, r->has_parts, log, err);
	}
	fleetserver_close(&server);
	return err->code;
}

int fetched_read(const struct fetched_request *r, struct log *log, struct fleetread *ret,
	struct err *err)
{
	struct fleeturl url;
	struct fleetquery query = {0};

	*err = (struct err){0};
	*ret = (struct fleetread){0};
	if (!fleeturl_parse(&url, r->input, err) && !fleeturl_login(&url, NULL, err) &&
		!fleetquery_parse(&query, &url, r->from, clock_ns_of(CLOCK_REALTIME), err) &&
		!group_by_keys(&query, r->sort, r->has_comms, err))
		ask(r, &url, &query, log, ret, err);
	fleetquery_fini(&query);
	fleeturl_fini(&url);
	return err->code;
}

static int fetch(const struct fetched_request *r, struct log *log, struct fetched_names *names,
	struct err *err)
{
	struct fleetread read;

	if (!fetched_read(r, log, &read, err))
		keep_all(r->input, &read, names, err);
	fleetread_fini(&read);
	return err->code;
}

int fetched_input(const char *input, const char *sort, bool has_comms, struct log *log,
	struct err *err)
{
	if (!fleeturl_is(input) || standin_is(input))
		return 0;
	return fetch(
		&(struct fetched_request){.input = input, .sort = sort, .has_comms = has_comms},
		log, NULL, err);
}

int fetched_parts(const char *input, const char *sort, bool has_comms, struct log *log,
	struct fetched_names *names, struct err *err)
{
	if (!fleeturl_is(input)) {
		vec_add(names, input);
		return 0;
	}
	return fetch(&(struct fetched_request){.input = input,
			     .sort = sort,
			     .has_comms = has_comms,
			     .has_parts = true},
		log, names, err);
}
