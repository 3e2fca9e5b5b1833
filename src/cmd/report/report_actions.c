#include "cmd/report/report_actions.h"

#include <string.h>

#include "cmd/report/report_annotate.h"
#include "cmd/report/report_files.h"
#include "cmd/report/report_sides.h"
#include "cmd/report/report_source.h"
#include "cmd/report/report_spot.h"
#include "cmd/report/report_time.h"
#include "profile/rows/key.h"
#include "view/rows/stackrows.h"
#include "view/screen/flameview.h"
#include "view/screen/working.h"

u32 report_spot_event(const struct browse *b, const struct browser *screen)
{
	const struct hist *h = &b->table->hist;

	return h->events[MIN(screen->part, h->n_events - 1)].event;
}

static const struct profile *profile_of(const struct browse *b)
{
	return &b->reporting->recorded.profile;
}

/* ---- rows with the same name ---- */

static const struct hist *hist_of(const void *of)
{
	return &((const struct browse *)of)->table->hist;
}

static bool offer_filter(void *of, const struct browser_spot *at, struct str *title)
{
	if (!spot_has_function(hist_of(of), at, title))
		return false;
	str_addf(title, "Show only rows of %s", spot_function_of(hist_of(of), at)->name);
	return true;
}

static void filter(void *of, struct browser *b, const struct browser_spot *at)
{
	struct str pattern = {0};

	namesearch_add_name(spot_function_of(hist_of(of), at)->name, &pattern);
	browser_search(b, str_text(&pattern));
	str_fini(&pattern);
}

/* ---- zooms ---- */

static void zoom_into(struct browse *b, struct browser *screen, u32 key, struct zoom *zoom)
{
	struct report_level *below = report_levels_top(&b->levels);
	struct err err;

	below->line = screen->line;
	if (report_levels_zoom(&b->levels, key, zoom, &err)) {
		browser_say(screen, err.msg);
	} else if (!report_levels_top(&b->levels)->answer.profile->rows.n) {
		report_level_drop(report_levels_pop(&b->levels));
		browser_say(screen,
			"no sample was taken in it, only in what it called: z shows that");
	} else {
		report_browse_show(b, screen);
	}
	zoom_fini(zoom);
}

static bool offer_dso(void *of, const struct browser_spot *at, struct str *title)
{
	return spot_offer_dso(hist_of(of), at, title);
}

static void zoom_dso(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct zoom zoom = spot_dso(hist_of(of), at);

	zoom_into(of, screen, 'd', &zoom);
}

static bool offer_thread(void *of, const struct browser_spot *at, struct str *title)
{
	return spot_offer_thread(hist_of(of), at, title);
}

static void zoom_thread(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct zoom zoom;

	if (spot_thread(hist_of(of), at, &zoom))
		zoom_into(of, screen, 't', &zoom);
}

static bool offer_function(void *of, const struct browser_spot *at, struct str *title)
{
	return spot_offer_stacks(hist_of(of), at, title);
}

static void zoom_function(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct zoom zoom = spot_stacks(hist_of(of), at);

	zoom_into(of, screen, 'z', &zoom);
}

/* ---- the same recording, read in another way ---- */

struct reading {
	struct report_levels *levels;
	struct report_level *level;
	bool has_failed;
	struct err err;
};

static void read_level(void *of)
{
	struct reading *r = of;

	r->has_failed = report_level_read(r->levels, r->level, &r->err);
}

bool report_browse_get(struct browse *b, struct browser *screen, struct report_level *level)
{
	struct reading reading = {.levels = &b->levels, .level = level};

	if (!working_run(screen, "reading", read_level, &reading))
		return false;
	if (reading.has_failed)
		browser_say(screen, reading.err.msg);
	return !reading.has_failed;
}

static void put(struct browse *b, struct browser *screen, struct report_level *level)
{
	struct err err;

	report_levels_top(&b->levels)->line = screen->line;
	if (report_levels_put(&b->levels, level, &err)) {
		browser_say(screen, err.msg);
		return;
	}
	report_browse_show(b, screen);
	browser_say(screen, str_text(&b->levels.said));
}

void report_browse_read(struct browse *b, struct browser *screen, struct report_level *level)
{
	if (report_browse_get(b, screen, level))
		put(b, screen, level);
	else
		report_level_drop(level);
}

void report_browse_choose(struct browse *b, struct browser *screen, struct report_level *level)
{
	str_cut(&b->levels.said, 0);
	if (report_levels_suffice(&b->levels, level))
		put(b, screen, level);
	else
		report_browse_read(b, screen, level);
}

static bool offer_always(const char *what, struct str *title)
{
	str_add(title, what);
	return true;
}

static bool offer_confidence(void *of, const struct browser_spot *at, struct str *title)
{
	const struct browse *b = of;

	(void)at;
	return offer_always(report_levels_top(&b->levels)->options.answer.has_intervals
			? "Show rows without the intervals of shares"
			: "Show the 95% confidence intervals of shares",
		title);
}

