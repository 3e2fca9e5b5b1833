#include "profile/anatomyrows.h"

#include "symbol/typelayout.h"

enum id {
	OF_NAME,
	OF_SIZE,
	OF_LINES,
	OF_DEPTH,
	OF_KIND,
	OF_TYPE,
	OF_OFFSET,
	OF_COUNTS,
	OF_EVENT,
	OF_SAMPLES,
	OF_PERIOD
};

#define COLUMN(name, title, kind, of)                    \
	{                                                \
		name, title, ROWSET_FACT, kind, .id = of \
	}

static const struct rowset_column of_types[] = {COLUMN("name", "Type", CELL_TEXT, OF_NAME),
	COLUMN("size", "Size", CELL_SIZE, OF_SIZE), COLUMN("lines", "Lines", CELL_ROWS, OF_LINES)};

static const struct rowset_column of_lines[] = {COLUMN("depth", "Depth", CELL_COUNT, OF_DEPTH),
	COLUMN("kind", "Kind", CELL_TEXT, OF_KIND), COLUMN("type", "Type", CELL_TEXT, OF_TYPE),
	COLUMN("name", "Member", CELL_TEXT, OF_NAME),
	COLUMN("offset", "Offset", CELL_SIZE, OF_OFFSET),
	COLUMN("size", "Size", CELL_SIZE, OF_SIZE),
	COLUMN("counts", "Counts", CELL_ROWS, OF_COUNTS)};

static const struct rowset_column of_counts[] = {COLUMN("event", "Event", CELL_COUNT, OF_EVENT),
	COLUMN("samples", "Samples", CELL_COUNT, OF_SAMPLES),
	COLUMN("period", "Period", CELL_COUNT, OF_PERIOD)};

/* ---- what was sampled in a line: r->below_row is where its counts begin ---- */

static void cell_of_counts(const struct rowset *r, const struct rowset_column *c, size_t event,
	u32 part, struct str *room, struct cell *ret)
{
	const struct anatomy *a = r->of;
	const struct annotation_count *count = &a->counts[r->below_row + event];

	(void)part;
	(void)room;
	cell_number(ret, CELL_COUNT,
		c->id == OF_EVENT             ? event
			: c->id == OF_SAMPLES ? count->n_samples
					      : count->period);
}

static bool has_samples(const struct rowset *r, size_t event)
{
	const struct anatomy *a = r->of;

	return a->counts[r->below_row + event].n_samples > 0;
}

/* ---- lines of a type: r->below_row is which ---- */

static void cell_of_line(const struct rowset *r, const struct rowset_column *c, size_t line,
	u32 part, struct str *room, struct cell *ret)
{
	static const char *const kinds[] = {[TYPELAYOUT_MEMBER] = "member",
		[TYPELAYOUT_STRUCT] = "struct",
		[TYPELAYOUT_UNION] = "union"};
	const struct anatomy *a = r->of;
	const struct profile_type *type = &a->profile->types.at[a->types.at[r->below_row].type];
	const struct profile_member *m = &a->profile->members.at[type->first + line];

	(void)part;
	(void)room;
	if (c->id == OF_DEPTH)
		cell_number(ret, CELL_COUNT, m->depth);
	else if (c->id == OF_KIND)
		cell_text(ret, kinds[m->kind]);
	else if (c->id == OF_TYPE || c->id == OF_NAME)
		cell_text(ret, c->id == OF_TYPE ? m->type : m->name);
	else if (c->id == OF_COUNTS)
		cell_number(ret, CELL_ROWS, a->profile->events.n);
	else
		cell_number(ret, CELL_SIZE, c->id == OF_OFFSET ? m->offset : m->size);
}

static void below_line(const struct rowset *r, const struct rowset_column *c, size_t line,
	struct rowset *ret)
{
	const struct anatomy *a = r->of;

	(void)c;
	*ret = (struct rowset){.columns = of_counts,
		.n_columns = ARRAY_SIZE(of_counts),
		.n = a->profile->events.n,
		.n_parts = 1,
		.of = a,
		.below_row = a->types.at[r->below_row].counts + line * a->profile->events.n,
		.cell = cell_of_counts,
		.shows = has_samples};
}

/* ---- types ---- */

static void cell_of_type(const struct rowset *r, const struct rowset_column *c, size_t row,
	u32 part, struct str *room, struct cell *ret)
{
	const struct anatomy *a = r->of;
	const struct profile_type *type = &a->profile->types.at[a->types.at[row].type];

	(void)part;
	(void)room;
	if (c->id == OF_NAME)
		cell_text(ret, type->name);
	else if (c->id == OF_SIZE)
		cell_number(ret, CELL_SIZE, type->size);
	else
		cell_number(ret, CELL_ROWS, type->n);
}

static void below_type(const struct rowset *r, const struct rowset_column *c, size_t row,
	struct rowset *ret)
{
	const struct anatomy *a = r->of;

	(void)c;
	*ret = (struct rowset){.columns = of_lines,
		.n_columns = ARRAY_SIZE(of_lines),
		.n = a->profile->types.at[a->types.at[row].type].n,
		.n_parts = 1,
		.of = a,
		.below_row = row,
		.cell = cell_of_line,
		.below = below_line};
}

struct rowset anatomyrows(const struct anatomy *a)
{
	return (struct rowset){.columns = of_types,
		.n_columns = ARRAY_SIZE(of_types),
		.n = a->types.n,
		.n_parts = 1,
		.of = a,
		.cell = cell_of_type,
		.below = below_type};
}
