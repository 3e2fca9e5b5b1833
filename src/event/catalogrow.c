#include "event/catalogrow.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "event/perfmon.h"
#include "event/vendor.h"

/* ---- which PMUs there are ---- */

bool catalogrow_has_pmu(const struct catalog_opener *o, const char *pmu)
{
	if (!o->places->sysfs)
		return true;
	vec_each(name, &o->pmus.strings)
		if (catalog_pmu_matches(pmu, *name))
			return true;
	return false;
}

static const struct catalog_unit *find_unit(struct catalog_opener *o, const char *unit)
{
	struct arena *arena = &o->catalog->arena;
	struct str pmu = {0};
	struct catalog_unit new;

	vec_each(u, &o->units)
		if (!strcmp(u->unit, unit))
			return u;
	vendor_add_pmu(unit, &pmu);
	new.unit = arena_strdup(arena, unit, strlen(unit));
	new.pmu = arena_strdup(arena, str_text(&pmu), pmu.n);
	str_fini(&pmu);
	new.is_here = catalogrow_has_pmu(o, new.pmu);
	vec_add(&o->units, new);
	return &o->units.at[o->units.n - 1];
}

/* ---- events ---- */

/* "6.103515625e-5MiB": a factor and a unit, which is NULL if there is none. */
static void read_scale(const char *text, struct arena *arena, double *ret_scale,
	const char **ret_unit)
{
	char *end;
	double scale;

	*ret_scale = 1;
	if (!text)
		return;
	scale = strtod(text, &end);
	if (end == text || !(scale > 0 && scale < 1e300))
		return;
	*ret_scale = scale;
	end += strspn(end, " ");
	if (*end)
		*ret_unit = arena_strdup(arena, end, strlen(end));
}

u64 catalogrow_hash(const char *name)
{
	char lower[256];
	size_t n = 0;

	for (; n < sizeof(lower) && name[n]; n++)
		lower[n] = (char)tolower((u8)name[n]);
	return hash_bytes(lower, n);
}

static bool is_known(const struct catalog *c, const struct catalog_event *e, u64 hash)
{
	struct table_probe probe = table_probe(&c->index, hash);
	u32 i;

	while ((i = table_next(&c->index, &probe)) != TABLE_NONE)
		if (!strcmp(c->events.at[i].name, e->name) && !strcmp(c->events.at[i].pmu, e->pmu))
			return true;
	return false;
}

static char *keep(struct arena *arena, const char *text)
{
	return text && *text && strcmp(text, "null") != 0 ? arena_strdup(arena, text, strlen(text))
							  : NULL;
}

/* A description: some are of several lines. */
static const char *keep_sentence(struct arena *arena, const char *text)
{
	char *kept = keep(arena, text);

	for (char *at = kept; at && (at = strpbrk(at, "\n\r\t")); at++)
		*at = ' ';
	return kept;
}

/* In cycles; 0 for what is no such number. */
static double read_latency(const char *text)
{
	double v;
	char *end;

	if (!text || !*text)
		return 0;
	v = strtod(text, &end);
	return *end || !(v >= 0 && v <= UINT16_MAX) ? 0 : v;
}

/* Takes from a row what it says about an event besides its name, PMU and terms. */
static void describe(const struct eventfile_row *row, struct arena *arena, struct catalog_event *e)
{
	const char *brief = row->text[FIELD_BRIEF], *description = row->text[FIELD_DESCRIPTION];
	u64 v;

	e->brief = keep_sentence(arena, brief);
	if (description && (!brief || strcmp(brief, description) != 0))
		e->description = keep_sentence(arena, description);
	e->errata = keep(arena, row->text[FIELD_ERRATA]);
	read_scale(row->text[FIELD_SCALE], arena, &e->scale, &e->unit);
	e->retire_latency = read_latency(row->text[FIELD_RETIRE_LATENCY]);
	e->precise = vendor_number(row, FIELD_PRECISE, &v) > 0 ? (u8)MIN(v, (u64)2) : 0;
	e->is_per_pkg = vendor_number(row, FIELD_PER_PKG, &v) > 0 && v;
	e->is_deprecated = vendor_number(row, FIELD_DEPRECATED, &v) > 0 && v;
}

/* Appends the event of a row; false if the row makes no sense. */
bool catalogrow_add_event(struct catalog_opener *o, const struct eventfile_row *row,
	const char *topic)
{
	const char *said = row->text[FIELD_UNIT] ? row->text[FIELD_UNIT] : o->role_pmu;
	const struct catalog_unit *unit = find_unit(o, said ? said : "core");
	bool is_core = !strcmp(unit->pmu, "cpu") && o->core->pmu_is_here;
	struct catalog *c = o->catalog;
	struct catalog_event e = {.topic = topic, .pmu = is_core ? o->core->pmu : unit->pmu};
	struct str text = {0};
	char *name;
	u64 hash;

	if (!is_core && !unit->is_here) {
		c->n_absent++;
		return true;
	}
	if (!vendor_add_terms(row, &text)) {
		str_fini(&text);
		return false;
	}
	e.name = name =
		arena_strdup(&c->arena, row->text[FIELD_NAME], strlen(row->text[FIELD_NAME]));
	for (; *name; name++)
		*name = (char)tolower((u8)*name);
	hash = catalogrow_hash(e.name);
	if (!is_known(c, &e, hash)) {
		e.terms = arena_strdup(&c->arena, str_text(&text), text.n);
		describe(row, &c->arena, &e);
		table_add(&c->index, hash, c->events.n);
		vec_add(&c->events, e);
	}
	str_fini(&text);
	return true;
}

