#include "edit/anonymise.h"

#include <errno.h>
#include <sys/random.h>

#include "base/hash.h"
#include "event/abi.h"
#include "file/copier.h"
#include "file/section.h"
#include "edit/alias.h"
#include "session/decoder.h"
#include "session/stream.h"
#include "symbol/embed/embedder.h"

struct anonymising {
	struct session session;
	struct copier copier;
	struct decoder decoder;
	struct alias comms, paths, functions, sources, cgroups;
	u64 salt[2]; /* for build-ids: keeps readers from testing guesses which file one is of */
	struct str room;
	struct intern made; /* names that replace others */
	struct anonymise_tally tally;
};

/* ---- names ---- */

/*
 * Replaces a build-id. Equal ids get equal replacements, and the original cannot be derived from
 * one.
 */
static void hide_build_id(const struct anonymising *a, u8 *id, size_t n)
{
	u8 raw[24] = {0};
	u64 h[3];

	memcpy(raw, id, MIN(n, sizeof(raw)));
	h[0] = hash_words(raw, 3, a->salt[0]);
	h[1] = hash_words(raw, 3, a->salt[1]);
	h[2] = hash_words(raw, 3, a->salt[0] ^ hash_u64(a->salt[1]));
	memcpy(id, h, MIN(n, (size_t)BUILD_ID_MAX));
}

/* ---- records ---- */

static struct record_bytes text_bytes(const char *text)
{
	return (struct record_bytes){(const u8 *)text, (u32)strlen(text)};
}

static bool is_kernel(u16 misc)
{
	u16 mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL;
}

/*
 * Replaces an inode number; equal inodes get equal numbers. Files mapped from one path stay one
 * file, or several, as before.
 */
static void hide_inode(const struct anonymising *a, struct record_mmap *m)
{
	u64 device = (u64)m->maj << 32 | m->min;

	if (!m->ino)
		return;
	m->ino = hash_words(&m->ino, 1, a->salt[0]) | 1;
	if (m->ino_generation)
		m->ino_generation = hash_words(&m->ino_generation, 1, a->salt[1]) | 1;
	m->maj = 0;
	m->min = (u32)hash_words(&device, 1, a->salt[0]);
}

static void rename_mmap(struct anonymising *a, u16 misc, struct record_mmap *m)
{
	if (is_kernel(misc))
		return;
	m->path = text_bytes(alias_path(&a->paths, (const char *)m->path.at,
		strnlen((const char *)m->path.at, m->path.n)));
	if (m->build_id_size)
		hide_build_id(a, m->build_id, m->build_id_size);
	else
		hide_inode(a, m);
}

/* Changes the names in a body. False: it has none. */
static bool rename_body(struct anonymising *a, const struct record *rec, union record_body *b)
{
	const char *text;
	size_t n;

	switch (rec->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		rename_mmap(a, rec->misc, &b->mmap);
		b->mmap.end = (struct record_end){0};
		return true;
	case PERF_RECORD_COMM:
		text = (const char *)b->comm.comm.at;
		b->comm.comm =
			text_bytes(alias_comm(&a->comms, text, strnlen(text, b->comm.comm.n)));
		b->comm.end = (struct record_end){0};
		return true;
	case PERF_RECORD_CGROUP:
		text = (const char *)b->cgroup.path.at;
		n = strnlen(text, b->cgroup.path.n);
		b->cgroup.path = text_bytes(alias_name(&a->cgroups, "/cgroup", text, n));
		b->cgroup.end = (struct record_end){0};
		return true;
	case PERF_RECORD_KSYMBOL:
		text = (const char *)b->ksymbol.name.at;
		n = strnlen(text, b->ksymbol.name.n);
		if (n < strlen("bpf_prog_") || memcmp(text, "bpf_prog_", strlen("bpf_prog_")))
			return false;
		b->ksymbol.name = text_bytes(alias_name(&a->functions, "bpf_prog", text, n));
		b->ksymbol.end = (struct record_end){0};
		return true;
	case PERF_RECORD_BPF_EVENT:
		memset(b->bpf.tag, 0, sizeof(b->bpf.tag));
		return true;
	}
	return false;
}

/*
 * Whether records of a type hold nothing but numbers. A type that is not known yet may hold
 * anything.
 */
static bool is_public(u32 type)
{
	switch (type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_FORK:
	case PERF_RECORD_READ:
	case PERF_RECORD_AUX:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
	case PERF_RECORD_CALLCHAIN_DEFERRED:
	case PERF_RECORD_FINISHED_ROUND:
	case PERF_RECORD_ID_INDEX:
	case PERF_RECORD_CPU_MAP:
	case PERF_RECORD_STAT_CONFIG:
	case PERF_RECORD_STAT:
	case PERF_RECORD_STAT_ROUND:
	case PERF_RECORD_EVENT_UPDATE:
	case PERF_RECORD_TIME_CONV:
	case PERF_RECORD_FINISHED_INIT:
		return true;
	default:
		return false;
	}
}

