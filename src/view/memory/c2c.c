#include "view/memory/c2c.h"

#include "base/sort.h"

u64 c2c_hot(const struct c2c_options *o, const struct sharing_count *c)
{
	switch (o->display) {
	case C2C_LOCAL:
		return c->kinds[DATASRC_LOCAL_HITM];
	case C2C_REMOTE:
		return c->kinds[DATASRC_REMOTE_HITM];
	case C2C_PEER:
		return sharing_peers(c);
	case C2C_TOTAL:
		break;
	}
	return sharing_hitm(c);
}

u32 *c2c_order(const struct sharing *s, const struct c2c_options *o, size_t *ret_n)
{
	struct sort_item *items = mem_alloc((s->lines.n + 1) * sizeof(*items));
	u32 *order = mem_alloc((s->lines.n + 1) * sizeof(*order));
	size_t n = 0;

	vec_each(line, &s->lines) {
		u64 hot = c2c_hot(o, &line->count);

		/* The hottest first; equal ones in the order of sharing_find(). */
		if (hot)
			items[n++] =
				(struct sort_item){UINT64_MAX - hot, (u64)(line - s->lines.at)};
	}
	sort_by_key(items, n);
	for (size_t i = 0; i < n; i++)
		order[i] = (u32)items[i].value;
	mem_free(items);
	*ret_n = n;
	return order;
}

const char *c2c_verdict(enum sharing_verdict verdict)
{
	return verdict == SHARING_TRUE ? "true" : verdict == SHARING_FALSE ? "false" : NULL;
}
