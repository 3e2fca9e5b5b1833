#include "machine/process.h"

const struct space *process_space_at(const struct process *p, u64 time, u64 *ret_until)
{
	size_t low = 0, high = p->spaces.n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (p->spaces.at[middle]->from <= time)
			low = middle;
		else
			high = middle;
	}
	*ret_until = high < p->spaces.n ? p->spaces.at[high]->from : UINT64_MAX;
	return p->spaces.at[low];
}
