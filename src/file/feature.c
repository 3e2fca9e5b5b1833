#include "file/feature.h"

#include <stdlib.h>
#include <time.h>

#include "base/num.h"
#include "event/clockid.h"
#include "file/bpfinfo.h"
#include "file/layout.h"
#include "file/section.h"
#include "file/hardware.h"

void file_info_init(struct file_info *info)
{
	memset(info, 0, sizeof(*info));
}

void file_info_fini(struct file_info *info)
{
	vec_fini(&info->cmdline);
	event_list_fini(&info->events);
	vec_fini(&info->build_ids);
	vec_fini(&info->groups);
	str_fini(&info->meta);
	for (size_t i = 0; i < ARRAY_SIZE(info->files); i++)
		str_fini(&info->files[i]);
	str_fini(&info->tracing_data);
	str_fini(&info->cpu_caps);
	str_fini(&info->pmu_caps);
	str_fini(&info->cpu_kinds);
	str_fini(&info->bpf_programs);
	str_fini(&info->bpf_types);
	str_fini(&info->notes);
	str_fini(&info->embedded);
	host_fini(&info->host);
}

/* ---- strings ---- */

#define STRING_FEATURE(name, member, title)                                      \
	static bool read_##name(struct bytes *b, struct file_info *info)         \
	{                                                                        \
		return section_get_string(b, info, &info->member);               \
	}                                                                        \
	static bool write_##name(const struct file_info *info, struct str *out)  \
	{                                                                        \
		if (info->member)                                                \
			section_put_string(out, info->member);                   \
		return info->member != NULL;                                     \
	}                                                                        \
	static void print_##name(const struct file_info *info, struct str *text) \
	{                                                                        \
		str_add(text, "# " title " : ");                                 \
		str_add_safe(text, info->member ? info->member : "",             \
			info->member ? strlen(info->member) : 0);                \
		str_addc(text, '\n');                                            \
	}

STRING_FEATURE(hostname, host.hostname, "hostname")
STRING_FEATURE(osrelease, host.release, "os release")
STRING_FEATURE(version, version, "perf version")
STRING_FEATURE(arch, host.arch, "arch")
STRING_FEATURE(cpudesc, host.cpu_description, "cpudesc")
STRING_FEATURE(cpuid, host.cpuid, "cpuid")

/* ---- numbers ---- */

static bool read_nrcpus(struct bytes *b, struct file_info *info)
{
	return bytes_u32(b, &info->host.cpus_available) && bytes_u32(b, &info->host.cpus_online);
}

static bool write_nrcpus(const struct file_info *info, struct str *out)
{
	section_put_u32(out, info->host.cpus_available);
	section_put_u32(out, info->host.cpus_online);
	return info->host.cpus_available > 0;
}

static void print_nrcpus(const struct file_info *info, struct str *text)
{
	str_addf(text, "# nrcpus online : %u\n# nrcpus avail : %u\n", info->host.cpus_online,
		info->host.cpus_available);
}

static bool read_total_mem(struct bytes *b, struct file_info *info)
{
	return bytes_u64(b, &info->host.memory_kb);
}

static bool write_total_mem(const struct file_info *info, struct str *out)
{
	section_put_u64(out, info->host.memory_kb);
	return info->host.memory_kb > 0;
}

static void print_total_mem(const struct file_info *info, struct str *text)
{
	str_addf(text, "# total memory : %llu kB\n", (unsigned long long)info->host.memory_kb);
}

static bool read_sample_time(struct bytes *b, struct file_info *info)
{
	info->has_times = bytes_u64(b, &info->first_time) && bytes_u64(b, &info->last_time);
	return info->has_times;
}

static bool write_sample_time(const struct file_info *info, struct str *out)
{
	section_put_u64(out, info->first_time);
	section_put_u64(out, info->last_time);
	return info->has_times;
}

static void print_sample_time(const struct file_info *info, struct str *text)
{
	u64 first = info->first_time, last = info->last_time;

	str_addf(text,
		"# time of first sample : %llu.%06llu\n# time of last sample : %llu.%06llu\n",
		(unsigned long long)(first / 1000000000),
		(unsigned long long)(first / 1000 % 1000000),
		(unsigned long long)(last / 1000000000),
		(unsigned long long)(last / 1000 % 1000000));
	str_addf(text, "# sample duration : %10.3f ms\n", (double)(last - first) / 1e6);
}