static int add_renamed(struct anonymising *a, const struct record *rec, u32 trailer,
	struct err *err)
{
	struct record copy = *rec;
	struct str out = {0};
	union record_body body;
	struct err ignored;
	int r = 0;

	if (record_decode(rec, trailer, &body, &ignored) > 0 && rename_body(a, rec, &body)) {
		if (record_encode(rec->type, rec->misc, &body, trailer, &out)) {
			memcpy(out.at + out.n - trailer, rec->at + rec->size - trailer, trailer);
			copy.at = (const u8 *)out.at;
			copy.size = (u16)out.n;
			r = copier_add(&a->copier, &copy, err);
		}
	} else if (is_public(rec->type)) {
		r = copier_add(&a->copier, rec, err);
	}
	str_fini(&out);
	return r;
}

static void blank(const void *p, u64 n)
{
	if (n)
		memset((void *)(uintptr_t)p, 0, n);
}

/* Blanks a copy of the record, into which the decoded sample's pointers point. */
static int add_sample(struct anonymising *a, const struct stream_event *e, struct err *err)
{
	enum { COMMON_FIELDS = 8 }; /* bytes of a tracepoint's id, flags and pid */
	u32 event = e->event == TABLE_NONE ? 0 : e->event;
	u32 kept = a->session.reader.events.at[event].attr.type == PERF_TYPE_TRACEPOINT
		? COMMON_FIELDS
		: 0;
	struct record copy = e->rec;
	u8 *room = mem_alloc(e->rec.size);
	const struct sample *s;
	int r = 0;

	memcpy(room, e->rec.at, e->rec.size);
	copy.at = room;
	s = e->event == TABLE_NONE ? NULL : decoder_next(&a->decoder, &copy, e->event);
	if (s) {
		if (s->raw.n > kept) {
			blank(s->raw.at + kept, s->raw.n - kept);
			a->tally.has_blanked_raw = true;
		}
		if (s->user_stack.bytes.n) {
			blank(s->user_stack.bytes.at, s->user_stack.bytes.n);
			a->tally.has_blanked_stacks = true;
		}
		blank(s->user_regs.values.at, s->user_regs.values.n * 8);
		blank(s->intr_regs.values.at, s->intr_regs.values.n * 8);
		blank(s->aux.at, s->aux.n);
		r = copier_add_sample(&a->copier, &copy, e->time, err);
	}
	mem_free(room);
	return r;
}

static int copy_records(struct anonymising *a, struct err *err)
{
	struct reader *r = &a->session.reader;
	struct reader_cursor cursor;
	struct stream_event e = {0};
	int result;

	reader_cursor_init(&cursor, r, r->data_start, r->data_end);
	while ((result = reader_next(&cursor, &e.rec, err)) > 0) {
		stream_place(&a->session, &e);
		if (e.rec.type == PERF_RECORD_SAMPLE)
			result = add_sample(a, &e, err);
		else
			result = add_renamed(a, &e.rec,
				record_has_trailer(e.rec.type)
					? formats_format(&r->formats, e.event)->trailer
					: 0,
				err);
		if (result < 0)
			break;
	}
	reader_cursor_fini(&cursor);
	return result;
}

/* ---- sections ---- */

static void hide_build_ids(struct anonymising *a)
{
	struct file_info *info = &a->session.reader.info;
	struct file_info hidden = *info;

	memset(&hidden.build_ids, 0, sizeof(hidden.build_ids));
	vec_each(id, &info->build_ids) {
		struct file_build_id other = *id;
		const char *path = is_kernel(id->misc)
			? id->path
			: alias_path(&a->paths, id->path, strlen(id->path));

		other.path = arena_strdup(&info->host.arena, path, strlen(path));
		if (!is_kernel(id->misc))
			hide_build_id(a, other.id, other.id_size);
		vec_add(&hidden.build_ids, other);
	}
	feature_write(FEATURE_BUILD_ID, &hidden, copier_replace(&a->copier, FEATURE_BUILD_ID));
	vec_fini(&hidden.build_ids);
}

/* Skips a part of TRACING_DATA: its size, then as many bytes. */
static bool skip_sized(struct bytes *b, bool is_64)
{
	u64 size;
	u32 size_32;

	if (is_64)
		return bytes_u64(b, &size) && bytes_skip(b, size);
	return bytes_u32(b, &size_32) && bytes_skip(b, size_32);
}

