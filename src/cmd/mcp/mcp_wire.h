/*
 * mcp_wire.h - JSON-RPC 2.0 over lines: what comes in is bounded and checked before anything is made of it.
 *
 * In       bytes of standard input
 * Out      messages, one a line, as JSON; or the error that answers a line which is none
 * Owns     the bytes of a line that is not complete
 * Limits   WIRE_LINE bytes a line; a longer one is read to its end and answered by an error. WIRE_DEPTH levels, WIRE_VALUES values
 * Source   JSON-RPC 2.0 Specification; Model Context Protocol, Transports, stdio
 */
#ifndef PACE_CMD_MCP_WIRE_H
#define PACE_CMD_MCP_WIRE_H

#include <cjson/cJSON.h>

#include "base/str.h"

enum { WIRE_LINE = 1 << 20, WIRE_DEPTH = 32, WIRE_VALUES = 20000, WIRE_ID = 256 };

enum wire_error {
	WIRE_NO_JSON = -32700,
	WIRE_NO_REQUEST = -32600,
	WIRE_NO_METHOD = -32601,
	WIRE_BAD_PARAMS = -32602,
	WIRE_INTERNAL = -32603,
	WIRE_BUSY = -32000,
};

struct wire {
	struct str line;
	size_t n_taken; /* of `line`, by lines that were handed out */
	bool is_long;   /* the line was too long, and its end has not come yet */
};

void wire_add(struct wire *w, const char *bytes, size_t n);

/*
 * The next complete line, or at the end of the input (`is_end`) what is left. False: there is none. *ret is NULL if the line is no JSON;
 * *ret_why then says why. Empty lines are skipped.
 */
bool wire_next(struct wire *w, bool is_end, cJSON **ret, const char **ret_why);
void wire_fini(struct wire *w);

/* The id of a request as JSON, which the caller frees; NULL: it has none, or one that JSON-RPC does not allow. */
char *wire_id(const cJSON *request);

/* Add a message, without the end of the line; id NULL: null. */
void wire_add_result(struct str *out, const char *id, const char *result);
void wire_add_error(struct str *out, const char *id, enum wire_error code, const char *sentence);

#endif
