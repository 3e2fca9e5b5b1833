#include "cmd/symbols.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "symbol/name/demangle.h"

/* Of all recordings that the command reads, one after the other. */
static struct progress progress;

unsigned symbol_options_style(const struct symbol_options *o, unsigned verbose)
{
	return (verbose || o->has_parameters ? DEMANGLE_PARAMETERS : 0) |
		(o->is_compact ? DEMANGLE_COMPACT : 0) | (o->demangles ? 0 : DEMANGLE_NOT);
}

/* It is the same for all recordings of a command. */
const char *symbol_symfs(const char *said, bool *ret_is_flat)
{
	static char folder[PATH_MAX];
	const char *comma = said ? strrchr(said, ',') : NULL;

	*ret_is_flat = comma && !strcmp(comma, ",flat");
	if (!*ret_is_flat && (!comma || strcmp(comma, ",hierarchy") != 0))
		return said;
	snprintf(folder, sizeof(folder), "%.*s", (int)(comma - said), said);
	return folder;
}

struct trace_options symbol_options_trace(const struct symbol_options *o)
{
	bool is_flat;
	const char *symfs = symbol_symfs(o->symfs, &is_flat);

	return (struct trace_options){.symfs = symfs,
		.symfs_is_flat = is_flat,
		.vmlinux = o->vmlinux,
		.kallsyms = o->kallsyms,
		.ignores_vmlinux = o->ignores_vmlinux,
		.ignores_made_names = !o->makes_names,
		.guest = o->guest};
}

void symbol_options_tell(const struct symbol_options *o, double servers_s,
	struct recorded_options *reading)
{
	reading->trace = symbol_options_trace(o);
	reading->trace.debuginfod_s = servers_s;
	reading->servers_begin = symbol_servers_begin;
	reading->servers_end = symbol_servers_end;
	reading->progress = &progress;
}

/* ---- servers ---- */

static bool watch(void *log, const struct debuginfod_state *state)
{
	enum { NAME_WIDTH = 32 };
	size_t n = strlen(state->name);
	struct str text = {0};

	if (progress_is_stopped(&progress)) {
		progress_heed(&progress);
		log_note(log, "pace no longer waits for debuginfod: its names are missing");
		return false;
	}
	str_add(&text, "debuginfod: ");
	str_addf(&text, "%u of %u files, ", state->n_asked - state->n_waiting, state->n_asked);
	str_add_safe(&text, state->name + (n > NAME_WIDTH ? n - NAME_WIDTH : 0),
		MIN(n, (size_t)NAME_WIDTH));
	if (state->n_total)
		str_addf(&text, ", %.1f of %.1f MB", (double)state->n_bytes / 1e6,
			(double)state->n_total / 1e6);
	str_addf(&text, ", %.0f s left, Ctrl-C skips it", state->seconds_left);
	progress_say(&progress, str_text(&text));
	str_fini(&text);
	return true;
}

void symbol_servers_begin(struct resolver *r, double seconds, const double *shares)
{
	r->files->debuginfod.seconds = seconds;
	r->files->places.shares = shares;
	if (!debuginfod_is_wanted(&r->files->debuginfod))
		return;
	r->files->debuginfod.watch = watch;
	r->files->debuginfod.watch_ctx = r->files->places.log;
	vec_each(dso, &r->machine->dsos.at)
		dso_files_ask(r->files, *dso);
}

void symbol_servers_end(struct resolver *r)
{
	r->files->places.shares = NULL;
	r->files->debuginfod.watch = NULL;
}
