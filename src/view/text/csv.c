#include "view/text/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/num.h"

static const u32 CREATE = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

int csv_open(struct csv *c, int dir_fd, const char *dir, const char *name, struct err *err)
{
	struct str path = {0};
	int fd;

	str_addf(&path, "%s%s%s", dir, dir[0] && dir[strlen(dir) - 1] == '/' ? "" : "/", name);
	fd = openat(dir_fd, name, CREATE, 0600);
	/* Makes a new file instead of truncating the old one, which others may have open or linked to. */
	if (fd < 0 && errno == EEXIST) {
		if (unlinkat(dir_fd, name, 0)) {
			err_sys(err, errno, "replacing '%s'", path.at);
			str_fini(&path);
			return err->code;
		}
		fd = openat(dir_fd, name, CREATE, 0600);
	}
	if (fd < 0) {
		err_sys(err, errno, "creating '%s'", path.at);
		str_fini(&path);
		return err->code;
	}
	*c = (struct csv){.out.fd = fd, .path = path.at};
	return 0;
}

int csv_close(struct csv *c, struct err *err)
{
	int result = 0;

	if (!c->path)
		return 0;
	out_flush(&c->out);
	/* Some file systems report only now that they are full. */
	if (close(c->out.fd) && !c->out.sys && errno != EINTR)
		c->out.sys = errno;
	if (c->out.sys)
		result = err_sys(err, c->out.sys, "writing '%s'", c->path);
	str_fini(&c->out.text);
	str_fini(&c->cell);
	mem_free(c->path);
	c->path = NULL;
	return result;
}

static void begin_cell(struct csv *c)
{
	if (c->has_cells)
		str_addc(&c->out.text, ',');
	c->has_cells = true;
}

void csv_text(struct csv *c, const char *text, size_t n)
{
	struct str *out = &c->out.text;

	begin_cell(c);
	str_clear(&c->cell);
	str_add_safe(&c->cell, text, n);
	text = str_text(&c->cell);
	if (!strpbrk(text, ",\"")) {
		str_addn(out, text, c->cell.n);
		return;
	}
	str_addc(out, '"');
	for (const char *p = text; *p; p++) {
		if (*p == '"')
			str_addc(out, '"');
		str_addc(out, *p);
	}
	str_addc(out, '"');
}

void csv_word(struct csv *c, const char *text)
{
	csv_text(c, text, strlen(text));
}

void csv_u64(struct csv *c, u64 v)
{
	begin_cell(c);
	num_add_u64(&c->out.text, v);
}

void csv_none(struct csv *c)
{
	begin_cell(c);
}

void csv_end_row(struct csv *c)
{
	str_addc(&c->out.text, '\n');
	c->has_cells = false;
	out_flush_some(&c->out);
}
