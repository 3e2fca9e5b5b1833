#include "view/svg/paint.h"

#include <math.h>
#include <stdlib.h>

#include "profile/rows/codekind.h"
#include "view/svg/change.h"

enum { LIGHTEST = 80, DARKEST = 66, SHADES = 8, MORE_HUE = 8, LESS_HUE = 212 };

const struct paint_kind paint_kinds[] = {
	{CODEKIND_TASK, 250, 38, "thread"},
	{CODEKIND_PROGRAM, 12, 78, "program"},
	{CODEKIND_LIBRARY, 45, 80, "library"},
	{CODEKIND_KERNEL, 205, 62, "kernel"},
	{CODEKIND_JIT, 140, 45, "JIT"},
	{CODEKIND_INLINED, 165, 55, "inlined"},
	{CODEKIND_NAMELESS, 0, 0, "no name"},
	{CODEKIND_CUT, 285, 45, "truncated"},
	{0},
};

static unsigned channel(double hue, double saturation, double lightness, double n)
{
	const double k = fmod(n + hue / 30, 12), a = saturation * fmin(lightness, 1 - lightness);

	return (unsigned)(255 * (lightness - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1))) + 0.5);
}

/* Not every viewer of pictures knows hsl(). */
static void add_colour(struct str *out, unsigned hue, unsigned saturation, unsigned lightness)
{
	const double h = hue, s = saturation / 100.0, l = lightness / 100.0;

	str_addf(out, "#%02x%02x%02x", channel(h, s, l, 0), channel(h, s, l, 8),
		channel(h, s, l, 4));
}

/* FNV-1a: the colour is in the file, so that the hash is always the same. */
static u32 hash_of(const char *name)
{
	u32 hash = 0x811c9dc5;

	for (; *name; name++)
		hash = (hash ^ (u8)*name) * 0x01000193;
	return hash;
}

void paint_add(struct str *out, char kind, const char *name)
{
	const struct paint_kind *k = paint_kinds;

	while (k->kind && k->kind != kind)
		k++;
	if (!k->kind)
		k = &paint_kinds[1];
	add_colour(out, k->hue, k->saturation,
		name ? DARKEST + 2 * (hash_of(name) % SHADES) : (DARKEST + LIGHTEST) / 2);
}

void paint_add_change(struct str *out, int step)
{
	if (!step)
		str_add(out, "#d9d9d9");
	else
		str_addf(out, "url(#%s%d)", step > 0 ? "more" : "less", abs(step));
}

static void add_pattern(struct str *out, const char *id, int step, unsigned hue, unsigned lightness,
	const char *path)
{
	str_addf(out, "<pattern id=\"%s", id);
	if (step)
		str_addf(out, "%d", step);
	str_add(out,
		"\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect width=\"8\" height=\"8\" fill=\"");
	add_colour(out, hue, hue ? 85 : 0, lightness);
	str_addf(out, "\"/><path d=\"%s\" stroke=\"", path);
	add_colour(out, hue, hue ? 60 : 0, lightness - 22);
	str_add(out, "\" stroke-width=\"1\" fill=\"none\"/></pattern>\n");
}

void paint_add_patterns(struct str *out, bool has_changes)
{
	str_add(out, "<defs>\n");
	add_pattern(out, "dots", 0, 0, 93, "M2 2h1M6 6h1");
	add_pattern(out, "crosses", 0, 350, 80, "M0 0L8 8M0 8L8 0");
	for (int step = 1; has_changes && step <= CHANGE_STEPS; step++) {
		add_pattern(out, "more", step, MORE_HUE, 94 - 6 * (unsigned)step,
			"M-1 1L1 -1M0 8L8 0M7 9L9 7");
		add_pattern(out, "less", step, LESS_HUE, 94 - 6 * (unsigned)step,
			"M-1 7L1 9M0 0L8 8M7 -1L9 1");
	}
	str_add(out, "</defs>\n");
}
