#include "machine/thread.h"

const char *thread_comm_at(const struct thread *t, u64 time, u64 *ret_from, u64 *ret_until)
{
	size_t i = t->comms.n;

	*ret_from = 0;
	*ret_until = UINT64_MAX;
	if (!t->comms.n)
		return NULL;
	while (i > 1 && t->comms.at[i - 1].from > time)
		i--;
	if (i < t->comms.n)
		*ret_until = t->comms.at[i].from;
	if (i > 1)
		*ret_from = t->comms.at[i - 1].from;
	return t->comms.at[i - 1].text;
}
