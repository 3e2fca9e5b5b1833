#include "profile/check/recorded.h"
#include "profile/gather/argc.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/abi.h"
#include "file/standin.h"
#include "profile/diff/counts.h"
#include "profile/gather/wallprofile.h"

void recorded_stage_ends(struct recorded *r, const char *stage)
{
	u64 now = clock_now_ns();

	if (r->stage_began_ns)
		log_debug(r->log, "%s: %.1f ms", stage, (double)(now - r->stage_began_ns) / 1e6);
	r->stage_began_ns = now;
}

static void note_events(struct recorded *r)
{
	vec_each(e, &r->trace.session.reader.events)
		r->dump_bytes = MAX(r->dump_bytes, e->attr.sample_stack_user);
	r->has_chains = trace_has_chains(&r->trace);
}

int recorded_open(struct recorded *r, const char *path, struct log *log, struct err *err)
{
	memset(r, 0, sizeof(*r));
	r->log = log;
	if (trace_open(&r->trace, path, log, err))
		return err->code;
	note_events(r);
	return 0;
}

/* ---- profiles that other programs made ---- */

/* Opens a file that is not a recording. The beginning of a pipe was read already. */
static int open_import(struct recorded *r, int fd, const char *path, struct err *err)
{
	const struct reader *reader = &r->trace.session.reader;
	const size_t n = reader->is_stream ? reader->n_start : 0;
	struct err why = {0};

	if (!import_open(&r->import, fd, path, reader->start, n, &why) && r->import.importer) {
		r->has_chains = true;
		return 0;
	}
	import_close(&r->import);
	/* If no importer knows the format either, *err still says that it is not a recording. */
	if (why.code)
		*err = why;
	return err->code;
}

int recorded_open_any(struct recorded *r, const char *path, struct log *log, struct err *err)
{
	const bool is_input = !strcmp(path, "-");
	int fd = is_input ? STDIN_FILENO : standin_open(path, O_RDONLY | O_CLOEXEC), result;

	if (fd < 0)
		return recorded_open(r, path, log, err);
	memset(r, 0, sizeof(*r));
	r->log = log;
	result = trace_open_fd(&r->trace, fd, path, log, err);
	if (!result) {
		note_events(r);
	} else if (err->code == ERR_FORMAT && r->trace.session.reader.n_start) {
		result = open_import(r, fd, path, err);
		memset(&r->trace, 0, sizeof(r->trace));
	}
	if (!is_input)
		close(fd);
	return result;
}

int recorded_check_label(const struct recorded *r, enum profile_label label, struct err *err)
{
	return recorded_has_trace(r) ? label_check(&r->trace.session, label, err)
				     : import_check_label(&r->import, label, err);
}

bool recorded_is_time(const struct recorded *r, u32 event)
{
	static const char unit[] = "/nanoseconds";
	const char *name = r->profile.events.at[event].name;
	const size_t n = strlen(name);

	if (r->has_wall)
		return true;
	if (recorded_has_trace(r))
		return counts_is_clock(&r->trace.session.reader.events.at[event]);
	return n >= strlen(unit) && !strcmp(name + n - strlen(unit), unit);
}

void recorded_call(struct recorded *r, const char *name)
{
	if (name && r->import.importer)
		r->import.path = name;
}

static int read_import(struct recorded *r, const struct recorded_options *o, struct err *err)
{
	struct batch lost;
	const struct import_options options = {.labels = o->labels,
		.has_stacks = o->has_stacks,
		.has_inlined = o->naming.has_inlined,
		.has_full_paths = o->naming.has_full_paths,
		.source = o->naming.source,
		.max_stack = o->max_stack,
		.time_quantum = o->time_quantum,
		.fields = o->fields,
		.lost = &lost,
		.log = r->log};
	int result;

	batch_init(&lost);
	profile_init(&r->profile, o->labels);
	r->profile.is_imported = true;
	result = import_read(&r->import, &options, &r->profile, err);
	vec_each(row, &r->profile.rows)
		r->trace.session.tally.n_samples += row->n_samples;
	r->ledger.n_samples = r->trace.session.tally.n_samples;
	ledger_add_batch(&r->ledger, &lost);
	batch_fini(&lost);
	if (result)
		return result;
	recorded_stage_ends(r, "import");
	return 0;
}

/* ---- recordings ---- */

