/*
 * code.h - the machine code of an address range in a DSO.
 *
 * In       a DSO and a range of addresses, as in resolver_answer; the DSO is loaded
 * Out      the bytes, their address in memory, and their instruction set
 * Owns     bytes that had to be copied; otherwise they are a view into a file of the resolver
 * Errors   ERR_NOENT with the reason and the remedy; ERR_LIMIT
 * Threads  like the resolver: one for each DSO
 *
 * The sources of code are a table in code.c, one row for each kind. The first that has the code is
 * used.
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
	u64 start;               /* the address of the first byte, relative as in resolver_answer */
	u64 va;                  /* the same address as the code sees it, for relative targets */
	u16 machine;             /* EM_* */
	bool is_big;             /* big-endian data; instructions may differ */
	const struct arch *arch; /* NULL: unknown */
	const struct isa *isa;   /* the architecture's; NULL: nobody can show it */
	struct str origin;       /* the file or other source */
	const char *path;        /* in origin: a file whose time is that of the build; or NULL */
	struct str own;
};

int code_find(struct code *c, const struct resolver *r, const struct dso *dso, u64 start, u64 end,
	struct err *err);
void code_fini(struct code *c);

/*
 * The function at an address that the code refers to (a va); .at is the address relative as in that answer. The
 * answer has no name if there is no function.
 */
struct resolver_answer code_name(const struct code *c, struct resolver *r, const struct dso *dso,
	u64 va);

#endif
