#include "cmd/symbols.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/term.h"
#include "symbol/name/demangle.h"

unsigned symbol_options_style(const struct symbol_options *o, unsigned verbose)
{
	return (verbose ? DEMANGLE_PARAMETERS : 0) | (o->is_compact ? DEMANGLE_COMPACT : 0) |
		(o->demangles ? 0 : DEMANGLE_NOT);
}

struct trace_options symbol_options_trace(const struct symbol_options *o)
{
	return (struct trace_options){.symfs = o->symfs,
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
}

/* ---- servers ---- */

static volatile sig_atomic_t was_interrupted;
static struct sigaction before;
static bool has_line; /* a line on the terminal has to be erased */

static void interrupt(int number)
{
	(void)number;
	was_interrupted = true;
}

static bool watch(void *log, const struct debuginfod_state *state)
{
	enum { NAME_WIDTH = 32 };
	size_t n = strlen(state->name);
	struct str text = {0};

	if (was_interrupted) {
		log_note(log, "pace no longer waits for debuginfod: its names are missing");
		return false;
	}
	if (!term_is_terminal(STDERR_FILENO))
		return true;
	str_add(&text, "\r\033[K[ debuginfod: ");
	str_addf(&text, "%u of %u files, ", state->n_asked - state->n_waiting, state->n_asked);
	str_add_safe(&text, state->name + (n > NAME_WIDTH ? n - NAME_WIDTH : 0),
		MIN(n, (size_t)NAME_WIDTH));
	if (state->n_total)
		str_addf(&text, ", %.1f of %.1f MB", (double)state->n_bytes / 1e6,
			(double)state->n_total / 1e6);
	str_addf(&text, ", %.0f s left, Ctrl-C skips it ]", state->seconds_left);
	fwrite(text.at, 1, text.n, stderr);
	str_fini(&text);
	has_line = true;
	return true;
}

void symbol_servers_begin(struct resolver *r, double seconds, const double *shares)
{
	const struct sigaction give_up = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};

	r->files->debuginfod.seconds = seconds;
	r->files->places.shares = shares;
	if (!debuginfod_is_wanted(&r->files->debuginfod))
		return;
	r->files->debuginfod.watch = watch;
	r->files->debuginfod.watch_ctx = r->files->places.log;
	was_interrupted = false;
	sigaction(SIGINT, NULL, &before);
	if (before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &give_up, NULL);
	vec_each(dso, &r->machine->dsos.at)
		dso_files_ask(r->files, *dso);
}

void symbol_servers_end(struct resolver *r)
{
	r->files->places.shares = NULL;
	if (!r->files->debuginfod.watch)
		return;
	r->files->debuginfod.watch = NULL;
	sigaction(SIGINT, &before, NULL);
	if (has_line)
		fputs("\r\033[K", stderr);
	has_line = false;
}
