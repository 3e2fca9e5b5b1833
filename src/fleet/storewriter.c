#include "fleet/storewriter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the folder ---- */

/* Makes a folder and those above it; a failure shows when it is opened. */
static void make_folders(const char *path)
{
	char part[STORE_PATH];
	const size_t n = strlen(path);

	for (size_t i = 1; i <= n && i < sizeof(part); i++) {
		if (path[i] != '/' && path[i])
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		mkdir(part, 0700);
	}
}

/* What others may write to may be changed under our hands, and what it holds would be believed. */
static int check_folder(const struct store *s, struct err *err)
{
	struct stat st;

	if (fstat(s->fd, &st))
		return err_sys(err, errno, "looking at the store '%s'", s->path);
	if (st.st_uid != geteuid())
		return err_set(err, ERR_PERM,
			"the store '%s' belongs to user %u: choose a folder of your own with '--store'",
			s->path, (unsigned)st.st_uid);
	if (st.st_mode & 022)
		return err_set(err, ERR_PERM,
			"others may write to the store '%s' (mode %03o): 'chmod go-w' it, or choose another folder with '--store'",
			s->path, (unsigned)st.st_mode & 0777);
	return 0;
}

static int take_lock(struct storewriter *w, struct err *err)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char text[32];
	int n;

	w->lock = openat(w->store.fd, STORE_LOCK,
		O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (w->lock < 0)
		return err_sys(err, errno, "creating '%s/%s'", w->store.path, STORE_LOCK);
	if (fcntl(w->lock, F_SETLK, &lock)) {
		if (errno != EAGAIN && errno != EACCES)
			return err_sys(err, errno, "locking '%s/%s'", w->store.path, STORE_LOCK);
		return err_set(err, ERR_LIMIT,
			"another 'pace watch', with pid %d, writes to the store '%s': end it first, or choose another folder with '--store'",
			store_writer(&w->store), w->store.path);
	}
	n = snprintf(text, sizeof(text), "%d\n", getpid());
	if (!ftruncate(w->lock, 0))
		(void)!pwrite(w->lock, text, (size_t)n, 0);
	return 0;
}

int storewriter_open(struct storewriter *w, const char *path, u64 most, struct log *log,
	struct err *err)
{
	*w = (struct storewriter){.log = log, .most = most, .lock = -1, .fd = -1};
	make_folders(path);
	if (store_open(&w->store, path, err) || check_folder(&w->store, err))
		return err->code;
	return take_lock(w, err);
}

/* ---- files ---- */

static void close_file(struct storewriter *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	batch_writer_fini(&w->packing);
}

/* Where the last whole batch of the file ends. */
static u64 whole_bytes(struct bytes file, const char *path)
{
	struct batch_reader r;
	struct err ignored = {0};
	u64 end = 0;
	int more;

	if (!batch_reader_init(&r, file, path, &ignored))
		while ((more = batch_next(&r, &ignored)) != 0)
			if (more > 0)
				end = r.left.offset;
	batch_reader_fini(&r);
	return end;
}

/*
 * Goes on in a file that is there already, behind its last whole batch. ERR_FORMAT: that cannot be, it has to stay as
 * it is.
 */
static int go_on(struct storewriter *w, const char *name, struct err *err)
{
	struct str bytes = {0};
	struct bytes file;
	int result;
	u64 whole;

	result = store_read(&w->store, &w->current, &bytes, err);
	/* Empty: its writer ended before the first batch. */
	if (result || !bytes.n)
		goto end;
	file = bytes_of(str_text(&bytes), bytes.n);
	result = batch_writer_resume(&w->packing, file, name, err);
	if (result)
		goto end;
	whole = whole_bytes(file, name);
	w->current.n_bytes = whole;
	if (whole < bytes.n) {
		log_note(w->log,
			"'%s/%s': the last batch was cut off when its writer ended; its %llu bytes are removed",
			w->store.path, name, (unsigned long long)(bytes.n - whole));
		if (ftruncate(w->fd, (off_t)whole))
			result = err_sys(err, errno, "cutting '%s/%s'", w->store.path, name);
	}
end:
	str_fini(&bytes);
	return result;
}

