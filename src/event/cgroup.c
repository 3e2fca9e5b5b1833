#include "event/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/str.h"
#include "base/sysfile.h"

enum { MOUNTINFO_MAX = 4 << 20 };

/*
 * "36 35 98:0 /root /mount/point options ... - type source superoptions": the mount point, which
 * ends at a space, and how well this mount suits.
 */
enum suits { NOT, UNIFIED, OF_PERF_EVENTS };

static enum suits suits(const char *line, const char **ret_point)
{
	const char *at = line, *type = strstr(line, " - ");

	if (!type)
		return NOT;
	for (int i = 0; i < 4; i++) {
		at = strchr(at, ' ');
		if (!at || at > type)
			return NOT;
		at++;
	}
	*ret_point = at;
	type += 3;
	if (!strncmp(type, "cgroup2 ", 8))
		return UNIFIED;
	return !strncmp(type, "cgroup ", 7) && strstr(type, "perf_event") ? OF_PERF_EVENTS : NOT;
}

int cgroup_find(const char *mountinfo, char *buf, size_t size, struct err *err)
{
	enum suits best = NOT;
	struct str text = {0};
	char *line, *next;

	if (sysfile_read(mountinfo ? mountinfo : "/proc/self/mountinfo", MOUNTINFO_MAX, &text,
		    err)) {
		str_fini(&text);
		return err->code;
	}
	for (line = text.at; line && *line; line = next) {
		const char *point;
		enum suits s;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		s = suits(line, &point);
		if (s <= best)
			continue;
		best = s;
		snprintf(buf, size, "%.*s", (int)strcspn(point, " "), point);
	}
	str_fini(&text);
	if (best == NOT)
		return err_set(err, ERR_NOENT,
			"no control groups are mounted: 'sudo mount -t cgroup2 none /sys/fs/cgroup'");
	return 0;
}

int cgroup_open(const char *path, int *ret_fd, struct err *err)
{
	char mount[4096];
	struct str whole = {0};
	size_t n;
	int fd;

	if (cgroup_find(NULL, mount, sizeof(mount), err))
		return err->code;
	n = strlen(mount);
	if (strncmp(path, mount, n) || (path[n] && path[n] != '/'))
		str_addf(&whole, "%s/", mount);
	str_addf(&whole, "%s", path);
	fd = open(str_text(&whole), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		err_sys(err, errno, "opening the control group '%s'", str_text(&whole));
	str_fini(&whole);
	if (fd < 0)
		return err->code;
	*ret_fd = fd;
	return 0;
}
