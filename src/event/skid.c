#include "event/skid.h"

#include "event/abi.h"

enum skid_kind skid_of(const struct event_attr *attr)
{
	unsigned precise = attr_precise(attr);

	if (precise)
		return precise == 1 ? SKID_ONE : SKID_NONE;
	switch (attr->type) {
	case PERF_TYPE_TRACEPOINT:
		return SKID_NONE;
	case PERF_TYPE_SOFTWARE:
		return SKID_TIMER;
	case PERF_TYPE_BREAKPOINT:
		return SKID_DEBUGGER;
	default:
		return SKID_SOME;
	}
}
