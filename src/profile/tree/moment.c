#include "profile/tree/moment.h"

#include "profile/gather/argc.h"
#include "profile/tree/ignore.h"

void moment_init(struct moment *s, const struct aggregate *a, struct resolver *resolver,
	const struct moment_options *options)
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

void moment_fini(struct moment *s)
{
	calls_fini(&s->calls);
	profile_fini(&s->profile);
}
