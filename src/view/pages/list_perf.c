#include "view/pages/list_perf.h"

#include <string.h>

#include "base/json.h"

/* perf's words for kinds of events, and for what has no PMU of its own. */
static const struct {
	const char *unit, *type;
} words[INVENTORY_KIND_COUNT] = {
	[INVENTORY_HARDWARE] = {"cpu", "Hardware event"},
	[INVENTORY_SOFTWARE] = {"software", "Software event"},
	[INVENTORY_CACHE] = {"cpu", "Hardware cache event"},
	[INVENTORY_TOOL] = {"tool", "Tool event"},
	[INVENTORY_PMU] = {NULL, "Kernel PMU event"},
	[INVENTORY_RAW] = {NULL, "Raw event descriptor"},
	[INVENTORY_BREAKPOINT] = {"breakpoint", "Hardware breakpoint"},
	[INVENTORY_TABLE] = {NULL, "Kernel PMU event"},
	[INVENTORY_TRACEPOINT] = {"tracepoint", "Tracepoint event"},
};

struct members {
	struct str *text;
	u32 n;
};

static void add_member(struct members *m, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	str_addf(m->text, "%s\n\t\"%s\": ", m->n++ ? "," : "", name);
	json_string(m->text, value);
}

static void add_event(const struct inventory_item *item, bool has_encoding, struct str *text)
{
	struct members m = {.text = text};
	struct str formed = {0};

	str_addc(text, '{');
	add_member(&m, "Unit", item->pmu ? item->pmu : words[item->kind].unit);
	if (item->row)
		add_member(&m, "Topic", item->row->topic);
	add_member(&m, "EventName", item->name);
	add_member(&m, "EventAlias", item->alias);
	if (item->unit && *item->unit) {
		str_addf(&formed, "%.15g%s", item->scale, item->unit);
		add_member(&m, "ScaleUnit", str_text(&formed));
	}
	if (item->row && item->row->is_deprecated)
		add_member(&m, "Deprecated", "1");
	add_member(&m, "EventType", words[item->kind].type);
	add_member(&m, "BriefDescription", item->brief);
	if (item->description && (!item->brief || strcmp(item->description, item->brief) != 0))
		add_member(&m, "PublicDescription", item->description);
	if (has_encoding && item->pmu && item->terms) {
		str_clear(&formed);
		str_addf(&formed, "%s/%s/", item->pmu, item->terms);
		add_member(&m, "Encoding", str_text(&formed));
	}
	str_add(text, "\n}");
	str_fini(&formed);
}

void list_perf_events(const struct inventory *m, bool has_encoding, struct out *out)
{
	str_add(&out->text, "[\n");
	for (size_t i = 0; i < m->items.n; i++) {
		str_add(&out->text, i ? ",\n" : "");
		add_event(&m->items.at[i], has_encoding, &out->text);
		out_flush_some(out);
	}
	str_add(&out->text, m->items.n ? "\n]\n" : "]\n");
}
