#include "edit/jitmaps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

void jitmaps_init(struct jitmaps *j, const struct reader *r, const struct embedded *e,
	const char *folder, struct log *log)
{
	*j = (struct jitmaps){.reader = r, .embedded = e, .folder = folder, .log = log};
}

void jitmaps_fini(struct jitmaps *j)
{
	vec_fini(&j->dumps);
	vec_fini(&j->files);
	vec_fini(&j->maps);
	str_fini(&j->room);
	arena_fini(&j->arena);
}

/* ---- files ---- */

/* What is being read: a dump, and which file each of its functions became (TABLE_NONE: none yet). */
struct reading {
	struct jitdump dump;
	u32 *files;
	struct str folder;
	const char *pid; /* as the dump's name has it, up to the point */
	int n_pid;
};

/* Anybody may put a link into the folder of a dump: what has the name already is removed, and not written to. */
static int write_file(const char *path, const struct str *file, struct err *err)
{
	int fd, sys;

	if (unlink(path) && errno != ENOENT)
		return err_sys(err, errno, "replacing '%s'", path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, errno, "creating '%s'", path);
	sys = fd_write(fd, file->at, file->n);
	if (close(fd) && !sys)
		sys = errno;
	return sys ? err_sys(err, sys, "writing '%s'", path) : 0;
}

/* jitted-PID-N.so, as perf names it; code whose number newer code has, too, gets its place in the dump in addition. */
static const char *name_file(struct jitmaps *j, const struct reading *r, size_t code)
{
	const struct jitdump_code *c = &r->dump.codes.at[code];
	struct str path = {0};
	const char *name;

	str_addf(&path, "%s/jitted-%.*s-%llu", r->folder.at, r->n_pid, r->pid,
		(unsigned long long)c->index);
	if (!jitdump_is_newest(&r->dump, c))
		str_addf(&path, "-%zu", code);
	str_add(&path, ".so");
	name = arena_strdup(&j->arena, path.at, path.n);
	str_fini(&path);
	return name;
}

static int add_file(struct jitmaps *j, struct reading *r, size_t code, struct err *err)
{
	struct jitmaps_file file = {.path = name_file(j, r, code)};
	struct jitimage image;
	int result = jitimage_make(&r->dump, &r->dump.codes.at[code], &image, err);

	if (result)
		return result;
	memcpy(file.build_id, image.build_id, sizeof(file.build_id));
	result = write_file(file.path, &image.file, err);
	str_fini(&image.file);
	r->files[code] = (u32)j->files.n;
	vec_add(&j->files, file);
	return result;
}

/* ---- dumps ---- */