/* Opens that part of an hour's file, or the first one behind it that can be gone on with. */
static int open_part(struct storewriter *w, u64 hour, u32 part, struct err *err)
{
	struct err damage = {0};
	char name[STORE_NAME];

	close_file(w);
	w->current = (struct store_file){.hour = hour, .part = part};
	for (;; w->current.part++) {
		store_file_name(&w->current, name);
		w->current.n_bytes = 0;
		w->fd = openat(w->store.fd, name,
			O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
		if (w->fd < 0 && errno != ELOOP && errno != ENXIO && errno != EISDIR)
			return err_sys(err, errno, "creating '%s/%s'", w->store.path, name);
		if (w->fd < 0)
			err_set(&damage, ERR_FORMAT, "'%s/%s' is no regular file", w->store.path,
				name);
		else if (!go_on(w, name, &damage))
			return 0;
		close_file(w);
		if (damage.code != ERR_FORMAT) {
			*err = damage;
			return err->code;
		}
		log_warn(w->log, "%s; a new file is begun", damage.msg);
		damage = (struct err){0};
	}
}

bool storewriter_drop(struct storewriter *w)
{
	char name[STORE_NAME];
	struct err ignored;

	if (store_refresh(&w->store, &ignored))
		return false;
	vec_each(f, &w->store.files) {
		if (w->fd >= 0 && f->hour == w->current.hour && f->part == w->current.part)
			continue;
		store_file_name(f, name);
		if (!unlinkat(w->store.fd, name, 0)) {
			log_debug(w->log, "'%s/%s' is removed, to make room", w->store.path, name);
			return true;
		}
	}
	return false;
}

/* Drops old files until so many bytes more are within the store's size. */
static void make_room(struct storewriter *w, u64 n)
{
	const u64 besides = w->besides ? w->besides(w->ctx) : 0;
	struct err ignored;

	while (!store_refresh(&w->store, &ignored) && w->store.n_bytes + besides + n > w->most &&
		storewriter_drop(w))
		;
}

/* Writes all of it, or nothing. Returns 0 or an errno. */
static int write_whole(struct storewriter *w, const struct str *bytes)
{
	size_t done = 0;

	while (done < bytes->n) {
		const ssize_t n = write(w->fd, bytes->at + done, bytes->n - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			const int sys = n < 0 ? errno : ENOSPC;

			(void)!ftruncate(w->fd, (off_t)w->current.n_bytes);
			return sys;
		}
		done += (size_t)n;
	}
	return 0;
}

static bool is_no_room(int sys)
{
	return sys == ENOSPC || sys == EDQUOT;
}

static void say_full(struct storewriter *w, bool is_full, int sys)
{
	if (is_full && !w->is_full)
		log_warn(w->log,
			"there is no room for the store '%s' (%s): its oldest file is removed, and counting goes on",
			w->store.path, strerror(sys));
	w->is_full = is_full;
}

/* Opens a part, for which the disk may be too full. */
static int begin_part(struct storewriter *w, u64 hour, u32 part, struct err *err)
{
	while (open_part(w, hour, part, err)) {
		close_file(w);
		if (!is_no_room(err->sys))
			return err->code;
		say_full(w, true, err->sys);
		if (!storewriter_drop(w))
			return err->code;
		*err = (struct err){0};
	}
	return 0;
}

/* The batch's bytes for the file that is open; a part has at most a quarter of the store, so that there is one to drop. */
static int pack(struct storewriter *w, const struct batch *b, struct str *bytes, struct err *err)
{
	const u64 hour = b->start_ns / STORE_HOUR_NS;

	if ((w->fd < 0 || hour != w->current.hour) && begin_part(w, hour, 0, err))
		return err->code;
	for (;;) {
		if (batch_write(&w->packing, b, bytes, err))
			return err->code;
		if (!w->current.n_bytes || w->current.n_bytes + bytes->n <= w->most / 4)
			return 0;
		str_clear(bytes);
		if (begin_part(w, hour, w->current.part + 1, err))
			return err->code;
	}
}

/* Returns 0 or an errno. */
static int write_somehow(struct storewriter *w, const struct str *bytes)
{
	int sys;

	make_room(w, bytes->n);
	while ((sys = write_whole(w, bytes)) && is_no_room(sys)) {
		say_full(w, true, sys);
		if (!storewriter_drop(w))
			break;
	}
	return sys;
}

int storewriter_append(struct storewriter *w, const struct batch *b, struct err *err)
{
	struct str bytes = {0};
	int result = pack(w, b, &bytes, err);

	if (!result) {
		const int sys = write_somehow(w, &bytes);

		if (sys)
			result = err_sys(err, sys, "writing to the store '%s'", w->store.path);
	}
	if (!result) {
		w->current.n_bytes += bytes.n;
		if (w->is_full)
			log_note(w->log, "there is room for the store '%s' again", w->store.path);
		w->is_full = false;
	} else if (!w->current.n_bytes) {
		/* What was not written is no beginning for others. */
		batch_writer_fini(&w->packing);
	}
	str_fini(&bytes);
	return result;
}

void storewriter_close(struct storewriter *w)
{
	close_file(w);
	if (w->lock >= 0)
		close(w->lock);
	w->lock = -1;
	if (w->store.fd >= 0)
		store_close(&w->store);
}
