#include "file/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/fd.h"
#include "base/sort.h"
#include "event/names.h"
#include "file/salvage.h"

enum {
	SECTION_LIMIT = 256 << 20,
	EVENTS_LIMIT = 1 << 20,
	MAPPED_MOST = 256 << 20, /* bytes of recordings that are mapped whole */
};

/* ---- header ---- */

/* Quotes the first bytes of a file that is something else, for the message. */
static void describe_start(const u8 *p, size_t n, struct str *text)
{
	str_addc(text, '\'');
	str_add_safe(text, (const char *)p, MIN(n, (size_t)16));
	str_addc(text, '\'');
}

static bool is_magic(u64 word)
{
	return word == LAYOUT_MAGIC_1 || word == LAYOUT_MAGIC_2;
}

static int no_perf_data(const struct reader *r, const u8 *p, size_t n, struct err *err)
{
	struct str start = {0};

	describe_start(p, n, &start);
	err_set(err, ERR_FORMAT,
		"'%s' is not a perf.data file: it starts with %s, expected 'PERFILE2'", r->path,
		str_text(&start));
	str_fini(&start);
	return err->code;
}

/* Finds dialect and header size from the first n bytes. */
static int read_dialect(struct reader *r, const u8 *p, size_t n, struct err *err)
{
	u64 magic, swapped, size;

	if (!n)
		return err_set(err, ERR_FORMAT, "'%s' is empty: nothing was ever recorded into it",
			r->path);
	r->n_start = MIN(n, sizeof(r->start));
	memcpy(r->start, p, r->n_start);
	if (n < LAYOUT_PIPE_HEADER)
		return err_set(err, ERR_FORMAT,
			"'%s' has %zu bytes: too few for a perf.data header", r->path, n);
	magic = load_u64(p);
	swapped = __builtin_bswap64(magic);
	r->is_foreign = is_magic(swapped);
	magic = r->is_foreign ? swapped : magic;
	if (!is_magic(magic))
		return no_perf_data(r, p, n, err);
	r->n_start = 0;
	size = r->is_foreign ? __builtin_bswap64(load_u64(p + 8)) : load_u64(p + 8);
	/*
	 * If the magic of version 1 was written as text, it reads the same on all machines: then
	 * the size tells the byte order.
	 */
	if (!r->is_foreign && magic == LAYOUT_MAGIC_1 && size >> 32) {
		r->is_foreign = true;
		size = __builtin_bswap64(size);
	}
	r->is_version_1 = magic == LAYOUT_MAGIC_1;
	r->is_pipe_mode = size == LAYOUT_PIPE_HEADER;
	r->header.magic = magic;
	r->header.size = size;
	return 0;
}

static void swap_words(void *p, size_t n_bytes)
{
	for (u8 *at = p; n_bytes >= 8; at += 8, n_bytes -= 8) {
		u64 v = __builtin_bswap64(load_u64(at));

		memcpy(at, &v, 8);
	}
}

/*
 * The bitmap of features is an array of longs, which have 32 bits on some machines. All recordings
 * have a host name: if its bit is missing, the longs had 32 bits.
 */
static void swap_features(struct layout_header *h)
{
	swap_words(h->features, sizeof(h->features));
	if (layout_has_feature(h, FEATURE_HOSTNAME))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(h->features); i++)
		h->features[i] = h->features[i] >> 32 | h->features[i] << 32;
	if (layout_has_feature(h, FEATURE_HOSTNAME))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(h->features); i++)
		h->features[i] = h->features[i] >> 32 | h->features[i] << 32;
}

