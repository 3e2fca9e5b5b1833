/*
 * import.h - reads profiles of other programs: each format is one row of a table.
 *
 * Such a file has stacks and numbers, with names already, and no trace: no single samples, times, maps or
 * code. To add an importer, add a file with its functions and a row in import.c.
 * In       a file, or all data from a pipe; packed by gzip, zstd, xz or LZ4, or not packed
 * Out      struct profile, with names
 * Owns     the bytes, until import_close(); the profile is the caller's
 * Life     the path is borrowed
 * Errors   ERR_FORMAT with the file, the place in it and the reason; ERR_INVAL: the file does not have what was
 *          asked for; ERR_LIMIT: it takes more memory than file/allowance.h allows
 */
#ifndef PACE_PROFILE_IMPORT_H
#define PACE_PROFILE_IMPORT_H

#include "base/bytes.h"
#include "base/log.h"
#include "file/allowance.h"
#include "profile/batch/batch.h"
#include "profile/gather/naming.h"
#include "profile/gather/profile.h"

enum {
	IMPORT_PEEK = 4096, /* bytes at the beginning that identify the format */
	IMPORT_DEEPEST =
		8192,         /* frames of a stack: more than a record of the kernel has room for */
	IMPORT_INLINED = 256, /* inlined functions kept for one place */
};

struct import_options {
	u64 labels; /* LABEL_BIT()s */
	bool has_stacks, has_inlined, has_full_paths;
	enum naming_source source; /* the part of the source location that distinguishes symbols */
	u32 max_stack;    /* most frames of a stack, the innermost first; 0: IMPORT_DEEPEST */
	u64 time_quantum; /* ns, for LABEL_TIME */
	const char *const *fields; /* names of LABEL_FIELD + i; NULL: none */
	struct batch *lost;        /* gets what the file says is missing; NULL: nobody asks */
	struct log *log;
};

struct import {
	const char *path;
	const struct importer *importer;
	struct str bytes;
	u64 n_stored;   /* bytes of the file, packed or not */
	bool is_packed; /* the file was packed */
	struct allowance allowance;
};

struct importer {
	const char *name;  /* as in "a.pprof is pprof" */
	const char *what;  /* the format in a few words: "folded stacks" */
	const char *keys;  /* default sort keys */
	u64 labels;        /* LABEL_BIT()s that a file may have */
	bool tells_losses; /* what is missing is in import_options.lost */
	/* Whether a file that begins with these unpacked bytes has the format; n: IMPORT_PEEK, or a whole file. */
	bool (*recognizes)(const u8 *first, size_t n);
	/* Whether it has a label of its own by that name, for LABEL_FIELD; NULL: it has none. */
	bool (*has_field)(const struct import *in, const char *name);
	/* Reads into an empty profile that has the labels asked for. */
	int (*read)(const struct import *in, const struct import_options *o, struct profile *p,
		struct err *err);
};

/* All importers, ended by NULL. */
extern const struct importer *const import_table[];

/* The importer for a regular file; NULL if there is none, or for a pipe, whose beginning cannot be read without consuming it. */
const struct importer *import_of_file(const char *path);

/*
 * Reads the whole file from a descriptor, which stays the caller's; `first`: n bytes that were read from it before.
 * Sets in->importer, NULL if no importer knows the format. Call import_close() also after an error.
 */
int import_open(struct import *in, int fd, const char *path, const void *first, size_t n,
	struct err *err);
void import_close(struct import *in);

/* Reads the file into p, which must be empty; the caller frees it also after an error. */
int import_read(const struct import *in, const struct import_options *o, struct profile *p,
	struct err *err);

/* ERR_INVAL if the importer never knows that label. */
int import_check_label(const struct import *in, enum profile_label label, struct err *err);

/* ---- for importers ---- */

static inline struct bytes import_bytes(const struct import *in)
{
	return bytes_of(str_text(&in->bytes), in->bytes.n);
}

/* ERR_LIMIT if the profile made from the file up to `offset`, plus `held` bytes, takes too much memory. */
int import_charge(const struct import *in, const struct profile *p, u64 held, u64 offset,
	struct err *err);

#endif
