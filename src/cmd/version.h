/*
 * version.h - the version of pace.
 */
#ifndef PACE_CMD_VERSION_H
#define PACE_CMD_VERSION_H

const char *version_text(void); /* "pace 0.1.0" */

#endif
