#include "symbol/embed/mapcut.h"

#include <stdlib.h>

#include "base/fd.h"
#include "base/search.h"
#include "base/sort.h"
#include "symbol/jit/jitdump.h"
#include "symbol/jit/perfmap.h"

enum { PREFIX = 16, HEADER = 40, LOAD_FIXED = 40, LOAD = 0, CLOSE = 3, CODE_MAX = 1 << 28 };

struct mapcut {
	struct embedder *embedder;
	struct perfmap map; /* lines only */
	VEC(u64) times;     /* by line: when it was first in the file */
	VEC(u32) wanted;    /* lines, ascending */
	const u64 *places;
	size_t n_places;
	u64 at; /* offset of the next record */
};

/* Reads the lines up to `size`, which are valid since `time`. */
static bool read_to(struct mapcut *c, int fd, u64 size, u64 time)
{
	enum { PIECE = 64 << 10 };
	static _Thread_local char piece[PIECE];

	while (c->map.n_bytes < size) {
		ssize_t n = fd_read_some_at(fd, piece, MIN((u64)PIECE, size - c->map.n_bytes),
			c->map.n_bytes);

		if (n <= 0 || !perfmap_add(&c->map, piece, (size_t)n))
			return false;
		while (c->times.n < c->map.lines.n)
			vec_add(&c->times, time);
	}
	return true;
}

static void read_lines(struct mapcut *c, int fd, u32 pid, const struct growth *growth)
{
	vec_each(mark, &growth->marks) {
		if (mark->pid != pid)
			continue;
		/* The file was begun anew, by another process with the same pid. */
		if (mark->size < c->map.n_bytes) {
			perfmap_fini(&c->map);
			perfmap_init(&c->map);
			c->times.n = 0;
		}
		if (!read_to(c, fd, mark->size, mark->time))
			return;
	}
}

/* The index of the first place at or above an address. */
static size_t place_from(const struct mapcut *c, u64 address)
{
	return search_from(c->places, c->n_places, sizeof(*c->places), address);
}

static bool has_place(const struct mapcut *c, const struct perfmap_line *line)
{
	size_t i = place_from(c, line->start);

	return i < c->n_places && c->places[i] < line->end;
}

/* Chooses the lines that overlap others and were sampled; for all other lines the perf map is enough. */
static void choose(struct mapcut *c, const struct sort_item *items, size_t n)
{
	const struct perfmap_line *lines = c->map.lines.at;

	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++)
		if (has_place(c, &lines[items[i].value]) &&
			lines[items[i].value].end - lines[items[i].value].start <= CODE_MAX)
			vec_add(&c->wanted, (u32)items[i].value);
}

static void choose_all(struct mapcut *c)
{
	size_t n = c->map.lines.n, first = 0;
	struct sort_item *items = mem_alloc((n + 1) * sizeof(*items));
	const struct perfmap_line *lines = c->map.lines.at;
	u64 end = 0;

	for (size_t i = 0; i < n; i++)
		items[i] = (struct sort_item){lines[i].start, i};
	sort_by_key(items, n);
	for (size_t i = 0; i < n; i++) {
		const struct perfmap_line *line = &lines[items[i].value];

		if (line->start >= end) {
			choose(c, items + first, i - first);
			first = i;
		}
		end = MAX(end, line->end);
	}
	choose(c, items + first, n - first);
	mem_free(items);
}

static void put(struct str *to, const void *p, size_t n)
{
	str_addn(to, p, n);
}

static void put_u32(struct str *to, u32 v)
{
	put(to, &v, sizeof(v));
}

static void put_u64(struct str *to, u64 v)
{
	put(to, &v, sizeof(v));
}

static void add_piece(struct mapcut *c, const struct str *piece, u64 size)
{
	embedder_add_piece(c->embedder, c->at, piece->at, piece->n);
	c->at += size;
}

static u64 load_size(const struct perfmap_line *line)
{
	return PREFIX + LOAD_FIXED + strlen(line->name) + 1 + (line->end - line->start);
}

