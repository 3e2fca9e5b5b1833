/*
 * assembly.h - one function to be shown: its instructions, the samples in each, and the source lines they
 * come from.
 *
 * In       a function of an annotation; a resolver
 * Out      a row for each instruction; source lines, the hottest first; why code or lines are missing
 * Owns     everything it points to, except the resolver's names
 * Errors   none: without code there are rows for the sampled addresses only, and `no_code` says why
 *
 * Invariant: the counts of the rows, plus `outside` for addresses in no row, sum to the function's.
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
	bool has_source;             /* source lines are wanted */
	bool has_code;               /* the text of source files is wanted too */
	const struct blocks *blocks; /* runs from branch stacks; NULL: none */
	struct datanames *datanames; /* kept from function to function; NULL: data is not named */
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
	u32 first_frame, n_frames; /* in assembly->frames, innermost inlined function first */
	u32 to;             /* the row that it jumps to; ASSEMBLY_NONE: no row of this function */
	const char *target; /* "f+0x1c", for jumps and calls; NULL: unknown */
	const char *reference; /* "v+0x8", for data; NULL: unknown */
	const char *literal;   /* the constant text that it refers to, quoted; NULL: none */
	/* The name was made up from a function's address: another build has another. */
	bool is_target_made, is_reference_made;
	size_t counts; /* in assembly->counts: one for each event */
	/* Sums over straight runs of code that end with a branch taken here. */
	u64 n_runs, n_run_cycles, n_run_instructions;
};

struct assembly_file {
	const char *name; /* interned: the last part of its path */
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
	struct err no_code;  /* code 0: there is code */
	struct str no_lines; /* why there are no lines; "": there are, or they are not wanted */
	u64 va;              /* of the first instruction */
	u32 longest;         /* bytes of the longest instruction */
	VEC(struct assembly_row) rows; /* parallel to disasm.listing, if there is code */
	VEC(struct assembly_frame) frames;
	VEC(struct assembly_file) files;
	VEC(struct assembly_line) lines; /* that were sampled, hottest first */
	VEC(struct annotation_count) counts;
	struct annotation_count *outside; /* by event */
};

void assembly_init(struct assembly *a, const struct annotation *annotation,
	const struct annotation_function *f, struct resolver *resolver,
	const struct assembly_options *options);
/* The same for a function without samples, in a DSO of the profile. The symbol must stay where it is. */
void assembly_init_unsampled(struct assembly *a, const struct annotation *annotation,
	const struct profile_symbol *symbol, struct resolver *resolver,
	const struct assembly_options *options);
void assembly_fini(struct assembly *a);

/*
 * The function that row i jumps to or calls, if it is another one: its name is in `strings`. False: the row goes nowhere
 * else, or nothing is known of where it goes.
 */
bool assembly_leads_to(const struct assembly *a, size_t i, struct resolver *resolver,
	unsigned style, struct intern *strings, struct profile_symbol *ret);

/* The disassembler's text of row i; "" without code. */
const char *assembly_text(const struct assembly *a, size_t i);

/* The bytes of row i; NULL without code. */
const u8 *assembly_bytes(const struct assembly *a, size_t i);

#endif
