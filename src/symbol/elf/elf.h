/*
 * elf.h - an ELF file, mapped and checked: its sections, segments and notes.
 *
 * In       a path or a piece of memory; 32 and 64 bit, both byte orders; packed as a whole (.ko.xz)
 *          or by sections
 * Out      views of sections; addresses for file offsets
 * Owns     the mapping, the unpacked bytes, and the path
 * Life     views are valid until elf_close()
 * Errors   ERR_NOENT, ERR_PERM, ERR_SYS; ERR_FORMAT for what is not an ELF file. Every offset and size
 *          in the file is checked before it is used
 * Threads  one at a time: sections are unpacked when they are first used
 * Source   System V ABI, chapter 4 and 5; elf(5)
 */
#ifndef PACE_SYMBOL_ELF_H
#define PACE_SYMBOL_ELF_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "record/record.h"
#include "symbol/elf/unpack.h"

struct arch;

struct elf_section {
	u32 name; /* offset in the table of section names */
	u32 type;
	u64 flags, addr, offset, size;
	u32 link, info;
	u64 align, entry_size;
};

struct elf_segment {
	u32 type, flags;
	u64 offset, va, file_size, mem_size;
};

struct elf {
	const u8 *data;
	u64 size;
	bool is_mapped;                /* must be unmapped; false: the memory is the caller's */
	char *path;                    /* NULL: not a file */
	u64 device, inode, generation; /* generation 0: the file system has none */
	bool is_64, swap;
	bool is_cut; /* the file lacks section headers that its ELF header announces: its end is missing */
	u16 machine, type;
	u64 entry; /* where a program begins; 0: none */
	struct elf_section *sections;
	u32 n_sections;
	struct elf_segment *segments;
	u32 n_segments;
	struct bytes section_names;
	struct str whole;           /* the unpacked file, if it was packed as a whole */
	struct elf_unpacked *parts; /* by section; NULL: none was unpacked */
};

int elf_open(struct elf *elf, const char *path, struct err *err);
int elf_of_memory(struct elf *elf, const void *data, u64 size, struct err *err);

/*
 * Opens the small ELF file, packed by xz, in .gnu_debugdata of `image`: it has symbols that .dynsym lacks.
 * ERR_NOENT if there is none.
 */
int elf_open_debugdata(struct elf *elf, const struct elf *image, struct err *err);
void elf_close(struct elf *elf);

/* Gives back the memory of the file's pages, which are read again where they are needed. Views stay valid. */
void elf_rest(const struct elf *elf);

/* Returns the file's architecture; NULL: it is unknown, or the ELF class is not the machine's (x32). */
const struct arch *elf_arch(const struct elf *elf);

/* Whether the section's name begins with `begin`; whether it is `name`. */
bool elf_has_name(const struct elf *elf, const struct elf_section *s, const char *begin);
bool elf_is_called(const struct elf *elf, const struct elf_section *s, const char *name);

/* The section called `name`, or NULL; the first section of a type. */
const struct elf_section *elf_section(const struct elf *elf, const char *name);
const struct elf_section *elf_section_of_type(const struct elf *elf, u32 type);
const struct elf_section *elf_section_at(const struct elf *elf, u32 index);

/*
 * The contents of a section, unpacked. False if it has none, lies outside of the file, or is damaged.
 */
bool elf_contents(const struct elf *elf, const struct elf_section *s, struct bytes *ret_bytes);

/* The bytes of a section as they are in the file; a compressed one begins with its header. */
bool elf_raw(const struct elf *elf, const struct elf_section *s, struct bytes *ret_bytes);

/* A packed section, from its header. elf_packed() returns false if the section is not packed, or damaged. */
struct elf_packed {
	enum unpack_form form; /* UNPACK_NONE: unknown */
	u64 size;              /* unpacked size according to the header; not verified */
	struct bytes bytes;    /* after the header */
};

bool elf_packed(const struct elf *elf, const struct elf_section *s, struct elf_packed *ret_packed);

/* Copies the file's build-id to id. Returns its size, 0 if there is none. */
u8 elf_build_id(const struct elf *elf, u8 id[BUILD_ID_MAX]);

/* The name and checksum of the separate debug file that .gnu_debuglink points to. */
bool elf_debug_link(const struct elf *elf, const char **ret_name, u32 *ret_crc);

/*
 * The address that a byte of the file is loaded at, before relocation. Returns false if no segment loads
 * it.
 */
bool elf_address_of_offset(const struct elf *elf, u64 offset, u64 *ret_va);

/* The offset of the byte that is loaded at an address. Returns false if the file has no byte for it. */
bool elf_offset_of_address(const struct elf *elf, u64 va, u64 *ret_offset);

/* The file's n bytes for [va, va + n); NULL if it does not have all of them. */
const u8 *elf_bytes_at(const struct elf *elf, u64 va, u64 n);

/* Finds a build-id in notes (such as /sys/kernel/notes). Returns its size, 0 if there is none. */
u8 elf_build_id_in_notes(struct bytes notes, u8 id[BUILD_ID_MAX]);

#endif
