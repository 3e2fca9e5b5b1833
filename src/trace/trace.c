#include "trace/trace.h"

#include <unistd.h>

#include "event/abi.h"
#include "file/hardware.h"

int trace_open(struct trace *t, const char *path, struct log *log, struct err *err)
{
	return trace_open_fd(t, strcmp(path, "-") ? -1 : STDIN_FILENO, path, log, err);
}

int trace_open_fd(struct trace *t, int fd, const char *name, struct log *log, struct err *err)
{
	memset(t, 0, sizeof(*t));
	t->log = log;
	return session_open_fd(&t->session, fd, name, log, err);
}

bool trace_has_dumps(const struct trace *t)
{
	const struct reader *r = &t->session.reader;

	for (size_t i = 0; i < r->events.n; i++)
		if (callers_has_source(&r->formats.at[i]))
			return true;
	return false;
}

bool trace_has_chains(const struct trace *t)
{
	vec_each(e, &t->session.reader.events)
		if (e->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
			return true;
	return trace_has_dumps(t);
}

/* ---- setting up ---- */

/*
 * Closes members that were not set up as well, which are zero: libpace may run out of memory in the middle
 * of setting up.
 */
static void forget(struct trace *t)
{
	callers_fini(&t->callers);
	resolver_fini(&t->resolver);
	dso_files_fini(&t->files);
	jitcode_fini(&t->jitcode);
	embedded_close(&t->embedded);
	machine_fini(&t->machine);
	memset(&t->machine, 0, sizeof(t->machine));
	memset(&t->jitcode, 0, sizeof(t->jitcode));
	vec_each(strings, &t->names)
		intern_fini(strings);
	vec_fini(&t->names);
	t->is_walked = false;
}

/* Sets up what the machine needs before it takes in the first record. */
static const struct machine_coder *set_up_code(struct trace *t, const struct trace_options *o)
{
	forget(t);
	t->options = *o;
	if (!o->ignores_embedded)
		embedded_attach(&t->embedded, &t->session.reader, t->log);
	jitcode_init(&t->jitcode, &t->session.reader.events, o->symfs, t->log);
	t->jitcode.embedded = &t->embedded;
	return o->ignores_jit ? NULL : &t->jitcode.coder;
}

static void set_up_names(struct trace *t)
{
	const struct trace_options *o = &t->options;
	const struct file_info *info = &t->session.reader.info;

	guest_introduce(&t->machine, &o->guest, t->log);
	dso_files_init(&t->files, &t->machine,
		&(struct find_places){.symfs = o->symfs ? o->symfs : "",
			.is_flat = o->symfs_is_flat,
			.log = t->log});
	t->files.liveproc.roots = o->roots;
	t->files.debuginfod.seconds = o->debuginfod_s;
	resolver_init(&t->resolver, &t->files);
	resolver_set_recording(&t->resolver, &t->session.reader, &t->jitcode, &t->embedded);
	t->resolver.vmlinux = o->vmlinux;
	t->resolver.kallsyms_copy = o->kallsyms;
	t->resolver.ignores_vmlinux = o->ignores_vmlinux;
	t->resolver.ignores_made = o->ignores_made_names;
	t->resolver.guest_files = o->guest;
	callers_init(&t->callers, &t->files, info->host.arch);
	t->callers.jitcode = &t->jitcode;
	t->callers.embedded = &t->embedded;
	t->callers.stitches = o->stitches;
	t->callers.n_branches = hardware_branches(info);
}

int trace_scan(struct trace *t, const struct trace_options *options, struct err *err)
{
	const struct machine_coder *coder = set_up_code(t, options);
	int r = machine_scan_coded(&t->machine, &t->session, coder, err);

	t->session.observers = NULL;
	set_up_names(t);
	return r;
}

int trace_begin(struct trace *t, const struct trace_options *options, struct err *err)
{
	const struct machine_coder *coder = set_up_code(t, options);

	machine_init(&t->machine);
	t->machine.coder = coder;
	machine_set_build_ids(&t->machine, &t->session.reader.info);
	embedded_prepare(&t->embedded, &t->machine);
	set_up_names(t);
	return machine_foresee(&t->machine, &t->session, err);
}

void trace_begin_live(struct trace *t, const struct event_list *events,
	const struct find_places *places)
{
	static const struct find_places here = {.symfs = "", .is_now = true};

	memset(t, 0, sizeof(*t));
	places = places ? places : &here;
	t->log = places->log;
	session_begin_live(&t->session, events, places->log);
	machine_init(&t->machine);
	/* Reports say what its dumps lack. */
	jitcode_init(&t->jitcode, events, places->symfs, NULL);
	t->machine.coder = &t->jitcode.coder;
	dso_files_init(&t->files, &t->machine, places);
	resolver_init(&t->resolver, &t->files);
	t->resolver.jitcode = &t->jitcode;
	callers_init(&t->callers, &t->files, NULL);
	t->callers.jitcode = &t->jitcode;
}

void trace_close(struct trace *t)
{
	forget(t);
	session_close(&t->session);
	memset(t, 0, sizeof(*t));
}
