/*
 * madeup.c - made-up recordings: records of all types, with right sizes but arbitrary contents and names, in
 * random order; random events, samples and sections.
 *
 * usage: madeup FIRST COUNT DIR     writes DIR/NUMBER.data for COUNT numbers from FIRST on
 *
 * The layout of records comes from record/fields.h, of samples from record/sample.h, of sections from
 * file/feature.h, so new rows there are made up, too. The same number makes the same file.
 */
#include "base/num.h"
#include "base/random.h"
#include "file/layout.h"
#include "file/packer.h"
#include "file/section.h"
#include "fuzz.h"
#include "fuzz/madeup.h"
#include "record/fields.h"

/* ---- dice ---- */

u32 madeup_below(struct madeup *m, u32 n)
{
	return random_below(&m->dice, n);
}

bool madeup_once_in(struct madeup *m, u32 n)
{
	return !madeup_below(m, n);
}

/* What programs are likely to stumble over, and what makes records belong together. */
u64 madeup_number(struct madeup *m)
{
	static const u64 special[] = {0, 1, 2, 7, 8, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 32,
		INT64_MAX, 1ULL << 63, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 4095};

	switch (madeup_below(m, 6)) {
	case 0:
		return special[madeup_below(m, ARRAY_SIZE(special))];
	case 1:
		return 0x400000 + madeup_below(m, 0x4000);
	case 2:
		return 0xffffffff81000000ULL + madeup_below(m, 0x4000);
	case 3:
		return random_next(&m->dice) >> madeup_below(m, 64);
	default:
		return madeup_below(m, 12);
	}
}

static const char *const names[] = {"", "a", "main", "swapper", ":-1", ":1", "/bin/true", "//anon",
	"//anon\n", "[vdso]", "[vsyscall]", "[heap]", "[stack]", "[unknown]", "[kernel.kallsyms]",
	"[kernel.kallsyms]_text", "[guest.kernel.kallsyms]", "[guest.kernel.kallsyms.7]",
	"[nf_tables]", "bpf_prog_0123456789abcdef_x", "bpf_trampoline_7", "/nonexistent/program",
	"/proc/self/exe", "/dev/zero", "/dev/tty", "/SYSV00000000", "/memfd:a (deleted)",
	"/tmp/perf-1.map", "/nonexistent/jit-1.dump", "jit-1.dump", "/a/../../../etc/passwd", "..",
	"/", ".", "%s%n%d", "a b\tc", "a\nb", "\x1b]0;x\x07", "\xc2\x9b\x33\x31m",
	"\xe2\x80\xaegpj.exe", "\xff\xfe\xc3\x28", "<b>&amp;\"'", "\\u0000\\x1b", ";,;\"",
	"cpu-clock", "cycles:u", "sched:sched_switch", "{a,b}", "_ZN1a1bEv",
	"_ZN1aI1aI1aI1aI1aEEEEE1bEv", "_RNvC1a1b", "?", "-", "--help", "$(touch PWNED)", "0x10",
	"-1", "sched:", ":", "a.so.1", "linux-vdso.so.1", "x86_64", "aarch64", "6.1.0", "host"};

const char *madeup_name(struct madeup *m)
{
	static char text[5000];
	u32 n = 1 + madeup_below(m, madeup_once_in(m, 10) ? 4500 : 60);

	if (!madeup_once_in(m, 4))
		return names[madeup_below(m, ARRAY_SIZE(names))];
	for (u32 i = 0; i < n; i++)
		text[i] = (char)(1 + madeup_below(m, madeup_once_in(m, 3) ? 255 : 127));
	text[n] = '\0';
	return text;
}

char *madeup_kept_name(struct madeup *m)
{
	const char *name = madeup_name(m);

	return arena_strdup(&m->arena, name, strlen(name));
}

/* ---- records of the table ---- */

static void add_bytes(struct madeup *m, size_t n)
{
	bool is_text = madeup_once_in(m, 2);

	for (; n; n--)
		str_addc(&m->body,
			(char)(is_text ? 32 + madeup_below(m, 96) : random_next(&m->dice)));
}

static void add_number(struct madeup *m, u64 v, size_t size)
{
	str_addn(&m->body, &v, size);
}

static u8 number_size(u8 kind)
{
	switch (kind) {
	case F_U8:
		return 1;
	case F_U16:
		return 2;
	case F_U32:
	case F_S32:
	case F_HEX32:
		return 4;
	case F_U64:
	case F_S64:
	case F_HEX64:
	case F_DOUBLE:
	case F_TAG:
	case F_DEVICE:
		return 8;
	default:
		return 0;
	}
}

