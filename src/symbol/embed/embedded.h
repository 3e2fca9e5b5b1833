/*
 * embedded.h - what a recording contains so that it can be read anywhere: names, lines, inlined functions,
 * code, generated code. One feature section of perf.data, FEATURE_EMBEDDED.
 *
 * In       the section of an opened recording, or its bytes; see doc/embedded.md for the format
 * Out      for a DSO and an address: the function, the chain of source lines, the code; jitdumps
 *          with the sampled functions
 * Owns     the unpacked section
 * Life     names and bytes are valid until embedded_close()
 * Units    `at` is an rva where the DSO has a file, else as recorded (the kernel: absolute)
 * Errors   embedded_open(): ERR_FORMAT, ERR_LIMIT, ERR_SYS. Every position in the section is checked: those
 *          of the tables when it is opened, those in entries when they are used. What a position outside of
 *          the section points to counts as absent
 * Threads  reading by any number
 *
 * There are three answers: it was looked up and found, looked up and not found, not looked up. Files may be
 * searched only after the last one.
 */
#ifndef PACE_SYMBOL_EMBEDDED_H
#define PACE_SYMBOL_EMBEDDED_H

#include "base/err.h"
#include "base/table.h"
#include "file/reader.h"
#include "machine/machine.h"
#include "symbol/dwarf/line.h"
#include "symbol/name/origin.h"

/* ---- the section ---- */

#define EMBEDDED_MAGIC "PACE EMB"

enum {
	EMBEDDED_VERSION = 1,
	/* How the tables are packed: neither, or both. */
	EMBEDDED_ZSTD = 1 << 0,
	EMBEDDED_FOLDED = 1 << 1,     /* by symbol/embed/embedfold.h */
	EMBEDDED_LIMIT = 512 << 20,   /* unpacked; less if the section is small, see allowance.h */
	EMBEDDED_ALIGN = 8,           /* of tables */
	EMBEDDED_DSOS_MAX = 64 << 10, /* also of dumps */
	EMBEDDED_STRING_MAX = 64 << 10, /* with its NUL; longer ones count as absent */
};

#define EMBEDDED_DUMP_LIMIT (64ULL << 30) /* no piece of a file begins behind that */

#define EMBEDDED_NOT_ASKED 0xffffffffu /* of a place: nobody looked */
#define EMBEDDED_NOTHING   0xfffffffeu /* there is none */

/* All numbers are little-endian. Positions are in the tables and in EMBEDDED_BYTES. */
struct embedded_header {
	char magic[8] NONSTRING;
	u32 version, packing;
	u64 size; /* of all that follows, unpacked */
};

struct embedded_table {
	u32 id;
	u32 each;   /* size of an entry; later versions may have longer ones */
	u64 offset; /* from the first byte after the header */
	u64 n;
};

enum embedded_table_id {
	EMBEDDED_STRINGS =
		1, /* bytes: NUL-terminated; offset 0 is the empty string, which means none */
	EMBEDDED_BYTES = 2, /* bytes: build-ids, code, pieces of files */
	EMBEDDED_DSOS = 3,
	EMBEDDED_SEGMENTS = 4,
	EMBEDDED_SYMBOLS = 5,
	EMBEDDED_PLACES = 6,
	EMBEDDED_SOURCES = 7,
	EMBEDDED_CODE = 8,
	EMBEDDED_DUMPS = 9,
	EMBEDDED_PIECES = 10,
	EMBEDDED_FRAMES = 11,
	EMBEDDED_SECTIONS = 12,
	EMBEDDED_TABLES, /* one more than the highest known one */
};

enum embedded_dso_flags {
	EMBEDDED_HAS_IMAGE = 1 << 0, /* addresses are those of an ELF file, by its segments */
	EMBEDDED_HAS_LINES = 1 << 1, /* there was debug information; not all may have been read */
};

struct embedded_dso {
	u32 kind;                       /* enum dso_kind */
	u32 path, reason, lines_reason; /* strings; why names or lines are missing */
	u64 build_id;                   /* in EMBEDDED_BYTES */
	u32 build_id_size;
	u32 outcome; /* enum resolver_outcome */
	u32 flags;
	u32 pid;     /* DSO_JIT: the process */
	u32 machine; /* of the ELF file: EM_*; 0: none */
	u32 nth;     /* number among the files with this path, as in struct dso */
	u32 first_segment, n_segments;
	u32 first_symbol, n_symbols; /* ascending by start */
	u32 first_place, n_places;   /* ascending by `at` */
	u32 first_code, n_code;      /* ascending by `at`, none overlaps another */
	u32 first_frame, n_frames;   /* ascending by start */
	u32 first_section, n_sections;
	u32 gaps[8]; /* strings, by enum line_gap: why parts of it have no lines */
	u64 entry;   /* where the program begins; 0: not a program */
};

struct embedded_segment {
	u64 offset, va, size; /* in the file; of the loaded range */
};

enum embedded_symbol_flags {
	EMBEDDED_IS_PLT = 1 << 0,
	EMBEDDED_IS_MADE = 1 << 1,
};

struct embedded_symbol {
	u64 start, end;
	u32 name; /* string: mangled; 0: a function of a stripped file, without a name */
	u32 flags;
};

struct embedded_place {
	u64 at;
	u32 symbol; /* index in the DSO's symbols, or one of the two above */
	u32 source; /* index in EMBEDDED_SOURCES of the innermost frame, or one of the two above */
	u32 gap;    /* enum line_gap: why it has no line, or lacks inlined functions */
	u32 reserved;
};

