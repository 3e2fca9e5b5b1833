/*
 * script.h - samples as text, one by one, in perf script's layout.
 *
 * In       visits of a trace, in time order
 * Out      lines, appended to a struct str
 * Owns     the texts made from addresses, which are copied if an address comes again
 * Units    times in seconds with six digits, or nine on request
 * Threads  one
 */
#ifndef PACE_VIEW_SCRIPT_H
#define PACE_VIEW_SCRIPT_H

#include "base/namelist.h"
#include "base/str.h"
#include "base/table.h"
#include "file/tracepoints.h"
#include "symbol/code/code.h"
#include "symbol/resolve/location.h"
#include "trace/visit.h"

enum script_field {
	SCRIPT_COMM = 1 << 0,
	SCRIPT_PID = 1 << 1,
	SCRIPT_TID = 1 << 2,
	SCRIPT_CPU = 1 << 3,
	SCRIPT_TIME = 1 << 4,
	SCRIPT_PERIOD = 1 << 5,
	SCRIPT_EVENT = 1 << 6,
	SCRIPT_TRACE = 1 << 7,
	SCRIPT_ADDR = 1 << 8,
	SCRIPT_WEIGHT = 1 << 9,
	SCRIPT_IP = 1 << 10,
	SCRIPT_SYM = 1 << 11,
	SCRIPT_SYMOFF = 1 << 12,
	SCRIPT_DSO = 1 << 13,
	SCRIPT_BRSTACK = 1 << 14,
	SCRIPT_UREGS = 1 << 15,
	SCRIPT_IREGS = 1 << 16,
	SCRIPT_PHYS_ADDR = 1 << 17,
	SCRIPT_DATA_PAGE_SIZE = 1 << 18,
	SCRIPT_CODE_PAGE_SIZE = 1 << 19,
	SCRIPT_SRCLINE = 1 << 20,
	SCRIPT_INSN = 1 << 21,    /* the instruction's bytes */
	SCRIPT_INSNLEN = 1 << 22, /* the length of the instruction */
	SCRIPT_MISC = 1 << 23,    /* the CPU mode */
	SCRIPT_DATA_SRC = 1 << 24,
	SCRIPT_INS_LAT = 1 << 25,
	SCRIPT_RETIRE_LAT = 1 << 26,
	SCRIPT_CGROUP = 1 << 27,
	SCRIPT_BRSTACKSYM = 1 << 28,
	SCRIPT_BRSTACKOFF = 1 << 29,
	SCRIPT_BRSTACKINSN = 1 << 30,
	/* These are wider than int. */
	SCRIPT_TOD = 1LL << 31,    /* the time of day */
	SCRIPT_TRACED = 1LL << 32, /* from decoded traces, which pace does not have */
	SCRIPT_BRSTACKINSNLEN = 1LL << 33,
	SCRIPT_TRANSACTION = 1LL << 34,
	SCRIPT_DSOFF = 1LL << 35,      /* the offset in the file */
	SCRIPT_SRCCODE = 1LL << 36,    /* the line of source */
	SCRIPT_BPF_OUTPUT = 1LL << 37, /* what a program of BPF's wrote */
	/* Not of -F: the place belongs to a chain that comes from a copied stack. */
	SCRIPT_UNWOUND = 1LL << 38,
	SCRIPT_PLACE = SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO | SCRIPT_SRCLINE |
		SCRIPT_DSOFF, /* fields of places in code */
	SCRIPT_CODE = SCRIPT_INSN | SCRIPT_INSNLEN,
};

/* Kinds of events that can have their own fields. */
enum script_kind {
	SCRIPT_HW,
	SCRIPT_SW,
	SCRIPT_TRACEPOINT,
	SCRIPT_RAW,
	SCRIPT_OTHER,
	SCRIPT_SYNTH, /* made by perf inject from instruction traces */
	SCRIPT_KINDS
};

enum script_inlines { /* which call chains have lines for inlined functions */
	SCRIPT_INLINES_ALL,
	SCRIPT_INLINES_UNWOUND, /* those from copied stacks, as in perf 6.1 */
	SCRIPT_INLINES_NONE,
};

