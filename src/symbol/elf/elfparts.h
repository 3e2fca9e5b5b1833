/*
 * elfparts.h - pieces of the ELF files that pace writes: names, functions, the note with the build-id, the header.
 *
 * In       what a piece says
 * Out      bytes of a 64-bit, little-endian ELF file, appended to a section's
 * Owns     nothing
 * Errors   none
 * Source   elf(5)
 */
#ifndef PACE_SYMBOL_ELFPARTS_H
#define PACE_SYMBOL_ELFPARTS_H

#include <elf.h>

#include "base/str.h"
#include "base/types.h"

/* Appends to a table of strings, and returns where. */
u32 elfparts_add_name(struct str *strings, const char *name);

/* Tables of symbols and their strings begin with an entry that means none. */
void elfparts_begin_symbols(struct str *symbols, struct str *strings);

/* Appends a function of section `section`, at [start, start + size). */
void elfparts_add_function(struct str *symbols, struct str *strings, u16 section, const char *name,
	u64 start, u64 size);

void elfparts_add_build_id(struct str *note, const u8 *id, u32 n);

/* The file's header: `n_segments` program headers follow it, the section headers are at `table`, their names in the last one. */
Elf64_Ehdr elfparts_header(u16 machine, u16 n_segments, u64 table, u16 n_sections);

#endif
