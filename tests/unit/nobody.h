/*
 * nobody.h - a test that is not root for a while, to meet files that may not be read.
 */
#ifndef PACE_TESTS_UNIT_NOBODY_H
#define PACE_TESTS_UNIT_NOBODY_H

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

enum { NOBODY = 65534 };

/* From here on root's rights are gone; the test's directory can still be walked through. */
static inline void nobody_begin(void)
{
	CHECK(chmod(test_dir(), 0711) == 0);
	if (geteuid() == 0 && setresuid(NOBODY, NOBODY, 0))
		SKIP("cannot become user %d", NOBODY);
}

/* The leak checker looks into the process, which one that changed its user does not allow. */
static inline void nobody_end(void)
{
	if (geteuid() == NOBODY && setresuid(0, 0, 0) == 0)
		prctl(PR_SET_DUMPABLE, 1);
}

#endif
