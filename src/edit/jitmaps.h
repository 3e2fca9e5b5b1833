/*
 * jitmaps.h - the functions of jitdumps as files, and the maps of these files: what makes any reader name generated code.
 *
 * In       the records of a recording in the order of time; dumps, from where the recording says or from the recording itself
 * Out      a file jitted-PID-N.so for each function, beside its dump; beside the output if the dump is not a file here or its folder
 *          cannot be written to. MMAP2 records, in the order of time, that say when which function was where
 * Owns     its dumps and records
 * Life     a record is valid until the next call
 * Errors   a file cannot be written. A dump that cannot be read is logged, and its map stays in the recording
 * Source   perf-inject(1), --jit; symbol/jit/jitimage.h
 */
#ifndef PACE_EDIT_JITMAPS_H
#define PACE_EDIT_JITMAPS_H

#include "base/log.h"
#include "file/reader.h"
#include "session/stream.h"
#include "symbol/embed/jitcode.h"
#include "symbol/jit/jitimage.h"

/* The map of a dump: whose code it is, and what else the records of the maps say. */
struct jitmaps_dump {
	const char *path;
	u32 pid, event;
	struct sample who; /* of the map's trailer */
};

struct jitmaps_file {
	const char *path;
	u8 build_id[JITIMAGE_BUILD_ID];
};

struct jitmap {
	u64 time, nr; /* nr: in the order of the dumps */
	u64 va, size;
	u32 dump, file;
};

struct jitmaps {
	const struct reader *reader;
	const struct embedded *embedded;
	const char *folder; /* of the output, absolute */
	struct log *log;
	VEC(struct jitmaps_dump) dumps;
	VEC(struct jitmaps_file) files;
	VEC(struct jitmap) maps; /* by time from `next` on */
	size_t next;
	struct str room; /* of the last record */
	struct arena arena;
};

/* The arguments are borrowed. */
void jitmaps_init(struct jitmaps *j, const struct reader *r, const struct embedded *e,
	const char *folder, struct log *log);
void jitmaps_fini(struct jitmaps *j);

/* Reads the dump if a record of a map is one's. 1: the maps of its functions stand for it from now on. */
int jitmaps_take(struct jitmaps *j, const struct stream_event *e, struct err *err);

/* The next map up to that time. */
bool jitmaps_next(struct jitmaps *j, u64 time, struct record *ret);

#endif
