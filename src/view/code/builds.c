#include "view/code/builds.h"

const char *builds_state(const struct codediff_part *part)
{
	if (!part->n_blocks[CODEDIFF_A])
		return "new";
	if (!part->n_blocks[CODEDIFF_B])
		return "gone";
	if (part->n[CODEDIFF_GONE] || part->n[CODEDIFF_NEW])
		return "changed";
	return part->n[CODEDIFF_ALIKE] ? "alike" : "same";
}

bool builds_find_place(const struct codediff *d, const struct codediff_part *part,
	struct builds_place *ret_place)
{
	int side = part->n_blocks[CODEDIFF_B] ? CODEDIFF_B : CODEDIFF_A;
	const struct assembly *a = d->sides[side];
	struct builds_place place = {0};

	for (u32 i = part->first_line; i < part->first_line + part->n_lines; i++) {
		u32 row = d->lines.at[i].rows[side];
		const struct assembly_frame *f;

		if (row == CODEDIFF_NONE || !a->rows.at[row].n_frames)
			continue;
		f = &a->frames.at[a->rows.at[row].first_frame];
		if (f->file == ASSEMBLY_NONE || !f->line)
			continue;
		if (!place.file)
			place = (struct builds_place){&a->files.at[f->file], f->line, f->line};
		if (place.file != &a->files.at[f->file])
			continue;
		place.first = MIN(place.first, f->line);
		place.last = MAX(place.last, f->line);
	}
	if (place.file)
		*ret_place = place;
	return place.file != NULL;
}