static bool read_clockid(struct bytes *b, struct file_info *info)
{
	info->has_clockid = bytes_u64(b, &info->clock_resolution_ns);
	return info->has_clockid;
}

static bool write_clockid(const struct file_info *info, struct str *out)
{
	section_put_u64(out, info->clock_resolution_ns);
	return info->has_clockid;
}

static void print_clockid(const struct file_info *info, struct str *text)
{
	str_addf(text, "# clockid frequency: %llu MHz\n",
		(unsigned long long)(info->clock_resolution_ns ? 1000 / info->clock_resolution_ns
							       : 0));
}

static bool read_clock_data(struct bytes *b, struct file_info *info)
{
	u32 version;

	if (!bytes_u32(b, &version) || version != 1)
		return false;
	info->has_clock_data = bytes_u32(b, &info->clockid) && bytes_u64(b, &info->wall_ns) &&
		bytes_u64(b, &info->clock_ns);
	return info->has_clock_data;
}

static bool write_clock_data(const struct file_info *info, struct str *out)
{
	section_put_u32(out, 1);
	section_put_u32(out, info->clockid);
	section_put_u64(out, info->wall_ns);
	section_put_u64(out, info->clock_ns);
	return info->has_clock_data;
}

/* Adds the date in the reader's time zone. */
static void add_date(u64 ns, struct str *text)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char when[64];
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		return;
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	str_addf(text, "%s.%06llu", when, (unsigned long long)(ns % 1000000000 / 1000));
}

static void print_clock_data(const struct file_info *info, struct str *text)
{
	const char *name = clockid_name(info->clockid);

	str_addf(text, "# clockid: %s (%u)\n", name ? name : "unknown", info->clockid);
	str_add(text, "# reference time: ");
	add_date(info->wall_ns, text);
	str_addf(text, " = %llu.%06llu (TOD) = %llu.%09llu (%s)\n",
		(unsigned long long)(info->wall_ns / 1000000000),
		(unsigned long long)(info->wall_ns % 1000000000 / 1000),
		(unsigned long long)(info->clock_ns / 1000000000),
		(unsigned long long)(info->clock_ns % 1000000000), name ? name : "unknown");
}

/* ---- lists ---- */

static bool read_cmdline(struct bytes *b, struct file_info *info)
{
	return section_get_names(b, info, &info->cmdline);
}

static bool write_cmdline(const struct file_info *info, struct str *out)
{
	section_put_names(out, &info->cmdline);
	return info->cmdline.n > 0;
}

static void print_cmdline(const struct file_info *info, struct str *text)
{
	str_add(text, "# cmdline : ");
	vec_each(word, &info->cmdline) {
		str_add_safe(text, *word, strlen(*word));
		str_addc(text, ' ');
	}
	str_addc(text, '\n');
}

static bool read_event_desc(struct bytes *b, struct file_info *info)
{
	u32 n, attr_size;

	if (!section_get_count(b, 8, &n) || !bytes_u32(b, &attr_size))
		return false;
	for (u32 i = 0; i < n; i++) {
		struct event_attr attr;
		const char *name;
		struct bytes sub;
		struct event *e;
		struct err err;
		bool dropped;
		u32 n_ids;

		if (!bytes_sub(b, attr_size, &sub) ||
			attr_read(&sub, attr_size, &attr, &dropped, &err) ||
			!bytes_u32(b, &n_ids) || !section_get_string(b, info, &name) ||
			n_ids > bytes_left(b) / 8)
			return false;
		e = event_add(&info->events, &attr, name);
		e->ids = arena_alloc(&info->events.arena, (size_t)n_ids * 8);
		while (e->n_ids < n_ids)
			bytes_u64(b, &e->ids[e->n_ids++]);
	}
	return true;
}

