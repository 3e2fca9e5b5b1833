/*
 * resolver.h - from a DSO and an address in it to a function.
 *
 * In       DSOs of a machine; addresses as profile frames have them: file offsets for files, else
 *          absolute
 * Out      the symbol; or the address to print instead, and why there is no name
 * Owns     the kernel's tables, guests, indexes of lines; names live as long as it and the files do
 * Threads  different DSOs may be resolved at the same time, one DSO by one thread
 *
 * What the recording carries itself comes first, so that it says the same everywhere. Files are asked
 * for what it lacks: a place that was not looked up then, and a DSO whose names or lines were missing
 * then and may be here now (a package of debug symbols). What the user names (vmlinux, kallsyms)
 * comes before it.
 */
#ifndef PACE_SYMBOL_RESOLVER_H
#define PACE_SYMBOL_RESOLVER_H

#include "base/log.h"
#include "machine/machine.h"
#include "symbol/resolve/dsofiles.h"
#include "symbol/embed/embedded.h"
#include "symbol/embed/jitcode.h"
#include "symbol/kernel/guest.h"
#include "symbol/kernel/kernel.h"
#include "symbol/dwarf/line.h"
#include "symbol/name/origin.h"
#include "symbol/find/package.h"
#include "symbol/jit/simpleperf.h"

enum resolver_outcome {
	RESOLVER_FOUND,
	RESOLVER_NO_FILE,      /* the DSO's file is not here */
	RESOLVER_OTHER_BUILD,  /* there is a file of that name, but it is not what was recorded */
	RESOLVER_NO_SYMBOLS,   /* the file has no symbols */
	RESOLVER_NO_SYMBOL,    /* the file has symbols, none covers the address */
	RESOLVER_NO_CODE_FILE, /* JIT, heap, stack: there is no file with names */
	/* kallsyms are hidden, or of another kernel; the module is not loaded now */
	RESOLVER_NO_KERNEL,
	RESOLVER_NO_MAP, /* no map covers the address */
	RESOLVER_OUTCOMES,
};

struct resolver_dso;

struct resolver_guest {
	u32 pid;
	struct guest_request request;
	struct kernel kernel;
};

struct resolver {
	struct dso_files *files;
	struct packages packages; /* asked only if files->places.shares is set */
	const struct machine *machine;
	const char *kallsyms;          /* "/proc/kallsyms", or a copy */
	const char *kcore;             /* "/proc/kcore", likewise */
	const char *vmlinux;           /* a file the user named; NULL: none */
	const char *kallsyms_copy;     /* likewise, a copy of /proc/kallsyms */
	const char *recorded_kallsyms; /* that lies beside the recording; NULL: none does */
	bool skips_kernel_lines;       /* also where they could be had */
	u64 unpack_max; /* bytes of a file's debug information there is time to unpack; 0: whatever it is */
	bool ignores_vmlinux; /* no vmlinux is looked for */
	bool ignores_made;    /* only tables have names: none are made (origin_is_made()) */
	struct guest_files guest_files;
	const char *modules;             /* "/proc/modules", likewise */
	const char *module_folder;       /* "/sys/module", likewise */
	const char *recorded_release;    /* NULL: unknown */
	const char *recorded_machine;    /* as uname -m says; NULL: unknown, then this one */
	const struct jitcode *jitcode;   /* NULL: nothing is known of jitdumps */
	const struct embedded *embedded; /* what the recording carries; NULL: nothing */
	struct simpleperf simpleperf;    /* likewise, by the sections of simpleperf */
	struct resolver_dso *dsos;       /* by dso->id */
	size_t n_dsos;
	struct kernel kernel;       /* read if has_kernel, under kernel_lock */
	struct str modules_release; /* what its modules' paths say of it */
	bool has_kernel;
	pthread_t kernel_reader; /* who reads it beside everything else, if has_kernel_reader */
	bool has_kernel_reader;
	VEC(struct resolver_guest *) guests; /* those that were asked for */
	pthread_mutex_t guests_lock, kernel_lock;
};

struct resolver_answer {
	enum origin origin;            /* ORIGIN_NONE: there is no symbol */
	enum resolver_outcome outcome; /* why there is no name, also of ORIGIN_EXTENT */
	const char *name; /* as in the file: still mangled; ORIGIN_NONE, ORIGIN_EXTENT: NULL */
	u64 start, end;   /* of the symbol; ORIGIN_NONE: both are the address to print */
	u64 at;           /* the address that was asked for, counted as `start` is */
};

