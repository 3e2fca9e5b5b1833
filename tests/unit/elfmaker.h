/*
 * elfmaker.h - small ELF files, made in memory: only what a test puts into them.
 *
 *     struct elfmaker m;
 *     elfmaker_init(&m, true, false, EM_X86_64);
 *     u32 text = elfmaker_section(&m, &(struct elfmaker_section){.name = ".text", .type =
 * SHT_PROGBITS, ...}); elfmaker_symbol(&m, SHT_SYMTAB, "main", STB_GLOBAL, STT_FUNC, text, 0x1000,
 * 16); elfmaker_finish(&m);                    m.file holds the bytes elfmaker_fini(&m);
 *
 * Owns     everything given to it is copied
 * Units    file offsets
 * Source   System V ABI, chapters 4 and 5
 */
#ifndef PACE_TESTS_UNIT_ELFMAKER_H
#define PACE_TESTS_UNIT_ELFMAKER_H

#include <elf.h>

#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"

struct elfmaker_section {
	const char *name;
	u32 type;
	u64 flags, addr;
	u64 offset; /* where it shall lie in the file; 0: behind what is there */
	u64 size;   /* without data: so many zeros */
	const void *data;
	u32 link, info;
	u64 entry_size;
};

struct elfmaker_segment {
	u32 type, flags;
	u64 offset, va, file_size, mem_size;
};

/* An integer of the file's own structures: where it stands, and how many bytes it has. */
struct elfmaker_field {
	u64 offset;
	u32 size;
};

struct elfmaker {
	bool is_64, is_big;
	u16 machine;
	VEC(struct elfmaker_section) sections; /* data in `arena` */
	VEC(struct elfmaker_segment) segments;
	struct str symtab, strtab, dynsym, dynstr, rela;
	VEC(struct elfmaker_field)
	fields; /* of header and tables; filled in by elfmaker_finish() */
	struct arena arena;
	struct str file;
};

void elfmaker_init(struct elfmaker *m, bool is_64, bool is_big, u16 machine);
void elfmaker_fini(struct elfmaker *m);

/* Adds a section; its index. */
u32 elfmaker_section(struct elfmaker *m, const struct elfmaker_section *section);
void elfmaker_segment(struct elfmaker *m, u32 type, u32 flags, u64 offset, u64 va, u64 size);

/* A section .text of code (data NULL: zeros), and the segment that maps it, alone, at va. */
void elfmaker_text(struct elfmaker *m, u64 va, u64 offset, const void *data, u64 size);

/* Adds a symbol to .symtab or .dynsym; its number there. */
u32 elfmaker_symbol(struct elfmaker *m, u32 table, const char *name, u8 binding, u8 type,
	u16 section, u64 value, u64 size);

/* A function of the first section, the usual case. */
void elfmaker_function(struct elfmaker *m, const char *name, u64 value, u64 size);

/* A section with one note; its index. */
u32 elfmaker_note(struct elfmaker *m, const char *section, const char *owner, u32 type,
	const void *desc, u32 n);
u32 elfmaker_debug_link(struct elfmaker *m, const char *name, u32 crc);

/* An entry of .rela.plt: the word at `slot` gets the address of .dynsym's symbol, or what `addend`
 * says. */
void elfmaker_relocation(struct elfmaker *m, u64 slot, u32 symbol, u32 type, u64 addend);

void elfmaker_finish(struct elfmaker *m);

#endif
