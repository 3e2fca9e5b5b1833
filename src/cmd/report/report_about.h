/*
 * report_about.h - what report says of a recording besides its rows: for forms that are read on their own.
 *
 * In       a recording that was read
 * Out      struct page_about
 * Owns     nothing: page_about_fini() is the caller's
 */
#ifndef PACE_CMD_REPORT_ABOUT_H
#define PACE_CMD_REPORT_ABOUT_H

#include "profile/check/recorded.h"
#include "view/forms/forms.h"

void report_about(const struct recorded *r, const char *path, struct page_about *ret);

#endif
