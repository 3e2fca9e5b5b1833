/*
 * oddfolder.h - the recordings that 'pace watch' keeps of odd minutes: the folder "odd" of a store.
 *
 * A recording is called by the second (UTC) in which its minute began, 2026-11-24T14-31-00.data.
 * In       the path of the store, hostile files in it included
 * Out      its recordings, oldest first; paths for new ones
 * Owns     the open folder
 * Units    ns since 1970; bytes
 * Errors   ERR_NOENT: there is none; ERR_SYS
 */
#ifndef PACE_FLEET_ODDFOLDER_H
#define PACE_FLEET_ODDFOLDER_H

#include "fleet/store.h"

struct odd_file {
	u64 begin_ns, n_bytes;
};

struct oddfolder {
	char path[STORE_PATH + STORE_NAME];
	int fd;
	VEC(struct odd_file) files;
	u64 n_bytes; /* of these files */
};

/* `makes`: the folder, if there is none. After an error nothing is open. */
int oddfolder_open(struct oddfolder *o, const char *store, bool makes, struct err *err);
void oddfolder_close(struct oddfolder *o);

/* Looks at the folder again. */
int oddfolder_refresh(struct oddfolder *o, struct err *err);

/* "STORE/odd/2026-11-24T14-31-00.data" */
void oddfolder_path(const struct oddfolder *o, u64 begin_ns,
	char path[STORE_PATH + 2 * STORE_NAME]);

/* Removes the oldest recording; false: there is none. */
bool oddfolder_drop(struct oddfolder *o);

#endif