static bool write_event_desc(const struct file_info *info, struct str *out)
{
	u32 attr_size = ATTR_SIZE_VER7;

	vec_each(e, &info->events)
		attr_size = MAX(attr_size, attr_needed_size(&e->attr));
	section_put_u32(out, info->events.n);
	section_put_u32(out, attr_size);
	vec_each(e, &info->events) {
		struct event_attr attr = e->attr;

		attr.size = attr_size;
		str_addn(out, &attr, attr_size);
		section_put_u32(out, e->n_ids);
		section_put_string(out, e->name);
		str_addn(out, e->ids, (size_t)e->n_ids * 8);
	}
	return info->events.n > 0;
}

static void print_event_desc(const struct file_info *info, struct str *text)
{
	vec_each(e, &info->events) {
		str_add(text, "# event : name = ");
		str_add_safe(text, e->name, strlen(e->name));
		str_add(text, ", , ");
		if (e->n_ids) {
			str_add(text, "id = {");
			for (u32 i = 0; i < e->n_ids; i++)
				str_addf(text, "%s %llu", i ? "," : "",
					(unsigned long long)e->ids[i]);
			str_add(text, " }, ");
		}
		attr_add_text(&e->attr, " = ", text);
		str_addc(text, '\n');
	}
}

static bool read_group_desc(struct bytes *b, struct file_info *info)
{
	u32 n;

	if (!section_get_count(b, 12, &n))
		return false;
	while (n--) {
		struct file_group g;

		if (!section_get_string(b, info, &g.name) || !bytes_u32(b, &g.leader) ||
			!bytes_u32(b, &g.n_members))
			return false;
		vec_add(&info->groups, g);
	}
	return true;
}

static bool write_group_desc(const struct file_info *info, struct str *out)
{
	section_put_u32(out, info->groups.n);
	vec_each(g, &info->groups) {
		section_put_string(out, g->name);
		section_put_u32(out, g->leader);
		section_put_u32(out, g->n_members);
	}
	return info->groups.n > 0;
}

static void print_group_desc(const struct file_info *info, struct str *text)
{
	vec_each(g, &info->groups) {
		const char *between = "";

		str_add(text, "# group: ");
		if (strcmp(g->name, FILE_GROUP_UNNAMED))
			str_add_safe(text, g->name, strlen(g->name));
		str_addc(text, '{');
		for (u64 i = g->leader; i < (u64)g->leader + g->n_members && i < info->events.n;
			i++) {
			str_add(text, between);
			str_add_safe(text, info->events.at[i].name,
				strlen(info->events.at[i].name));
			between = ",";
		}
		str_add(text, "}\n");
	}
}

static bool read_build_id(struct bytes *b, struct file_info *info)
{
	enum { FIXED = 8 + 4 + 24 };

	while (bytes_left(b) >= FIXED) {
		struct file_build_id id = {0};
		u32 type, pid;
		u16 size;
		const void *raw, *path;

		if (!bytes_u32(b, &type) || !bytes_u16(b, &id.misc) || !bytes_u16(b, &size) ||
			size < FIXED || !bytes_u32(b, &pid) || !bytes_take(b, 24, &raw) ||
			!bytes_take(b, size - FIXED, &path))
			return false;
		id.pid = (s32)pid;
		/*
		 * Since perf 5.10 the 20 bytes are followed by the id's length; before that all ids
		 * had 20 bytes.
		 */
		id.id_size = id.misc & PERF_RECORD_MISC_BUILD_ID_SIZE ? ((const u8 *)raw)[20]
								      : BUILD_ID_MAX;
		id.id_size = MIN(id.id_size, BUILD_ID_MAX);
		memcpy(id.id, raw, id.id_size);
		id.path = arena_strdup(&info->host.arena, path, strnlen(path, size - FIXED));
		vec_add(&info->build_ids, id);
	}
	return bytes_left(b) == 0;
}

