#include "profile/calls.h"

#include "base/hash.h"

void calls_init(struct calls *c, const struct profile *p)
{
	struct table index = {0};

	memset(c, 0, sizeof(*c));
	c->of_stack = mem_alloc(p->stacks.n * sizeof(*c->of_stack));
	c->of_stack[0] = 0;
	vec_add(&c->nodes, ((struct calls_node){0}));
	for (size_t i = 1; i < p->stacks.n; i++) {
		u32 parent = c->of_stack[p->stacks.at[i].parent];
		u32 symbol = p->frames.at[p->stacks.at[i].frame].symbol;
		u64 hash = hash_u64((u64)parent << 32 | symbol);
		struct table_probe probe = table_probe(&index, hash);
		u32 k;

		while ((k = table_next(&index, &probe)) != TABLE_NONE)
			if (c->nodes.at[k].parent == parent && c->nodes.at[k].symbol == symbol)
				break;
		if (k == TABLE_NONE) {
			k = c->nodes.n;
			table_add(&index, hash, k);
			vec_add(&c->nodes, ((struct calls_node){.parent = parent,
						   .symbol = symbol,
						   .depth = c->nodes.at[parent].depth + 1,
						   .next_sibling = c->nodes.at[parent].first_child}));
			c->nodes.at[parent].first_child = k;
		}
		c->of_stack[i] = k;
	}
	table_fini(&index);
}

void calls_fini(struct calls *c)
{
	vec_fini(&c->nodes);
	mem_free(c->of_stack);
	c->of_stack = NULL;
}