static bool switches(const struct recorded_options *o)
{
	return o->switching && (o->switching->on || o->switching->off);
}

static u32 max_stack_of(const struct recorded_options *o)
{
	return o->max_stack ? o->max_stack : RECORDED_STACK;
}

/* Counts samples into the profile; meanwhile the kernel's symbols are read if they will be needed. */
static int count(struct recorded *r, const struct recorded_options *o, struct err *err)
{
	struct gather_options g = {
		.count = {.labels = o->labels,
			.has_stacks = o->has_stacks && (r->has_chains || o->has_history),
			.has_history = o->has_stacks && o->has_history,
			.max_stack = max_stack_of(o),
			.has_branches = o->has_branches,
			.has_blocks = o->has_blocks,
			.is_weighed = o->is_weighed,
			.wall = o->has_wall ? &r->wall : NULL,
			.timeline_most = o->timeline_most},
		.n_workers = o->n_workers,
		.where = {.cpus = o->cpus,
			.spans = o->spans,
			.switching = switches(o) ? &r->switching : NULL},
		.sideband = &r->sideband,
		.time_quantum = o->time_quantum,
		.has_raw_fields = o->has_raw_fields,
		.n_visitors = o->n_visitors};
	bool needs_kernel =
		o->has_branches || o->has_history || r->trace.session.has_kernel_samples;
	int result;

	memcpy(g.visitors, o->visitors, sizeof(g.visitors));
	if (o->fields)
		memcpy(g.fields, o->fields, sizeof(g.fields));
	if (needs_kernel && o->n_workers > 1)
		resolver_begin_kernel(&r->trace.resolver);
	recorded_stage_ends(r, "pass 1, state");
	result = gather(&r->trace, &g, &r->profile, err);
	session_explain_content(&r->trace.session);
	recorded_stage_ends(r, "pass 2, samples");
	log_debug(r->log, "%zu pieces of the file were read by %u threads",
		r->trace.session.pieces.n, r->trace.session.n_readers);
	log_debug(r->log, "%llu samples: %zu distinct rows, %zu stack nodes, %zu frames",
		(unsigned long long)r->trace.session.tally.n_samples, r->profile.rows.n,
		r->profile.stacks.n, r->profile.frames.n);
	return result;
}

static void begin_stage(struct progress *p, const struct progress *stage)
{
	if (!p)
		return;
	*p = *stage;
	progress_begin(p);
}

static void name(struct recorded *r, const struct recorded_options *o)
{
	struct naming_options naming = o->naming;
	double *shares = naming_shares(&r->profile, r->trace.machine.dsos.at.n);

	naming.n_workers = o->n_workers;
	r->trace.files.places.shares = shares;
	if (o->servers_begin)
		o->servers_begin(&r->trace.resolver, o->trace.debuginfod_s, shares);
	/* While servers are asked, Ctrl-C means them. */
	naming.progress = o->progress;
	naming.may_stop = !r->trace.files.debuginfod.watch;
	begin_stage(o->progress,
		&(struct progress){.what = "looking up names",
			.offer = naming.may_stop ? "shows addresses for the rest" : NULL,
			.hears_always = !naming.may_stop});
	naming_resolve(&r->profile, &r->trace.resolver, &naming);
	if (naming.may_stop && progress_is_stopped(o->progress))
		log_warn(r->log,
			"the look-up of names was stopped: functions of the files that were left have addresses for names");
	/* Types need the same files as lines: load them while servers are asked. */
	vec_each(dso, &r->profile.dsos)
		if (o->labels & LABEL_BIT(LABEL_ACCESS) && shares[dso->source] > 0)
			resolver_load_lines(&r->trace.resolver,
				r->trace.machine.dsos.at.at[dso->source]);
	progress_end(o->progress);
	if (o->servers_end)
		o->servers_end(&r->trace.resolver);
	r->trace.files.places.shares = NULL;
	mem_free(shares);
	recorded_stage_ends(r, "names");
}

struct typing_events recorded_typing(const struct recorded *r)
{
	const struct session *s = &r->trace.session;

	return (struct typing_events){.events = &s->reader.events,
		.skid = r->skid,
		.is_wall = r->has_wall,
		.clock = r->has_wall ? wallmarks_clock(s) : 0};
}