static int by_time(const void *a, const void *b)
{
	const struct jitmap *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/* All events of a dump; `time` is that of its map. Code from before has this time, and all if the clocks differ. */
static void read_events(struct jitmaps *j, struct reading *r, u64 time)
{
	const bool is_timed = jitcode_is_timed(&j->reader->events, &r->dump);
	const struct jitmaps_dump *d = &j->dumps.at[j->dumps.n - 1];
	struct jitdump_event e;
	struct err err;
	int more;

	while ((more = jitdump_next(&r->dump, &e, &err)) > 0)
		vec_add(&j->maps,
			((struct jitmap){.time = is_timed ? MAX(time, e.time_ns) : time,
				.nr = j->maps.n,
				.va = e.va,
				.size = e.size,
				.dump = (u32)j->dumps.n - 1,
				.file = (u32)(jitdump_find(&r->dump, e.off) - r->dump.codes.at)}));
	if (more < 0)
		log_warn(j->log, "'%s': %s; functions generated after this have no names", d->path,
			err.msg);
	if (!is_timed && r->dump.codes.n)
		log_warn(j->log,
			"'%s': the recording has another clock than the dump: where code replaced other code, samples have the later name; "
			"'pace record -k mono' tells them apart",
			d->path);
}

/* Writes the files, and puts their numbers in place of the functions'. */
static int write_files(struct jitmaps *j, struct reading *r, size_t first, struct err *err)
{
	r->files = mem_alloc(r->dump.codes.n * sizeof(*r->files));
	memset(r->files, 0xff, r->dump.codes.n * sizeof(*r->files));
	for (size_t i = first; i < j->maps.n; i++) {
		const u32 code = j->maps.at[i].file;

		if (r->files[code] == TABLE_NONE && add_file(j, r, code, err))
			return err->code;
		j->maps.at[i].file = r->files[code];
	}
	qsort(j->maps.at + j->next, j->maps.n - j->next, sizeof(*j->maps.at), by_time);
	return 0;
}

/* Where the files go: beside the dump, if it is a file here. */
static void choose_folder(const struct jitmaps *j, struct reading *r, const char *path,
	bool is_embedded)
{
	const char *slash = strrchr(path, '/');

	r->pid = (slash ? slash + 1 : path) + strlen("jit-");
	r->n_pid = (int)strcspn(r->pid, ".");
	if (slash)
		str_addn(&r->folder, path, slash == path ? 1 : (size_t)(slash - path));
	if (path[0] == '/' && !is_embedded && !access(r->folder.at, W_OK))
		return;
	str_clear(&r->folder);
	str_add(&r->folder, j->folder);
}

/* Takes the descriptor. 0: it is no dump with code, and was said. */
static int read_dump(struct jitmaps *j, int fd, u64 time, bool is_embedded, struct err *err)
{
	const char *path = j->dumps.at[j->dumps.n - 1].path;
	const size_t first = j->maps.n;
	struct reading r = {0};
	int result = 1;

	if (jitdump_open(&r.dump, fd, err)) {
		log_warn(j->log, "'%s': %s: its code has no names", path, err->msg);
		close(fd);
		return 0;
	}
	if (r.dump.is_names_only) {
		result = 0;
	} else {
		choose_folder(j, &r, path, is_embedded);
		read_events(j, &r, time);
		if (j->maps.n > first && write_files(j, &r, first, err))
			result = err->code;
	}
	str_fini(&r.folder);
	mem_free(r.files);
	jitdump_close(&r.dump);
	return result;
}

int jitmaps_take(struct jitmaps *j, const struct stream_event *e, struct err *err)
{
	const struct sample_format *format = formats_format(&j->reader->formats, e->event);
	struct jitmaps_dump d = {.event = e->event};
	union record_body body;
	struct err why;
	bool is_embedded;
	int fd, r;

	if (record_decode(&e->rec, format->trailer, &body, &why) <= 0)
		return 0;
	d.pid = body.mmap.pid;
	d.path = arena_strdup(&j->arena, (const char *)body.mmap.path.at, body.mmap.path.n);
	if (!jitcode_is_dump_name(d.path))
		return 0;
	vec_each(known, &j->dumps)
		if (known->pid == d.pid && !strcmp(known->path, d.path))
			return 1;
	if (format->trailer)
		sample_decode_trailer(format, &e->rec, &d.who);
	if (jitcode_open_dump(j->embedded, "", d.path, d.pid, &fd, &is_embedded, &why)) {
		log_warn(j->log, "%s: the code that process %u generated has no names", why.msg,
			d.pid);
		return 0;
	}
	vec_add(&j->dumps, d);
	r = read_dump(j, fd, e->time, is_embedded, err);
	j->dumps.n -= !r;
	return r;
}

/* ---- records ---- */

bool jitmaps_next(struct jitmaps *j, u64 time, struct record *ret)
{
	const struct jitmap *map = &j->maps.at[j->next];
	const u16 misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID;
	const struct sample_format *format;
	const struct jitmaps_file *file;
	struct jitmaps_dump *d;
	union record_body body = {0};

	if (j->next == j->maps.n || map->time > time)
		return false;
	j->next++;
	d = &j->dumps.at[map->dump];
	file = &j->files.at[map->file];
	format = formats_format(&j->reader->formats, d->event);
	body.mmap = (struct record_mmap){.pid = d->pid,
		.tid = d->who.tid ? d->who.tid : d->pid,
		.addr = map->va,
		.len = map->size,
		.pgoff = JITIMAGE_TEXT,
		.build_id_size = JITIMAGE_BUILD_ID,
		.prot = 4 | 1,
		.flags = 2,
		.path = {(const u8 *)file->path, (u32)strlen(file->path)}};
	memcpy(body.mmap.build_id, file->build_id, JITIMAGE_BUILD_ID);
	str_clear(&j->room);
	if (!record_encode(PERF_RECORD_MMAP2, misc, &body, format->trailer, &j->room))
		return jitmaps_next(j, time, ret);
	str_cut(&j->room, j->room.n - format->trailer);
	d->who.time = map->time;
	sample_encode_trailer(format, &d->who, &j->room);
	*ret = (struct record){.type = PERF_RECORD_MMAP2,
		.misc = misc,
		.size = (u16)j->room.n,
		.at = (const u8 *)j->room.at};
	return true;
}