struct script_options {
	u64 fields[SCRIPT_KINDS];
	u64 taken_out[SCRIPT_KINDS]; /* fields with - before them */
	bool has_said_fields; /* a field that no event has is an error; else it is left out */
	bool has_ns, is_relative, is_delta, hides_chains, has_full_paths;
	bool has_kernel_paths; /* the kernel and its modules stand under the paths of their files */
	bool has_perfs_frames; /* callers and inlined functions as perf writes them */
	bool has_perf7s_form;  /* numbers of threads in perf 7's columns */
	bool has_memory_addresses; /* of callers, too; else offsets in their files, as perf 6.1 has them */
	bool is_narrow; /* short names of threads and bare numbers of CPUs, as perf's -L has them */
	unsigned name_style; /* enum demangle_style */
	enum script_inlines inlines;
	u32 max_stack;
	u64 max_blocks; /* of code between branches; 0: all */
};

/* The form of a place's text. */
enum script_form {
	SCRIPT_ALONE,    /* after a sample's other fields */
	SCRIPT_IN_CHAIN, /* as a line of a call chain */
	SCRIPT_AS_JSON,
	SCRIPT_AS_SYMBOL, /* name+0x12 or [unknown]; for an end of a branch */
	SCRIPT_AS_OFFSET, /* 0x12: offset in the file, or the address if there is no file */
	SCRIPT_AS_CODE,   /* the instruction there */
	SCRIPT_AS_DATA,   /* behind the address of data: its variable */
	SCRIPT_AS_PYTHON, /* for script_python.h: a value of Python's */
};

struct script_place { /* the text of one address */
	u64 ip;
	u32 start, end; /* in `texts` */
	u32 space_id;   /* UINT32_MAX: none */
	u64 fields;
	u8 mode, form;
	bool is_return;
};

struct script {
	const struct script_options *options;
	struct trace *trace;
	const struct event_list *events; /* the trace's */
	struct locator locator;
	const char *kernel_path;         /* NULL: the recording does not name it */
	struct tracepoints *tracepoints; /* NULL: none */
	const struct name_list *stops;   /* functions where call chains end; NULL: none */
	u64 *fields;                     /* by event */
	VEC(u8) are_aborts;              /* by event: whether it counts aborts of transactions */
	size_t n_fields, fields_cap;
	u32 name_width;
	size_t access_width; /* width of the longest text of a memory access so far */
	u64 first_time, last_time;
	struct str source; /* the file that lines of source were last taken from */
	const char *source_path;
	u32 source_line;
	struct intern strings;
	struct str texts;
	VEC(struct script_place) places;
	struct table index;
};

/* The trace must have begun: trace_begin(). */
void script_init(struct script *s, const struct script_options *options, struct trace *trace);
void script_fini(struct script *s);

/* Parses -F: "comm,tid,ip", "+addr", "-period", "hw:ip,sym". ERR_INVAL names the unknown word and similar ones. */
int script_parse_fields(struct script_options *options, const char *text, struct err *err);
void script_default_fields(struct script_options *options);

/* ERR_INVAL: no event's samples have a requested field. */
int script_check(const struct script *s, struct err *err);

/* Takes in events that came after script_init(), in pipe mode. */
void script_take_events(struct script *s);

/* Whether samples of that event have their callers on lines of their own. */
bool script_shows_chain(const struct script *s, u32 event);

void script_add_sample(struct script *s, struct visit *v, struct str *text);

/* The same as a line of JSON. */
void script_add_json(struct script *s, struct visit *v, struct str *text);

struct script_who {
	const char *comm;
	u32 pid, tid, cpu;
	u64 time;
	u32 type; /* the record's, and its misc */
	u16 misc;
};

/* Adds "comm tid [cpu] time: ", the start of a sample's or another record's line. */
void script_add_start(struct script *s, const struct script_who *who, u64 fields, bool has_chain,
	struct str *text);

/* ---- shared by the files of script ---- */

