#include "base/selfname.h"

#include <stdlib.h>

static bool is_perf;

const char *program_name(void)
{
	return is_perf ? "perf" : "pace";
}

bool program_is_perf(void)
{
	return is_perf;
}

void program_be_perf(void)
{
	is_perf = true;
}

unsigned program_perf_version(void)
{
	const char *said = getenv("PACE_AS_PERF");
	const int version = said ? atoi(said) : 0;

	return version > 6 ? (unsigned)version : 6;
}