/* The name to show, as origin_title(); NULL: there is none. */
static inline const char *resolver_title(const struct resolver_answer *a, unsigned style,
	struct intern *strings)
{
	return origin_title(a->origin, a->name, a->start, style, strings);
}

void resolver_init(struct resolver *r, struct dso_files *files);
void resolver_fini(struct resolver *r);

/*
 * What the recording says of the machine and kernel it was made on, and the code it carries itself
 * (NULL: that was not read). All of them have to live as long as the resolver.
 */
void resolver_set_recording(struct resolver *r, const struct reader *reader,
	const struct jitcode *jitcode, const struct embedded *embedded);

/*
 * Begins to read the kernel's functions beside everything else: it takes a tenth of a second to list
 * them. resolver_load() of what lies in the kernel waits for the end, or reads them itself if nobody
 * has begun.
 */
void resolver_begin_kernel(struct resolver *r);

/* The machine has all DSOs that it will have. */
void resolver_settle(struct resolver *r);

/*
 * Opens what belongs to a DSO. Different ones may be loaded at the same time if the machine had them
 * already in resolver_init() or resolver_settle().
 */
void resolver_load(struct resolver *r, const struct dso *dso);

/* Loaded before: the function at an address. */
struct resolver_answer resolver_find(struct resolver *r, const struct dso *dso, u64 address);

/* The same for an address of data: the variable there. */
struct resolver_answer resolver_find_data(struct resolver *r, const struct dso *dso, u64 address);

/*
 * The same for a return address: the call is the instruction before it. In the kernel the padding
 * before a function has a name, but no calls: what seems to return behind it was interrupted there.
 */
struct resolver_answer resolver_find_caller(struct resolver *r, const struct dso *dso, u64 address);

/* Opens the debug information of a DSO too; as resolver_load(), which it calls. */
void resolver_load_lines(struct resolver *r, const struct dso *dso);

/*
 * Loaded before: whether anything is known of its lines; the line at an address; as line_chain(), it
 * and what was inlined there; as line_gap(), why there is none. Addresses as resolver_answer.at, of
 * callers one less.
 */
bool resolver_has_lines(const struct resolver *r, const struct dso *dso);
bool resolver_find_line(struct resolver *r, const struct dso *dso, u64 at,
	struct line_frame *ret_frame);
size_t resolver_find_chain(struct resolver *r, const struct dso *dso, u64 at,
	struct line_frame ret_frames[LINE_DEPTH_MAX]);
enum line_gap resolver_line_gap(struct resolver *r, const struct dso *dso, u64 at);

/*
 * What has to be read to know of that address, as line_want(). After line_fetch() of all of them any
 * number of threads may ask at once.
 */
void resolver_want_line(struct resolver *r, const struct dso *dso, u64 at, bool with_scopes,
	line_wishes *wishes);

/* The index of the file's own lines, whatever the recording has; NULL: none. */
struct line_index *resolver_lines(const struct resolver *r, const struct dso *dso);

/* What to add to resolver_answer.at to have an address as that index counts. */
u64 resolver_lines_shift(const struct resolver *r, const struct dso *dso);

/*
 * Loaded before, with lines: the file that has the DWARF of a DSO, and in *ret_image the one that has its code, which
 * may be the same; *ret_shift: as resolver_lines_shift(). NULL: there is none here.
 */
const struct elf *resolver_dwarf(struct resolver *r, const struct dso *dso,
	const struct elf **ret_image, u64 *ret_shift);

/* Why there is that gap in the lines of a DSO: one sentence, or NULL. */
const char *resolver_lines_reason(const struct resolver *r, const struct dso *dso,
	enum line_gap gap);

/* Whether a DSO has debug information, but it could not be read. */
bool resolver_lines_failed(const struct resolver *r, const struct dso *dso);

/* What is known of a DSO as a whole: RESOLVER_FOUND if there are names to look up. */
enum resolver_outcome resolver_outcome(const struct resolver *r, const struct dso *dso);

/* What the recording itself carries of a DSO, if that is where its names come from; or NULL. */
const struct embedded_dso *resolver_embedded(const struct resolver *r, const struct dso *dso);

/* The ELF file that was opened for a DSO, or NULL. */
const struct elf *resolver_image(const struct resolver *r, const struct dso *dso);

/* Why a DSO has no names, or not all: one sentence, or NULL. */
const char *resolver_reason(const struct resolver *r, const struct dso *dso);

#endif
