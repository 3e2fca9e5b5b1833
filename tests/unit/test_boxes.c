#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "profile/rows/codekind.h"
#include "view/svg/boxes.h"

/* A tree of two parts: 'root', whose children have the given periods, and theirs have half of that. */
enum { MOST = 64 };

struct tree {
	struct rowset_node nodes[MOST];
	struct rowset_place places[MOST];
	char names[MOST][8];
	u64 own[MOST][2];
	struct rowset rows;
};

static void cell_of(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct tree *t = r->of;

	(void)room;
	(void)c;
	cell_number(ret, CELL_COUNT, t->own[row][part]);
}

static u32 add_node(struct tree *t, u32 parent, u32 place, u64 a, u64 b)
{
	const u32 node = (u32)t->rows.n++;

	t->nodes[node] = (struct rowset_node){.symbol = place,
		.parent = parent,
		.own = a + b,
		.own_samples = a + b};
	if (node) {
		t->nodes[node].next_sibling = t->nodes[parent].first_child;
		t->nodes[parent].first_child = node;
	}
	t->own[node][0] = a;
	t->own[node][1] = b;
	return node;
}

/* Children in the given order: place i has i + 1, and its callee, place 20 + i, twice as much. */
static void make_tree(struct tree *t, const u32 *order, size_t n)
{
	static const struct rowset_column columns[] = {{.name = "name"}, {.name = "samples"},
		{.name = "period"}};

	memset(t, 0, sizeof(*t));
	t->rows = (struct rowset){.columns = columns,
		.n_columns = 3,
		.n_parts = 2,
		.nodes = t->nodes,
		.places = t->places,
		.n_places = MOST,
		.of = t,
		.cell = cell_of};
	for (u32 i = 0; i < MOST; i++) {
		snprintf(t->names[i], sizeof(t->names[i]), "f%02u", i);
		t->places[i] = (struct rowset_place){.name = t->names[i], .kind = CODEKIND_PROGRAM};
	}
	add_node(t, 0, 0, 0, 0);
	for (size_t i = 0; i < n; i++) {
		const u32 node = add_node(t, 0, order[i], order[i] + 1, 0);

		add_node(t, node, 20 + order[i], 2 * (order[i] + 1), 1);
	}
}

static u32 sizes[MOST];

static struct boxes_options options_of(u64 n_elements)
{
	static const bool counts[] = {true, false};

	return (struct boxes_options){.counts = counts,
		.bytes = sizes,
		.n_elements = n_elements,
		.n_bytes = UINT32_MAX,
		.labelled = 2};
}

static u64 own_of(const struct boxes *b, size_t box)
{
	u64 own = b->all.at[box].weight;

	for (size_t i = box + 1; i < b->all.n; i++)
		own -= b->all.at[i].parent == box ? b->all.at[i].weight : 0;
	return own;
}

TEST(boxes_sum_up_whatever_there_is_room_for)
{
	static const u32 order[] = {3, 0, 2, 1, 4};
	const u64 whole = 3 * (1 + 2 + 3 + 4 + 5);
	struct tree t;

	make_tree(&t, order, 5);
	for (u64 room = 4; room < 40; room++)
		for (int inverted = 0; inverted < 2; inverted++) {
			struct boxes_options o = options_of(room);
			struct boxes b;
			u64 sum = 0, second = 0;

			o.is_inverted = inverted;
			boxes_init(&b, &t.rows, &o);
			CHECK(b.all.n * 2 <= room && b.all.n >= 1);
			CHECK_EQ(b.all.at[0].weight, whole);
			for (size_t i = 0; i < b.all.n; i++)
				sum += own_of(&b, i);
			CHECK_EQ(sum, whole);
			for (size_t i = 1; i < b.all.n; i++) {
				CHECK(b.all.at[i].parent < i);
				CHECK_EQ(b.all.at[i].depth, b.all.at[b.all.at[i].parent].depth + 1);
				CHECK_EQ(b.all.at[i].weight, boxes_period(&b, i, 0));
				second += b.all.at[i].parent ? 0 : boxes_period(&b, i, 1);
			}
			CHECK_EQ(boxes_period(&b, 0, 1), 5);
			CHECK(b.all.n == 1 || second == 5);
			boxes_fini(&b);
		}
}

TEST(boxes_are_the_largest_nodes_and_a_rest_is_last)
{
	static const u32 order[] = {3, 0, 2, 1, 4};
	struct tree t;
	struct boxes_options o = options_of(8);
	struct boxes b;

	make_tree(&t, order, 5);
	boxes_init(&b, &t.rows, &o);
	/* all; f04 with 15 and its rest; the rest of all. */
	CHECK_EQ(b.all.n, 4);
	CHECK_EQ(b.all.at[1].place, 4);
	CHECK_EQ(b.all.at[2].place, BOXES_REST);
	CHECK_EQ(b.all.at[2].only, 24);
	CHECK_EQ(b.all.at[2].parent, 1);
	CHECK_EQ(b.all.at[3].place, BOXES_REST);
	CHECK_EQ(b.all.at[3].n_merged, 4);
	CHECK_EQ(b.all.at[3].weight, 30);
	CHECK_EQ(b.n_rests, 2);
	CHECK_EQ(b.n_merged, 5);
	CHECK_EQ(b.merged_weight, 40);
	boxes_fini(&b);
}

TEST(boxes_do_not_depend_on_the_order_of_nodes)
{
	static const u32 orders[][6] = {{3, 0, 2, 1, 4, 5}, {5, 4, 3, 2, 1, 0}, {0, 1, 2, 3, 4, 5}};

	for (u64 room = 4; room < 40; room += 3)
		for (int way = 0; way < 4; way++) {
			struct boxes_options o = options_of(room);
			struct boxes b[3];

			o.is_inverted = way & 1;
			o.is_heaviest = way & 2;
			for (int i = 0; i < 3; i++) {
				struct tree t;

				make_tree(&t, orders[i], 6);
				/* Some have the same weight. */
				for (u32 row = 1; row < t.rows.n; row++)
					t.own[row][0] = t.own[row][0] / 4 + 1;
				boxes_init(&b[i], &t.rows, &o);
				CHECK_EQ(b[i].all.n, b[0].all.n);
				for (size_t k = 0; k < b[i].all.n; k++) {
					const struct box *p = &b[i].all.at[k], *q = &b[0].all.at[k];

					CHECK(p->place == q->place && p->parent == q->parent &&
						p->weight == q->weight && p->only == q->only &&
						p->n_merged == q->n_merged);
				}
			}
			for (int i = 0; i < 3; i++)
				boxes_fini(&b[i]);
		}
}

TEST(boxes_of_no_stacks_are_one)
{
	struct boxes_options o = options_of(100);
	struct tree t;
	struct boxes b;

	make_tree(&t, NULL, 0);
	for (int inverted = 0; inverted < 2; inverted++) {
		o.is_inverted = inverted;
		boxes_init(&b, &t.rows, &o);
		CHECK(b.all.n == 1 && !b.all.at[0].weight && b.n_levels == 1);
		boxes_fini(&b);
		t.rows.n = 0;
		boxes_init(&b, &t.rows, &o);
		CHECK(b.all.n == 1 && !b.all.at[0].weight);
		boxes_fini(&b);
		t.rows.n = 1;
	}
}
