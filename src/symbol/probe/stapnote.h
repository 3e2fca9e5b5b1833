/*
 * stapnote.h - the markers that programs have for tracers (SDT, USDT): the notes of .note.stapsdt.
 *
 * In       an ELF file
 * Out      markers: where they are, their semaphores and arguments
 * Life     texts are views of the file
 * Units    addresses as in the file (rva)
 * Errors   malformed notes are left out
 * Source   SystemTap wiki, UserSpaceProbeImplementation; sys/sdt.h: what an argument looks like
 */
#ifndef PACE_SYMBOL_STAPNOTE_H
#define PACE_SYMBOL_STAPNOTE_H

#include "base/str.h"
#include "base/vec.h"
#include "symbol/elf/elf.h"

struct stapnote {
	u64 address;
	u64 semaphore; /* 0: none */
	const char *provider, *name, *args;
};

typedef VEC(struct stapnote) stapnote_list;

void stapnotes_read(const struct elf *elf, const struct arch *arch, stapnote_list *ret);

/* provider NULL: any. Both may have wildcards. */
bool stapnote_is(const struct stapnote *n, const char *provider, const char *name);

/* Adds " arg1=%ax:s32 ..." up to the first argument that the kernel cannot fetch. */
void stapnote_add_args(const struct stapnote *n, const struct arch *arch, struct str *text);

/* "'x' has no marker 'a:b'; did you mean 'a:c'?" */
int stapnotes_unknown(const stapnote_list *notes, const char *path, const char *provider,
	const char *name, struct err *err);

#endif
