#include "record/record.h"

#include "base/bytes.h"
#include "event/attr.h"

enum field_kind {
	F_END, /* the row behind the last one */
	F_U8,
	F_U16,
	F_U32,
	F_U64,
	F_S32,
	F_S64,
	F_HEX32,
	F_HEX64,
	F_DOUBLE,
	F_TAG,       /* 8 bytes of a hash */
	F_DEVICE,    /* u32 major, u32 minor */
	F_BUILD_ID,  /* MMAP2: u8 size, 3 bytes, 20 bytes */
	F_BUILD_ID2, /* BUILD_ID: 20 bytes, u8 size if a misc bit says so, 3 bytes */
	F_CHARS,     /* text in `size` bytes, which ends at a NUL if there is one */
	F_GAP,       /* `size` bytes that are kept and not shown */
	F_CSTR,      /* text up to a NUL or the end of the body: the last field */
	F_BYTES,     /* the rest of the body, or `count` bytes */
	F_LIST,      /* entries of the rows `of`: `count`, or as many as there are */
	F_ATTR,      /* a perf_event_attr of the size that it says */
	F_PART,      /* a struct inside the body, with the rows `of` */
};

/* The kinds of one size: how many bytes, and of how many a number is made. */
static const struct {
	u8 size, unit;
} scalars[] = {
	[F_U8] = {1, 1},
	[F_U16] = {2, 2},
	[F_U32] = {4, 4},
	[F_U64] = {8, 8},
	[F_S32] = {4, 4},
	[F_S64] = {8, 8},
	[F_HEX32] = {4, 4},
	[F_HEX64] = {8, 8},
	[F_DOUBLE] = {8, 8},
	[F_TAG] = {8, 1},
	[F_DEVICE] = {8, 4},
	[F_BUILD_ID] = {24, 1},
	[F_BUILD_ID2] = {24, 1},
	[F_PART] = {0, 0},
};

/* A member of the body that another row depends on; size 0: it depends on none. */
struct dependence {
	u8 member, size;
	u64 least, most; /* the row is there if the value is one of these */
};

struct field {
	const char *name;
	u8 kind;
	u8 member; /* offset in the body; of F_END, its struct record_end */
	u16 size;  /* of F_CHARS and F_GAP */
	/* Records may end before it, text also inside it; then all that follow are optional too. */
	bool is_optional;
	u16 with_misc, without_misc; /* the row is there only with, without this bit */
	struct dependence when, count;
	const struct field *of;
};

struct type {
	u32 type;
	const char *name;
	const struct field *fields; /* NULL: not described, its reader walks it */
	bool is_state;              /* says who ran where */
};

