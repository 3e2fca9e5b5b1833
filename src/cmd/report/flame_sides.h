/*
 * flame_sides.h - flame, of several recordings: one picture of what changed between two sides.
 *
 * In       recordings, A's first; options that hold for each of them
 * Out      the picture, on an open descriptor; what it says about itself
 * Owns     nothing
 * Errors   those of the files; ERR_INVAL: options that a recording cannot do
 */
#ifndef PACE_CMD_FLAME_SIDES_H
#define PACE_CMD_FLAME_SIDES_H

#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/report/report_options.h"
#include "profile/diff/delta.h"
#include "view/svg/picture.h"

struct flame_sides {
	const struct cmd *cmd;
	const struct report_options *options;
	VEC(struct delta_recording) recordings;
	const char *scale; /* level, total or run; NULL: as the recordings are */
	struct picture picture;
	bool is_unclean; /* something was warned about, or could not be read */
};

int flame_sides_draw(struct flame_sides *f, struct out *out, struct err *err);
void flame_sides_fini(struct flame_sides *f);

#endif
