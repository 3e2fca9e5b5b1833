#include "cmd/fetched.h"

#include <time.h>

#include "base/clock.h"
#include "file/standin.h"
#include "fleet/fleetread.h"
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

static int fetch(const char *input, const char *sort, bool has_comms, struct log *log,
	struct fetched_names *names, struct err *err)
{
	struct fleeturl url;
	struct fleetquery query = {0};
	struct fleetserver server = {0};
	struct fleetread read = {0};

	*err = (struct err){0};
	if (!fleeturl_parse(&url, input, err) && !fleeturl_login(&url, NULL, err) &&
		!fleetquery_parse(&query, &url, clock_ns_of(CLOCK_REALTIME), err) &&
		!group_by_keys(&query, sort, has_comms, err) &&
		!fleetserver_open(&server, &url, query.timeout_ms, err)) {
		server.log = log;
		if (!fleetread(&read, &server, &query, names != NULL, log, err))
			keep_all(input, &read, names, err);
		fleetread_fini(&read);
		fleetserver_close(&server);
	}
	fleetquery_fini(&query);
	fleeturl_fini(&url);
	return err->code;
}

int fetched_input(const char *input, const char *sort, bool has_comms, struct log *log,
	struct err *err)
{
	if (!fleeturl_is(input) || standin_is(input))
		return 0;
	return fetch(input, sort, has_comms, log, NULL, err);
}

int fetched_parts(const char *input, const char *sort, bool has_comms, struct log *log,
	struct fetched_names *names, struct err *err)
{
	if (!fleeturl_is(input)) {
		vec_add(names, input);
		return 0;
	}
	return fetch(input, sort, has_comms, log, names, err);
}
