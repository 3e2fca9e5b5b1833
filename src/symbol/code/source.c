#include "symbol/code/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

static u64 time_of(const struct stat *st)
{
	return (u64)st->st_mtim.tv_sec * 1000000000 + (u64)st->st_mtim.tv_nsec;
}

u64 source_time(const char *path, struct log *log)
{
	struct stat st;
	struct err err;

	if (!stat(path, &st))
		return time_of(&st);
	err_sys(&err, errno, "looking at '%s'", path);
	log_untried(log, path, &err);
	return 0;
}

/* The path without its first n directories, beginning with a slash. */
static const char *without_directories(const char *path, u64 n)
{
	while (n--) {
		const char *next = strchr(path + 1, '/');

		if (!next)
			break;
		path = next;
	}
	return path;
}

enum { PIECE = 256 << 10 };

/* Reads one more piece of the file and finds its lines. Returns 0, or an errno: there is no more. */
static int read_on(struct source *s)
{
	size_t seen = s->text.n;
	ssize_t r;
	int sys;

	str_reserve(&s->text, PIECE);
	r = fd_read(s->fd, s->text.at + s->text.n, PIECE);
	sys = r < 0 ? errno : 0;
	if (r > 0)
		s->text.n += (size_t)r;
	s->text.at[s->text.n] = '\0';
	for (const char *end; (end = memchr(s->text.at + seen, '\n', s->text.n - seen));) {
		seen = (size_t)(end - s->text.at) + 1;
		vec_add(&s->lines, seen);
	}
	if (r > 0 && s->text.n <= SOURCE_MAX)
		return 0;
	/* The last line may lack a newline. */
	if (s->lines.at[s->lines.n - 1] < s->text.n)
		vec_add(&s->lines, s->text.n + 1);
	close(s->fd);
	s->fd = -1;
	return sys;
}

/* Returns 0, or an errno. Does not wait for a FIFO, and does not acquire a terminal. */
static int open_file(struct source *s, const char *path, u64 *ret_time)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), sys = 0;
	struct stat st;

	if (fd < 0)
		return errno;
	if (fstat(fd, &st))
		sys = errno;
	else if (!S_ISREG(st.st_mode))
		sys = EISDIR;
	else if (st.st_size > SOURCE_MAX)
		sys = EFBIG;
	if (sys) {
		close(fd);
		return sys;
	}
	str_reserve(&s->text, (size_t)st.st_size + PIECE);
	vec_add(&s->lines, 0);
	s->fd = fd;
	*ret_time = time_of(&st);
	/* A read error shows at the first piece. */
	sys = read_on(s);
	if (sys)
		s->lines.n = 0;
	return sys;
}

/* Appends the path unchanged, with the directory it is relative to. */
static void add_whole(struct str *path, const char *dir, const char *file)
{
	if (*file != '/' && dir && *dir)
		str_addf(path, "%s/", dir);
	str_add(path, file);
}

void source_open(struct source *s, const struct source_places *places, const char *dir,
	const char *file, u64 built_ns)
{
	struct str whole = {0}, below = {0};
	u64 changed_ns = 0;
	int sys = ENOENT;

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	add_whole(&whole, dir, file);
	if (places->prefix && *whole.at == '/') {
		str_addf(&s->path, "%s%s", places->prefix,
			without_directories(whole.at, places->n_stripped));
	} else {
		str_add(&s->path, whole.at);
		str_addf(&below, "%s%s", places->symfs, whole.at);
	}
	if (*places->symfs && below.n)
		sys = open_file(s, below.at, &changed_ns);
	if (sys)
		sys = open_file(s, s->path.at, &changed_ns);
	else
		str_clear(&s->path), str_add(&s->path, below.at);
	if (sys) {
		s->state = SOURCE_MISSING;
		str_add(&s->why,
			sys == EISDIR          ? "it is not a regular file"
				: sys == EFBIG ? "it is too big"
					       : strerror(sys));
	} else {
		s->state = built_ns && changed_ns > built_ns ? SOURCE_NEWER : SOURCE_FOUND;
	}
	str_fini(&whole);
	str_fini(&below);
}

void source_close(struct source *s)
{
	if (s->state != SOURCE_MISSING && s->fd >= 0)
		close(s->fd);
	str_fini(&s->path);
	str_fini(&s->why);
	str_fini(&s->text);
	vec_fini(&s->lines);
}

const char *source_line(struct source *s, u32 line, size_t *ret_n)
{
	if (s->state == SOURCE_MISSING)
		return NULL;
	while (line >= s->lines.n && s->fd >= 0)
		read_on(s);
	if (!line || line >= s->lines.n)
		return NULL;
	*ret_n = s->lines.at[line] - s->lines.at[line - 1] - 1;
	return s->text.at + s->lines.at[line - 1];
}
