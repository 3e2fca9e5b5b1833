#include "base/selfname.h"

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
