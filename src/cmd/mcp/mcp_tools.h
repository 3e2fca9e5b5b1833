/*
 * mcp_tools.h - what pace mcp can be asked: the table of tools, and a question made of one call.
 *
 * In       a tool's name and its arguments, as JSON
 * Out      the words of the pace command that answers, which a person could type
 * Owns     a struct mcp_question its words; not the arguments
 * Errors   ERR_INVAL, ERR_NOENT: one sentence that says which argument is wrong and what it may be
 *
 * A tool is a command of pace with some words fixed and others taken from arguments; its JSON becomes an answer by the tool's `shape`.
 * So the answer and the command line that stands in it cannot differ.
 */
#ifndef PACE_CMD_MCP_TOOLS_H
#define PACE_CMD_MCP_TOOLS_H

#include "cmd/cmd.h"
#include "cmd/mcp/mcp_answer.h"
#include "cmd/mcp/mcp_folders.h"

enum mcp_kind { MCP_RECORDING, MCP_RECORDINGS, MCP_TEXT, MCP_NUMBER, MCP_FLAG };

enum { MCP_TEXT_MAX = 1000, MCP_SIDE_MAX = 20 };

struct mcp_argument {
	const char *name; /* NULL: the end */
	enum mcp_kind kind;
	bool is_needed;
	u64 least, most, standard; /* of numbers */
	const char *text;          /* the standard of texts; NULL: none */
	const char *
		word; /* what precedes the value on the command line, or the word for true; NULL: not a word */
	const char *word_not; /* the word for false */
	const char *help;
};

struct mcp_question;

struct mcp_tool {
	const char *name, *title, *help;
	const struct mcp_argument *arguments;
	const struct cmd *cmd;
	const char *words[8]; /* of each question */
	const char *extra;    /* a word that is left out if the recording cannot do it; or NULL */
	/* Adds words that are made of several arguments; or NULL. */
	void (*add_words)(struct mcp_question *q);
	/* Makes the answer of the command's JSON. ERR_NOENT: what was asked for is not there. */
	int (*shape)(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
		struct err *err);
	/* Instead of a command's JSON: reads the recording itself. */
	int (*read)(const struct mcp_question *q, struct mcp_answer *a, struct err *err);
	bool is_of_machine; /* reads no recording: it needs no fence */
};

/* A recording that was loaded, and its id. */
struct mcp_loaded {
	char *path;
	s64 changed_ns;
	u64 size;
};

struct mcp_recordings {
	const struct mcp_folders *folders;
	VEC(struct mcp_loaded) loaded; /* the n-th, from 1, has the id "rN" */
};

struct mcp_question {
	const struct mcp_tool *tool;
	const cJSON *arguments; /* checked; NULL: none */
	VEC(char *) paths;      /* of recordings, in the order of arguments */
	size_t n_first;         /* of them in the first argument */
	VEC(char *) words;      /* of the command, without the form */
	u64 id;                 /* of the recording; 0: it was not loaded */
	bool has_changed;       /* since it was loaded */
	bool has_structure;     /* the client's protocol has structuredContent */
};

extern const struct mcp_tool mcp_tools[];
extern const size_t mcp_n_tools;

const struct mcp_tool *mcp_tool_find(const char *name);

/* Adds the array of tools/list. */
void mcp_tools_add_list(struct str *out);

int mcp_question_init(struct mcp_question *q, const struct mcp_tool *tool, const cJSON *arguments,
	struct mcp_recordings *recordings, struct err *err);
void mcp_question_fini(struct mcp_question *q);
void mcp_question_add_word(struct mcp_question *q, const char *before, const char *text);

/* The command line for a shell; `extra`: with the tool's extra word. */
void mcp_question_command(const struct mcp_question *q, bool has_extra, struct str *ret);

/* The value of an argument of the question, or its standard. */
const char *mcp_question_text(const struct mcp_question *q, const char *name);
u64 mcp_question_number(const struct mcp_question *q, const char *name);

void mcp_recordings_fini(struct mcp_recordings *r);

#endif
