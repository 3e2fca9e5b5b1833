#include "file/resection.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"

enum { COPY_STEP = 1 << 20 };

static int check(const struct reader *r, struct err *err)
{
	if (r->is_pipe_mode)
		return err_set(err, ERR_UNSUPPORTED,
			"'%s' is a recorded stream, which has no place for it: 'pace data cut -o FILE' turns it into a file",
			r->path);
	if (r->is_directory)
		return err_set(err, ERR_UNSUPPORTED,
			"'%s' is a directory: 'pace data cut -o FILE' turns it into one file",
			r->path);
	if (r->is_cut || r->is_unfinished || r->n_behind)
		return err_set(err, ERR_FORMAT,
			"'%s' is not whole: 'pace data cut -o FILE' saves what can be read of it",
			r->path);
	if (r->is_foreign)
		return err_set(err, ERR_UNSUPPORTED,
			"'%s' has the other byte order: it can be read but not written", r->path);
	return 0;
}

/* Copies n bytes from one place to another. Returns 0 or an errno. */
static int copy(int from, u64 at, int to, u64 to_at, u64 n)
{
	u8 *room = mem_alloc(COPY_STEP);
	int sys = 0;

	while (n && !sys) {
		u64 step = MIN(n, (u64)COPY_STEP);

		sys = fd_read_at(from, room, step, at);
		if (!sys)
			sys = fd_write_at(to, room, step, to_at);
		at += step;
		to_at += step;
		n -= step;
	}
	mem_free(room);
	return sys;
}

/* Moves ids that are behind the sections (writer_change_ids()) to `*at`, which moves behind them. */
static int move_ids(const struct reader *r, int from, int fd, u64 *at)
{
	const struct layout_section *attrs = &r->header.attrs;
	u64 step = r->header.attr_size, where;
	struct layout_attr_ids ids;
	int sys = 0;

	for (u64 i = 0; step >= sizeof(ids) && !sys && (i + 1) * step <= attrs->size; i++) {
		where = attrs->offset + (i + 1) * step - sizeof(ids);
		sys = fd_read_at(from, &ids, sizeof(ids), where);
		if (sys || ids.ids.offset < r->data_end)
			continue;
		sys = copy(from, ids.ids.offset, fd, *at, ids.ids.size);
		ids.ids.offset = *at;
		*at += ids.ids.size;
		if (!sys)
			sys = fd_write_at(fd, &ids, sizeof(ids), where);
	}
	return sys;
}

static int write_all(const struct reader *r, unsigned id, const struct str *section, int fd)
{
	struct layout_section table[LAYOUT_FEATURE_BITS + 1];
	struct layout_header header = r->header, disk;
	int from = r->parts.at[0].fd, sys;
	u64 end = r->data_end, at, n = 0;
	unsigned has_mark = 0;

	memset(header.features, 0, sizeof(header.features));
	for (unsigned i = 0; i < LAYOUT_FEATURE_BITS; i++)
		if (i == id ? section->n > 0 : layout_has_feature(&r->header, i)) {
			layout_set_feature(&header, i);
			n++;
		}
	n += layout_own(&header) != 0;
	at = end + n * sizeof(*table);
	sys = copy(from, 0, fd, 0, end);
	n = 0;
	for (unsigned i = 0; i < LAYOUT_FEATURE_BITS && !sys; i++) {
		if (!layout_has_feature(&header, i))
			continue;
		if (i >= LAYOUT_OWN && !has_mark++)
			table[n++] = (struct layout_section){LAYOUT_OWN_MARK, layout_own(&header)};
		table[n] = (struct layout_section){at, i == id ? section->n : r->sections[i].size};
		sys = i == id ? fd_write_at(fd, section->at, section->n, at)
			      : copy(from, r->sections[i].offset, fd, at, table[n].size);
		at += table[n++].size;
	}
	if (!sys)
		sys = fd_write_at(fd, table, n * sizeof(*table), end);
	if (!sys)
		sys = move_ids(r, from, fd, &at);
	disk = layout_on_disk(&header);
	return sys ? sys : fd_write_at(fd, &disk, sizeof(disk), 0);
}

int resection_write(const struct reader *r, unsigned id, const struct str *section,
	struct fresh *to, struct err *err)
{
	int fd, sys;

	if (check(r, err))
		return err->code;
	fd = fresh_open(to, err);
	if (fd < 0)
		return fd;
	sys = write_all(r, id, section, fd);
	if (close(fd) && !sys)
		sys = errno;
	if (sys) {
		err_sys(err, sys, "writing '%s'", to->path);
		fresh_abandon(to);
		return err->code;
	}
	if (fresh_commit(to, err)) {
		fresh_abandon(to);
		return err->code;
	}
	return 0;
}
