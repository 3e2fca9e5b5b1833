#include "cmd/report/report_sort.h"

#include <string.h>

#include "profile/rows/key.h"

enum { NAME_WIDTH = 34 };

/* A key to group by stands alone: that makes other rows. A figure is one more column of the rows that there are. */
static void choose_keys(const struct browse *b, const struct key *key, struct report_level *level)
{
	struct keys_options *o = &level->options.keys;

	str_cut(&level->keys, 0);
	if (!key->is_value)
		str_add(&level->keys, key->name);
	else if (key->has_parts)
		/* A word of -F: in -s it is a key to group by. */
		str_addf(&level->keys, "%s%s%s", o->fields ? o->fields : "+", o->fields ? "," : "",
			key->name);
	else
		str_addf(&level->keys, "%s,%s",
			o->fields ? o->fields
				  : keys_sort(&report_levels_top(&b->levels)->choice->keys),
			key->name);
	if (!key->is_value)
		o->fields = NULL;
	if (o->fields || key->has_parts)
		o->fields = str_text(&level->keys);
	else
		o->sort = str_text(&level->keys);
}

static bool is_column(const struct browser *screen, const struct key *key)
{
	for (size_t c = 0; c < screen->rows->n_shown; c++)
		if (screen->rows->shown[c].key == key ||
			(key->has_parts && screen->rows->shown[c].band == key->data[0].band))
			return true;
	return false;
}

/* Why the recording cannot have rows by this key, as the command line says it, without the key; nothing: it can. */
static void add_refusal(struct browse *b, const struct key *key, struct str *why)
{
	struct report_level *level = report_level_like(&b->levels, 'r');
	struct str prefix = {0};
	struct choice choice;
	struct err err;

	choose_keys(b, key, level);
	report_options_settle(&level->options);
	if (choice_make(&choice, &level->options, &b->reporting->recorded, &err)) {
		const char *text = err.msg;

		str_addf(&prefix, "key '%s': ", key->name);
		for (size_t i = 0; i < 2; i++) {
			text += strncmp(text, str_text(&prefix), prefix.n) ? 0 : prefix.n;
			str_cut(&prefix, 0);
			str_add(&prefix, "--fields: ");
		}
		str_add(why, text);
	}
	choice_fini(&choice);
	report_level_drop(level);
	str_fini(&prefix);
}

/* What other rows can be made by stands first, then what columns can be added, then what the recording lacks. */
enum rank { BY_KEY, BY_FIGURE, REFUSED, RANKS };

static void add_order(struct browser *screen, size_t i, const char *why)
{
	const struct key *key = key_at(i);
	struct str title = {0};

	str_addf(&title, "-%c %s%s", key->has_parts ? 'F' : 's', key->is_value ? "...," : "",
		key->name);
	str_pad_right(&title, 0, NAME_WIDTH);
	str_addf(&title, "  %s", *why ? why : key->help);
	browser_menu_add_order(screen, str_text(&title), i);
	if (*why)
		browser_menu_refuse(screen, why);
	str_fini(&title);
}

/* Figures that are columns are in the menu already. */
static void add(void *of, struct browser *screen)
{
	VEC(struct str) whys = {0};

	for (size_t i = 0; key_at(i); i++) {
		struct str why = {0};

		add_refusal(of, key_at(i), &why);
		vec_add(&whys, why);
	}
	for (int rank = 0; rank < RANKS; rank++)
		for (size_t i = 0; i < whys.n; i++) {
			const struct key *key = key_at(i);

			if (rank ==
					(whys.at[i].n                   ? REFUSED
							: key->is_value ? BY_FIGURE
									: BY_KEY) &&
				!(key->is_value && is_column(screen, key)))
				add_order(screen, i, str_text(&whys.at[i]));
		}
	vec_each(why, &whys)
		str_fini(why);
	vec_fini(&whys);
}

static void take(void *of, struct browser *screen, size_t order)
{
	struct browse *b = of;
	const struct key *key = key_at(order);
	struct report_level *level = report_level_like(&b->levels, 'r'), *before;

	choose_keys(b, key, level);
	str_addf(&level->crumb, "%s %s", key->has_parts ? "with" : "by", key->name);
	before = report_levels_top(&b->levels);
	report_browse_choose(b, screen, level);
	/* A figure is not what rows are sorted by first, unless -F says so. */
	if (key->is_value && !key->has_parts && report_levels_top(&b->levels) != before)
		browser_sort(screen, key->name);
}

const struct browser_orders report_orders = {add, take};
