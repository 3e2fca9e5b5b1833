/*
 * resolver.h - finds the function at an address in a DSO.
 *
 * In       DSOs of a machine; addresses as in profile frames: file offsets for files, else
 *          absolute
 * Out      the symbol; or the address to print instead, and why there is no name
 * Owns     the kernel's tables, guests, indexes of lines; names live as long as it and the files do
 * Threads  different DSOs may be resolved at the same time, one DSO by one thread
 *
 * What the recording itself contains is preferred, so that the result is the same everywhere. Files are used
 * for what it lacks: an address that was not looked up when recording, or a DSO whose names or lines were missing
 * then and may be here now (a package of debug symbols). What the user names (vmlinux, kallsyms)
 * is preferred to both.
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
	RESOLVER_NO_FILE,      /* the DSO's file is missing here */
	RESOLVER_OTHER_BUILD,  /* a file has that name, but it is not what was recorded */
	RESOLVER_NO_SYMBOLS,   /* the file has no symbols */
	RESOLVER_NO_SYMBOL,    /* the file has symbols, but none covers the address */
	RESOLVER_NO_CODE_FILE, /* JIT, heap, stack: no file has names */
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
	struct packages packages; /* used only if files->places.shares is set */
	const struct machine *machine;
	const char *kallsyms;          /* "/proc/kallsyms", or a copy */
	const char *kcore;             /* "/proc/kcore", or a copy */
	const char *vmlinux;           /* a file that the user named; NULL: none */
	const char *kallsyms_copy;     /* the same, a copy of /proc/kallsyms */
	const char *recorded_kallsyms; /* the copy beside the recording; NULL: none */
	bool skips_kernel_lines;       /* even if they are available */
	u64 unpack_max;       /* most bytes of debug information to unpack per file; 0: no limit */
	bool ignores_vmlinux; /* vmlinux is not searched for */
	bool ignores_made; /* use only names from tables, none that are made up (origin_is_made()) */
	struct guest_files guest_files;
	const char *modules;             /* "/proc/modules", or a copy */
	const char *module_folder;       /* "/sys/module", or a copy */
	const char *recorded_release;    /* NULL: unknown */
	const char *recorded_machine;    /* as in uname -m; NULL: unknown, this one is assumed */
	const struct jitcode *jitcode;   /* NULL: no jitdumps */
	const struct embedded *embedded; /* what the recording contains; NULL: nothing */
	struct simpleperf simpleperf;    /* the same, from the sections of simpleperf */
	struct resolver_dso *dsos;       /* by dso->id */
	size_t n_dsos;
	struct kernel kernel;       /* read if has_kernel, under kernel_lock */
	struct str modules_release; /* according to the paths of its modules */
	bool has_kernel;
	pthread_t
		kernel_reader; /* the thread that reads it in the background, if has_kernel_reader */
	bool has_kernel_reader;
	VEC(struct resolver_guest *) guests; /* those needed so far */
	pthread_mutex_t guests_lock, kernel_lock;
};

struct resolver_answer {
	enum origin origin;            /* ORIGIN_NONE: no symbol was found */
	enum resolver_outcome outcome; /* why there is no name, also for ORIGIN_EXTENT */
	const char *name; /* mangled, as in the file; ORIGIN_NONE, ORIGIN_EXTENT: NULL */
	u64 start, end;   /* of the symbol; ORIGIN_NONE: both are the address to print */
	u64 at;           /* the requested address, relative like `start` */
};

/* The name to display, see origin_title(); NULL: none. */
static inline const char *resolver_title(const struct resolver_answer *a, unsigned style,
	struct intern *strings)
{
	return origin_title(a->origin, a->name, a->start, style, strings);
}

void resolver_init(struct resolver *r, struct dso_files *files);
void resolver_fini(struct resolver *r);

/*
 * Takes from the recording which machine and kernel it was made on, and the code it contains (NULL: not read).
 * All of them must live as long as the resolver.
 */
void resolver_set_recording(struct resolver *r, const struct reader *reader,
	const struct jitcode *jitcode, const struct embedded *embedded);

/*
 * Starts reading the kernel's functions in the background: listing them takes a tenth of a second.
 * resolver_load() of a DSO in the kernel waits for the end, or reads them itself if this was
 * not called.
 */