static int read_header(struct reader *r, struct err *err)
{
	u8 raw[sizeof(struct layout_header)] = {0};
	struct layout_header *h = &r->header;
	size_t n = MIN(r->file_size, sizeof(raw));
	int sys = fd_read_at(r->parts.at[0].fd, raw, n, 0);

	if (sys)
		return err_sys(err, sys, "reading '%s'", r->path);
	if (read_dialect(r, raw, n, err))
		return err->code;
	if (r->is_pipe_mode)
		return 0;
	if (n < sizeof(raw))
		return err_set(err, ERR_FORMAT,
			"'%s' has %zu bytes, but its header alone needs %zu", r->path, n,
			sizeof(raw));
	if (r->is_foreign)
		swap_words(raw + 8, offsetof(struct layout_header, features) - 8);
	memcpy(&h->size, raw + 8, sizeof(raw) - 8);
	if (r->is_foreign)
		swap_features(h);
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

/*
 * *room: bytes of the file that are not yet taken by ids. Without this limit a small file could use
 * all its bytes as ids of each event.
 */
static int read_ids(struct reader *r, struct event *e, const struct layout_section *ids, u64 *room,
	struct err *err)
{
	struct layout_section *before = r->ids.n ? &r->ids.at[r->ids.n - 1] : NULL;
	int sys;

	if (!is_inside(r, ids) || ids->size % 8 || ids->size > *room)
		return err_set(err, ERR_FORMAT,
			"'%s': the ids of event %zu, at offset 0x%llx, %llu bytes, are outside the file",
			r->path, r->events.n - 1, (unsigned long long)ids->offset,
			(unsigned long long)ids->size);
	*room -= ids->size;
	e->ids = arena_alloc(&r->events.arena, ids->size);
	sys = fd_read_at(r->parts.at[0].fd, e->ids, ids->size, ids->offset);
	if (sys)
		return err_sys(err, sys, "'%s': reading ids", r->path);
	if (r->is_foreign)
		swap_words(e->ids, ids->size);
	e->n_ids = ids->size / 8;
	if (!ids->size)
		return 0;
	if (before && before->offset + before->size == ids->offset)
		before->size += ids->size;
	else
		vec_add(&r->ids, *ids);
	return 0;
}

static int read_attrs(struct reader *r, struct log *log, struct err *err)
{
	const struct layout_section *s = &r->header.attrs;
	u64 each = r->header.attr_size, ids_room = r->file_size, n;
	u8 *raw;
	int result = 0, sys;

	if (each < ATTR_SIZE_VER0 + sizeof(struct layout_attr_ids) || each > 4096)
		return err_set(err, ERR_FORMAT,
			"'%s': the header at offset 16 says that each attr has %llu bytes, not 80 to 4096",
			r->path, (unsigned long long)each);
	if (!is_inside(r, s) || s->size < each)
		return err_set(err, ERR_FORMAT,
			"'%s': its attrs, %llu bytes at offset 0x%llx, are outside the file of %llu bytes",
			r->path, (unsigned long long)s->size, (unsigned long long)s->offset,
			(unsigned long long)r->file_size);
	n = s->size / each;
	if (n > EVENTS_LIMIT)
		return err_set(err, ERR_FORMAT, "'%s' says it has %llu events", r->path,
			(unsigned long long)n);
	raw = mem_alloc(n * each);
	sys = fd_read_at(r->parts.at[0].fd, raw, n * each, s->offset);
	if (sys)
		result = err_sys(err, sys, "'%s': reading attrs", r->path);
	for (u64 i = 0; i < n && !result; i++) {
		struct bytes b = bytes_of(raw + i * each, each - sizeof(struct layout_attr_ids));
		struct layout_attr_ids ids;
		struct event_attr attr;
		char name[128];
		bool dropped;

		b.offset = s->offset + i * each;
		b.swap = r->is_foreign;
		memcpy(&ids, raw + (i + 1) * each - sizeof(ids), sizeof(ids));
		if (r->is_foreign)
			swap_words(&ids, sizeof(ids));
		result = attr_read(&b, each - sizeof(ids), &attr, &dropped, err);
		if (result) {
			err_prefix(err, "'%s'", r->path);
			break;
		}
		if (dropped)
			log_note(log,
				"'%s': event %llu uses attr fields that this version of pace does not know",
				r->path, (unsigned long long)i);
		names_default(&attr, name, sizeof(name));
		result = read_ids(r, event_add(&r->events, &attr, name), &ids.ids, &ids_room, err);
	}
	mem_free(raw);
	return result;
}

/* ---- sections ---- */

/*
 * Reads bytes that may not exist. 1: read; 0: the file ends before; -1: they cannot be read, which
 * is logged.
 */
static int peek(const struct reader *r, void *to, u64 n, u64 at, struct log *log)
{
	int sys;

	if (at > r->file_size || n > r->file_size - at)
		return 0;
	sys = fd_read_at(r->parts.at[0].fd, to, n, at);
	if (!sys)
		return 1;
	log_warn(log, "'%s': reading %llu bytes at offset 0x%llx: %s", r->path,
		(unsigned long long)n, (unsigned long long)at, strerror(sys));
	return -1;
}

static void read_section(struct reader *r, unsigned id, struct log *log)
{
	struct layout_section *s = &r->sections[id];
	struct bytes b;
	struct err err;
	u8 *raw;
	int sys;

	if (!is_inside(r, s) || s->size > SECTION_LIMIT) {
		log_warn(log, "'%s': section %s, %llu bytes at offset 0x%llx, is outside the file",
			r->path, feature_name(id) ? feature_name(id) : "(unknown)",
			(unsigned long long)s->size, (unsigned long long)s->offset);
		*s = (struct layout_section){0};
		return;
	}
	if (!feature_is_read(id))
		return;
	raw = mem_alloc(s->size);
	sys = fd_read_at(r->parts.at[0].fd, raw, s->size, s->offset);
	if (sys) {
		log_warn(log, "'%s': reading section %s: %s", r->path, feature_name(id),
			strerror(sys));
	} else {
		b = bytes_of(raw, s->size);
		b.offset = s->offset;
		b.swap = r->is_foreign;
		if (feature_read(id, &b, &r->info, &err) < 0)
			log_warn(log, "'%s': %s", r->path, err.msg);
	}
	mem_free(raw);
}

/*
 * Warns if the table of sections seems to have one entry more than the header says: if the next
 * bytes look like an entry and all sections start behind it. Then the header is wrong, and entries
 * were taken for those of other sections.
 */
static void check_table(const struct reader *r, u64 end, struct log *log)
{
	struct layout_section more;

	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++)
		if (r->sections[id].size && r->sections[id].offset < end + sizeof(more))
			return;
	if (peek(r, &more, sizeof(more), end, log) <= 0)
		return;
	if (r->is_foreign)
		swap_words(&more, sizeof(more));
	if (more.size && more.offset >= end + sizeof(more) && is_inside(r, &more))
		log_warn(log,
			"'%s': its table of sections continues at offset 0x%llx, where it ends according to the header: sections are missing",
			r->path, (unsigned long long)end);
}

