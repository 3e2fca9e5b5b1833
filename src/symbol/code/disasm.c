#include "symbol/code/disasm.h"

#include <string.h>

#include "symbol/code/llvm.h"
#include "symbol/code/objdump.h"

enum { RAW_ROW = 16 };

static int by_llvm(struct disasm *d, const struct code *c, const struct disasm_options *o,
	struct err *err)
{
	const char *name;

	if (llvm_load(&name, err))
		return err->code;
	if (!c->isa)
		return err_set(err, ERR_UNSUPPORTED, "ELF machine %u is not supported", c->machine);
	str_add(&d->by, name);
	return llvm_list(c, o->is_intel, &d->listing, err);
}

static int by_objdump(struct disasm *d, const struct code *c, const struct disasm_options *o,
	struct err *err)
{
	char found[PATH_MAX];
	const char *path = c->isa ? objdump_path(c->isa, o->objdump, found) : NULL;

	if (!c->isa)
		return err_set(err, ERR_UNSUPPORTED, "ELF machine %u is not supported", c->machine);
	if (!path && o->objdump)
		return err_set(err, ERR_NOENT, "'%s' is not a program", o->objdump);
	if (!path)
		return err_set(err, ERR_NOENT, "there is no '%s' (package binutils)",
			c->isa->objdumps[0]);
	str_add(&d->by, path);
	return objdump_list(c, o->is_intel, path, &d->listing, err);
}

/* Lists words, if all instructions of the set have that size; otherwise rows of bytes. */
static int by_nobody(struct disasm *d, const struct code *c, const struct disasm_options *o,
	struct err *err)
{
	u32 row = c->isa && c->isa->unit == 4 ? 4 : RAW_ROW;

	(void)o;
	(void)err;
	str_add(&d->by, "nobody");
	for (u64 at = 0; at < c->n; at += row)
		listing_add_bytes(&d->listing, c->va + at, c->at + at,
			(u32)MIN((u64)row, c->n - at));
	return 0;
}

static const struct {
	const char *name;
	int (*list)(struct disasm *d, const struct code *c, const struct disasm_options *o,
		struct err *err);
} engines[DISASM_ENGINES] = {
	[DISASM_LLVM] = {"llvm", by_llvm},
	[DISASM_OBJDUMP] = {"objdump", by_objdump},
	[DISASM_RAW] = {"raw", by_nobody},
};

int disasm(struct disasm *d, const struct code *c, const struct disasm_options *options,
	struct err *err)
{
	enum disasm_engine e = DISASM_LLVM;
	int r;

	memset(d, 0, sizeof(*d));
	if (options->engine)
		e = options->engine;
	else if (options->objdump)
		e = DISASM_OBJDUMP;
	for (;; e++) {
		r = engines[e].list(d, c, options, err);
		if (!r || options->engine || options->objdump)
			break;
		listing_fini(&d->listing);
		str_clear(&d->by);
		str_addf(&d->why, d->why.n ? "; %s" : "%s", err->msg);
	}
	d->engine = e;
	if (r)
		disasm_fini(d);
	return r;
}

void disasm_fini(struct disasm *d)
{
	listing_fini(&d->listing);
	str_fini(&d->by);
	str_fini(&d->why);
}

int disasm_choose(const char *name, enum disasm_engine *ret, struct err *err)
{
	struct str known = {0};

	for (enum disasm_engine e = DISASM_LLVM; e < DISASM_ENGINES; e++) {
		if (!strcmp(engines[e].name, name)) {
			str_fini(&known);
			*ret = e;
			return 0;
		}
		str_addf(&known, known.n ? ", %s" : "%s", engines[e].name);
	}
	err_set(err, ERR_INVAL, "'%.60s' is none of %s", name, str_text(&known));
	str_fini(&known);
	return err->code;
}
