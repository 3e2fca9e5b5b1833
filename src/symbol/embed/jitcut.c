#include "symbol/embed/jitcut.h"

#include "base/fd.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/table.h"

enum { HEADER = 40, PREFIX = 16, FIELDS = 64 };
enum record_id { LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING_INFO };

/* A function, by its number in the dump. */
struct function {
	u64 index;
	bool is_kept; /* the code that has the number now */
};

/* Records [from, to) are kept, but not added yet: adjacent records become one piece. */
struct cut {
	struct embedder *embedder;
	const struct jitdump *dump;
	const u64 *places;
	size_t n;
	u64 left;
	u64 from, to;
	u64 lines_from, lines_to, lines_va; /* waiting for their code */
	u64 tables_from, tables_to;         /* the same for unwinding tables */
	VEC(struct function) functions;     /* those that were ever kept */
	struct table by_index;
	bool is_full;
};

static void end_piece(struct cut *c)
{
	u64 size = c->to - c->from;
	u8 *p;

	if (!size)
		return;
	if (size > c->left) {
		c->is_full = true;
		return;
	}
	c->left -= size;
	p = mem_alloc(size);
	if (!fd_read_at(c->dump->fd, p, size, c->from))
		embedder_add_piece(c->embedder, c->from, p, size);
	mem_free(p);
}

static void keep(struct cut *c, u64 from, u64 to)
{
	if (from == c->to) {
		c->to = to;
		return;
	}
	end_piece(c);
	c->from = from;
	c->to = to;
}

static bool has_place(const struct cut *c, u64 from, u64 to)
{
	size_t low = search_from(c->places, c->n, sizeof(*c->places), from);

	return low < c->n && c->places[low] < to;
}

static struct function *find_function(struct cut *c, u64 index)
{
	struct table_probe probe = table_probe(&c->by_index, hash_u64(index));
	u32 i;

	while ((i = table_next(&c->by_index, &probe)) != TABLE_NONE)
		if (c->functions.at[i].index == index)
			return &c->functions.at[i];
	return NULL;
}

static void keep_function(struct cut *c, u64 index)
{
	struct function *known = find_function(c, index);

	if (known) {
		known->is_kept = true;
		return;
	}
	table_add(&c->by_index, hash_u64(index), c->functions.n);
	vec_add(&c->functions, ((struct function){index, true}));
}

static void take_load(struct cut *c, struct bytes *b, u64 at, u64 size)
{
	u64 va, code_size, index;

	if (!bytes_skip(b, 16) || !bytes_u64(b, &va) || !bytes_u64(b, &code_size) ||
		!bytes_u64(b, &index) || code_size > size)
		return;
	if (!has_place(c, at + size - code_size, at + size)) {
		struct function *known = find_function(c, index);

		/* The number belongs to other code from now on. */
		if (known)
			known->is_kept = false;
	} else {
		bool has_lines = c->lines_to && c->lines_va == va;

		/* In the order of the file. */
		if (has_lines && c->lines_from < c->tables_from)
			keep(c, c->lines_from, c->lines_to);
		if (c->tables_to)
			keep(c, c->tables_from, c->tables_to);
		if (has_lines && c->lines_from >= c->tables_from)
			keep(c, c->lines_from, c->lines_to);
		keep(c, at, at + size);
		keep_function(c, index);
	}
	c->lines_to = c->tables_to = c->tables_from = 0;
}

static void take_record(struct cut *c, u32 id, struct bytes *b, u64 at, u64 size)
{
	const struct function *moved;
	u64 index;

	switch (id) {
	case LOAD:
		take_load(c, b, at, size);
		break;
	case MOVE:
		if (bytes_skip(b, 40) && bytes_u64(b, &index) &&
			(moved = find_function(c, index)) && moved->is_kept)
			keep(c, at, at + size);
		break;
	case DEBUG_INFO:
		if (bytes_u64(b, &c->lines_va)) {
			c->lines_from = at;
			c->lines_to = at + size;
		}
		break;
	case UNWINDING_INFO:
		c->tables_from = at;
		c->tables_to = at + size;
		break;
	case CLOSE:
		keep(c, at, at + size);
		break;
	}
}

/* Up to n bytes at `at`, as many as the file has. */
static struct bytes look_at(const struct cut *c, u64 at, u8 *room, size_t n)
{
	ssize_t got = fd_read_some_at(c->dump->fd, room, n, at);
	struct bytes b = bytes_of(room, got > 0 ? (size_t)got : 0);

	b.swap = c->dump->swap;
	return b;
}

bool jitcut_add(struct embedder *e, const struct jitdump *d, const char *path, u32 pid,
	const u64 *places, size_t n, u64 left)
{
	struct cut c = {.embedder = e, .dump = d, .places = places, .n = n, .left = left};
	u8 room[PREFIX + FIELDS];
	struct bytes b = look_at(&c, 0, room, HEADER);
	u32 size = 0, id;
	u64 at;

	if (!bytes_skip(&b, 8) || !bytes_u32(&b, &size) || size < HEADER)
		return true;
	embedder_add_dump(e, path, pid, d->at);
	keep(&c, 0, size);
	/* As far as jitdump_next() came: after that the dump is damaged, or was not written yet. */
	for (at = size; at < d->at; at += size) {
		b = look_at(&c, at, room, sizeof(room));
		if (!bytes_u32(&b, &id) || !bytes_u32(&b, &size) || !bytes_skip(&b, 8) ||
			size < PREFIX || size > d->at - at)
			break;
		take_record(&c, id, &b, at, size);
	}
	end_piece(&c);
	vec_fini(&c.functions);
	table_fini(&c.by_index);
	return !c.is_full;
}
