#include "collect/record/synth.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/fd.h"
#include "base/num.h"
#include "base/sysfile.h"
#include "collect/around/privilege.h"
#include "event/abi.h"
#include "event/cgroup.h"
#include "record/record.h"

enum { FILE_LIMIT = 64 << 20, FLUSH_BYTES = 1 << 20 };

void synth_init(struct synth *s, u32 trailer, struct log *log)
{
	memset(s, 0, sizeof(*s));
	s->proc = "/proc";
	s->what = SYNTH_ALL;
	s->trailer = trailer;
	s->log = log;
}

void synth_fini(struct synth *s)
{
	str_fini(&s->out);
	str_fini(&s->text);
}

static struct record_bytes run_of(const char *text, size_t n)
{
	return (struct record_bytes){(const u8 *)text, n};
}

/* Reads a file below /proc into s->text. False: the process has ended. */
static bool read_file(struct synth *s, const char *path)
{
	struct err err;

	str_clear(&s->text);
	return !sysfile_read(path, FILE_LIMIT, &s->text, &err);
}

/* The next line of a text, with its length without the newline; NULL after the last. */
static const char *next_line(const char **at, size_t *ret_n)
{
	const char *line = *at, *end;

	if (!*line)
		return NULL;
	end = strchr(line, '\n');
	*ret_n = end ? (size_t)(end - line) : strlen(line);
	*at = line + *ret_n + (end != NULL);
	return line;
}

/* ---- tasks ---- */

static void add_comm(struct synth *s, pid_t pid, pid_t tid)
{
	union record_body body = {.comm = {.pid = pid, .tid = tid}};
	char path[96], comm[64];

	snprintf(path, sizeof(path), "%s/%d/task/%d/comm", s->proc, pid, tid);
	if (!sysfile_line(path, comm, sizeof(comm)))
		return;
	body.comm.comm = run_of(comm, strlen(comm));
	record_encode(PERF_RECORD_COMM, PERF_RECORD_MISC_USER, &body, s->trailer, &s->out);
}

static void add_fork(struct synth *s, pid_t pid, pid_t tid, pid_t parent)
{
	union record_body body = {.task = {.pid = pid, .tid = tid, .ppid = parent, .ptid = parent}};

	/* FORK_EXEC: the parent's maps are not the child's; its own follow. */
	record_encode(PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, &body, s->trailer, &s->out);
}

/* The kernel's order: linux/perf_event.h, NET_NS_INDEX and so on. */
static const char *const namespaces[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};

static void add_namespaces(struct synth *s, pid_t pid, pid_t tid)
{
	u64 words[2 * ARRAY_SIZE(namespaces)] = {0};
	union record_body body = {.namespaces = {.pid = pid, .tid = tid}};
	char path[96];
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++) {
		snprintf(path, sizeof(path), "%s/%d/task/%d/ns/%s", s->proc, pid, tid,
			namespaces[i]);
		if (stat(path, &st))
			continue;
		words[2 * i] = st.st_dev;
		words[2 * i + 1] = st.st_ino;
	}
	body.namespaces.nr = ARRAY_SIZE(namespaces);
	body.namespaces.namespaces = (struct record_bytes){(const u8 *)words, sizeof(words)};
	record_encode(PERF_RECORD_NAMESPACES, 0, &body, s->trailer, &s->out);
}

/*
 * Reads the parent from /proc/PID/stat: "pid (comm) state ppid ...". A comm may contain spaces and
 * parentheses.
 */
static pid_t read_parent(struct synth *s, pid_t pid)
{
	char path[64];
	const char *close;

	snprintf(path, sizeof(path), "%s/%d/stat", s->proc, pid);
	if (!read_file(s, path))
		return -1;
	close = strrchr(str_text(&s->text), ')');
	return close && strlen(close) > 4 ? atoi(close + 4) : -1;
}

