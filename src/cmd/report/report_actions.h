/*
 * report_actions.h - what the browser of report can do with a line: the rows of its menu.
 *
 * In       the line of the cursor
 * Out      other views on the same screen, or other tables
 * Owns     nothing
 * Errors   are said in the last line of the screen
 */
#ifndef PACE_CMD_REPORT_ACTIONS_H
#define PACE_CMD_REPORT_ACTIONS_H

#include "cmd/report/report_levels.h"
#include "view/screen/browser.h"

/* The `of` of the browser's source. */
struct browse {
	struct reporting *reporting; /* of the level that is shown */
	struct report_levels levels;
	const struct answer_table *table; /* that is shown */
	struct browser_source source;
	struct browser_page pages[2];
	struct str title, ledger, header;
	VEC(char *) files; /* those that a menu shows */
};

/* Shows the level on top. */
void report_browse_show(struct browse *b, struct browser *screen);

/* Keys that go back and forth: whether this one made the top level, which is then taken away. */
bool report_browse_take_back(struct browse *b, struct browser *screen, u32 key);
/* Reads a level, which the caller drops or shows. False: that failed, which is said, or the user gave it up. */
bool report_browse_get(struct browse *b, struct browser *screen, struct report_level *level);
/* The same for a level with other rows of the same samples: it is read only if these do not have all that it shows. */
void report_browse_choose(struct browse *b, struct browser *screen, struct report_level *level);
/* Reads a level and shows it, or drops it. */
void report_browse_read(struct browse *b, struct browser *screen, struct report_level *level);

extern const struct browser_action report_actions[];
extern const size_t n_report_actions;

/* The event that rows are sorted by. */
u32 report_spot_event(const struct browse *b, const struct browser *screen);
#endif
