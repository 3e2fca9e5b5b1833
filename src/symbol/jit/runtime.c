#include "symbol/jit/runtime.h"

#include <string.h>

#include "base/num.h"

/* Source: the manuals of java, node, python and dotnet. */
static const struct runtime runtimes[] = {
	{"libjvm.so",
		"java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit writes it (from JDK 17 on; before that, an agent like libperfmap.so)",
		"start java with -XX:+PreserveFramePointer and record with -g"},
	{"libcoreclr.so", "DOTNET_PerfMapEnabled=1 in its environment writes it",
		"record with -g: its code keeps frame pointers"},
	{"libpython3", "python3 -X perf writes it (from Python 3.12 on)",
		"record with -g: python3 -X perf keeps frame pointers"},
	{"python3", "python3 -X perf writes it (from Python 3.12 on)",
		"record with -g: python3 -X perf keeps frame pointers"},
	{"libnode.so", "node --perf-basic-prof writes it",
		"record with -g: its code keeps frame pointers"},
	{"node", "node --perf-basic-prof writes it",
		"record with -g: its code keeps frame pointers"},
};

static void look_at(void *ctx, const struct map *map)
{
	const struct runtime **best = ctx;

	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if ((!*best || &runtimes[i] < *best) && map->dso->kind == DSO_FILE &&
			!strncmp(map->dso->name, runtimes[i].program, strlen(runtimes[i].program)))
			*best = &runtimes[i];
}

const struct runtime *runtime_of(const struct machine *m, u32 pid)
{
	const struct process *p = machine_newest_process(m, pid);
	const struct runtime *found = NULL;

	if (p)
		vec_each(space, &p->spaces)
			maps_each((*space)->maps, look_at, &found);
	return found;
}

bool runtime_is_interpreter(const char *name, struct str *remedy)
{
	static const char *const begins[] = {"libpython3", "python3"};
	enum { FIRST_MINOR = 12 };
	u64 minor;

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		const char *at = name + strlen(begins[i]);

		if (strncmp(name, begins[i], strlen(begins[i])) || (*at && *at != '.'))
			continue;
		str_add(remedy, "python3 -X perf gives names to the functions it runs");
		if (*at++ != '.' || !num_scan(&at, 10, &minor))
			str_add(remedy, ", from Python 3.12 on");
		else if (minor < FIRST_MINOR)
			str_addf(remedy, ", from Python 3.12 on: this is 3.%llu",
				(unsigned long long)minor);
		return true;
	}
	return false;
}
