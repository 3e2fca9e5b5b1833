/*
 * colourrow.h - the option --stdio-color, which says whether text has colours (view/text/colour.h).
 *
 * A command's struct of options has an `enum colour_mode`, which COLOUR_SETTER() names before the table that has COLOUR_ROW; the command
 * asks colour_is_on().
 */
#ifndef PACE_CMD_COLOURROW_H
#define PACE_CMD_COLOURROW_H

#include "base/opts.h"
#include "view/text/colour.h"

/* clang-format off: a row of option tables */
#define COLOUR_SETTER(type, member)                                                \
	static int set_colour(void *options, const char *value, struct err *err)   \
	{                                                                          \
		return colour_parse(value, &((struct type *)options)->member, err); \
	}
#define COLOUR_ROW                                                                                                 \
	{                                                                                                          \
		0, "stdio-color", OPT_CALL, 0, "MODE",                                                             \
			"colours in text: always, never or auto (default: on a terminal, unless NO_COLOR is set)", \
			.flags = OPT_OPTIONAL, .call = set_colour                                                  \
	}
/* clang-format on */

#endif
