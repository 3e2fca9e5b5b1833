#include "file/identity.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static void describe_groups(const struct event_list *events, struct file_info *info)
{
	vec_each(e, events) {
		if (e->n_members > 1)
			vec_add(&info->groups,
				((struct file_group){FILE_GROUP_UNNAMED, (u32)(e - events->at),
					e->n_members}));
	}
}

void identity_fill(struct file_info *info, const struct event_list *events, const char *version,
	int argc, char **argv)
{
	static char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	file_info_init(info);
	host_read(&info->host, "/sys", "/proc");
	info->version = version;
	vec_add(&info->cmdline, n > 0 ? self : "pace");
	for (int i = 0; i < argc; i++)
		vec_add(&info->cmdline, argv[i]);
	vec_each(e, events) {
		struct event *copy = event_add(&info->events, &e->attr, e->name);

		copy->ids = e->ids;
		copy->n_ids = e->n_ids;
	}
	describe_groups(events, info);
}

void identity_add_clock(struct file_info *info, s32 clock)
{
	struct timespec resolution;

	if (clock_getres(clock, &resolution))
		return;
	info->has_clockid = info->has_clock_data = true;
	info->clock_resolution_ns = (u64)resolution.tv_nsec;
	info->clockid = (u32)clock;
	info->wall_ns = clock_ns_of(CLOCK_REALTIME);
	info->clock_ns = clock_ns_of(clock);
}
