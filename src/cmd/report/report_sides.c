#include "cmd/report/report_sides.h"

static const struct report_level *top_of(const struct browse *b)
{
	return report_levels_top(&b->levels);
}

/* Nothing is added where it can be done. */
static void add_refusal(const struct browse *b, struct str *why)
{
	if (top_of(b)->answer.text->is_wall)
		str_add(why, "time on and off the CPU is in columns already");
	else if (top_of(b)->answer.profile->events.n < 2)
		str_add(why, "the recording has one event");
	else if (top_of(b)->options.answer.has_intervals)
		str_add(why, "intervals are of one event: Esc or c takes them back first");
}

bool report_sides_offer(void *of, const struct browser_spot *at, struct str *title)
{
	const struct browse *b = of;
	const size_t before = title->n;

	(void)at;
	add_refusal(b, title);
	if (title->n > before)
		return false;
	str_add(title,
		answer_is_side_by_side(&top_of(b)->answer) ? "Show a table for each event"
			: top_of(b)->answer.has_groups ? "Show the events of a group side by side"
						       : "Show all events side by side");
	return true;
}

/* The same samples: nothing is read again. */
void report_sides_act(void *of, struct browser *screen, const struct browser_spot *at)
{
	struct browse *b = of;
	const bool are_together = answer_is_side_by_side(&top_of(b)->answer);
	struct report_level *level;
	struct err err;

	(void)at;
	if (report_browse_take_back(b, screen, 'g'))
		return;
	level = report_level_like(&b->levels, 'g');
	level->options.answer.groups = !are_together;
	str_add(&level->crumb, are_together ? "single events" : "side by side");
	report_levels_top(&b->levels)->line = screen->line;
	if (report_levels_put(&b->levels, level, &err)) {
		browser_say(screen, err.msg);
		return;
	}
	report_browse_show(b, screen);
	browser_say(screen, are_together ? "" : "o sorts by the next event");
}

bool report_sides_offer_list(void *of, const struct browser_spot *at, struct str *title)
{
	const struct browse *b = of;

	(void)at;
	if (answer_n_tables(&top_of(b)->answer) < 2) {
		str_add(title,
			answer_is_side_by_side(&top_of(b)->answer)
				? "all events are in this table: g shows them one by one"
				: "there is one table");
		return false;
	}
	str_add(title, "Choose the event from a list");
	return true;
}

static void choose(struct browser *screen, size_t table)
{
	struct browse *b = screen->source->of;

	if (table < screen->source->n)
		browser_show_table(screen, table);
	else
		report_sides_act(b, screen, NULL);
}

void report_sides_list(void *of, struct browser *screen, const struct browser_spot *at)
{
	const struct browse *b = of;
	const size_t n = answer_n_tables(&top_of(b)->answer);
	struct str title = {0};

	(void)at;
	browser_menu_clear(screen);
	for (size_t table = 0; table < n; table++) {
		str_cut(&title, 0);
		answer_add_table_name(&top_of(b)->answer, table, &title);
		browser_menu_add(screen, str_text(&title), table);
	}
	str_cut(&title, 0);
	if (report_sides_offer(of, NULL, &title))
		browser_menu_add(screen, str_text(&title), n);
	browser_menu_show(screen, "Which event", choose);
	screen->choice = screen->table;
	str_fini(&title);
}
