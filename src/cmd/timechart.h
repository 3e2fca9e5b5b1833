/*
 * timechart.h - the parts of one command.
 */
#ifndef PACE_CMD_TIMECHART_H
#define PACE_CMD_TIMECHART_H

/* `pace timechart record`: argv[0] is "record". Returns the exit status. */
extern const struct opt timechart_record_options[];

int timechart_record(int argc, char **argv);

#endif
