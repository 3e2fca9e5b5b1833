/*
 * resection.h - copies a recording with one of its feature sections replaced.
 *
 * In       an opened recording in file mode
 * Out      a file with the same bytes up to the end of its records, followed by the same sections but
 *          for the replaced one
 * Errors   ERR_UNSUPPORTED: pipe mode and directories have no sections to replace; ERR_FORMAT: the
 *          file is damaged, and a copy would hide that; ERR_SYS, ERR_LIMIT
 */
#ifndef PACE_FILE_RESECTION_H
#define PACE_FILE_RESECTION_H

#include "base/str.h"
#include "file/fresh.h"
#include "file/reader.h"

/* If `section` is empty, the section is left out. */
int resection_write(const struct reader *r, unsigned id, const struct str *section,
	struct fresh *to, struct err *err);

#endif
