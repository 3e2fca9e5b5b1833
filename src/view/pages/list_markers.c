#include "view/pages/list_markers.h"

#include <string.h>

#include "base/json.h"
#include "profile/rows/rowmaker.h"

enum { PERF_NAME_COLUMNS = 50, PERF_ID_DIGITS = 12 };

static bool is_same(const struct marker *a, const struct marker *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->name, b->name);
}

/* ---- for people ---- */

static size_t name_columns(const struct markers *m, const struct list_style *style)
{
	size_t widest = 0;

	vec_each(one, &m->at)
		widest = MAX(widest, strlen(one->provider) + strlen(one->name) + 5);
	return MIN(widest, list_name_columns(style));
}

static void add_fact(const char *title, const char *fact, const struct list_style *style,
	struct str *text)
{
	struct str line = {0};

	str_add(&line, title);
	str_add_safe(&line, fact, strlen(fact));
	list_add_paragraph(str_text(&line), style, text);
	str_fini(&line);
}

static void add_details(const struct marker *m, const struct list_style *style, struct str *text)
{
	struct str places = {0};

	str_add(text, "  ");
	marker_add_name(m, text);
	str_addc(text, '\n');
	add_fact("file: ", m->path, style, text);
	add_fact("build-id: ", *m->id ? m->id : "none", style, text);
	if (*m->args)
		add_fact("arguments: ", m->args, style, text);
	str_addf(&places, "%u", m->n_places);
	add_fact("places: ", str_text(&places), style, text);
	str_fini(&places);
}

void list_markers_text(const struct markers *m, const struct list_style *style, struct out *out)
{
	const size_t width = name_columns(m, style);
	struct str name = {0};

	str_add(&out->text, "Markers of programs (SDT):\n");
	vec_each(one, &m->at) {
		if (style->has_details) {
			add_details(one, style, &out->text);
		} else {
			str_clear(&name);
			marker_add_name(one, &name);
			list_add_line(str_text(&name), INVENTORY_UNTRIED, one->path, width, style,
				&out->text);
		}
		out_flush_some(out);
	}
	str_addc(&out->text, '\n');
	list_add_words(
		"'pace probe -x FILE sdt_PROVIDER:NAME' makes an event of one, which -e then takes",
		style, &out->text);
	str_fini(&name);
}

/* ---- for programs ---- */

static void make_marker(struct rowmaker *m, const void *of, size_t row)
{
	const struct marker *one = &((const struct markers *)of)->at.at[row];
	struct str name = {0};

	marker_add_name(one, &name);
	rowmaker_text(m, "event", rowmaker_copy(m, str_text(&name)));
	rowmaker_text(m, "provider", one->provider);
	rowmaker_text(m, "marker", one->name);
	rowmaker_text(m, "file", one->path);
	rowmaker_note(m, "build_id", one->id);
	rowmaker_u64(m, "places", one->n_places);
	rowmaker_note(m, "arguments", one->args);
	str_fini(&name);
}

void list_markers_rows(const struct form *form, const struct markers *m, struct out *out)
{
	static const char *const names[] = {"event", "provider", "marker", "file", "build_id",
		"places", "arguments"};
	struct rowmaker rows = {0};

	rowmaker_columns(&rows, names, ARRAY_SIZE(names));
	rowmaker_lazy(&rows, make_marker, m, m->at.n);
	form_show(form, &rows, out);
	rowmaker_fini(&rows);
}

void list_markers_names(const struct markers *m, struct out *out)
{
	vec_each(one, &m->at) {
		if (one > m->at.at && is_same(one - 1, one))
			continue;
		marker_add_name(one, &out->text);
		str_addc(&out->text, ' ');
	}
	str_addc(&out->text, '\n');
}

/* ---- as perf ---- */

/* "sdt_a:b", or "sdt_a:b@/usr/bin/x(0123456789ab)" if it is not the only one of that name. */
static void add_perfs_name(const struct markers *m, const struct marker *one, struct str *text)
{
	const struct marker *end = m->at.at + m->at.n;
	const bool is_alone = (one == m->at.at || !is_same(one - 1, one)) &&
		(one + 1 == end || !is_same(one, one + 1));

	marker_add_name(one, text);
	if (is_alone)
		return;
	str_addc(text, '@');
	str_add_safe(text, one->path, strlen(one->path));
	str_addf(text, "(%.*s)", PERF_ID_DIGITS, one->id);
}

void list_markers_perf_text(const struct markers *m, struct out *out)
{
	vec_each(one, &m->at) {
		size_t start;

		str_add(&out->text, "  ");
		start = out->text.n;
		add_perfs_name(m, one, &out->text);
		str_pad_right(&out->text, start, PERF_NAME_COLUMNS);
		str_add(&out->text, " [SDT event]\n");
		out_flush_some(out);
	}
}

void list_markers_perf_json(const struct markers *m, size_t n_before, struct out *out)
{
	struct str name = {0};

	vec_each(one, &m->at) {
		str_clear(&name);
		add_perfs_name(m, one, &name);
		str_add(&out->text, n_before++ ? ",\n" : "");
		str_add(&out->text, "{\n\t\"EventName\": ");
		json_string(&out->text, str_text(&name));
		str_add(&out->text, ",\n\t\"EventType\": \"SDT event\"\n}");
	}
	str_fini(&name);
}
