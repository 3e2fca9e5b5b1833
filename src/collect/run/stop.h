/*
 * stop.h - what ends a measurement from outside: signals, and the end of the command.
 *
 * In       blocked signals; a command or none
 * Out      a descriptor to wait on; which signal came
 * Owns     the descriptor
 * Source   signalfd(2)
 */
#ifndef PACE_COLLECT_STOP_H
#define PACE_COLLECT_STOP_H

#include <signal.h>

#include "base/err.h"
#include "collect/run/workload.h"

struct stop {
	int fd;
	int signal;    /* the one that ends it; 0: none yet */
	bool is_group; /* sent by a terminal: the command has got it too */
};

/* The signals that end a measurement, and SIGCHLD; block them before anything starts. */
void stop_signals(sigset_t *set);

/* The signal to pass on to the command; 0: it has got it already, or is not meant. */
int stop_signal_of_command(const struct stop *s);

int stop_open(struct stop *s, struct err *err);
void stop_close(struct stop *s);

/* Takes the signals that came. True: it is time to end. `workload` NULL: there is no command. */
bool stop_take(struct stop *s, struct workload *workload);

/* After the end, while there is still work: whether a signal asks to end that too. */
bool stop_came_again(struct stop *s);

#endif
