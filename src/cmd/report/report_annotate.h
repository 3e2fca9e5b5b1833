/*
 * report_annotate.h - from rows to the code of their functions, on the same screen: of report and of top.
 *
 * In       the line of the cursor; the profile and the resolver of the rows
 * Out      the view of codeview.h, until a key ends it
 * Owns     nothing
 */
#ifndef PACE_CMD_REPORT_ANNOTATE_H
#define PACE_CMD_REPORT_ANNOTATE_H

#include "cmd/report/report_actions.h"
#include "cmd/codeoptions.h"
#include "cmd/symbols.h"
#include "view/screen/codeview.h"

struct annotating {
	const char *title;
	struct resolver *resolver;
	const struct symbol_options *symbols;
	const struct code_options *code;
	unsigned verbose;
	bool has_full_paths;
	const struct event_list *events; /* of the profile */
};

void report_annotate_show(const struct annotating *a, const struct annotation *annotation,
	const struct codeview_place *place, struct screen *screen);

bool report_annotate_offer(void *of, const struct browser_spot *at, struct str *title);
void report_annotate_act(void *of, struct browser *b, const struct browser_spot *at);

#endif