/*
 * Finds pace's own sections: they have no bits in the header but a mark behind the table of the
 * others.
 */
static bool find_own(struct reader *r, u64 at, struct log *log)
{
	struct layout_section mark;

	if (layout_own(&r->header) || peek(r, &mark, sizeof(mark), at, log) <= 0)
		return false;
	if (r->is_foreign)
		swap_words(&mark, sizeof(mark));
	if (mark.offset != LAYOUT_OWN_MARK || mark.size >> (LAYOUT_FEATURE_BITS - LAYOUT_OWN))
		return false;
	r->header.features[LAYOUT_OWN / 64] |= mark.size << (LAYOUT_OWN % 64);
	return true;
}

/* Reads the table's entries for the bits from `id` on. False: the table is not complete. */
static bool read_entries(struct reader *r, unsigned id, u64 *at, struct log *log)
{
	int got;

	for (; id < LAYOUT_FEATURE_BITS; id++) {
		if (!layout_has_feature(&r->header, id))
			continue;
		got = peek(r, &r->sections[id], sizeof(r->sections[id]), *at, log);
		if (!got)
			log_warn(log,
				"'%s' ends inside its table of sections, at offset 0x%llx of 0x%llx",
				r->path, (unsigned long long)*at, (unsigned long long)r->file_size);
		if (got <= 0) {
			r->is_cut = true;
			memset(r->sections, 0, sizeof(r->sections));
			return false;
		}
		if (r->is_foreign)
			swap_words(&r->sections[id], sizeof(r->sections[id]));
		*at += sizeof(r->sections[id]);
	}
	return true;
}

static void read_sections(struct reader *r, struct log *log)
{
	u64 at = r->header.data.offset + r->header.data.size;

	if (r->is_unfinished || r->is_cut || r->n_behind || !read_entries(r, 0, &at, log))
		return;
	if (find_own(r, at, log)) {
		at += sizeof(struct layout_section);
		if (!read_entries(r, LAYOUT_OWN, &at, log))
			return;
	}
	check_table(r, at, log);
	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++)
		if (r->sections[id].size)
			read_section(r, id, log);
}

