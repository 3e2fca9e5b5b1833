/*
 * mcp_answer.h - the answer to one call of a tool: text to read, and the same as data; never longer than MCP_ANSWER_BYTES.
 *
 * In       rows, the largest first; what is known of their confidence; what was lost; the command line
 * Out      the `result` of tools/call: content, structuredContent, isError
 * Owns     its texts
 * Source   Model Context Protocol, revision 2025-06-18, Server Features, Tools
 *
 * Rows that are too many for the limit or for the room are counted as the remainder, with their share. Names of functions and files
 * come from recordings: what a terminal would obey is escaped, and long ones are cut in the middle.
 */
#ifndef PACE_CMD_MCP_ANSWER_H
#define PACE_CMD_MCP_ANSWER_H

#include <cjson/cJSON.h>

#include "base/err.h"
#include "base/str.h"

enum {
	MCP_ANSWER_BYTES = 128 << 10, /* of the whole result */
	MCP_ROWS_BYTES = 20 << 10,    /* of rows as text, and as data */
	MCP_NAME_BYTES = 160,         /* of a name */
	MCP_NOTES_BYTES = 2 << 10,    /* of what the command said on standard error */
};

struct mcp_answer {
	struct str head, table, foot; /* the text: above the rows, the rows, below them */
	struct str members;           /* of structuredContent, each followed by a comma */
	struct str rows;              /* likewise its rows */
	u64 n_rows, most;
	u64 n_left;        /* rows that are not shown */
	double share_left; /* in percent; negative: rows have no shares */
	bool is_uneven;    /* see mcp_answer_event() */
};

/* Names are cut to MCP_NAME_BYTES. */
void mcp_add_name(struct str *text, const char *name); /* safe for terminals */
void mcp_add_dso(struct str *text, const char *dso);   /* "  [FILE]"; NULL: nothing */
void mcp_json_name(struct str *out, const char *key, const char *name); /* NULL: null */

/* The text of a member, or NULL; its number, or `otherwise`. */
const char *mcp_text_of(const cJSON *object, const char *name);
double mcp_number_of(const cJSON *object, const char *name, double otherwise);
const cJSON *mcp_list_of(const cJSON *object, const char *name); /* an array, or NULL */

/* Copies all members that are neither arrays nor objects. */
void mcp_json_copy(struct str *out, const cJSON *object);

/* A number with n digits after the point. */
void mcp_json_fixed(struct str *out, const char *key, double v, unsigned digits);

/* Adds a row if there is room; `data`: the members of its object. Both texts are empty afterwards. */
void mcp_answer_row(struct mcp_answer *a, struct str *data, struct str *text, double share);

/* A member of a list, with what it is ranked by. */
struct mcp_spot {
	const cJSON *at;
	double weight;
	int place; /* in the list */
};

/* For qsort(): the heaviest first, equal ones in the order of the list; or all in that order. */
int mcp_by_weight(const void *a, const void *b);
int mcp_by_place(const void *a, const void *b);

/*
 * Says which event it is about. If its samples do not stand for about the same amount, as those of wall-clock time, of waiting and of
 * memory, nothing can be said of the intervals of shares.
 */
void mcp_answer_event(struct mcp_answer *a, const char *event);

/*
 * Adds share_low and share_high to data, " (46.9-53.6)" to text: the interval, in percent, that has the true share with 95 %, if the n
 * samples are independent (Wilson's).
 */
void mcp_answer_interval(const struct mcp_answer *a, double share, double n, struct str *data,
	struct str *text);
void mcp_add_interval(struct str *text, double low, double high);

/* How intervals were made; NULL: by mcp_answer_interval(). */
void mcp_answer_confidence(struct mcp_answer *a, double n, const char *method);

/* What was recorded and what is shown of it, as `report --json` has it; or in words. */
void mcp_answer_losses(struct mcp_answer *a, const cJSON *ledger);
void mcp_answer_losses_said(struct mcp_answer *a, const char *words);

/* The result; `notes`: what the command said beside its answer. */
void mcp_answer_finish(struct mcp_answer *a, const char *command, const char *notes,
	bool has_structure, struct str *ret);
void mcp_answer_fini(struct mcp_answer *a);

/* A result that says what went wrong, and what to do. */
void mcp_answer_error(const char *sentence, struct str *ret);

#endif
