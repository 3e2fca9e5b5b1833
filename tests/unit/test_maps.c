#include "machine/maps.h"

#include "test.h"
#include "unit/recording.h"

/* ---- a model: what lies at each address, said one by one ---- */

enum { RANGE = 160, DSOS = 7 };

struct place {
	struct dso *dso; /* NULL: nothing */
	u64 offset;      /* in it */
};

struct model {
	struct place at[RANGE];
};

static void model_add(struct model *m, const struct map *map)
{
	for (u64 va = map->start; va < map->end; va++)
		m->at[va] = (struct place){map->dso, map_offset(map, va)};
}

static void model_remove(struct model *m, u64 start, u64 end)
{
	for (u64 va = start; va < end; va++)
		m->at[va] = (struct place){NULL, 0};
}

/* Every address has in the tree what it has in the model. */
static void check_same(const struct maps_node *root, const struct model *m)
{
	for (u64 va = 0; va < RANGE; va++) {
		const struct map *map = maps_find(root, va);

		CHECK((map ? map->dso : NULL) == m->at[va].dso);
		if (!map)
			continue;
		CHECK(map->start <= va && va < map->end);
		CHECK_EQ(map_offset(map, va), m->at[va].offset);
	}
	CHECK(!maps_find(root, RANGE));
	CHECK(!maps_find(root, UINT64_MAX));
}

static void check_overlaps(const struct maps_node *root, const struct model *m, u64 *dice)
{
	for (unsigned i = 0; i < 20; i++) {
		u64 start = recording_below(dice, RANGE),
		    end = start + 1 + recording_below(dice, RANGE - start);
		bool expected = false;

		for (u64 va = start; va < end; va++)
			expected |= m->at[va].dso != NULL;
		CHECK_EQ(maps_overlaps(root, start, end), expected);
	}
}

struct walk {
	u64 end;     /* of the map before */
	u64 covered; /* addresses so far */
	size_t n;
};

static void walk_one(void *ctx, const struct map *map)
{
	struct walk *w = ctx;

	CHECK(map->start >= w->end);
	CHECK(map->end > map->start);
	w->end = map->end;
	w->covered += map->end - map->start;
	w->n++;
}

static void check_walk(const struct maps_node *root, const struct model *m)
{
	struct walk w = {0};
	u64 covered = 0;

	for (u64 va = 0; va < RANGE; va++)
		covered += m->at[va].dso != NULL;
	maps_each(root, walk_one, &w);
	CHECK_EQ(w.covered, covered);
}

struct history {
	u64 dice;
	struct maps_pool pool;
	struct dso dsos[DSOS];
	const struct maps_node *root;
	struct model now;
};

static void history_init(struct history *h, u64 seed)
{
	memset(h, 0, sizeof(*h));
	h->dice = seed;
	h->pool.owner = 1;
}

/* One random change; the tree before it may be forgotten unless the owner was bumped. */
static void history_step(struct history *h, u64 longest)
{
	u64 start = recording_below(&h->dice, RANGE);
	u64 end = start + 1 + recording_below(&h->dice, MIN(longest, RANGE - start));
	struct map map = {start, end, recording_below(&h->dice, 1 << 20),
		&h->dsos[recording_below(&h->dice, DSOS)]};

	if (recording_below(&h->dice, 4)) {
		h->root = maps_add(&h->pool, h->root, &map);
		model_add(&h->now, &map);
	} else {
		h->root = maps_remove(&h->pool, h->root, start, end);
		model_remove(&h->now, start, end);
	}
}

TEST(maps_hold_what_was_added_and_old_trees_what_they_held)
{
	enum { STEPS = 4000, KEPT = 400 };
	static const struct maps_node *roots[KEPT];
	static struct model models[KEPT];

	for (u64 seed = 1; seed <= 3; seed++) {
		struct history h;
		size_t n = 0;

		history_init(&h, seed);
		for (unsigned step = 0; step < STEPS; step++) {
			roots[n % KEPT] = h.root;
			models[n++ % KEPT] = h.now;
			h.pool.owner++;
			history_step(&h, seed == 1 ? 8 : seed == 2 ? 40 : RANGE);
			check_same(h.root, &h.now);
			check_walk(h.root, &h.now);
			check_overlaps(h.root, &h.now, &h.dice);
			if (step % KEPT)
				continue;
			for (size_t i = 0; i < MIN(n, (size_t)KEPT); i++)
				check_same(roots[i], &models[i]);
		}
		for (size_t i = 0; i < KEPT; i++)
			check_same(roots[i], &models[i]);
		arena_fini(&h.pool.arena);
	}
}