/* Reads the sections that the recorder wrote at the start, if it did not write those at the end. */
static void read_early(struct reader *r, struct log *log)
{
	u64 at = align_up(r->header.attrs.offset + r->header.attrs.size, 8), head[2];
	struct layout_early e;

	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++)
		if (r->sections[id].size)
			return;
	if (at > r->data_start || r->data_start - at < sizeof(head) ||
		peek(r, head, sizeof(head), at, log) <= 0)
		return;
	if (r->is_foreign)
		swap_words(head, sizeof(head));
	at += sizeof(head);
	if (head[0] != LAYOUT_EARLY_MARK || head[1] > (r->data_start - at) / sizeof(e))
		return;
	r->early = (struct layout_section){at - sizeof(head), sizeof(head) + head[1] * sizeof(e)};
	for (u64 i = 0; i < head[1]; i++, at += sizeof(e)) {
		if (peek(r, &e, sizeof(e), at, log) <= 0)
			return;
		if (r->is_foreign)
			swap_words(&e, sizeof(e));
		if (e.id >= LAYOUT_FEATURE_BITS || r->sections[e.id].size)
			continue;
		layout_set_feature(&r->header, (unsigned)e.id);
		r->sections[e.id] = e.section;
		if (e.section.size)
			read_section(r, (unsigned)e.id, log);
	}
}

/*
 * Warns if the header's size leaves no room for what it points to. The header may be longer than
 * ours.
 */
static void check_header(const struct reader *r, struct log *log)
{
	const struct layout_header *h = &r->header;
	u64 least = MIN(h->attrs.offset, h->data.offset);

	if (!r->is_pipe_mode && h->size > least)
		log_warn(log,
			"'%s': the header says it has %llu bytes, but its events or records begin at offset 0x%llx",
			r->path, (unsigned long long)h->size, (unsigned long long)least);
}

/* Before EVENT_DESC existed, names stood behind the data: {u64 id, char name[64]} each. */
static void read_event_types(struct reader *r, struct log *log)
{
	enum { NAME = 64, EACH = 8 + NAME };
	const struct layout_section *s = &r->header.event_types;
	u8 raw[EACH];

	if (!s->size)
		return;
	/*
	 * Everything in a file starts at a multiple of 8; an entry read from the middle of a word
	 * gives garbage names.
	 */
	if (!is_inside(r, s) || s->size % EACH || s->offset % 8) {
		log_warn(log,
			"'%s': the event names, %llu bytes at offset 0x%llx, make no sense and are ignored",
			r->path, (unsigned long long)s->size, (unsigned long long)s->offset);
		return;
	}
	for (u64 at = s->offset; at < s->offset + s->size; at += EACH) {
		u64 id;

		if (peek(r, raw, EACH, at, log) <= 0)
			return;
		id = r->is_foreign ? __builtin_bswap64(load_u64(raw)) : load_u64(raw);
		reader_name_event_type(r, id, (const char *)raw + 8, NAME);
	}
}

/*
 * Finds where the records end: where the header says; or where the file ends, if the header was
 * never finished or promises too much.
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
	r->parts.at[0].from = r->data_start;
	r->parts.at[0].end = r->data_end;
	return 0;
}

/* Finds records that the recorder wrote after its last update of the header. */
static void find_behind(struct reader *r, struct log *log)
{
	u64 end;

	r->n_behind = r->is_unfinished || r->is_cut ? 0 : salvage_find(r, log, &end);
	if (!r->n_behind)
		return;
	/* Everything is read, whether the recorder was killed before or after updating the header. */
	log_note(log,
		"'%s' was not finished by its recorder: %llu records behind the end that its header says were kept",
		r->path, (unsigned long long)r->n_behind);
	r->parts.at[0].end = end;
	if (r->parts.n == 1)
		r->data_end = end;
}

/* ---- directories ---- */

SORT_NUMBERS(by_number, u32)

