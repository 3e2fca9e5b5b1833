/*
 * mcp_shapes.h - from a command's JSON to an answer of bounded size: what each tool shows of it.
 *
 * In       the JSON that report, annotate, diff and doctor print
 * Out      rows, the largest first, with their confidence; the remainder
 * Errors   ERR_NOENT: the event or the function asked for is not in the recording
 */
#ifndef PACE_CMD_MCP_SHAPES_H
#define PACE_CMD_MCP_SHAPES_H

#include "cmd/mcp/mcp_tools.h"

typedef int mcp_shape(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
	struct err *err);

mcp_shape mcp_shape_top, mcp_shape_tree, mcp_shape_callers, mcp_shape_callees, mcp_shape_annotate,
	mcp_shape_diff, mcp_shape_doctor;

/* Of tools that read the recording themselves. */
int mcp_read_load(const struct mcp_question *q, struct mcp_answer *a, struct err *err);
int mcp_read_ledger(const struct mcp_question *q, struct mcp_answer *a, struct err *err);

/*
 * The event of the page that is asked for, else the one with the most samples; its heading becomes the answer's. NULL: there is none,
 * and *err says which there are.
 */
const cJSON *mcp_find_event(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
	struct err *err);

#endif
