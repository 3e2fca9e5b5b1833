#include "edit/lookback.h"

#include "symbol/find/buildid.h"
#include "symbol/embed/embedunion.h"

static int find_hits(struct lookback *b, const struct lookback_wishes *wishes, struct err *err)
{
	const struct hits_options options = {.n_workers = wishes->n_workers,
		.has_places = wishes->has_places,
		.has_callers = trace_has_dumps(&b->trace)};

	if (hits_find(&b->trace, &options, &b->hits, err))
		return err->code;
	if (wishes->has_all)
		memset(b->hits.dsos, true, b->trace.machine.dsos.at.n);
	return 0;
}

int lookback_open(struct lookback *b, const char *path, const struct lookback_wishes *wishes,
	struct log *log, struct err *err)
{
	/* Embedded data is made from the files themselves, not from what was embedded before. */
	const struct trace_options options = {.ignores_embedded = true,
		.ignores_jit = !wishes->has_places,
		.roots = wishes->roots};
	int r;

	memset(b, 0, sizeof(*b));
	if (trace_open(&b->trace, path, log, err))
		return err->code;
	r = trace_scan(&b->trace, &options, err);
	if (!r && (wishes->has_hits || wishes->has_places))
		r = find_hits(b, wishes, err);
	if (r)
		lookback_close(b);
	return r;
}

void lookback_close(struct lookback *b)
{
	hits_fini(&b->hits);
	trace_close(&b->trace);
}

void lookback_describe(struct lookback *b, struct file_info *info)
{
	if (b->hits.dsos)
		buildid_collect(&b->trace.machine, b->hits.dsos, b->trace.files.liveproc.roots,
			info);
	vec_each(id, &info->build_ids)
		id->path = arena_strdup(&info->host.arena, id->path, strlen(id->path));
	info->first_time = b->trace.session.tally.first_time;
	info->last_time = b->trace.session.tally.last_time;
	info->has_times = info->last_time > 0;
	machine_set_build_ids(&b->trace.machine, info);
}

int lookback_embed(struct lookback *b, const struct embedded *older,
	const struct embed_options *options, struct str *ret_section, struct embed_tally *ret_tally,
	struct err *err)
{
	struct embed_options how = *options;
	struct embedder out;
	int r = 0;

	if (trace_has_dumps(&b->trace))
		how.callers = &b->trace.callers;
	embedder_init(&out);
	embed_make(&out, &b->trace.resolver, &b->hits, &how, ret_tally);
	if (embedded_is_there(older))
		embedunion_add(&out, older, 1);
	if (!embedder_is_empty(&out))
		r = embedder_finish(&out, ret_section, err);
	embedder_fini(&out);
	return r;
}