static bool write_build_id(const struct file_info *info, struct str *out)
{
	vec_each(id, &info->build_ids) {
		size_t n = strlen(id->path) + 1, padded = align_up(n, SECTION_NAME_ALIGN);
		struct record_header header = {.misc = id->misc | PERF_RECORD_MISC_BUILD_ID_SIZE};
		u8 raw[24] = {0};

		memcpy(raw, id->id, id->id_size);
		raw[20] = id->id_size;
		header.size = sizeof(header) + 4 + sizeof(raw) + padded;
		str_addn(out, &header, sizeof(header));
		section_put_u32(out, (u32)id->pid);
		str_addn(out, raw, sizeof(raw));
		str_addn(out, id->path, n);
		str_fill(out, '\0', padded - n);
	}
	return info->build_ids.n > 0;
}

static bool take_all(struct bytes *b, struct str *out)
{
	str_clear(out);
	str_addn(out, b->at, bytes_left(b));
	return bytes_skip(b, bytes_left(b));
}

static bool read_tracing_data(struct bytes *b, struct file_info *info)
{
	return take_all(b, &info->tracing_data);
}

static bool write_tracing_data(const struct file_info *info, struct str *out)
{
	str_addn(out, info->tracing_data.at, info->tracing_data.n);
	return info->tracing_data.n > 0;
}

/* ---- what the records are like ---- */

enum { COMPRESSION_ZSTD = 1 };

static bool read_compressed(struct bytes *b, struct file_info *info)
{
	struct file_compression *c = &info->compression;
	u32 version;

	info->has_compression = bytes_u32(b, &version) && bytes_u32(b, &c->type) &&
		bytes_u32(b, &c->level) && bytes_u32(b, &c->ratio) && bytes_u32(b, &c->chunk);
	return info->has_compression;
}

static bool write_compressed(const struct file_info *info, struct str *out)
{
	const struct file_compression *c = &info->compression;

	/* The version that perf writes. hotspot refuses any other. */
	section_put_u32(out, 0);
	section_put_u32(out, COMPRESSION_ZSTD);
	section_put_u32(out, c->level);
	section_put_u32(out, c->ratio);
	section_put_u32(out, c->chunk);
	return info->has_compression;
}

static void print_compressed(const struct file_info *info, struct str *text)
{
	const struct file_compression *c = &info->compression;

	str_addf(text, "# compressed : %s, level = %u, ratio = %u\n",
		c->type == COMPRESSION_ZSTD ? "Zstd" : "Unknown", c->level, c->ratio);
}

static void print_branch_stack(const struct file_info *info, struct str *text)
{
	(void)info;
	str_add(text, "# contains samples with branch stack\n");
}

static void print_auxtrace(const struct file_info *info, struct str *text)
{
	(void)info;
	str_add(text, "# contains AUX area data (e.g. instruction trace)\n");
}

/* That there are counts is all it says. */
static bool write_stat(const struct file_info *info, struct str *out)
{
	(void)out;
	return info->has_counts;
}

static void print_stat(const struct file_info *info, struct str *text)
{
	(void)info;
	str_add(text, "# contains stat data\n");
}

/* For each program: u32 size of its info, u32 size of its data, u64 mask of its arrays, info, data. */
static bool read_bpf_prog_info(struct bytes *b, struct file_info *info)
{
	str_clear(&info->bpf_programs);
	return bpfinfo_add_text(b, &info->bpf_programs);
}

static void print_bpf_prog_info(const struct file_info *info, struct str *text)
{
	str_addn(text, info->bpf_programs.at, info->bpf_programs.n);
}

static bool read_bpf_btf(struct bytes *b, struct file_info *info)
{
	u32 n;

	str_clear(&info->bpf_types);
	if (!section_get_count(b, 8, &n))
		return false;
	while (n--) {
		u32 id, size;

		if (!bytes_u32(b, &id) || !bytes_u32(b, &size) || !bytes_skip(b, size))
			return false;
		str_addf(&info->bpf_types, "# bpf btf info of id %u\n", id);
	}
	return true;
}

static void print_bpf_btf(const struct file_info *info, struct str *text)
{
	str_addn(text, info->bpf_types.at, info->bpf_types.n);
}

static bool read_dir_format(struct bytes *b, struct file_info *info)
{
	return bytes_u64(b, &info->directory_version);
}

static void print_dir_format(const struct file_info *info, struct str *text)
{
	str_addf(text, "# directory data version : %llu\n",
		(unsigned long long)info->directory_version);
}

