#include "file/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/num.h"
#include "record/record.h"

enum {
	RESERVE_STEP = 4 << 20,   /* bytes requested from the file system at a time */
	BLOCK = 4096,             /* of file systems: less is not worth reserving */
	SECTIONS_ROOM = 32 << 10, /* for the sections whose size is known only at the end */
};

static bool is_space_error(int sys)
{
	return sys == ENOSPC || sys == EDQUOT || sys == EFBIG;
}

static int write_error(struct writer *w, int sys, struct err *err)
{
	struct str size = {0};
	int r;

	num_add_bytes(&size, w->data_end);
	if (sys == EFBIG)
		r = err_set(err, ERR_LIMIT,
			"writing '%s': the limit on file sizes (ulimit -f) is reached after %s of records; the rest is reserved for their description",
			w->path, str_text(&size));
	else if (is_space_error(sys))
		r = err_set(err, ERR_LIMIT, "writing '%s': no space left on the device after %s",
			w->path, str_text(&size));
	else
		r = err_sys(err, sys, "writing '%s'", w->path);
	err->sys = sys;
	str_fini(&size);
	return r;
}

/* Writes at the offset, or to the pipe. */
static ssize_t write_some(const struct writer *w, const void *p, size_t n, u64 offset)
{
	return w->is_pipe ? write(w->fd, p, n) : pwrite(w->fd, p, n, (off_t)offset);
}

/* Writes all n bytes, as write_some(). Returns 0 or an errno. */
static int write_at(const struct writer *w, const void *p, size_t n, u64 offset)
{
	return w->is_pipe ? fd_write(w->fd, p, n) : fd_write_at(w->fd, p, n, offset);
}

/* ---- opening ---- */

/* Reserves as much space towards `end` as there is. */
static void reserve_rest(struct writer *w, u64 end)
{
	for (u64 step = end - w->reserved_end; step >= BLOCK && w->reserved_end < end;) {
		if (fallocate(w->fd, FALLOC_FL_KEEP_SIZE, w->reserved_end,
			    MIN(step, end - w->reserved_end)))
			step /= 2;
		else
			w->reserved_end += MIN(step, end - w->reserved_end);
	}
}

/*
 * Reserves space up to `end`. Returns 0, or an errno after which w->reserved_end says how far the
 * space reaches. Without fallocate() nothing is reserved.
 */
static int reserve(struct writer *w, u64 end)
{
	u64 to = MIN(align_up(end, RESERVE_STEP), w->size_limit);
	int sys;

	if (!w->can_reserve || end <= w->reserved_end)
		return 0;
	/*
	 * KEEP_SIZE: readers must not see the empty space. The first attempt is generous, the
	 * second asks for just what is needed.
	 */
	if (end <= to &&
		fallocate(w->fd, FALLOC_FL_KEEP_SIZE, w->reserved_end, to - w->reserved_end) == 0) {
		w->reserved_end = to;
		return 0;
	}
	sys = end > to ? EFBIG : errno;
	if (!is_space_error(sys)) {
		w->can_reserve = false;
		return 0;
	}
	reserve_rest(w, MIN(align_up(end, BLOCK), w->size_limit));
	return end <= w->reserved_end ? 0 : sys;
}

/* The size of all attrs. If a newer recorder wrote larger ones, only the fields known here are kept. */
static u32 attr_size_of(const struct event_list *events)
{
	u32 size = ATTR_SIZE_VER0;

	vec_each(e, events)
		size = MAX(size, MAX(e->attr.size, attr_needed_size(&e->attr)));
	return MIN(size, (u32)sizeof(struct event_attr));
}

/* Composes the header, the ids of all events, and the attrs, which say where their ids are. */
static void compose_front(struct writer *w, const struct event_list *events, struct str *front)
{
	struct layout_header *h = &w->header;
	u32 attr_size = attr_size_of(events);
	u64 at;

	*h = (struct layout_header){.magic = LAYOUT_MAGIC_2,
		.size = sizeof(*h),
		.attr_size = attr_size + sizeof(struct layout_attr_ids)};
	str_addn(front, h, sizeof(*h));
	w->id_room = mem_alloc((events->n + 1) * sizeof(*w->id_room));
	vec_each(e, events) {
		w->id_room[e - events->at] = e->n_ids + e->n_more_ids;
		str_addn(front, e->ids, (size_t)e->n_ids * 8);
		str_fill(front, '\0', (size_t)e->n_more_ids * 8);
	}
	h->attrs = (struct layout_section){front->n, events->n * h->attr_size};
	at = sizeof(*h);
	vec_each(e, events) {
		struct layout_attr_ids ids = {{at, (u64)e->n_ids * 8}};
		struct event_attr attr = e->attr;

		attr.size = attr_size;
		str_addn(front, &attr, attr_size);
		str_addn(front, &ids, sizeof(ids));
		at += (u64)w->id_room[e - events->at] * 8;
	}
	h->data.offset = front->n;
	memcpy(front->at, h, sizeof(*h));
}

