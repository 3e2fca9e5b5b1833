#include "cmd/record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/selfname.h"
#include "base/workers.h"
#include "cmd/version.h"
#include "collect/record/bpf.h"
#include "collect/record/synth.h"
#include "event/abi.h"
#include "file/identity.h"
#include "file/tracing.h"
#include "profile/gather/hits.h"
#include "symbol/find/buildid.h"
#include "unwind/ending.h"

/* ---- what the file says about itself ---- */

static const struct event_list *events_of_file(const struct recording *rec)
{
	return rec->unwound.n ? &rec->unwound : &rec->events;
}

/* Fills in what the file's sections say: this machine, this command line, these events. */
static void describe(struct recording *rec, struct file_info *info)
{
	struct err err;

	identity_fill(info, events_of_file(rec), version_text(), rec->argc, rec->argv);
	str_add(&info->notes, str_text(&rec->notes));
	str_add(&info->notes, str_text(&rec->ring.note));
	if (rec->options->samples.has_clock)
		identity_add_clock(info, rec->options->samples.clock);
	info->has_compression = rec->level > 0;
	if (rec->level)
		info->compression = writer_compression(&rec->packer, rec->level);
	if (tracing_is_needed(&rec->events) &&
		tracing_write(NULL, &rec->events, &info->tracing_data, &err)) {
		str_clear(&info->tracing_data);
		log_warn(&rec->log,
			"the formats of tracepoints could not be written to the file: %s", err.msg);
	}
}

/* ---- creating it ---- */

static int pack_output(struct recording *rec, struct err *err)
{
	struct file_info info = {.has_compression = true};
	int r;

	info.compression = writer_compression(&rec->packer, rec->level);
	r = packer_init(&rec->packer, rec->level, err);
	rec->packer.is_padded = program_perf_version() > 6;
	if (!r)
		r = writer_pack(&rec->writer, &rec->packer, &info, err);
	file_info_fini(&info);
	return r;
}

int record_open_output(struct recording *rec, struct err *err)
{
	const struct record_options *o = rec->options;
	struct file_info info;
	int r;

	describe(rec, &info);
	if (rec->is_pipe) {
		r = writer_open_pipe(&rec->writer, rec->pipe_fd, events_of_file(rec), &info, err);
	} else {
		r = writer_open(&rec->writer, o->files.output, events_of_file(rec), err);
		if (!r && rec->writer.is_file)
			r = writer_foretell(&rec->writer, &info, err);
	}
	file_info_fini(&info);
	packer_fini(&rec->packer);
	rec->file = writer_sink(&rec->writer);
	rec->recorder.sink = &rec->file;
	return r || !rec->level ? r : pack_output(rec, err);
}

/* ---- what existed before ---- */

struct synth_to_file {
	struct synth *synth;
	struct recording *rec;
	struct str *carried; /* receives the records instead of the file; NULL: the file does */
};

static int flush_synth(void *ctx, struct err *err)
{
	struct synth_to_file *to = ctx;
	const struct str *out = &to->synth->out;
	int r = 0;

	if (to->carried)
		str_addn(to->carried, out->at, out->n);
	else
		r = sink_append(to->rec->recorder.sink, out->at, out->n, err);
	/* Later files begin with what is known by then. */
	if (to->rec->recorder.filter && !to->rec->has_begun)
		liveunwind_begin(&to->rec->liveunwind, out->at, out->n);
	str_clear(&to->synth->out);
	return r;
}

static bool measures_kernel(const struct event_list *events)
{
	vec_each(e, events)
		if (!(e->attr.flags & ATTR_EXCLUDE_KERNEL))
			return true;
	return false;
}

/* Adds the tasks of the target. Once it runs nobody knows which tasks are its own, so all are added. */
static int add_tasks(struct recording *rec, struct synth_to_file *to, struct err *err)
{
	struct synth *synth = to->synth;
	pid_t last = 0;

	if (rec->target.is_system_wide ||
		(rec->has_begun && !rec->options->records.is_synthesized_late))
		return synth_all(synth, flush_synth, to, err);
	vec_each(t, &rec->target.threads) {
		if (t->pid != last)
			synth_process(synth, t->pid);
		last = t->pid;
	}
	return flush_synth(to, err);
}