struct embedded_source {
	u32 function, file, dir; /* strings */
	u32 line, column;
	u32 caller; /* index + 1 in EMBEDDED_SOURCES, an earlier entry; 0: not inlined */
};

struct embedded_code {
	u64 at, size;
	u64 bytes; /* in EMBEDDED_BYTES */
};

/* A file of which only pieces are stored: a jitdump. */
struct embedded_dump {
	u32 path; /* string */
	u32 pid;
	u64 size;
	u32 first_piece, n_pieces; /* ascending by offset, none overlaps another */
};

struct embedded_piece {
	u64 offset, size;
	u64 bytes; /* in EMBEDDED_BYTES */
};

/* A function's entry in .eh_frame or .debug_frame. */
struct embedded_frame {
	u64 start, end, entry; /* rva; offset in the section */
	u32 which;             /* 0: .eh_frame, 1: .debug_frame */
	u32 reserved;
};

enum embedded_section_flags {
	EMBEDDED_IS_64 = 1 << 0,
	EMBEDDED_IS_SWAPPED = 1 << 1, /* big-endian */
};

/* One of these two sections, of which only pieces are stored. */
struct embedded_section {
	u32 which, flags;
	u64 address, size;
	u64 text, data; /* bases that pointers may be relative to */
	u32 first_piece, n_pieces;
};

/* ---- reading it ---- */

struct embedded {
	u8 *data; /* the tables, unpacked */
	struct {
		u8 *at;
		u64 n;
		u32 each;
	} tables[EMBEDDED_TABLES];
	struct table by_path; /* DSOs */
	u64 n_packed;         /* bytes in the file */
	u64 n_unpacked;
};

enum embedded_answer {
	EMBEDDED_UNKNOWN, /* not looked up when the recording was made */
	EMBEDDED_NONE,    /* there is none */
	EMBEDDED_FOUND,
};

struct embedded_name {
	u64 start, end;
	const char *name; /* "": ORIGIN_EXTENT */
	enum origin origin;
};

/* By start; of two names with one start the inner one comes later. 0: they are the same. */
int embedded_name_order(const struct embedded_name *x, const struct embedded_name *y);

/* Returns 1: the recording has this section; 0: it has none; < 0: the section is not readable. */
int embedded_open(struct embedded *e, const struct reader *r, struct err *err);

/* The same, but errors are logged, and files are used instead. */
void embedded_attach(struct embedded *e, const struct reader *r, struct log *log);
int embedded_of_memory(struct embedded *e, const void *section, size_t n, struct err *err);
void embedded_close(struct embedded *e);

static inline bool embedded_is_there(const struct embedded *e)
{
	return e && e->data;
}

u64 embedded_count(const struct embedded *e, enum embedded_table_id id);

/*
 * Copies entry i of a table, as far as this version knows its fields. Returns false beyond the table's end.
 */
bool embedded_entry(const struct embedded *e, enum embedded_table_id id, u64 i, void *ret_entry,
	size_t size);

/* NULL: there is none, or the offset is outside. */
const char *embedded_string(const struct embedded *e, u32 at);

/* n bytes, or NULL if not all of them are inside. */
const u8 *embedded_bytes(const struct embedded *e, u64 at, u64 n);

/* Finds the entry of a DSO: the same kind and path, and not another build. */
bool embedded_find_dso(const struct embedded *e, const struct dso *dso, struct embedded_dso *ret);

/* Tells the machine which paths had several files. Call before the machine follows the recording. */
void embedded_prepare(const struct embedded *e, struct machine *m);

/* Like elf_address_of_offset(). */
bool embedded_address_of_offset(const struct embedded *e, const struct embedded_dso *d, u64 offset,
	u64 *ret_va);

/* The i-th symbol of a DSO; EMBEDDED_UNKNOWN: its name is not in the section. */
enum embedded_answer embedded_symbol_at(const struct embedded *e, const struct embedded_dso *d,
	u32 i, struct embedded_name *ret_name);

enum embedded_answer embedded_find_name(const struct embedded *e, const struct embedded_dso *d,
	u64 at, struct embedded_name *ret_name);

/* Like line_chain(): *ret_n frames, innermost first. */
enum embedded_answer embedded_find_chain(const struct embedded *e, const struct embedded_dso *d,
	u64 at, struct line_frame ret_frames[LINE_DEPTH_MAX], size_t *ret_n);

/* Like line_gap(), for an address whose chain is not EMBEDDED_UNKNOWN. */
enum line_gap embedded_find_gap(const struct embedded *e, const struct embedded_dso *d, u64 at);

/* The code at `at`: returns how many contiguous bytes follow (0: none), and how many precede it. */
u64 embedded_find_code(const struct embedded *e, const struct embedded_dso *d, u64 at,
	const u8 **ret_bytes, u64 *ret_before);

bool embedded_find_dump(const struct embedded *e, const char *path, u32 pid,
	struct embedded_dump *ret);

/*
 * Opens a dump as a nameless file, with holes in place of the functions that were not sampled: a reader finds
 * filler records there. ERR_NOENT: there is no dump of that path and process.
 */
int embedded_open_this_dump(const struct embedded *e, const struct embedded_dump *dump, int *ret_fd,
	struct err *err);
int embedded_open_dump(const struct embedded *e, const char *path, u32 pid, int *ret_fd,
	struct err *err);

#endif