static void show_confidence(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct browse *b = of;
	struct report_level *level;

	(void)at;
	if (report_browse_take_back(b, screen, 'c'))
		return;
	level = report_level_like(&b->levels, 'c');
	level->options.answer.has_intervals = !level->options.answer.has_intervals;
	str_add(&level->crumb, level->options.answer.has_intervals ? "intervals" : "no intervals");
	report_browse_read(b, screen, level);
}

static bool offer_branches(void *of, const struct browser_spot *at, struct str *title)
{
	const struct browse *b = of;

	(void)at;
	return offer_always(report_levels_top(&b->levels)->choice->keys.has_branches
			? "Show samples instead of branches"
			: "Show the branches that samples carry",
		title);
}

static void show_branches(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct browse *b = of;
	struct report_level *level;

	(void)at;
	if (report_browse_take_back(b, screen, 'b'))
		return;
	level = report_level_like(&b->levels, 'b');
	level->options.keys.branches = !report_levels_top(&b->levels)->choice->keys.has_branches;
	str_add(&level->crumb, level->options.keys.branches ? "branches" : "no branches");
	report_browse_read(b, screen, level);
}

static bool offer_callers(void *of, const struct browser_spot *at, struct str *title)
{
	const struct browse *b = of;
	const struct histrows_options *rows = &report_levels_top(&b->levels)->choice->rows;

	(void)at;
	str_add(title,
		!rows->has_graph                      ? "there are no call chains: record with -g"
			: rows->order == GRAPH_CALLER ? "Show below rows who called them"
						      : "Show below rows what they called");
	return rows->has_graph;
}

static void show_callers(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct browse *b = of;
	const bool are_callers = report_levels_top(&b->levels)->choice->rows.order == GRAPH_CALLER;
	struct report_level *level;

	(void)at;
	if (report_browse_take_back(b, screen, 'C'))
		return;
	level = report_level_like(&b->levels, 'C');
	level->options.is_inverted = false;
	level->options.graph.has_order = true;
	level->options.graph.order = are_callers ? GRAPH_CALLEE : GRAPH_CALLER;
	str_add(&level->crumb, are_callers ? "callers" : "calls");
	report_browse_choose(b, screen, level);
}

/* ---- the flame view ---- */

static bool offer_flames(void *of, const struct browser_spot *at, struct str *title)
{
	(void)of;
	(void)at;
	return offer_always("Show the calls as flames", title);
}

static void show_flames(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct browse *b = of;
	const struct report_level *top = report_levels_top(&b->levels);
	const u32 event = report_spot_event(b, screen);
	const char *name = top->answer.profile->events.at[event].name;
	struct stackrows stacks = {.is_one_recording = true,
		.are_imports = profile_of(b)->is_imported};
	struct str title = {0};

	(void)at;
	str_addf(&title, "%s  %s", name, str_text(&b->title));
	stackrows_add_part(&stacks, name, recorded_is_time(&b->reporting->recorded, event));
	stacks.n_parts = 1;
	stackrows_add(&stacks, top->answer.profile, top->answer.calls, event, 0);
	stackrows_finish(&stacks);
	if (!screen->screen)
		browser_say(screen, "there is no screen for it");
	else if (stacks.nodes.n > 1)
		flameview_run(&stacks.rows, str_text(&title), screen->screen);
	else
		browser_say(screen, "there are no samples");
	stackrows_fini(&stacks);
	str_fini(&title);
}

/* clang-format off: a row an action */
const struct browser_action report_actions[] = {
	{'a', "a", "show the code of the line's function, with its samples", report_annotate_offer,
		false, report_annotate_act},
	{'O', "O", "open the source of the line's function in VISUAL or EDITOR",
		report_source_offer, false, report_source_act},
	{'d', "d", "zoom into the line's file", offer_dso, false, zoom_dso},
	{'t', "t",
		"zoom into the row's thread, process or threads of this name, as rows are grouped",
		offer_thread, false, zoom_thread},
	{'z', "z", "zoom into the samples that have the line's function in their stacks",
		offer_function, false, zoom_function},
	{'*', "*", "show only rows of the line's function", offer_filter, false, filter},
	{'w', "w", "show the calls as flames, each as wide as its share", offer_flames, true,
		show_flames},
	{'T', "T", "show when the samples were taken, and choose a range of time",
		report_time_offer, true, report_time_act},
	{'C', "C", "show below rows who called them, or what they called", offer_callers, true,
		show_callers},
	{'c', "c", "show how certain shares are, or no longer", offer_confidence, true,
		show_confidence},
	{'b', "b", "show the branches that samples carry, or the samples", offer_branches, true,
		show_branches},
	{'v', "v", "choose one of several events from a list", report_sides_offer_list, true,
		report_sides_list},
	{'g', "g", "show several events side by side, or one by one", report_sides_offer, true,
		report_sides_act},
	{'s', "s", "show another recording of this folder", report_files_offer_other, true,
		report_files_open},
	{'D', "D", "compare the recording with another one of this folder", report_files_offer_diff,
		true, report_files_compare},
};
/* clang-format on */
const size_t n_report_actions = ARRAY_SIZE(report_actions);
