/*
 * fleetinput.h - minutes of a store as an input: what a window has becomes a file in memory, which is read like any other.
 *
 * In       the store, or none for the user's own; the words of --at
 * Out      a path to open, any number of times; what messages call it
 * Owns     the file
 * Errors   ERR_INVAL: the words; ERR_NOENT: there is no store, or it has nothing of that time
 *
 * What the window lacks is told by a last batch of losses: time in which nobody watched, minutes that were damaged.
 */
#ifndef PACE_CMD_FLEETINPUT_H
#define PACE_CMD_FLEETINPUT_H

#include "base/log.h"
#include "base/opts.h"
#include "fleet/store.h"
#include "fleet/timerange.h"

struct fleetinput {
	int fd;
	char path[32];
	struct str name; /* "the store '/var/lib/pace', 2026-11-24 14:30..14:35" */
	bool tells_odd;  /* minutes that were odd are noted */
};

/* A row of a command's options, which has the member `at`. */
#define AT_HELP                                                                                    \
	"what 'pace watch' kept of this time, like 14:30..14:35, -1h.. or 'yesterday 9:00..+5m'; " \
	"-i names the store"
#define AT_ROW(type)                                                                       \
	{                                                                                  \
		0, "at", OPT_STR, offsetof(type, at), "TIME", AT_HELP, .flags = OPT_COMMON \
	}

/* ERR_INVAL: the input is a store, and no time was said. */
int fleetinput_check_file(const char *input, struct err *err);

/* fleetinput_close() even after an error. `place`: the store; NULL: the user's. Notes minutes that were odd. */
int fleetinput_open(struct fleetinput *in, const char *place, const char *at, struct log *log,
	struct err *err);

/* The same, of a stretch of time, and without these notes. */
int fleetinput_open_range(struct fleetinput *in, const char *place, const struct timerange *range,
	struct log *log, struct err *err);
void fleetinput_close(struct fleetinput *in);

/*
 * Writes batches to a file in memory, which in->path opens: for other places that batches come from. ERR_SYS: there is
 * no memory for it.
 */
int fleetinput_begin(struct fleetinput *in, struct err *err);
int fleetinput_add(struct fleetinput *in, struct batch_writer *packing, const struct batch *b,
	struct err *err);

#endif
