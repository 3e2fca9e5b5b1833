/*
 * dso.h - one file (or pseudo file) that code was mapped from.
 *
 * Made by the machine from the names in records; no file is opened here.
 * Owns     nothing: strings are interned in its table
 * Life     the machine's; addresses are stable
 */
#ifndef PACE_MACHINE_DSO_H
#define PACE_MACHINE_DSO_H

#include "base/mem.h"
#include "base/str.h"
#include "base/table.h"
#include "base/types.h"
#include "record/record.h"

enum dso_kind {
	DSO_UNKNOWN, /* "[unknown]": an address that no map covers */
	DSO_FILE,    /* an ELF file; addresses in it are file offsets */
	DSO_KERNEL,  /* a kernel's image; absolute addresses */
	DSO_MODULE,  /* a kernel module; addresses count from where it is loaded */
	DSO_VDSO,    /* the kernel's page of user code; offsets in it */
	/* one BPF program or kernel trampoline, its name is its symbol; absolute addresses */
	DSO_BPF,
	DSO_JIT, /* anonymous executable memory; absolute addresses */
	/* a file that a JIT writes its code to; addresses in it are file offsets */
	DSO_JITDUMP,
	DSO_NONE, /* [heap], [stack] and the like: no code file behind it; absolute addresses */
};

struct dso {
	u32 id;           /* position in the machine's list: 0 is [unknown] */
	u8 kind;          /* enum dso_kind */
	u8 build_id_size; /* 0: unknown */
	u8 build_id[BUILD_ID_MAX];
	/* by a record, so that the table of build-ids does not override it */
	bool has_build_id_said;
	const char *path; /* as recorded */
	const char
		*name; /* what reports print: the file's last part, [module], [kernel.kallsyms] */
	/*
	 * DSO_FILE: which file it was, as far as records tell; and others that had the same path at other
	 * times, or in other containers.
	 */
	u64 device, inode, generation; /* 0: not told */
	struct dso *namesake;          /* the next one; NULL: the last */
	u32 nth;                       /* of them, in the order in which they were mapped first */
	bool has_namesakes;
	/* DSO_FILE: the first and behind the last of its bytes that were mapped as code; equal: none were */
	u64 code_from, code_to;
	bool is_guest; /* DSO_KERNEL, DSO_MODULE: of a virtual machine's kernel */
	u32 pid;       /* DSO_JIT: whose memory; of guests: who runs them here, 0: any other */
	u64 base;      /* DSO_MODULE: where it was loaded */
};

struct dso_list {
	struct intern *strings;
	struct table index;
	VEC(struct dso *) at;
	struct arena arena;
};

/*
 * What tells this build of the file from others, as hexadecimal digits: its build-id, else which file it
 * was. Nothing is added where neither is known.
 */
void dso_add_build(const struct dso *dso, struct str *text);

/*
 * How many bytes of a build-id are one. Some writers fill those of 8 or 16 bytes up with zeros, and older
 * records do not say how many there are. 0: it is none.
 */
u8 dso_build_id_bytes(const u8 *id, u8 n);

void dso_set_build_id(struct dso *dso, const u8 *id, u8 n);

/* A map of n bytes from `pgoff` on was code. */
void dso_note_code(struct dso *dso, u64 pgoff, u64 n);

void dso_list_init(struct dso_list *list, struct intern *strings);
void dso_list_fini(struct dso_list *list);

/*
 * The DSO of that path, created if it is new. `pid` matters for anonymous memory; `is_kernel` for
 * names.
 */
struct dso *dso_get(struct dso_list *list, const char *path, size_t n, u32 pid, bool is_kernel);

enum { DSO_NAMESAKES_MAX = 1 << 10 }; /* more files at one path are taken for the last of them */

/*
 * The DSO of a map. Two files that were at one path one after the other are two: they have other
 * build-ids, or other inodes of one device. What else is told apart (an overlay shows other devices in
 * /proc than in records) is one.
 */
struct dso *dso_get_mapped(struct dso_list *list, const struct record_mmap *map, bool is_kernel);

/*
 * Who follows a recording in the order of time learns late that a path had several files: that there
 * will be an nth one (1 and up), so that what is told of the path is told of the last.
 */
void dso_expect(struct dso_list *list, const char *path, u32 nth);

/* The image of a guest's kernel ("[guest.kernel.kallsyms]...") or one of its modules. */
struct dso *dso_get_guest(struct dso_list *list, const char *path, size_t n, u32 pid);

/* The same, for a path that is known to be some kind of thing. */
struct dso *dso_get_kind(struct dso_list *list, const char *path, size_t n, enum dso_kind kind);

#endif
