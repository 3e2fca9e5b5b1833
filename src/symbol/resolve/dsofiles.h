/*
 * dsofiles.h - the files of each DSO: its image, its debug file, and what is read of them, once for all who
 * ask (symbol/resolve/callers for code and call frame information, symbol/resolve/resolver for names and lines).
 *
 * In       DSOs of a machine, and where their files may be (symbol/find/find)
 * Out      struct dso_file: opened ELF files, or why there is none; functions; call frame information
 * Owns     all of it, until dso_files_fini(); who is asked for files: processes, servers
 * Life     a dso_file stays where it is; names and views as long as the files
 * Errors   kept with what failed, and said in the log once. What no file of this machine could give is looked for
 *          again when servers may be asked that could not before (places.shares)
 * Threads  any number may ask, if the machine had all DSOs in dso_files_init() or dso_files_settle(); until then one. While
 *          servers are asked for a file, nobody else may use that DSO's
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

/* Where the functions of a file are from. */
enum dso_table {
	DSO_TABLE_UNREAD,
	DSO_TABLE_IMAGE, /* its own table */
	DSO_TABLE_DEBUG, /* that of its debug file */
	DSO_TABLE_GO,
	DSO_TABLE_STRIPPED, /* what others link to, and what .gnu_debugdata holds: not all */
};

struct dso_file {
	const struct dso *dso;
	struct elf image; /* .data NULL: image_err says why there is none */
	struct elf debug; /* a separate file, once it was asked for; likewise */
	struct err image_err, debug_err;
	struct symtab symtab; /* once it was asked for; with the entries of the PLT */
	struct elf packed;    /* what .gnu_debugdata holds, of DSO_TABLE_STRIPPED */
	struct err packed_err;
	struct cfi cfi;         /* once it was asked for */
	struct str made_frames; /* of a Go program: its .debug_frame */
	struct crt crt;         /* of the image */
	struct elfstarts starts;
	enum dso_table table;
	bool has_cfi;
	u8 image_tried, debug_tried; /* where was it looked for */
	pthread_mutex_t lock;
};

struct dso_files {
	const struct machine *machine;
	struct find_places places;
	struct liveproc liveproc;
	struct debuginfod debuginfod; /* asked only if its seconds and places.shares are set */
	struct dso_file **at;         /* by dso->id; NULL: nobody has asked yet */
	size_t n;
	pthread_mutex_t lock;
};

/* Where `places` names no processes and no servers, they are asked that `machine` and the user's environment tell. */
void dso_files_init(struct dso_files *f, const struct machine *machine,
	const struct find_places *places);
void dso_files_fini(struct dso_files *f);

/* The machine has all DSOs that it will have. */
void dso_files_settle(struct dso_files *f);

/* Room for DSO `id` in an array by DSO of n entries, `each` bytes, which may move. */
void *dso_files_room(void *at, size_t *n, u32 id, size_t each);

/* The files of a DSO_FILE or a DSO_VDSO; its image is opened if it can be had. */
struct dso_file *dso_files_get(struct dso_files *f, const struct dso *dso);

/* Closes the files of the DSO with this id, if it has any; asked for again, they are opened again. */
void dso_files_close(struct dso_files *f, u32 id);

/* Its debug file too: whether it has one. */
bool dso_files_debug(struct dso_files *f, struct dso_file *file);

/* Of a file with an image: its functions; where they are from. */
enum dso_table dso_files_symtab(struct dso_files *f, struct dso_file *file);

/* Of a file with an image: its call frame information, which may be empty. */
const struct cfi *dso_files_cfi(struct dso_files *f, struct dso_file *file);

/* As elfstarts_around() and elfstarts_is_beyond() of its image. */
bool dso_file_around(struct dso_file *file, u64 rva, u64 *ret_start, u64 *ret_end);
bool dso_file_is_beyond(struct dso_file *file, u64 start, u64 rva);

/*
 * Asks servers for what of a DSO is not here, if there is anybody to ask, but waits for no answer.
 */
void dso_files_ask(struct dso_files *f, const struct dso *dso);

#endif
