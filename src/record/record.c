#include "record/record.h"

#include "base/bytes.h"

enum field_kind {
	F_END,
	F_U16,
	F_U32,
	F_U64,
	F_HEX32,
	F_HEX64,
	F_CSTR,  /* NUL-terminated, padded to 8: always the last */
	F_BYTES, /* the rest of the body: always the last */
	F_INODE, /* MMAP2: maj, min, ino, ino_generation; or with MISC_MMAP_BUILD_ID a build-id */
};

struct field {
	const char *name;
	u8 kind;
	u8 member; /* offset in union record_body */
};

struct type {
	u32 type;
	const char *name;
	const struct field *fields; /* NULL: not described, its reader walks it */
	bool is_state;              /* says who ran where */
};

#define M(kind, s, m)                                    \
	{                                                \
#m, kind, offsetof(struct record_##s, m) \
	}

static const struct field mmap_fields[] = {
	M(F_U32, mmap, pid),
	M(F_U32, mmap, tid),
	M(F_HEX64, mmap, addr),
	M(F_HEX64, mmap, len),
	M(F_HEX64, mmap, pgoff),
	M(F_CSTR, mmap, path),
	{0},
};
static const struct field mmap2_fields[] = {
	M(F_U32, mmap, pid),
	M(F_U32, mmap, tid),
	M(F_HEX64, mmap, addr),
	M(F_HEX64, mmap, len),
	M(F_HEX64, mmap, pgoff),
	M(F_INODE, mmap, maj),
	M(F_HEX32, mmap, prot),
	M(F_HEX32, mmap, flags),
	M(F_CSTR, mmap, path),
	{0},
};
static const struct field comm_fields[] = {
	M(F_U32, comm, pid),
	M(F_U32, comm, tid),
	M(F_CSTR, comm, comm),
	{0},
};
static const struct field task_fields[] = {
	M(F_U32, task, pid),
	M(F_U32, task, ppid),
	M(F_U32, task, tid),
	M(F_U32, task, ptid),
	M(F_U64, task, time),
	{0},
};
static const struct field lost_fields[] = {
	M(F_U64, lost, id),
	M(F_U64, lost, lost),
	{0},
};
static const struct field lost_samples_fields[] = {
	M(F_U64, lost, lost),
	{0},
};
static const struct field throttle_fields[] = {
	M(F_U64, throttle, time),
	M(F_U64, throttle, id),
	M(F_U64, throttle, stream_id),
	{0},
};
static const struct field aux_fields[] = {
	M(F_HEX64, aux, offset),
	M(F_HEX64, aux, size),
	M(F_HEX64, aux, flags),
	{0},
};
static const struct field itrace_fields[] = {
	M(F_U32, comm, pid),
	M(F_U32, comm, tid),
	{0},
};
static const struct field switch_fields[] = {
	{0},
};
static const struct field switch_cpu_wide_fields[] = {
	M(F_U32, switch, next_prev_pid),
	M(F_U32, switch, next_prev_tid),
	{0},
};
static const struct field ksymbol_fields[] = {
	M(F_HEX64, ksymbol, addr),
	M(F_U32, ksymbol, len),
	M(F_U16, ksymbol, ksym_type),
	M(F_U16, ksymbol, flags),
	M(F_CSTR, ksymbol, name),
	{0},
};
static const struct field bpf_fields[] = {
	M(F_U16, bpf, bpf_type),
	M(F_U16, bpf, flags),
	M(F_U32, bpf, id),
	M(F_HEX64, bpf, tag),
	{0},
};
static const struct field cgroup_fields[] = {
	M(F_U64, cgroup, id),
	M(F_CSTR, cgroup, path),
	{0},
};
static const struct field text_poke_fields[] = {
	M(F_HEX64, text_poke, addr),
	M(F_U16, text_poke, old_len),
	M(F_U16, text_poke, new_len),
	M(F_BYTES, text_poke, bytes),
	{0},
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
	{PERF_RECORD_READ, "READ", NULL, false},
	{PERF_RECORD_SAMPLE, "SAMPLE", NULL, false},
	{PERF_RECORD_MMAP2, "MMAP2", mmap2_fields, true},
	{PERF_RECORD_AUX, "AUX", aux_fields, false},
	{PERF_RECORD_ITRACE_START, "ITRACE_START", itrace_fields, false},
	{PERF_RECORD_LOST_SAMPLES, "LOST_SAMPLES", lost_samples_fields, false},
	{PERF_RECORD_SWITCH, "SWITCH", switch_fields, false},
	{PERF_RECORD_SWITCH_CPU_WIDE, "SWITCH_CPU_WIDE", switch_cpu_wide_fields, false},
	{PERF_RECORD_NAMESPACES, "NAMESPACES", NULL, false},
	{PERF_RECORD_KSYMBOL, "KSYMBOL", ksymbol_fields, true},
	{PERF_RECORD_BPF_EVENT, "BPF_EVENT", bpf_fields, false},
	{PERF_RECORD_CGROUP, "CGROUP", cgroup_fields, false},
	{PERF_RECORD_TEXT_POKE, "TEXT_POKE", text_poke_fields, false},
	{PERF_RECORD_AUX_OUTPUT_HW_ID, "AUX_OUTPUT_HW_ID", NULL, false},
	{PERF_RECORD_CALLCHAIN_DEFERRED, "CALLCHAIN_DEFERRED", NULL, false},
	{PERF_RECORD_HEADER_ATTR, "ATTR", NULL, false},
	{PERF_RECORD_HEADER_EVENT_TYPE, "EVENT_TYPE", NULL, false},
	{PERF_RECORD_HEADER_TRACING_DATA, "TRACING_DATA", NULL, false},
	{PERF_RECORD_HEADER_BUILD_ID, "BUILD_ID", NULL, false},
	{PERF_RECORD_FINISHED_ROUND, "FINISHED_ROUND", NULL, false},
	{PERF_RECORD_ID_INDEX, "ID_INDEX", NULL, false},
	{PERF_RECORD_AUXTRACE_INFO, "AUXTRACE_INFO", NULL, false},
	{PERF_RECORD_AUXTRACE, "AUXTRACE", NULL, false},
	{PERF_RECORD_AUXTRACE_ERROR, "AUXTRACE_ERROR", NULL, false},
	{PERF_RECORD_THREAD_MAP, "THREAD_MAP", NULL, false},
	{PERF_RECORD_CPU_MAP, "CPU_MAP", NULL, false},
	{PERF_RECORD_STAT_CONFIG, "STAT_CONFIG", NULL, false},
	{PERF_RECORD_STAT, "STAT", NULL, false},
	{PERF_RECORD_STAT_ROUND, "STAT_ROUND", NULL, false},
	{PERF_RECORD_EVENT_UPDATE, "EVENT_UPDATE", NULL, false},
	{PERF_RECORD_TIME_CONV, "TIME_CONV", NULL, false},
	{PERF_RECORD_HEADER_FEATURE, "FEATURE", NULL, false},
	{PERF_RECORD_COMPRESSED, "COMPRESSED", NULL, false},
	{PERF_RECORD_FINISHED_INIT, "FINISHED_INIT", NULL, false},
	{PERF_RECORD_COMPRESSED2, "COMPRESSED2", NULL, false},
	{PERF_RECORD_BPF_METADATA, "BPF_METADATA", NULL, false},
};

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