static u64 value_of(const struct record_dependence *d, const u8 *base)
{
	u64 v = 0;

	memcpy(&v, base + d->member, d->size);
	return v;
}

/* How often another row repeats what this one counts, or which of several layouts it chooses. */
static bool is_counted(const struct record_field *rows, const struct record_field *f)
{
	for (; rows->kind != F_END; rows++)
		if (rows->count.size && rows->count.member == f->member)
			return true;
	return false;
}

static bool is_choice(const struct record_field *rows, const struct record_field *f)
{
	for (; rows->kind != F_END; rows++)
		if (rows->when.size && rows->when.member == f->member)
			return true;
	return false;
}

static bool is_there(const struct record_field *f, u16 misc, const u8 *base)
{
	if ((f->with_misc && !(misc & f->with_misc)) || misc & f->without_misc)
		return false;
	return !f->when.size ||
		(value_of(&f->when, base) >= f->when.least &&
			value_of(&f->when, base) <= f->when.most);
}

static void add_number_of(struct madeup *m, const struct record_field *rows,
	const struct record_field *f, u8 *base)
{
	static const u8 choices[] = {0, 0, 1, 1, 2, 3, 4, 8};
	u8 size = number_size(f->kind);
	u64 v = madeup_number(m);

	if (is_counted(rows, f))
		v = madeup_below(m, madeup_once_in(m, 8) ? 200 : 6);
	else if (is_choice(rows, f))
		v = choices[madeup_below(m, ARRAY_SIZE(choices))];
	memcpy(base + f->member, &v, size);
	str_addn(&m->body, &v, size);
}

static void add_attr(struct madeup *m)
{
	struct event_attr attr = m->events.at[madeup_below(m, m->events.n)].attr;

	str_addn(&m->body, &attr, MIN(MAX(attr.size, (u32)ATTR_SIZE_VER0), (u32)ATTR_SIZE_VER9));
}

static void add_entries(struct madeup *m, const struct record_field *f, u64 n)
{
	for (; n; n--)
		for (const struct record_field *e = f->of; e->kind != F_END; e++)
			if (e->kind == F_CHARS)
				add_bytes(m, e->size);
			else
				add_number(m, madeup_number(m), number_size(e->kind));
}

static void add_fields(struct madeup *m, const struct record_field *rows, u16 misc, u8 *base);

static void add_field(struct madeup *m, const struct record_field *rows,
	const struct record_field *f, u16 misc, u8 *base)
{
	u64 n = f->count.size ? value_of(&f->count, base) : madeup_below(m, 20);

	switch (f->kind) {
	case F_BUILD_ID:
	case F_BUILD_ID2:
		add_number(m, madeup_once_in(m, 4) ? madeup_below(m, 256) : 20, 4);
		add_bytes(m, 20);
		break;
	case F_CHARS:
	case F_GAP:
		add_bytes(m, f->size);
		break;
	case F_CSTR:
		str_add(&m->body, madeup_name(m));
		if (!madeup_once_in(m, 10))
			str_addc(&m->body, '\0');
		break;
	case F_BYTES:
		add_bytes(m, n);
		break;
	case F_LIST:
		add_entries(m, f, n);
		break;
	case F_ATTR:
		add_attr(m);
		break;
	case F_PART:
		add_fields(m, f->of, misc, base + f->member);
		break;
	default:
		add_number_of(m, rows, f, base);
	}
}

static void add_fields(struct madeup *m, const struct record_field *rows, u16 misc, u8 *base)
{
	for (const struct record_field *f = rows; f->kind != F_END; f++) {
		if (!is_there(f, misc, base))
			continue;
		if (f->is_optional && madeup_once_in(m, 4))
			return;
		add_field(m, rows, f, misc, base);
	}
}

/* ---- samples ---- */

static struct sample_words words(struct madeup *m, u64 n)
{
	static const u64 contexts[] = {(u64)-32, (u64)-128, (u64)-512, (u64)-2048, (u64)-2176,
		(u64)-640};
	u64 *at = arena_alloc(&m->arena, (n + 1) * sizeof(*at));

	for (u64 i = 0; i < n; i++)
		at[i] = madeup_once_in(m, 6) ? contexts[madeup_below(m, ARRAY_SIZE(contexts))]
					     : madeup_number(m);
	return (struct sample_words){(const u8 *)at, n};
}

