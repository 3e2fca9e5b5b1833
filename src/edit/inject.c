#include "edit/inject.h"

#include <string.h>

#include "edit/jitmaps.h"
#include "edit/lookback.h"
#include "edit/rebase.h"
#include "event/abi.h"
#include "file/copier.h"
#include "file/tracepoints.h"
#include "session/decoder.h"
#include "session/stream.h"

enum sleep_role { SLEEP_NONE, SLEEP_SWITCH, SLEEP_STAT, SLEEP_EXIT };

/* How a thread left its CPU last. */
struct asleep {
	u32 tid;
	u32 event;
	struct str record; /* the whole SAMPLE record */
};

struct injecting {
	const struct inject_wish *wish;
	struct lookback back;
	struct copier copier;
	struct decoder decoder;
	struct session_tally ignored;
	u8 *roles;    /* by event: enum sleep_role */
	u32 *pids_at; /* by event: where the field pid is in the raw bytes */
	VEC(struct asleep) asleep;
	struct embedded embedded;
	struct jitmaps jit;
	struct rebase rebase;
	struct str room;
	struct inject_tally tally;
};

/* ---- build-ids ---- */

static u8 hex_digits(const char *text, size_t n, u8 id[BUILD_ID_MAX])
{
	static const char digits[] = "0123456789abcdef";

	if (n % 2 || n > 2 * BUILD_ID_MAX)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const char *d = memchr(digits, text[i] | 0x20, 16);

		if (!d)
			return 0;
		id[i / 2] = (u8)(i % 2 ? id[i / 2] << 4 | (d - digits) : d - digits);
	}
	return (u8)(n / 2);
}

/* Takes "ID PATH,ID PATH" into the table; these count before what files say. */
static int add_known(struct file_info *info, const char *known, struct err *err)
{
	for (const char *p = known; *p;) {
		const size_t n = strcspn(p, ","), n_id = strcspn(p, " ,");
		struct file_build_id entry = {.misc = PERF_RECORD_MISC_USER, .pid = -1};
		bool is_new = true;

		entry.id_size = hex_digits(p, n_id, entry.id);
		if (!entry.id_size || n_id + 1 >= n)
			return err_set(err, ERR_INVAL,
				"'%.*s' is not a build-id, a blank and a path", (int)n, p);
		entry.path = arena_strdup(&info->host.arena, p + n_id + 1, n - n_id - 1);
		if (entry.path[0] == '[')
			entry.misc = PERF_RECORD_MISC_KERNEL;
		vec_each(e, &info->build_ids)
			if (!strcmp(e->path, entry.path)) {
				memcpy(e->id, entry.id, sizeof(e->id));
				e->id_size = entry.id_size;
				is_new = false;
			}
		if (is_new)
			vec_add(&info->build_ids, entry);
		p += n + (p[n] == ',');
	}
	return 0;
}

static int collect(struct injecting *j, struct err *err)
{
	struct file_info *info = &j->back.trace.session.reader.info;
	size_t n = 0;

	if (!j->wish->has_build_ids && !j->wish->has_map_build_ids)
		return 0;
	info->build_ids.n = 0;
	lookback_describe(&j->back, info);
	if (j->wish->known && add_known(info, j->wish->known, err))
		return err->code;
	vec_each(e, &info->build_ids) {
		n += e->id_size > 0;
		j->tally.n_nameless += !e->id_size;
	}
	j->tally.n_build_ids = n;
	return 0;
}

/* The build-id of a map's path; NULL: it is not in the table. */
static const struct file_build_id *find_id(const struct injecting *j, const struct record_mmap *m)
{
	const char *path = (const char *)m->path.at;
	const size_t n = strnlen(path, m->path.n);

	vec_each(e, &j->back.trace.session.reader.info.build_ids)
		if (strlen(e->path) == n && !memcmp(e->path, path, n))
			return e;
	return NULL;
}

