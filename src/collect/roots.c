#include "collect/roots.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "event/children.h"
#include "event/target.h"

/* What is looked at each time: programs that start containers have fewer. */
enum { PROCESSES_MAX = 256, THREADS_MAX = 64, ROOTS_MAX = 16, FILES_MAX = 128 };

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
	if (root->ns_fd >= 0)
		close(root->ns_fd);
	if (root->fd >= 0)
		close(root->fd);
}

static void look_at(struct roots *r, pid_t pid, const struct root *own)
{
	struct root root;
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	if (r->at.n >= ROOTS_MAX || !identify(text, &root) || is_same(&root, own))
		return;
	vec_each(known, &r->at)
		if (is_same(known, &root))
			return;
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
	vec_each(root, &r->at) {
		close(root->fd);
		close(root->ns_fd);
	}
	vec_fini(&r->at);
}
