#include "cmd/version.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "base/out.h"
#include "base/selfname.h"
#include "cmd/cmd.h"
#include "event/eventfile.h"
#include "event/pfm.h"
#include "symbol/code/llvm.h"
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

static bool is_always(void)
{
	return true;
}

static bool has_llvm(void)
{
	const char *name;
	struct err ignored;

	return llvm_load(&name, &ignored) == 0;
}

/* Whether a library that is loaded on demand can be loaded. */
static bool can_load(const char *library)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);

	if (handle)
		dlclose(handle);
	return handle;
}

static bool has_pfm(void)
{
	return pfm_is_built_in() && can_load("libpfm.so.4");
}

static bool has_sqlite(void)
{
	return !form_sqlite.missing();
}

static bool has_debuginfod(void)
{
	return can_load("libdebuginfod.so.1");
}

/* clang-format off: a row a library */
static const struct {
	const char *name;
	bool (*is_there)(void);
	const char *used_for;
} libraries[] = {
	{"libelf", is_always, "ELF files: symbols, sections"},
	{"libdw", is_always, "DWARF: source lines, inlined functions, types"},
	{"libtraceevent", is_always, "the text of tracepoints"},
	{"libzstd", is_always, "compressed recordings and sections"},
	{"zlib", is_always, "packed sections, checksums of separate debug files"},
	{"libiberty", is_always, "demangling of C++, Rust and D names"},
	{"threads", is_always, "reading recordings on all cores"},
	{"libcjson", eventfile_is_built_in, "the CPU vendors' tables of events (--events-dir)"},
	{"liblzma", unpack_has_xz,
		"packed symbols of Fedora's programs, kernel modules packed with xz"},
	{"libdeflate", unpack_has_deflate, "unpacking debug information in a third of the time"},
	{"libsqlite3", has_sqlite,
		"databases of samples and stacks (export --format sqlite); loaded on demand"},
	{"libncursesw", screen_has_ncurses,
		"keys of terminals that are not like xterm; loaded on demand"},
	{"libpfm", has_pfm, "events by libpfm4's names (-e pfm:NAME); loaded on demand"},
	{"libLLVM", has_llvm,
		"annotate's disassembly, else objdump does it; loaded when it is installed"},
	{"libdebuginfod", has_debuginfod,
		"debug files from DEBUGINFOD_URLS; loaded when it is installed"},
};
/* clang-format on */

/* clang-format off: what scripts look for in perf's list of the same name */
static const struct {
	const char *name, *macro;
	bool (*is_there)(void);
} perf_features[] = {
	{"dwarf", "HAVE_DWARF_SUPPORT", is_always},
	{"dwarf_getlocations", "HAVE_DWARF_GETLOCATIONS_SUPPORT", is_always},
	{"syscall_table", "HAVE_SYSCALL_TABLE_SUPPORT", is_always},
	{"debuginfod", "HAVE_DEBUGINFOD_SUPPORT", has_debuginfod},
	{"libelf", "HAVE_LIBELF_SUPPORT", is_always},
	{"zlib", "HAVE_ZLIB_SUPPORT", is_always},
	{"lzma", "HAVE_LZMA_SUPPORT", unpack_has_xz},
	{"zstd", "HAVE_ZSTD_SUPPORT", is_always},
	{"libpfm4", "HAVE_LIBPFM", has_pfm},
	{"libtraceevent", "HAVE_LIBTRACEEVENT", is_always},
	{"libLLVM", "HAVE_LIBLLVM_SUPPORT", has_llvm},
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
		str_addf(&out.text, "perf version 6.1.0 (%s)\n", version_text());
	else
		str_addf(&out.text, "%s\n", version_text());
	for (size_t i = 0;
		o.has_build_options && program_is_perf() && i < ARRAY_SIZE(perf_features); i++)
		str_addf(&out.text, "%22s: [ %s ]  # %s\n", perf_features[i].name,
			perf_features[i].is_there() ? "on " : "OFF", perf_features[i].macro);
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
