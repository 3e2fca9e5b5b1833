/*
 * dsofiles.h - the files of each DSO: its image, its debug file, and what is read from them, shared by
 * symbol/resolve/callers (code and call frame information) and symbol/resolve/resolver (names and lines).
 *
 * In       DSOs of a machine, and where their files may be (symbol/find/find)
 * Out      struct dso_file: opened ELF files, or why there is none; functions; call frame information
 * Owns     all of it, until dso_files_fini(); the access to processes and servers
 * Life     the address of a dso_file does not change; names and views are valid as long as the files
 * Errors   kept with what failed, and logged once. A file that is missing on this machine is searched
 *          again once servers may be asked for it (places.shares)
 * Threads  any number, if the machine had all DSOs in dso_files_init() or dso_files_settle(); until then one.
 *          While servers are asked for a file, other threads must not use that DSO's files
 */
#ifndef PACE_SYMBOL_DSOFILES_H
#define PACE_SYMBOL_DSOFILES_H

#include <pthread.h>

#include "machine/machine.h"
#include "symbol/elf/crt.h"
#include "symbol/elf/elfstarts.h"
#include "symbol/find/find.h"
#include "symbol/elf/symtab.h"
#include "unwind/cfi.h"

/* Where the functions of a file come from. */
enum dso_table {
	DSO_TABLE_UNREAD,
	DSO_TABLE_IMAGE, /* the image's own table */
	DSO_TABLE_DEBUG, /* the debug file's table */
	DSO_TABLE_GO,
	DSO_TABLE_STRIPPED, /* .dynsym and .gnu_debugdata: not all functions */
};

struct dso_file {
	const struct dso *dso;
	struct elf image; /* .data NULL: image_err says why there is none */
	struct elf debug; /* a separate file, opened on demand; .data NULL: debug_err */
	struct err image_err, debug_err;
	struct symtab symtab; /* read on demand; includes PLT entries */
	struct elf packed;    /* the contents of .gnu_debugdata, for DSO_TABLE_STRIPPED */
	struct err packed_err;
	struct cfi cfi;         /* read on demand */
	struct str made_frames; /* of a Go program: the .debug_frame made for it */
	struct crt crt;         /* of the image */
	struct elfstarts starts;
	enum dso_table table;
	bool has_cfi;
	unsigned n_users; /* calls of dso_files_get() that no dso_files_close() has followed */
	u8 image_tried, debug_tried; /* where it was searched */
	pthread_mutex_t lock;
};

struct dso_files {
	const struct machine *machine;
	struct find_places places;
	struct liveproc liveproc;
	struct debuginfod debuginfod; /* used only if its seconds and places.shares are set */
	struct dso_file **at;         /* by dso->id; NULL: not used yet */
	size_t n;
	pthread_mutex_t lock;
};

/* Where `places` has no processes or no servers, those of `machine` and of the environment are used. */
void dso_files_init(struct dso_files *f, const struct machine *machine,
	const struct find_places *places);
void dso_files_fini(struct dso_files *f);

/* Call when the machine has all its DSOs. */
void dso_files_settle(struct dso_files *f);

/* Makes room for DSO `id` in an array by DSO of n entries of `each` bytes, which may move. */
void *dso_files_room(void *at, size_t *n, u32 id, size_t each);

/* The files of a DSO_FILE or a DSO_VDSO. The image is open if it was found. */
struct dso_file *dso_files_get(struct dso_files *f, const struct dso *dso);

/* Ends one use of what dso_files_get() returned. The last one closes the files; the next use opens them again. */
void dso_files_close(struct dso_files *f, u32 id);

/* Gives back the memory of all mapped files' pages: elf_rest(). For those that go on for hours. */
void dso_files_rest(const struct dso_files *f);

/* Opens the DSO's debug file, too. Returns whether there is one. */
bool dso_files_debug(struct dso_files *f, struct dso_file *file);

/* The functions of a file that has an image, in file->symtab. Returns where they come from. */
enum dso_table dso_files_symtab(struct dso_files *f, struct dso_file *file);

/* The call frame information of a file that has an image. It may be empty. */
const struct cfi *dso_files_cfi(struct dso_files *f, struct dso_file *file);

/* Like elfstarts_around() and elfstarts_is_beyond(), for the image. */
bool dso_file_around(struct dso_file *file, u64 rva, u64 *ret_start, u64 *ret_end);
bool dso_file_is_beyond(struct dso_file *file, u64 start, u64 rva);

/*
 * Asks the debuginfod servers, if any are configured, for the files of `dso` that are missing here. Does not wait
 * for the answer.
 */
void dso_files_ask(struct dso_files *f, const struct dso *dso);

#endif
