#include "symbol/find/liveproc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/sysfile.h"

enum { PATH_SIZE = 4096 + 64, MAPS_LIMIT = 64 << 20, TRIES_MAX = 16 };

static const char deleted[] = " (deleted)";

void liveproc_init(struct liveproc *l, const struct machine *machine, const char *proc)
{
	memset(l, 0, sizeof(*l));
	pthread_mutex_init(&l->lock, NULL);
	l->machine = machine;
	l->proc = proc;
}

void liveproc_fini(struct liveproc *l)
{
	vec_fini(&l->processes);
	vec_fini(&l->maps);
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

struct indexing {
	struct liveproc *liveproc;
	u32 process;
};

static void add_map(void *ctx, const struct map *map)
{
	const struct indexing *in = ctx;

	vec_add(&in->liveproc->maps,
		((struct liveproc_map){map->dso->id, in->process, map->start}));
}

SORT_BY(compare_maps, struct liveproc_map, dso, process, start)

static const struct maps_node *maps_of(const struct liveproc_process *p)
{
	return process_newest(p->process)->maps;
}

/* Changes with each map, fork and exec. */
static u64 version_of(const struct machine *m)
{
	return m->maps.n_added + m->next_space_id;
}

static void index_maps(struct liveproc *l)
{
	vec_each(p, &l->processes) {
		struct indexing in = {l, (u32)(p - l->processes.at)};

		maps_each(maps_of(p), add_map, &in);
	}
	if (l->maps.n)
		qsort(l->maps.at, l->maps.n, sizeof(*l->maps.at), compare_maps);
	l->has_maps = true;
}

/*
 * Finds the processes that still run; again if there are more than last time. Returns whether their maps are
 * indexed.
 */
static bool look(struct liveproc *l)
{
	u64 version = version_of(l->machine);
	char path[PATH_SIZE];
	struct stat st;
	bool has_maps;

	pthread_mutex_lock(&l->lock);
	if (!l->is_known || l->n_known != l->machine->newest_processes.n) {
		l->processes.n = 0;
		l->version = UINT64_MAX;
		vec_each(p, &l->machine->newest_processes) {
			snprintf(path, sizeof(path), "%s/%u/maps", l->proc, (*p)->pid);
			if ((*p)->pid && !stat(path, &st))
				vec_add(&l->processes,
					((struct liveproc_process){*p,
						is_elsewhere(l->proc, (*p)->pid)}));
		}
		l->n_known = l->machine->newest_processes.n;
		l->is_known = true;
	}
	if (l->version != version) {
		l->version = version;
		l->maps.n = 0;
		l->has_maps = false;
	} else if (!l->has_maps) {
		index_maps(l);
	}
	has_maps = l->has_maps;
	pthread_mutex_unlock(&l->lock);
	return has_maps;
}

void liveproc_forget(struct liveproc *l)
{
	l->processes.n = 0;
	l->is_known = false;
}

struct search {
	const struct dso *dso;
	bool is_found;
	u64 start;
};

static void find_map(void *ctx, const struct map *map)
{
	struct search *s = ctx;

	if (!s->is_found && map->dso == s->dso) {
		s->is_found = true;
		s->start = map->start;
	}
}

/* The first address at which process i has the DSO mapped. */
static bool find_start(const struct liveproc *l, bool has_maps, size_t i, const struct dso *dso,
	u64 *ret_start)
{
	struct search search = {.dso = dso};
	const struct liveproc_map *maps = l->maps.at;
	size_t at;

	if (!has_maps) {
		maps_each(maps_of(&l->processes.at[i]), find_map, &search);
		*ret_start = search.start;
		return search.is_found;
	}
	at = search_first(k, l->maps.n,
		maps[k].dso > dso->id || (maps[k].dso == dso->id && maps[k].process >= i));
	if (at == l->maps.n || maps[at].dso != dso->id || maps[at].process != i)
		return false;
	*ret_start = maps[at].start;
	return true;
}

/* The length of the DSO's path without the suffix that the kernel adds to deleted files. */
static size_t plain_length(const char *path)
{
	size_t n = strlen(path), tail = sizeof(deleted) - 1;

	return n > tail && !strcmp(path + n - tail, deleted) ? n - tail : n;
}

/*
 * Whether a line of /proc/PID/maps names that path, behind the path of a chroot if the process lives
 * in one.
 */
static bool ends_with(const char *name, const char *end, const char *path, size_t n)
{
	size_t tail = sizeof(deleted) - 1;

	if ((size_t)(end - name) > tail && !memcmp(end - tail, deleted, tail))
		end -= tail;
	return (size_t)(end - name) >= n && !memcmp(end - n, path, n);
}

/*
 * The range in which a process has the DSO mapped around `va` now: "START-END". Returns false if something
 * else is there.
 */
static bool is_mapped(const struct liveproc *l, const struct process *p, const struct dso *dso,
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
 * Converts a path of /proc/PID/maps to one below the process's root. The kernel gives the path in the mount
 * namespace, so if the process has changed its root, the path begins with the path of that root.
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

/* Tries the path below a root: as it was recorded, and without the root's own path. */
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

/* Tries the file that the recorder opened; it may be deleted by now. */
static bool take_kept(const struct liveproc *l, const struct dso *dso,
	bool (*take)(void *ctx, const char *path), void *ctx)
{
	int fd = l->roots ? roots_find_file(l->roots, dso->path, dso->inode) : -1;
	char path[64];

	snprintf(path, sizeof(path), "%s/self/fd/%d", l->proc, fd);
	return fd >= 0 && take(ctx, path);
}

bool liveproc_each_path(struct liveproc *l, const struct dso *dso, bool elsewhere_only,
	bool (*take)(void *ctx, const char *path), void *ctx)
{
	bool has_maps = look(l);
	unsigned n_tried = 0;

	for (size_t i = 0; i < l->processes.n && n_tried < TRIES_MAX; i++) {
		const struct liveproc_process *at = &l->processes.at[i];
		const struct process *p = at->process;
		char path[PATH_SIZE], range[64];
		u64 start;

		if (elsewhere_only && !at->is_elsewhere)
			continue;
		if (!find_start(l, has_maps, i, dso, &start) || !is_mapped(l, p, dso, start, range))
			continue;
		n_tried++;
		/* The mapped file is the one that ran; its name may belong to a newer file. */
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
