#include "unit/recording.h"

#include "file/layout.h"
#include "test.h"

void recording_fini(struct recording *r)
{
	event_list_fini(&r->events);
	str_fini(&r->data);
	vec_fini(&r->starts);
}

void recording_event(struct recording *r, const char *name, u64 sample_type, u64 first_id,
	u32 n_ids)
{
	struct event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER8,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000 + r->events.n,
		.sample_type = sample_type,
		.flags = ATTR_SAMPLE_ID_ALL};
	struct event *e = event_add(&r->events, &attr, name);

	e->ids = arena_alloc(&r->events.arena, n_ids * sizeof(u64));
	for (e->n_ids = 0; e->n_ids < n_ids; e->n_ids++)
		e->ids[e->n_ids] = first_id + e->n_ids;
}

void recording_raw(struct recording *r, u32 type, u16 misc, const void *body, size_t n)
{
	struct record_header header = {type, misc, RECORD_HEADER_SIZE + n};

	vec_add(&r->starts, r->data.n);
	str_addn(&r->data, &header, sizeof(header));
	str_addn(&r->data, body, n);
}

void recording_add(struct recording *r, u32 type, u16 misc, const union record_body *body,
	struct recording_who who)
{
	struct sample trailer = {.id = r->events.at[0].n_ids ? r->events.at[0].ids[0] : 0,
		.pid = who.pid,
		.tid = who.tid,
		.time = who.time};
	struct sample_format format;
	struct record_header header;
	size_t start = r->data.n;

	sample_format_init(&format, &r->events.at[0].attr);
	vec_add(&r->starts, start);
	if (!record_encode(type, misc, body, 0, &r->data))
		test_failed(__FILE__, __LINE__, "a record of type %u does not fit", type);
	sample_encode_trailer(&format, &trailer, &r->data);
	memcpy(&header, r->data.at + start, sizeof(header));
	header.size = r->data.n - start;
	memcpy(r->data.at + start, &header, sizeof(header));
}

static struct record_bytes run_of(const char *text)
{
	return (struct record_bytes){(const u8 *)text, strlen(text)};
}

void recording_comm(struct recording *r, u16 misc, struct recording_who who, const char *comm)
{
	union record_body body = {.comm = {who.pid, who.tid, run_of(comm)}};

	recording_add(r, PERF_RECORD_COMM, misc, &body, who);
}

void recording_mmap(struct recording *r, u16 misc, struct recording_who who, u64 addr, u64 len,
	u64 pgoff, const char *path)
{
	union record_body body = {.mmap = {.pid = who.pid,
					  .tid = who.tid,
					  .addr = addr,
					  .len = len,
					  .pgoff = pgoff,
					  .prot = 5,
					  .flags = 2,
					  .path = run_of(path)}};

	recording_add(r, PERF_RECORD_MMAP2, misc, &body, who);
}

static void add_task(struct recording *r, u32 type, u32 ppid, u32 ptid, struct recording_who who)
{
	union record_body body = {.task = {who.pid, ppid, who.tid, ptid, who.time}};

	recording_add(r, type, 0, &body, who);
}

void recording_fork(struct recording *r, u32 ppid, u32 ptid, struct recording_who child)
{
	add_task(r, PERF_RECORD_FORK, ppid, ptid, child);
}

void recording_exit(struct recording *r, struct recording_who who)
{
	add_task(r, PERF_RECORD_EXIT, who.pid, who.tid, who);
}

void recording_sample(struct recording *r, u32 event, u16 misc, const struct sample *sample)
{
	struct sample_format format;
	struct str body = {0};

	sample_format_init(&format, &r->events.at[event].attr);
	sample_encode(&format, sample, &body);
	recording_raw(r, PERF_RECORD_SAMPLE, misc, body.at, body.n);
	str_fini(&body);
}

void recording_example(struct recording *r, u32 n_samples)
{
	const u64 fields = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER;
	struct recording_who who = {10, 10, 5};
	u64 dice = 9;

	recording_event(r, "cpu-clock", fields, 100, 2);
	recording_event(r, "second:u", fields | PERF_SAMPLE_CPU, 200, 3);
	recording_comm(r, 0, who, "program");
	recording_mmap(r, PERF_RECORD_MISC_USER, who, 0x400000, 0x10000, 0, "/nonexistent/program");
	for (u32 i = 0; i < n_samples; i++) {
		u32 event = recording_below(&dice, 2);
		struct sample s = {.id = event ? 201 : 100,
			.ip = 0x400000 + recording_below(&dice, 0x10000),
			.pid = 10,
			.tid = 10,
			.time = 10 + i,
			.period = 1 + i};

		recording_sample(r, event, PERF_RECORD_MISC_USER, &s);
		if (i % 10 == 9)
			recording_raw(r, PERF_RECORD_FINISHED_ROUND, 0, NULL, 0);
		if (i % 16 == 3)
			recording_fork(r, 10, 10, (struct recording_who){11 + i, 11 + i, 10 + i});
	}
	recording_exit(r, (struct recording_who){10, 10, 20 + n_samples});
}