/* Writes a map as MMAP2 with the build-id of its file. */
static int add_map(struct injecting *j, const struct stream_event *e, struct err *err)
{
	const u32 trailer =
		formats_format(&j->back.trace.session.reader.formats, e->event)->trailer;
	const struct file_build_id *id;
	struct record copy = e->rec;
	union record_body body;
	struct err ignored;

	if (record_decode(&e->rec, trailer, &body, &ignored) <= 0)
		return copier_add(&j->copier, &e->rec, err);
	id = find_id(j, &body.mmap);
	if (!id && j->wish->drops_unused_maps && (s32)body.mmap.pid != -1)
		return 0;
	/* The kernel's map at the beginning has its base in a MMAP record, which readers look for. */
	if (!id || !id->id_size || (s32)body.mmap.pid == -1)
		return copier_add(&j->copier, &e->rec, err);
	memcpy(body.mmap.build_id, id->id, sizeof(body.mmap.build_id));
	body.mmap.build_id_size = id->id_size;
	body.mmap.build_id_claim = 0;
	if (e->rec.type == PERF_RECORD_MMAP) {
		body.mmap.prot = 4 | 1;
		body.mmap.flags = 2;
	}
	body.mmap.end = (struct record_end){0};
	str_clear(&j->room);
	if (!record_encode(PERF_RECORD_MMAP2, e->rec.misc | PERF_RECORD_MISC_MMAP_BUILD_ID, &body,
		    trailer, &j->room))
		return copier_add(&j->copier, &e->rec, err);
	memcpy(j->room.at + j->room.n - trailer, e->rec.at + e->rec.size - trailer, trailer);
	copy.type = PERF_RECORD_MMAP2;
	copy.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	copy.at = (const u8 *)j->room.at;
	copy.size = (u16)j->room.n;
	j->tally.n_maps++;
	return copier_add(&j->copier, &copy, err);
}

/* ---- sleeping ---- */

static int learn_events(struct injecting *j, struct err *err)
{
	const struct reader *r = &j->back.trace.session.reader;
	struct tracepoints formats;
	bool has_stat = false, has_switch = false;

	j->roles = mem_zalloc(r->events.n + 1);
	j->pids_at = mem_zalloc((r->events.n + 1) * sizeof(*j->pids_at));
	if (!j->wish->merges_sleep)
		return 0;
	if (tracepoints_open(&formats, &r->info.tracing_data, err))
		return err->code;
	for (u32 i = 0; i < r->events.n; i++) {
		const struct event *e = &r->events.at[i];

		if (e->attr.type != PERF_TYPE_TRACEPOINT || !e->name)
			continue;
		if (!strcmp(e->name, "sched:sched_switch"))
			j->roles[i] = SLEEP_SWITCH;
		else if (!strcmp(e->name, "sched:sched_process_exit"))
			j->roles[i] = SLEEP_EXIT;
		else if (!strncmp(e->name, "sched:sched_stat_", 17) &&
			tracepoints_find_field(&formats, e->attr.config, "pid", 4, &j->pids_at[i]))
			j->roles[i] = SLEEP_STAT;
		has_switch |= j->roles[i] == SLEEP_SWITCH;
		has_stat |= j->roles[i] == SLEEP_STAT;
	}
	tracepoints_close(&formats);
	return has_stat && has_switch
		? 0
		: err_set(err, ERR_INVAL,
			  "there is nothing to merge: -s needs samples of sched:sched_switch and of sched:sched_stat_sleep, _iowait or _blocked");
}

static struct asleep *find_asleep(struct injecting *j, u32 tid)
{
	vec_each(a, &j->asleep)
		if (a->tid == tid)
			return a;
	return NULL;
}

static void keep_switch(struct injecting *j, const struct stream_event *e, u32 tid)
{
	struct asleep *a = find_asleep(j, tid);

	if (!a) {
		a = vec_push(&j->asleep);
		*a = (struct asleep){.tid = tid};
	}
	a->event = e->event;
	str_clear(&a->record);
	str_addn(&a->record, e->rec.at, e->rec.size);
}

static void forget(struct injecting *j, u32 tid)
{
	struct asleep *a = find_asleep(j, tid);

	if (!a)
		return;
	str_fini(&a->record);
	*a = j->asleep.at[--j->asleep.n];
}