/* Finds the data types of rows, after the scheduler's functions were removed from them. */
static void find_types(struct recorded *r, const struct recorded_options *o)
{
	const struct typing_events typing = recorded_typing(r);

	if (!(o->labels & LABEL_BIT(LABEL_ACCESS)))
		return;
	begin_stage(o->progress, &(struct progress){.what = "looking up data types"});
	typing_resolve(&r->profile, &r->trace.resolver, &typing, o->n_workers);
	progress_end(o->progress);
	if (!o->may_lack_types)
		typing_note_skid(&r->profile, &typing, r->log);
	recorded_stage_ends(r, "data types");
}

/* The first pass: threads and maps over time; also marks for wall-clock time if wanted. */
static int scan(struct recorded *r, const struct recorded_options *o, struct err *err)
{
	struct wallmarks marks;
	int result;

	if (o->has_wall)
		wallmarks_watch(&marks, &r->trace.session, &r->wall);
	else if (switches(o))
		switching_watch(&r->switching, &r->trace.session, o->switching);
	if (label_needs_sideband(o->labels))
		sideband_watch(&r->sideband, &r->trace.session);
	if (o->has_multiplexing)
		multiplexing_watch(&r->multiplexing, &r->trace.session);
	result = trace_scan(&r->trace, &o->trace, err);
	multiplexing_settle(&r->multiplexing);
	if (label_needs_sideband(o->labels))
		sideband_settle(&r->sideband);
	if (!result && switches(o) && switching_cut(&r->switching, err))
		return err->code;
	if (!o->has_wall)
		return result;
	wallmarks_fini(&marks);
	wall_cut(&r->wall);
	return result;
}

static void say_cut(const struct recorded *r, u32 max_stack)
{
	if (r->profile.n_cut)
		log_note(r->log,
			"%llu call chains have more than %u addresses and are cut off there: --max-stack shows more",
			(unsigned long long)r->profile.n_cut, max_stack);
}

/* Both passes. */
static int read_samples(struct recorded *r, const struct recorded_options *o, struct err *err)
{
	struct session *s = &r->trace.session;
	int result;

	begin_stage(o->progress,
		&(struct progress){.what = "reading",
			.subject = s->reader.path,
			.offer = "shows what was read"});
	s->progress = o->progress;
	result = scan(r, o, err);
	s->read_most = o->read_most;
	if (!result)
		result = count(r, o, err);
	s->progress = NULL;
	progress_end(o->progress);
	return result;
}

static int read_trace(struct recorded *r, const struct recorded_options *o, struct err *err)
{
	r->has_wall = o->has_wall;
	r->skid = o->skid;
	if (read_samples(r, o, err))
		return err->code;
	say_cut(r, max_stack_of(o));
	name(r, o);
	argc_remove(&r->profile);
	if (o->has_wall)
		wallprofile_trim(&r->profile);
	find_types(r, o);
	ledger_add_tally(&r->ledger, &r->trace.session.tally);
	ledger_add_nameless(&r->ledger, &r->profile, &r->trace.resolver);
	ledger_add_interpreted(&r->ledger, &r->profile);
	if (o->naming.source)
		ledger_add_lineless(&r->ledger, &r->profile, &r->trace.resolver);
	else if (o->naming.has_inlined)
		ledger_add_inlineless(&r->ledger, &r->profile, &r->trace.resolver);
	if (o->labels & LABEL_BIT(LABEL_ACCESS) && !o->may_lack_types)
		ledger_add_typeless(&r->ledger, &r->profile, &r->trace.resolver);
	ledger_add_endings(&r->ledger, &r->profile, &r->trace.machine, r->dump_bytes);
	/* These rows are not samples, so they are added after the ledger has counted. */
	if (o->has_wall)
		wallprofile_add_rest(&r->profile, &r->wall, &r->trace.machine);
	return 0;
}

int recorded_read(struct recorded *r, const struct recorded_options *o, struct err *err)
{
	recorded_stage_ends(r, "start");
	if (recorded_has_trace(r))
		return read_trace(r, o, err);
	if (read_import(r, o, err))
		return err->code;
	say_cut(r, o->max_stack ? o->max_stack : IMPORT_DEEPEST);
	return 0;
}

void recorded_close(struct recorded *r)
{
	import_close(&r->import);
	ledger_fini(&r->ledger);
	profile_fini(&r->profile);
	wall_fini(&r->wall);
	switching_fini(&r->switching);
	sideband_fini(&r->sideband);
	multiplexing_fini(&r->multiplexing);
	trace_close(&r->trace);
}