static bool has_metric(const struct catalog *c, const struct metric_row *metric)
{
	struct table_probe probe = table_probe(&c->metric_index, catalogrow_hash(metric->name));
	u32 i;

	while ((i = table_next(&c->metric_index, &probe)) != TABLE_NONE) {
		const struct metric_row *m = &c->metrics.at[i];

		if (!strcasecmp(m->name, metric->name) &&
			(m->pmu == metric->pmu ||
				(m->pmu && metric->pmu && !strcmp(m->pmu, metric->pmu))))
			return true;
	}
	return false;
}

static enum metric_apart apart_of(const char *constraint)
{
	static const struct {
		const char *word;
		enum metric_apart apart;
	} words[] = {
		{"NO_GROUP_EVENTS", METRIC_APART_ALWAYS},
		{"NO_GROUP_EVENTS_NMI", METRIC_APART_WITH_WATCHDOG},
		{"NO_NMI_WATCHDOG", METRIC_APART_WITH_WATCHDOG},
		{"NO_THRESHOLD_AND_NMI", METRIC_APART_WITH_WATCHDOG},
		{"NO_GROUP_EVENTS_SMT", METRIC_APART_WITH_SMT},
	};

	for (size_t i = 0; constraint && i < ARRAY_SIZE(words); i++)
		if (!strcmp(constraint, words[i].word))
			return words[i].apart;
	return METRIC_TOGETHER;
}

/* Fills in what perfmon says otherwise: about aliases, with a unit in words, of which values already are. */
static void take_perfmon(const struct eventfile_row *row, struct arena *arena, struct metric_row *m)
{
	const char *unit = row->text[FIELD_METRIC_UNIT];
	struct str text = {0};

	perfmon_add_formula(row, false, &text);
	m->expr = keep(arena, str_text(&text));
	str_clear(&text);
	perfmon_add_formula(row, true, &text);
	m->threshold = keep(arena, str_text(&text));
	str_clear(&text);
	if (row->text[FIELD_METRIC_LEGACY])
		perfmon_add_metric(row->text[FIELD_METRIC_LEGACY], &text);
	m->other_name = keep(arena, str_text(&text));
	m->scale = 1;
	m->unit = unit && !strcmp(unit, "percent") ? "%" : keep(arena, unit);
	str_fini(&text);
}

/* Appends the metric of a row, if it is one, or a group's description. */
void catalogrow_add_metric(struct catalog_opener *o, const struct eventfile_row *row,
	const char *topic)
{
	const char *said = row->text[FIELD_UNIT] ? row->text[FIELD_UNIT] : o->role_pmu;
	const struct catalog_unit *unit = said ? find_unit(o, said) : NULL;
	struct arena *arena = &o->catalog->arena;
	const char *brief = row->text[FIELD_BRIEF], *description = row->text[FIELD_DESCRIPTION];
	struct metric_row m = {.name = keep(arena, row->text[FIELD_METRIC_NAME]),
		.expr = keep(arena, row->text[FIELD_METRIC_EXPR]),
		.groups = keep(arena, row->text[FIELD_METRIC_GROUP]),
		.loose = keep(arena, row->text[FIELD_METRIC_NO_GROUP]),
		.threshold = keep(arena, row->text[FIELD_METRIC_THRESHOLD]),
		.brief = keep_sentence(arena, brief),
		.topic = topic,
		.pmu = unit                    ? unit->pmu
			: o->core->pmu_is_here ? o->core->pmu
					       : NULL,
		.apart = apart_of(row->text[FIELD_METRIC_CONSTRAINT])};

	read_scale(row->text[FIELD_SCALE], arena, &m.scale, &m.unit);
	if (row->text[FIELD_METRIC_FORMULA])
		take_perfmon(row, arena, &m);
	if (!m.name && !row->text[FIELD_NAME] && m.groups && m.brief)
		vec_add(&o->catalog->groups, ((struct catalog_group){m.groups, m.brief}));
	if (!m.name || !m.expr || has_metric(o->catalog, &m))
		return;
	if (unit && !unit->is_here) {
		o->catalog->n_absent++;
		return;
	}
	if (description && (!brief || strcmp(brief, description) != 0))
		m.description = keep_sentence(arena, description);
	table_add(&o->catalog->metric_index, catalogrow_hash(m.name), o->catalog->metrics.n);
	vec_add(&o->catalog->metrics, m);
}