/* Opens the files data.0, data.1 ..., which have records and nothing else. */
static int open_parts(struct reader *r, struct err *err)
{
	DIR *dir = opendir(r->path);
	VEC(u32) numbers = {0};
	struct dirent *entry;
	u64 base = r->file_size;

	if (!dir)
		return err_sys(err, errno, "opening '%s'", r->path);
	while ((entry = readdir(dir)) != NULL) {
		unsigned number;
		char rest;

		if (sscanf(entry->d_name, "data.%u%c", &number, &rest) == 1)
			vec_add(&numbers, number);
	}
	closedir(dir);
	err->code = 0;
	if (numbers.n)
		qsort(numbers.at, numbers.n, sizeof(*numbers.at), by_number);
	vec_each(number, &numbers) {
		char path[4096];
		struct stat st;
		int fd;

		snprintf(path, sizeof(path), "%s/data.%u", r->path, *number);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0 || fstat(fd, &st)) {
			err_sys(err, errno, "opening '%s'", path);
			if (fd >= 0)
				close(fd);
			break;
		}
		vec_add(&r->parts, ((struct reader_part){fd, base, 0, st.st_size}));
		base += st.st_size;
	}
	/* If there are none, the data end where the header says, and sections follow. */
	if (numbers.n)
		r->data_end = base;
	vec_fini(&numbers);
	return err->code;
}

/* ---- opening ---- */

static int open_file(struct reader *r, struct log *log, struct err *err)
{
	if (!r->file_size)
		return err_set(err, ERR_FORMAT, "'%s' is empty: nothing was ever recorded into it",
			r->path);
	if (read_header(r, err))
		return err->code;
	if (r->is_pipe_mode)
		return reader_open_pipe_mode(r, log, err);
	if (find_data(r, log, err) || read_attrs(r, log, err))
		return err->code;
	if (r->is_directory && open_parts(r, err))
		return err->code;
	check_header(r, log);
	find_behind(r, log);
	read_sections(r, log);
	read_early(r, log);
	if (reader_take_front(r, log, err))
		return err->code;
	read_event_types(r, log);
	reader_name_events(r);
	return 0;
}

/* A pipe may carry a whole file, which has to be read at many offsets: it is copied first. */
static int open_stream(struct reader *r, struct log *log, struct err *err)
{
	r->is_stream = true;
	r->file_size = UINT64_MAX;
	if (reader_read_ahead(r, LAYOUT_PIPE_HEADER, err) ||
		read_dialect(r, (const u8 *)r->ahead.at, r->ahead.n, err))
		return err->code;
	if (r->is_pipe_mode)
		return reader_open_pipe_mode(r, log, err);
	return reader_spool(r, err) ? err->code : open_file(r, log, err);
}

/* Finds the copy of kallsyms that 'perf record --kcore' leaves beside the data. */
static void find_kcore(struct reader *r, struct log *log)
{
	struct str path = {0};
	struct stat st;
	struct err err;

	str_addf(&path, "%s/kcore_dir/kallsyms", r->path);
	if (lstat(path.at, &st)) {
		err_sys(&err, errno, "looking for '%s'", path.at);
		log_untried(log, r->path, &err);
	} else if (S_ISREG(st.st_mode)) {
		r->kallsyms = mem_strdup(path.at);
	}
	str_fini(&path);
}

/* `given` >= 0: the caller's descriptor; else opens the path. */
static int open_path(struct reader *r, const char *path, int given, struct stat *st,
	struct log *log, struct err *err)
{
	int fd, sys;

