/*
 * tsx.h - Intel's hardware transactions (TSX): whether this machine has them, and their events that sysfs does not
 * name.
 *
 * RTM transactions are begun by XBEGIN ("tx"); with HLE, the older way, a prefix elides a lock ("el").
 * In       sysfs; /proc/cpuinfo if sysfs is this machine's
 * Out      the reason why there are none; terms of a PMU ("event=0xc9,umask=0x4")
 * Owns     nothing
 * Errors   none: what cannot be read is not there
 * Source   Linux, arch/x86/kernel/cpu/tsx.c and arch/x86/events/intel/core.c (tsx_is_visible()); Intel's tables of
 *          events for each model
 */
#ifndef PACE_EVENT_TSX_H
#define PACE_EVENT_TSX_H

#include "base/log.h"
#include "base/str.h"
#include "event/event.h"
#include "event/pmu.h"

enum tsx_state {
	TSX_COUNTED,    /* a PMU has events of transactions */
	TSX_UNCOUNTED,  /* programs can run transactions, but no PMU here counts them */
	TSX_MICROCODE,  /* the microcode aborts every transaction */
	TSX_KERNEL,     /* Linux has turned it off */
	TSX_HYPERVISOR, /* a virtual machine, which shows none of it */
	TSX_DISABLED,   /* the model has it, but it is turned off */
	TSX_MISSING,    /* the CPU has none */
};

/* `cpuinfo` is the text of /proc/cpuinfo; NULL: it is not known. */
enum tsx_state tsx_state_of(const char *sysfs, const char *cpuinfo);

/* The same for the machine whose sysfs this is. */
enum tsx_state tsx_state_here(const char *sysfs);

/* Why there are no transactions to count here, and what changes it: "this CPU has no ..."; "" for TSX_COUNTED. */
const char *tsx_reason(enum tsx_state state);

/* The same for an event that is asked for by a name that is not there, whatever the state. */
const char *tsx_reason_of_event(const char *sysfs);

/* Whether it is the name of an event of transactions, here or anywhere. */
bool tsx_is_event(const char *name);

/* Whether it is the name of a term that asks for what happens in transactions: "in_tx", "intx_cp". */
bool tsx_is_term(const char *name);

/*
 * Refuses an attr whose bits ask for what happens in transactions where the kernel would ignore them, and count everything:
 * ERR_UNSUPPORTED with the reason. Only on a CPU that is known to be Intel's; the bits mean something else on others.
 */
int tsx_check(const char *sysfs, const struct event_attr *a, struct err *err);

/*
 * The terms of an event that sysfs does not name: 1 and *ret_terms; 0 if it is none of these; ERR_NOENT, with the
 * reason, if this PMU's CPU has no such event. `cpuid` is "" if the model is not known.
 */
int tsx_find(const struct pmu *pmu, const char *name, const char *cpuid, const char **ret_terms,
	struct err *err);

/* The name of the i-th of these events; NULL: there are no more. */
const char *tsx_event_at(size_t i);

/*
 * Notes, once, that an event is one of transactions by its raw code, which this machine's CPU knows but has none to count:
 * the count is 0 and there are no samples.
 */
void tsx_note_raw(const char *sysfs, const struct event_list *events, struct log *log);

/* What an event counts, whatever it is called. */
enum tsx_count {
	TSX_CYCLES,
	TSX_CYCLES_IN,        /* in transactions: cycles-t */
	TSX_CYCLES_COMMITTED, /* in transactions that were committed: cycles-ct */
	TSX_STARTS,           /* of RTM transactions */
	TSX_ELISIONS,         /* starts of HLE transactions */
	TSX_LOCK_LOADS,       /* instructions with a LOCK prefix */
	TSX_ABORTS,
	TSX_ELISION_ABORTS,
	TSX_COUNTS
};

enum tsx_count tsx_count_of(const struct event *e); /* TSX_COUNTS: none of these */

#endif