static struct record_bytes run(struct madeup *m, u32 n)
{
	return (struct record_bytes){words(m, n / 8 + 1).at, n};
}

static struct sample_regs regs(struct madeup *m, u64 mask)
{
	u64 abi = madeup_below(m, 3);

	return (struct sample_regs){abi, words(m, abi ? (u64)__builtin_popcountll(mask) : 0)};
}

static u64 id_of(struct madeup *m)
{
	const struct event *e = &m->events.at[madeup_below(m, m->events.n)];

	return e->n_ids && !madeup_once_in(m, 20) ? e->ids[madeup_below(m, e->n_ids)]
						  : madeup_number(m);
}

static u64 time_of(struct madeup *m)
{
	m->time += madeup_below(m, 1000000);
	return madeup_once_in(m, 30) ? madeup_number(m) : m->time;
}

static struct sample sample_of(struct madeup *m, const struct sample_format *f)
{
	u64 each = 1 + !!(f->read_format & PERF_FORMAT_ID) + !!(f->read_format & PERF_FORMAT_LOST);
	u64 n_values = f->read_format & PERF_FORMAT_GROUP ? madeup_below(m, 5) : 1;
	u32 n_stack = 8 * madeup_below(m, madeup_once_in(m, 4) ? 900 : 8);
	u64 n_branches = madeup_below(m, 6);
	struct sample s = {.id = id_of(m),
		.ip = madeup_number(m),
		.pid = (u32)madeup_number(m),
		.tid = (u32)madeup_number(m),
		.time = time_of(m),
		.addr = madeup_number(m),
		.stream_id = madeup_number(m),
		.cpu = (u32)madeup_number(m),
		.period = madeup_number(m),
		.read = {madeup_number(m), madeup_number(m), words(m, n_values * each), n_values},
		.chain = words(m, madeup_below(m, madeup_once_in(m, 9) ? 300 : 12)),
		.raw = run(m, madeup_below(m, 80)),
		.branches = {n_branches, madeup_number(m), words(m, n_branches * 3).at,
			f->branch_type & PERF_SAMPLE_BRANCH_COUNTERS ? words(m, n_branches).at
								     : NULL},
		.user_regs = regs(m, f->user_regs),
		.user_stack = {run(m, n_stack), madeup_once_in(m, 5) ? madeup_number(m) : n_stack},
		.weight = madeup_number(m),
		.data_src = madeup_number(m),
		.transaction = madeup_number(m),
		.intr_regs = regs(m, f->intr_regs),
		.phys_addr = madeup_number(m),
		.cgroup = madeup_number(m),
		.data_page_size = madeup_number(m),
		.code_page_size = madeup_number(m),
		.aux = run(m, 8 * madeup_below(m, 5))};

	return s;
}

/* ---- the stream ---- */

static void add_record(struct madeup *m, u32 type, u16 misc)
{
	struct record_header header = {type, misc, 0};

	if (m->body.n > UINT16_MAX - 7 - RECORD_HEADER_SIZE)
		return;
	header.size = (u16)(RECORD_HEADER_SIZE + m->body.n);
	str_addn(&m->data, &header, sizeof(header));
	str_addn(&m->data, m->body.at, m->body.n);
}

static const struct record_type *any_type(struct madeup *m)
{
	for (;;) {
		const struct record_type *t = record_type_find(madeup_below(m, 100));

		if (t && t->fields && t->type != PERF_RECORD_COMPRESSED &&
			t->type != PERF_RECORD_COMPRESSED2)
			return t;
	}
}

/* Types whose data stand behind the record, which is only then whole. */
static u64 size_behind(struct madeup *m, u32 type)
{
	u32 n = 8 * madeup_below(m, 10);

	if (type != PERF_RECORD_HEADER_TRACING_DATA && type != PERF_RECORD_AUXTRACE)
		return 0;
	memcpy(m->body.at, &n, sizeof(n));
	if (type == PERF_RECORD_AUXTRACE)
		memset(m->body.at + 4, 0, 4);
	return n;
}

static void add_other(struct madeup *m)
{
	const struct record_type *t = any_type(m);
	u16 misc = (u16)(madeup_below(m, 8) | madeup_below(m, 16) << 12);
	union record_body body = {0};
	u64 behind;

	str_clear(&m->body);
	str_reserve(&m->body, 1);
	add_fields(m, t->fields, misc, (u8 *)&body);
	str_fill(&m->body, '\0', -m->body.n & 7);
	if (record_has_trailer(t->type)) {
		struct sample trailer = sample_of(m, &m->formats[0]);

		sample_encode_trailer(&m->formats[0], &trailer, &m->body);
	}
	behind = size_behind(m, t->type);
	add_record(m, t->type, misc);
	str_clear(&m->body);
	add_bytes(m, behind);
	str_addn(&m->data, m->body.at, m->body.n);
}

