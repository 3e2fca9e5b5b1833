/* inventory_words.c - selects the items that the user's words ask for. */
#include <fnmatch.h>
#include <stdio.h>

#include "base/nearest.h"
#include "collect/known/inventory.h"

/* perf's words for groups, and pace's own. */
static const struct {
	const char *word;
	unsigned kinds;
} groups[] = {
	{"hw", 1 << INVENTORY_HARDWARE},
	{"hardware", 1 << INVENTORY_HARDWARE},
	{"sw", 1 << INVENTORY_SOFTWARE},
	{"software", 1 << INVENTORY_SOFTWARE},
	{"cache", 1 << INVENTORY_CACHE},
	{"hwcache", 1 << INVENTORY_CACHE},
	{"tool", 1 << INVENTORY_TOOL},
	{"pmu", 1 << INVENTORY_PMU | 1 << INVENTORY_TABLE},
	{"table", 1 << INVENTORY_TABLE},
	{"tables", 1 << INVENTORY_TABLE},
	{"raw", 1 << INVENTORY_RAW},
	{"breakpoint", 1 << INVENTORY_BREAKPOINT},
	{"breakpoints", 1 << INVENTORY_BREAKPOINT},
	{"tracepoint", 1 << INVENTORY_TRACEPOINT},
	{"tracepoints", 1 << INVENTORY_TRACEPOINT},
};

static unsigned group_kinds(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (!strcmp(groups[i].word, word))
			return groups[i].kinds;
	return 0;
}

static bool is_glob(const char *word)
{
	return strpbrk(word, "*?[") != NULL;
}

/* Whether the word names the item's kind, PMU, topic or system. */
static bool is_in_group(const struct inventory_item *item, const char *word)
{
	return (group_kinds(word) >> item->kind & 1) ||
		(item->group && !strcmp(item->group, word)) ||
		(item->pmu && !strcmp(item->pmu, word)) ||
		(item->row && !strcmp(item->row->pmu, word));
}

static bool names_group(const struct inventory *m, const char *word)
{
	if (group_kinds(word))
		return true;
	vec_each(item, &m->items)
		if (is_in_group(item, word))
			return true;
	return false;
}

static bool is_called(const struct inventory_item *item, const char *word)
{
	return !strcasecmp(item->name, word) || (item->alias && !strcasecmp(item->alias, word));
}

/*
 * Decides which words stand for sets. An event must be in one of the sets and match all other
 * words. A pattern is a set, and so are several full names: "cycles instructions" asks for both.
 */
static void classify_words(const struct inventory *m, bool *is_group)
{
	bool are_all_names = m->options.n_words > 1;

	for (size_t i = 0; i < m->options.n_words; i++) {
		const char *word = m->options.words[i];
		bool is_name = false;

		is_group[i] = is_glob(word) || names_group(m, word);
		vec_each(item, &m->items)
			is_name |= is_called(item, word);
		are_all_names &= is_name || is_group[i];
	}
	for (size_t i = 0; are_all_names && i < m->options.n_words; i++)
		is_group[i] = true;
}

