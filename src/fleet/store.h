/*
 * store.h - the minutes that 'pace watch' keeps: a folder with a file of batches for each hour.
 *
 * A file is called by the hour (UTC) in which its batches begin, 2026-11-24T14.batches; one that could not be gone on
 * with has a second part, 2026-11-24T14-1.batches. Another process may write while this one reads: what it appends
 * later is seen after store_refresh().
 * In       the folder, hostile files in it included
 * Out      its files, oldest first; the batches of a stretch of time, or those behind a place
 * Owns     the open folder
 * Units    ns since 1970; bytes
 * Errors   ERR_NOENT: there is no store; ERR_PERM; ERR_SYS. Damaged batches are said to the log and left out
 */
#ifndef PACE_FLEET_STORE_H
#define PACE_FLEET_STORE_H

#include "base/log.h"
#include "profile/batch/batchbytes.h"

enum {
	STORE_PATH = 4096,
	STORE_NAME = 64,
	STORE_FILE_MOST = 256 << 20, /* bytes; a larger file is none of ours */
};

#define STORE_HOUR_NS (3600 * 1000000000ULL)
#define STORE_SYSTEM  "/var/lib/pace"
#define STORE_LOCK    "lock"

struct store_file {
	u64 hour; /* since 1970 */
	u32 part;
	u64 n_bytes;
};

struct store {
	char path[STORE_PATH];
	int fd;
	VEC(struct store_file) files; /* oldest first */
	u64 n_bytes;                  /* of these files */
};

/* Where a user's store is. `reads`: the system's, if this user has none. False: this user has no home. */
bool store_default(bool reads, char path[STORE_PATH]);

/* After an error nothing is open. */
int store_open(struct store *s, const char *path, struct err *err);
void store_close(struct store *s);

/* Looks at the folder again. */
int store_refresh(struct store *s, struct err *err);

void store_file_name(const struct store_file *f, char name[STORE_NAME]);

/* All bytes of a file of the store. ERR_FORMAT: it is none. */
int store_read(const struct store *s, const struct store_file *f, struct str *bytes,
	struct err *err);

/* The pid of the watch that writes to the store; 0: none does. */
int store_writer(const struct store *s);

/* Between two batches: behind so many bytes of a file. */
struct store_place {
	u64 hour, offset;
	u32 part;
};

struct store_walk {
	const struct store *store;
	struct log *log; /* NULL: damage is only counted */
	u64 from_ns, to_ns;
	size_t file;              /* the next one to open */
	struct store_place place; /* behind the last batch */
	u64 n_damaged;            /* batches and files */
	/* The file that is open. */
	bool is_open, is_said; /* said: that it is damaged */
	char name[STORE_PATH + STORE_NAME];
	struct str bytes;
	struct batch_reader reader;
};

/* Begins behind that place; NULL: with the oldest batch. */
void store_walk_init(struct store_walk *w, const struct store *s, const struct store_place *behind,
	struct log *log);

/*
 * Only batches whose middle is in [from, to), so that adjoining windows have each batch once. Files of other hours are
 * not read.
 */
void store_walk_within(struct store_walk *w, u64 from_ns, u64 to_ns);

/* The next batch, which must not be initialized. False: there is none. */
bool store_next(struct store_walk *w, struct batch *ret);
void store_walk_fini(struct store_walk *w);

#endif
