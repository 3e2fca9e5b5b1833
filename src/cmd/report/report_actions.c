#include "cmd/report/report_actions.h"

#include <string.h>

#include "cmd/report/report_annotate.h"
#include "cmd/report/report_files.h"
#include "cmd/report/report_sides.h"
#include "cmd/report/report_source.h"
#include "cmd/report/report_time.h"
#include "profile/rows/key.h"
#include "view/rows/stackrows.h"
#include "view/screen/flameview.h"

u32 report_spot_symbol(const struct browse *b, const struct browser_spot *at)
{
	if (at->tree)
		return at->tree->nodes[at->node].symbol;
	return b->table->hist.entries.at[at->row].symbol;
}

u32 report_spot_event(const struct browse *b, const struct browser *screen)
{
	const struct hist *h = &b->table->hist;

	return h->events[MIN(screen->part, h->n_events - 1)].event;
}

static const struct profile *profile_of(const struct browse *b)
{
	return &b->reporting->recorded.profile;
}

/* NULL: the line is about no function or file. */
static const struct profile_symbol *symbol_of(const struct browse *b, const struct browser_spot *at)
{
	const u32 symbol = report_spot_symbol(b, at);

	return symbol ? &profile_of(b)->symbols.at[symbol] : NULL;
}

/* The name of the line's function; NULL: it has none. */
static const char *name_of(const struct browse *b, const struct browser_spot *at)
{
	const struct profile_symbol *s = symbol_of(b, at);

	return s ? s->name : NULL;
}

static bool is_grouped_by(const struct browse *b, enum key_frame frame)
{
	const struct hist_options *o = b->table->hist.options;

	for (size_t i = 0; i < o->n_keys; i++)
		if (o->keys[i]->frame == frame)
			return true;
	return false;
}

/* ---- rows with the same name ---- */

/* Rows that are files or threads have no function; calls below them have. */
bool report_spot_has_function(const struct browse *b, const struct browser_spot *at,
	struct str *title)
{
	if (name_of(b, at) && (at->tree || is_grouped_by(b, KEY_SYMBOL)))
		return true;
	str_add(title, "this line has no function with a name");
	return false;
}

static bool offer_filter(void *of, const struct browser_spot *at, struct str *title)
{
	if (!report_spot_has_function(of, at, title))
		return false;
	str_addf(title, "Show only rows of %s", name_of(of, at));
	return true;
}

static void filter(void *of, struct browser *b, const struct browser_spot *at)
{
	struct str pattern = {0};

	namesearch_add_name(name_of(of, at), &pattern);
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
	const struct browse *b = of;
	const struct profile_symbol *s = symbol_of(b, at);

	if (!s || !(at->tree || is_grouped_by(b, KEY_DSO) || is_grouped_by(b, KEY_SYMBOL))) {
		str_add(title, "this line is about no file");
		return false;
	}
	str_addf(title, "Zoom into the file %s", profile_of(b)->dsos.at[s->dso].name);
	return true;
}

static void zoom_dso(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct browse *b = of;
	struct zoom zoom = {.kind = ZOOM_DSO};

	str_add(&zoom.text, profile_of(b)->dsos.at[symbol_of(b, at)->dso].name);
	zoom_into(b, screen, 'd', &zoom);
}

/* The row's thread, process, or name of threads, as rows are grouped: false: they are by none. */
static bool thread_of(const struct browse *b, const struct browser_spot *at, struct zoom *ret)
{
	static const struct {
		enum profile_label label;
		enum zoom_kind kind;
	} ways[] = {{LABEL_TID, ZOOM_TID}, {LABEL_PID, ZOOM_PID}, {LABEL_COMM, ZOOM_COMM}};
	const struct hist *h = &b->table->hist;

	for (size_t way = 0; way < ARRAY_SIZE(ways); way++)
		for (size_t i = 0; i < h->options->n_keys; i++) {
			const struct key *key = h->options->keys[i];
			u64 label;

			if (key->label != ways[way].label || key->value)
				continue;
			label = hist_label(h, h->entries.at[at->row].group, key);
			*ret = (struct zoom){.kind = (u8)ways[way].kind};
			if (ways[way].kind != ZOOM_COMM)
				ret->number = label;
			else if (profile_text(label))
				str_add(&ret->text, profile_text(label));
			return true;
		}
	return false;
}

static bool offer_thread(void *of, const struct browser_spot *at, struct str *title)
{
	struct zoom zoom;

	if (!thread_of(of, at, &zoom)) {
		str_add(title, "rows are not by thread: -s comm, tid or pid");
		return false;
	}
	str_add(title, "Zoom into the ");
	zoom_add_text(&zoom, title);
	zoom_fini(&zoom);
	return true;
}

static void zoom_thread(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct zoom zoom;

	if (thread_of(of, at, &zoom))
		zoom_into(of, screen, 't', &zoom);
}

static bool offer_function(void *of, const struct browser_spot *at, struct str *title)
{
	if (!report_spot_has_function(of, at, title))
		return false;
	str_addf(title, "Zoom into samples with %s in their stacks", name_of(of, at));
	return true;
}

static void zoom_function(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct browse *b = of;
	const struct profile_symbol *s = symbol_of(b, at);
	struct zoom zoom = {.kind = ZOOM_FUNCTION};

	str_add(&zoom.text, s->name);
	str_add(&zoom.dso, profile_of(b)->dsos.at[s->dso].name);
	zoom_into(b, screen, 'z', &zoom);
}

/* ---- the same recording, read in another way ---- */

void report_browse_read(struct browse *b, struct browser *screen, struct report_level *level)
{
	struct err err;

	report_levels_top(&b->levels)->line = screen->line;
	browser_wait(screen, "reading ...");
	if (report_levels_read(&b->levels, level, &err)) {
		browser_say(screen, err.msg);
		return;
	}
	report_browse_show(b, screen);
	browser_say(screen, str_text(&b->levels.said));
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
	return offer_always(b->reporting->options->answer.has_intervals
			? "Show rows without the intervals of shares"
			: "Show the 95% confidence intervals of shares",
		title);
}

static void show_confidence(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct browse *b = of;
	struct report_level *level = report_level_like(&b->levels, 'c');

	(void)at;
	level->options.answer.has_intervals = !level->options.answer.has_intervals;
	str_add(&level->crumb, level->options.answer.has_intervals ? "intervals" : "no intervals");
	report_browse_read(b, screen, level);
}

static bool offer_branches(void *of, const struct browser_spot *at, struct str *title)
{
	const struct browse *b = of;

	(void)at;
	return offer_always(b->reporting->choice.keys.has_branches
			? "Show samples instead of branches"
			: "Show the branches that samples carry",
		title);
}

static void show_branches(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct browse *b = of;
	struct report_level *level = report_level_like(&b->levels, 'b');

	(void)at;
	level->options.keys.branches = !b->reporting->choice.keys.has_branches;
	str_add(&level->crumb, level->options.keys.branches ? "branches" : "no branches");
	report_browse_read(b, screen, level);
}

static bool offer_callers(void *of, const struct browser_spot *at, struct str *title)
{
	const struct browse *b = of;
	const struct histrows_options *rows = &b->reporting->choice.rows;

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
	struct report_level *level = report_level_like(&b->levels, 'C');
	const bool are_callers = b->reporting->choice.rows.order == GRAPH_CALLER;

	(void)at;
	level->options.is_inverted = false;
	level->options.graph.has_order = true;
	level->options.graph.order = are_callers ? GRAPH_CALLEE : GRAPH_CALLER;
	str_add(&level->crumb, are_callers ? "callers" : "calls");
	report_browse_read(b, screen, level);
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
