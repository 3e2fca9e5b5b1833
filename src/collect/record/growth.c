#include "collect/record/growth.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/num.h"

enum { MAPS_MAX = 4096 };

/* "perf-123.map" */
static bool is_map_name(const char *name, u32 *ret_pid)
{
	u64 pid;

	if (strncmp(name, "perf-", 5))
		return false;
	name += 5;
	if (!num_scan(&name, 10, &pid) || strcmp(name, ".map") || pid > UINT32_MAX)
		return false;
	*ret_pid = (u32)pid;
	return true;
}

static const struct growth_mark *last_mark(const struct growth *g, u32 pid)
{
	for (size_t i = g->marks.n; i-- > 0;)
		if (g->marks.at[i].pid == pid)
			return &g->marks.at[i];
	return NULL;
}

/* Marks a map if its size has changed. */
static bool look_at(struct growth *g, u32 pid, u64 time)
{
	const struct growth_mark *last = last_mark(g, pid);
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/perf-%u.map", g->dir, pid);
	if (g->marks.n >= GROWTH_MARKS_MAX || lstat(path, &st) || !S_ISREG(st.st_mode) ||
		(u64)st.st_size == (last ? last->size : 0))
		return false;
	vec_add(&g->marks, ((struct growth_mark){pid, (u64)st.st_size, time}));
	return true;
}

/* Starts to watch a map that has appeared. */
static bool meet(struct growth *g, const char *name, u64 time)
{
	char path[PATH_MAX];
	u32 pid;
	int wd;

	if (!is_map_name(name, &pid) || g->watches.n >= MAPS_MAX)
		return false;
	snprintf(path, sizeof(path), "%s/%s", g->dir, name);
	wd = inotify_add_watch(g->fd, path, IN_MODIFY | IN_DONT_FOLLOW);
	if (wd < 0)
		return false;
	vec_add(&g->watches, ((struct growth_watch){wd, pid}));
	return look_at(g, pid, time);
}

int growth_open(struct growth *g, const char *dir, struct err *err)
{
	const struct dirent *entry;
	DIR *d;

	memset(g, 0, sizeof(*g));
	g->dir = dir;
	g->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (g->fd < 0)
		return err_sys(err, errno, "watching perf maps");
	if (inotify_add_watch(g->fd, dir, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0) {
		err_sys(err, errno, "watching '%s' for perf maps", dir);
		close(g->fd);
		g->fd = -1;
		return err->code;
	}
	d = opendir(dir);
	while (d && (entry = readdir(d)))
		meet(g, entry->d_name, 0);
	if (d)
		closedir(d);
	return 0;
}

void growth_close(struct growth *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
	vec_fini(&g->marks);
	vec_fini(&g->watches);
}

static bool take_event(struct growth *g, const struct inotify_event *e, u64 time)
{
	bool has_grown = false;

	if (e->len)
		return meet(g, e->name, time);
	/* On overflow the kernel dropped events: any map may have changed. */
	vec_each(watch, &g->watches)
		if (watch->wd == e->wd || e->mask & IN_Q_OVERFLOW)
			has_grown |= look_at(g, watch->pid, time);
	return has_grown;
}

bool growth_look(struct growth *g, struct perfclock *clock)
{
	_Alignas(struct inotify_event) char room[16 << 10];
	bool has_grown = false;
	u64 time = 0;
	ssize_t n;

	if (g->fd < 0)
		return false;
	while ((n = fd_read(g->fd, room, sizeof(room))) > 0) {
		time = time ? time : perfclock_now(clock);
		for (const char *at = room; time && at < room + n;) {
			const struct inotify_event *e = (const void *)at;

			has_grown |= take_event(g, e, time);
			at += sizeof(*e) + e->len;
		}
	}
	return has_grown;
}
