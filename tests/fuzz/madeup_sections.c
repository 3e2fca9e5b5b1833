#include "file/feature.h"
#include "file/layout.h"
#include "file/section.h"
#include "fuzz.h"
#include "fuzz/madeup.h"
#include "symbol/embed/embedder.h"

/* ---- what the writers know ---- */

static void fill_names(struct madeup *m, host_names *ret_names)
{
	for (u32 n = madeup_below(m, 5); n; n--)
		vec_add(ret_names, madeup_kept_name(m));
}

static void fill_host(struct madeup *m, struct host *host)
{
	host->hostname = madeup_kept_name(m);
	host->release = madeup_kept_name(m);
	host->arch = madeup_once_in(m, 2) ? "x86_64" : madeup_kept_name(m);
	host->cpu_description = madeup_kept_name(m);
	host->cpuid = madeup_kept_name(m);
	host->cpus_available = (u32)madeup_number(m);
	host->cpus_online = (u32)madeup_number(m);
	host->memory_kb = madeup_number(m);
	fill_names(m, &host->core_siblings);
	fill_names(m, &host->thread_siblings);
	fill_names(m, &host->die_siblings);
	for (u32 n = madeup_below(m, 5); n; n--) {
		u32 v = (u32)madeup_number(m), w = (u32)madeup_number(m);

		vec_add(&host->cpus, ((struct host_cpu){v, w, v}));
		vec_add(&host->nodes, ((struct host_node){v, v, w, madeup_kept_name(m)}));
		vec_add(&host->pmus, ((struct host_pmu){w, madeup_kept_name(m)}));
		vec_add(&host->caches,
			((struct host_cache){v, w, v, w, madeup_kept_name(m), madeup_kept_name(m),
				madeup_kept_name(m)}));
	}
	host->has_dies = madeup_once_in(m, 2);
	host->memory_block_bytes = madeup_number(m);
}

static void fill_events(struct madeup *m, struct file_info *info)
{
	vec_each(e, &m->events) {
		struct event *copy = event_add(&info->events, &e->attr, madeup_name(m));

		copy->ids = e->ids;
		copy->n_ids = e->n_ids;
	}
	for (u32 n = madeup_below(m, 3); n; n--)
		vec_add(&info->groups,
			((struct file_group){madeup_kept_name(m), madeup_below(m, 6),
				(u32)madeup_number(m)}));
	for (u32 n = madeup_below(m, 5); n; n--) {
		struct file_build_id b = {(u16)madeup_below(m, 8), (s32)madeup_number(m), {0},
			(u8)madeup_below(m, 21), madeup_kept_name(m)};

		memset(b.id, (int)madeup_below(m, 256), sizeof(b.id));
		vec_add(&info->build_ids, b);
	}
}

/* A format that says where fields are, not always inside of the record. */
static void add_format(struct madeup *m, struct str *text)
{
	static const char *const types[] = {"unsigned short", "int", "char", "u64",
		"__data_loc char[]", "char", "pid_t", "void *"};

	str_addf(text, "name: %s\nID: %u\nformat:\n", madeup_name(m), madeup_below(m, 12));
	for (u32 n = madeup_below(m, 9); n; n--)
		str_addf(text, "\tfield:%s %s%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n",
			types[madeup_below(m, ARRAY_SIZE(types))],
			madeup_once_in(m, 2) ? "prev_comm" : madeup_name(m),
			madeup_once_in(m, 4) ? "[16]" : "", (u32)madeup_number(m) & 0xff,
			(u32)madeup_number(m) & 0xff, madeup_below(m, 2));
	str_addf(text, "\nprint fmt: \"%s %%d\", REC->prev_comm\n", madeup_name(m));
}

static void add_sized(struct str *out, const struct str *text)
{
	section_put_u64(out, text->n);
	str_addn(out, str_text(text), text->n);
}

static void fill_tracing(struct madeup *m, struct str *out)
{
	static const char magic[] = "\027\010\104tracing0.6";
	const u32 page = 4096;
	struct str text = {0};
	u32 n_systems = madeup_below(m, 3);

	str_addn(out, magic, sizeof(magic));
	str_addn(out, "\0\10", 2);
	str_addn(out, &page, sizeof(page));
	add_format(m, &text);
	str_addn(out, "header_page", 12);
	add_sized(out, &text);
	str_addn(out, "header_event", 13);
	add_sized(out, &text);
	section_put_u32(out, 0);
	section_put_u32(out, n_systems);
	for (; n_systems; n_systems--) {
		u32 n = madeup_below(m, 3);
		const char *name = madeup_name(m);

		str_addn(out, name, strlen(name) + 1);
		section_put_u32(out, n);
		for (; n; n--) {
			str_clear(&text);
			add_format(m, &text);
			add_sized(out, &text);
		}
	}
	section_put_u32(out, 0); /* kallsyms */
	section_put_u32(out, 0); /* printk */
	section_put_u64(out, 0); /* comms */
	str_fini(&text);
}