static void add_sample(struct madeup *m)
{
	u32 event = madeup_below(m, m->events.n);
	const struct event *e = &m->events.at[event];
	struct sample s = sample_of(m, &m->formats[event]);

	if (e->n_ids && !madeup_once_in(m, 20))
		s.id = e->ids[madeup_below(m, e->n_ids)];
	str_clear(&m->body);
	sample_encode(&m->formats[event], &s, &m->body);
	add_record(m, PERF_RECORD_SAMPLE, (u16)(madeup_below(m, 6) | madeup_below(m, 16) << 12));
}

static void add_unknown(struct madeup *m)
{
	str_clear(&m->body);
	add_bytes(m, 8 * madeup_below(m, 20));
	add_record(m, madeup_once_in(m, 2) ? 32768 + madeup_below(m, 8) : (u32)madeup_number(m), 0);
}

static void add_records(struct madeup *m, u32 n)
{
	for (; n; n--) {
		if (madeup_once_in(m, 40))
			add_unknown(m);
		else if (madeup_once_in(m, 3))
			add_sample(m);
		else
			add_other(m);
	}
}

/* All records so far, as a program that compresses would have written them. */
static void pack(struct madeup *m)
{
	struct packer packer;
	struct iovec records = {m->data.at, m->data.n};
	struct err err;

	FUZZ_CHECK(!packer_init(&packer, PACKER_LEVEL, &err));
	if (m->data.n < PACKER_CHUNK) {
		FUZZ_CHECK(!packer_add(&packer, &records, 1, &err));
		str_clear(&m->data);
		str_addn(&m->data, packer.out.at, packer.out.n);
	}
	packer_fini(&packer);
}

/* ---- events ---- */

/* Most recordings have samples that can be told apart; some have what no kernel would write. */
static struct event_attr attr_of(struct madeup *m)
{
	static const u32 sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144};
	u64 type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	struct event_attr attr = {.type = madeup_below(m, 8),
		.size = sizes[madeup_below(m, ARRAY_SIZE(sizes))],
		.config = madeup_number(m),
		.sample_period = madeup_number(m),
		.sample_type = type | (random_next(&m->dice) & random_next(&m->dice) & 0x1ffffff),
		.read_format = madeup_below(m, 32),
		.flags = random_next(&m->dice) & random_next(&m->dice),
		.branch_sample_type = random_next(&m->dice) & 0xfffff,
		.sample_regs_user = random_next(&m->dice) & random_next(&m->dice),
		.sample_regs_intr = random_next(&m->dice) & random_next(&m->dice),
		.sample_stack_user = madeup_below(m, 65536),
		.clockid = (s32)madeup_below(m, 12)};

	if (!madeup_once_in(m, 10))
		attr.flags |= ATTR_SAMPLE_ID_ALL;
	if (madeup_once_in(m, 10))
		attr.sample_type = random_next(&m->dice) & 0x3ffffff;
	/* What the file does not hold is not there. */
	memset((u8 *)&attr + attr.size, 0, sizeof(attr) - attr.size);
	return attr;
}

static void make_events(struct madeup *m)
{
	u32 n = 1 + madeup_below(m, madeup_once_in(m, 8) ? MADEUP_EVENTS : 4);

	/* Their ids are small numbers: records find them by chance. */
	for (u32 i = 0; i < n; i++) {
		struct event_attr attr = attr_of(m);
		struct event *e = event_add(&m->events, &attr, madeup_name(m));

		sample_format_init(&m->formats[i], &attr);
		e->n_ids = madeup_below(m, 4);
		e->ids = arena_alloc(&m->events.arena, (e->n_ids + 1) * sizeof(u64));
		for (u32 k = 0; k < e->n_ids; k++)
			e->ids[k] = madeup_once_in(m, 20) ? madeup_number(m) : 4 * i + k + 1;
	}
}

/* ---- the file ---- */