int writer_open(struct writer *w, const char *path, const struct event_list *events,
	struct err *err)
{
	struct str front = {0};
	struct rlimit limit;
	int sys;

	memset(w, 0, sizeof(*w));
	w->fd = -1;
	w->path = path;
	w->size_limit = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
		? limit.rlim_cur
		: UINT64_MAX;
	compose_front(w, events, &front);
	if (newfile_create(&w->made, path, front.at, front.n, err)) {
		str_fini(&front);
		writer_close(w, false);
		return is_space_error(err->sys) ? write_error(w, err->sys, err) : err->code;
	}
	w->fd = w->made.fd;
	w->is_file = w->made.is_file;
	w->data_end = front.n;
	w->can_reserve = w->is_file;
	w->reserve = SECTIONS_ROOM + front.n;
	sys = reserve(w, w->data_end + w->reserve);
	if (!sys)
		sys = write_at(w, front.at, front.n, 0);
	str_fini(&front);
	if (sys) {
		write_error(w, sys, err);
		writer_close(w, false);
		return err->code;
	}
	return 0;
}

static int write_header(struct writer *w)
{
	struct layout_header disk = layout_on_disk(&w->header);

	return write_at(w, &disk, sizeof(disk), 0);
}

/* Remembers the early sections: the end of the file need not repeat those that have not changed. */
static void keep_foretold(struct writer *w, struct str *bytes, const struct layout_early *table,
	size_t n)
{
	str_fini(&w->foretold.bytes);
	w->foretold.bytes = *bytes;
	*bytes = (struct str){0};
	w->foretold.table.n = 0;
	for (size_t i = 0; i < n; i++)
		vec_add(&w->foretold.table, table[i]);
}

int writer_foretell(struct writer *w, const struct file_info *info, struct err *err)
{
	VEC(struct layout_early) table = {0};
	struct str out = {0}, sections = {0};
	u64 at = align_up(w->data_end, 8), head[2] = {LAYOUT_EARLY_MARK};
	bool is_there;
	int sys;

	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++) {
		size_t start = sections.n;

		if (feature_write(id, info, &sections))
			vec_add(&table, ((struct layout_early){id, {start, sections.n - start}}));
	}
	head[1] = table.n;
	vec_each(e, &table)
		e->section.offset += at + sizeof(head) + table.n * sizeof(*table.at);
	str_fill(&out, '\0', at - w->data_end);
	str_addn(&out, head, sizeof(head));
	str_addn(&out, table.at, table.n * sizeof(*table.at));
	str_addn(&out, str_text(&sections), sections.n);
	str_fill(&out, '\0', align_up(out.n, 8) - out.n);
	/* If space is short, it is left for the records. */
	is_there = !reserve(w, w->data_end + out.n + w->reserve);
	sys = is_there ? write_at(w, out.at, out.n, w->data_end) : 0;
	if (is_there && !sys) {
		w->early = (struct layout_section){w->data_end, out.n};
		w->data_end += out.n;
		w->header.data.offset = w->data_end;
		sys = write_header(w);
		keep_foretold(w, &out, table.at, table.n);
	}
	vec_fini(&table);
	str_fini(&sections);
	str_fini(&out);
	return sys ? write_error(w, sys, err) : 0;
}

/* ---- pipes ---- */

static void put_record(struct str *out, u32 type, const void *a, size_t n_a, const void *b,
	size_t n_b)
{
	struct record_header header = {.type = type,
		.size = (u16)(sizeof(header) + align_up(n_a + n_b, 8))};
	size_t padding = align_up(n_a + n_b, 8) - (n_a + n_b);

	/* A section that is too large for a record is left out. */
	if (sizeof(header) + align_up(n_a + n_b, 8) > UINT16_MAX)
		return;
	str_addn(out, &header, sizeof(header));
	str_addn(out, a, n_a);
	str_addn(out, b, n_b);
	str_fill(out, '\0', padding);
}

/* In a pipe the entries of the table of build-ids are records of a type of their own. */
static void put_build_ids(struct str *out, const struct str *section)
{
	const size_t start = out->n;
	struct record_header header;

	str_addn(out, section->at, section->n);
	for (size_t at = start; at + sizeof(header) <= out->n; at += header.size) {
		memcpy(&header, out->at + at, sizeof(header));
		header.type = PERF_RECORD_HEADER_BUILD_ID;
		memcpy(out->at + at, &header, sizeof(header));
		if (header.size < sizeof(header))
			break;
	}
}

