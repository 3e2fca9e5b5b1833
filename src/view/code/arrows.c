#include "view/code/arrows.h"

#include <string.h>

#include "base/sort.h"

/* What a lane does in a row, as bits. */
enum { UP = 1, DOWN = 2, LEAVES = 4, ARRIVES = 8 };

/* All jumps to one row. */
struct bundle {
	u32 to, first, last; /* rows: the outermost ones, including `to` */
	size_t from, n;      /* range in the sorted jumps */
};

static u8 *cell(struct arrows *a, u32 row, unsigned lane)
{
	return &a->cells[(size_t)row * ARROWS_LANES + lane];
}

static bool is_free(struct arrows *a, const struct bundle *b, unsigned lane)
{
	/* Other bundles are most likely at the ends. */
	if (*cell(a, b->last, lane))
		return false;
	for (u32 row = b->first; row <= b->last; row++)
		if (*cell(a, row, lane))
			return false;
	return true;
}

static void draw(struct arrows *a, const struct bundle *b, const struct sort_item *jumps,
	unsigned lane)
{
	for (u32 row = b->first; row <= b->last; row++)
		*cell(a, row, lane) = (u8)((row > b->first ? UP : 0) | (row < b->last ? DOWN : 0));
	*cell(a, b->to, lane) |= ARRIVES;
	for (size_t i = b->from; i < b->from + b->n; i++)
		*cell(a, (u32)jumps[i].value, lane) |= LEAVES;
	a->n_lanes = MAX(a->n_lanes, lane + 1);
}

/* Short bundles lie next to the instructions. */
static void place(struct arrows *a, const struct bundle *bundles, size_t n,
	const struct sort_item *jumps)
{
	struct sort_item *order = mem_alloc((n + 1) * sizeof(*order));

	for (size_t i = 0; i < n; i++)
		order[i] = (struct sort_item){bundles[i].last - bundles[i].first, i};
	sort_by_key(order, n);
	for (size_t i = 0; i < n && order[i].key <= ARROWS_REACH; i++) {
		const struct bundle *b = &bundles[order[i].value];

		for (unsigned lane = 0; lane < ARROWS_LANES; lane++) {
			if (!is_free(a, b, lane))
				continue;
			draw(a, b, jumps, lane);
			break;
		}
	}
	mem_free(order);
}

void arrows_init(struct arrows *a, const u32 *to, u32 n)
{
	struct sort_item *jumps = mem_alloc(((size_t)n + 1) * sizeof(*jumps));
	struct bundle *bundles = mem_alloc(((size_t)n + 1) * sizeof(*bundles));
	size_t n_jumps = 0, n_bundles = 0;

	memset(a, 0, sizeof(*a));
	a->n_rows = n;
	a->cells = mem_zalloc((size_t)n * ARROWS_LANES + 1);
	for (u32 row = 0; row < n; row++)
		if (to[row] < n && to[row] != row)
			jumps[n_jumps++] = (struct sort_item){to[row], row};
	sort_by_key(jumps, n_jumps);
	for (size_t i = 0; i < n_jumps; i++) {
		struct bundle *b = &bundles[n_bundles];

		if (!i || jumps[i].key != jumps[i - 1].key) {
			u32 row = (u32)jumps[i].key;

			b = &bundles[n_bundles++];
			*b = (struct bundle){row, row, row, i, 0};
		} else {
			b--;
		}
		b->first = MIN(b->first, (u32)jumps[i].value);
		b->last = MAX(b->last, (u32)jumps[i].value);
		b->n++;
	}
	place(a, bundles, n_bundles, jumps);
	mem_free(jumps);
	mem_free(bundles);
}

void arrows_fini(struct arrows *a)
{
	mem_free(a->cells);
	memset(a, 0, sizeof(*a));
}

static char corner(u8 what)
{
	if (!(what & (LEAVES | ARRIVES)))
		return '|';
	return what & UP && what & DOWN ? '+' : what & DOWN ? ',' : '\'';
}

/* Draws lanes from the outermost inwards; a lane that crosses an arrow shows through. */
void arrows_add(const struct arrows *a, u32 row, struct str *text)
{
	const u8 *cells = &a->cells[(size_t)row * ARROWS_LANES];
	bool is_line = false, arrives = false;
	char drawn[2 * ARROWS_LANES];
	size_t n = 0;

	if (!a->n_lanes)
		return;
	for (unsigned lane = a->n_lanes; lane-- > 0;) {
		u8 what = cells[lane];

		drawn[n++] = what ? corner(what) : is_line ? '-' : ' ';
		is_line |= (what & (LEAVES | ARRIVES)) != 0;
		arrives |= (what & ARRIVES) != 0;
		drawn[n++] = is_line ? '-' : ' ';
	}
	str_addn(text, drawn, n);
	str_add(text, arrives ? "> " : is_line ? "- " : "  ");
}
