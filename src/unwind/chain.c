#include "unwind/chain.h"

#include "event/abi.h"

/* Sets the mode that a marker announces. Returns false for an unknown marker. */
static bool enter(struct chain_walk *walk, u64 marker)
{
	switch (marker) {
	case PERF_CONTEXT_HV:
		walk->mode = PERF_RECORD_MISC_HYPERVISOR;
		break;
	case PERF_CONTEXT_KERNEL:
		walk->mode = PERF_RECORD_MISC_KERNEL;
		break;
	case PERF_CONTEXT_USER:
		walk->mode = PERF_RECORD_MISC_USER;
		break;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_USER:
		walk->mode = PERF_RECORD_MISC_GUEST_USER;
		break;
	case PERF_CONTEXT_GUEST_KERNEL:
		walk->mode = PERF_RECORD_MISC_GUEST_KERNEL;
		break;
	default:
		return false;
	}
	walk->is_after_marker = true;
	return true;
}

bool chain_next(struct chain_walk *walk, struct chain_step *ret_step)
{
	while (walk->at < walk->end) {
		u64 ip = load_u64(walk->at);

		walk->at += 8;
		if (ip >= PERF_CONTEXT_MAX) {
			if (enter(walk, ip))
				continue;
			walk->at = walk->end;
			return false;
		}
		*ret_step = (struct chain_step){ip, walk->mode, !walk->is_after_marker};
		walk->is_after_marker = false;
		return true;
	}
	return false;
}
