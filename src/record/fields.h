/*
 * fields.h - the rows that describe the fields of each type of record.
 *
 * Out      for a type, its name and its fields in the order of the bytes; record.c walks over them
 * Source   linux/perf_event.h; perf.data-file-format.txt for the types from 64 on
 */
#ifndef PACE_RECORD_FIELDS_H
#define PACE_RECORD_FIELDS_H

#include "record/record.h"

enum record_field_kind {
	F_END, /* the row after the last one */
	F_U8,
	F_U16,
	F_U32,
	F_U64,
	F_S32,
	F_S64,
	F_HEX32,
	F_HEX64,
	F_DOUBLE,
	F_TAG,       /* 8 bytes of a hash */
	F_DEVICE,    /* u32 major, u32 minor */
	F_BUILD_ID,  /* MMAP2: u8 size, 3 bytes, 20 bytes */
	F_BUILD_ID2, /* BUILD_ID: 20 bytes, u8 size if a misc bit says so, 3 bytes */
	F_CHARS,     /* text in `size` bytes, which ends at a NUL if there is one */
	F_GAP,       /* `size` bytes that are kept and not shown */
	F_CSTR,      /* text up to a NUL or the end of the body: the last field */
	F_BYTES,     /* the rest of the body, or `count` bytes */
	F_LIST,      /* entries of the rows `of`: `count`, or as many as there are */
	F_ATTR,      /* a perf_event_attr of the size that it names */
	F_PART,      /* a struct inside the body, with the rows `of` */
};

/* A member of the body that another row depends on; size 0: it depends on none. */
struct record_dependence {
	u8 member, size;
	u64 least, most; /* the row is there if the value is one of these */
};

struct record_field {
	const char *name;
	u8 kind;
	u8 member; /* offset in the body; of F_END, its struct record_end */
	u16 size;  /* of F_CHARS and F_GAP */
	/* Records may end before this field, and inside it if it is text; all fields after it are optional too. */
	bool is_optional;
	u16 with_misc, without_misc; /* the row is there only with the one bit, without the other */
	struct record_dependence when, count;
	const struct record_field *of;
};

struct record_type {
	u32 type;
	const char *name;
	const struct record_field *fields; /* NULL: not described here, its reader walks it */
	bool is_state;                     /* says who ran where */
};

/* NULL: the type is unknown. */
const struct record_type *record_type_find(u32 type);

#endif
