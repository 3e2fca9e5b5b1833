#include "view/code/annotate.h"

#include "event/skid.h"

double annotate_share(const struct annotate_options *o, const struct assembly *a, size_t e,
	const struct annotation_count *count)
{
	const struct annotation_count *whole = o->is_global
		? &a->annotation->totals[e]
		: &a->annotation->counts.at[a->function->counts + e];
	u64 part = o->is_by_hits ? count->n_samples : count->period,
	    all = o->is_by_hits ? whole->n_samples : whole->period;

	return all ? 100.0 * (double)part / (double)all : 0;
}

const char *annotate_share_name(const struct annotate_options *o)
{
	static const char *const names[2][2] = {{"local period", "local hits"},
		{"global period", "global hits"}};

	return names[o->is_global][o->is_by_hits];
}

/* The words after an event's name; NULL: its samples show the instruction itself. */
static const char *skid_text(const struct event_attr *attr)
{
	static const char *const texts[] = {
		[SKID_NONE] = NULL,
		[SKID_ONE] =
			"has a constant skid of 1: the samples of a line were caused by the instruction before it",
		[SKID_TIMER] =
			"is not a precise event (skid): a line shows where the interrupt was taken; the time went into that instruction or one shortly before it",
		[SKID_DEBUGGER] =
			"stops after the access: on x86 the instruction before a sampled line made it",
		[SKID_SOME] =
			"is not precise (skid): the samples of a line were caused some instructions before it; :p makes the skid 1, :pp removes it where the CPU can",
	};

	return texts[skid_of(attr)];
}

void annotate_add_skid(const struct annotate_options *o, const struct assembly *a,
	const char *begin, struct str *text)
{
	size_t n = MIN(o->events->n, a->annotation->profile->events.n);

	for (size_t e = 0; e < n; e++) {
		const char *skid = skid_text(&o->events->at[e].attr);
		bool is_said = false;

		if (!a->annotation->counts.at[a->function->counts + e].n_samples || !skid)
			continue;
		for (size_t k = 0; k < e; k++)
			is_said |= a->annotation->counts.at[a->function->counts + k].n_samples &&
				skid_text(&o->events->at[k].attr) == skid;
		if (is_said)
			continue;
		str_add(text, begin);
		str_add_safe(text, o->events->at[e].name, strlen(o->events->at[e].name));
		str_addf(text, " %s\n", skid);
	}
}
