#include "symbol/embed/unbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "symbol/embed/elfstub.h"

/*
 * Creates a file at a recorded path below the folder, with its parent folders. Returns a descriptor, or
 * < 0 with errno.
 */
static int create_below(int folder, const char *path)
{
	int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	char part[256];

	while (at >= 0) {
		size_t n;
		int next;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (!n || n >= sizeof(part) || (n == 1 && *path == '.') ||
			(n == 2 && !strncmp(path, "..", 2))) {
			close(at);
			errno = EINVAL;
			return -1;
		}
		memcpy(part, path, n);
		part[n] = '\0';
		path += n;
		if (!*path) {
			next = openat(at, part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				0600);
		} else {
			(void)!mkdirat(at, part, 0700);
			next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		}
		close(at);
		if (!*path)
			return next;
		at = next;
	}
	return -1;
}

/* perf searches for the kernel's start by this name. Newer kernels list a second name for it, and later. */
#define KERNEL_START       "_text"
#define KERNEL_START_ALIAS "__pi__text"

/* Writes lines of /proc/kallsyms, or of a perf map. */
static int put_symbols(const struct embedded *e, const struct embedded_dso *d,
	struct allowance_rest *rest, int fd, struct err *err)
{
	struct str text = {0};
	int r = 0, sys;

	for (u32 i = 0; i < d->n_symbols && !r; i++) {
		size_t before = text.n;
		struct embedded_symbol s;
		const char *name;

		embedded_entry(e, EMBEDDED_SYMBOLS, d->first_symbol + i, &s, sizeof(s));
		name = embedded_string(e, s.name);
		if (!name)
			continue;
		if (!i && d->kind == DSO_KERNEL && !strcmp(name, KERNEL_START_ALIAS))
			name = KERNEL_START;
		if (d->kind == DSO_JIT)
			str_addf(&text, "%llx %llx ", (unsigned long long)s.start,
				(unsigned long long)(s.end - s.start));
		else
			str_addf(&text, "%016llx T ", (unsigned long long)s.start);
		str_add_safe(&text, name, strlen(name));
		str_addc(&text, '\n');
		r = allowance_take(rest, text.n - before, err);
	}
	sys = r ? 0 : fd_write(fd, text.at, text.n);
	str_fini(&text);
	return sys ? err_sys(err, sys, "writing symbols") : r;
}

static int copy_dump(int from, int to, struct allowance_rest *rest, struct err *err)
{
	off_t at = 0, end = lseek(from, 0, SEEK_END);
	u8 room[1 << 16];

	/* Holes stay holes: a dump may claim to be very large. */
	while ((at = lseek(from, at, SEEK_DATA)) >= 0) {
		off_t hole = lseek(from, at, SEEK_HOLE);

		while (at < hole) {
			size_t n = MIN((size_t)(hole - at), sizeof(room));
			ssize_t got = fd_read_some_at(from, room, n, (u64)at);
			int sys;

			if (allowance_take(rest, n, err))
				return err->code;
			sys = got > 0 ? fd_write_at(to, room, (size_t)got, (u64)at) : EIO;
			if (sys)
				return err_sys(err, sys, "writing a jitdump");
			at += got;
		}
	}
	if (end < 0 || ftruncate(to, end))
		return err_sys(err, errno, "writing a jitdump");
	return 0;
}

struct unboxing {
	const struct embedded *from;
	struct log *log;
	int folder;
	u64 n_files;
	struct allowance_rest rest;
	struct err too_much; /* if rest.is_exceeded */
};

static void end_file(struct unboxing *u, const char *path, int fd, int result,
	const struct err *err)
{
	int failed = close(fd);

	if (u->rest.is_exceeded)
		u->too_much = *err;
	else if (failed || result)
		log_warn(u->log, "'%s': %s", path, result ? err->msg : strerror(errno));
	else
		u->n_files++;
}

static void put_dso(struct unboxing *u, const struct embedded_dso *d)
{
	const char *path = d->kind == DSO_KERNEL ? "kallsyms" : embedded_string(u->from, d->path);
	bool is_text = d->kind == DSO_KERNEL || d->kind == DSO_JIT;
	struct err err;
	int fd, r;

	/* The addresses of modules in kallsyms are lost; the vdso is no file. */
	if (!path || (!is_text && d->kind != DSO_FILE))
		return;
	fd = create_below(u->folder, path);
	if (fd < 0) {
		log_warn(u->log, "'%s' is left out: %s", path, strerror(errno));
		return;
	}
	r = is_text ? put_symbols(u->from, d, &u->rest, fd, &err)
		    : elfstub_write(u->from, d, &u->rest, fd, &err);
	end_file(u, path, fd, r, &err);
}

static void put_dump(struct unboxing *u, const struct embedded_dump *d)
{
	const char *path = embedded_string(u->from, d->path);
	struct err err;
	int from, fd;

	if (!path)
		return;
	if (embedded_open_this_dump(u->from, d, &from, &err)) {
		log_warn(u->log, "'%s' is left out: %s", path, err.msg);
		return;
	}
	fd = create_below(u->folder, path);
	if (fd < 0)
		log_warn(u->log, "'%s' is left out: %s", path, strerror(errno));
	else
		end_file(u, path, fd, copy_dump(from, fd, &u->rest, &err), &err);
	close(from);
}

int unbox_write(const struct embedded *e, const struct reader *from, const char *folder,
	struct log *log, u64 *ret_n_files, struct err *err)
{
	u64 limit = allowance_bytes(&from->allowance, from->data_end + e->n_packed);
	struct unboxing u = {.from = e,
		.log = log,
		.rest = {.of = &from->allowance,
			.limit = limit,
			.left = limit,
			.offset = from->sections[FEATURE_EMBEDDED].offset,
			.what = "the files that it contains"}};
	struct embedded_dump dump;
	struct embedded_dso d;

	if (mkdir(folder, 0700))
		return err_sys(err, errno, "making the folder '%s'", folder);
	u.folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (u.folder < 0)
		return err_sys(err, errno, "opening the folder '%s'", folder);
	for (u64 i = 0; !u.rest.is_exceeded && embedded_entry(e, EMBEDDED_DSOS, i, &d, sizeof(d));
		i++)
		put_dso(&u, &d);
	for (u64 i = 0;
		!u.rest.is_exceeded && embedded_entry(e, EMBEDDED_DUMPS, i, &dump, sizeof(dump));
		i++)
		put_dump(&u, &dump);
	close(u.folder);
	if (u.rest.is_exceeded) {
		*err = u.too_much;
		return err->code;
	}
	*ret_n_files = u.n_files;
	return 0;
}
