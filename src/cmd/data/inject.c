#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/workers.h"
#include "cmd/cmd.h"
#include "edit/inject.h"

struct inject_options {
	const char *input, *output;
	struct inject_wish wish;
	bool of_all, in_maps, in_used_maps, has_jit, is_forced;
	const char *known;
	unsigned verbose;
};

#define AT(member) offsetof(struct inject_options, member)
#define NO_TRACE   "instruction traces are not decoded: perf does it"

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE; default standard input"},
	{'o', "output", OPT_STR, AT(output), "FILE", "write to FILE; default standard output"},
	{'b', "build-ids", OPT_BOOL, AT(wish.has_build_ids), NULL,
		"add a table of the build-ids of files that samples hit"},
	{0, "buildid-all", OPT_BOOL, AT(of_all), NULL, "of all files that were mapped"},
	{0, "mmap2-buildid-all", OPT_BOOL, AT(in_maps), NULL,
		"write build-ids into the records of all maps"},
	{'B', "mmap2-buildids", OPT_BOOL, AT(in_used_maps), NULL,
		"likewise, and leave out the maps of files that no sample hit"},
	{0, "known-build-ids", OPT_STR, AT(known), "ID PATH,...",
		"with -b: these files have these build-ids, whatever is found here"},
	{'s', "sched-stat", OPT_BOOL, AT(wish.merges_sleep), NULL,
		"give the switches of sched_switch the time of the sleep that sched_stat tells"},
	{'j', "jit", OPT_BOOL, AT(has_jit), NULL,
		"write the functions of jitdumps into files, and where they were into the recording"},
	{0, "convert-callchain", OPT_BOOL, AT(wish.wants_chains), NULL,
		"copy a recording whose callers are call chains, as 'pace record' writes them"},
	{0, "aslr", OPT_BOOL, AT(wish.rebases), NULL,
		"move all code and data to other addresses, and leave out copies of stacks, registers and fields of tracepoints"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say what was added"},
	{'f', "force", OPT_NOTHING, .help = "files of other users are read anyway"},
	{0, "kallsyms", OPT_NOTHING, .arg = "FILE", .help = "no names are looked up"},
	{'k', "vmlinux", OPT_NOTHING, .arg = "FILE", .help = "no names are looked up"},
	{0, "ignore-vmlinux", OPT_NOTHING, .help = "no names are looked up"},
	{0, "itrace", OPT_REFUSED, .arg = "HOW", .help = NO_TRACE, .flags = OPT_OPTIONAL},
	{0, "strip", OPT_REFUSED, .help = NO_TRACE},
	{0, "vm-time-correlation", OPT_REFUSED, .arg = "HOW", .help = NO_TRACE,
		.flags = OPT_OPTIONAL},
	{0, "guest-data", OPT_REFUSED, .arg = "FILE,PID",
		.help = "a guest's recording is not merged into the host's: read each by itself"},
	{0, "guestmount", OPT_REFUSED, .arg = "DIR",
		.help = "the build-ids of guests' files are not looked up"},
	{0, "unwind-style", OPT_NOTHING, .arg = "NAME", .help = "there is one way to walk stacks"},
	{.kind = OPT_END},
};

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void say_done(struct log *log, const struct inject_options *o, const struct inject_tally *t)
{
	if (o->wish.has_build_ids && t->n_nameless)
		log_note(log, "%llu files have no build-id that is known here",
			(unsigned long long)t->n_nameless);
	if (t->n_blanked)
		log_note(log,
			"%llu samples had copies of stacks, registers or fields of tracepoints, which are left out or blank: they may hold addresses",
			(unsigned long long)t->n_blanked);
	if (t->n_dropped)
		log_note(log, "%llu samples have physical addresses, and are left out",
			(unsigned long long)t->n_dropped);
	if (!o->verbose)
		return;
	if (o->wish.rebases && t->n_lost)
		log_note(log, "%llu addresses lie in no map, and are 0",
			(unsigned long long)t->n_lost);
	if (o->wish.has_build_ids)
		log_note(log, "%llu build-ids", (unsigned long long)t->n_build_ids);
	if (o->wish.has_map_build_ids)
		log_note(log, "%llu maps with build-ids", (unsigned long long)t->n_maps);
	if (o->wish.jit_folder)
		log_note(log, "%llu functions in files, mapped %llu times",
			(unsigned long long)t->n_jitted, (unsigned long long)t->n_jit_maps);
	if (o->wish.merges_sleep)
		log_note(log, "%llu sleeps", (unsigned long long)t->n_sleeps);
}

/* The folder that `output` is in, absolute. */
static char *folder_of(const char *output, struct err *err)
{
	const char *slash = output ? strrchr(output, '/') : NULL;
	struct str folder = {0};
	char *absolute;

	str_addn(&folder, slash ? output : ".", slash > output ? (size_t)(slash - output) : 1);
	absolute = realpath(folder.at, NULL);
	if (!absolute)
		err_sys(err, errno, "looking for the folder '%s'", folder.at);
	str_fini(&folder);
	return absolute;
}

static int inject(struct inject_options *o, const char *path, struct log *log, struct err *err)
{
	const bool to_file = o->output && strcmp(o->output, "-") != 0;
	struct inject_tally tally;
	struct fresh to;

	if (!to_file && isatty(STDOUT_FILENO))
		return err_set(err, ERR_INVAL,
			"a recording is no text for a terminal: -o FILE writes it to a file");
	if (to_file && is_same_file(path, o->output))
		return err_set(err, ERR_INVAL, "'%s' is read and written: give another name to -o",
			path);
	if (to_file && fresh_init(&to, o->output, true, err))
		return err->code;
	if (inject_write(path, &o->wish, to_file ? &to : NULL, STDOUT_FILENO, log, &tally, err))
		return err->code;
	say_done(log, o, &tally);
	return 0;
}

static int run_inject(int argc, char **argv)
{
	struct inject_options o = {0};
	int status = cmd_parse_reader(&cmd_inject, &o, &o.input, argc, argv);
	const char *path = o.input ? o.input : "-";
	char *folder = NULL;
	struct log log;
	struct err err;

	if (status >= 0)
		return status;
	o.wish.has_all_build_ids = o.of_all || o.in_maps;
	o.wish.has_map_build_ids = o.in_maps || o.in_used_maps;
	o.wish.drops_unused_maps = o.in_used_maps;
	o.wish.has_build_ids |= o.of_all || o.known;
	o.wish.known = o.known;
	o.wish.n_workers = workers_available();
	cmd_log_init(&log, o.verbose ? LOG_DEBUG : LOG_NOTE);
	status = EXIT_OK;
	if (o.has_jit)
		o.wish.jit_folder = folder = folder_of(o.output, &err);
	if ((o.has_jit && !folder) || inject(&o, path, &log, &err))
		status = cmd_fail(&cmd_inject, &err,
			err.code == ERR_INVAL || err.code == ERR_NOENT ? EXIT_USAGE : EXIT_FAILED);
	log_fini(&log);
	free(folder);
	return status;
}

const struct cmd cmd_inject = {
	.name = "inject",
	.summary = "add build-ids, generated code or the time of sleep to a recording",
	.usage = {"-b | --buildid-all [-i FILE] [-o FILE]",
		"-B | --mmap2-buildid-all [-i FILE] [-o FILE]", "-j -i FILE -o FILE",
		"-s -i FILE -o FILE", NULL},
	.notes =
		"What perf's recordings lack unless it is added, pace looks up by itself: this is for other readers, and for scripts.\n",
	.options = options,
	.run = run_inject,
};
