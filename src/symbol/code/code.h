/*
 * code.h - the machine code of a stretch of a DSO.
 *
 * In       a DSO and a range of addresses, as resolver_answer has them; the DSO is loaded
 * Out      its bytes, where they were in memory, and of which instruction set they are
 * Owns     bytes that had to be copied; else they are a view into what the resolver has open
 * Errors   ERR_NOENT with the reason and how to get it; ERR_LIMIT
 * Threads  as the resolver: one for each DSO
 *
 * Where code comes from is a table in code.c: one row for each kind of source. The first that has it
 * wins.
 */
#ifndef PACE_SYMBOL_CODE_H
#define PACE_SYMBOL_CODE_H

#include "base/str.h"
#include "arch/isa.h"
#include "symbol/resolve/resolver.h"

struct arch;

enum { CODE_MAX = 16 << 20 }; /* bytes: no function has more */

struct code {
	const u8 *at;
	u64 n;
	u64 start;               /* the address of the first, as resolver_answer counts */
	u64 va;                  /* what the code itself takes that to be: for relative targets */
	u16 machine;             /* EM_* */
	bool is_big;             /* its data has the other end first; instructions may differ */
	const struct arch *arch; /* NULL: unknown */
	const struct isa *isa;   /* the architecture's; NULL: nobody can show it */
	struct str origin;       /* the file, or what else it is from */
	const char *path;        /* in origin: a file whose time tells when it was built; or NULL */
	struct str own;
};

int code_find(struct code *c, const struct resolver *r, const struct dso *dso, u64 start, u64 end,
	struct err *err);
void code_fini(struct code *c);

/*
 * The function at an address that the code refers to (a va), and how that function counts addresses:
 * .at. An answer without name if there is none.
 */
struct resolver_answer code_name(const struct code *c, struct resolver *r, const struct dso *dso,
	u64 va);

#endif
