#include "cmd/which.h"

#include "event/abi.h"

int which_check_field(const struct session *s, const char *option, u64 field, const char *what,
	struct err *err)
{
	vec_each(e, &s->reader.events)
		if (!(e->attr.sample_type & field))
			return err_set(err, ERR_INVAL,
				"%s: the recording does not say %s its samples were taken", option,
				what);
	return 0;
}

int which_choose(struct which *w, const char *cpus, const char *time, const struct session *s,
	struct err *err)
{
	const struct file_info *info = &s->reader.info;

	*w = (struct which){0};
	if (cpus &&
		(which_check_field(s, "-C", PERF_SAMPLE_CPU, "on which CPU", err) ||
			cpus_parse(&w->cpus, cpus, err)))
		return err_prefix(err, "--cpu");
	if (time &&
		(which_check_field(s, "--time", PERF_SAMPLE_TIME, "when", err) ||
			spans_parse(&w->spans, time, info->first_time,
				info->has_times ? info->last_time : 0, err)))
		return err->code;
	return 0;
}

void which_fini(struct which *w)
{
	cpus_fini(&w->cpus);
	spans_fini(&w->spans);
}
