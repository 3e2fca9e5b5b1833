#include "view/chart/paths.h"

#include "base/num.h"

/* A viewer skips paths that are out of sight as a whole. */
enum { INTERVALS_MOST = 4000, EXACT = 1 << 24 };

u64 paths_tick(u64 span_ns)
{
	u64 tick = 1;

	for (unsigned i = 0; span_ns / tick >= EXACT; i++)
		tick = i % 3 == 1 ? tick / 2 * 5 : tick * 2;
	return tick;
}

const char *paths_class(enum paths_look look)
{
	static const char *const classes[] = {"n", "r", "i", "d", "e", "s", "w", "b", "h", "m", "l",
		"disk", "net", "sync", "poll", "error"};

	return classes[look];
}

void paths_init(struct paths *p, struct out *out, u64 begin, u64 tick_ns)
{
	*p = (struct paths){.out = out, .begin = begin, .tick_ns = tick_ns};
}

void paths_fini(struct paths *p)
{
	for (size_t i = 0; i < PATHS_LOOKS; i++)
		str_fini(&p->pens[i].d);
}

static void flush_pen(struct paths *p, enum paths_look look)
{
	struct paths_pen *pen = &p->pens[look];

	if (!pen->n)
		return;
	str_addf(&p->out->text, "<path class=\"%s\" d=\"", paths_class(look));
	str_addn(&p->out->text, pen->d.at, pen->d.n);
	str_add(&p->out->text, "\"/>\n");
	str_clear(&pen->d);
	pen->n = 0;
	out_flush_some(p->out);
}

/* Moves the pen; numbers are as short as they can be. */
static void go_to(struct paths_pen *pen, u64 x, double y)
{
	if (!pen->n || y < pen->y || y > pen->y) {
		str_addc(&pen->d, 'M');
		num_add_u64(&pen->d, x);
		str_addf(&pen->d, " %g", y);
		pen->y = y;
		return;
	}
	if (x == pen->x)
		return;
	str_addc(&pen->d, 'm');
	if (x < pen->x)
		str_addc(&pen->d, '-');
	num_add_u64(&pen->d, x < pen->x ? pen->x - x : x - pen->x);
	str_add(&pen->d, " 0");
}

void paths_add(struct paths *p, enum paths_look look, u64 from, u64 until, double y)
{
	struct paths_pen *pen = &p->pens[look];
	const u64 x = paths_x(p, from), end = MAX(paths_x(p, until), x + 1);

	go_to(pen, x, y);
	str_addc(&pen->d, 'h');
	num_add_u64(&pen->d, end - x);
	pen->x = end;
	if (++pen->n == INTERVALS_MOST)
		flush_pen(p, look);
}

void paths_mark(struct paths *p, enum paths_look look, u64 time, double y, double height)
{
	struct paths_pen *pen = &p->pens[look];

	str_addc(&pen->d, 'M');
	num_add_u64(&pen->d, paths_x(p, time));
	str_addf(&pen->d, " %gv%g", y, height);
	if (++pen->n == INTERVALS_MOST)
		flush_pen(p, look);
}

void paths_flush(struct paths *p)
{
	for (size_t i = 0; i < PATHS_LOOKS; i++)
		flush_pen(p, i);
}
