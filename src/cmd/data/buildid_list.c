#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/out.h"
#include "base/table.h"
#include "base/workers.h"
#include "cmd/cmd.h"
#include "collect/record/synth.h"
#include "machine/dso.h"
#include "profile/gather/hits.h"
#include "profile/check/ledger.h"
#include "symbol/elf/elf.h"
#include "symbol/find/buildid.h"

enum { ID_COLUMN = 40 }; /* perf pads shorter ids, and leaves the column blank without one */

struct buildid_options {
	const char *input;
	bool only_hits, of_kernel, of_kernel_maps, is_forced;
	unsigned verbose;
};

#define AT(member) offsetof(struct buildid_options, member)

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE",
		"read FILE, a recording or an ELF file; default perf.data"},
	{'H', "with-hits", OPT_BOOL, AT(only_hits), NULL,
		"only files that samples or their callers lie in, also those without a build-id"},
	{'k', "kernel", OPT_BOOL, AT(of_kernel), NULL, "the build-id of the running kernel"},
	{'m', "kernel-maps", OPT_BOOL, AT(of_kernel_maps), NULL,
		"build-id, first address, end and file of the running kernel and of each of its modules"},
	{'f', "force", OPT_BOOL, AT(is_forced), NULL,
		"read files of any owner (always; perf needs -f)"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say where the build-ids were found"},
	{.kind = OPT_END},
};

struct listing {
	struct trace trace;
	struct table by_path; /* of the table's entries */
	struct ledger ledger;
	struct log log;
	void (*say)(void *ctx, enum log_level level, const char *sentence);
	bool was_warned; /* a warning about the file was printed */
};

static void note_warning(void *ctx, enum log_level level, const char *sentence)
{
	struct listing *l = ctx;

	l->was_warned |= level == LOG_WARN;
	l->say(NULL, level, sentence);
}

static void add_id(const u8 *id, u8 size, struct str *text)
{
	for (u8 i = 0; i < size; i++)
		str_addf(text, "%02x", id[i]);
}

static void add_line(const u8 *id, u8 size, const char *path, struct out *out)
{
	add_id(id, size, &out->text);
	str_fill(&out->text, ' ', ID_COLUMN - 2 * size + 1);
	str_add_safe(&out->text, path, strlen(path));
	str_addc(&out->text, '\n');
	out_flush_some(out);
}

/* ---- the files of a recording ---- */

/* Whether an earlier entry of the table is the same as entry i. */
static bool is_repeated(const struct file_info *info, size_t i, struct table *seen)
{
	const struct file_build_id *b = &info->build_ids.at[i];
	u64 hash = hash_mix(hash_bytes(b->id, b->id_size), hash_bytes(b->path, strlen(b->path)));
	struct table_probe probe = table_probe(seen, hash);
	u32 k;

	while ((k = table_next(seen, &probe)) != TABLE_NONE) {
		const struct file_build_id *a = &info->build_ids.at[k];

		if (a->pid == b->pid && a->id_size == b->id_size &&
			!memcmp(a->id, b->id, b->id_size) && !strcmp(a->path, b->path))
			return true;
	}
	table_add(seen, hash, i);
	return false;
}

/* One line for each file and id of the table: what ran on the host, then what ran in guests. */
static void add_table(const struct file_info *info, struct out *out)
{
	struct table seen = {0};

	for (int guests = 0; guests < 2; guests++) {
		for (size_t i = 0; i < info->build_ids.n; i++) {
			const struct file_build_id *b = &info->build_ids.at[i];
			unsigned mode = b->misc & PERF_RECORD_MISC_CPUMODE_MASK;
			bool is_guest = mode == PERF_RECORD_MISC_GUEST_KERNEL ||
				mode == PERF_RECORD_MISC_GUEST_USER;

			if (is_guest == guests && !is_repeated(info, i, &seen))
				add_line(b->id, b->id_size, b->path, out);
		}
	}
	table_fini(&seen);
}

