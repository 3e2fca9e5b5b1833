/*
 * mcp_call.h - one call of a tool, answered by a process of its own: whatever the recording does to it, the server goes on.
 *
 * In       a question; how much time and memory it may take
 * Out      the result of tools/call, as JSON: an answer, or a sentence why there is none
 * Owns     the process, until the call is over
 * Errors   ERR_SYS: no process could be started
 *
 * The process has a fence (mcp_fence_raise()), no standard input, a deadline and a limit of memory. It runs the command of the question
 * with its standard output in a file in memory, and sends the answer through a pipe. It is not trusted: what comes through the pipe is
 * bounded and parsed.
 */
#ifndef PACE_CMD_MCP_CALL_H
#define PACE_CMD_MCP_CALL_H

#include <sys/types.h>

#include "cmd/mcp/mcp_tools.h"

struct mcp_limits {
	u64 seconds, memory;
	bool has_fence; /* the kernel has Landlock */
};

struct mcp_batch;

struct mcp_call {
	char *id;       /* of the request, as JSON */
	cJSON *request; /* the arguments are in it */
	struct mcp_question question;
	struct mcp_batch *batch; /* of the server; NULL: the request came alone */
	pid_t pid;               /* 0: it waits */
	int fd;                  /* what the process writes; -1: it waits */
	int said_fd;             /* what it said on standard error */
	u64 until_ns;            /* its deadline */
	bool is_late;            /* it did not keep it */
	struct str text;
};

int mcp_call_start(struct mcp_call *c, const struct mcp_folders *folders,
	const struct mcp_limits *limits, struct err *err);

/* Reads what is there. True: nothing more will come. */
bool mcp_call_read(struct mcp_call *c);

/* After that: adds the result. */
void mcp_call_result(struct mcp_call *c, const struct mcp_limits *limits, struct str *ret);

/* Ends the process, if there is one, and frees the call. */
void mcp_call_free(struct mcp_call *c);

/* The process itself: writes the result to `fd`. */
void mcp_child_run(const struct mcp_question *q, const struct mcp_folders *folders,
	const struct mcp_limits *limits, int fd) __attribute__((noreturn));

#endif
