/*
 * script.h - one sample after the other as text, in perf script's layout.
 *
 * In       samples in the order of time, the machine as it was then, a resolver
 * Out      lines, appended to a struct str
 * Owns     the texts it made of addresses: of one that comes again, the text is copied
 * Units    times in seconds with six digits, nine if asked for
 * Threads  one
 */
#ifndef PACE_VIEW_SCRIPT_H
#define PACE_VIEW_SCRIPT_H

#include "base/str.h"
#include "base/table.h"
#include "file/tracepoints.h"
#include "machine/machine.h"
#include "record/formats.h"
#include "symbol/callers.h"
#include "symbol/location.h"

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
	SCRIPT_PLACE =
		SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO | SCRIPT_SRCLINE, /* what is told of code */
};

/* Kinds of events that may have fields of their own. */
enum script_kind {
	SCRIPT_HW,
	SCRIPT_SW,
	SCRIPT_TRACEPOINT,
	SCRIPT_RAW,
	SCRIPT_OTHER,
	SCRIPT_KINDS
};

struct script_options {
	u32 fields[SCRIPT_KINDS];
	bool has_said_fields; /* then what an event does not have is an error, else it is left out */
	bool has_ns, is_relative, is_delta, hides_chains, has_full_paths;
	unsigned name_style; /* enum demangle_style */
	bool stitches;       /* branch records of calls, where they are full (unwind/lbr.h) */
	bool hides_inlined;  /* no lines in call chains for functions that were inlined */
	u32 max_stack;
};

/* How a place is told. */
enum script_form {
	SCRIPT_ALONE,    /* behind a sample's other fields */
	SCRIPT_IN_CHAIN, /* as a line of a call chain */
	SCRIPT_AS_JSON,
};

struct script_place { /* what one address looks like */
	u64 ip;
	u32 start, end; /* in `texts` */
	u32 space_id;   /* UINT32_MAX: none */
	u32 fields;
	u8 mode, form;
	bool is_return;
};

struct script {
	const struct script_options *options;
	const struct event_list *events;
	const struct formats *formats;
	const struct machine *machine;
	struct locator locator;
	struct tracepoints *tracepoints; /* NULL: none */
	struct callers callers;
	struct callers_walk walk;
	u32 *fields; /* by event */
	size_t n_fields, fields_cap;
	u32 name_width;
	u64 first_time, last_time;
	struct intern strings;
	struct str texts;
	VEC(struct script_place) places;
	struct table index;
};

void script_init(struct script *s, const struct script_options *options,
	const struct event_list *events, const struct formats *formats,
	const struct machine *machine, struct resolver *resolver);
void script_fini(struct script *s);

/*
 * Parses -F: "comm,tid,ip", "+addr", "-period", "hw:ip,sym". ERR_INVAL names the word and what is
 * near it.
 */
int script_parse_fields(struct script_options *options, const char *text, struct err *err);
void script_default_fields(struct script_options *options);

/* ERR_INVAL if a field was asked for that the event's samples do not have. */
int script_check(const struct script *s, struct err *err);

/* Events that came since script_init(), in pipe mode. */
void script_take_events(struct script *s);

void script_add_sample(struct script *s, const struct sample *sample, const struct record *rec,
	u32 event, u64 time, struct str *text);

/* The same as a line of JSON. */
void script_add_json(struct script *s, const struct sample *sample, const struct record *rec,
	u32 event, u64 time, struct str *text);

struct script_who {
	const char *comm;
	u32 pid, tid, cpu;
	u64 time;
};

/* "comm tid [cpu] time: " of a record that is no sample. */
void script_add_start(struct script *s, const struct script_who *who, u32 fields, bool has_chain,
	struct str *text);

/* ---- for script.c and script_json.c only ---- */

/* Whether samples of this type have callers. */
static inline bool script_has_chain(u64 sample_type)
{
	return sample_type & PERF_SAMPLE_CALLCHAIN ||
		(sample_type & PERF_SAMPLE_REGS_USER && sample_type & PERF_SAMPLE_STACK_USER);
}

/* The sample's call chain: recorded, or out of its stack dump or branch records. */
struct sample_words script_chain(struct script *s, const struct thread_state *state,
	const struct sample *sample, u32 event, u8 mode);

/* Adds an address in that form; of the fields, what is told of places. */
void script_add_place(struct script *s, const struct thread_state *state,
	const struct chain_step *step, u32 fields, enum script_form form, struct str *text);

#endif
