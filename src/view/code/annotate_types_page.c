#include "view/code/annotate_types_page.h"

#include "base/json.h"
#include "symbol/types/typelayout.h"
#include "view/code/annotate_page.h"

/* At most so many types, and none with a smaller share of an event (percent). */
enum { TYPES_MOST = 30, AROUND = 3 };

#define SHARE_LEAST 0.1

struct writing {
	struct str *text;
	const struct typeprofile *a;
	const u32 *events;
	size_t n_events;
};

static bool has_samples(const struct writing *w, const struct typeprofile_type *t, u32 line)
{
	const struct annotation_count *counts = typeprofile_counts(w->a, t, line);

	for (size_t e = 0; e < w->n_events; e++)
		if (counts[w->events[e]].n_samples)
			return true;
	return false;
}

static bool is_near_samples(const struct writing *w, const struct typeprofile_type *t, u32 line)
{
	const u32 n = w->a->profile->types.at[t->type].n;

	for (u32 i = line < AROUND ? 0 : line - AROUND; i < MIN(n, line + AROUND + 1); i++)
		if (has_samples(w, t, i))
			return true;
	return false;
}

static void add_line(struct writing *w, const struct typeprofile_type *t, u32 line)
{
	const struct profile *p = w->a->profile;
	const struct profile_member *m = &p->members.at[p->types.at[t->type].first + line];
	const struct annotation_count *counts = typeprofile_counts(w->a, t, line);

	str_addc(w->text, '[');
	json_element_u64(w->text, line);
	json_element_u64(w->text, m->depth);
	json_element_u64(w->text, m->kind != TYPELAYOUT_MEMBER);
	json_element(w->text, m->type);
	json_element(w->text, m->name);
	json_element_u64(w->text, m->offset);
	json_element_u64(w->text, m->size);
	annotate_page_add_counts(w->text, counts, w->events, w->n_events);
	json_close(w->text, ']');
}

static void add_type(struct writing *w, const struct typeprofile_type *t)
{
	const struct profile_type *type = &w->a->profile->types.at[t->type];

	str_addc(w->text, '{');
	json_text(w->text, "name", type->name);
	json_u64(w->text, "size", type->size);
	json_u64(w->text, "n", type->n);
	json_open(w->text, "lines", '[');
	for (u32 i = 0; i < type->n; i++)
		if (type->n <= ANNOTATE_TYPES_PAGE_LINES || is_near_samples(w, t, i))
			add_line(w, t, i);
	json_close(w->text, ']');
	json_close(w->text, '}');
}

bool annotate_types_page_is_empty(const struct typeprofile *a)
{
	return !a->types.n || a->types.at[0].share < SHARE_LEAST;
}

void annotate_types_page_add(struct str *text, const struct typeprofile *a,
	const struct typing_events *typing, const u32 *events, size_t n_events)
{
	struct writing w = {text, a, events, n_events};
	size_t n = 0;

	vec_each(t, &a->types)
		n += t->share > 0;
	str_addc(text, '{');
	json_u64(text, "types", n);
	json_open(text, "events", '[');
	for (size_t e = 0; e < n_events; e++) {
		str_addc(text, '[');
		json_element_u64(text, a->typed[events[e]].n_samples);
		json_element_u64(text, a->totals[events[e]].n_samples);
		json_element_u64(text, typing_distance(typing, events[e]));
		json_close(text, ']');
	}
	json_close(text, ']');
	json_open(text, "shown", '[');
	for (size_t i = 0; i < MIN(a->types.n, (size_t)TYPES_MOST); i++)
		if (a->types.at[i].share >= SHARE_LEAST)
			add_type(&w, &a->types.at[i]);
	json_close(text, ']');
	json_end(text, '}');
}