void resolver_begin_kernel(struct resolver *r);

/* Call when the machine has all its DSOs. */
void resolver_settle(struct resolver *r);

/*
 * Opens the files of a DSO. Different DSOs may be loaded at the same time if the machine had them
 * already in resolver_init() or resolver_settle().
 */
void resolver_load(struct resolver *r, const struct dso *dso);
bool resolver_has_loaded(const struct resolver *r, u32 id);

/* In place of resolver_load(): its functions have no names, because the user does not wait for them. */
void resolver_pass_over(struct resolver *r, const struct dso *dso);

/*
 * For those that go on for hours: closes what was loaded for the other DSOs, by id, n_dsos of them. They may be loaded
 * again, and are read anew then. Answers are valid no more.
 */
void resolver_forget(struct resolver *r, const bool *is_kept);

/* Finds the function at an address. The DSO must be loaded. */
struct resolver_answer resolver_find(struct resolver *r, const struct dso *dso, u64 address);

/* The same for an address of data: finds the variable there. */
struct resolver_answer resolver_find_data(struct resolver *r, const struct dso *dso, u64 address);

/*
 * The same for a return address: the call is the instruction before it. In the kernel the padding before a
 * function has a name, but contains no calls: an address that seems to return behind it was interrupted there.
 */
struct resolver_answer resolver_find_caller(struct resolver *r, const struct dso *dso, u64 address);

/* Loads a DSO, as resolver_load() does, and opens its debug information. */
void resolver_load_lines(struct resolver *r, const struct dso *dso);

/*
 * For DSOs that are loaded with lines. Whether there are any lines; the line at an address; the line and the
 * functions inlined there, like line_chain(); why there is none, like line_gap(). Addresses are like
 * resolver_answer.at; for callers subtract one.
 */
bool resolver_has_lines(const struct resolver *r, const struct dso *dso);
bool resolver_find_line(struct resolver *r, const struct dso *dso, u64 at,
	struct line_frame *ret_frame);
size_t resolver_find_chain(struct resolver *r, const struct dso *dso, u64 at,
	struct line_frame ret_frames[LINE_DEPTH_MAX]);
enum line_gap resolver_line_gap(struct resolver *r, const struct dso *dso, u64 at);

/*
 * Adds what must be read for the look-up of an address, like line_want(). After line_fetch() of all wishes any
 * number of threads may look up lines at once.
 */
void resolver_want_line(struct resolver *r, const struct dso *dso, u64 at, bool with_scopes,
	line_wishes *wishes);

/* The index of the file's own lines, even if the recording has some; NULL: none. */
struct line_index *resolver_lines(const struct resolver *r, const struct dso *dso);

/* Add this to resolver_answer.at to get the address in that index. */
u64 resolver_lines_shift(const struct resolver *r, const struct dso *dso);

/*
 * For a DSO that is loaded with lines: the file with its DWARF and, in *ret_image, the one with its code, which may
 * be the same; *ret_shift: see resolver_lines_shift(). NULL: there is none here.
 */
const struct elf *resolver_dwarf(struct resolver *r, const struct dso *dso,
	const struct elf **ret_image, u64 *ret_shift);

/* The reason for a gap in the lines of a DSO: one sentence, or NULL. */
const char *resolver_lines_reason(const struct resolver *r, const struct dso *dso,
	enum line_gap gap);

/* Whether a DSO has debug information that could not be read. */
bool resolver_lines_failed(const struct resolver *r, const struct dso *dso);

/* The outcome for the DSO as a whole: RESOLVER_FOUND if there are names to look up. */
enum resolver_outcome resolver_outcome(const struct resolver *r, const struct dso *dso);

/* What the recording contains of a DSO, if its names come from there; or NULL. */
const struct embedded_dso *resolver_embedded(const struct resolver *r, const struct dso *dso);

/* The ELF file that was opened for a DSO, or NULL. */
const struct elf *resolver_image(const struct resolver *r, const struct dso *dso);

/* Why a DSO has no names, or not all: one sentence, or NULL. */
const char *resolver_reason(const struct resolver *r, const struct dso *dso);

#endif
