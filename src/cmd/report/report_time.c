#include "cmd/report/report_time.h"

#include "view/screen/timestrip.h"

enum { SAMPLES_MOST = 1000000, NS_PER_S = 1000000000 };

bool report_time_offer(void *of, const struct browser_spot *at, struct str *title)
{
	const struct browse *b = of;
	const bool has_trace = recorded_has_trace(&b->reporting->recorded);

	(void)at;
	str_add(title,
		has_trace
			? "Show when the samples were taken, and choose a range of time"
			: "a profile of another program does not say when its samples were taken");
	return has_trace;
}

/* The samples of the event that is shown. */
static void add_samples(struct timestrip *strip, const struct profile *p, u32 event)
{
	const struct timeline *t = p->timeline;

	vec_each(thread, &t->threads)
		timestrip_add_lane(strip, thread->comm, thread->tid);
	vec_each(sample, &t->at)
		if (p->events.n == 1 || p->rows.at[sample->row].event == event)
			timestrip_add(strip, sample->time, sample->thread, sample->n);
}

/* The samples of a range, as --time A,B has them. */
static void show_range(struct browse *b, struct browser *screen, const struct timestrip *strip)
{
	struct report_level *level = report_level_like(&b->levels, 'T');

	str_addf(&level->time, "%llu.%09llu,%llu.%09llu",
		(unsigned long long)strip->from / NS_PER_S,
		(unsigned long long)strip->from % NS_PER_S,
		(unsigned long long)strip->to / NS_PER_S, (unsigned long long)strip->to % NS_PER_S);
	level->options.time = str_text(&level->time);
	str_addf(&level->crumb, "time %s", str_text(&level->time));
	report_browse_read(b, screen, level);
}

void report_time_act(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct browse *b = of;
	struct report_level *level = report_level_like(&b->levels, 'T');
	const u32 event = report_spot_event(b, screen);
	struct timestrip strip;

	(void)at;
	timestrip_init(&strip, str_text(&b->title));
	level->timeline_most = SAMPLES_MOST;
	if (report_browse_get(b, screen, level) && level->reporting->recorded.profile.timeline) {
		zoom_keep(&level->reporting->recorded.profile, &level->reporting->calls,
			level->zooms.at, level->zooms.n);
		add_samples(&strip, &level->reporting->recorded.profile, event);
		browser_say(screen, "");
	}
	report_level_drop(level);
	if (!strip.samples.n) {
		if (!screen->message.n)
			browser_say(screen,
				"the recording does not say when these samples were taken");
	} else if (screen->screen && timestrip_run(&strip, screen->screen)) {
		show_range(b, screen, &strip);
	}
	timestrip_fini(&strip);
}
