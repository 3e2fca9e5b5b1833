#include "profile/tree/snapshot.h"

#include "profile/gather/argc.h"
#include "profile/tree/ignore.h"

void snapshot_init(struct snapshot *s, const struct aggregate *a, struct resolver *resolver,
	const struct snapshot_options *options)
{
	struct profile *p = &s->profile;

	profile_init(p, a->profile.labels);
	profile_merge(p, &a->profile);
	resolver_settle(resolver);
	naming_resolve(p, resolver, &options->naming);
	argc_remove(p);
	if (options->ignored_callees)
		ignore_callees(p, options->ignored_callees);
	if (options->filter)
		profile_filter_apply(p, options->filter);
	calls_init(&s->calls, p);
}

void snapshot_fini(struct snapshot *s)
{
	calls_fini(&s->calls);
	profile_fini(&s->profile);
}