static void add_section_table(struct madeup *m, struct layout_header *header, struct str *file)
{
	struct layout_section table[LAYOUT_FEATURE_BITS];
	struct str sections = {0};
	u64 n = 0, behind = file->n;

	for (unsigned id = 1; id < LAYOUT_OWN; id++) {
		size_t start = sections.n;

		if (!madeup_add_section(m, id, &sections))
			continue;
		layout_set_feature(header, id);
		table[n++] = (struct layout_section){start, sections.n - start};
	}
	if (madeup_once_in(m, 2)) {
		size_t start = sections.n;

		madeup_add_embedded(m, &sections);
		table[n++] = (struct layout_section){LAYOUT_OWN_MARK, 1};
		table[n++] = (struct layout_section){start, sections.n - start};
	}
	for (u64 i = 0; i < n; i++)
		table[i].offset +=
			table[i].offset == LAYOUT_OWN_MARK ? 0 : behind + n * sizeof(*table);
	str_addn(file, table, n * sizeof(*table));
	str_addn(file, sections.at, sections.n);
	str_fini(&sections);
}

static void compose_file(struct madeup *m, struct str *file)
{
	struct layout_header header = {.magic = LAYOUT_MAGIC_2,
		.size = sizeof(header),
		.attr_size = sizeof(struct event_attr) + sizeof(struct layout_attr_ids)};

	str_addn(file, &header, sizeof(header));
	vec_each(e, &m->events)
		str_addn(file, e->ids, e->n_ids * sizeof(u64));
	header.attrs = (struct layout_section){file->n, m->events.n * header.attr_size};
	for (u64 i = 0, ids_at = sizeof(header); i < m->events.n; i++) {
		const struct event *e = &m->events.at[i];
		struct layout_attr_ids ids = {{ids_at, e->n_ids * sizeof(u64)}};

		str_addn(file, &e->attr, sizeof(e->attr));
		str_addn(file, &ids, sizeof(ids));
		ids_at += ids.ids.size;
	}
	header.data = (struct layout_section){file->n, m->data.n};
	str_addn(file, m->data.at, m->data.n);
	add_section_table(m, &header, file);
	memcpy(file->at, &header, sizeof(header));
}

/* In a pipe everything is a record. */
static void compose_pipe(struct madeup *m, struct str *file)
{
	struct str records = m->data;
	u64 header[2] = {LAYOUT_MAGIC_2, LAYOUT_PIPE_HEADER};

	m->data = (struct str){0};
	str_addn(&m->data, header, sizeof(header));
	vec_each(e, &m->events) {
		str_clear(&m->body);
		str_addn(&m->body, &e->attr, MAX(e->attr.size, (u32)ATTR_SIZE_VER0));
		str_addn(&m->body, e->ids, e->n_ids * sizeof(u64));
		add_record(m, PERF_RECORD_HEADER_ATTR, 0);
	}
	for (u64 id = 1; id < 40; id++) {
		str_clear(&m->body);
		str_addn(&m->body, &id, sizeof(id));
		if (madeup_add_section(m, (unsigned)id, &m->body)) {
			str_fill(&m->body, '\0', -m->body.n & 7);
			add_record(m, PERF_RECORD_HEADER_FEATURE, 0);
		}
	}
	str_addn(file, m->data.at, m->data.n);
	str_addn(file, records.at, records.n);
	str_fini(&records);
}

static void make(u64 number, const char *dir)
{
	struct madeup m = {.dice = {number * 2654435761u + 1}, .time = 1000};
	struct str file = {0};
	char path[4096];
	FILE *to;

	make_events(&m);
	add_records(&m, madeup_below(&m, madeup_once_in(&m, 10) ? 400 : 60));
	if (madeup_once_in(&m, 5))
		pack(&m);
	if (madeup_once_in(&m, 4))
		add_records(&m, madeup_below(&m, 20));
	if (madeup_once_in(&m, 4))
		compose_pipe(&m, &file);
	else
		compose_file(&m, &file);
	snprintf(path, sizeof(path), "%s/%llu.data", dir, (unsigned long long)number);
	to = fopen(path, "wb");
	if (!to || fwrite(file.at, 1, file.n, to) != file.n || fclose(to)) {
		perror(path);
		exit(1);
	}
	event_list_fini(&m.events);
	arena_fini(&m.arena);
	str_fini(&m.data);
	str_fini(&m.body);
	str_fini(&file);
}

int main(int argc, char **argv)
{
	u64 first, count;
	struct err err;

	if (argc != 4 || num_parse(argv[1], &first, &err) || num_parse(argv[2], &count, &err)) {
		fprintf(stderr, "usage: madeup FIRST COUNT DIR\n");
		return 2;
	}
	for (u64 i = first; i < first + count; i++)
		make(i, argv[3]);
	return 0;
}
