/*
 * checkup_page.h - a checkup as a page for people and as rows for programs.
 *
 * In       a checkup
 * Out      text; the schema of the rows is in doc/pace-doctor.1 and has a version
 */
#ifndef PACE_VIEW_CHECKUP_PAGE_H
#define PACE_VIEW_CHECKUP_PAGE_H

#include "collect/known/checkup.h"
#include "view/forms/forms.h"

struct checkup_page {
	unsigned columns; /* of the page */
	bool has_colour;
	bool is_verbose; /* also how to make changes permanent, and each option of the kernel's configuration */
};

void checkup_page_add(const struct checkup *c, const struct checkup_page *page, struct str *out);
void checkup_page_rows(const struct form *form, const struct checkup *c, struct out *out);

#endif