/* clang-format off: a row a fact */
#define MEMBER_SIZE(s, m) sizeof(((struct record_##s *)0)->m)
#define NAMED(n, k, s, m, ...)                                                              \
	{                                                                                   \
		.name = n, .kind = k, .member = offsetof(struct record_##s, m), __VA_ARGS__ \
	}
#define M(k, s, m, ...) NAMED(#m, k, s, m, __VA_ARGS__)
#define END(s)                                                            \
	{                                                                 \
		.kind = F_END, .member = offsetof(struct record_##s, end) \
	}
#define OPTIONAL            .is_optional = true
#define COUNT(s, m)         .count = {offsetof(struct record_##s, m), MEMBER_SIZE(s, m), 0, 0}
#define FROM_TO(s, m, l, h) .when = {offsetof(struct record_##s, m), MEMBER_SIZE(s, m), l, h}
#define WHEN(s, m, v)       FROM_TO(s, m, v, v)
#define SINCE(s, m, v)      FROM_TO(s, m, v, UINT64_MAX)
#define ENTRY(n, k, ...)                          \
	{                                         \
		.name = n, .kind = k, __VA_ARGS__ \
	}

static const struct field empty_fields[] = {
	END(empty),
};
static const struct field mmap_fields[] = {
	M(F_S32, mmap, pid),
	M(F_S32, mmap, tid),
	M(F_HEX64, mmap, addr),
	M(F_HEX64, mmap, len),
	M(F_HEX64, mmap, pgoff),
	M(F_CSTR, mmap, path),
	END(mmap),
};
static const struct field mmap2_fields[] = {
	M(F_S32, mmap, pid),
	M(F_S32, mmap, tid),
	M(F_HEX64, mmap, addr),
	M(F_HEX64, mmap, len),
	M(F_HEX64, mmap, pgoff),
	NAMED("dev", F_DEVICE, mmap, maj, .without_misc = PERF_RECORD_MISC_MMAP_BUILD_ID),
	NAMED("ino", F_U64, mmap, ino, .without_misc = PERF_RECORD_MISC_MMAP_BUILD_ID),
	NAMED("gen", F_U64, mmap, ino_generation, .without_misc = PERF_RECORD_MISC_MMAP_BUILD_ID),
	NAMED("build_id", F_BUILD_ID, mmap, build_id_size,
		.with_misc = PERF_RECORD_MISC_MMAP_BUILD_ID),
	M(F_HEX32, mmap, prot),
	M(F_HEX32, mmap, flags),
	M(F_CSTR, mmap, path),
	END(mmap),
};
static const struct field comm_fields[] = {
	M(F_S32, comm, pid),
	M(F_S32, comm, tid),
	M(F_CSTR, comm, comm),
	END(comm),
};
static const struct field task_fields[] = {
	M(F_S32, task, pid),
	M(F_S32, task, ppid),
	M(F_S32, task, tid),
	M(F_S32, task, ptid),
	M(F_U64, task, time),
	END(task),
};
static const struct field lost_fields[] = {
	M(F_U64, lost, id),
	M(F_U64, lost, lost),
	END(lost),
};
static const struct field lost_samples_fields[] = {
	M(F_U64, lost, lost),
	END(lost),
};
static const struct field throttle_fields[] = {
	M(F_U64, throttle, time),
	M(F_U64, throttle, id),
	M(F_U64, throttle, stream_id),
	END(throttle),
};
static const struct field u64_entry[] = {
	ENTRY(NULL, F_U64),
	{0},
};
static const struct field address_entry[] = {
	ENTRY(NULL, F_HEX64),
	{0},
};
static const struct field read_fields[] = {
	M(F_S32, read, pid),
	M(F_S32, read, tid),
	M(F_LIST, read, values, .of = u64_entry),
	END(read),
};
static const struct field aux_fields[] = {
	M(F_HEX64, aux, offset),
	M(F_HEX64, aux, size),
	M(F_HEX64, aux, flags),
	END(aux),
};
static const struct field aux_output_hw_id_fields[] = {
	M(F_HEX64, aux_output_hw_id, hw_id),
	END(aux_output_hw_id),
};
static const struct field itrace_fields[] = {
	M(F_S32, comm, pid),
	M(F_S32, comm, tid),
	END(comm),
};
static const struct field switch_cpu_wide_fields[] = {
	M(F_S32, switch, next_prev_pid),
	M(F_S32, switch, next_prev_tid),
	END(switch),
};
static const struct field namespace_entry[] = {
	ENTRY("dev", F_U64),
	ENTRY("ino", F_U64),
	{0},
};
static const struct field namespaces_fields[] = {
	M(F_S32, namespaces, pid),
	M(F_S32, namespaces, tid),
	M(F_U64, namespaces, nr),
	M(F_LIST, namespaces, namespaces, .of = namespace_entry, COUNT(namespaces, nr)),
	END(namespaces),
};
static const struct field ksymbol_fields[] = {
	M(F_HEX64, ksymbol, addr),
	M(F_U32, ksymbol, len),
	M(F_U16, ksymbol, ksym_type),
	M(F_U16, ksymbol, flags),
	M(F_CSTR, ksymbol, name),
	END(ksymbol),
};
static const struct field bpf_fields[] = {
	M(F_U16, bpf, bpf_type),
	M(F_U16, bpf, flags),
	M(F_U32, bpf, id),
	M(F_TAG, bpf, tag),
	END(bpf),
};
static const struct field cgroup_fields[] = {
	M(F_U64, cgroup, id),
	M(F_CSTR, cgroup, path),
	END(cgroup),
};
static const struct field text_poke_fields[] = {
	M(F_HEX64, text_poke, addr),
	M(F_U16, text_poke, old_len),
	M(F_U16, text_poke, new_len),
	M(F_BYTES, text_poke, bytes),
	END(text_poke),
};
static const struct field callchain_deferred_fields[] = {
	M(F_HEX64, callchain_deferred, cookie),
	M(F_U64, callchain_deferred, nr),
	M(F_LIST, callchain_deferred, ips, .of = address_entry, COUNT(callchain_deferred, nr)),
	END(callchain_deferred),
};
static const struct field attr_fields[] = {
	M(F_ATTR, attr, attr),
	M(F_LIST, attr, ids, .of = u64_entry),
	END(attr),
};
static const struct field event_type_fields[] = {
	M(F_U64, event_type, event_id),
	M(F_CHARS, event_type, name, .size = 64),
	END(event_type),
};
static const struct field tracing_data_fields[] = {
	M(F_U32, tracing_data, size),
	END(tracing_data),
};
static const struct field build_id_fields[] = {
	M(F_S32, build_id, pid),
	M(F_BUILD_ID2, build_id, build_id),
	M(F_CSTR, build_id, path),
	END(build_id),
};
static const struct field id_index_entry[] = {
	ENTRY("id", F_U64),
	ENTRY("idx", F_U64),
	ENTRY("cpu", F_S64),
	ENTRY("tid", F_S64),
	{0},
};
static const struct field id_index_guest[] = {
	ENTRY("machine_pid", F_S64),
	ENTRY("vcpu", F_S64),
	{0},
};
static const struct field id_index_fields[] = {
	M(F_U64, id_index, nr),
	M(F_LIST, id_index, entries, .of = id_index_entry, COUNT(id_index, nr)),
	M(F_LIST, id_index, guests, .of = id_index_guest, COUNT(id_index, nr), OPTIONAL),
	END(id_index),
};
static const struct field auxtrace_info_fields[] = {
	NAMED("type", F_U32, auxtrace_info, trace_type),
	M(F_U32, auxtrace_info, reserved),
	M(F_LIST, auxtrace_info, priv, .of = address_entry),
	END(auxtrace_info),
};
static const struct field auxtrace_fields[] = {
	M(F_HEX64, auxtrace, size),
	M(F_HEX64, auxtrace, offset),
	M(F_HEX64, auxtrace, reference),
	M(F_U32, auxtrace, idx),
	M(F_S32, auxtrace, tid),
	M(F_S32, auxtrace, cpu),
	M(F_U32, auxtrace, reserved),
	END(auxtrace),
};
static const struct field auxtrace_error_fields[] = {
	NAMED("type", F_U32, auxtrace_error, error_type),
	M(F_U32, auxtrace_error, code),
	M(F_S32, auxtrace_error, cpu),
	M(F_S32, auxtrace_error, pid),
	M(F_S32, auxtrace_error, tid),
	M(F_U32, auxtrace_error, fmt),
	M(F_HEX64, auxtrace_error, ip),
	M(F_U64, auxtrace_error, time, SINCE(auxtrace_error, fmt, 1)),
	M(F_CHARS, auxtrace_error, msg, .size = 64, OPTIONAL),
	M(F_U32, auxtrace_error, machine_pid, SINCE(auxtrace_error, fmt, 2), OPTIONAL),
	M(F_U32, auxtrace_error, vcpu, SINCE(auxtrace_error, fmt, 2), OPTIONAL),
	END(auxtrace_error),
};
static const struct field thread_map_entry[] = {
	ENTRY("pid", F_S64),
	ENTRY("comm", F_CHARS, .size = 16),
	{0},
};
static const struct field thread_map_fields[] = {
	M(F_U64, thread_map, nr),
	M(F_LIST, thread_map, threads, .of = thread_map_entry, COUNT(thread_map, nr)),
	END(thread_map),
};
static const struct field cpu_entry[] = {
	ENTRY(NULL, F_U16),
	{0},
};
static const struct field mask32_entry[] = {
	ENTRY(NULL, F_HEX32),
	{0},
};
static const struct field mask64_entry[] = {
	ENTRY(NULL, F_HEX64),
	{0},
};
static const struct field cpu_map_fields[] = {
	NAMED("type", F_U16, cpu_map, map_type),
	M(F_U16, cpu_map, nr, FROM_TO(cpu_map, map_type, RECORD_CPU_LIST, RECORD_CPU_MASK)),
	M(F_LIST, cpu_map, cpus, .of = cpu_entry, COUNT(cpu_map, nr),
		WHEN(cpu_map, map_type, RECORD_CPU_LIST)),
	M(F_U16, cpu_map, long_size, WHEN(cpu_map, map_type, RECORD_CPU_MASK)),
	M(F_GAP, cpu_map, padding, .size = 4, WHEN(cpu_map, long_size, 8)),
	NAMED("mask", F_LIST, cpu_map, cpus, .of = mask32_entry, COUNT(cpu_map, nr),
		WHEN(cpu_map, long_size, 4)),
	NAMED("mask", F_LIST, cpu_map, cpus, .of = mask64_entry, COUNT(cpu_map, nr),
		WHEN(cpu_map, long_size, 8)),
	M(F_U8, cpu_map, any_cpu, WHEN(cpu_map, map_type, RECORD_CPU_RANGE)),
	M(F_U8, cpu_map, range_reserved, WHEN(cpu_map, map_type, RECORD_CPU_RANGE)),
	M(F_U16, cpu_map, start_cpu, WHEN(cpu_map, map_type, RECORD_CPU_RANGE)),
	M(F_U16, cpu_map, end_cpu, WHEN(cpu_map, map_type, RECORD_CPU_RANGE)),
	END(cpu_map),
};
static const struct field stat_config_entry[] = {
	ENTRY("tag", F_U64),
	ENTRY("val", F_U64),
	{0},
};
static const struct field stat_config_fields[] = {
	M(F_U64, stat_config, nr),
	M(F_LIST, stat_config, config, .of = stat_config_entry, COUNT(stat_config, nr)),
	END(stat_config),
};
static const struct field stat_fields[] = {
	M(F_U64, stat, id),
	M(F_S32, stat, cpu),
	M(F_S32, stat, thread),
	M(F_U64, stat, val),
	M(F_U64, stat, ena),
	M(F_U64, stat, run),
	END(stat),
};
static const struct field stat_round_fields[] = {
	NAMED("type", F_U64, stat_round, round_type),
	M(F_U64, stat_round, time),
	END(stat_round),
};
static const struct field event_update_fields[] = {
	NAMED("type", F_U64, event_update, update_type),
	M(F_U64, event_update, id),
	NAMED("unit", F_CSTR, event_update, text,
		WHEN(event_update, update_type, RECORD_UPDATE_UNIT)),
	M(F_DOUBLE, event_update, scale, WHEN(event_update, update_type, RECORD_UPDATE_SCALE)),
	NAMED("name", F_CSTR, event_update, text,
		WHEN(event_update, update_type, RECORD_UPDATE_NAME)),
	M(F_PART, event_update, cpus, .of = cpu_map_fields,
		WHEN(event_update, update_type, RECORD_UPDATE_CPUS)),
	END(event_update),
};
static const struct field time_conv_fields[] = {
	M(F_U64, time_conv, time_shift),
	M(F_U64, time_conv, time_mult),
	M(F_U64, time_conv, time_zero),
	M(F_U64, time_conv, time_cycles, OPTIONAL),
	M(F_HEX64, time_conv, time_mask, OPTIONAL),
	M(F_U8, time_conv, cap_user_time_zero, OPTIONAL),
	M(F_U8, time_conv, cap_user_time_short, OPTIONAL),
	END(time_conv),
};
static const struct field feature_fields[] = {
	M(F_U64, feature, feat_id),
	M(F_BYTES, feature, data),
	END(feature),
};
static const struct field compressed_fields[] = {
	M(F_BYTES, compressed, data),
	END(compressed),
};
static const struct field compressed2_fields[] = {
	M(F_U64, compressed, data_size),
	M(F_BYTES, compressed, data, COUNT(compressed, data_size)),
	END(compressed),
};
static const struct field bpf_metadata_entry[] = {
	ENTRY("key", F_CHARS, .size = 64),
	ENTRY("value", F_CHARS, .size = 256),
	{0},
};
static const struct field bpf_metadata_fields[] = {
	M(F_CHARS, bpf_metadata, prog_name, .size = 16),
	M(F_U64, bpf_metadata, nr_entries),
	M(F_LIST, bpf_metadata, entries, .of = bpf_metadata_entry, COUNT(bpf_metadata, nr_entries)),
	END(bpf_metadata),
};

/* In the order of their numbers. */
static const struct type types[] = {
	{PERF_RECORD_MMAP, "MMAP", mmap_fields, true},
	{PERF_RECORD_LOST, "LOST", lost_fields, false},
	{PERF_RECORD_COMM, "COMM", comm_fields, true},
	{PERF_RECORD_EXIT, "EXIT", task_fields, true},
	{PERF_RECORD_THROTTLE, "THROTTLE", throttle_fields, false},
	{PERF_RECORD_UNTHROTTLE, "UNTHROTTLE", throttle_fields, false},
	{PERF_RECORD_FORK, "FORK", task_fields, true},
	{PERF_RECORD_READ, "READ", read_fields, false},
	{PERF_RECORD_SAMPLE, "SAMPLE", NULL, false},
	{PERF_RECORD_MMAP2, "MMAP2", mmap2_fields, true},
	{PERF_RECORD_AUX, "AUX", aux_fields, false},
	{PERF_RECORD_ITRACE_START, "ITRACE_START", itrace_fields, false},
	{PERF_RECORD_LOST_SAMPLES, "LOST_SAMPLES", lost_samples_fields, false},
	{PERF_RECORD_SWITCH, "SWITCH", empty_fields, false},
	{PERF_RECORD_SWITCH_CPU_WIDE, "SWITCH_CPU_WIDE", switch_cpu_wide_fields, false},
	{PERF_RECORD_NAMESPACES, "NAMESPACES", namespaces_fields, false},
	{PERF_RECORD_KSYMBOL, "KSYMBOL", ksymbol_fields, true},
	{PERF_RECORD_BPF_EVENT, "BPF_EVENT", bpf_fields, false},
	{PERF_RECORD_CGROUP, "CGROUP", cgroup_fields, false},
	{PERF_RECORD_TEXT_POKE, "TEXT_POKE", text_poke_fields, false},
	{PERF_RECORD_AUX_OUTPUT_HW_ID, "AUX_OUTPUT_HW_ID", aux_output_hw_id_fields, false},
	{PERF_RECORD_CALLCHAIN_DEFERRED, "CALLCHAIN_DEFERRED", callchain_deferred_fields, false},
	{PERF_RECORD_HEADER_ATTR, "ATTR", attr_fields, false},
	{PERF_RECORD_HEADER_EVENT_TYPE, "EVENT_TYPE", event_type_fields, false},
	{PERF_RECORD_HEADER_TRACING_DATA, "TRACING_DATA", tracing_data_fields, false},
	{PERF_RECORD_HEADER_BUILD_ID, "BUILD_ID", build_id_fields, false},
	{PERF_RECORD_FINISHED_ROUND, "FINISHED_ROUND", empty_fields, false},
	{PERF_RECORD_ID_INDEX, "ID_INDEX", id_index_fields, false},
	{PERF_RECORD_AUXTRACE_INFO, "AUXTRACE_INFO", auxtrace_info_fields, false},
	{PERF_RECORD_AUXTRACE, "AUXTRACE", auxtrace_fields, false},
	{PERF_RECORD_AUXTRACE_ERROR, "AUXTRACE_ERROR", auxtrace_error_fields, false},
	{PERF_RECORD_THREAD_MAP, "THREAD_MAP", thread_map_fields, false},
	{PERF_RECORD_CPU_MAP, "CPU_MAP", cpu_map_fields, false},
	{PERF_RECORD_STAT_CONFIG, "STAT_CONFIG", stat_config_fields, false},
	{PERF_RECORD_STAT, "STAT", stat_fields, false},
	{PERF_RECORD_STAT_ROUND, "STAT_ROUND", stat_round_fields, false},
	{PERF_RECORD_EVENT_UPDATE, "EVENT_UPDATE", event_update_fields, false},
	{PERF_RECORD_TIME_CONV, "TIME_CONV", time_conv_fields, false},
	{PERF_RECORD_HEADER_FEATURE, "FEATURE", feature_fields, false},
	{PERF_RECORD_COMPRESSED, "COMPRESSED", compressed_fields, false},
	{PERF_RECORD_FINISHED_INIT, "FINISHED_INIT", empty_fields, false},
	{PERF_RECORD_COMPRESSED2, "COMPRESSED2", compressed2_fields, false},
	{PERF_RECORD_BPF_METADATA, "BPF_METADATA", bpf_metadata_fields, false},
};
/* clang-format on */

enum { SHOWN_MAX = 4096 }; /* entries or bytes of one field in text */

_Static_assert(sizeof(union record_body) <= UINT8_MAX, "members are found by offsets of a byte");
_Static_assert(sizeof(union record_body) == sizeof(struct record_mmap),
	"the union's first member is not its largest");
_Static_assert(offsetof(struct record_mmap, min) == offsetof(struct record_mmap, maj) + 4,
	"a device is read in one piece");
_Static_assert(offsetof(struct record_mmap, build_id) ==
		offsetof(struct record_mmap, build_id_size) + 4,
	"a build-id is read in one piece");

static const struct type *type_find(u32 type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type == type)
			return &types[i];
	return NULL;
}

const char *record_type_name(u32 type)
{
	const struct type *t = type_find(type);

	return t ? t->name : NULL;
}

bool record_is_state(u32 type)
{
	const struct type *t = type_find(type);

	return t && t->is_state;
}

/* ---- what the rows say ---- */

static bool is_scalar(u8 kind)
{
	return scalars[kind].size;
}

static u64 value_of(const struct dependence *d, const u8 *base)
{
	const u8 *p = base + d->member;

	return d->size == 8 ? load_u64(p) : d->size == 4 ? load_u32(p) : load_u16(p);
}

static bool is_there(const struct field *f, u16 misc, const u8 *base)
{
	u64 v;

	if ((f->with_misc && !(misc & f->with_misc)) || misc & f->without_misc)
		return false;
	if (!f->when.size)
		return true;
	v = value_of(&f->when, base);
	return v >= f->when.least && v <= f->when.most;
}

/* Bytes of a field that is always of one size; 0 for others. */
static u64 fixed_size(const struct field *f)
{
	return scalars[f->kind].size ? scalars[f->kind].size : f->size;
}

/* Bytes of an entry of a list. */
static u64 entry_size(const struct field *entry)
{
	u64 n = 0;

	for (; entry->kind != F_END; entry++)
		n += fixed_size(entry);
	return n;
}

/* The row behind the last one. */
static const struct field *end_row(const struct field *f)
{
	while (f->kind != F_END)
		f++;
	return f;
}

static struct record_end end_of(const struct type *t, const void *body)
{
	struct record_end end;

	memcpy(&end, (const u8 *)body + end_row(t->fields)->member, sizeof(end));
	return end;
}

/* ---- walking over a record's bytes ---- */

struct walk {
	struct bytes b;
	u16 misc;
	bool is_foreign; /* what is walked over is turned into this machine's order, in place */
	u8 n_missing;
	const char *failed; /* the field that does not fit */
};

/* n bytes of numbers of `unit` bytes each. */
static void swap_units(u8 *p, u64 n, u8 unit)
{
	for (; unit > 1 && n >= unit; n -= unit, p += unit) {
		for (u8 low = 0, high = unit - 1; low < high; low++, high--) {
			u8 byte = p[low];

			p[low] = p[high];
			p[high] = byte;
		}
	}
}

static void swap_entries(u8 *p, u64 n, const struct field *entry)
{
	for (u8 *end = p + n; p < end;) {
		for (const struct field *f = entry; f->kind != F_END; f++) {
			swap_units(p, fixed_size(f), scalars[f->kind].unit);
			p += fixed_size(f);
		}
	}
}

static bool take_scalar(struct walk *w, const struct field *f, u8 *base)
{
	const void *p;

	if (!bytes_take(&w->b, scalars[f->kind].size, &p))
		return false;
	if (w->is_foreign)
		swap_units((u8 *)p, scalars[f->kind].size, scalars[f->kind].unit);
	memcpy(base + f->member, p, scalars[f->kind].size);
	if (f->kind == F_BUILD_ID) {
		struct record_mmap *m = (void *)base;

		m->build_id_claim = m->build_id_size > BUILD_ID_MAX ? m->build_id_size : 0;
		m->build_id_size = MIN(m->build_id_size, BUILD_ID_MAX);
	}
	return true;
}

static u64 attr_bytes(const struct walk *w)
{
	u32 size;

	if (bytes_left(&w->b) < ATTR_SIZE_VER0)
		return ATTR_SIZE_VER0;
	size = load_u32(w->b.at + 4);
	size = w->is_foreign ? __builtin_bswap32(size) : size;
	/* The first ones did not say; what says less than the least says nothing. */
	return MAX(size, (u32)ATTR_SIZE_VER0);
}

/* Bytes of a field here; UINT64_MAX: more than any record has. */
static u64 run_size(const struct walk *w, const struct field *f, const u8 *base)
{
	u64 left = bytes_left(&w->b), each, count;

	switch ((enum field_kind)f->kind) {
	case F_CHARS:
		return f->is_optional ? MIN(left, f->size) : f->size;
	case F_CSTR:
		return strnlen((const char *)w->b.at, left);
	case F_BYTES:
		return f->count.size ? value_of(&f->count, base) : left;
	case F_LIST:
		each = entry_size(f->of);
		if (!f->count.size)
			return left / each * each;
		count = value_of(&f->count, base);
		return count > left / each ? UINT64_MAX : count * each;
	case F_ATTR:
		return attr_bytes(w);
	default:
		return fixed_size(f);
	}
}

static bool take_run(struct walk *w, const struct field *f, u8 *base)
{
	u64 n = run_size(w, f, base);
	struct record_bytes run;
	const void *p;

	if (!bytes_take(&w->b, n, &p))
		return false;
	run = (struct record_bytes){p, n};
	memcpy(base + f->member, &run, sizeof(run));
	if (w->is_foreign && f->kind == F_LIST)
		swap_entries((u8 *)p, run.n, f->of);
	if (w->is_foreign && f->kind == F_ATTR)
		attr_swap((u8 *)p, run.n);
	return true;
}

static bool walk_fields(struct walk *w, const struct field *f, u8 *base)
{
	for (; f->kind != F_END; f++) {
		bool fits;

		if (!is_there(f, w->misc, base))
			continue;
		if (f->is_optional && (w->n_missing || run_size(w, f, base) > bytes_left(&w->b))) {
			w->n_missing++;
			continue;
		}
		if (f->kind == F_PART)
			fits = walk_fields(w, f->of, base + f->member);
		else
			fits = is_scalar(f->kind) ? take_scalar(w, f, base) : take_run(w, f, base);
		if (!fits) {
			w->failed = w->failed ? w->failed : f->name;
			return false;
		}
	}
	return true;
}

int record_decode(const struct record *rec, u32 trailer, union record_body *ret_body,
	struct err *err)
{
	const struct type *t = type_find(rec->type);
	union record_body body = {0};
	struct walk w = {.misc = rec->misc};
	struct record_end end;

	if (!t || !t->fields)
		return 0;
	if (rec->size < RECORD_HEADER_SIZE + trailer)
		return err_set(err, ERR_FORMAT,
			"%s record at offset 0x%llx: %u bytes cannot hold its trailer of %u",
			t->name, (unsigned long long)rec->offset, rec->size, trailer);
	w.b = bytes_of(rec->at + RECORD_HEADER_SIZE, rec->size - RECORD_HEADER_SIZE - trailer);
	if (!walk_fields(&w, t->fields, (u8 *)&body))
		return err_set(err, ERR_FORMAT,
			"%s record at offset 0x%llx: its %u bytes end before '%s'", t->name,
			(unsigned long long)rec->offset, rec->size, w.failed);
	end = (struct record_end){w.b.at, bytes_left(&w.b), w.n_missing};
	memcpy((u8 *)&body + end_row(t->fields)->member, &end, sizeof(end));
	*ret_body = body;
	return 1;
}

void record_swap_header(struct record_header *header)
{
	header->type = __builtin_bswap32(header->type);
	header->misc = __builtin_bswap16(header->misc);
	header->size = __builtin_bswap16(header->size);
}

bool record_swap(u8 *at, u16 size, u32 trailer)
{
	union record_body body = {0};
	struct walk w = {.is_foreign = true};
	struct record_header header;
	const struct type *t;

	if (size < RECORD_HEADER_SIZE + (u64)trailer)
		return false;
	memcpy(&header, at, sizeof(header));
	t = type_find(header.type);
	if (!t || !t->fields)
		return true;
	w.misc = header.misc;
	w.b = bytes_of(at + RECORD_HEADER_SIZE, size - RECORD_HEADER_SIZE - trailer);
	return walk_fields(&w, t->fields, (u8 *)&body);
}

/* ---- the way back ---- */

/* How many fields that records may lack this one has. */
static unsigned n_optional(const struct field *f, u16 misc, const u8 *base)
{
	unsigned n = 0;

	for (; f->kind != F_END; f++)
		n += f->is_optional && is_there(f, misc, base);
	return n;
}

static void encode_scalar(const struct field *f, const u8 *base, struct str *out)
{
	const struct record_mmap *m = (const void *)base;

	str_addn(out, base + f->member, scalars[f->kind].size);
	if (f->kind == F_BUILD_ID && m->build_id_claim > BUILD_ID_MAX)
		out->at[out->n - scalars[f->kind].size] = m->build_id_claim;
}

static bool encode_run(const struct field *f, const u8 *base, bool is_by_hand, struct str *out)
{
	struct record_bytes run;

	memcpy(&run, base + f->member, sizeof(run));
	if (f->kind == F_CHARS || f->kind == F_GAP)
		run.n = MIN(run.n, f->size);
	if (f->count.size) {
		u64 each = f->kind == F_LIST ? entry_size(f->of) : 1;

		if (run.n % each || value_of(&f->count, base) != run.n / each)
			return false;
	}
	str_addn(out, run.at, run.n);
	if ((f->kind == F_CHARS || f->kind == F_GAP) && is_by_hand)
		str_fill(out, '\0', f->size - run.n);
	if (f->kind == F_CSTR && is_by_hand)
		str_addc(out, '\0');
	return true;
}

static bool encode_fields(const struct field *f, u16 misc, const u8 *base,
	const struct record_end *end, struct str *out)
{
	unsigned n_left = n_optional(f, misc, base);

	for (; f->kind != F_END; f++) {
		bool is_fine = true;

		if (!is_there(f, misc, base))
			continue;
		if (f->is_optional && n_left-- <= end->n_missing)
			break;
		if (f->kind == F_PART)
			is_fine = encode_fields(f->of, misc, base + f->member, end, out);
		else if (is_scalar(f->kind))
			encode_scalar(f, base, out);
		else
			is_fine = encode_run(f, base, !end->at, out);
		if (!is_fine)
			return false;
	}
	return true;
}

bool record_encode(u32 type, u16 misc, const union record_body *body, u32 trailer, struct str *out)
{
	const struct type *t = type_find(type);
	struct record_header header = {.type = type, .misc = misc};
	size_t start = out->n, size;
	struct record_end end;
	bool is_fine;

	if (!t || !t->fields)
		return false;
	end = end_of(t, body);
	str_addn(out, &header, sizeof(header));
	is_fine = encode_fields(t->fields, misc, (const u8 *)body, &end, out);
	if (end.at)
		str_addn(out, end.at, end.n);
	else
		str_fill(out, '\0', align_up(out->n - start, 8) - (out->n - start));
	str_fill(out, '\0', trailer);
	size = out->n - start;
	if (!is_fine || size > UINT16_MAX) {
		str_cut(out, start);
		return false;
	}
	header.size = size;
	memcpy(out->at + start, &header, sizeof(header));
	return true;
}

/* ---- text ---- */

static void add_hex(const u8 *p, u64 n, struct str *text)
{
	for (u64 i = 0; i < MIN(n, SHOWN_MAX); i++)
		str_addf(text, "%02x", p[i]);
	if (n > SHOWN_MAX)
		str_addf(text, "... %llu more", (unsigned long long)(n - SHOWN_MAX));
}

static void add_chars(const u8 *p, u64 n, struct str *text)
{
	str_add_safe(text, (const char *)p, n ? strnlen((const char *)p, n) : 0);
}

static void add_double(const u8 *p, struct str *text)
{
	double v;

	memcpy(&v, p, sizeof(v));
	str_addf(text, "%g", v);
}

static void add_scalar(u8 kind, u16 misc, const u8 *p, struct str *text)
{
	switch ((enum field_kind)kind) {
	case F_U8:
		str_addf(text, "%u", *p);
		break;
	case F_U16:
		str_addf(text, "%u", load_u16(p));
		break;
	case F_U32:
		str_addf(text, "%u", load_u32(p));
		break;
	case F_S32:
		str_addf(text, "%d", (s32)load_u32(p));
		break;
	case F_HEX32:
		str_addf(text, "0x%x", load_u32(p));
		break;
	case F_U64:
		str_addf(text, "%llu", (unsigned long long)load_u64(p));
		break;
	case F_S64:
		str_addf(text, "%lld", (long long)load_u64(p));
		break;
	case F_HEX64:
		str_addf(text, "0x%llx", (unsigned long long)load_u64(p));
		break;
	case F_DOUBLE:
		add_double(p, text);
		break;
	case F_TAG:
		add_hex(p, 8, text);
		break;
	case F_DEVICE:
		str_addf(text, "%02x:%02x", load_u32(p), load_u32(p + 4));
		break;
	case F_BUILD_ID:
		add_hex(p + 4, MIN(p[0], (u8)BUILD_ID_MAX), text);
		break;
	case F_BUILD_ID2:
		add_hex(p,
			misc & PERF_RECORD_MISC_BUILD_ID_SIZE ? MIN(p[20], (u8)BUILD_ID_MAX)
							      : BUILD_ID_MAX,
			text);
		break;
	default:
		break;
	}
}

/* One entry: its value, or {name=value name=value}. */
static void add_entry(const struct field *entry, const u8 *p, struct str *text)
{
	bool has_names = entry->name;

	for (const struct field *f = entry; f->kind != F_END; f++) {
		if (has_names)
			str_addf(text, "%s%s=", f == entry ? "{" : " ", f->name);
		if (f->kind == F_CHARS)
			add_chars(p, f->size, text);
		else
			add_scalar(f->kind, 0, p, text);
		p += fixed_size(f);
	}
	if (has_names)
		str_addc(text, '}');
}

static void add_list(const struct field *entry, const struct record_bytes *run, struct str *text)
{
	u64 each = entry_size(entry), n = run->n / each;

	str_addc(text, '[');
	for (u64 i = 0; i < MIN(n, SHOWN_MAX); i++) {
		if (i)
			str_addc(text, ' ');
		add_entry(entry, run->at + i * each, text);
	}
	if (n > SHOWN_MAX)
		str_addf(text, " ... %llu more", (unsigned long long)(n - SHOWN_MAX));
	str_addc(text, ']');
}

static void add_attr(const struct record_bytes *run, struct str *text)
{
	struct bytes b = bytes_of(run->at, run->n);
	struct event_attr attr;
	struct err ignored;
	bool is_dropped;

	str_addc(text, '{');
	if (!attr_read(&b, run->n, &attr, &is_dropped, &ignored))
		attr_add_text(&attr, "=", text);
	str_addc(text, '}');
}

static void add_run(const struct field *f, const u8 *base, struct str *text)
{
	struct record_bytes run;

	memcpy(&run, base + f->member, sizeof(run));
	switch ((enum field_kind)f->kind) {
	case F_CHARS:
		add_chars(run.at, MIN(run.n, f->size), text);
		break;
	case F_CSTR:
		str_add_safe(text, (const char *)run.at, run.n);
		break;
	case F_BYTES:
		add_hex(run.at, run.n, text);
		break;
	case F_LIST:
		add_list(f->of, &run, text);
		break;
	case F_ATTR:
		add_attr(&run, text);
		break;
	default:
		break;
	}
}

static void add_fields(const struct field *f, u16 misc, const u8 *base,
	const struct record_end *end, struct str *text)
{
	unsigned n_left = n_optional(f, misc, base);
	const char *between = "";

	for (; f->kind != F_END; f++) {
		if (!is_there(f, misc, base))
			continue;
		if (f->is_optional && n_left-- <= end->n_missing)
			break;
		if (f->kind == F_GAP)
			continue;
		str_addf(text, "%s%s=", between, f->name);
		between = " ";
		if (f->kind == F_PART) {
			str_addc(text, '{');
			add_fields(f->of, misc, base + f->member, end, text);
			str_addc(text, '}');
		} else if (is_scalar(f->kind)) {
			add_scalar(f->kind, misc, base + f->member, text);
		} else {
			add_run(f, base, text);
		}
	}
}

void record_add_text(u32 type, u16 misc, const union record_body *body, struct str *text)
{
	const struct type *t = type_find(type);
	struct record_end end;

	if (!t || !t->fields)
		return;
	end = end_of(t, body);
	add_fields(t->fields, misc, (const u8 *)body, &end, text);
}
