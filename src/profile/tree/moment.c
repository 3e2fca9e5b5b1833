#include "profile/tree/moment.h"

#include "event/abi.h"
#include "profile/gather/argc.h"
#include "profile/gather/idle.h"
#include "profile/tree/ignore.h"

static void count(struct moment *s)
{
	const struct profile *p = &s->profile;

	s->n_samples = s->n_idle;
	s->n_kernel = 0;
	vec_each(row, &p->rows) {
		const u8 mode = p->frames.at[row->frame].mode;

		s->n_samples += row->n_samples;
		if (mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL)
			s->n_kernel += row->n_samples;
	}
}

void moment_init(struct moment *s, const struct aggregate *a, struct resolver *resolver,
	const struct moment_options *options)
{
	struct profile *p = &s->profile;

	profile_init(p, a->profile.labels);
	profile_merge(p, &a->profile);
	resolver_settle(resolver);
	naming_resolve(p, resolver, &options->naming);
	argc_remove(p);
	s->n_idle = options->has_idle ? 0 : idle_remove(p);
	count(s);
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