void recording_describe(const struct recording *r, struct file_info *ret_info)
{
	struct file_info *info = ret_info;

	file_info_init(info);
	info->host.hostname = "vm";
	info->version = "hand-made";
	info->host.cpus_available = info->host.cpus_online = 2;
	vec_add(&info->cmdline, "record");
	vec_each(e, &r->events) {
		struct event *copy = event_add(&info->events, &e->attr, e->name);

		copy->ids = e->ids;
		copy->n_ids = e->n_ids;
	}
	vec_add(&info->groups, ((struct file_group){"{anon_group}", 0, 2}));
	vec_add(&info->build_ids,
		((struct file_build_id){2, -1, {1, 2, 3}, 3, "/nonexistent/program"}));
	info->has_times = true;
	info->first_time = 10;
	info->last_time = 500;
}

static u64 ids_bytes(const struct recording *r)
{
	u64 n = 0;

	vec_each(e, &r->events)
		n += (u64)e->n_ids * 8;
	return n;
}

u64 recording_data_offset(const struct recording *r)
{
	return sizeof(struct layout_header) + ids_bytes(r) +
		r->events.n * (ATTR_SIZE_VER8 + sizeof(struct layout_attr_ids));
}

static void add_sections(const struct file_info *info, u64 table_at, struct layout_header *header,
	struct str *file)
{
	struct layout_section table[LAYOUT_FEATURE_BITS];
	struct str sections = {0};
	size_t n = 0;

	for (unsigned id = 0; info && id < LAYOUT_FEATURE_BITS; id++) {
		size_t start = sections.n;

		if (!feature_write(id, info, &sections))
			continue;
		layout_set_feature(header, id);
		table[n++] = (struct layout_section){start, sections.n - start};
	}
	for (size_t i = 0; i < n; i++)
		table[i].offset += table_at + n * sizeof(*table);
	str_addn(file, table, n * sizeof(*table));
	str_addn(file, sections.at, sections.n);
	str_fini(&sections);
}

void recording_compose(const struct recording *r, const struct file_info *info, struct str *file)
{
	u64 attr_size = ATTR_SIZE_VER8 + sizeof(struct layout_attr_ids),
	    ids_at = sizeof(struct layout_header);
	struct layout_header header = {.magic = LAYOUT_MAGIC_2,
		.size = sizeof(header),
		.attr_size = attr_size,
		.attrs = {sizeof(header) + ids_bytes(r), r->events.n * attr_size},
		.data = {recording_data_offset(r), r->data.n}};
	size_t start = file->n;

	str_addn(file, &header, sizeof(header));
	vec_each(e, &r->events)
		str_addn(file, e->ids, e->n_ids * sizeof(u64));
	vec_each(e, &r->events) {
		struct layout_attr_ids ids = {{ids_at, (u64)e->n_ids * 8}};

		str_addn(file, &e->attr, ATTR_SIZE_VER8);
		str_addn(file, &ids, sizeof(ids));
		ids_at += ids.ids.size;
	}
	str_addn(file, r->data.at, r->data.n);
	add_sections(info, header.data.offset + header.data.size, &header, file);
	memcpy(file->at + start, &header, sizeof(header));
}

void recording_write(const struct recording *r, const struct file_info *info, const char *path)
{
	struct str file = {0};

	recording_compose(r, info, &file);
	test_write(path, file.at, file.n);
	str_fini(&file);
}

void recording_scan(struct recording *r, struct trace *ret_trace)
{
	const struct trace_options options = {0};
	const char *path = test_path("perf.data");
	struct file_info info;
	struct err err;

	file_info_init(&info);
	vec_each(e, &r->events)
		event_add(&info.events, &e->attr, e->name);
	recording_write(r, &info, path);
	recording_fini(r);
	file_info_fini(&info);
	if (trace_open(ret_trace, path, NULL, &err) || trace_scan(ret_trace, &options, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

void *recording_exact(const void *p, size_t n)
{
	void *copy = malloc(n);

	if (n && !copy)
		test_failed(__FILE__, __LINE__, "no memory for %zu bytes", n);
	return n ? memcpy(copy, p, n) : copy;
}

struct record recording_view(const void *p, size_t n)
{
	struct record_header header;

	memcpy(&header, p, sizeof(header));
	return (struct record){header.type, header.misc, MIN((size_t)header.size, n), p, 0};
}

u64 recording_random(u64 *state)
{
	/* splitmix64: every seed is a good one. */
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}
