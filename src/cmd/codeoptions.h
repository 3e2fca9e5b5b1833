/*
 * codeoptions.h - the options of all commands that show code: annotate, and report and top on a terminal.
 *
 *     -M, --disassembler-style STYLE   --disassembler WHICH   --objdump FILE
 *     --prefix DIR   --prefix-strip N   --percent-type TYPE   --asm-raw   --no-source
 *
 * A command's struct of options has a member `code`, which is CODE_OPTIONS_DEFAULT before parsing, and its table has the rows below.
 */
#ifndef PACE_CMD_CODEOPTIONS_H
#define PACE_CMD_CODEOPTIONS_H

#include "base/opts.h"
#include "cmd/symbols.h"
#include "view/code/annotate.h"

struct code_options {
	const char *syntax, *engine, *objdump, *prefix, *percent_type;
	u64 n_stripped;
	bool has_bytes;
	int has_source;
};

#define CODE_OPTIONS_DEFAULT       \
	{                          \
		.has_source = true \
	}

/* clang-format off: rows of option tables */
#define CODE_ROW_AT(type, member) offsetof(struct type, code.member)
#define CODE_PLACE_ROWS(type)                                                        \
	{0, "prefix", OPT_STR, CODE_ROW_AT(type, prefix), "DIR",                     \
		"look for source files below DIR"},                                  \
	{                                                                            \
		0, "prefix-strip", OPT_U64, CODE_ROW_AT(type, n_stripped), "N",      \
			"with --prefix: drop the first N directories of their paths" \
	}
#define CODE_FIGURE_ROW(type)                                                                                          \
	{                                                                                                              \
		0, "percent-type", OPT_STR, CODE_ROW_AT(type, percent_type), "TYPE",                                   \
			"local-period (default), local-hits, global-period or global-hits; either word may come first" \
	}
#define CODE_BYTES_ROW(type)                                                \
	{                                                                   \
		0, "asm-raw", OPT_BOOL, CODE_ROW_AT(type, has_bytes), NULL, \
			"the bytes of each instruction"                     \
	}
#define CODE_SOURCE_ROW(type)                                              \
	{                                                                  \
		0, "source", OPT_TRI, CODE_ROW_AT(type, has_source), NULL, \
			"source lines between the instructions (default)"  \
	}
#define CODE_ENGINE_ROWS(type)                                                             \
	{'M', "disassembler-style", OPT_STR, CODE_ROW_AT(type, syntax), "STYLE",           \
		"syntax of x86 code: att (default) or intel"},                             \
		{0, "disassembler", OPT_STR, CODE_ROW_AT(type, engine), "WHICH",           \
			"use llvm, objdump or raw; default: the first that is available"}, \
	{                                                                                  \
		0, "objdump", OPT_STR, CODE_ROW_AT(type, objdump), "FILE",                 \
			"run this objdump program"                                         \
	}
/* Of commands that show code beside their rows. */
#define CODE_ROWS(type)                                                       \
	CODE_ENGINE_ROWS(type), CODE_PLACE_ROWS(type), CODE_FIGURE_ROW(type), \
		CODE_BYTES_ROW(type), CODE_SOURCE_ROW(type)
/* clang-format on */

/* What is wrong with a value: ERR_INVAL. */
int code_options_check(const struct code_options *o, struct err *err);

/* Options that were checked, as those who make and show assemblies want them. */
void code_options_tell(const struct code_options *o, const struct symbol_options *symbols,
	struct assembly_options *assembly, struct annotate_options *shown);

#endif
