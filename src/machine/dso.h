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
	/* a record said the build-id, so the table of build-ids does not override it */
	bool has_build_id_said;
	const char *path; /* as recorded */
	const char
		*name; /* what reports print: the file's last part, [module], [kernel.kallsyms] */
	/*
	 * DSO_FILE: which file it was, as far as records tell; and others that had the same path at other
	 * times, or in other containers.
	 */
	u64 device, inode, generation; /* 0: unknown */
	struct dso *namesake;          /* the next one; NULL: the last */
	u32 nth;                       /* its number among them, in the order of their first maps */
	bool has_namesakes;
	/* DSO_FILE: the range of its bytes that were mapped as code; equal: none were */
	u64 code_from, code_to;
	bool is_guest; /* DSO_KERNEL, DSO_MODULE: of a virtual machine's kernel */
	u32 pid;  /* DSO_JIT: whose memory it is; guests: the process that runs it, 0: any other */
	u64 base; /* DSO_MODULE: where it was loaded */
};

struct dso_list {
	struct intern *strings;
	struct table index;
	VEC(struct dso *) at;
	struct arena arena;
};

/*
 * Adds, in hexadecimal digits, what distinguishes this build of the file from others: its build-id, else a
 * hash of its inode and device. Adds nothing if neither is known.
 */
void dso_add_build(const struct dso *dso, struct str *text);

/*
 * The real size of a build-id. Some writers pad ids of 8 or 16 bytes with zeros, and older records do not
 * tell the size. 0: it is not a build-id.
 */
u8 dso_build_id_bytes(const u8 *id, u8 n);

void dso_set_build_id(struct dso *dso, const u8 *id, u8 n);

/* Notes that n bytes from `pgoff` on were mapped as code. */
void dso_note_code(struct dso *dso, u64 pgoff, u64 n);

void dso_list_init(struct dso_list *list, struct intern *strings);
void dso_list_fini(struct dso_list *list);

/* Makes *to, which has just been made, the same list, with the same numbers; its DSOs are not found by their paths. */
void dso_list_copy(struct dso_list *to, const struct dso_list *from);

/*
 * The DSO of that path, created if it is new. `pid` matters for anonymous memory; `is_kernel` for
 * names.
 */
struct dso *dso_get(struct dso_list *list, const char *path, size_t n, u32 pid, bool is_kernel);

enum { DSO_NAMESAKES_MAX = 1 << 10 }; /* further files at one path count as the last one */

/*
 * The DSO of a map. Two files at the same path are two DSOs if their build-ids differ, or their inodes on
 * the same device. Files on different devices are one DSO, because an overlay shows other devices in /proc
 * than in records.
 */
struct dso *dso_get_mapped(struct dso_list *list, const struct record_mmap *map, bool is_kernel);

/*
 * Announces that there will be an nth file (1 and up) at the path of `first`, and returns it; `first` itself if
 * that cannot be. A reader that follows a recording in the order of time would learn of that file too late.
 */
struct dso *dso_expect(struct dso_list *list, struct dso *first, u32 nth);

/* The image of a guest's kernel ("[guest.kernel.kallsyms]...") or one of its modules. */
struct dso *dso_get_guest(struct dso_list *list, const char *path, size_t n, u32 pid);

/* The same, for a path whose kind is known. */
struct dso *dso_get_kind(struct dso_list *list, const char *path, size_t n, enum dso_kind kind);

#endif
