/*
 * formrow.h - the option --format, which takes the name of any form (view/forms/forms.h).
 *
 * Whoever has it has a `struct form_choice` among its options, which rows of its own may choose from, too
 * (is_chosen), and asks form_check() before form_chosen().
 */
#ifndef PACE_CMD_FORMROW_H
#define PACE_CMD_FORMROW_H

#include "base/opts.h"
#include "view/forms/forms.h"

#define FORM_ROW(type, member)                                                                  \
	{                                                                                       \
		0, "format", OPT_STR, offsetof(type, member.name), "FORM",                      \
			"the form of that name, like json; a name that none has lists them all" \
	}

#endif