/* The kernel of a table that names its image by the file it came from. */
static const struct file_build_id *kernel_file(const struct file_info *info)
{
	vec_each(b, &info->build_ids) {
		const char *slash = strrchr(b->path, '/');

		if ((b->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL && slash &&
			!strncmp(slash, "/vmlinux", 8))
			return b;
	}
	return NULL;
}

/* The table's entry for a DSO. Its id may be longer than the DSO's: the table keeps zeros at the end. */
static const struct file_build_id *entry_of(const struct listing *l, const struct dso *dso)
{
	const struct file_info *info = &l->trace.session.reader.info;
	struct table_probe probe =
		table_probe(&l->by_path, hash_bytes(dso->path, strlen(dso->path)));
	u32 i;

	while ((i = table_next(&l->by_path, &probe)) != TABLE_NONE) {
		const struct file_build_id *b = &info->build_ids.at[i];

		if (b->id_size >= dso->build_id_size && !strcmp(b->path, dso->path) &&
			!memcmp(b->id, dso->build_id, dso->build_id_size))
			return b;
	}
	return NULL;
}

/* Only the first of neighbours with the same path is indexed: many would be slow to search. */
static void index_table(struct listing *l)
{
	const struct file_info *info = &l->trace.session.reader.info;
	const char *before = "";

	vec_each(b, &info->build_ids) {
		if (strcmp(b->path, before))
			table_add(&l->by_path, hash_bytes(b->path, strlen(b->path)),
				(u32)(b - info->build_ids.at));
		before = b->path;
	}
}

static void add_dso(const struct listing *l, const struct dso *dso, struct out *out)
{
	const struct file_build_id *b = dso->build_id_size ? entry_of(l, dso) : NULL;

	if (dso->kind == DSO_KERNEL && !dso->is_guest && !dso->build_id_size)
		b = kernel_file(&l->trace.session.reader.info);
	if (b)
		add_line(b->id, b->id_size, b->path, out);
	else
		add_line(dso->build_id, dso->build_id_size, dso->path, out);
}

static int add_hits(struct listing *l, struct out *out, struct err *err)
{
	/* Generated code has no build-ids. */
	const struct trace_options how = {.ignores_embedded = true, .ignores_jit = true};
	struct hits hits = {0};
	int r;

	index_table(l);
	r = trace_scan(&l->trace, &how, err);
	if (!r)
		r = hits_find(&l->trace, &(struct hits_options){.n_workers = workers_available()},
			&hits, err);
	vec_each(d, &l->trace.machine.dsos.at) {
		const struct dso *dso = *d;

		if (!r && hits.dsos[dso->id] && dso->kind != DSO_UNKNOWN)
			add_dso(l, dso, out);
	}
	hits_fini(&hits);
	ledger_add_tally(&l->ledger, &l->trace.session.tally);
	ledger_warn(&l->ledger, &l->log);
	return r;
}

/*
 * The recorder leaves a table of the files that samples lie in. Where there is none (pipe mode, -B, --buildid-mmap, a
 * recorder that was killed), the files are found from the samples, as perf does.
 */
static int add_recording(struct listing *l, const struct buildid_options *o, struct out *out,
	struct err *err)
{
	const struct layout_header *h = &l->trace.session.reader.header;
	bool has_table =
		layout_has_feature(h, FEATURE_BUILD_ID) && l->trace.session.reader.info.build_ids.n;

	/* What an instruction trace touches is not known without decoding it. */
	if (has_table && (!o->only_hits || layout_has_feature(h, FEATURE_AUXTRACE))) {
		log_debug(&l->log, "'%s': %zu build-ids in its table", o->input,
			l->trace.session.reader.info.build_ids.n);
		add_table(&l->trace.session.reader.info, out);
		return 0;
	}
	log_debug(&l->log, "'%s': build-ids of its table (%zu) and its maps, where samples lie",
		o->input, l->trace.session.reader.info.build_ids.n);
	return add_hits(l, out, err);
}

static int list_recording(const struct buildid_options *o)
{
	struct listing l = {0};
	struct out out = {.fd = STDOUT_FILENO};
	int status = EXIT_OK;
	struct err err;

	cmd_log_init(&l.log, o->verbose ? LOG_DEBUG : LOG_NOTE);
	l.say = l.log.write;
	l.log.write = note_warning;
	l.log.ctx = &l;
	if (trace_open(&l.trace, o->input, &l.log, &err)) {
		cmd_explain_missing(o->input, &err);
		log_fini(&l.log);
		return cmd_fail(&cmd_buildid_list, &err, EXIT_USAGE);
	}
	if (add_recording(&l, o, &out, &err))
		status = cmd_fail(&cmd_buildid_list, &err, EXIT_FAILED);
	if (out_close(&out, &err))
		status = cmd_fail(&cmd_buildid_list, &err, EXIT_FAILED);
	if (status == EXIT_OK && (l.was_warned || ledger_has_unread(&l.ledger)))
		status = EXIT_FAILED;
	ledger_fini(&l.ledger);
	table_fini(&l.by_path);
	trace_close(&l.trace);
	log_fini(&l.log);
	return status;
}

/* ---- the kernel, a program ---- */

struct kernel_map {
	u64 start, end;
	const struct dso *dso;
};

struct kernel_maps {
	struct dso_list dsos;
	VEC(struct kernel_map) at;
};

static int print_id(const u8 *id, u8 size)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct err err;

	add_id(id, size, &out.text);
	str_addc(&out.text, '\n');
	return out_close(&out, &err) ? cmd_fail(&cmd_buildid_list, &err, EXIT_FAILED) : EXIT_OK;
}