/* Parses a line of /proc/PID/maps: "start-end perms offset maj:min inode path". */
static bool parse_map(const char *line, const char *end, struct record_mmap *m, bool *ret_is_exec)
{
	u64 start, stop, maj, min;
	const char *p = line;

	if (!num_scan(&p, 16, &start) || *p++ != '-' || !num_scan(&p, 16, &stop) || *p++ != ' ' ||
		end - p < 5)
		return false;
	m->prot = (p[0] == 'r' ? PROT_READ : 0) | (p[1] == 'w' ? PROT_WRITE : 0) |
		(p[2] == 'x' ? PROT_EXEC : 0);
	m->flags = p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	*ret_is_exec = p[2] == 'x';
	p += 5;
	if (!num_scan(&p, 16, &m->pgoff) || *p++ != ' ' || !num_scan(&p, 16, &maj) || *p++ != ':' ||
		!num_scan(&p, 16, &min) || *p++ != ' ' || !num_scan(&p, 10, &m->ino))
		return false;
	m->addr = start;
	m->len = stop - start;
	m->maj = maj;
	m->min = min;
	while (p < end && *p == ' ')
		p++;
	m->path = p < end ? run_of(p, MIN(end - p, 4000)) : run_of("//anon", 6);
	return true;
}

/*
 * Adds a map of user space or of the kernel; with its build-id, if wanted, instead of device and
 * inode.
 */
static void add_map(struct synth *s, u32 type, u16 misc, union record_body *body)
{
	struct record_mmap *m = &body->mmap;
	char path[PATH_MAX];

	if (s->build_id && m->path.n < sizeof(path)) {
		memcpy(path, m->path.at, m->path.n);
		path[m->path.n] = '\0';
		m->build_id_size = s->build_id(path, m->build_id);
	}
	if (m->build_id_size) {
		type = PERF_RECORD_MMAP2;
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	}
	record_encode(type, misc, body, s->trailer, &s->out);
}

static void add_maps(struct synth *s, pid_t pid)
{
	char path[64];
	const char *at, *line;
	size_t n;

	snprintf(path, sizeof(path), "%s/%d/maps", s->proc, pid);
	if (!read_file(s, path))
		return;
	at = str_text(&s->text);
	while ((line = next_line(&at, &n)) != NULL) {
		union record_body body = {.mmap = {.pid = pid, .tid = pid}};
		u16 misc = PERF_RECORD_MISC_USER;
		bool is_exec;

		if (!parse_map(line, line + n, &body.mmap, &is_exec) ||
			(!is_exec && !s->has_data_maps))
			continue;
		if (!is_exec)
			misc |= PERF_RECORD_MISC_MMAP_DATA;
		add_map(s, PERF_RECORD_MMAP2, misc, &body);
	}
}

struct tasks {
	struct synth *synth;
	pid_t pid, parent;
};

static bool add_task(void *tasks, const struct dirent *entry)
{
	struct tasks *t = tasks;
	struct synth *s = t->synth;
	pid_t tid = atoi(entry->d_name);

	if (tid <= 0)
		return true;
	add_fork(s, t->pid, tid, tid == t->pid ? t->parent : t->pid);
	add_comm(s, t->pid, tid);
	if (s->has_namespaces)
		add_namespaces(s, t->pid, tid);
	return true;
}

void synth_process(struct synth *s, pid_t pid)
{
	struct tasks tasks = {.synth = s, .pid = pid};
	char path[64];

	if (!(s->what & (SYNTH_TASKS | SYNTH_MAPS)))
		return;
	tasks.parent = read_parent(s, pid);
	snprintf(path, sizeof(path), "%s/%d/task", s->proc, pid);
	if (tasks.parent < 0 || folder_each(path, add_task, &tasks))
		return;
	if (!s->has_no_maps && s->what & SYNTH_MAPS)
		add_maps(s, pid);
	s->n_processes++;
}

struct processes {
	struct synth *synth;
	int (*flush)(void *ctx, struct err *err);
	void *ctx;
	struct err *err;
	int result;
};

static bool add_process(void *processes, const struct dirent *entry)
{
	struct processes *p = processes;

	if (!isdigit((u8)entry->d_name[0]))
		return true;
	synth_process(p->synth, atoi(entry->d_name));
	if (p->synth->out.n >= FLUSH_BYTES)
		p->result = p->flush(p->ctx, p->err);
	return !p->result;
}

int synth_all(struct synth *s, int (*flush)(void *ctx, struct err *err), void *ctx, struct err *err)
{
	struct processes p = {s, flush, ctx, err, 0};
	int sys = folder_each(s->proc, add_process, &p);

	if (sys)
		return err_sys(err, sys, "opening '%s'", s->proc);
	return p.result ? p.result : flush(ctx, err);
}

/* ---- control groups ---- */

