/*
 * checkup_page.h - a checkup as a page for people and as JSON for programs.
 *
 * In       a checkup
 * Out      text; the JSON schema is in doc/pace-doctor.1 and has a version
 */
#ifndef PACE_VIEW_CHECKUP_PAGE_H
#define PACE_VIEW_CHECKUP_PAGE_H

#include "base/str.h"
#include "collect/known/checkup.h"

struct checkup_page {
	unsigned columns; /* of the page */
	bool has_colour;
	bool is_verbose; /* also how to make changes permanent, and each option of the kernel's configuration */
};

void checkup_page_add(const struct checkup *c, const struct checkup_page *page, struct str *out);
void checkup_page_add_json(const struct checkup *c, struct str *out);

#endif