static int list_kernel(void)
{
	u8 id[BUILD_ID_MAX];
	u8 size = buildid_of_kernel(id, NULL);
	struct err err;

	if (size)
		return print_id(id, size);
	err_set(&err, ERR_NOENT, "'/sys/kernel/notes' has no build-id or cannot be read");
	return cmd_fail(&cmd_buildid_list, &err, EXIT_FAILED);
}

/* By their addresses; what is at one place, because these are hidden, by name. */
static int compare_maps(const void *a, const void *b)
{
	const struct kernel_map *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return strcmp(x->dso->name, y->dso->name);
}

static void find_kernel_maps(struct kernel_maps *m, struct log *log)
{
	struct synth synth;
	union record_body body;
	struct record rec;
	struct err err;

	synth_init(&synth, 0, log);
	synth.has_hidden = true;
	synth_kernel(&synth);
	synth_modules(&synth);
	for (size_t at = 0; record_in(synth.out.at, synth.out.n, at, &rec); at += rec.size) {
		struct kernel_map map;

		if (record_decode(&rec, 0, &body, &err) < 1)
			continue;
		map.start = body.mmap.addr;
		map.end = body.mmap.addr + body.mmap.len;
		map.dso = dso_get(&m->dsos, (const char *)body.mmap.path.at, body.mmap.path.n, 0,
			true);
		vec_add(&m->at, map);
	}
	synth_fini(&synth);
	qsort(m->at.at, m->at.n, sizeof(*m->at.at), compare_maps);
}

static int list_kernel_maps(void)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct kernel_maps m = {0};
	struct intern strings = {0};
	struct log log;
	struct err err;
	int r;

	cmd_log_init(&log, LOG_NOTE);
	dso_list_init(&m.dsos, &strings);
	find_kernel_maps(&m, &log);
	vec_each(map, &m.at) {
		u8 id[BUILD_ID_MAX];
		u8 size = map->dso->kind == DSO_MODULE
			? buildid_of_module("/sys/module", map->dso->name, id, NULL)
			: buildid_of_kernel(id, NULL);

		add_id(id, size, &out.text);
		str_addf(&out.text, " %16" PRIx64 " %16" PRIx64 " ", map->start, map->end);
		str_add_safe(&out.text, map->dso->path, strlen(map->dso->path));
		str_addc(&out.text, '\n');
	}
	r = out_close(&out, &err);
	vec_fini(&m.at);
	dso_list_fini(&m.dsos);
	intern_fini(&strings);
	log_fini(&log);
	return r ? cmd_fail(&cmd_buildid_list, &err, EXIT_FAILED) : EXIT_OK;
}

static int list_elf(const struct elf *elf, const char *path)
{
	u8 id[BUILD_ID_MAX];
	u8 size = elf_build_id(elf, id);
	struct err err;

	if (size)
		return print_id(id, size);
	err_set(&err, ERR_FORMAT,
		"'%s' is an ELF file without a build-id: linking it with -Wl,--build-id adds one",
		path);
	return cmd_fail(&cmd_buildid_list, &err, EXIT_USAGE);
}

static int run_buildid_list(int argc, char **argv)
{
	struct buildid_options o = {0};
	int status = cmd_parse_reader(&cmd_buildid_list, &o, &o.input, argc, argv);
	struct elf elf;
	struct err err;

	if (status >= 0)
		return status;
	if (o.of_kernel_maps)
		return list_kernel_maps();
	if (o.of_kernel)
		return list_kernel();
	o.input = cmd_input(o.input);
	if (elf_open(&elf, o.input, &err))
		return list_recording(&o);
	status = list_elf(&elf, o.input);
	elf_close(&elf);
	return status;
}

const struct cmd cmd_buildid_list = {
	.name = "buildid-list",
	.summary = "list the build-ids of the files a recording ran",
	.usage = {"[OPTIONS] [FILE]", NULL},
	.options = options,
	.is_paged = true,
	.run = run_buildid_list,
};
