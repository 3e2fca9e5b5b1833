#include "event/children.h"

#include <stdio.h>

#include "base/num.h"
#include "base/sysfile.h"

enum { LONGEST = 1 << 20 };

void children_add(struct children *c, pid_t pid, pid_t tid)
{
	struct str text = {0};
	struct err ignored;
	const char *p;
	char path[64];
	u64 child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	if (!sysfile_read(path, LONGEST, &text, &ignored))
		for (p = str_text(&text); num_scan(&p, 10, &child) && *p == ' '; p++)
			vec_add(c, (pid_t)child);
	str_fini(&text);
}