/* The section is its text. */
static bool read_notes(struct bytes *b, struct file_info *info)
{
	return take_all(b, &info->notes);
}

static bool write_notes(const struct file_info *info, struct str *out)
{
	str_addn(out, info->notes.at, info->notes.n);
	return info->notes.n > 0;
}

static void print_notes(const struct file_info *info, struct str *text)
{
	const char *at = str_text(&info->notes), *end = at + info->notes.n;

	while (at < end) {
		const char *stop = memchr(at, '\n', end - at);
		size_t n = (stop ? stop : end) - at;

		str_add(text, "# note : ");
		str_add_safe(text, at, n);
		str_addc(text, '\n');
		at += n + 1;
	}
}

/* ---- simpleperf's ---- */

static bool read_file(struct bytes *b, struct file_info *info)
{
	return take_all(b, &info->files[0]);
}

static bool read_file2(struct bytes *b, struct file_info *info)
{
	return take_all(b, &info->files[1]);
}

static bool read_meta_info(struct bytes *b, struct file_info *info)
{
	return take_all(b, &info->meta);
}

/* The next pair; false at the end, and where a NUL is missing. */
static bool next_meta(struct bytes *b, const char **ret_key, const char **ret_value)
{
	size_t n;

	return bytes_cstr(b, ret_key, &n) && bytes_cstr(b, ret_value, &n);
}

const char *file_info_meta(const struct file_info *info, const char *key)
{
	struct bytes b = bytes_of(info->meta.at, info->meta.n);
	const char *known, *value;

	while (next_meta(&b, &known, &value))
		if (!strcmp(known, key))
			return value;
	return NULL;
}

static void print_meta_info(const struct file_info *info, struct str *text)
{
	struct bytes b = bytes_of(info->meta.at, info->meta.n);
	const char *key, *value;

	while (next_meta(&b, &key, &value)) {
		str_add(text, "# ");
		str_add_safe(text, key, strlen(key));
		str_add(text, " : ");
		str_add_safe(text, value, strlen(value));
		str_addc(text, '\n');
	}
}

static void print_files(const struct file_info *info, struct str *text)
{
	(void)info;
	str_add(text, "# contains the names of sampled files and functions\n");
}

static bool write_embedded(const struct file_info *info, struct str *out)
{
	str_addn(out, info->embedded.at, info->embedded.n);
	return info->embedded.n > 0;
}

static void print_embedded(const struct file_info *info, struct str *text)
{
	(void)info;
	str_add(text, "# contains names, lines and code of what was sampled\n");
}

/* ---- the table ---- */

struct feature {
	unsigned id;
	const char *name;
	bool (*read)(struct bytes *b, struct file_info *info);
	bool (*write)(const struct file_info *info, struct str *out);
	void (*print)(const struct file_info *info, struct str *text);
	bool is_long; /* printed only on request */
};

#define FEATURE(id, name)                                                         \
	{                                                                         \
		FEATURE_##id, #id, read_##name, write_##name, print_##name, false \
	}
#define FEATURE_LONG(id, name)                                                   \
	{                                                                        \
		FEATURE_##id, #id, read_##name, write_##name, print_##name, true \
	}
#define TOPOLOGY_ROW(id, name, is_long)                                         \
	{                                                                       \
		FEATURE_##id, #id, hardware_read_##name, hardware_write_##name, \
			hardware_print_##name, is_long                          \
	}
