/*
 * control.h - commands from outside while measuring: --control fd:CTL[,ACK] or fifo:CTL[,ACK].
 *
 * In       lines "enable", "disable", "ping", "stop"; for recorders also "enable EVENT", "disable EVENT",
 *          "snapshot", "evlist [-v|-g|-F]"
 * Out      the command; "ack" on the other descriptor when it is done
 * Owns     descriptors of fifos, not those it was given by number
 * Source   perf-record(1), --control
 */
#ifndef PACE_COLLECT_CONTROL_H
#define PACE_COLLECT_CONTROL_H

#include "base/err.h"
#include "base/log.h"
#include "base/types.h"

enum control_command {
	CONTROL_NONE, /* none at the moment */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_SNAPSHOT,
	CONTROL_EVLIST,
	CONTROL_CLOSED, /* the sender is gone */
};

struct control {
	int fd, ack_fd; /* -1: none */
	bool owns;
	bool is_recording; /* takes the commands of recorders, and arguments */
	char line[256];    /* the part of a line that has come */
	size_t n;
	char argument[256]; /* of the last command; "": none */
};

int control_open(struct control *c, const char *text, struct err *err);
void control_close(struct control *c);

/* The next command. Unknown words are logged. Does not wait. */
enum control_command control_next(struct control *c, struct log *log);

/* Reports that the last command is done. */
void control_ack(struct control *c);

#endif