/*
 * Whether the callers of a sample, which visit_callers() has filled in, are of code that ran after the transaction was
 * aborted: they do not begin where the sample was taken.
 */
bool script_has_gap(const struct script *s, const struct visit *v);

/* The requested fields that this event's samples have. */
u64 script_fields_of(const struct script *s, const struct event *e);

/* Whether the recording says what time of day its clock showed. */
bool script_has_date(const struct script *s);

/* Whether samples of this type have callers. */
static inline bool script_has_chain(u64 sample_type)
{
	return sample_type & PERF_SAMPLE_CALLCHAIN ||
		(sample_type & PERF_SAMPLE_REGS_USER && sample_type & PERF_SAMPLE_STACK_USER);
}

/* Adds an address in this form, with those of the fields that describe places. */
void script_add_place(struct script *s, const struct thread_state *state,
	const struct chain_step *step, u64 fields, enum script_form form, struct str *text);

/* Adds "|12       line of source" for a place, unless it is the one before. */
void script_add_source_code(struct script *s, const struct location *l, struct str *text);

/* Adds bytes that a program of BPF's wrote, 8 on a line, and as text if they are. */
void script_add_bpf_output(const struct record_bytes *raw, struct str *text);

/* Adds registers as "   AX:0x12 " each. */
void script_add_regs(const struct script *s, u64 mask, const struct sample_regs *regs,
	struct str *text);

/* Finds the source lines of a place, innermost first; returns the number of frames. */
size_t script_find_sources(struct script *s, const struct location *l, bool has_inlined,
	struct line_frame frames[LINE_DEPTH_MAX]);

/* Adds a place with its functions as a value of Python's. */
void script_python_place(struct script *s, const struct location *l, u64 ip, u64 fields,
	struct str *text);

/* The functions at a caller's place, innermost first. */
struct script_frames {
	struct line_frame at[LINE_DEPTH_MAX];
	size_t n;          /* 0: nothing is known, or wanted */
	size_t n_inlined;  /* the first ones, which are shown as inlined */
	bool has_function; /* behind them stands the function of the file's symbols */
};

void script_find_frames(struct script *s, const struct location *l, u64 fields,
	struct script_frames *ret);

/* The fields for a step of a visit's call chain. */
static inline u64 script_chain_fields(const struct visit *v, const struct chain_step *step,
	u64 fields)
{
	const bool is_unwound = v->format->type & PERF_SAMPLE_STACK_USER &&
		v->sample->user_stack.bytes.n && step->mode != PERF_RECORD_MISC_KERNEL;

	return is_unwound ? fields | SCRIPT_UNWOUND : fields;
}

/* Adds the "file.c:12" of a place. */
void script_add_source(struct script *s, const struct location *l, u64 ip, struct str *text);

/*
 * Finds the code at a place: `n` bytes and one more instruction, as far as the file has it. False if there is none.
 * script_code_size() returns the length of the instruction at `at`, 0 if it is unknown.
 */
bool script_code_find(struct code *c, struct script *s, const struct location *l, u64 n);
unsigned script_code_size(const struct code *c, u64 at);

/* Adds the last branches before the sample: addresses, names, offsets, or the code between them. */
void script_add_branches(struct script *s, const struct thread_state *state,
	const struct sample *sample, u64 fields, struct str *text);
void script_add_branch_code(struct script *s, const struct thread_state *state,
	const struct sample *sample, u64 fields, struct str *text);
void script_add_branches_json(struct script *s, const struct thread_state *state,
	const struct sample *sample, u64 fields, struct str *text);

/* The parts of the sample's weight: the cost, and the latencies until the instruction was done and until it retired. */
struct script_weight {
	u64 cost;
	u16 ins_lat, retire_lat;
};

static inline struct script_weight script_weight(u64 sample_type, u64 weight)
{
	bool is_whole = sample_type & PERF_SAMPLE_WEIGHT;

	return (struct script_weight){is_whole ? weight : (u32)weight,
		is_whole ? 0 : (u16)(weight >> 32), is_whole ? 0 : (u16)(weight >> 48)};
}

#endif
