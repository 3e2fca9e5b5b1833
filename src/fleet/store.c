#include "fleet/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "base/sort.h"

#define SUFFIX ".batches"

/* How long after its beginning a batch may end: files of earlier hours have nothing for a window. */
#define LONGEST_NS STORE_HOUR_NS

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool store_default(bool reads, char path[STORE_PATH])
{
	const char *state = getenv("STATE_DIRECTORY"), *base = getenv("XDG_STATE_HOME"),
		   *home = getenv("HOME");
	int n = 0;

	if (!geteuid())
		n = snprintf(path, STORE_PATH, "%s", STORE_SYSTEM);
	else if (state && state[0] == '/')
		n = snprintf(path, STORE_PATH, "%s", state);
	else if (base && base[0] == '/')
		n = snprintf(path, STORE_PATH, "%s/pace", base);
	else if (home && home[0] == '/')
		n = snprintf(path, STORE_PATH, "%s/.local/state/pace", home);
	if (reads && (n <= 0 || n >= STORE_PATH || !is_folder(path)) && is_folder(STORE_SYSTEM))
		n = snprintf(path, STORE_PATH, "%s", STORE_SYSTEM);
	return n > 0 && n < STORE_PATH;
}

/* ---- files ---- */

void store_file_name(const struct store_file *f, char name[STORE_NAME])
{
	const time_t seconds = (time_t)(f->hour * 3600);
	struct tm tm = {0};
	size_t n;

	gmtime_r(&seconds, &tm);
	n = strftime(name, STORE_NAME, "%Y-%m-%dT%H", &tm);
	if (f->part)
		n += (size_t)snprintf(name + n, STORE_NAME - n, "-%u", f->part);
	snprintf(name + n, STORE_NAME - n, SUFFIX);
}

/* False: the name is none of a store's file. */
static bool parse_name(const char *name, struct store_file *f)
{
	char again[STORE_NAME];
	struct tm tm = {0};
	const char *at = strptime(name, "%Y-%m-%dT%H", &tm);
	time_t seconds;
	u64 part = 0;

	if (!at || tm.tm_year < 70 || tm.tm_year > 400)
		return false;
	if (*at == '-') {
		at++;
		if (!num_scan(&at, 10, &part) || part > UINT32_MAX)
			return false;
	}
	seconds = timegm(&tm);
	if (seconds < 0)
		return false;
	*f = (struct store_file){.hour = (u64)seconds / 3600, .part = (u32)part};
	store_file_name(f, again);
	return !strcmp(again, name);
}

static int by_age(const void *a, const void *b)
{
	const struct store_file *x = a, *y = b;

	if (x->hour != y->hour)
		return x->hour < y->hour ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

int store_refresh(struct store *s, struct err *err)
{
	const int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		const int sys = errno;

		if (fd >= 0)
			close(fd);
		return err_sys(err, sys, "reading the store '%s'", s->path);
	}
	s->files.n = 0;
	s->n_bytes = 0;
	while ((entry = readdir(dir)) != NULL) {
		struct store_file f;
		struct stat st;

		if (!parse_name(entry->d_name, &f) ||
			fstatat(s->fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			!S_ISREG(st.st_mode))
			continue;
		f.n_bytes = (u64)st.st_size;
		s->n_bytes += f.n_bytes;
		vec_add(&s->files, f);
	}
	closedir(dir);
	if (s->files.n)
		qsort(s->files.at, s->files.n, sizeof(*s->files.at), by_age);
	return 0;
}

int store_open(struct store *s, const char *path, struct err *err)
{
	*s = (struct store){.fd = -1};
	if ((size_t)snprintf(s->path, sizeof(s->path), "%s", path) >= sizeof(s->path))
		return err_set(err, ERR_INVAL, "the store's path is too long");
	s->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd < 0)
		return errno == ENOENT
			? err_set(err, ERR_NOENT, "there is no store '%s': 'pace watch' makes one",
				  path)
			: err_sys(err, errno, "opening the store '%s'", path);
	if (store_refresh(s, err)) {
		store_close(s);
		return err->code;
	}
	return 0;
}

void store_close(struct store *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	vec_fini(&s->files);
}

