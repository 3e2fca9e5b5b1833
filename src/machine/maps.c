#include "machine/maps.h"

#include "base/hash.h"

/*
 * A treap: a search tree by start, a heap by priority, which is a hash so that its shape is always
 * the same.
 */
struct maps_node {
	struct map map;
	struct maps_node *left, *right;
	u32 priority;
	u32 owner;
};

const struct map *maps_find(const struct maps_node *root, u64 va)
{
	const struct map *before = NULL;

	while (root) {
		if (va < root->map.start) {
			root = root->left;
		} else {
			before = &root->map;
			root = root->right;
		}
	}
	return before && va < before->end ? before : NULL;
}

bool maps_overlaps(const struct maps_node *root, u64 start, u64 end)
{
	while (root) {
		if (end <= root->map.start)
			root = root->left;
		else if (start >= root->map.end)
			root = root->right;
		else
			return true;
	}
	return false;
}

/* The node itself if it is still ours to change, else a copy that is. */
static struct maps_node *own(struct maps_pool *pool, const struct maps_node *n)
{
	struct maps_node *copy;

	if (n->owner == pool->owner)
		return (struct maps_node *)n;
	copy = arena_copy(&pool->arena, n, sizeof(*n));
	copy->owner = pool->owner;
	return copy;
}

static struct maps_node *make(struct maps_pool *pool, const struct map *map)
{
	struct maps_node *n = arena_zalloc(&pool->arena, sizeof(*n));

	n->map = *map;
	n->owner = pool->owner;
	n->priority = (u32)hash_mix(map->start, map->end);
	return n;
}

/*
 * Cuts a tree into the maps that start before va and the others. The depth is O(log n), as of random
 * trees.
 */
static void split(struct maps_pool *pool, const struct maps_node *root, u64 va,
	struct maps_node **ret_low, struct maps_node **ret_high)
{
	struct maps_node **low = ret_low, **high = ret_high;

	while (root) {
		struct maps_node *n = own(pool, root);

		if (n->map.start < va) {
			*low = n;
			low = &n->right;
			root = n->right;
		} else {
			*high = n;
			high = &n->left;
			root = n->left;
		}
	}
	*low = *high = NULL;
}

/* Everything in low starts before everything in high. */
static struct maps_node *join(struct maps_pool *pool, const struct maps_node *low,
	const struct maps_node *high)
{
	struct maps_node *root = NULL, **to = &root;

	while (low && high) {
		struct maps_node *n;

		if (low->priority >= high->priority) {
			n = own(pool, low);
			*to = n;
			to = &n->right;
			low = n->right;
		} else {
			n = own(pool, high);
			*to = n;
			to = &n->left;
			high = n->left;
		}
	}
	*to = (struct maps_node *)(low ? low : high);
	return root;
}

static const struct map *last_of(const struct maps_node *root)
{
	while (root && root->right)
		root = root->right;
	return root ? &root->map : NULL;
}

/* The tree with its last map cut off at `end`. */
static struct maps_node *cut_last(struct maps_pool *pool, const struct maps_node *root, u64 end)
{
	struct maps_node *top = own(pool, root), *n = top;

	while (n->right) {
		n->right = own(pool, n->right);
		n = n->right;
	}
	n->map.end = end;
	return top;
}

/* Takes [start, end) out of the tree; what remains lies in *ret_low and *ret_high. */
static void carve(struct maps_pool *pool, const struct maps_node *root, u64 start, u64 end,
	struct maps_node **ret_low, struct maps_node **ret_high)
{
	struct maps_node *low, *rest, *middle, *high;
	const struct map *last;
	struct map tail = {0};

	split(pool, root, start, &low, &rest);
	split(pool, rest, end, &middle, &high);
	/* Only the last map before `start` and the last one inside can reach over an edge. */
	last = last_of(middle);
	if (last && last->end > end)
		tail = *last;
	last = last_of(low);
	if (last && last->end > start) {
		if (last->end > end)
			tail = *last;
		low = cut_last(pool, low, start);
	}
	if (tail.end > end) {
		tail.pgoff += end - tail.start;
		tail.start = end;
		high = join(pool, make(pool, &tail), high);
	}
	*ret_low = low;
	*ret_high = high;
}

const struct maps_node *maps_add(struct maps_pool *pool, const struct maps_node *root,
	const struct map *map)
{
	struct maps_node *low, *high;

	pool->n_added++;
	carve(pool, root, map->start, map->end, &low, &high);
	return join(pool, join(pool, low, make(pool, map)), high);
}

const struct maps_node *maps_remove(struct maps_pool *pool, const struct maps_node *root, u64 start,
	u64 end)
{
	struct maps_node *low, *high;

	carve(pool, root, start, end, &low, &high);
	return join(pool, low, high);
}

void maps_each(const struct maps_node *root, void (*each)(void *ctx, const struct map *map),
	void *ctx)
{
	/* Recursion is as deep as the tree: about 2 log2(n). */
	if (!root)
		return;
	maps_each(root->left, each, ctx);
	each(ctx, &root->map);
	maps_each(root->right, each, ctx);
}

const struct maps_node *maps_copy(struct maps_pool *to, const struct maps_node *root)
{
	struct maps_node *copy;

	if (!root)
		return NULL;
	copy = arena_copy(&to->arena, root, sizeof(*root));
	copy->owner = 0;
	copy->left = (struct maps_node *)maps_copy(to, root->left);
	copy->right = (struct maps_node *)maps_copy(to, root->right);
	return copy;
}
