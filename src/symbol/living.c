#include "symbol/living.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/sysfile.h"

enum { PATH_SIZE = 4096 + 64, MAPS_LIMIT = 64 << 20, TRIES_MAX = 16 };

static const char deleted[] = " (deleted)";

void living_init(struct living *l, const struct machine *machine, const char *proc)
{
	memset(l, 0, sizeof(*l));
	pthread_mutex_init(&l->lock, NULL);
	l->machine = machine;
	l->proc = proc;
}

void living_fini(struct living *l)
{
	vec_fini(&l->processes);
	pthread_mutex_destroy(&l->lock);
}

static bool is_same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool is_elsewhere(const char *proc, u32 pid)
{
	char theirs[PATH_SIZE], ours[PATH_SIZE];

	snprintf(theirs, sizeof(theirs), "%s/%u/root", proc, pid);
	if (!is_same(theirs, "/"))
		return true;
	snprintf(theirs, sizeof(theirs), "%s/%u/ns/mnt", proc, pid);
	snprintf(ours, sizeof(ours), "%s/self/ns/mnt", proc);
	return !is_same(theirs, ours);
}

/* Which processes still run; again if there are more than last time. */
static void look(struct living *l)
{
	char path[PATH_SIZE];
	struct stat st;

	pthread_mutex_lock(&l->lock);
	if (!l->is_known || l->n_known != l->machine->newest_processes.n) {
		l->processes.n = 0;
		vec_each(p, &l->machine->newest_processes) {
			snprintf(path, sizeof(path), "%s/%u/maps", l->proc, (*p)->pid);
			if ((*p)->pid && !stat(path, &st))
				vec_add(&l->processes,
					((struct living_process){*p,
						is_elsewhere(l->proc, (*p)->pid)}));
		}
		l->n_known = l->machine->newest_processes.n;
		l->is_known = true;
	}
	pthread_mutex_unlock(&l->lock);
}

void living_forget(struct living *l)
{
	l->processes.n = 0;
	l->is_known = false;
}

struct search {
	const struct dso *dso;
	const struct map *found;
};

static void find_map(void *ctx, const struct map *map)
{
	struct search *s = ctx;

	if (!s->found && map->dso == s->dso)
		s->found = map;
}

/* The DSO's path without what the kernel adds when the file is gone; its length. */
static size_t plain_length(const char *path)
{
	size_t n = strlen(path), tail = sizeof(deleted) - 1;

	return n > tail && !strcmp(path + n - tail, deleted) ? n - tail : n;
}

/*
 * Whether a line of /proc/PID/maps names that path; behind a chroot's own, if the process lives in
 * one.
 */
static bool ends_with(const char *name, const char *end, const char *path, size_t n)
{
	size_t tail = sizeof(deleted) - 1;

	if ((size_t)(end - name) > tail && !memcmp(end - tail, deleted, tail))
		end -= tail;
	return (size_t)(end - name) >= n && !memcmp(end - n, path, n);
}

/*
 * The range in which a process has the DSO mapped around `va` now: "START-END". False if something
 * else is there.
 */
static bool is_mapped(const struct living *l, const struct process *p, const struct dso *dso,
	u64 va, char range[64])
{
	size_t n = plain_length(dso->path);
	struct str text = {0};
	char path[PATH_SIZE];
	bool is_there = false;
	struct err err;

	snprintf(path, sizeof(path), "%s/%u/maps", l->proc, p->pid);
	if (!sysfile_read(path, MAPS_LIMIT, &text, &err)) {
		/* start-end rwxp offset device inode   path */
		for (const char *line = text.at; line && *line && !is_there;
			line = strchr(line, '\n'), line += line != NULL) {
			const char *end = line + strcspn(line, "\n"),
				   *name = memchr(line, '/', end - line);
			const char *at = line;
			u64 from, to;

			if (!name || !num_scan(&at, 16, &from) || *at++ != '-' ||
				!num_scan(&at, 16, &to) || va < from || va >= to)
				continue;
			snprintf(range, 64, "%llx-%llx", (unsigned long long)from,
				(unsigned long long)to);
			is_there = ends_with(name, end, dso->path, n);
		}
	}
	str_fini(&text);
	return is_there;
}

/*
 * /proc/PID/maps names a file as its namespace does, whatever root the process has changed to since: behind
 * that root's own path, its path below the root.
 */
static const char *below_root(const char *root, const char *path)
{
	char link[PATH_SIZE];
	ssize_t n = readlink(root, link, sizeof(link));

	return n > 1 && n < (ssize_t)sizeof(link) && !strncmp(path, link, (size_t)n) &&
			path[n] == '/'
		? path + n
		: path;
}

/* A path below a root: as it was recorded, or without the root's own. */
static bool take_below(const char *root, const struct dso *dso,
	bool (*take)(void *ctx, const char *path), void *ctx)
{
	const char *name = below_root(root, dso->path);
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s%.*s", root, (int)plain_length(dso->path), dso->path);
	if (take(ctx, path))
		return true;
	snprintf(path, sizeof(path), "%s%.*s", root, (int)plain_length(name), name);
	return name != dso->path && take(ctx, path);
}

/* What a recorder has read, and may be gone by now. */
static bool take_kept(const struct living *l, const struct dso *dso,
	bool (*take)(void *ctx, const char *path), void *ctx)
{
	int fd = l->roots ? roots_find_file(l->roots, dso->path, dso->inode) : -1;
	char path[64];

	snprintf(path, sizeof(path), "%s/self/fd/%d", l->proc, fd);
	return fd >= 0 && take(ctx, path);
}

bool living_each_path(struct living *l, const struct dso *dso, bool elsewhere_only,
	bool (*take)(void *ctx, const char *path), void *ctx)
{
	unsigned n_tried = 0;

	look(l);
	for (size_t i = 0; i < l->processes.n && n_tried < TRIES_MAX; i++) {
		const struct living_process *at = &l->processes.at[i];
		const struct process *p = at->process;
		struct search search = {.dso = dso};
		char path[PATH_SIZE], range[64];

		if (elsewhere_only && !at->is_elsewhere)
			continue;
		maps_each(process_newest(p)->maps, find_map, &search);
		if (!search.found || !is_mapped(l, p, dso, search.found->start, range))
			continue;
		n_tried++;
		/* What is mapped is what ran; the name may have been given to something newer. */
		snprintf(path, sizeof(path), "%s/%u/map_files/%s", l->proc, p->pid, range);
		if (take(ctx, path))
			return true;
		snprintf(path, sizeof(path), "%s/%u/root", l->proc, p->pid);
		if (at->is_elsewhere && take_below(path, dso, take, ctx))
			return true;
	}
	for (size_t i = 0; l->roots && i < l->roots->at.n; i++) {
		char path[PATH_SIZE];

		snprintf(path, sizeof(path), "%s/self/fd/%d", l->proc, l->roots->at.at[i].fd);
		if (take_below(path, dso, take, ctx))
			return true;
	}
	return !elsewhere_only && take_kept(l, dso, take, ctx);
}