static void put_sections(struct str *out, const struct file_info *info)
{
	for (u64 id = 0; id < LAYOUT_FEATURE_BITS; id++) {
		struct str section = {0};
		struct record_header tracing = {.type = PERF_RECORD_HEADER_TRACING_DATA,
			.size = sizeof(tracing) + 4};
		u32 size;

		if (!feature_write((unsigned)id, info, &section)) {
			str_fini(&section);
			continue;
		}
		size = (u32)align_up(section.n, 8);
		if (id == FEATURE_TRACING_DATA) {
			/* The section follows the record and is not part of its size. */
			str_addn(out, &tracing, sizeof(tracing));
			str_addn(out, &size, sizeof(size));
			str_addn(out, section.at, section.n);
			str_fill(out, '\0', size - section.n);
		} else if (id == FEATURE_BUILD_ID) {
			put_build_ids(out, &section);
		} else {
			put_record(out, PERF_RECORD_HEADER_FEATURE, &id, sizeof(id), section.at,
				section.n);
		}
		str_fini(&section);
	}
}

int writer_open_pipe(struct writer *w, int fd, const struct event_list *events,
	const struct file_info *info, struct err *err)
{
	u64 start[2] = {LAYOUT_MAGIC_2, sizeof(start)};
	u32 attr_size = attr_size_of(events);
	struct str front = {0};
	int sys;

	memset(w, 0, sizeof(*w));
	w->fd = fd;
	w->path = "-";
	w->is_pipe = true;
	w->size_limit = UINT64_MAX;
	str_addn(&front, start, sizeof(start));
	vec_each(e, events) {
		struct event_attr attr = e->attr;

		attr.size = attr_size;
		put_record(&front, PERF_RECORD_HEADER_ATTR, &attr, attr_size, e->ids,
			(size_t)e->n_ids * 8);
	}
	put_sections(&front, info);
	sys = write_at(w, front.at, front.n, 0);
	w->header.data.offset = w->data_end = front.n;
	str_fini(&front);
	return sys ? write_error(w, sys, err) : 0;
}

/* ---- records ---- */

/* How many of the first `limit` bytes are whole records. */
static u64 whole_records(const struct iovec *runs, int n, u64 limit)
{
	u64 whole = 0, start = 0;
	int i = 0;

	for (;;) {
		struct record_header header;

		while (i < n && whole >= start + runs[i].iov_len)
			start += runs[i++].iov_len;
		/* Headers do not wrap: the sizes of rings and records are multiples of 8. */
		if (i == n || whole - start + sizeof(header) > runs[i].iov_len)
			return whole;
		memcpy(&header, (const u8 *)runs[i].iov_base + (whole - start), sizeof(header));
		if (header.size < sizeof(header) || whole + header.size > limit)
			return whole;
		whole += header.size;
	}
}

/*
 * Writes the first `limit` bytes of the runs behind the data. Returns 0 or an errno; *ret_done: how
 * many bytes were written.
 */
static int write_runs(struct writer *w, const struct iovec *runs, int n, u64 limit, u64 *ret_done)
{
	u64 start = 0;

	*ret_done = 0;
	for (int i = 0; i < n && start < limit; start += runs[i++].iov_len) {
		u64 want = MIN(runs[i].iov_len, limit - start), done = 0;

		while (done < want) {
			ssize_t r = write_some(w, (const u8 *)runs[i].iov_base + done, want - done,
				w->data_end + *ret_done);

			if (r < 0 && errno == EINTR)
				continue;
			if (r <= 0)
				return r == 0 ? ENOSPC : errno;
			done += r;
			*ret_done += r;
		}
	}
	return 0;
}

int writer_append(struct writer *w, const struct iovec *runs, int n, struct err *err)
{
	u64 total = 0, done, limit;
	struct iovec packed;
	int sys, full;

	if (w->packer) {
		if (packer_add(w->packer, runs, n, err))
			return err_prefix(err, "writing '%s'", w->path);
		packed = (struct iovec){w->packer->out.at, w->packer->out.n};
		runs = &packed;
		n = 1;
	}
	for (int i = 0; i < n; i++)
		total += runs[i].iov_len;
	full = w->is_full ? ENOSPC : reserve(w, w->data_end + total + w->reserve);
	limit = total;
	if (full && w->can_reserve)
		limit = whole_records(runs, n,
			w->reserved_end > w->data_end + w->reserve
				? w->reserved_end - w->reserve - w->data_end
				: 0);
	sys = write_runs(w, runs, n, limit, &done);
	if (sys) {
		done = whole_records(runs, n, done);
		full = sys;
	}
	w->data_end += done;
	if (!full)
		return 0;
	w->is_full = true;
	return write_error(w, full, err);
}