TEST(maps_changed_in_place_hold_what_was_added)
{
	struct history h;

	history_init(&h, 11);
	for (unsigned step = 0; step < 6000; step++) {
		history_step(&h, 30);
		check_same(h.root, &h.now);
	}
	arena_fini(&h.pool.arena);
}

TEST(maps_changed_in_place_leave_alone_what_was_kept_before)
{
	enum { STEPS = 6000, KEPT = 300 };
	static const struct maps_node *roots[KEPT];
	static struct model models[KEPT];
	struct history h;
	size_t n = 0;

	history_init(&h, 12);
	for (unsigned step = 0; step < STEPS; step++) {
		/* Now and then somebody wants to keep the tree; between those moments it changes in
		 * place. */
		if (!recording_below(&h.dice, 15)) {
			roots[n % KEPT] = h.root;
			models[n++ % KEPT] = h.now;
			h.pool.owner++;
		}
		history_step(&h, 30);
		check_same(h.root, &h.now);
	}
	CHECK(n > KEPT);
	for (size_t i = 0; i < KEPT; i++)
		check_same(roots[i], &models[i]);
	arena_fini(&h.pool.arena);
}

/* Two trees that grew from one, as after a fork: each has what the other did not see. */
TEST(maps_of_two_heirs_do_not_mix)
{
	struct history a, b;

	for (u64 seed = 20; seed < 40; seed++) {
		history_init(&a, seed);
		for (unsigned i = 0; i < 60; i++)
			history_step(&a, 20);
		b = a;
		b.dice += 1000;
		for (unsigned i = 0; i < 300; i++) {
			/* One pool serves both. */
			a.pool.owner++;
			history_step(&a, 20);
			b.pool = a.pool;
			b.pool.owner++;
			history_step(&b, 20);
			a.pool = b.pool;
			check_same(a.root, &a.now);
			check_same(b.root, &b.now);
		}
		arena_fini(&a.pool.arena);
	}
}

/* ---- cuts, one by one ---- */

static struct dso one, two;

static void check_map(const struct maps_node *root, u64 va, struct dso *dso, u64 start, u64 end,
	u64 pgoff)
{
	const struct map *map = maps_find(root, va);

	CHECK(map);
	CHECK(map->dso == dso);
	CHECK(map->start == start);
	CHECK(map->end == end);
	CHECK(map->pgoff == pgoff);
}

TEST(maps_empty_tree_has_nothing)
{
	struct maps_pool pool = {.owner = 1};

	CHECK(!maps_find(NULL, 0));
	CHECK(!maps_find(NULL, UINT64_MAX));
	CHECK(!maps_overlaps(NULL, 0, UINT64_MAX));
	CHECK(!maps_remove(&pool, NULL, 0, UINT64_MAX));
	maps_each(NULL, walk_one, NULL);
	arena_fini(&pool.arena);
}

TEST(maps_new_map_in_the_middle_leaves_both_ends)
{
	struct maps_pool pool = {.owner = 1};
	const struct maps_node *root =
		maps_add(&pool, NULL, &(struct map){0x1000, 0x5000, 0x10000, &one});

	root = maps_add(&pool, root, &(struct map){0x2000, 0x3000, 0, &two});
	check_map(root, 0x1000, &one, 0x1000, 0x2000, 0x10000);
	check_map(root, 0x1fff, &one, 0x1000, 0x2000, 0x10000);
	check_map(root, 0x2000, &two, 0x2000, 0x3000, 0);
	check_map(root, 0x3000, &one, 0x3000, 0x5000, 0x12000);
	CHECK_EQ(map_offset(maps_find(root, 0x4fff), 0x4fff), 0x13fff);
	CHECK(!maps_find(root, 0x5000));
	CHECK(!maps_find(root, 0xfff));
	arena_fini(&pool.arena);
}