/* Writes the switch with which a thread went to sleep, with the time and the length of its sleep. */
static int add_sleep(struct injecting *j, const struct asleep *a, u64 time, u64 period,
	struct err *err)
{
	const struct record_header *head = (const void *)a->record.at;
	const struct sample_format *format =
		formats_format(&j->back.trace.session.reader.formats, a->event);
	struct record rec = {PERF_RECORD_SAMPLE, head->misc, head->size, NULL, 0};
	struct sample s = {0};
	struct record_header header;

	if (sample_decode(format, (const u8 *)a->record.at + sizeof(header),
		    a->record.n - sizeof(header), UINT64_MAX, &s, err))
		return err->code;
	s.time = time;
	s.period = period;
	str_clear(&j->room);
	header = (struct record_header){PERF_RECORD_SAMPLE, head->misc, 0};
	str_addn(&j->room, &header, sizeof(header));
	sample_encode(format, &s, &j->room);
	if (j->room.n > UINT16_MAX)
		return 0;
	rec.at = (const u8 *)j->room.at;
	rec.size = (u16)j->room.n;
	j->tally.n_sleeps++;
	return copier_add_sample(&j->copier, &rec, time, err);
}

static int take_sample(struct injecting *j, const struct stream_event *e, struct err *err)
{
	const u8 role = e->event == TABLE_NONE ? SLEEP_NONE : j->roles[e->event];
	const struct asleep *a = NULL;
	const struct sample *s;
	u32 pid = 0;

	if (role == SLEEP_NONE)
		return copier_add_sample(&j->copier, &e->rec, e->time, err);
	s = decoder_next(&j->decoder, &e->rec, e->event);
	if (!s)
		return copier_add_sample(&j->copier, &e->rec, e->time, err);
	if (role == SLEEP_SWITCH) {
		keep_switch(j, e, s->tid);
		return 0;
	}
	if (role == SLEEP_EXIT) {
		forget(j, s->tid);
		return copier_add_sample(&j->copier, &e->rec, e->time, err);
	}
	if (s->raw.n >= j->pids_at[e->event] + 4) {
		memcpy(&pid, s->raw.at + j->pids_at[e->event], 4);
		a = find_asleep(j, pid);
	}
	return a ? add_sleep(j, a, e->time, s->period, err) : 0;
}

/* ---- all records ---- */

/* The maps of generated code, up to a time. */
static int add_jit_maps(struct injecting *j, u64 time, struct err *err)
{
	struct record rec;

	while (jitmaps_next(&j->jit, time, &rec)) {
		j->tally.n_jit_maps++;
		if (copier_add(&j->copier, &rec, err))
			return err->code;
	}
	return 0;
}

/* Its addresses have moved. 0: it is left out. */
static int move(struct injecting *j, struct stream_event *e)
{
	const struct reader *r = &j->back.trace.session.reader;
	const u32 event = e->event == TABLE_NONE ? 0 : e->event;

	if (e->rec.type == PERF_RECORD_SAMPLE && e->event == TABLE_NONE)
		return 0;
	return rebase_record(&j->rebase, formats_format(&r->formats, event),
		r->events.at[event].attr.type == PERF_TYPE_TRACEPOINT, &e->rec);
}

static int take(struct injecting *j, const struct stream_event *given, struct err *err)
{
	struct stream_event own = *given, *e = &own;
	const bool is_map = e->rec.type == PERF_RECORD_MMAP || e->rec.type == PERF_RECORD_MMAP2;
	int r;

	if (add_jit_maps(j, e->time, err))
		return err->code;
	if (j->wish->rebases && !move(j, e))
		return 0;
	if (e->rec.type == PERF_RECORD_SAMPLE)
		return take_sample(j, e, err);
	if (is_map && j->wish->jit_folder) {
		r = jitmaps_take(&j->jit, e, err);
		if (r)
			return MIN(r, 0);
	}
	return is_map && j->wish->has_map_build_ids ? add_map(j, e, err)
						    : copier_add(&j->copier, &e->rec, err);
}

static int copy_file(struct injecting *j, struct err *err)
{
	struct reader *r = &j->back.trace.session.reader;
	struct reader_cursor cursor;
	struct stream_event e = {0};
	int result;

	reader_cursor_init(&cursor, r, r->data_start, r->data_end);
	while ((result = reader_next(&cursor, &e.rec, err)) > 0) {
		stream_place(&j->back.trace.session, &e);
		result = take(j, &e, err);
		if (result)
			break;
	}
	reader_cursor_fini(&cursor);
	return result;
}

