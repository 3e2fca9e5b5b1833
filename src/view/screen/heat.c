#include "view/screen/heat.h"

/* From cold to hot; the two thresholds in the middle are those of the text's colours. */
struct grid_style heat_style(double share)
{
	const u32 colour = share >= 0.2 ? 0xff5f5f
		: share >= 0.05         ? 0xffaf00
		: share > 0.005         ? 0x5faf5f
					: 0x5f87af;

	return (struct grid_style){.fg = GRID_RGB(colour)};
}

void heat_draw_bar(struct grid *g, unsigned row, unsigned column, double share)
{
	static const char *const eighths[] = {" ", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b",
		"\u258a", "\u2589", "\u2588"};
	unsigned n = (unsigned)(MIN(MAX(share, 0.0), 1.0) * HEAT_BAR * 8 + 0.5);

	n = share > 0 && !n ? 1 : n;
	for (unsigned i = 0; i < HEAT_BAR; i++) {
		const unsigned here = MIN(n, 8u);

		if (here)
			grid_puts(g, row, column + i,
				g->is_ascii ? here >= 4 ? "#" : "." : eighths[here],
				heat_style(share));
		n -= here;
	}
}
