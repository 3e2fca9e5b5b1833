#include "profile/tree/zoom.h"

#include <string.h>

enum profile_label zoom_label(const struct zoom *z)
{
	static const u8 labels[] = {[ZOOM_COMM] = LABEL_COMM,
		[ZOOM_PID] = LABEL_PID,
		[ZOOM_TID] = LABEL_TID,
		[ZOOM_FUNCTION] = LABEL_NONE};

	return labels[z->kind];
}

void zoom_add_text(const struct zoom *z, struct str *text)
{
	static const char *const whats[] = {[ZOOM_DSO] = "file",
		[ZOOM_COMM] = "thread",
		[ZOOM_PID] = "process",
		[ZOOM_TID] = "thread",
		[ZOOM_FUNCTION] = "through"};

	str_addf(text, "%s ", whats[z->kind]);
	if (z->kind == ZOOM_PID || z->kind == ZOOM_TID)
		str_addf(text, "%llu", (unsigned long long)z->number);
	else
		str_add_safe(text, str_text(&z->text), z->text.n);
}

/* ---- which rows ---- */

struct zooming {
	const struct profile *profile;
	const struct calls *calls;
	const struct zoom *zoom;
	bool *is_wanted; /* by DSO, or by node of the call tree */
	/* Texts are interned: neighbours mostly have the same one, and each is compared once. */
	const char *last;
	bool is_last_wanted;
};

static bool is_text(const struct str *text, const char *other)
{
	return other && !strcmp(str_text(text), other);
}

static void find_dsos(struct zooming *w)
{
	const struct profile *p = w->profile;

	w->is_wanted = mem_zalloc(p->dsos.n + 1);
	for (size_t i = 0; i < p->dsos.n; i++)
		w->is_wanted[i] = is_text(&w->zoom->text, p->dsos.at[i].name);
}

static void find_nodes(struct zooming *w)
{
	const struct profile *p = w->profile;
	bool *is_it = mem_zalloc(p->symbols.n + 1);

	for (size_t i = 1; i < p->symbols.n; i++)
		is_it[i] = is_text(&w->zoom->text, p->symbols.at[i].name) &&
			is_text(&w->zoom->dso, p->dsos.at[p->symbols.at[i].dso].name);
	w->is_wanted = mem_zalloc(w->calls->nodes.n + 1);
	/* Parents come before their children. */
	for (size_t i = 1; i < w->calls->nodes.n; i++) {
		const struct calls_node *node = &w->calls->nodes.at[i];

		w->is_wanted[i] = is_it[node->symbol] || w->is_wanted[node->parent];
	}
	mem_free(is_it);
}

static bool has_comm(struct zooming *w, size_t row)
{
	const char *comm = profile_text(profile_label(w->profile, row, LABEL_COMM));

	if (comm != w->last) {
		w->last = comm;
		w->is_last_wanted = is_text(&w->zoom->text, comm);
	}
	return w->is_last_wanted;
}

static bool is_kept_by(struct zooming *w, size_t row)
{
	const struct profile *p = w->profile;

	switch (w->zoom->kind) {
	case ZOOM_DSO:
		return w->is_wanted[p->frames.at[p->rows.at[row].frame].dso];
	case ZOOM_FUNCTION:
		return w->is_wanted[w->calls->of_row[row]];
	case ZOOM_COMM:
		return has_comm(w, row);
	default:
		return profile_label(p, row, zoom_label(w->zoom)) == w->zoom->number;
	}
}

struct zoomings {
	struct zooming *all;
	size_t n;
};

static bool is_kept(void *ctx, size_t row)
{
	const struct zoomings *z = ctx;

	for (size_t i = 0; i < z->n; i++)
		if (!is_kept_by(&z->all[i], row))
			return false;
	return true;
}

static void begin(struct zoomings *z, const struct profile *p, const struct calls *c,
	const struct zoom *zooms, size_t n)
{
	*z = (struct zoomings){.all = mem_zalloc((n + 1) * sizeof(*z->all)), .n = n};
	for (size_t i = 0; i < n; i++) {
		z->all[i] = (struct zooming){.profile = p, .calls = c, .zoom = &zooms[i]};
		if (zooms[i].kind == ZOOM_DSO)
			find_dsos(&z->all[i]);
		else if (zooms[i].kind == ZOOM_FUNCTION)
			find_nodes(&z->all[i]);
	}
}

static void end(struct zoomings *z)
{
	for (size_t i = 0; i < z->n; i++)
		mem_free(z->all[i].is_wanted);
	mem_free(z->all);
}

void zoom_part(struct part *part, const struct profile *p, const struct calls *c, bool is_relative,
	const struct zoom *zooms, size_t n)
{
	struct zoomings z;

	begin(&z, p, c, zooms, n);
	part_init(part, p, c, is_relative, is_kept, &z);
	end(&z);
}

void zoom_keep(struct profile *p, const struct calls *c, const struct zoom *zooms, size_t n)
{
	struct zoomings z;

	begin(&z, p, c, zooms, n);
	profile_keep_rows(p, is_kept, &z);
	end(&z);
}

struct zoom zoom_copy(const struct zoom *z)
{
	struct zoom copy = {.kind = z->kind, .number = z->number};

	str_addn(&copy.text, str_text(&z->text), z->text.n);
	str_addn(&copy.dso, str_text(&z->dso), z->dso.n);
	return copy;
}

void zoom_fini(struct zoom *z)
{
	str_fini(&z->text);
	str_fini(&z->dso);
}
