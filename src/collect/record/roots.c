#include "collect/record/roots.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/sysfile.h"
#include "event/children.h"
#include "event/target.h"

/*
 * Limits for each look; programs that start containers stay below them. Each service of systemd
 * that has its own /tmp has a namespace.
 */
enum { PROCESSES_MAX = 256, THREADS_MAX = 64, ROOTS_MAX = 64, FILES_MAX = 128 };
/* How many times a process is looked at: for two seconds. */
enum { LOOKS = 8 };

static bool identify(const char *pid, struct root *ret)
{
	struct stat ns, root;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
	if (stat(path, &ns))
		return false;
	snprintf(path, sizeof(path), "/proc/%s/root", pid);
	if (stat(path, &root))
		return false;
	*ret = (struct root){ns.st_ino, root.st_dev, root.st_ino, -1, -1};
	return true;
}

static bool is_same(const struct root *a, const struct root *b)
{
	return a->ns == b->ns && a->dev == b->dev && a->inode == b->inode;
}

static void let_go(const struct root *root)
{
	if (root->ns_fd >= 0)
		close(root->ns_fd);
	if (root->fd >= 0)
		close(root->fd);
}

static void keep(struct roots *r, const char *pid, struct root *root)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
	root->ns_fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%s/root", pid);
	root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->ns_fd >= 0 && root->fd >= 0) {
		vec_add(&r->at, *root);
		return;
	}
	let_go(root);
}

static void look_at(struct roots *r, pid_t pid, const struct root *own)
{
	struct root root;
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	if (!identify(text, &root) || is_same(&root, own))
		return;
	vec_each(known, &r->at)
		if (is_same(known, &root))
			return;
	/* A process that still runs at the end does not need its root kept. */
	if (r->at.n >= ROOTS_MAX) {
		let_go(&r->at.at[0]);
		memmove(r->at.at, r->at.at + 1, --r->at.n * sizeof(*r->at.at));
	}
	keep(r, text, &root);
}

static void add_children(struct children *all, pid_t pid)
{
	struct target process = {0};
	struct err has_ended;

	if (!target_add_process(&process, pid, &has_ended))
		for (size_t i = 0; i < process.threads.n && i < THREADS_MAX; i++)
			children_add(all, pid, process.threads.at[i].tid);
	target_fini(&process);
}

void roots_look(struct roots *r, pid_t pid)
{
	struct children all = {0};
	struct root own;

	if (!identify("self", &own))
		return;
	vec_add(&all, pid);
	for (size_t i = 0; i < all.n && i < PROCESSES_MAX; i++) {
		look_at(r, all.at[i], &own);
		add_children(&all, all.at[i]);
	}
	vec_fini(&all);
}

/* The machine's newest process. While it stays the same, all processes have been seen. */
static u64 newest_pid(void)
{
	struct str text = {0};
	const char *at;
	struct err err;
	u64 pid = 0;

	/* 0.20 0.18 0.12 1/80 11206 */
	if (!sysfile_read("/proc/loadavg", 256, &text, &err) &&
		(at = strrchr(str_text(&text), ' '))) {
		at++;
		if (!num_scan(&at, 10, &pid))
			pid = 0;
	}
	str_fini(&text);
	return pid;
}

SORT_BY(by_pid, struct roots_process, pid)

struct listing {
	const roots_process_list *before;
	roots_process_list now;
};

static bool see_process(void *ctx, const struct dirent *entry)
{
	struct listing *l = ctx;
	struct roots_process p = {0}, *known;
	const char *at = entry->d_name;
	u64 pid;

	if (!num_scan(&at, 10, &pid) || *at)
		return true;
	p.pid = (pid_t)pid;
	known = l->before->n ? bsearch(&p, l->before->at, l->before->n, sizeof(p), by_pid) : NULL;
	vec_add(&l->now, known ? *known : p);
	return true;
}

/* Lists the present processes, with the number of looks each has had. */
static void list_processes(struct roots *r)
{
	struct listing l = {.before = &r->seen};

	folder_each("/proc", see_process, &l);
	if (l.now.n)
		qsort(l.now.at, l.now.n, sizeof(*l.now.at), by_pid);
	vec_fini(&r->seen);
	r->seen = l.now;
}

void roots_look_everywhere(struct roots *r)
{
	u64 newest = newest_pid();
	struct root own;

	if (!identify("self", &own))
		return;
	if (!newest || newest != r->last_pid)
		list_processes(r);
	r->last_pid = newest;
	vec_each(p, &r->seen)
		if (p->n_looks < LOOKS) {
			p->n_looks++;
			look_at(r, p->pid, &own);
		}
}

void roots_keep_file(struct roots *r, const char *name, u64 inode, const char *path)
{
	int fd;

	if (r->files.n >= FILES_MAX || roots_find_file(r, name, inode) >= 0)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		vec_add(&r->files, ((struct roots_file){mem_strdup(name), inode, fd}));
}

int roots_find_file(const struct roots *r, const char *name, u64 inode)
{
	vec_each(file, &r->files)
		if (file->inode == inode && !strcmp(file->name, name))
			return file->fd;
	return -1;
}

void roots_fini(struct roots *r)
{
	vec_each(file, &r->files) {
		close(file->fd);
		mem_free(file->name);
	}
	vec_fini(&r->files);
	vec_each(root, &r->at)
		let_go(root);
	vec_fini(&r->at);
	vec_fini(&r->seen);
}