static size_t kind_size(u8 kind)
{
	return kind == F_U16 ? 2 : kind == F_U32 || kind == F_HEX32 ? 4 : kind == F_INODE ? 24 : 8;
}

/* MMAP2's 24 bytes: a build-id with its length, or device and inode. */
static bool decode_inode(struct bytes *b, u16 misc, struct record_mmap *m)
{
	const void *p;

	if (!(misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		return bytes_u32(b, &m->maj) && bytes_u32(b, &m->min) && bytes_u64(b, &m->ino) &&
			bytes_u64(b, &m->ino_generation);
	if (!bytes_take(b, 24, &p))
		return false;
	m->build_id_size = MIN(*(const u8 *)p, BUILD_ID_MAX);
	memcpy(m->build_id, (const u8 *)p + 4, m->build_id_size);
	return true;
}

static bool decode_field(struct bytes *b, const struct field *f, u16 misc, void *body)
{
	u8 *to = (u8 *)body + f->member;
	struct record_bytes run;

	switch (f->kind) {
	case F_U16:
		return bytes_u16(b, (u16 *)(void *)to);
	case F_U32:
	case F_HEX32:
		return bytes_u32(b, (u32 *)(void *)to);
	case F_U64:
	case F_HEX64:
		return bytes_u64(b, (u64 *)(void *)to);
	case F_INODE:
		return decode_inode(b, misc, body);
	case F_CSTR:
	case F_BYTES:
		run.at = b->at;
		run.n = f->kind == F_CSTR ? strnlen((const char *)b->at, bytes_left(b))
					  : bytes_left(b);
		memcpy(to, &run, sizeof(run));
		return bytes_skip(b, bytes_left(b));
	}
	return false;
}

int record_decode(const struct record *rec, u32 trailer, union record_body *ret_body,
	struct err *err)
{
	const struct type *t = type_find(rec->type);
	union record_body body = {0};
	struct bytes b;

	if (!t || !t->fields)
		return 0;
	if (rec->size < RECORD_HEADER_SIZE + trailer)
		return err_set(err, ERR_FORMAT,
			"%s record at offset 0x%llx: %u bytes cannot hold its trailer of %u",
			t->name, (unsigned long long)rec->offset, rec->size, trailer);
	b = bytes_of(rec->at + RECORD_HEADER_SIZE, rec->size - RECORD_HEADER_SIZE - trailer);
	for (const struct field *f = t->fields; f->name; f++)
		if (!decode_field(&b, f, rec->misc, &body))
			return err_set(err, ERR_FORMAT,
				"%s record at offset 0x%llx: its %u bytes end before '%s'", t->name,
				(unsigned long long)rec->offset, rec->size, f->name);
	*ret_body = body;
	return 1;
}

static void encode_inode(u16 misc, const struct record_mmap *m, struct str *out)
{
	u8 id[24] = {0};

	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		id[0] = m->build_id_size;
		memcpy(id + 4, m->build_id, BUILD_ID_MAX);
	} else {
		memcpy(id, &m->maj, 4);
		memcpy(id + 4, &m->min, 4);
		memcpy(id + 8, &m->ino, 8);
		memcpy(id + 16, &m->ino_generation, 8);
	}
	str_addn(out, id, sizeof(id));
}

bool record_encode(u32 type, u16 misc, const union record_body *body, u32 trailer, struct str *out)
{
	const struct type *t = type_find(type);
	struct record_header header = {.type = type, .misc = misc};
	size_t start = out->n, size;

	if (!t || !t->fields)
		return false;
	str_addn(out, &header, sizeof(header));
	for (const struct field *f = t->fields; f->name; f++) {
		const u8 *from = (const u8 *)body + f->member;
		struct record_bytes run;

		if (f->kind == F_INODE) {
			encode_inode(misc, &body->mmap, out);
		} else if (f->kind == F_CSTR || f->kind == F_BYTES) {
			memcpy(&run, from, sizeof(run));
			str_addn(out, run.at, run.n);
			if (f->kind == F_CSTR)
				str_addc(out, '\0');
		} else {
			str_addn(out, from, kind_size(f->kind));
		}
	}
	str_fill(out, '\0', align_up(out->n - start, 8) - (out->n - start) + trailer);
	size = out->n - start;
	if (size > UINT16_MAX) {
		str_cut(out, start);
		return false;
	}
	header.size = size;
	memcpy(out->at + start, &header, sizeof(header));
	return true;
}

static void add_field(const struct field *f, u16 misc, const union record_body *body,
	struct str *text)
{
	const u8 *from = (const u8 *)body + f->member;
	struct record_bytes run;

	if (f->kind == F_INODE) {
		const struct record_mmap *m = &body->mmap;

		if (!(misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
			str_addf(text, "dev=%02x:%02x ino=%llu gen=%llu", m->maj, m->min,
				(unsigned long long)m->ino, (unsigned long long)m->ino_generation);
			return;
		}
		str_add(text, "build_id=");
		for (u8 i = 0; i < m->build_id_size; i++)
			str_addf(text, "%02x", m->build_id[i]);
		return;
	}
	str_addf(text, "%s=", f->name);
	if (f->kind == F_CSTR) {
		memcpy(&run, from, sizeof(run));
		str_add_safe(text, (const char *)run.at, run.n);
	} else if (f->kind == F_BYTES) {
		memcpy(&run, from, sizeof(run));
		for (u32 i = 0; i < run.n; i++)
			str_addf(text, "%02x", run.at[i]);
	} else if (f->kind == F_U16) {
		str_addf(text, "%u", load_u16(from));
	} else if (f->kind == F_U32 || f->kind == F_HEX32) {
		str_addf(text, f->kind == F_U32 ? "%u" : "0x%x", load_u32(from));
	} else {
		str_addf(text, f->kind == F_U64 ? "%llu" : "0x%llx",
			(unsigned long long)load_u64(from));
	}
}

void record_add_text(u32 type, u16 misc, const union record_body *body, struct str *text)
{
	const struct type *t = type_find(type);

	if (!t || !t->fields)
		return;
	for (const struct field *f = t->fields; f->name; f++) {
		if (f != t->fields)
			str_addc(text, ' ');
		add_field(f, misc, body, text);
	}
}
