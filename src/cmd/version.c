#include "cmd/version.h"

#include <stdio.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"

struct version_options {
	bool has_build_options;
};

static const struct opt options[] = {
	{0, "build-options", OPT_BOOL, offsetof(struct version_options, has_build_options), NULL,
		"which libraries are built in, and what is lost without them"},
	{.kind = OPT_END},
};

static const struct {
	const char *name;
	bool is_there;
	const char *used_for;
} libraries[] = {
	{"libiberty", true, "demangling of C++, Rust and D names"},
	{"zlib", true, "checksums of separate debug files"},
	{"threads", true, "reading recordings on all cores"},
};

const char *version_text(void)
{
	return "pace " PACE_VERSION;
}

static int run_version(int argc, char **argv)
{
	struct version_options o = {0};
	struct out out = {.fd = STDOUT_FILENO};
	int status = cmd_parse(&cmd_version, &o, 0, &argc, argv);
	struct err err;

	if (status >= 0)
		return status;
	str_addf(&out.text, "%s\n", version_text());
	for (size_t i = 0; o.has_build_options && i < ARRAY_SIZE(libraries); i++)
		str_addf(&out.text, "%14s: [ %s ]  # %s\n", libraries[i].name,
			libraries[i].is_there ? "on " : "OFF", libraries[i].used_for);
	return out_close(&out, &err) ? cmd_fail(&cmd_version, &err, EXIT_FAILED) : EXIT_OK;
}

const struct cmd cmd_version = {
	.name = "version",
	.summary = "print the version of pace",
	.usage = {"[--build-options]", NULL},
	.options = options,
	.run = run_version,
};
