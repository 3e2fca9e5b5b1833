#include "cmd/report/report_actions.h"

#include <string.h>

#include "cmd/report/report_annotate.h"

u32 report_spot_symbol(const struct browse *b, const struct browser_spot *at)
{
	if (at->tree)
		return at->tree->nodes[at->node].symbol;
	return b->table.hist.entries.at[at->row].symbol;
}

/* The name of the line's function; NULL: it has none. */
static const char *name_of(const struct browse *b, const struct browser_spot *at)
{
	return b->reporting->recorded.profile.symbols.at[report_spot_symbol(b, at)].name;
}

/* ---- rows with the same name ---- */

static bool offer_filter(void *of, const struct browser_spot *at, struct str *title)
{
	const char *name = name_of(of, at);

	if (name)
		str_addf(title, "Show only rows of %s", name);
	else
		str_add(title, "this line has no function with a name");
	return name != NULL;
}

static void filter(void *of, struct browser *b, const struct browser_spot *at)
{
	struct str pattern = {0};

	namesearch_add_name(name_of(of, at), &pattern);
	browser_search(b, str_text(&pattern));
	str_fini(&pattern);
}

/* clang-format off: a row an action */
const struct browser_action report_actions[] = {
	{'a', "a", "show the code of the line's function, with its samples", report_annotate_offer,
		report_annotate_act},
	{'*', "*", "show only rows of the line's function", offer_filter, filter},
};
/* clang-format on */
const size_t n_report_actions = ARRAY_SIZE(report_actions);
