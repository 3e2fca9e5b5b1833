/*
 * elsewhere.h - commands that perf has and pace does not, and what does their work.
 *
 * In       a word that is not a command of pace
 * Out      a sentence that names commands of pace, or says that there is none for it; NULL: not a
 *          command of perf either
 */
#ifndef PACE_CMD_ELSEWHERE_H
#define PACE_CMD_ELSEWHERE_H

const char *elsewhere_find(const char *command);

#endif
