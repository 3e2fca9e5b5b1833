/*
 * elf.h - an ELF file, mapped and checked: its sections, segments and notes.
 *
 * In       a path or a piece of memory; 32 and 64 bit, both byte orders; packed as a whole (.ko.xz)
 *          or by sections
 * Out      views of sections; addresses for file offsets
 * Owns     the mapping, what was unpacked, and the path
 * Life     views are valid until elf_close()
 * Errors   ERR_NOENT, ERR_PERM, ERR_SYS; ERR_FORMAT for what is no ELF file. Every offset and size
 *          in the file is checked before it is used
 * Threads  one at a time: sections are unpacked when they are first asked for
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
	bool is_mapped;                /* to be unmapped; else it is somebody's memory */
	char *path;                    /* NULL: it is no file */
	u64 device, inode, generation; /* of that file; 0: its file system has none */
	bool is_64, swap;
	bool is_cut; /* it has fewer section headers than it says: its end is missing */
	u16 machine, type;
	u64 entry; /* where a program begins; 0: nowhere */
	struct elf_section *sections;
	u32 n_sections;
	struct elf_segment *segments;
	u32 n_segments;
	struct bytes section_names;
	struct str whole;           /* the file, if it was packed */
	struct elf_unpacked *parts; /* by section; NULL: none is packed */
};

int elf_open(struct elf *elf, const char *path, struct err *err);
int elf_of_memory(struct elf *elf, const void *data, u64 size, struct err *err);

/*
 * Opens the small ELF file that .gnu_debugdata of `image` holds, xz-packed: symbols that .dynsym
 * lacks. ERR_NOENT if there is none.
 */
int elf_open_debugdata(struct elf *elf, const struct elf *image, struct err *err);
void elf_close(struct elf *elf);

/* The file's architecture; NULL: it is not known, or its words are not that machine's (x32). */
const struct arch *elf_arch(const struct elf *elf);

/* Whether the section's name begins so; whether it is that. */
bool elf_has_name(const struct elf *elf, const struct elf_section *s, const char *begin);
bool elf_is_called(const struct elf *elf, const struct elf_section *s, const char *name);

/* The section called `name`, or NULL; the first of a type. */
const struct elf_section *elf_section(const struct elf *elf, const char *name);
const struct elf_section *elf_section_of_type(const struct elf *elf, u32 type);
const struct elf_section *elf_section_at(const struct elf *elf, u32 index);

/*
 * What a section holds, unpacked; false for sections without contents, outside the file, or damaged.
 */
bool elf_contents(const struct elf *elf, const struct elf_section *s, struct bytes *ret_bytes);

/* The bytes of a section as they lie in the file: of a compressed one its header first. */
bool elf_raw(const struct elf *elf, const struct elf_section *s, struct bytes *ret_bytes);

/* A packed section, as its header says; false if it is none, or damaged. */
struct elf_packed {
	enum unpack_form form; /* UNPACK_NONE: one that is not known */
	u64 size;              /* of what it holds, as it says: it may say anything */
	struct bytes bytes;    /* behind the header */
};

bool elf_packed(const struct elf *elf, const struct elf_section *s, struct elf_packed *ret_packed);

/* The file's build-id into id; its size, 0 if it has none. */
u8 elf_build_id(const struct elf *elf, u8 id[BUILD_ID_MAX]);

/* The name and checksum of the separate debug file that .gnu_debuglink points to. */
bool elf_debug_link(const struct elf *elf, const char **ret_name, u32 *ret_crc);

/*
 * The address that a byte of the file is loaded to, before relocation. False if no segment loads
 * it.
 */
bool elf_address_of_offset(const struct elf *elf, u64 offset, u64 *ret_va);

/* Where the byte that is loaded to an address lies in the file; false if the file has none for it. */
bool elf_offset_of_address(const struct elf *elf, u64 va, u64 *ret_offset);

/* The n bytes that the file has for [va, va + n); NULL if it has not all of them. */
const u8 *elf_bytes_at(const struct elf *elf, u64 va, u64 n);

/* A build-id in the notes at p (as in /sys/kernel/notes); its size, 0 if there is none. */
u8 elf_build_id_in_notes(struct bytes notes, u8 id[BUILD_ID_MAX]);

#endif
