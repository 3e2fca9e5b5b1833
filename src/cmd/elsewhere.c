#include "cmd/elsewhere.h"

#include <string.h>

#include "base/types.h"

/* clang-format off: a row a command */
static const struct {
	const char *name, *advice;
} rows[] = {
	{"bench",
		"there are no benchmarks; 'pace stat -r 10 COMMAND' runs one ten times and shows how far the runs differ"},
	{"daemon",
		"'pace record -a --ring 30s' keeps the last 30 seconds and writes them on a signal or when --when's condition holds"},
	{"ftrace",
		"calls of functions are not traced; 'pace record -e SYSTEM:NAME -g' samples tracepoints and 'pace script' prints them"},
	{"iostat",
		"'pace list uncore' lists the counters of I/O, 'pace stat -a -e EVENT' counts them"},
	{"kmem",
		"'pace record -a -g -e kmem:kmalloc,kmem:mm_page_alloc' and 'pace report' show who asks for the kernel's memory"},
	{"kvm", "'pace record -a -e cycles:G' samples guests, 'pace report --guestmount DIR' names their functions"},
	{"kwork",
		"'pace record -a -e irq:*,workqueue:*' and 'pace script' show each piece of the kernel's work"},
	{"lock",
		"'pace record -a -g -e lock:contention_begin' and 'pace report' show where threads wait for locks, 'pace record -a --wall' for how long"},
	{"sched",
		"'pace record -a --wall' and 'pace report' show how long threads ran, waited for a CPU and slept; 'pace record -a -e sched:*' and 'pace script' each switch"},
	{"trace",
		"'pace record -e raw_syscalls:* COMMAND' and 'pace script' show each system call, 'pace stat -e syscalls:sys_enter_*' how many"},
};
/* clang-format on */

const char *elsewhere_find(const char *command)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, command))
			return rows[i].advice;
	return NULL;
}