struct file_compression writer_compression(const struct packer *p, int level)
{
	return (struct file_compression){.level = (u32)level,
		.ratio = p->n_out ? (u32)((p->n_in + p->n_out / 2) / p->n_out) : 1,
		.chunk = PACKER_CHUNK};
}

int writer_pack(struct writer *w, struct packer *packer, const struct file_info *info,
	struct err *err)
{
	struct str section = {0}, record = {0};
	u64 id = FEATURE_COMPRESSED;
	struct iovec run;
	int r = 0;

	/* A pipe began with this section. */
	if (!w->is_pipe && feature_write((unsigned)id, info, &section)) {
		put_record(&record, PERF_RECORD_HEADER_FEATURE, &id, sizeof(id), section.at,
			section.n);
		run = (struct iovec){record.at, record.n};
		r = writer_append(w, &run, 1, err);
	}
	w->packer = packer;
	str_fini(&section);
	str_fini(&record);
	return r;
}

int writer_sync(struct writer *w, struct err *err)
{
	u64 size = writer_data_bytes(w);
	int sys;

	if (size == w->header.data.size || !w->is_file)
		return 0;
	sys = write_at(w, &size, sizeof(size), offsetof(struct layout_header, data.size));
	if (sys)
		return write_error(w, sys, err);
	w->header.data.size = size;
	return 0;
}

static int append_to(void *writer, const struct iovec *runs, int n, struct err *err)
{
	return writer_append(writer, runs, n, err);
}

static int sync_of(void *writer, struct err *err)
{
	return writer_sync(writer, err);
}

struct sink writer_sink(struct writer *w)
{
	return (struct sink){w, append_to, sync_of};
}

/* ---- the end ---- */

/* Finds where a section with the same bytes was written early. False: nowhere. */
static bool find_foretold(const struct writer *w, unsigned id, const void *bytes, size_t n,
	u64 *ret_offset)
{
	vec_each(e, &w->foretold.table) {
		if (e->id != id || e->section.size != n ||
			memcmp(w->foretold.bytes.at + (e->section.offset - w->early.offset), bytes,
				n))
			continue;
		*ret_offset = e->section.offset;
		return true;
	}
	return false;
}

/*
 * Composes the table of sections and the sections that are not in the file yet; sets the header's
 * feature bits. Returns the number of entries in the table.
 */
static size_t compose_sections(struct writer *w,
	bool (*add)(void *ctx, unsigned id, struct str *out), void *ctx, struct str *out)
{
	struct str sections = {0};
	struct layout_section table[LAYOUT_FEATURE_BITS + 1];
	bool is_foretold[LAYOUT_FEATURE_BITS + 1] = {0};
	size_t n = 0, mark = SIZE_MAX;

	memset(w->header.features, 0, sizeof(w->header.features));
	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++) {
		size_t start = sections.n;

		if (!add(ctx, id, &sections))
			continue;
		layout_set_feature(&w->header, id);
		if (id >= LAYOUT_OWN && mark == SIZE_MAX)
			mark = n++;
		table[n] = (struct layout_section){start, sections.n - start};
		is_foretold[n] = find_foretold(w, id, sections.at + start, sections.n - start,
			&table[n].offset);
		if (is_foretold[n++])
			str_cut(&sections, start);
	}
	for (size_t i = 0; i < n; i++)
		if (!is_foretold[i])
			table[i].offset += w->data_end + n * sizeof(*table);
	if (mark != SIZE_MAX)
		table[mark] = (struct layout_section){LAYOUT_OWN_MARK, layout_own(&w->header)};
	str_addn(out, table, n * sizeof(*table));
	str_addn(out, sections.at, sections.n);
	str_fini(&sections);
	return n;
}

/* Writes the ids into the room at the start. False: there are too many, or writing failed. */
static bool write_ids_at_start(struct writer *w, const struct event_list *events)
{
	u64 attr = w->header.attrs.offset + w->header.attr_size - sizeof(struct layout_attr_ids);
	u64 at = sizeof(w->header);

	vec_each(e, events)
		if (e->n_ids > w->id_room[e - events->at])
			return false;
	/* First the ids, then their number: a concurrent reader finds as many as it is told. */
	vec_each(e, events) {
		struct layout_attr_ids ids = {{at, (u64)e->n_ids * 8}};

		if (write_at(w, e->ids, ids.ids.size, at) || write_at(w, &ids, sizeof(ids), attr))
			return false;
		at += (u64)w->id_room[e - events->at] * 8;
		attr += w->header.attr_size;
	}
	return true;
}

