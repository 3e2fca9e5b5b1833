/*
 * tracepoints.h - what tracepoints say, in words: the formats that travel in a recording, applied
 * to the raw bytes of its samples.
 *
 * In       the TRACING_DATA section, of either byte order
 * Out      the text that the format's print line makes
 * Owns     the parsed formats
 * Errors   tracepoints_open(): ERR_FORMAT with the part of the section that makes no sense; the
 *          formats before it stay
 * Threads  one at a time: libtraceevent parses lazily
 * Source   trace-cmd.dat(5), version 6; libtraceevent(3)
 */
#ifndef PACE_FILE_TRACEPOINTS_H
#define PACE_FILE_TRACEPOINTS_H

#include "base/err.h"
#include "base/str.h"
#include "record/record.h"

struct tep_handle;

struct tracepoints {
	struct tep_handle *handle; /* NULL: no formats */
	struct str text;           /* the bytes of the last sample, and zeros */
	size_t n_copied;           /* of `text`: the bytes */
};

int tracepoints_open(struct tracepoints *t, const struct str *section, struct err *err);
void tracepoints_close(struct tracepoints *t);

/* Appends the text of the tracepoint with that id, made safe; false if its format is not known. */
bool tracepoints_add_text(struct tracepoints *t, u64 id, u32 cpu, const struct record_bytes *raw,
	struct str *text);

/*
 * The same with a field alone; NULL: all fields, as they are. `is_raw`: a number even where the format
 * has words for it. False also if there is no such field.
 */
bool tracepoints_add_field(struct tracepoints *t, u64 id, const struct record_bytes *raw,
	const char *field, bool is_raw, struct str *text);

/* Whether the format with that id has the field. */
bool tracepoints_has_field(const struct tracepoints *t, u64 id, const char *field);

/*
 * Whether what is added of the field is a decimal number: no text, no address, no words of the format.
 * False also if there is no such field.
 */
bool tracepoints_is_number(struct tracepoints *t, u64 id, const char *field, bool is_raw);

/*
 * Where in the raw bytes of its samples a field of that size stands; false if it has none, or its format
 * is not known.
 */
bool tracepoints_find_field(const struct tracepoints *t, u64 id, const char *name, u32 size,
	u32 *ret_offset);

/* Appends what it is called, "system:name"; false if its format is not known. */
bool tracepoints_add_name(const struct tracepoints *t, u64 id, struct str *text);

/* Appends the names of its own fields, joined by commas; false if its format is not known. */
bool tracepoints_add_fields(const struct tracepoints *t, u64 id, struct str *text);

#endif
