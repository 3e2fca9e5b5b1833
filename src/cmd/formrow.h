/*
 * formrow.h - the option --format, which takes the name of any form (view/forms/forms.h).
 *
 * A command with this row has a `struct form_choice` among its options, which its other rows may set, too
 * (is_chosen). It calls form_check() before form_chosen().
 */
#ifndef PACE_CMD_FORMROW_H
#define PACE_CMD_FORMROW_H

#include "base/opts.h"
#include "view/forms/forms.h"

#define FORM_ROW(type, member)                                                       \
	{                                                                            \
		0, "format", OPT_STR, offsetof(type, member.name), "FORM",           \
			"print this form, like json; an unknown name lists them all" \
	}

#endif
