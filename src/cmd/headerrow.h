/*
 * headerrow.h - the options --header, --header-only and -I, which print what a recording says about itself.
 *
 * A command with these rows has the members has_header, has_header_only and has_details among its options.
 */
#ifndef PACE_CMD_HEADERROW_H
#define PACE_CMD_HEADERROW_H

#include "base/opts.h"

#define HEADER_ROWS(type)                                                           \
	{0, "header", OPT_BOOL, offsetof(type, has_header), NULL,                   \
		"first print what the recording says about itself"},                \
		{0, "header-only", OPT_BOOL, offsetof(type, has_header_only), NULL, \
			"print only that"},                                         \
	{                                                                           \
		'I', "show-info", OPT_BOOL, offsetof(type, has_details), NULL,      \
			"with --header: CPU and memory topology in full"            \
	}

#endif