static bool add_written(struct madeup *m, unsigned id, struct str *out)
{
	struct file_info info;
	bool is_there;

	file_info_init(&info);
	fill_host(m, &info.host);
	fill_events(m, &info);
	fill_names(m, &info.cmdline);
	if (id == FEATURE_TRACING_DATA)
		fill_tracing(m, &info.tracing_data);
	info.version = madeup_kept_name(m);
	info.has_times = info.has_compression = info.has_clockid = info.has_clock_data = true;
	info.first_time = madeup_number(m);
	info.last_time = madeup_number(m);
	info.compression = (struct file_compression){madeup_below(m, 3), madeup_below(m, 20),
		(u32)madeup_number(m), (u32)madeup_number(m)};
	info.clock_resolution_ns = madeup_number(m);
	info.clockid = madeup_below(m, 20);
	info.wall_ns = madeup_number(m);
	info.clock_ns = madeup_number(m);
	is_there = feature_write(id, &info, out);
	file_info_fini(&info);
	return is_there;
}

/* What most sections are made of: numbers, texts, counts of what follows. */
static void add_any(struct madeup *m, struct str *out)
{
	for (u32 n = madeup_below(m, 12); n; n--)
		switch (madeup_below(m, 4)) {
		case 0:
			section_put_u32(out, (u32)madeup_number(m));
			break;
		case 1:
			section_put_u64(out, madeup_number(m));
			break;
		case 2:
			section_put_u32(out, madeup_below(m, 6));
			break;
		default:
			section_put_string(out, madeup_name(m));
		}
}

bool madeup_add_section(struct madeup *m, unsigned id, struct str *out)
{
	if (id > FEATURE_PMU_CAPS && id < LAYOUT_SIMPLEPERF)
		return false;
	if (!madeup_once_in(m, id >= LAYOUT_SIMPLEPERF ? 60 : 2))
		return false;
	if (!madeup_once_in(m, 6) && add_written(m, id, out))
		return true;
	add_any(m, out);
	return true;
}

/* ---- what recordings carry with them ---- */

static u32 any_source(struct madeup *m, struct embedder *e)
{
	struct line_frame frames[3];
	size_t n = 1 + madeup_below(m, ARRAY_SIZE(frames));

	for (size_t i = 0; i < n; i++)
		frames[i] = (struct line_frame){madeup_kept_name(m), madeup_kept_name(m),
			madeup_kept_name(m), (u32)madeup_number(m), (u32)madeup_number(m)};
	return embedder_source(e, frames, n);
}

static void add_dso(struct madeup *m, struct embedder *e)
{
	u8 code[64];
	u64 at = 0x400000;
	struct dso dso = {.kind = (u8)madeup_below(m, 9),
		.path = madeup_kept_name(m),
		.build_id_size = (u8)madeup_below(m, 21),
		.pid = (u32)madeup_number(m),
		.nth = madeup_below(m, 3)};
	struct embedded_dso *d = embedder_add_dso(e, &dso);

	d->outcome = madeup_below(m, 12);
	d->flags = madeup_below(m, 4);
	d->machine = madeup_once_in(m, 2) ? 62 : (u32)madeup_number(m);
	d->entry = madeup_number(m);
	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = (u8)madeup_below(m, 256);
	for (u32 n = madeup_below(m, 3); n; n--)
		embedder_add_segment(e, madeup_number(m), madeup_number(m), madeup_number(m));
	for (u32 n = madeup_below(m, 8); n; n--, at += 0x800) {
		u64 start = madeup_once_in(m, 8) ? madeup_number(m) : at;

		embedder_add_symbol(e,
			&(struct embedded_name){start, start + madeup_number(m),
				madeup_kept_name(m), (enum origin)madeup_below(m, 5)});
		embedder_add_place(e, start + madeup_below(m, 16), madeup_below(m, 9),
			madeup_once_in(m, 4) ? (u32)madeup_number(m) : any_source(m, e),
			(enum line_gap)madeup_below(m, 8));
		embedder_add_code(e, start, code, madeup_below(m, sizeof(code)));
		embedder_add_frame(e, start, start + madeup_number(m), madeup_number(m),
			madeup_below(m, 3));
	}
	for (u32 n = madeup_below(m, 3); n; n--) {
		embedder_add_section(e, n & 1, madeup_number(m), madeup_number(m), madeup_number(m),
			madeup_number(m), madeup_below(m, 4));
		embedder_add_section_piece(e, madeup_number(m), code, sizeof(code));
	}
}

void madeup_add_embedded(struct madeup *m, struct str *out)
{
	struct embedder e;
	struct err err;

	embedder_init(&e);
	for (u32 n = madeup_below(m, 5); n; n--)
		add_dso(m, &e);
	for (u32 n = madeup_below(m, 3); n; n--) {
		embedder_add_dump(&e, madeup_kept_name(m), (u32)madeup_number(m), madeup_number(m));
		embedder_add_piece(&e, madeup_number(m), "JiTD1234", 8);
	}
	FUZZ_CHECK(!embedder_finish(&e, out, &err));
	embedder_fini(&e);
}
