#include "profile/lookback.h"

#include "file/hardware.h"
#include "symbol/buildid.h"
#include "symbol/embedunion.h"

/* Stacks may be made of dumps or branches, and so callers be found nowhere else. */
static bool has_other_callers(const struct session *s)
{
	for (size_t i = 0; i < s->reader.events.n; i++)
		if (callers_has_source(&s->reader.formats.at[i]))
			return true;
	return false;
}

static int find_hits(struct lookback *b, const struct lookback_wishes *wishes, struct err *err)
{
	struct hits_options options = {.n_workers = wishes->n_workers,
		.has_places = wishes->has_places};

	if (wishes->has_places && has_other_callers(&b->session))
		options.callers = &b->callers;
	if (hits_find(&b->session, &b->machine, &options, &b->hits, err))
		return err->code;
	if (wishes->has_all)
		memset(b->hits.dsos, true, b->machine.dsos.at.n);
	return 0;
}

int lookback_open(struct lookback *b, const char *path, const struct lookback_wishes *wishes,
	struct log *log, struct err *err)
{
	const struct file_info *info;
	int r;

	memset(b, 0, sizeof(*b));
	b->n_workers = wishes->n_workers;
	if (session_open(&b->session, path, log, err))
		return err->code;
	info = &b->session.reader.info;
	jitcode_init(&b->jitcode, &b->session.reader.events, NULL, log);
	r = machine_scan_coded(&b->machine, &b->session,
		wishes->has_places ? &b->jitcode.coder : NULL, err);
	b->has_machine = true;
	if (!r) {
		resolver_init(&b->resolver, &b->machine, NULL, log);
		b->resolver.living.roots = wishes->roots;
		resolver_set_recording(&b->resolver, &b->session.reader, &b->jitcode, NULL);
		callers_init(&b->callers, &b->machine, &b->resolver.places, info->host.arch);
		b->callers.jitcode = &b->jitcode;
		b->callers.n_branches = hardware_branches(info);
		b->has_resolver = true;
		if (wishes->has_hits || wishes->has_places)
			r = find_hits(b, wishes, err);
	}
	if (r)
		lookback_close(b);
	return r;
}

void lookback_close(struct lookback *b)
{
	hits_fini(&b->hits);
	if (b->has_resolver) {
		callers_fini(&b->callers);
		resolver_fini(&b->resolver);
	}
	jitcode_fini(&b->jitcode);
	if (b->has_machine)
		machine_fini(&b->machine);
	session_close(&b->session);
	memset(b, 0, sizeof(*b));
}

void lookback_describe(struct lookback *b, struct file_info *info)
{
	if (b->hits.dsos)
		buildid_collect(&b->machine, b->hits.dsos, b->resolver.living.roots, info);
	vec_each(id, &info->build_ids)
		id->path = arena_strdup(&info->host.arena, id->path, strlen(id->path));
	info->first_time = b->session.tally.first_time;
	info->last_time = b->session.tally.last_time;
	info->has_times = info->last_time > 0;
	machine_set_build_ids(&b->machine, info);
}

int lookback_embed(struct lookback *b, const struct embedded *older,
	const struct embed_options *options, struct str *ret_section, struct embed_tally *ret_tally,
	struct err *err)
{
	struct embed_options how = *options;
	struct embedder out;
	int r = 0;

	if (has_other_callers(&b->session))
		how.callers = &b->callers;
	embedder_init(&out);
	embed_make(&out, &b->resolver, &b->hits, &how, ret_tally);
	if (embedded_is_there(older))
		embedunion_add(&out, older, 1);
	if (!embedder_is_empty(&out))
		r = embedder_finish(&out, ret_section, err);
	embedder_fini(&out);
	return r;
}