/*
 * The length of the data up to the end of the event formats, which the kernel's source has. Names
 * of what ran follow.
 */
static bool find_formats(const struct str *data, size_t *ret_n)
{
	struct bytes b = bytes_of(data->at, data->n);
	const char *text;
	u32 n, n_events;
	size_t length;

	if (!bytes_skip(&b, 10) || !bytes_cstr(&b, &text, &length) || !bytes_skip(&b, 6) ||
		!bytes_cstr(&b, &text, &length) || !skip_sized(&b, true) ||
		!bytes_cstr(&b, &text, &length) || !skip_sized(&b, true) || !bytes_u32(&b, &n))
		return false;
	while (n--)
		if (!skip_sized(&b, true))
			return false;
	if (!bytes_u32(&b, &n))
		return false;
	while (n--) {
		if (!bytes_cstr(&b, &text, &length) || !bytes_u32(&b, &n_events))
			return false;
		while (n_events--)
			if (!skip_sized(&b, true))
				return false;
	}
	*ret_n = (size_t)(b.at - (const u8 *)data->at);
	return true;
}

static void hide_tracing_data(struct anonymising *a)
{
	const struct str *data = &a->session.reader.info.tracing_data;
	struct str *out = copier_replace(&a->copier, FEATURE_TRACING_DATA);
	size_t n;

	if (!data->n || !find_formats(data, &n))
		return;
	str_addn(out, data->at, n);
	str_fill(out, '\0', 4 + 4 + 8);
}

static void replace_string(struct anonymising *a, unsigned id, const char *text)
{
	if (layout_has_feature(&a->session.reader.header, id))
		section_put_string(copier_replace(&a->copier, id), text);
}

/* An alias that lives until the end: the embedder copies names, but only once it has all of a chain. */
static const char *kept_alias(struct anonymising *a, struct alias *of, const char *kind,
	const char *text, const char *ending)
{
	str_clear(&a->room);
	str_add(&a->room, alias_name(of, kind, text, strlen(text)));
	str_add(&a->room, ending);
	return intern_str(&a->made, str_text(&a->room));
}

static u32 hide_chain(struct anonymising *a, struct line_frame *frames, size_t n,
	struct embedder *out)
{
	for (size_t i = 0; i < n; i++) {
		struct line_frame *f = &frames[i];

		f->dir = NULL;
		if (f->function)
			f->function = kept_alias(a, &a->functions, "function", f->function, "");
		if (f->file)
			f->file = kept_alias(a, &a->sources, "source", f->file, ".c");
	}
	return n ? embedder_source(out, frames, n) : EMBEDDED_NOTHING;
}

static void hide_places(struct anonymising *a, const struct embedded *from,
	const struct embedded_dso *d, struct embedder *out)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	struct embedded_place place;
	size_t n;

	for (u32 i = 0; i < d->n_places; i++) {
		u32 source = EMBEDDED_NOT_ASKED;
		enum embedded_answer answer;

		embedded_entry(from, EMBEDDED_PLACES, d->first_place + i, &place, sizeof(place));
		answer = embedded_find_chain(from, d, place.at, frames, &n);
		if (answer != EMBEDDED_UNKNOWN)
			source = hide_chain(a, frames, n, out);
		embedder_add_place(out, place.at, place.symbol, source, place.gap);
	}
}

static void hide_dso(struct anonymising *a, const struct embedded *from,
	const struct embedded_dso *d, struct embedder *out)
{
	const u8 *id = embedded_bytes(from, d->build_id, d->build_id_size);
	const char *path = embedded_string(from, d->path);
	bool stays = d->kind == DSO_KERNEL || d->kind == DSO_MODULE;
	struct dso dso = {.kind = (u8)d->kind, .pid = d->pid, .nth = d->nth};
	struct embedded_segment segment;
	struct embedded_dso *copy;

	dso.path = path && !stays ? alias_path(&a->paths, path, strlen(path)) : path;
	if (id && d->build_id_size <= BUILD_ID_MAX) {
		dso.build_id_size = (u8)d->build_id_size;
		memcpy(dso.build_id, id, d->build_id_size);
		if (!stays)
			hide_build_id(a, dso.build_id, dso.build_id_size);
	}
	copy = embedder_add_dso(out, &dso);
	copy->outcome = d->outcome;
	copy->flags = d->flags;
	copy->machine = d->machine;
	copy->entry = d->entry;
	for (u32 i = 0; i < d->n_segments; i++) {
		embedded_entry(from, EMBEDDED_SEGMENTS, d->first_segment + i, &segment,
			sizeof(segment));
		embedder_add_segment(out, segment.offset, segment.va, segment.size);
	}
	for (u32 i = 0; i < d->n_symbols; i++) {
		struct embedded_name symbol;

		embedded_symbol_at(from, d, i, &symbol);
		/* main stays main. */
		if (symbol.name && *symbol.name && !stays && !origin_is_made(symbol.origin))
			symbol.name = alias_name(&a->functions, "function", symbol.name,
				strlen(symbol.name));
		embedder_add_symbol(out, &symbol);
	}
	hide_places(a, from, d, out);
}

