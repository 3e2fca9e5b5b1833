#include "file/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/names.h"

enum {
	BUF_BYTES = 512 << 10, /* fits a core's L2 cache; at least twice the largest record */
	SECTION_LIMIT = 256 << 20,
	EVENTS_LIMIT = 1 << 20,
};

/* Reads exactly n bytes at an offset; false at the end of the file or on an error (errno). */
static bool read_at(int fd, void *p, size_t n, u64 offset)
{
	size_t done = 0;

	errno = 0;
	while (done < n) {
		ssize_t r = pread(fd, (u8 *)p + done, n - done, offset + done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		done += r;
	}
	return true;
}

/* ---- header ---- */

/* The first bytes of a file that is something else, for the message. */
static void describe_start(const u8 *p, size_t n, struct str *text)
{
	str_addc(text, '\'');
	str_add_safe(text, (const char *)p, MIN(n, (size_t)16));
	str_addc(text, '\'');
}

static int check_magic(const struct reader *r, const u8 *p, size_t n, struct err *err)
{
	struct str start = {0};
	u64 magic;

	if (n < 16) {
		return err_set(err, ERR_FORMAT,
			"'%s' has %zu bytes: too few for a perf.data header", r->path, n);
	}
	magic = load_u64(p);
	if (magic == LAYOUT_MAGIC_1 || magic == LAYOUT_MAGIC_2)
		return 0;
	if (magic == __builtin_bswap64(LAYOUT_MAGIC_1) ||
		magic == __builtin_bswap64(LAYOUT_MAGIC_2))
		return err_set(err, ERR_UNSUPPORTED,
			"'%s' comes from a machine of the other byte order: this version of pace does not read those yet",
			r->path);
	describe_start(p, n, &start);
	err_set(err, ERR_FORMAT,
		"'%s' is no perf.data file: it starts with %s, expected 'PERFILE2'", r->path,
		str_text(&start));
	str_fini(&start);
	return err->code;
}

static int read_header(struct reader *r, struct err *err)
{
	u8 raw[sizeof(struct layout_header)] = {0};
	struct layout_header *h = &r->header;
	size_t n = MIN(r->file_size, sizeof(raw));

	if (!r->file_size)
		return err_set(err, ERR_FORMAT, "'%s' is empty: nothing was ever recorded into it",
			r->path);
	if (!read_at(r->fd, raw, n, 0))
		return err_sys(err, errno ? errno : EIO, "reading '%s'", r->path);
	if (check_magic(r, raw, n, err))
		return err->code;
	if (load_u64(raw + 8) == 16)
		return err_set(err, ERR_UNSUPPORTED,
			"'%s' was written to a pipe ('record -o -'): this version of pace does not read that form yet",
			r->path);
	if (n < sizeof(raw))
		return err_set(err, ERR_FORMAT, "'%s' has %zu bytes, its header alone needs %zu",
			r->path, n, sizeof(raw));
	memcpy(h, raw, sizeof(*h));
	if (h->size < sizeof(*h))
		return err_set(err, ERR_FORMAT,
			"'%s': the header at offset 8 says it has %llu bytes, not %zu", r->path,
			(unsigned long long)h->size, sizeof(*h));
	return 0;
}

/* Whether [offset, offset + size) lies inside the file. */
static bool is_inside(const struct reader *r, const struct layout_section *s)
{
	return s->offset <= r->file_size && s->size <= r->file_size - s->offset;
}

/* ---- events ---- */

/* What perf would call an event that the file does not name. */
static void default_name(const struct event_attr *a, char *buf, size_t size)
{
	static const struct {
		u64 flag;
		char letter;
	} levels[] = {{ATTR_EXCLUDE_USER, 'u'}, {ATTR_EXCLUDE_KERNEL, 'k'}, {ATTR_EXCLUDE_HV, 'h'}};
	u64 excluded = a->flags & (ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV);
	char mods[16];
	size_t n = 0;

	if (!names_of(a->type, a->config, buf, size)) {
		if (a->type == 4)
			snprintf(buf, size, "raw 0x%llx", (unsigned long long)a->config);
		else
			snprintf(buf, size, "type %u config 0x%llx", a->type,
				(unsigned long long)a->config);
	}
	for (size_t i = 0; excluded && i < ARRAY_SIZE(levels); i++)
		if (!(excluded & levels[i].flag))
			mods[n++] = levels[i].letter;
	for (unsigned i = 0; i < attr_precise(a); i++)
		mods[n++] = 'p';
	mods[n] = '\0';
	if (n)
		snprintf(buf + strlen(buf), size - strlen(buf), ":%s", mods);
}

/*
 * *room: bytes of the file that are nobody's ids yet. Else a small file could name all of itself
 * once for each event.
 */
static int read_ids(struct reader *r, struct event *e, const struct layout_section *ids, u64 *room,
	struct err *err)
{
	if (!is_inside(r, ids) || ids->size % 8 || ids->size > *room)
		return err_set(err, ERR_FORMAT,
			"'%s': the ids of event %zu, at offset 0x%llx, %llu bytes, lie outside the file",
			r->path, r->events.n - 1, (unsigned long long)ids->offset,
			(unsigned long long)ids->size);
	*room -= ids->size;
	e->ids = arena_alloc(&r->events.arena, ids->size);
	if (ids->size && !read_at(r->fd, e->ids, ids->size, ids->offset))
		return err_sys(err, errno ? errno : EIO, "'%s': reading ids", r->path);
	e->n_ids = ids->size / 8;
	return 0;
}

static int read_attrs(struct reader *r, struct log *log, struct err *err)
{
	const struct layout_section *s = &r->header.attrs;
	u64 each = r->header.attr_size, ids_room = r->file_size, n;
	u8 *raw;
	int result = 0;

	if (each < ATTR_SIZE_VER0 + sizeof(struct layout_attr_ids) || each > 4096)
		return err_set(err, ERR_FORMAT,
			"'%s': the header at offset 16 gives attrs %llu bytes, not 80 to 4096",
			r->path, (unsigned long long)each);
	if (!is_inside(r, s) || s->size < each)
		return err_set(err, ERR_FORMAT,
			"'%s': its attrs, %llu bytes at offset 0x%llx, lie outside the file of %llu",
			r->path, (unsigned long long)s->size, (unsigned long long)s->offset,
			(unsigned long long)r->file_size);
	n = s->size / each;
	if (n > EVENTS_LIMIT)
		return err_set(err, ERR_FORMAT, "'%s' says it has %llu events", r->path,
			(unsigned long long)n);
	raw = mem_alloc(n * each);
	if (!read_at(r->fd, raw, n * each, s->offset))
		result = err_sys(err, errno ? errno : EIO, "'%s': reading attrs", r->path);
	for (u64 i = 0; i < n && !result; i++) {
		struct bytes b = bytes_of(raw + i * each, each - sizeof(struct layout_attr_ids));
		struct layout_attr_ids ids;
		struct event_attr attr;
		char name[128];
		bool dropped;

		b.offset = s->offset + i * each;
		memcpy(&ids, raw + (i + 1) * each - sizeof(ids), sizeof(ids));
		result = attr_read(&b, each - sizeof(ids), &attr, &dropped, err);
		if (result) {
			err_prefix(err, "'%s'", r->path);
			break;
		}
		if (dropped)
			log_note(log,
				"'%s': event %llu uses attr fields that this version of pace does not know",
				r->path, (unsigned long long)i);
		default_name(&attr, name, sizeof(name));
		result = read_ids(r, event_add(&r->events, &attr, name), &ids.ids, &ids_room, err);
	}
	mem_free(raw);
	return result;
}

/* ---- sections ---- */

static void read_section(struct reader *r, unsigned id, struct log *log)
{
	struct layout_section *s = &r->sections[id];
	struct bytes b;
	struct err err;
	u8 *raw;

	if (!is_inside(r, s) || s->size > SECTION_LIMIT) {
		log_warn(log,
			"'%s': section %s, %llu bytes at offset 0x%llx, lies outside the file",
			r->path, feature_name(id) ? feature_name(id) : "(unknown)",
			(unsigned long long)s->size, (unsigned long long)s->offset);
		*s = (struct layout_section){0};
		return;
	}
	raw = mem_alloc(s->size);
	if (read_at(r->fd, raw, s->size, s->offset)) {
		b = bytes_of(raw, s->size);
		b.offset = s->offset;
		if (feature_read(id, &b, &r->info, &err) < 0)
			log_warn(log, "'%s': %s", r->path, err.msg);
	}
	mem_free(raw);
}

static void read_sections(struct reader *r, struct log *log)
{
	u64 table = r->header.data.offset + r->header.data.size, at = table;

	if (r->is_unfinished || r->is_cut)
		return;
	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++) {
		if (!layout_has_feature(&r->header, id))
			continue;
		if (!read_at(r->fd, &r->sections[id], sizeof(r->sections[id]), at)) {
			log_warn(log,
				"'%s' ends inside its table of sections, at offset 0x%llx of 0x%llx",
				r->path, (unsigned long long)at, (unsigned long long)r->file_size);
			r->is_cut = true;
			return;
		}
		at += sizeof(r->sections[id]);
	}
	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++)
		if (r->sections[id].size)
			read_section(r, id, log);
}