static bool has_text(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

/* Matches the item's name, its alias, or the part between the slashes of "cpu/mem-loads/". */
static bool glob_matches(const struct inventory_item *item, const char *glob)
{
	const char *slash = strchr(item->name, '/');
	char inner[256];

	if (!fnmatch(glob, item->name, FNM_CASEFOLD) ||
		(item->alias && !fnmatch(glob, item->alias, FNM_CASEFOLD)))
		return true;
	if (item->kind != INVENTORY_PMU || !slash)
		return false;
	snprintf(inner, sizeof(inner), "%.*s", (int)strcspn(slash + 1, "/"), slash + 1);
	return !fnmatch(glob, inner, FNM_CASEFOLD);
}

static bool matches(const struct inventory_item *item, const char *word)
{
	return has_text(item->name, word) || has_text(item->alias, word) ||
		has_text(item->pmu, word) || has_text(item->brief, word) ||
		has_text(item->description, word);
}

/* Whether an item is in one of the named groups, if any, and matches all other words. */
static bool is_chosen(const struct inventory *m, const struct inventory_item *item,
	const bool *is_group)
{
	bool has_groups = false, is_in_one = false;

	if (m->options.pmu && (!item->pmu || !catalog_pmu_matches(m->options.pmu, item->pmu)))
		return false;
	for (size_t i = 0; i < m->options.n_words; i++) {
		const char *word = m->options.words[i];

		if (is_group[i]) {
			has_groups = true;
			is_in_one |= is_glob(word)
				? glob_matches(item, word)
				: is_in_group(item, word) || is_called(item, word);
		} else if (!matches(item, word)) {
			return false;
		}
	}
	return !has_groups || is_in_one;
}

static bool matches_any(const struct inventory *m, const char *word)
{
	vec_each(item, &m->items)
		if (matches(item, word))
			return true;
	return false;
}

static bool glob_matches_any(const struct inventory *m, const char *glob)
{
	vec_each(item, &m->items)
		if (glob_matches(item, glob))
			return true;
	return false;
}

static void offer_all(const struct inventory *m, struct nearest *near)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		nearest_offer(near, groups[i].word);
	vec_each(pmu, &m->pmus.strings)
		nearest_offer(near, *pmu);
	vec_each(item, &m->items) {
		nearest_offer(near, item->name);
		if (item->alias)
			nearest_offer(near, item->alias);
		if (item->group)
			nearest_offer(near, item->group);
	}
}

static bool asks_for_tracepoints(const struct inventory *m)
{
	for (size_t i = 0; i < m->options.n_words; i++)
		if (strchr(m->options.words[i], ':') ||
			group_kinds(m->options.words[i]) & 1 << INVENTORY_TRACEPOINT)
			return true;
	return false;
}

/*
 * Reports the words that match nothing, and what they may have meant; or that no event matches all
 * words.
 */
static int nothing_found(const struct inventory *m, const bool *is_group, struct err *err)
{
	struct str text = {0};
	bool has_said = false;

	for (size_t i = 0; i < m->options.n_words; i++) {
		struct nearest near = {.typed = m->options.words[i]};

		if (is_glob(near.typed) ? glob_matches_any(m, near.typed)
					: is_group[i] || matches_any(m, near.typed))
			continue;
		offer_all(m, &near);
		str_addf(&text, "%sno event is called%s '%s'", has_said ? "; " : "",
			is_glob(near.typed) ? "" : " or described as", near.typed);
		nearest_add_hint(&near, &text);
		has_said = true;
	}
	if (!has_said) {
		str_add(&text, "no event");
		if (m->options.pmu)
			str_addf(&text, " of PMU '%s'", m->options.pmu);
		if (m->options.n_words)
			str_add(&text, m->options.n_words > 1 ? " fits all the words" : " fits");
		for (size_t i = 0; i < m->options.n_words; i++)
			str_addf(&text, " '%s'", m->options.words[i]);
	}
	if (m->no_tracepoints.code && asks_for_tracepoints(m))
		str_addf(&text, "; %s", m->no_tracepoints.msg);
	err_set(err, ERR_NOENT, "%s", str_text(&text));
	str_fini(&text);
	return err->code;
}

int inventory_choose(struct inventory *m, struct err *err)
{
	bool *is_group = mem_zalloc(m->options.n_words + 1);
	bool has_tracepoints = m->options.has_all || m->options.n_words;
	size_t n = 0;
	int r = 0;

	classify_words(m, is_group);
	for (size_t i = 0; i < m->items.n; i++)
		n += is_chosen(m, &m->items.at[i], is_group);
	if (!n)
		r = nothing_found(m, is_group, err);
	m->has_hidden_tracepoints =
		!has_tracepoints && !m->options.pmu && (m->n_tracepoints || m->no_tracepoints.code);
	n = 0;
	for (size_t i = 0; !r && i < m->items.n; i++) {
		if ((m->items.at[i].kind != INVENTORY_TRACEPOINT || has_tracepoints) &&
			is_chosen(m, &m->items.at[i], is_group))
			m->items.at[n++] = m->items.at[i];
	}
	m->items.n = n;
	mem_free(is_group);
	return r;
}