static int hide_embedded(struct anonymising *a, struct err *err)
{
	struct str *section = copier_replace(&a->copier, FEATURE_EMBEDDED);
	struct embedded from;
	struct embedded_dso d;
	struct embedder out;
	int r = embedded_open(&from, &a->session.reader, err);

	if (r <= 0)
		return r;
	embedder_init(&out);
	for (u64 i = 0; embedded_entry(&from, EMBEDDED_DSOS, i, &d, sizeof(d)); i++)
		hide_dso(a, &from, &d, &out);
	r = embedder_finish(&out, section, err);
	embedder_fini(&out);
	embedded_close(&from);
	return r;
}

/*
 * Leaves out all sections but those about the machine and the events: nobody knows what others may
 * hold.
 */
static void leave_out_sections(struct anonymising *a)
{
	static const u8 kept[] = {FEATURE_OSRELEASE, FEATURE_VERSION, FEATURE_ARCH, FEATURE_NRCPUS,
		FEATURE_CPUDESC, FEATURE_CPUID, FEATURE_TOTAL_MEM, FEATURE_EVENT_DESC,
		FEATURE_CPU_TOPOLOGY, FEATURE_NUMA_TOPOLOGY, FEATURE_BRANCH_STACK,
		FEATURE_PMU_MAPPINGS, FEATURE_GROUP_DESC, FEATURE_STAT, FEATURE_CACHE,
		FEATURE_SAMPLE_TIME, FEATURE_MEM_TOPOLOGY, FEATURE_CLOCKID, FEATURE_CPU_PMU_CAPS,
		FEATURE_CLOCK_DATA, FEATURE_HYBRID_TOPOLOGY, FEATURE_PMU_CAPS};

	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++)
		if (!memchr(kept, (int)id, sizeof(kept)))
			copier_replace(&a->copier, id);
}

static int write_sections(struct anonymising *a, struct err *err)
{
	struct file_info none = {0};

	leave_out_sections(a);
	replace_string(a, FEATURE_HOSTNAME, "anonymous");
	vec_add(&none.cmdline, "pace");
	vec_add(&none.cmdline, "record");
	if (a->session.reader.info.cmdline.n)
		feature_write(FEATURE_CMDLINE, &none, copier_replace(&a->copier, FEATURE_CMDLINE));
	vec_fini(&none.cmdline);
	hide_build_ids(a);
	hide_tracing_data(a);
	return hide_embedded(a, err);
}

/* ---- all of it ---- */

static u64 ignore_state(void *ctx, const struct record *rec, const union record_body *body,
	u64 time)
{
	(void)ctx;
	(void)rec;
	(void)body;
	(void)time;
	return 0;
}

static int write_all(struct anonymising *a, struct fresh *to, struct err *err)
{
	struct reader *r = &a->session.reader;

	if (r->is_directory)
		return err_set(err, ERR_UNSUPPORTED,
			"'%s' is a directory: 'pace data cut -o FILE' turns it into one file",
			r->path);
	if (getrandom(a->salt, sizeof(a->salt), 0) != sizeof(a->salt))
		return err_sys(err, errno, "getrandom");
	if (session_scan(&a->session, ignore_state, NULL, err))
		return err->code;
	decoder_init(&a->decoder, &a->session, UINT64_MAX, &a->session.tally);
	if (copier_open(&a->copier, to, &r->events, err))
		return err->code;
	if (copy_records(a, err) || write_sections(a, err)) {
		copier_abandon(&a->copier);
		return err->code;
	}
	return copier_finish(&a->copier, r, err);
}

int anonymise_write(const char *path, struct fresh *to, struct log *log,
	struct anonymise_tally *ret_tally, struct err *err)
{
	struct anonymising a = {0};
	int r;

	if (session_open(&a.session, path, log, err))
		return err->code;
	r = write_all(&a, to, err);
	a.tally.n_comms = a.comms.known.strings.n;
	a.tally.n_paths = a.paths.known.strings.n;
	a.tally.n_functions = a.functions.known.strings.n;
	*ret_tally = a.tally;
	alias_fini(&a.comms);
	alias_fini(&a.paths);
	alias_fini(&a.functions);
	alias_fini(&a.sources);
	alias_fini(&a.cgroups);
	str_fini(&a.room);
	intern_fini(&a.made);
	session_close(&a.session);
	return r;
}
