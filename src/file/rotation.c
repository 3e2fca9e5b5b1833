#include "file/rotation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HUNDREDTH_NS = 10000000, SECOND_NS = 1000000000, TRIES = 500 };

void rotation_add_name(const char *path, const struct timespec *when, struct str *name)
{
	struct tm tm;
	char text[32];

	localtime_r(&when->tv_sec, &tm);
	strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm);
	str_addf(name, "%s.%s%02ld", path, text, when->tv_nsec / HUNDREDTH_NS);
}

/* Renames a file without replacing another: link() fails where rename() would replace. */
static int move(const char *from, const char *to)
{
	if (!link(from, to))
		return unlink(from);
	if (errno == EEXIST)
		return -1;
	/* The file system has no links. */
	if (!access(to, F_OK)) {
		errno = EEXIST;
		return -1;
	}
	return rename(from, to);
}

static void remove_oldest(struct rotation *r)
{
	while (r->most && r->names.n > r->most) {
		unlink(r->names.at[0]);
		mem_free(r->names.at[0]);
		memmove(r->names.at, r->names.at + 1, --r->names.n * sizeof(*r->names.at));
	}
}

static void add_hundredth(struct timespec *t)
{
	t->tv_nsec += HUNDREDTH_NS;
	t->tv_sec += t->tv_nsec / SECOND_NS;
	t->tv_nsec %= SECOND_NS;
}

/* Compares hundredths, which names have. */
static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec
				      : a->tv_nsec / HUNDREDTH_NS > b->tv_nsec / HUNDREDTH_NS;
}

int rotation_move(struct rotation *r, const char **ret_name, struct err *err)
{
	struct str name = {0};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	/*
	 * If two fall into one hundredth of a second, the later one gets the next hundredth. It is
	 * later than all files before, even removed ones, so that names sort by age.
	 */
	if (r->last.tv_sec && !is_later(&now, &r->last)) {
		now = r->last;
		add_hundredth(&now);
	}
	for (unsigned i = 0; i < TRIES; i++) {
		str_clear(&name);
		rotation_add_name(r->path, &now, &name);
		if (!move(r->path, str_text(&name))) {
			vec_add(&r->names, strcpy(mem_alloc(name.n + 1), str_text(&name)));
			*ret_name = r->names.at[r->names.n - 1];
			r->last = now;
			str_fini(&name);
			remove_oldest(r);
			return 0;
		}
		if (errno != EEXIST)
			break;
		add_hundredth(&now);
	}
	err_sys(err, errno, "renaming '%s' to '%s'", r->path, str_text(&name));
	str_fini(&name);
	return err->code;
}

void rotation_fini(struct rotation *r)
{
	vec_each(name, &r->names)
		mem_free(*name);
	vec_fini(&r->names);
}
