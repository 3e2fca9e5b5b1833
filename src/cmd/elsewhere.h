/*
 * elsewhere.h - commands of perf that are none here, and what does their work.
 *
 * In       a word that is no command of ours
 * Out      a sentence that names commands of ours, or says that there is nothing for it; NULL: no
 *          command of perf either
 */
#ifndef PACE_CMD_ELSEWHERE_H
#define PACE_CMD_ELSEWHERE_H

const char *elsewhere_find(const char *command);

#endif