static int read_all(int fd, u64 n, struct str *bytes)
{
	str_reserve(bytes, n + 1);
	while (n) {
		const ssize_t got = read(fd, bytes->at + bytes->n, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if (!got)
			break;
		bytes->n += (size_t)got;
		n -= (u64)got;
	}
	return 0;
}

int store_read(const struct store *s, const struct store_file *f, struct str *bytes,
	struct err *err)
{
	char name[STORE_NAME];
	struct stat st;
	int fd, sys;

	store_file_name(f, name);
	fd = openat(s->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return err_sys(err, errno, "opening '%s/%s'", s->path, name);
	sys = fstat(fd, &st) ? errno : 0;
	if (!sys && (!S_ISREG(st.st_mode) || st.st_size > STORE_FILE_MOST)) {
		close(fd);
		return err_set(err, ERR_FORMAT, "'%s/%s' is %s: it was not written by 'pace watch'",
			s->path, name, S_ISREG(st.st_mode) ? "too large" : "no regular file");
	}
	if (!sys)
		sys = read_all(fd, (u64)st.st_size, bytes);
	close(fd);
	return sys ? err_sys(err, sys, "reading '%s/%s'", s->path, name) : 0;
}

int store_writer(const struct store *s)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = openat(s->fd, STORE_LOCK, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char text[32] = "";
	int pid = 0;

	if (fd < 0)
		return 0;
	if (!fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK)
		pid = lock.l_pid;
	/* The kernel does not tell pids of other namespaces. */
	if (lock.l_type != F_UNLCK && pid <= 0 && pread(fd, text, sizeof(text) - 1, 0) > 0)
		pid = (int)strtol(text, NULL, 10);
	close(fd);
	return pid;
}

/* ---- batches ---- */

void store_walk_init(struct store_walk *w, const struct store *s, const struct store_place *behind,
	struct log *log)
{
	*w = (struct store_walk){.store = s, .log = log, .to_ns = UINT64_MAX};
	if (!behind)
		return;
	w->place = *behind;
	while (w->file < s->files.n &&
		by_age(&s->files.at[w->file],
			&(struct store_file){.hour = behind->hour, .part = behind->part}) < 0)
		w->file++;
}

void store_walk_within(struct store_walk *w, u64 from_ns, u64 to_ns)
{
	w->from_ns = from_ns;
	w->to_ns = to_ns;
}

static bool has_window(const struct store_walk *w, const struct store_file *f)
{
	const u64 begin =
		f->hour > UINT64_MAX / STORE_HOUR_NS ? UINT64_MAX : f->hour * STORE_HOUR_NS;

	return begin < w->to_ns &&
		(begin >= w->from_ns || w->from_ns - begin < STORE_HOUR_NS + LONGEST_NS);
}

static void note_damage(struct store_walk *w, struct err *damage)
{
	w->n_damaged++;
	if (w->log && !w->is_said)
		log_warn(w->log, "%s; what cannot be read is left out", damage->msg);
	w->is_said = true;
	*damage = (struct err){0};
}

static void close_file(struct store_walk *w)
{
	if (w->is_open)
		batch_reader_fini(&w->reader);
	str_fini(&w->bytes);
	w->is_open = false;
}

/* Moves behind the place that was reached in this file before; its first batch is needed for all others. */
static void go_behind(struct store_walk *w, struct err *damage)
{
	const u64 offset = w->place.offset;
	u64 at;

	if (offset <= BATCH_MAGIC_BYTES || batch_next(&w->reader, damage) < 0) {
		if (damage->code)
			note_damage(w, damage);
		return;
	}
	at = w->reader.left.offset;
	if (offset > at && !bytes_skip(&w->reader.left, offset - at))
		bytes_skip(&w->reader.left, bytes_left(&w->reader.left));
}

/* ERR_NOENT: the file is gone, as the oldest one is when there is no room, or has no batch yet. */
static int open_file(struct store_walk *w, const struct store_file *f, struct err *err)
{
	char name[STORE_NAME];

	store_file_name(f, name);
	snprintf(w->name, sizeof(w->name), "%s/%s", w->store->path, name);
	w->is_said = false;
	if (store_read(w->store, f, &w->bytes, err))
		return err->code;
	if (!w->bytes.n)
		return err_set(err, ERR_NOENT, "'%s' is empty", w->name);
	return batch_reader_init(&w->reader, bytes_of(str_text(&w->bytes), w->bytes.n), w->name,
		err);
}

/* Opens the next file that may have batches of the window; false: there is none. */
static bool open_next(struct store_walk *w)
{
	const struct store *s = w->store;
	struct err damage = {0};

	while (w->file < s->files.n) {
		const struct store_file *f = &s->files.at[w->file++];

		if (!has_window(w, f))
			continue;
		if (f->hour != w->place.hour || f->part != w->place.part)
			w->place = (struct store_place){.hour = f->hour, .part = f->part};
		if (!open_file(w, f, &damage)) {
			w->is_open = true;
			go_behind(w, &damage);
			return true;
		}
		if (damage.code != ERR_NOENT)
			note_damage(w, &damage);
		damage = (struct err){0};
		close_file(w);
	}
	return false;
}

static bool is_wanted(const struct store_walk *w)
{
	const struct batch_head *h = &w->reader.head;
	const u64 middle =
		h->start_ns + (h->end_ns > h->start_ns ? (h->end_ns - h->start_ns) / 2 : 0);

	return middle >= w->from_ns && middle < w->to_ns;
}

bool store_next(struct store_walk *w, struct batch *ret)
{
	struct err damage = {0};

	while (w->is_open || open_next(w)) {
		const int more = batch_next(&w->reader, &damage);

		w->place.offset = w->reader.left.offset;
		if (!more) {
			close_file(w);
			continue;
		}
		if (more > 0 && !is_wanted(w))
			continue;
		if (more > 0 && !batch_read(&w->reader, ret, &damage))
			return true;
		note_damage(w, &damage);
	}
	return false;
}

void store_walk_fini(struct store_walk *w)
{
	close_file(w);
}
