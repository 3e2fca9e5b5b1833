#include "view/records/stats.h"

static u64 n_of(const struct session_tally *t, size_t type)
{
	return t->n_by_type[type] + (type == PERF_RECORD_COMPRESSED ? t->n_packed : 0) +
		(type == PERF_RECORD_COMPRESSED2 ? t->n_packed2 : 0);
}

void stats_add_text(const struct session *s, const u64 *n_by_event, bool skips_empty,
	struct str *text)
{
	const struct session_tally *t = &s->tally;
	u64 all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(t->n_by_type); i++)
		all += n_of(t, i);
	str_addf(text, "\nAggregated stats:\n%16s events: %10llu\n", "TOTAL",
		(unsigned long long)all);
	for (size_t k = 1; k <= ARRAY_SIZE(t->n_by_type); k++) {
		/* The first counter is for types beyond the last one. */
		size_t i = k % ARRAY_SIZE(t->n_by_type);
		const char *name = i ? record_type_name((u32)i) : "other";

		if (n_of(t, i) || (!skips_empty && name))
			str_addf(text, "%16s events: %10llu  (%4.1f%%)\n", name ? name : "unknown",
				(unsigned long long)n_of(t, i),
				100.0 * (double)n_of(t, i) / (double)MAX(all, (u64)1));
	}
	vec_each(e, &s->reader.events) {
		u64 n = n_by_event[e - s->reader.events.at];

		if (!n && skips_empty)
			continue;
		str_add_safe(text, e->name, strlen(e->name));
		str_addf(text, " stats:\n%16s events: %10llu\n", "SAMPLE", (unsigned long long)n);
	}
}