TEST(maps_new_map_over_several_swallows_those_inside_and_cuts_the_outer)
{
	struct maps_pool pool = {.owner = 1};
	const struct maps_node *root = NULL, *before;

	for (u64 i = 0; i < 6; i++)
		root = maps_add(&pool, root,
			&(struct map){i * 0x1000, (i + 1) * 0x1000, i << 32, &one});
	before = root;
	pool.owner++;
	root = maps_add(&pool, root, &(struct map){0x1800, 0x4800, 7, &two});
	check_map(root, 0, &one, 0, 0x1000, 0);
	check_map(root, 0x17ff, &one, 0x1000, 0x1800, 1ULL << 32);
	check_map(root, 0x1800, &two, 0x1800, 0x4800, 7);
	check_map(root, 0x47ff, &two, 0x1800, 0x4800, 7);
	check_map(root, 0x4800, &one, 0x4800, 0x5000, (4ULL << 32) + 0x800);
	check_map(root, 0x5000, &one, 0x5000, 0x6000, 5ULL << 32);
	for (u64 i = 0; i < 6; i++)
		check_map(before, i * 0x1000 + 0x900, &one, i * 0x1000, (i + 1) * 0x1000, i << 32);
	arena_fini(&pool.arena);
}

TEST(maps_same_map_twice_is_there_once)
{
	struct maps_pool pool = {.owner = 1};
	const struct maps_node *root = NULL;
	struct walk w = {0};

	for (unsigned i = 0; i < 3; i++)
		root = maps_add(&pool, root, &(struct map){0x1000, 0x2000, 0x40, &one});
	maps_each(root, walk_one, &w);
	CHECK_EQ(w.n, 1);
	check_map(root, 0x1800, &one, 0x1000, 0x2000, 0x40);
	arena_fini(&pool.arena);
}

TEST(maps_reach_to_both_ends_of_the_address_space)
{
	struct maps_pool pool = {.owner = 1};
	const struct maps_node *root = maps_add(&pool, NULL, &(struct map){0, UINT64_MAX, 0, &one});

	root = maps_add(&pool, root, &(struct map){UINT64_MAX - 0x1000, UINT64_MAX, 0x77, &two});
	check_map(root, 0, &one, 0, UINT64_MAX - 0x1000, 0);
	check_map(root, UINT64_MAX - 1, &two, UINT64_MAX - 0x1000, UINT64_MAX, 0x77);
	/* Ranges are half-open: the very last address can be in none. */
	CHECK(!maps_find(root, UINT64_MAX));
	root = maps_remove(&pool, root, 0, 1);
	CHECK(!maps_find(root, 0));
	check_map(root, 1, &one, 1, UINT64_MAX - 0x1000, 1);
	root = maps_remove(&pool, root, 0, UINT64_MAX);
	CHECK(!root);
	arena_fini(&pool.arena);
}

TEST(maps_in_order_make_no_deep_tree)
{
	enum { N = 5000 };
	struct maps_pool pool = {.owner = 1};
	const struct maps_node *root = NULL;
	struct walk w = {0};

	/* Every step copies the path to where it happens: of a list that would be half of all there
	 * is. */
	for (u64 i = 0; i < N; i++) {
		pool.owner++;
		root = maps_add(&pool, root, &(struct map){i * 16, i * 16 + 8, i, &one});
	}
	for (u64 i = 0; i < N; i++) {
		check_map(root, i * 16 + 7, &one, i * 16, i * 16 + 8, i);
		CHECK(!maps_find(root, i * 16 + 8));
	}
	maps_each(root, walk_one, &w);
	CHECK_EQ(w.n, N);
	/* 64 bytes a node, some dozens of them for each of the N steps. */
	CHECK(pool.arena.total < N * 64 * 100);
	arena_fini(&pool.arena);
}
