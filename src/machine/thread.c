#include "machine/thread.h"

const char *thread_comm_at(const struct thread *t, u64 time, u64 *ret_from, u64 *ret_until)
{
	size_t i = t->comms.n;

	while (i > 0 && t->comms.at[i - 1].from > time)
		i--;
	*ret_until = i < t->comms.n ? t->comms.at[i].from : UINT64_MAX;
	*ret_from = i ? t->comms.at[i - 1].from : 0;
	return i ? t->comms.at[i - 1].text : NULL;
}