/* By time: what merges samples of several CPUs or adds maps needs that, and so do the files of a directory. */
static int copy_in_time(struct injecting *j, struct err *err)
{
	struct stream stream;
	struct stream_event e;
	int result;

	stream_init(&stream, &j->back.trace.session);
	while ((result = stream_next(&stream, &e, err)) > 0) {
		if (e.rec.type == PERF_RECORD_FINISHED_ROUND)
			continue;
		result = take(j, &e, err);
		if (result)
			break;
	}
	stream_fini(&stream);
	return result ? result : add_jit_maps(j, UINT64_MAX, err);
}

static int copy_all(struct injecting *j, struct fresh *to, int fd, struct err *err)
{
	struct reader *r = &j->back.trace.session.reader;

	if (to ? copier_open(&j->copier, to, &r->events, err)
	       : copier_open_pipe(&j->copier, fd, &r->events, &r->info, err))
		return err->code;
	decoder_init(&j->decoder, &j->back.trace.session, UINT64_MAX, &j->ignored);
	if (r->is_directory || j->wish->merges_sleep || j->wish->jit_folder || j->wish->rebases
			? copy_in_time(j, err)
			: copy_file(j, err)) {
		copier_abandon(&j->copier);
		return err->code;
	}
	if (j->wish->has_build_ids)
		feature_write(FEATURE_BUILD_ID, &r->info,
			copier_replace(&j->copier, FEATURE_BUILD_ID));
	/* What the recorder embedded is about the kernel's old addresses. */
	if (j->wish->rebases)
		copier_replace(&j->copier, FEATURE_EMBEDDED);
	return copier_finish(&j->copier, r, err);
}

/* Stacks that were walked while they were recorded are call chains. */
static int check_chains(const struct injecting *j, const char *path, struct err *err)
{
	vec_each(e, &j->back.trace.session.reader.events)
		if (e->attr.sample_type & PERF_SAMPLE_STACK_USER)
			return err_set(err, ERR_UNSUPPORTED,
				"--convert-callchain: samples of '%s' in '%s' have copies of stacks, which 'pace report' walks and 'pace script' prints; 'pace record -g' writes call chains from the start",
				e->name, path);
	return 0;
}

int inject_write(const char *path, const struct inject_wish *wish, struct fresh *to, int fd,
	struct log *log, struct inject_tally *ret_tally, struct err *err)
{
	const bool needs_hits = wish->has_build_ids || wish->has_map_build_ids;
	const struct lookback_wishes wishes = {.has_hits = needs_hits,
		.has_all = wish->has_all_build_ids,
		.n_workers = wish->n_workers};
	struct injecting j = {.wish = wish};
	int r;

	if (lookback_open(&j.back, path, &wishes, log, err))
		return err->code;
	if (wish->jit_folder)
		embedded_attach(&j.embedded, &j.back.trace.session.reader, log);
	rebase_init(&j.rebase);
	jitmaps_init(&j.jit, &j.back.trace.session.reader, &j.embedded, wish->jit_folder, log);
	r = wish->wants_chains ? check_chains(&j, path, err) : 0;
	if (!r)
		r = learn_events(&j, err);
	if (!r)
		r = collect(&j, err);
	if (!r)
		r = copy_all(&j, to, fd, err);
	j.tally.n_jitted = j.jit.files.n;
	j.tally.n_blanked = j.rebase.n_blanked;
	j.tally.n_dropped = j.rebase.n_dropped;
	j.tally.n_lost = j.rebase.n_lost;
	if (!r)
		*ret_tally = j.tally;
	rebase_fini(&j.rebase);
	jitmaps_fini(&j.jit);
	embedded_close(&j.embedded);
	vec_each(a, &j.asleep)
		str_fini(&a->record);
	vec_fini(&j.asleep);
	str_fini(&j.room);
	mem_free(j.roles);
	mem_free(j.pids_at);
	lookback_close(&j.back);
	return r;
}