int record_write_state(struct recording *rec, struct str *carried, struct err *err)
{
	struct sample_format format;
	struct synth synth;
	struct synth_to_file to = {&synth, rec, carried};
	bool has_cgroups = false;
	int r;

	sample_format_init(&format, &rec->events.at[0].attr);
	synth_init(&synth, format.trailer, &rec->log);
	synth.what = rec->options->records.synth;
	synth.build_id = rec->options->files.has_build_id_maps ? buildid_of_map : NULL;
	vec_each(e, &rec->events) {
		synth.has_data_maps |= (e->attr.flags & ATTR_MMAP_DATA) != 0;
		synth.has_namespaces |= (e->attr.flags & ATTR_NAMESPACES) != 0;
		has_cgroups |= (e->attr.flags & ATTR_CGROUP) != 0;
	}
	/*
	 * What is mapped before the exec is ours, and is never sampled. Besides, perf 6.1 takes the lowest address that
	 * a library ever had in a process for its load address, and then cannot unwind the program.
	 */
	synth.has_no_maps = rec->measures_workload && !rec->has_begun;
	if (measures_kernel(&rec->events)) {
		synth_kernel(&synth);
		synth_modules(&synth);
		bpf_synth(synth.trailer, &synth.out);
	}
	if (has_cgroups)
		synth_cgroups(&synth);
	r = add_tasks(rec, &to, err);
	synth_fini(&synth);
	return r;
}

int record_write_beginning(struct recording *rec, struct err *err)
{
	return rec->options->records.is_synthesized_late ? 0 : record_write_state(rec, NULL, err);
}

/* ---- the end ---- */

bool record_wants_build_ids(const struct record_options *o)
{
	bool is_default =
		o->files.switch_mode == RECORD_SWITCH_NEVER && !o->files.has_build_id_maps;

	return o->files.has_all_build_ids ||
		(o->files.no_build_ids < 0 ? is_default : !o->files.no_build_ids);
}

/* Dummies only carry records, of switches for instance. */
static bool is_sampled(const struct recording *rec)
{
	if (rec->options->has_no_samples)
		return false;
	vec_each(e, &rec->events)
		if (e->attr.type != PERF_TYPE_SOFTWARE || e->attr.config != PERF_COUNT_SW_DUMMY)
			return true;
	return false;
}

static void say_result(const struct recording *rec, const char *name,
	const struct session_tally *tally)
{
	u64 bytes = writer_data_bytes(&rec->writer);

	fprintf(stderr, "[ %s record: Woken up %llu times to write data ]\n", program_name(),
		(unsigned long long)rec->recorder.n_wakeups);
	fprintf(stderr, "[ %s record: Captured and wrote %.3f MB %s", program_name(),
		(double)bytes / 1024 / 1024, name);
	if (rec->options->files.level > 0 && rec->packer.n_out)
		fprintf(stderr, ", compressed (original %.3f MB, ratio is %.3f)",
			(double)rec->packer.n_in / 1024 / 1024,
			(double)rec->packer.n_in / (double)rec->packer.n_out);
	if (rec->is_pipe)
		fprintf(stderr, " ]\n");
	else
		fprintf(stderr, " (%llu samples) ]\n", (unsigned long long)tally->n_samples);
	if (!tally->n_samples && !tally->n_lost_samples && rec->writer.is_file && is_sampled(rec))
		fprintf(stderr, "[ %s record: Nothing was sampled: %s ]\n", program_name(),
			rec->loses_counters
				? "the kernel took the counters away when the command started"
				: rec->measures_workload
				? "the command ended too soon, or slept; a higher frequency (-F) sees more"
				: "the target did not run while it was recorded");
	if (tally->n_lost_samples)
		fprintf(stderr,
			"[ %s record: %llu samples (%.2f%%) were lost because rings were full: larger rings (-m) or a lower frequency (-F) help ]\n",
			program_name(), (unsigned long long)tally->n_lost_samples,
			100.0 * (double)tally->n_lost_samples /
				(double)(tally->n_samples + tally->n_lost_samples));
	else if (tally->n_lost_records)
		fprintf(stderr,
			"[ %s record: %llu records were lost because rings were full: larger rings (-m) help ]\n",
			program_name(), (unsigned long long)tally->n_lost_records);
}

