#include "cmd/version.h"

#include <stdio.h>
#include <unistd.h>

#include "base/out.h"
#include "base/selfname.h"
#include "cmd/cmd.h"
#include "cmd/features.h"
#include "event/eventfile.h"
#include "symbol/elf/unpack.h"
#include "view/forms/forms.h"
#include "view/screen/screen.h"

struct version_options {
	bool has_build_options;
};

static const struct opt options[] = {
	{0, "build-options", OPT_BOOL, offsetof(struct version_options, has_build_options), NULL,
		"list the libraries that are built in or found, and what they are for"},
	{.kind = OPT_END},
};

static bool has_sqlite(void)
{
	return !form_sqlite.missing();
}

/* clang-format off: a row a library */
static const struct {
	const char *name;
	bool (*is_there)(void);
	const char *used_for;
} libraries[] = {
	{"libelf", feature_is_always, "ELF files: symbols, sections"},
	{"libdw", feature_is_always, "DWARF: source lines, inlined functions, types"},
	{"libtraceevent", feature_is_always, "the text of tracepoints"},
	{"libzstd", feature_is_always, "compressed recordings and sections"},
	{"zlib", feature_is_always, "packed sections, checksums of separate debug files"},
	{"libiberty", feature_is_always, "demangling of C++, Rust and D names"},
	{"threads", feature_is_always, "reading recordings on all cores"},
	{"libcjson", eventfile_is_built_in, "the CPU vendors' tables of events (--events-dir)"},
	{"liblzma", unpack_has_xz,
		"packed symbols of Fedora's programs, kernel modules packed with xz"},
	{"libdeflate", unpack_has_deflate, "unpacking debug information in a third of the time"},
	{"libsqlite3", has_sqlite,
		"databases of samples and stacks (export --format sqlite); loaded on demand"},
	{"libncursesw", screen_has_ncurses,
		"keys of terminals that are not like xterm; loaded on demand"},
	{"libpfm", feature_has_pfm, "events by libpfm4's names (-e pfm:NAME); loaded on demand"},
	{"libLLVM", feature_has_llvm,
		"annotate's disassembly, else objdump does it; loaded when it is installed"},
	{"libdebuginfod", feature_has_debuginfod,
		"debug files from DEBUGINFOD_URLS; loaded when it is installed"},
};
/* clang-format on */

const char *version_text(void)
{
	return "pace " PACE_VERSION;
}

static int run_version(int argc, char **argv)
{
	struct version_options o = {0};
	struct out out = {.fd = STDOUT_FILENO};
	int status = cmd_parse_alone(&cmd_version, &o, argc, argv);
	struct err err;

	if (status >= 0)
		return status;
	/* The third word is the version of perf whose options and formats these are. */
	if (program_is_perf())
		str_addf(&out.text, "perf version %s (%s)\n",
			program_perf_version() == 6 ? "6.1.0" : "7.2.0", version_text());
	else
		str_addf(&out.text, "%s\n", version_text());
	for (size_t i = 0; o.has_build_options && program_is_perf() && i < feature_n_rows; i++)
		feature_add_line(&feature_rows[i], &out.text);
	for (size_t i = 0; o.has_build_options && !program_is_perf() && i < ARRAY_SIZE(libraries);
		i++)
		str_addf(&out.text, "%14s: [ %s ]  # %s\n", libraries[i].name,
			libraries[i].is_there() ? "on " : "OFF", libraries[i].used_for);
	return out_close(&out, &err) ? cmd_fail(&cmd_version, &err, EXIT_FAILED) : EXIT_OK;
}

const struct cmd cmd_version = {
	.name = "version",
	.summary = "print the version of pace",
	.usage = {"[--build-options]", NULL},
	.options = options,
	.run = run_version,
};