/* EVENT_DESC knows what the user called the events. */
static void name_events(struct reader *r)
{
	for (size_t i = 0; i < r->events.n && i < r->info.events.n; i++) {
		const char *name = r->info.events.at[i].name;

		if (r->info.events.at[i].attr.config == r->events.at[i].attr.config && *name)
			r->events.at[i].name = arena_strdup(&r->events.arena, name, strlen(name));
	}
	vec_each(g, &r->info.groups) {
		if (g->leader >= r->events.n || g->n_members > r->events.n - g->leader)
			continue;
		for (u32 i = 0; i < g->n_members; i++) {
			r->events.at[g->leader + i].leader = g->leader;
			r->events.at[g->leader + i].n_members = i ? 0 : g->n_members;
		}
	}
}

/*
 * Where the records end: by the header, or, if it was never finished or promises too much, where
 * the file does.
 */
static int find_data(struct reader *r, struct log *log, struct err *err)
{
	const struct layout_section *d = &r->header.data;

	if (d->offset > r->file_size || d->offset < sizeof(r->header))
		return err_set(err, ERR_FORMAT,
			"'%s': the header at offset 40 puts the data at 0x%llx, the file has 0x%llx bytes",
			r->path, (unsigned long long)d->offset, (unsigned long long)r->file_size);
	r->data_start = d->offset;
	r->data_end = d->offset + d->size;
	if (!d->size) {
		r->is_unfinished = true;
		r->data_end = r->file_size;
		if (r->file_size > r->data_start)
			log_warn(log,
				"'%s' was not finished by its recorder: reading what is there",
				r->path);
	} else if (!is_inside(r, d)) {
		r->is_cut = true;
		r->data_end = r->file_size;
		log_warn(log, "'%s' is cut off: %llu of %llu bytes of records are there", r->path,
			(unsigned long long)(r->file_size - r->data_start),
			(unsigned long long)d->size);
	}
	return 0;
}

