#include "view/stat/stat_vs.h"

const char *stat_vs_verdict_name(enum versus_verdict verdict)
{
	static const char *const names[] = {
		[VERSUS_FEW] = "too few runs",
		[VERSUS_SAME] = "same",
		[VERSUS_NOISE] = "noise",
		[VERSUS_LESS] = "less",
		[VERSUS_MORE] = "more",
	};

	return names[verdict];
}

const char *stat_vs_end_name(enum stat_vs_end end)
{
	static const char *const names[] = {
		[STAT_VS_ASKED] = "repeat",
		[STAT_VS_PRECISE] = "precision",
		[STAT_VS_TIME] = "timeout",
		[STAT_VS_LIMIT] = "limit",
		[STAT_VS_SIGNAL] = "signal",
	};

	return names[end];
}

void stat_vs_lines_make(struct stat_vs_lines *lines, const struct pairs *pairs,
	const struct stat_options *o, u64 seed)
{
	vec_each(row, &pairs->rows) {
		struct stat_vs_line *l;

		/* An unsupported event that nobody asked for was reported already. */
		if (row->kind == PAIRS_EVENT && row->state == COUNT_NOT_OPENED &&
			o->has_no_defaults)
			continue;
		l = vec_push(lines);
		l->row = row;
		pairs_compare(row, seed + (u64)(row - pairs->rows.at), &l->versus);
	}
}

void stat_vs_add(const struct pairs *pairs, const struct stat_vs_facts *facts,
	const struct stat_options *o, struct str *text)
{
	struct stat_vs_lines lines = {0};

	stat_vs_lines_make(&lines, pairs, o, facts->seed);
	if (!form_is_data(o->form))
		stat_vs_text(pairs, &lines, facts, o, text);
	else
		stat_vs_add_rows(pairs, &lines, facts, o, text);
	vec_fini(&lines);
}
