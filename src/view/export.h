/*
 * export.h - a report for programs: JSON, CSV, or the columns of the text with one separator.
 *
 * JSON and CSV have all rows above the limit, in the order of the text, with samples, period and
 * share; see pace-report(1). The version grows when a member changes its meaning or goes.
 * In       the entries of an event, as view/text gets them
 * Out      text: export_begin(), export_add() for each event, export_end()
 * Owns     nothing
 */
#ifndef PACE_VIEW_EXPORT_H
#define PACE_VIEW_EXPORT_H

#include "profile/account.h"
#include "view/text.h"

enum export_form { EXPORT_JSON, EXPORT_CSV, EXPORT_SEPARATED };

struct export_options {
	enum export_form form;
	const char *separator; /* of EXPORT_SEPARATED: what has it in it gets a '.' instead */
	/* Tables of several events: of so many at most; 0: each event has its own. Without call graphs. */
	u32 n_together;
	bool has_certainty; /* columns for it: hist->certainty is there */
};

void export_begin(struct out *out, const struct export_options *o, const struct text_options *t,
	const struct hist_options *h);
void export_add(struct out *out, const struct hist *h, const struct export_options *o,
	const struct text_options *t);
/* JSON tells where the samples went; NULL: rows are not made of samples alone. */
void export_end(struct out *out, const struct export_options *o, const struct account *account);

#endif
