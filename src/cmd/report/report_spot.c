#include "cmd/report/report_spot.h"

#include "profile/rows/key.h"

u32 spot_symbol(const struct hist *h, const struct browser_spot *at)
{
	return at->tree ? at->tree->nodes[at->node].symbol : h->entries.at[at->row].symbol;
}

const struct profile_symbol *spot_function_of(const struct hist *h, const struct browser_spot *at)
{
	const u32 symbol = spot_symbol(h, at);

	return symbol ? &h->profile->symbols.at[symbol] : NULL;
}

static bool is_grouped_by(const struct hist *h, enum key_frame frame)
{
	const struct hist_options *o = h->options;

	for (size_t i = 0; i < o->n_keys; i++)
		if (o->keys[i]->frame == frame)
			return true;
	return false;
}

/* Rows that are files or threads have no function; calls below them have. */
bool spot_has_function(const struct hist *h, const struct browser_spot *at, struct str *title)
{
	const struct profile_symbol *s = spot_function_of(h, at);

	if (s && s->name && (at->tree || is_grouped_by(h, KEY_SYMBOL)))
		return true;
	str_add(title, "this line has no function with a name");
	return false;
}

static const char *dso_name(const struct hist *h, const struct browser_spot *at)
{
	return h->profile->dsos.at[spot_function_of(h, at)->dso].name;
}

bool spot_offer_dso(const struct hist *h, const struct browser_spot *at, struct str *title)
{
	if (!spot_function_of(h, at) ||
		!(at->tree || is_grouped_by(h, KEY_DSO) || is_grouped_by(h, KEY_SYMBOL))) {
		str_add(title, "this line is about no file");
		return false;
	}
	str_addf(title, "Zoom into the file %s", dso_name(h, at));
	return true;
}

struct zoom spot_dso(const struct hist *h, const struct browser_spot *at)
{
	struct zoom zoom = {.kind = ZOOM_DSO};

	str_add(&zoom.text, dso_name(h, at));
	return zoom;
}

bool spot_thread(const struct hist *h, const struct browser_spot *at, struct zoom *ret)
{
	static const struct {
		enum profile_label label;
		enum zoom_kind kind;
	} ways[] = {{LABEL_TID, ZOOM_TID}, {LABEL_PID, ZOOM_PID}, {LABEL_COMM, ZOOM_COMM}};

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

bool spot_offer_thread(const struct hist *h, const struct browser_spot *at, struct str *title)
{
	struct zoom zoom;

	if (!spot_thread(h, at, &zoom)) {
		str_add(title, "rows are not by thread: -s comm, tid or pid");
		return false;
	}
	str_add(title, "Zoom into the ");
	zoom_add_text(&zoom, title);
	zoom_fini(&zoom);
	return true;
}

bool spot_offer_stacks(const struct hist *h, const struct browser_spot *at, struct str *title)
{
	if (!spot_has_function(h, at, title))
		return false;
	str_addf(title, "Zoom into samples with %s in their stacks", spot_function_of(h, at)->name);
	return true;
}

struct zoom spot_stacks(const struct hist *h, const struct browser_spot *at)
{
	struct zoom zoom = {.kind = ZOOM_FUNCTION};

	str_add(&zoom.text, spot_function_of(h, at)->name);
	str_add(&zoom.dso, dso_name(h, at));
	return zoom;
}