int reader_open(struct reader *r, const char *path, struct log *log, struct err *err)
{
	struct stat st;

	memset(r, 0, sizeof(*r));
	r->path = path;
	file_info_init(&r->info);
	r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0)
		return err_sys(err, errno, "opening '%s'", path);
	if (fstat(r->fd, &st))
		err_sys(err, errno, "looking at '%s'", path);
	else if (S_ISDIR(st.st_mode))
		err_set(err, ERR_UNSUPPORTED,
			"'%s' is a directory ('record --threads' makes those): this version of pace does not read it yet",
			path);
	else if (!S_ISREG(st.st_mode))
		err_set(err, ERR_UNSUPPORTED,
			"'%s' is no regular file: this version of pace reads files only", path);
	else {
		r->file_size = st.st_size;
		if (!read_header(r, err) && !find_data(r, log, err) && !read_attrs(r, log, err)) {
			read_sections(r, log);
			name_events(r);
			return 0;
		}
	}
	reader_close(r);
	return err->code;
}

void reader_close(struct reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	event_list_fini(&r->events);
	file_info_fini(&r->info);
}

/* ---- records ---- */

void reader_cursor_init(struct reader_cursor *c, const struct reader *r, u64 from, u64 to)
{
	memset(c, 0, sizeof(*c));
	c->reader = r;
	c->at = from;
	c->end = to;
	c->buf = mem_alloc(BUF_BYTES);
}

void reader_cursor_aim(struct reader_cursor *c, u64 from, u64 to)
{
	c->at = from;
	c->end = to;
	c->buf_n = 0;
	c->damage = (struct reader_damage){0};
}

void reader_cursor_fini(struct reader_cursor *c)
{
	mem_free(c->buf);
	memset(c, 0, sizeof(*c));
}

static int damaged(struct reader_cursor *c, const char *reason)
{
	c->damage = (struct reader_damage){c->at, c->reader->data_end - c->at, reason};
	c->at = c->end;
	return 0;
}

/* Fills the buffer from the cursor's place; what it holds then is the record's start at least. */
static int refill(struct reader_cursor *c, struct err *err)
{
	u64 want = MIN(c->reader->data_end - c->at, (u64)BUF_BYTES);
	ssize_t n;

	/* Records may go on behind the cursor's end, but not far. */
	want = MIN(want, c->end - c->at + UINT16_MAX);
	do {
		n = pread(c->reader->fd, c->buf, want, c->at);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(err, errno, "reading '%s' at offset 0x%llx", c->reader->path,
			(unsigned long long)c->at);
	c->buf_at = c->at;
	c->buf_n = n;
	return 0;
}

/* The bytes of trace that follow an AUXTRACE record without being part of its size. */
static u64 payload_behind(const struct record *rec)
{
	return rec->type == PERF_RECORD_AUXTRACE && rec->size >= 16 ? load_u64(rec->at + 8) : 0;
}

int reader_next_hard(struct reader_cursor *c, struct record *ret_rec, struct err *err)
{
	struct record_header header;
	u64 offset, behind;

	if (c->at >= c->end)
		return 0;
	offset = c->at - c->buf_at;
	if (c->at < c->buf_at || offset + sizeof(header) > c->buf_n) {
		if (refill(c, err))
			return err->code;
		if (c->buf_n < sizeof(header))
			return damaged(c, "the file ends inside a record");
		offset = 0;
	}
	memcpy(&header, c->buf + offset, sizeof(header));
	if (UNLIKELY(header.size < sizeof(header)))
		return damaged(c, "a record claims to be shorter than its header");
	if (UNLIKELY(header.size > c->buf_n - offset)) {
		if (refill(c, err))
			return err->code;
		if (header.size > c->buf_n)
			return damaged(c, "the file ends inside a record");
		offset = 0;
	}
	*ret_rec = (struct record){header.type, header.misc, header.size, c->buf + offset, c->at};
	behind = payload_behind(ret_rec);
	c->at += header.size;
	if (UNLIKELY(behind > c->reader->data_end - c->at)) {
		damaged(c, "the file ends inside a trace");
		return 1;
	}
	c->at += behind;
	return 1;
}
