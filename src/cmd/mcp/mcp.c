/*
 * mcp.c - mcp: a server of the Model Context Protocol, for programs that ask questions about recordings.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/fence.h"
#include "base/num.h"
#include "cmd/cmd.h"

enum { SECONDS = 60, SECONDS_MAX = 3600 };
#define MEMORY       (2ull << 30)
#define MEMORY_LEAST (64ull << 20)

struct mcp_options {
	u64 seconds, memory;
	bool is_verbose, needs_fence;
};

#define AT(member) offsetof(struct mcp_options, member)

static int set_memory(void *target, const char *value, struct err *err)
{
	struct mcp_options *o = target;

	if (num_parse_bytes(value, &o->memory, err))
		return err->code;
	return o->memory < MEMORY_LEAST
		? err_set(err, ERR_INVAL, "'%.40s' is too little: at least 64M", value)
		: 0;
}

static const struct opt options[] = {
	{0, "timeout", OPT_U64, AT(seconds), "SECONDS",
		"end an answer that takes longer; default 60", .min = 1, .max = SECONDS_MAX},
	{0, "memory", OPT_CALL, 0, "SIZE",
		"end an answer that takes more memory, like 512M; default 2G", .call = set_memory},
	{0, "require-fence", OPT_BOOL, AT(needs_fence), NULL,
		"do not start where the kernel cannot keep answers from opening other files (Landlock)"},
	{'v', "verbose", OPT_BOOL, AT(is_verbose), NULL, "say on standard error what is asked"},
	{.kind = OPT_END},
};

#ifdef PACE_HAS_CJSON

#include "cmd/mcp/mcp_server.h"

static int serve(const struct mcp_options *o, const struct mcp_folders *folders)
{
	struct mcp_server server = {.recordings = {.folders = folders},
		.limits = {o->seconds, o->memory, fence_is_there()},
		.is_verbose = o->is_verbose};
	struct err err;

	if (!server.limits.has_fence && o->needs_fence) {
		err_set(&err, ERR_UNSUPPORTED,
			"--require-fence: this kernel has no Landlock (Linux 5.13), or it is switched off");
		return cmd_fail(&cmd_mcp, &err, EXIT_FAILED);
	}
	if (!server.limits.has_fence)
		fputs("note: this kernel has no Landlock: paths are checked, but nothing else keeps answers from opening other files\n",
			stderr);
	if (isatty(STDIN_FILENO))
		fputs("note: pace mcp waits for requests of a program, as lines of JSON: see pace-mcp(1)\n",
			stderr);
	return mcp_server_run(&server, &err) ? cmd_fail(&cmd_mcp, &err, EXIT_FAILED) : EXIT_OK;
}

static int run_mcp(int argc, char **argv)
{
	struct mcp_options o = {.seconds = SECONDS, .memory = MEMORY};
	int status = cmd_parse(&cmd_mcp, &o, 0, &argc, argv);
	struct mcp_folders folders = {0};
	struct err err;

	if (status >= 0)
		return status;
	for (int i = 0; i < MAX(argc, 1) && status < 0; i++)
		if (mcp_folders_add(&folders, argc ? argv[i] : ".", &err))
			status = cmd_fail(&cmd_mcp, &err, EXIT_USAGE);
	if (status < 0)
		status = serve(&o, &folders);
	mcp_folders_fini(&folders);
	return status;
}

#else

static int run_mcp(int argc, char **argv)
{
	struct mcp_options o = {.seconds = SECONDS, .memory = MEMORY};
	int status = cmd_parse(&cmd_mcp, &o, 0, &argc, argv);
	struct err err;

	if (status >= 0)
		return status;
	err_set(&err, ERR_UNSUPPORTED,
		"this pace was built without cJSON (libcjson-dev), which reads requests");
	return cmd_fail(&cmd_mcp, &err, EXIT_FAILED);
}

#endif

const struct cmd cmd_mcp = {
	.name = "mcp",
	.summary = "answer questions of programs about recordings (Model Context Protocol)",
	.usage = {"[OPTIONS] [FOLDER...]", NULL},
	.notes = "Recordings are only read in the given folders; default: the current one.\n",
	.options = options,
	.run = run_mcp,
};
