/*
 * import.h - profiles that other programs made: one row of a table for each of their formats.
 *
 * Such a file has stacks and numbers, with names already, and no trace: nothing of single samples, times,
 * threads or code. An importer is a file with its functions, and its row in import.c.
 * In       a file, or all that comes out of a pipe; packed by gzip, zstd, xz or LZ4, or not
 * Out      struct profile, with names
 * Owns     the bytes, until import_close(); the profile is the caller's
 * Life     the path is borrowed
 * Errors   ERR_FORMAT with the file, the place in it and the reason; ERR_INVAL: what was asked for is not in
 *          it; ERR_LIMIT: it takes more than file/allowance.h allows
 */
#ifndef PACE_PROFILE_IMPORT_H
#define PACE_PROFILE_IMPORT_H

#include "base/bytes.h"
#include "base/log.h"
#include "file/allowance.h"
#include "profile/gather/naming.h"
#include "profile/gather/profile.h"

enum {
	IMPORT_PEEK = 4096, /* bytes that tell which format it is */
	IMPORT_DEEPEST =
		8192, /* frames of a stack: more than a record of the kernel's has room for */
	IMPORT_INLINED = 256, /* functions that are inlined at one place */
};

struct import_options {
	u64 labels; /* LABEL_BIT()s */
	bool has_stacks, has_inlined, has_full_paths;
	enum naming_source source; /* what of the source symbols are told apart by */
	u32 max_stack;             /* frames of a stack, the innermost first; 0: IMPORT_DEEPEST */
	u64 time_quantum;          /* ns, of LABEL_TIME */
	struct log *log;
};

struct import {
	const char *path;
	const struct importer *importer;
	struct str bytes;
	u64 n_stored;   /* bytes of the file, packed or not */
	bool is_packed; /* they were */
	struct allowance allowance;
};

struct importer {
	const char *name; /* as in "a.pprof is pprof" */
	const char *what; /* it is, in a few words: "folded stacks" */
	const char *keys; /* that rows are by if nobody says otherwise */
	u64 labels;       /* LABEL_BIT()s that it may know */
	/* Whether a file that begins so, unpacked, is one; n is IMPORT_PEEK, or all there is. */
	bool (*recognizes)(const u8 *first, size_t n);
	/* Into a profile that is empty, and has the labels that were asked for. */
	int (*read)(const struct import *in, const struct import_options *o, struct profile *p,
		struct err *err);
};

/* All of them, closed by NULL. */
extern const struct importer *const import_table[];

/* The one that reads what begins so, packed or not; NULL: none does. */
const struct importer *import_recognize(const void *first, size_t n);
/* The same of a file that can be looked at without reading it: of a pipe it is NULL. */
const struct importer *import_of_file(const char *path);

/*
 * Reads it all, from a descriptor that stays the caller's; `first`: n bytes that were read from it already.
 * Without an error in->importer is set, NULL if none reads it. To be closed in any case.
 */
int import_open(struct import *in, int fd, const char *path, const void *first, size_t n,
	struct err *err);
void import_close(struct import *in);

/* p is empty, and the caller's in any case. */
int import_read(const struct import *in, const struct import_options *o, struct profile *p,
	struct err *err);

/* ERR_INVAL: its importer never knows that label. */
int import_check_label(const struct import *in, enum profile_label label, struct err *err);

/* ---- for importers ---- */

static inline struct bytes import_bytes(const struct import *in)
{
	return bytes_of(str_text(&in->bytes), in->bytes.n);
}

/* ERR_LIMIT if what was made of it up to `offset`, and `held` bytes beside it, are too much. */
int import_charge(const struct import *in, const struct profile *p, u64 held, u64 offset,
	struct err *err);

#endif