#define TOPOLOGY(id, name)      TOPOLOGY_ROW(id, name, false)
#define TOPOLOGY_LONG(id, name) TOPOLOGY_ROW(id, name, true)
/* clang-format off: one row for each feature */
static const struct feature features[] = {
	{FEATURE_TRACING_DATA, "TRACING_DATA", read_tracing_data, write_tracing_data, NULL, false},
	{FEATURE_BUILD_ID, "BUILD_ID", read_build_id, write_build_id, NULL, false},
	FEATURE(HOSTNAME, hostname),
	FEATURE(OSRELEASE, osrelease),
	FEATURE(VERSION, version),
	FEATURE(ARCH, arch),
	FEATURE(NRCPUS, nrcpus),
	FEATURE(CPUDESC, cpudesc),
	FEATURE(CPUID, cpuid),
	FEATURE(TOTAL_MEM, total_mem),
	FEATURE(CMDLINE, cmdline),
	FEATURE(EVENT_DESC, event_desc),
	TOPOLOGY_LONG(CPU_TOPOLOGY, cpus),
	TOPOLOGY_LONG(NUMA_TOPOLOGY, numa),
	{FEATURE_BRANCH_STACK, "BRANCH_STACK", NULL, NULL, print_branch_stack, false},
	TOPOLOGY(PMU_MAPPINGS, pmus),
	FEATURE(GROUP_DESC, group_desc),
	{FEATURE_AUXTRACE, "AUXTRACE", NULL, NULL, print_auxtrace, false},
	{FEATURE_STAT, "STAT", NULL, write_stat, print_stat, false},
	TOPOLOGY_LONG(CACHE, caches),
	FEATURE(SAMPLE_TIME, sample_time),
	TOPOLOGY_LONG(MEM_TOPOLOGY, memory),
	FEATURE(CLOCKID, clockid),
	{FEATURE_DIR_FORMAT, "DIR_FORMAT", read_dir_format, NULL, print_dir_format, false},
	{FEATURE_BPF_PROG_INFO, "BPF_PROG_INFO", read_bpf_prog_info, NULL, print_bpf_prog_info,
		false},
	{FEATURE_BPF_BTF, "BPF_BTF", read_bpf_btf, NULL, print_bpf_btf, false},
	FEATURE(COMPRESSED, compressed),
	{FEATURE_CPU_PMU_CAPS, "CPU_PMU_CAPS", hardware_read_cpu_caps, NULL,
		hardware_print_cpu_caps, false},
	FEATURE(CLOCK_DATA, clock_data),
	{FEATURE_HYBRID_TOPOLOGY, "HYBRID_TOPOLOGY", hardware_read_cpu_kinds, NULL,
		hardware_print_cpu_kinds, false},
	{FEATURE_PMU_CAPS, "PMU_CAPS", hardware_read_pmu_caps, NULL, hardware_print_pmu_caps,
		false},
	{FEATURE_FILE, "FILE", read_file, NULL, print_files, false},
	{FEATURE_META_INFO, "META_INFO", read_meta_info, NULL, print_meta_info, false},
	{FEATURE_FILE2, "FILE2", read_file2, NULL, print_files, false},
	{FEATURE_EMBEDDED, "EMBEDDED", NULL, write_embedded, print_embedded, false},
	FEATURE(NOTES, notes),
};
/* clang-format on */

static const struct feature *feature_find(unsigned id)
{
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		if (features[i].id == id)
			return &features[i];
	return NULL;
}

const char *feature_name(unsigned id)
{
	const struct feature *f = feature_find(id);

	return f ? f->name : NULL;
}

bool feature_is_read(unsigned id)
{
	const struct feature *f = feature_find(id);

	return f && f->read;
}

int feature_read(unsigned id, struct bytes *b, struct file_info *info, struct err *err)
{
	const struct feature *f = feature_find(id);
	u64 start = b->offset;

	if (!f || !f->read)
		return 0;
	if (!f->read(b, info))
		return err_set(err, ERR_FORMAT,
			"feature section %s at offset 0x%llx is damaged at offset 0x%llx", f->name,
			(unsigned long long)start, (unsigned long long)b->offset);
	return 1;
}

bool feature_write(unsigned id, const struct file_info *info, struct str *out)
{
	const struct feature *f = feature_find(id);
	size_t before = out->n;

	if (!f || !f->write)
		return false;
	if (f->write(info, out))
		return true;
	str_cut(out, before);
	return false;
}

void feature_add_text(unsigned id, const struct file_info *info, bool details, struct str *text)
{
	const struct feature *f = feature_find(id);

	if (!f || !f->print)
		return;
	if (f->is_long && !details)
		str_addf(text, "# %s info available, use -I to display\n", f->name);
	else
		f->print(info, text);
}