/* Under -v: says how the walked stacks ended. */
static void say_endings(const struct liveunwind *u, struct log *log)
{
	log_debug(log, "%llu stacks were walked, %llu frames", (unsigned long long)u->n_samples,
		(unsigned long long)u->follow.visits.walk.stack.n_frames);
	for (unsigned i = 0; i < STACK_ENDINGS; i++)
		if (u->n_ended[i])
			log_debug(log, "%llu stacks: %s", (unsigned long long)u->n_ended[i],
				ending_text(i));
	if (u->n_unreadable)
		log_warn(log, "%llu samples could not be read and count as lost",
			(unsigned long long)u->n_unreadable);
}

bool record_has_rotation(const struct record_options *o)
{
	return o->files.has_time_in_name || o->files.switch_mode != RECORD_SWITCH_NEVER;
}

/*
 * Reads the recording back: counts samples, finds their times and files and, at the very end, what is needed to read it
 * elsewhere. The file is complete before that is added.
 */
static int look_back(struct recording *rec, const char *path, struct file_info *info, bool embeds,
	struct session_tally *ret_tally, struct err *err)
{
	const struct record_options *o = rec->options;
	struct lookback_wishes wishes = {.has_hits = record_wants_build_ids(o),
		.has_all = o->files.has_all_build_ids,
		.has_places = embeds && !o->files.has_no_embedding,
		.n_workers = workers_available(),
		.roots = &rec->roots};
	struct lookback back;
	struct err why;
	int r;

	if (lookback_open(&back, path, &wishes, NULL, &why)) {
		log_warn(&rec->log, "reading the recording back: %s", why.msg);
		return writer_finish(&rec->writer, info, err);
	}
	*ret_tally = back.trace.session.tally;
	lookback_describe(&back, info);
	if (!wishes.has_hits)
		info->build_ids.n = 0;
	r = writer_finish(&rec->writer, info, err);
	if (!r && !o->files.no_cache)
		record_fill_cache(rec, info);
	if (!r && wishes.has_places)
		record_embed(rec, &back, info);
	lookback_close(&back);
	return r;
}

void record_write_late_state(struct recording *rec)
{
	struct err err;

	if (rec->options->records.is_synthesized_late && !rec->writer.is_full &&
		(record_write_state(rec, NULL, &err) || writer_sync(&rec->writer, &err)))
		log_warn(&rec->log, "%s", err.msg);
}

int record_complete(struct recording *rec, const char *path, enum record_depth depth,
	struct session_tally *ret_tally, struct err *err)
{
	struct file_info info;
	int r;

	describe(rec, &info);
	r = rec->writer.is_file && depth != RECORD_NOT_READ
		? look_back(rec, path, &info, depth == RECORD_EMBEDDED, ret_tally, err)
		: writer_finish(&rec->writer, &info, err);
	file_info_fini(&info);
	return r;
}

const char *record_give_name(struct recording *rec, bool is_last)
{
	const char *name = rec->options->files.output;
	struct err err;

	bool has_time =
		record_has_rotation(rec->options) || (rec->options->timing.ring_ns && !is_last);

	if (!has_time || !rec->writer.is_file)
		return name;
	if (rotation_move(&rec->rotation, &name, &err))
		log_warn(&rec->log, "%s", err.msg);
	return name;
}

int record_finish(struct recording *rec, struct err *err)
{
	struct session_tally tally = {0};
	const char *name;
	int r;

	/* If the file could not be created, that was reported already. */
	if (rec->writer.fd < 0)
		return 0;
	record_write_late_state(rec);
	r = record_complete(rec, rec->options->files.output, RECORD_EMBEDDED, &tally, err);
	name = record_give_name(rec, true);
	if (!rec->options->is_quiet)
		say_result(rec, name, &tally);
	if (!rec->options->is_quiet && !rec->options->files.has_no_brief && !r &&
		rec->writer.is_file)
		record_say_brief(rec, name, tally.n_samples);
	if (rec->recorder.filter)
		say_endings(&rec->liveunwind, &rec->log);
	if (rec->recorder.n_broken_rings)
		log_warn(&rec->log,
			"%llu times a ring was skipped because its positions made no sense",
			(unsigned long long)rec->recorder.n_broken_rings);
	return r;
}
