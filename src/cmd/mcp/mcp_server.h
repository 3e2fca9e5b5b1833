/*
 * mcp_server.h - a Model Context Protocol server on standard input and output.
 *
 * In       lines of JSON-RPC; folders; limits
 * Out      a line for each request, in the order in which answers are ready; nothing else
 * Owns     the calls that run and wait
 * Limits   SERVER_RUNNING processes at once, SERVER_WAITING calls behind them; more are refused with WIRE_BUSY
 * Errors   ERR_SYS: standard input cannot be read, or standard output takes no more
 * Source   Model Context Protocol, revisions 2024-11-05, 2025-03-26 (with batches) and 2025-06-18 (with structuredContent)
 *
 * It ends when its input ends and all calls are answered, or when nobody reads its output.
 */
#ifndef PACE_CMD_MCP_SERVER_H
#define PACE_CMD_MCP_SERVER_H

#include "cmd/mcp/mcp_call.h"
#include "cmd/mcp/mcp_wire.h"

enum { SERVER_RUNNING = 4, SERVER_WAITING = 64 };

struct mcp_server {
	struct mcp_recordings recordings;
	struct mcp_limits limits;
	bool is_verbose;      /* says on standard error what it is asked */
	const char *protocol; /* NULL: there was no initialize yet */
	struct wire wire;
	VEC(struct mcp_call *) calls; /* in the order of requests */
	bool is_ended;                /* the input is */
	int sys;                      /* errno of the first write that failed */
};

int mcp_server_run(struct mcp_server *s, struct err *err);

#endif
