#include "symbol/jit/perfmap.h"

#include <errno.h>
#include <string.h>

#include "base/fd.h"
#include "base/num.h"
#include "base/search.h"
#include "base/sort.h"

void perfmap_init(struct perfmap *p)
{
	memset(p, 0, sizeof(*p));
}

void perfmap_fini(struct perfmap *p)
{
	vec_fini(&p->lines);
	vec_fini(&p->ranges);
	arena_fini(&p->names);
	str_fini(&p->line);
}

/* ---- lines ---- */

static bool take_hex(const char **at, u64 *ret_v)
{
	const char *p = *at;

	p += strspn(p, " \t");
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	if (!num_scan(&p, 16, ret_v) || (*p != ' ' && *p != '\t'))
		return false;
	*at = p + strspn(p, " \t");
	return true;
}

static void take_line(struct perfmap *p, const char *text)
{
	struct perfmap_line line;
	u64 size;
	size_t n;

	if (!*text)
		return;
	if (!take_hex(&text, &line.start) || !take_hex(&text, &size) || !*text ||
		line.start + size < line.start) {
		p->n_bad++;
		return;
	}
	if (!size)
		return;
	n = strlen(text);
	line.end = line.start + size;
	line.name = arena_strdup(&p->names, text, MIN(n, (size_t)PERFMAP_NAME));
	vec_add(&p->lines, line);
}

static void end_line(struct perfmap *p)
{
	if (p->line.n && p->line.at[p->line.n - 1] == '\r')
		str_cut(&p->line, p->line.n - 1);
	take_line(p, str_text(&p->line));
	str_clear(&p->line);
	p->is_overlong = false;
}

/* Appends to the incomplete line, up to the longest name and its numbers. */
static void grow_line(struct perfmap *p, const char *text, size_t n)
{
	enum { LINE = PERFMAP_NAME + 64 };

	if (p->is_overlong)
		return;
	str_addn(&p->line, text, MIN(n, LINE - p->line.n));
	p->is_overlong = p->line.n == LINE;
}

bool perfmap_add(struct perfmap *p, const void *data, size_t n)
{
	const char *at = data, *end = at + n, *newline;

	while (at < end) {
		if (p->lines.n == PERFMAP_LINES || p->n_bytes >= PERFMAP_BYTES) {
			p->is_cut = true;
			return false;
		}
		newline = memchr(at, '\n', (size_t)(end - at));
		grow_line(p, at, (size_t)((newline ? newline : end) - at));
		p->n_bytes += (u64)((newline ? newline + 1 : end) - at);
		if (!newline)
			return true;
		end_line(p);
		at = newline + 1;
	}
	return true;
}

int perfmap_read(struct perfmap *p, int fd, struct err *err)
{
	enum { PIECE = 64 << 10 };
	char *piece = mem_alloc(PIECE);
	ssize_t n;

	do {
		n = fd_read(fd, piece, PIECE);
	} while (n > 0 && perfmap_add(p, piece, (size_t)n));
	mem_free(piece);
	if (n < 0)
		return err_set(err, ERR_SYS, "read: %s", strerror(errno));
	perfmap_finish(p);
	return 0;
}

/* ---- ranges ---- */

/* The lines that cover the sweep's address, the latest in the file on top; some may have ended already. */
struct cover {
	const struct perfmap *map;
	u32 *at;
	size_t n;
};

static void cover_add(struct cover *c, u32 line)
{
	size_t i = c->n++;

	for (; i && c->at[(i - 1) / 2] < line; i = (i - 1) / 2)
		c->at[i] = c->at[(i - 1) / 2];
	c->at[i] = line;
}

static void cover_drop(struct cover *c)
{
	u32 last = c->at[--c->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < c->n) {
		if (child + 1 < c->n && c->at[child + 1] > c->at[child])
			child++;
		if (c->at[child] <= last)
			break;
		c->at[i] = c->at[child];
		i = child;
	}
	c->at[i] = last;
}

/* The line that counts at an address, or NULL. */
static const struct perfmap_line *cover_top(struct cover *c, u64 address)
{
	while (c->n && c->map->lines.at[c->at[0]].end <= address)
		cover_drop(c);
	return c->n ? &c->map->lines.at[c->at[0]] : NULL;
}

/* Appends a range. *first is the line's first range: two ranges with the same one are one function. */
static void add_range(struct perfmap *p, u64 start, u64 end, const struct perfmap_line *line,
	u64 *first)
{
	struct perfmap_range *last = p->ranges.n ? &p->ranges.at[p->ranges.n - 1] : NULL;

	if (*first == UINT64_MAX)
		*first = start;
	if (last && last->end == start && last->symbol == *first)
		last->end = end;
	else
		vec_add(&p->ranges, ((struct perfmap_range){start, end, *first, line->name}));
}

static void sweep(struct perfmap *p, const struct sort_item *items, struct cover *cover,
	u64 *firsts)
{
	size_t n = p->lines.n, i = 0;
	u64 at = 0;

	while (i < n || cover->n) {
		const struct perfmap_line *line;
		u64 end;

		while (i < n && items[i].key <= at)
			cover_add(cover, (u32)items[i++].value);
		line = cover_top(cover, at);
		if (!line) {
			at = i < n ? items[i].key : at;
			continue;
		}
		end = i < n ? MIN(line->end, items[i].key) : line->end;
		add_range(p, at, end, line, &firsts[line - p->lines.at]);
		at = end;
	}
}

void perfmap_finish(struct perfmap *p)
{
	size_t n;
	struct sort_item *items;
	struct cover cover = {.map = p};
	u64 *firsts;

	if (!p->is_cut)
		end_line(p);
	n = p->lines.n;
	items = mem_alloc((n + 1) * sizeof(*items));
	firsts = mem_alloc((n + 1) * sizeof(*firsts));
	cover.at = mem_alloc((n + 1) * sizeof(*cover.at));
	for (size_t i = 0; i < n; i++) {
		items[i] = (struct sort_item){p->lines.at[i].start, i};
		firsts[i] = UINT64_MAX;
	}
	sort_by_key(items, n);
	sweep(p, items, &cover, firsts);
	mem_free(cover.at);
	mem_free(firsts);
	mem_free(items);
	vec_fini(&p->lines);
	str_fini(&p->line);
}

const struct perfmap_range *perfmap_find(const struct perfmap *p, u64 address)
{
	/* `start` is the first member, so search_behind() compares it; ranges do not overlap. */
	size_t i = search_behind(p->ranges.at, p->ranges.n, sizeof(*p->ranges.at), address);

	return i && address < p->ranges.at[i - 1].end ? &p->ranges.at[i - 1] : NULL;
}
