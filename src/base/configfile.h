/*
 * configfile.h - perf's configuration files, which are git's: sections, keys and values.
 *
 *     [report]
 *             percent-limit = 3        report.percent-limit
 *     [pace "record"]
 *             options = -g -F 999      pace.record.options
 *
 * In       a file's text
 * Out      its entries in their order, each with its line; the text with one entry changed
 * Owns     the texts of its entries
 * Errors   ERR_FORMAT with file and line; those of reading a file
 * Source   git-config(1), perf-config(1): # and ; begin comments, quotes keep blanks, \ joins lines and escapes; a key without
 *          a value is a switch that is on
 */
#ifndef PACE_BASE_CONFIGFILE_H
#define PACE_BASE_CONFIGFILE_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

struct config_entry {
	const char
		*key; /* the section and the name in lower case; a subsection as it was written */
	const char *value; /* NULL: it has none */
	const char *path;  /* borrowed from the caller */
	unsigned line;
	size_t from, to; /* the bytes of the text that it takes, whole lines */
	size_t name_at;  /* where its name begins: behind a section's on the same line */
};

struct config {
	VEC(struct config_entry) entries;
	struct arena arena;
};

/* Adds the entries of a text. `path` is for messages and outlives the config. */
int config_parse(struct config *c, const char *path, const char *text, size_t n, struct err *err);
void config_fini(struct config *c);

/* The value of the last entry of that key; NULL: there is none. */
const struct config_entry *config_find(const struct config *c, const char *key);

/* "true", "yes", "on", a number other than 0 and no value are true. False if it is none of these words. */
bool config_bool(const struct config_entry *e, bool *ret);

/* Whether "section.name" or "section.sub.name" can be written. */
bool config_is_key(const char *key);

/* Appends the text with the last entry of the key changed, or with a new one behind its section's others. */
int config_change(const char *path, const char *text, size_t n, const char *key, const char *value,
	struct str *out, struct err *err);

#endif
