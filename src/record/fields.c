#include "record/fields.h"

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

static const struct record_field empty_fields[] = {
	END(empty),
};
static const struct record_field mmap_fields[] = {
	M(F_S32, mmap, pid),
	M(F_S32, mmap, tid),
	M(F_HEX64, mmap, addr),
	M(F_HEX64, mmap, len),
	M(F_HEX64, mmap, pgoff),
	M(F_CSTR, mmap, path),
	END(mmap),
};
static const struct record_field mmap2_fields[] = {
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
static const struct record_field comm_fields[] = {
	M(F_S32, comm, pid),
	M(F_S32, comm, tid),
	M(F_CSTR, comm, comm),
	END(comm),
};
static const struct record_field task_fields[] = {
	M(F_S32, task, pid),
	M(F_S32, task, ppid),
	M(F_S32, task, tid),
	M(F_S32, task, ptid),
	M(F_U64, task, time),
	END(task),
};
static const struct record_field lost_fields[] = {
	M(F_U64, lost, id),
	M(F_U64, lost, lost),
	END(lost),
};
static const struct record_field lost_samples_fields[] = {
	M(F_U64, lost, lost),
	END(lost),
};
static const struct record_field throttle_fields[] = {
	M(F_U64, throttle, time),
	M(F_U64, throttle, id),
	M(F_U64, throttle, stream_id),
	END(throttle),
};
static const struct record_field u64_entry[] = {
	ENTRY(NULL, F_U64),
	{0},
};
static const struct record_field address_entry[] = {
	ENTRY(NULL, F_HEX64),
	{0},
};
static const struct record_field read_fields[] = {
	M(F_S32, read, pid),
	M(F_S32, read, tid),
	M(F_LIST, read, values, .of = u64_entry),
	END(read),
};
static const struct record_field aux_fields[] = {
	M(F_HEX64, aux, offset),
	M(F_HEX64, aux, size),
	M(F_HEX64, aux, flags),
	END(aux),
};
static const struct record_field aux_output_hw_id_fields[] = {
	M(F_HEX64, aux_output_hw_id, hw_id),
	END(aux_output_hw_id),
};
static const struct record_field itrace_fields[] = {
	M(F_S32, comm, pid),
	M(F_S32, comm, tid),
	END(comm),
};
static const struct record_field switch_cpu_wide_fields[] = {
	M(F_S32, switch, next_prev_pid),
	M(F_S32, switch, next_prev_tid),
	END(switch),
};
static const struct record_field namespace_entry[] = {
	ENTRY("dev", F_U64),
	ENTRY("ino", F_U64),
	{0},
};
static const struct record_field namespaces_fields[] = {
	M(F_S32, namespaces, pid),
	M(F_S32, namespaces, tid),
	M(F_U64, namespaces, nr),
	M(F_LIST, namespaces, namespaces, .of = namespace_entry, COUNT(namespaces, nr)),
	END(namespaces),
};
static const struct record_field ksymbol_fields[] = {
	M(F_HEX64, ksymbol, addr),
	M(F_U32, ksymbol, len),
	M(F_U16, ksymbol, ksym_type),
	M(F_U16, ksymbol, flags),
	M(F_CSTR, ksymbol, name),
	END(ksymbol),
};
static const struct record_field bpf_fields[] = {
	M(F_U16, bpf, bpf_type),
	M(F_U16, bpf, flags),
	M(F_U32, bpf, id),
	M(F_TAG, bpf, tag),
	END(bpf),
};
static const struct record_field cgroup_fields[] = {
	M(F_U64, cgroup, id),
	M(F_CSTR, cgroup, path),
	END(cgroup),
};
static const struct record_field text_poke_fields[] = {
	M(F_HEX64, text_poke, addr),
	M(F_U16, text_poke, old_len),
	M(F_U16, text_poke, new_len),
	M(F_BYTES, text_poke, bytes),
	END(text_poke),
};
static const struct record_field callchain_deferred_fields[] = {
	M(F_HEX64, callchain_deferred, cookie),
	M(F_U64, callchain_deferred, nr),
	M(F_LIST, callchain_deferred, ips, .of = address_entry, COUNT(callchain_deferred, nr)),
	END(callchain_deferred),
};
static const struct record_field attr_fields[] = {
	M(F_ATTR, attr, attr),
	M(F_LIST, attr, ids, .of = u64_entry),
	END(attr),
};
static const struct record_field event_type_fields[] = {
	M(F_U64, event_type, event_id),
	M(F_CHARS, event_type, name, .size = 64),
	END(event_type),
};
static const struct record_field tracing_data_fields[] = {
	M(F_U32, tracing_data, size),
	END(tracing_data),
};
static const struct record_field build_id_fields[] = {
	M(F_S32, build_id, pid),
	M(F_BUILD_ID2, build_id, build_id),
	M(F_CSTR, build_id, path),
	END(build_id),
};
static const struct record_field id_index_entry[] = {
	ENTRY("id", F_U64),
	ENTRY("idx", F_U64),
	ENTRY("cpu", F_S64),
	ENTRY("tid", F_S64),
	{0},
};
static const struct record_field id_index_guest[] = {
	ENTRY("machine_pid", F_S64),
	ENTRY("vcpu", F_S64),
	{0},
};
static const struct record_field id_index_fields[] = {
	M(F_U64, id_index, nr),
	M(F_LIST, id_index, entries, .of = id_index_entry, COUNT(id_index, nr)),
	M(F_LIST, id_index, guests, .of = id_index_guest, COUNT(id_index, nr), OPTIONAL),
	END(id_index),
};
static const struct record_field auxtrace_info_fields[] = {
	NAMED("type", F_U32, auxtrace_info, trace_type),
	M(F_U32, auxtrace_info, reserved),
	M(F_LIST, auxtrace_info, priv, .of = address_entry),
	END(auxtrace_info),
};
static const struct record_field auxtrace_fields[] = {
	M(F_HEX64, auxtrace, size),
	M(F_HEX64, auxtrace, offset),
	M(F_HEX64, auxtrace, reference),
	M(F_U32, auxtrace, idx),
	M(F_S32, auxtrace, tid),
	M(F_S32, auxtrace, cpu),
	M(F_U32, auxtrace, reserved),
	END(auxtrace),
};
static const struct record_field auxtrace_error_fields[] = {
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
static const struct record_field thread_map_entry[] = {
	ENTRY("pid", F_S64),
	ENTRY("comm", F_CHARS, .size = 16),
	{0},
};
static const struct record_field thread_map_fields[] = {
	M(F_U64, thread_map, nr),
	M(F_LIST, thread_map, threads, .of = thread_map_entry, COUNT(thread_map, nr)),
	END(thread_map),
};
static const struct record_field cpu_entry[] = {
	ENTRY(NULL, F_U16),
	{0},
};
static const struct record_field mask32_entry[] = {
	ENTRY(NULL, F_HEX32),
	{0},
};
static const struct record_field mask64_entry[] = {
	ENTRY(NULL, F_HEX64),
	{0},
};
static const struct record_field cpu_map_fields[] = {
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
static const struct record_field stat_config_entry[] = {
	ENTRY("tag", F_U64),
	ENTRY("val", F_U64),
	{0},
};
static const struct record_field stat_config_fields[] = {
	M(F_U64, stat_config, nr),
	M(F_LIST, stat_config, config, .of = stat_config_entry, COUNT(stat_config, nr)),
	END(stat_config),
};
static const struct record_field stat_fields[] = {
	M(F_U64, stat, id),
	M(F_S32, stat, cpu),
	M(F_S32, stat, thread),
	M(F_U64, stat, val),
	M(F_U64, stat, ena),
	M(F_U64, stat, run),
	END(stat),
};
static const struct record_field stat_round_fields[] = {
	NAMED("type", F_U64, stat_round, round_type),
	M(F_U64, stat_round, time),
	END(stat_round),
};
static const struct record_field event_update_fields[] = {
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
static const struct record_field time_conv_fields[] = {
	M(F_U64, time_conv, time_shift),
	M(F_U64, time_conv, time_mult),
	M(F_U64, time_conv, time_zero),
	M(F_U64, time_conv, time_cycles, OPTIONAL),
	M(F_HEX64, time_conv, time_mask, OPTIONAL),
	M(F_U8, time_conv, cap_user_time_zero, OPTIONAL),
	M(F_U8, time_conv, cap_user_time_short, OPTIONAL),
	END(time_conv),
};
static const struct record_field feature_fields[] = {
	M(F_U64, feature, feat_id),
	M(F_BYTES, feature, data),
	END(feature),
};
static const struct record_field compressed_fields[] = {
	M(F_BYTES, compressed, data),
	END(compressed),
};
static const struct record_field compressed2_fields[] = {
	M(F_U64, compressed, data_size),
	M(F_BYTES, compressed, data, COUNT(compressed, data_size)),
	END(compressed),
};
static const struct record_field bpf_metadata_entry[] = {
	ENTRY("key", F_CHARS, .size = 64),
	ENTRY("value", F_CHARS, .size = 256),
	{0},
};
static const struct record_field bpf_metadata_fields[] = {
	M(F_CHARS, bpf_metadata, prog_name, .size = 16),
	M(F_U64, bpf_metadata, nr_entries),
	M(F_LIST, bpf_metadata, entries, .of = bpf_metadata_entry, COUNT(bpf_metadata, nr_entries)),
	END(bpf_metadata),
};

/* In the order of their numbers. */
static const struct record_type types[] = {
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
	{PERF_RECORD_CGROUP, "CGROUP", cgroup_fields, true},
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

_Static_assert(sizeof(union record_body) <= UINT8_MAX, "members are found by offsets of a byte");
_Static_assert(sizeof(union record_body) == sizeof(struct record_mmap),
	"the union's first member is not its largest");
_Static_assert(offsetof(struct record_mmap, min) == offsetof(struct record_mmap, maj) + 4,
	"a device is read in one piece");
_Static_assert(offsetof(struct record_mmap, build_id) ==
		offsetof(struct record_mmap, build_id_size) + 4,
	"a build-id is read in one piece");

const struct record_type *record_type_find(u32 type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type == type)
			return &types[i];
	return NULL;
}

const char *record_type_name(u32 type)
{
	const struct record_type *t = record_type_find(type);

	return t ? t->name : NULL;
}

bool record_is_state(u32 type)
{
	const struct record_type *t = record_type_find(type);

	return t && t->is_state;
}
