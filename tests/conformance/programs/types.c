/*
 * types.c - functions whose accesses to structs are known. Each says in front of it which members it accesses, whatever the
 * compiler makes of it:
 *
 *     types NAME: MEMBER; MEMBER
 *
 * '?' behind one: compilers may do without it, like a load whose result another one gives.
 */
#include <stdint.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

struct pos {
	int x, y;
};

struct node {
	long key;
	struct pos pos;
	struct node *next;
	char name[16];
};

typedef struct {
	struct node *head;
	int n;
} bucket;

struct table {
	int n_buckets;
	bucket buckets[64];
};

struct shape {
	int kind;
	union {
		struct pos corner;
		double radius;
	};
	unsigned is_open : 1, is_filled : 3;
};

struct big {
	long a, b, c, d;
};

struct big global;
static struct big statics[16];
struct node *list;

/* types walk: struct node +0 (key); struct node +0xc (pos.y); struct node +0x10 (next) */
NOINLINE long walk(const struct node *n)
{
	long s = 0;

	for (; n; n = n->next)
		s += n->key + n->pos.y;
	return s;
}

/* types find: struct table +0x8 (buckets[].head)?; bucket +0 (head)?; struct node +0 (key); struct node +0x10 (next) */
NOINLINE struct node *find(struct table *t, long key)
{
	bucket *b = &t->buckets[key % 64];

	for (struct node *n = b->head; n; n = n->next)
		if (n->key == key)
			return n;
	return NULL;
}

/* types elements: struct big +0x8 (b); struct big +0x18 (d) */
NOINLINE long elements(const struct big *all, int n)
{
	long s = 0;

	for (int i = 0; i < n; i++)
		s += all[i].b ^ all[i].d;
	return s;
}

/* types globals: struct big +0x8 (b); struct big +0x10 (c) */
NOINLINE void globals(int i)
{
	global.b += i;
	statics[i].c++;
}

/* types chain: struct table +0x8 (buckets[].head); struct node +0x10 (next); struct node +0x8 (pos.x) */
NOINLINE long chain(struct table *t, int i)
{
	return t->buckets[i].head->next->next->pos.x;
}

/* types result: struct node +0x1b (name[]) */
NOINLINE int result(struct table *t, long key)
{
	return find(t, key)->name[3];
}

/* types through: struct node +0x10 (next); struct node +0 (key) */
NOINLINE long through(void)
{
	return list->next->next->key;
}

/* types shapes: struct shape +0 (kind); struct shape +0x8 (corner|radius); struct shape +0x10 (is_open|is_filled) */
NOINLINE double shapes(struct shape *s)
{
	s->is_filled = 2;
	return s->kind ? s->radius : 0;
}

/* types ways: struct node +0x10 (next); struct node +0 (key) */
NOINLINE long ways(struct node *a, struct node *b, int which)
{
	struct node *n = which & 1 ? a->next : b->next;

	while (which-- > 0)
		n = n->next;
	return n->key;
}

static inline __attribute__((always_inline)) long inner(struct big *b)
{
	return b->c * b->c;
}

/* types inlined: struct big +0x10 (c); struct big +0 (a) */
NOINLINE long inlined(struct big *b)
{
	return inner(b) + b->a;
}

/* types switched: struct node +0 (key); struct node +0x8 (pos.x); struct node +0xc (pos.y); struct node +0x10 (next) */
NOINLINE long switched(struct node *n, int what)
{
	switch (what) {
	case 0:
		return n->key;
	case 1:
		return n->pos.x * 3;
	case 2:
		return n->pos.y / 7;
	case 3:
		return (long)(uintptr_t)n->next;
	case 4:
		return n->next->key + 5;
	case 5:
		return n->next->pos.x - 9;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct table *t = calloc(1, sizeof(*t));
	struct node *n = calloc(1, sizeof(*n));
	struct big *b = calloc(16, sizeof(*b));
	struct shape s = {.kind = argc};

	(void)argv;
	n->next = list = t->buckets[0].head = n;
	globals(argc);
	s.radius = 1;
	return (int)(find(t, 0)->key + chain(t, 0) + elements(b, 16) + result(t, 0) + through() +
		(long)shapes(&s) + ways(n, n, argc) + inlined(b) + switched(n, argc) +
		(argc > 9 ? walk(n) : 0));
}