/* The cgroup's id in samples: the kernel's, which is part of a file handle of the directory. */
static bool cgroup_id(const char *path, u64 *ret_id)
{
	struct {
		struct file_handle head;
		u64 id;
	} handle = {.head.handle_bytes = sizeof(u64)};
	int mount_id;

	if (name_to_handle_at(AT_FDCWD, path, &handle.head, &mount_id, 0) ||
		handle.head.handle_bytes < sizeof(u64))
		return false;
	memcpy(ret_id, handle.head.f_handle, sizeof(*ret_id));
	return true;
}

/* Adds a directory and those in it. `path` is unchanged on return. */
static void add_cgroup(struct synth *s, struct str *path, size_t root_n)
{
	const char *name = path->n > root_n ? path->at + root_n : "/";
	union record_body body = {.cgroup.path = run_of(name, strlen(name))};
	size_t n = path->n;
	struct dirent *entry;
	DIR *dir;

	if (!cgroup_id(str_text(path), &body.cgroup.id) || n >= PATH_MAX)
		return;
	record_encode(PERF_RECORD_CGROUP, 0, &body, s->trailer, &s->out);
	dir = opendir(str_text(path));
	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		str_addf(path, "/%s", entry->d_name);
		add_cgroup(s, path, root_n);
		str_cut(path, n);
	}
	if (dir)
		closedir(dir);
}

void synth_cgroups(struct synth *s)
{
	struct str path = {0};
	char root[PATH_MAX], mounts[64];
	struct err err;

	snprintf(mounts, sizeof(mounts), "%s/mounts", s->proc);
	if (!(s->what & SYNTH_CGROUPS))
		return;
	if (cgroup_find_mount(mounts, root, sizeof(root), &err)) {
		log_note(s->log, "the cgroups of samples will have no names: %s", err.msg);
		return;
	}
	str_add(&path, root);
	add_cgroup(s, &path, path.n);
	str_fini(&path);
}

/* ---- kernel ---- */

/*
 * The size of the kernel's code according to /proc/iomem, which avoids the 40 ms of reading all of
 * kallsyms.
 */
static u64 code_size(struct synth *s)
{
#ifdef __x86_64__
	char path[64];
	const char *at, *line;
	size_t n;

	snprintf(path, sizeof(path), "%s/iomem", s->proc);
	if (!read_file(s, path))
		return 0;
	at = str_text(&s->text);
	while ((line = next_line(&at, &n)) != NULL) {
		const char *p = line + strspn(line, " ");
		u64 start, end;

		if (num_scan(&p, 16, &start) && *p++ == '-' && num_scan(&p, 16, &end) &&
			!strncmp(p, " : Kernel code", 14))
			return end > start ? end + 1 - start : 0;
	}
#else
	(void)s;
#endif
	return 0;
}

struct bounds {
	u64 text, end; /* _text (or _stext), _etext; 0: not seen */
	bool is_text;  /* text is the address of _text */
	bool is_seen;  /* a line had one of the names, even if its address is hidden */
};

/* Takes a line "address type name" into account. True: nothing more is needed. */
static bool see_symbol(const char *line, size_t n, bool needs_end, struct bounds *b)
{
	const char *p = line, *name;
	u64 address;

	if (n < 8 || !num_scan(&p, 16, &address) || p + 3 > line + n)
		return false;
	name = p + 3;
	n -= name - line;
	if ((n == 5 && !memcmp(name, "_text", 5)) || (n == 6 && !memcmp(name, "_stext", 6))) {
		bool is_text = name[1] == 't';

		/* If the two differ, _text comes before _stext. */
		if (!b->text || address < b->text || (address == b->text && is_text)) {
			b->text = address;
			b->is_text = is_text;
		}
		b->is_seen = true;
		return !needs_end && is_text;
	}
	if (n == 6 && !memcmp(name, "_etext", 6)) {
		b->end = address;
		return true;
	}
	return false;
}

static void find_bounds(struct synth *s, bool needs_end, struct bounds *b)
{
	char path[64], buf[65536];
	size_t kept = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/kallsyms", s->proc);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while ((got = fd_read(fd, buf + kept, sizeof(buf) - kept)) > 0) {
		char *line = buf, *end = buf + kept + got, *newline;
		bool is_done = false;

		while (!is_done && (newline = memchr(line, '\n', end - line)) != NULL) {
			is_done = see_symbol(line, newline - line, needs_end, b);
			line = newline + 1;
		}
		if (is_done)
			break;
		kept = end - line;
		memmove(buf, line, kept);
	}
	close(fd);
}

