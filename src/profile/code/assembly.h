/*
 * assembly.h - one function as it is shown: its instructions, what was sampled in each, and where in
 * the source they come from.
 *
 * In       a function of an annotation; a resolver that has its DSO loaded
 * Out      a row for each instruction; lines of source, the hottest first; what is to be said about
 *          it all
 * Owns     everything it points to, except names that the resolver has
 * Errors   none: without code there are rows for the sampled addresses only, and `no_code` says why
 *
 * Invariant: the counts of the rows sum to the function's, with `outside` for addresses that lie in
 * none.
 */
#ifndef PACE_PROFILE_ASSEMBLY_H
#define PACE_PROFILE_ASSEMBLY_H

#include "profile/code/annotation.h"
#include "profile/gather/blocks.h"
#include "symbol/code/code.h"
#include "symbol/types/datanames.h"
#include "symbol/code/disasm.h"
#include "symbol/code/source.h"

#define ASSEMBLY_NONE UINT32_MAX

struct assembly_options {
	struct disasm_options disasm;
	struct source_places places;
	unsigned style;              /* of names: enum demangle_style */
	unsigned frame_style;        /* of names of inlined functions */
	bool has_source;             /* lines are wanted */
	bool has_code;               /* files of source are wanted too */
	const struct blocks *blocks; /* what branch stacks tell; NULL: nothing */
	struct datanames *datanames; /* kept from function to function; NULL: data has no names */
};

/* A place in the source: of an instruction, or of the call that was inlined around it. */
struct assembly_frame {
	const char *function; /* interned; NULL: unknown */
	u32 file;             /* ASSEMBLY_NONE: unknown */
	u32 line;
};

struct assembly_row {
	u64 va;
	u32 size;
	u32 first_frame, n_frames; /* in assembly->frames, what was inlined innermost first */
	u32 to;                    /* the row that it jumps to; ASSEMBLY_NONE: none of these */
	const char *target;        /* "f+0x1c", of jumps and calls; NULL: unknown */
	const char *reference;     /* likewise of data; NULL: unknown */
	const char *literal;       /* the constant text that it refers to, quoted; NULL: none */
	/* Names that were made of where functions begin: another build has others. */
	bool is_target_made, is_reference_made;
	size_t counts; /* in assembly->counts: one for each event */
	/* Of straight runs of code that end with a branch taken here; 0 times: none was seen. */
	u64 n_runs, n_run_cycles, n_run_instructions;
};

struct assembly_file {
	const char *name; /* interned: its last part, or its path */
	const char *path; /* interned: with its directory */
	struct source source;
};

struct assembly_line {
	u32 file, line;
	size_t counts;
};

struct assembly {
	const struct annotation *annotation;
	const struct annotation_function *function;
	const struct profile_symbol *symbol;
	const struct profile_dso *dso;
	struct intern strings;
	struct code code;
	struct disasm disasm;
	struct err no_code;            /* code 0: there is code */
	struct str no_lines;           /* "": there are lines, or nobody asked */
	u64 va;                        /* of its begin */
	VEC(struct assembly_row) rows; /* as disasm.listing, if there is code */
	VEC(struct assembly_frame) frames;
	VEC(struct assembly_file) files;
	VEC(struct assembly_line) lines; /* that were sampled, hottest first */
	VEC(struct annotation_count) counts;
	struct annotation_count *outside; /* by event */
};

void assembly_init(struct assembly *a, const struct annotation *annotation,
	const struct annotation_function *f, struct resolver *resolver,
	const struct assembly_options *options);
void assembly_fini(struct assembly *a);

/* What the disassembler wrote of row i; "" without code. */
const char *assembly_text(const struct assembly *a, size_t i);

/* The bytes of row i; NULL without code. */
const u8 *assembly_bytes(const struct assembly *a, size_t i);

#endif