	/* Reserved first: if memory ran out later, the descriptor would leak. */
	vec_reserve(&r->parts, 1);
	fd = given < 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
		       : fcntl(given, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(err, errno, "opening '%s'", path);
	sys = fstat(fd, st) ? errno : 0;
	if (!sys && S_ISDIR(st->st_mode)) {
		int inside = openat(fd, "data", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

		sys = errno;
		close(fd);
		if (inside < 0)
			return err_sys(err, sys,
				"'%s' is a directory: opening the recording '%s/data' in it", path,
				path);
		r->is_directory = true;
		find_kcore(r, log);
		fd = inside;
		sys = fstat(fd, st) ? errno : 0;
	}
	if (sys) {
		close(fd);
		return err_sys(err, sys, "looking at '%s'", path);
	}
	if (S_ISFIFO(st->st_mode) && given < 0) {
		struct pollfd writer = {.fd = fd, .events = POLLIN};

		/* Before the first writer opens the FIFO, reading would report its end. */
		poll(&writer, 1, -1);
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	}
	vec_add(&r->parts, ((struct reader_part){.fd = fd}));
	return 0;
}

/* Tells the user if samples cannot be assigned to their events, or only by their form. */
static void say_how_told(const struct reader *r, struct log *log)
{
	if (formats_are_untold(&r->formats))
		log_warn(log,
			"'%s': its samples do not say which of its %zu events they belong to: all are counted as '%s'",
			r->path, r->events.n, r->events.at[0].name);
	else if (formats_are_mixed(&r->formats))
		log_note(log,
			"'%s': its events have samples of %zu forms, with ids at different places or without ids: samples are assigned to events by form, and samples that fit several forms to no event",
			r->path, r->formats.n_kinds);
}

static void map_parts(struct reader *r)
{
	const struct reader_part *last = &r->parts.at[r->parts.n - 1];

	if (r->is_stream || last->base + last->end > MAPPED_MOST || !mapping_pays(&r->formats))
		return;
	vec_each(p, &r->parts)
		mapping_move(&p->mapping, p->fd, 0, p->end, MAPPED_MOST);
}

/* Whether a sample's address and CPU mode are of the same moment: not if it is precise. */
static bool is_of_one_moment(const struct event_attr *a)
{
	return a->type <= PERF_TYPE_RAW && !attr_precise(a);
}

struct oddity_limits reader_limits(const struct reader *r, u32 event)
{
	const struct file_info *info = &r->info;
	const struct arch *arch = info->host.arch ? arch_of_name(info->host.arch) : NULL;
	bool has_halves = arch && arch->has_halves;

	return (struct oddity_limits){.n_cpus = info->host.cpus_available,
		.has_halves = has_halves && is_of_one_moment(&r->events.at[event].attr),
		.first_time = info->has_times ? info->first_time : 0,
		.last_time = info->has_times ? info->last_time : 0};
}

bool reader_stays(const struct reader *r, const struct record *rec)
{
	vec_each(p, &r->parts) {
		const struct mapping *m = &p->mapping;

		if (m->at && rec->at >= m->at && rec->at < m->at + m->n)
			return true;
	}
	return false;
}

bool reader_is_recording(const char *path)
{
	struct stat st;
	u8 start[8];
	u64 magic;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool has_start;

	if (fd < 0)
		return false;
	has_start =
		!fstat(fd, &st) && S_ISREG(st.st_mode) && !fd_read_at(fd, start, sizeof(start), 0);
	close(fd);
	magic = has_start ? load_u64(start) : 0;
	return is_magic(magic) || is_magic(__builtin_bswap64(magic));
}

int reader_open(struct reader *r, const char *path, struct log *log, struct err *err)
{
	return reader_open_fd(r, strcmp(path, "-") ? -1 : STDIN_FILENO, path, log, err);
}

int reader_open_fd(struct reader *r, int fd, const char *path, struct log *log, struct err *err)
{
	struct stat st;
	int result;

	memset(r, 0, sizeof(*r));
	r->path = path;
	file_info_init(&r->info);
	result = allowance_init(&r->allowance, path, err);
	if (!result)
		result = open_path(r, path, fd, &st, log, err);
	if (!result && S_ISREG(st.st_mode)) {
		r->file_size = st.st_size;
		result = open_file(r, log, err);
	} else if (!result && !r->is_directory && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) {
		result = open_stream(r, log, err);
	} else if (!result) {
		result = err_set(err, ERR_UNSUPPORTED,
			"'%s' is neither a file nor a pipe nor a directory with a recording", path);
	}
	if (!result) {
		r->preface = r->is_pipe_mode && !r->is_stream ? LAYOUT_PIPE_HEADER : r->data_start;
		r->has_new_events = true;
		reader_settle(r);
		say_how_told(r, log);
		map_parts(r);
	} else {
		reader_close(r);
	}
	return result;
}

bool reader_is_zero(const struct reader *r, u64 offset, u64 n)
{
	u8 bytes[4096];

	while (n) {
		u64 step = MIN(n, (u64)sizeof(bytes));

		if (fd_read_at(r->parts.at[0].fd, bytes, step, offset))
			return false;
		if (bytes[0] || memcmp(bytes, bytes + 1, step - 1))
			return false;
		offset += step;
		n -= step;
	}
	return true;
}

void reader_close(struct reader *r)
{
	vec_each(p, &r->parts) {
		mapping_fini(&p->mapping);
		close(p->fd);
	}
	vec_fini(&r->parts);
	vec_fini(&r->ids);
	formats_fini(&r->formats);
	event_list_fini(&r->events);
	file_info_fini(&r->info);
	str_fini(&r->ahead);
	mem_free(r->kallsyms);
}