/* It is somewhere. */
static void add_hidden_kernel(struct synth *s)
{
	static const char name[] = "[kernel.kallsyms]";
	union record_body body = {.mmap = {.pid = (u32)-1, .len = ~0ull}};

	body.mmap.path = run_of(name, sizeof(name) - 1);
	add_map(s, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, &body);
}

void synth_kernel(struct synth *s)
{
	union record_body body = {.mmap = {.pid = (u32)-1}};
	struct bounds bounds = {0};
	u64 size = code_size(s);
	struct privilege p;
	const char *name;
	char why[256];

	find_bounds(s, !size, &bounds);
	if (!bounds.text) {
		privilege_read(&p);
		if (bounds.is_seen)
			log_note(s->log, "kernel addresses are hidden%s: %s",
				s->has_hidden ? "" : ", kernel functions will have no names",
				privilege_explain_hidden(&p, why, sizeof(why)));
		else if (!s->has_hidden)
			log_note(s->log,
				"%s/kallsyms cannot be read: kernel functions will have no names",
				s->proc);
		if (s->has_hidden)
			add_hidden_kernel(s);
		return;
	}
	/* perf looks up the symbol named here in kallsyms, which has no _text on arm64. */
	name = bounds.is_text ? "[kernel.kallsyms]_text" : "[kernel.kallsyms]_stext";
	body.mmap.path = run_of(name, strlen(name));
	body.mmap.addr = body.mmap.pgoff = bounds.text;
	body.mmap.len = size ? size : bounds.end > bounds.text ? bounds.end - bounds.text : 0;
	if (body.mmap.len)
		add_map(s, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, &body);
}

/*
 * Whether a path's file name is that of module `name`: '-' and '_' are equal, and .ko.xz and the
 * like may follow.
 */
static bool is_module_path(const char *path, size_t n, const char *name, size_t name_n)
{
	const char *base = memrchr(path, '/', n);

	base = base ? base + 1 : path;
	if ((size_t)(path + n - base) < name_n + 3 || memcmp(base + name_n, ".ko", 3))
		return false;
	for (size_t i = 0; i < name_n; i++)
		if (base[i] != name[i] && !(base[i] == '-' && name[i] == '_'))
			return false;
	return true;
}

/*
 * Adds the module's file according to modules.dep ("kernel/net/x.ko.xz: ..."), or "[name]" if it is
 * not listed.
 */
static void module_path(const char *root, const char *dep, const char *name, size_t name_n,
	struct str *path)
{
	const char *line;
	size_t n;

	while ((line = next_line(&dep, &n)) != NULL) {
		const char *colon = memchr(line, ':', n);

		if (!colon || !is_module_path(line, colon - line, name, name_n))
			continue;
		if (line[0] != '/')
			str_addf(path, "%s/", root);
		str_addn(path, line, colon - line);
		return;
	}
	str_addf(path, "[%.*s]", (int)name_n, name);
}

void synth_modules(struct synth *s)
{
	struct str dep = {0}, path = {0};
	char root[256], file[300];
	struct utsname uts;
	const char *at, *line;
	struct err err;
	size_t n;

	uname(&uts);
	snprintf(root, sizeof(root), "/lib/modules/%s", uts.release);
	if (s->modules)
		snprintf(root, sizeof(root), "%s", s->modules);
	snprintf(file, sizeof(file), "%s/modules.dep", root);
	if (sysfile_read(file, FILE_LIMIT, &dep, &err))
		str_clear(&dep);
	snprintf(file, sizeof(file), "%s/modules", s->proc);
	if (!read_file(s, file))
		str_clear(&s->text); /* a kernel without modules */
	at = str_text(&s->text);
	while ((line = next_line(&at, &n)) != NULL) {
		/* name size uses users state 0xaddress [flags] */
		union record_body body = {.mmap = {.pid = (u32)-1}};
		const char *name_end = memchr(line, ' ', n), *p, *hex = memmem(line, n, " 0x", 3);

		if (!name_end || !hex)
			continue;
		p = name_end + 1;
		hex += 3;
		if (!num_scan(&p, 10, &body.mmap.len) || !num_scan(&hex, 16, &body.mmap.addr) ||
			(!body.mmap.addr && !s->has_hidden))
			continue;
		str_clear(&path);
		module_path(root, str_text(&dep), line, name_end - line, &path);
		body.mmap.path = run_of(str_text(&path), path.n);
		add_map(s, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, &body);
	}
	str_fini(&dep);
	str_fini(&path);
}