void writer_change_ids(struct writer *w, const struct event_list *events)
{
	w->changed = w->is_file && write_ids_at_start(w, events) ? NULL : events;
}

/* Zeroes a range that nothing refers to any more. Returns 0 or an errno. */
static int clear(struct writer *w, u64 offset, u64 n)
{
	u8 *zeros = mem_zalloc(n);
	int sys = write_at(w, zeros, n, offset);

	mem_free(zeros);
	return sys;
}

/* Whether the header's table, the `n` entries behind the records, has this section. */
static bool is_pointed_to(const struct layout_section *table, size_t n,
	const struct layout_section *section)
{
	for (size_t i = 0; i < n; i++)
		if (!memcmp(&table[i], section, sizeof(*section)))
			return true;
	return false;
}

/* Zeroes the early sections except those that `table` refers to. Returns 0 or an errno. */
static int clear_foretold(struct writer *w, const struct layout_section *table, size_t n)
{
	struct str *bytes = &w->foretold.bytes, left = {0};
	size_t n_kept = 0;
	int sys = 0;

	if (!w->early.size)
		return 0;
	str_fill(&left, '\0', bytes->n);
	vec_each(e, &w->foretold.table) {
		u64 at = e->section.offset - w->early.offset;

		if (!is_pointed_to(table, n, &e->section))
			continue;
		memcpy(left.at + at, bytes->at + at, e->section.size);
		w->foretold.table.at[n_kept++] = *e;
	}
	w->foretold.table.n = n_kept;
	if (memcmp(left.at, bytes->at, left.n))
		sys = write_at(w, left.at, left.n, w->early.offset);
	str_fini(bytes);
	*bytes = left;
	return sys;
}

/*
 * Writes all ids at `*end`, which moves behind them, and their places into the attrs. Returns 0 or
 * an errno.
 */
static int write_ids(struct writer *w, u64 *end)
{
	u64 attr = w->header.attrs.offset + w->header.attr_size - sizeof(struct layout_attr_ids);

	vec_each(e, w->changed) {
		struct layout_attr_ids ids = {{*end, (u64)e->n_ids * 8}};
		int sys = write_at(w, e->ids, ids.ids.size, *end);

		if (!sys)
			sys = write_at(w, &ids, sizeof(ids), attr);
		if (sys)
			return sys;
		*end += ids.ids.size;
		attr += w->header.attr_size;
	}
	return clear(w, sizeof(w->header), w->header.attrs.offset - sizeof(w->header));
}

static bool add_from_info(void *ctx, unsigned id, struct str *out)
{
	return feature_write(id, ctx, out);
}

int writer_finish(struct writer *w, const struct file_info *info, struct err *err)
{
	return writer_finish_with(w, add_from_info, (void *)(uintptr_t)info, err);
}

int writer_finish_with(struct writer *w, bool (*add)(void *ctx, unsigned id, struct str *out),
	void *ctx, struct err *err)
{
	struct str out = {0};
	u64 end = w->data_end;
	size_t n_sections;
	int sys;

	if (w->is_pipe)
		return 0;
	n_sections = compose_sections(w, add, ctx, &out);
	sys = write_at(w, out.at, out.n, w->data_end);
	if (sys)
		memset(w->header.features, 0,
			sizeof(w->header.features)); /* the records matter more */
	else
		end += out.n;
	w->header.data.size = writer_data_bytes(w);
	if (!w->is_file) {
		str_fini(&out);
		return 0;
	}
	if (!sys && w->changed)
		sys = write_ids(w, &end);
	if (!sys)
		sys = write_header(w);
	else
		write_header(w);
	/* Now that the sections are there, the early ones are not needed. */
	if (!sys)
		sys = clear_foretold(w, (const void *)out.at, n_sections);
	str_fini(&out);
	/* Gives back unused reserved space and cuts off a partial record or section. */
	if (ftruncate(w->fd, end) && !sys)
		sys = errno;
	return sys ? write_error(w, sys, err) : 0;
}

void writer_close(struct writer *w, bool keep)
{
	mem_free(w->id_room);
	w->id_room = NULL;
	str_fini(&w->foretold.bytes);
	vec_fini(&w->foretold.table);
	if (w->fd >= 0)
		close(w->fd);
	if (!keep && w->is_file && w->fd >= 0)
		unlink(w->path);
	if (!keep && w->fd >= 0)
		newfile_bring_back(&w->made);
	w->fd = -1;
}