/* Adds a load record. Its code is a hole. */
static void add_load(struct mapcut *c, u32 i, u64 time, u32 pid, struct str *room)
{
	const struct perfmap_line *line = &c->map.lines.at[i];
	u64 size = load_size(line);

	str_clear(room);
	put_u32(room, LOAD);
	put_u32(room, (u32)size);
	put_u64(room, time);
	put_u32(room, pid);
	put_u32(room, pid);
	put_u64(room, line->start);
	put_u64(room, line->start);
	put_u64(room, line->end - line->start);
	put_u64(room, i);
	put(room, line->name, strlen(line->name) + 1);
	add_piece(c, room, size);
}

/* The next place without a line, from i on. next[i] points to a place at or after i; paths are shortened. */
static size_t free_place(size_t *next, size_t i)
{
	while (next[i] != i)
		i = next[i] = next[next[i]];
	return i;
}

/* Finds which lines were the first at all of their places. The caller frees. */
static bool *find_firsts(const struct mapcut *c)
{
	bool *is_first = mem_zalloc((c->wanted.n + 1) * sizeof(*is_first));
	size_t *next = mem_alloc((c->n_places + 1) * sizeof(*next));

	for (size_t i = 0; i <= c->n_places; i++)
		next[i] = i;
	for (size_t k = 0; k < c->wanted.n; k++) {
		const struct perfmap_line *line = &c->map.lines.at[c->wanted.at[k]];
		size_t from = place_from(c, line->start), to = place_from(c, line->end), n = 0;

		for (size_t i = free_place(next, from); i < to; i = free_place(next, i), n++)
			next[i] = i + 1;
		is_first[k] = n == to - from;
	}
	mem_free(next);
	return is_first;
}

/* The size of the dump. Lines that exceed the limit of a dump are left out. */
static u64 dump_size(struct mapcut *c)
{
	u64 size = HEADER + PREFIX;
	size_t n = 0;

	for (size_t k = 0; k < c->wanted.n; k++) {
		u64 next = load_size(&c->map.lines.at[c->wanted.at[k]]);

		if (size + next > EMBEDDED_DUMP_LIMIT)
			continue;
		size += next;
		c->wanted.at[n++] = c->wanted.at[k];
	}
	c->wanted.n = n;
	return size;
}

static void add_dump(struct mapcut *c, const char *path, u32 pid)
{
	struct str room = {0};
	u64 size = dump_size(c);
	bool *is_first = find_firsts(c);

	embedder_add_dump(c->embedder, path, pid, size);
	put_u32(&room, 0x4a695444);
	put_u32(&room, 1);
	put_u32(&room, HEADER);
	put_u32(&room, 0);
	put_u32(&room, 0);
	put_u32(&room, pid);
	put_u64(&room, 0);
	put_u64(&room, JITDUMP_NAMES_ONLY);
	add_piece(c, &room, HEADER);
	/* Times must not go back: lines that are valid from the beginning come first. */
	for (size_t k = 0; k < c->wanted.n; k++)
		if (is_first[k])
			add_load(c, c->wanted.at[k], 0, pid, &room);
	for (size_t k = 0; k < c->wanted.n; k++)
		if (!is_first[k])
			add_load(c, c->wanted.at[k], c->times.at[c->wanted.at[k]], pid, &room);
	str_clear(&room);
	put_u32(&room, CLOSE);
	put_u32(&room, PREFIX);
	put_u64(&room, 0);
	add_piece(c, &room, PREFIX);
	str_fini(&room);
	mem_free(is_first);
}

SORT_NUMBERS(by_number, u32)

bool mapcut_add(struct embedder *e, int fd, const char *path, u32 pid, const struct growth *growth,
	const u64 *places, size_t n)
{
	struct mapcut c = {.embedder = e, .places = places, .n_places = n};
	bool is_there;

	perfmap_init(&c.map);
	read_lines(&c, fd, pid, growth);
	choose_all(&c);
	is_there = c.wanted.n > 0;
	if (is_there) {
		qsort(c.wanted.at, c.wanted.n, sizeof(u32), by_number);
		add_dump(&c, path, pid);
	}
	perfmap_fini(&c.map);
	vec_fini(&c.times);
	vec_fini(&c.wanted);
	return is_there;
}
