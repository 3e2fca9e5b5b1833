/*
 * tracepoints.h - prints samples of tracepoints: applies the formats that a recording carries to the
 * raw bytes of its samples.
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
	struct str text;           /* the bytes of the last sample, followed by zeros */
	size_t n_copied;           /* how many bytes of `text` are the sample's */
};

int tracepoints_open(struct tracepoints *t, const struct str *section, struct err *err);
void tracepoints_close(struct tracepoints *t);

/* Appends the text of a sample of tracepoint `id`, made safe. False: its format is not known. */
bool tracepoints_add_text(struct tracepoints *t, u64 id, u32 cpu, const struct record_bytes *raw,
	struct str *text);

/*
 * The same for one field; `field` NULL: for all fields, as they are. `is_raw`: as a number even
 * where the format has words for it. False also if there is no such field.
 */
bool tracepoints_add_field(struct tracepoints *t, u64 id, const struct record_bytes *raw,
	const char *field, bool is_raw, struct str *text);

/* Whether the format with that id has the field. */
bool tracepoints_has_field(const struct tracepoints *t, u64 id, const char *field);

/*
 * Whether a field's text is a decimal number: not a string, an address or the format's words. False
 * also if there is no such field.
 */
bool tracepoints_is_number(struct tracepoints *t, u64 id, const char *field, bool is_raw);

/*
 * Finds the offset in a sample's raw bytes of a field of that size. False: there is none, or the
 * format is not known.
 */
bool tracepoints_find_field(const struct tracepoints *t, u64 id, const char *name, u32 size,
	u32 *ret_offset);

/* A field of a sample of a tracepoint. */
enum tracepoint_kind { TRACEPOINT_SIGNED, TRACEPOINT_UNSIGNED, TRACEPOINT_TEXT, TRACEPOINT_BYTES };

struct tracepoint_value {
	const char *name;
	bool is_common; /* of all tracepoints; these come first */
	enum tracepoint_kind kind;
	u64 number;   /* TRACEPOINT_SIGNED: extended to 64 bits */
	const u8 *at; /* TRACEPOINT_TEXT, TRACEPOINT_BYTES; valid until the next sample */
	size_t n;
};

/* Calls `see` for each field. False: the format is not known, or the sample does not fit it. */
bool tracepoints_each_value(struct tracepoints *t, u64 id, const struct record_bytes *raw,
	void (*see)(void *ctx, const struct tracepoint_value *value), void *ctx);

/* A word that the format has for a value of a field. */
struct tracepoint_word {
	const char *field, *value, *word;
	const char *delimiter; /* between words of flags; NULL: the field has one word at a time */
};

void tracepoints_each_word(const struct tracepoints *t, u64 id,
	void (*see)(void *ctx, const struct tracepoint_word *word), void *ctx);

/* Appends the name, "system:name". False: the format is not known. */
bool tracepoints_add_name(const struct tracepoints *t, u64 id, struct str *text);

/*
 * Appends the names of the tracepoint's own fields, separated by commas. False: the format is not
 * known.
 */
bool tracepoints_add_fields(const struct tracepoints *t, u64 id, struct str *text);

#endif
