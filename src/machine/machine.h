/*
 * machine.h - who ran, and which code was mapped where, at every moment of a recording.
 *
 * In       records in the order of their times: machine_apply()
 * Out      for (pid, tid, time) the thread's name and its address space; for (space, va) the DSO
 * Owns     threads, processes, DSOs, strings
 * Life     the session's; all pointers handed out stay valid, even while more records come, until
 *          machine_forget() drops what they point to
 * Errors   none: unknown pids get an entry, maps of nothing are left out: samples in them are in no map
 * Threads  one thread calls machine_apply(); afterwards any number may look up
 * Source   linux/perf_event.h: MMAP, MMAP2, COMM, FORK, EXIT, KSYMBOL
 *
 * Nothing is read from files or from this machine's state: a recording gives the same result on every
 * machine.
 */
#ifndef PACE_MACHINE_MACHINE_H
#define PACE_MACHINE_MACHINE_H

#include "base/str.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"
#include "event/abi.h"
#include "machine/dso.h"
#include "machine/process.h"
#include "machine/thread.h"
#include "record/record.h"
#include "session/stream.h"

struct machine;

/*
 * Knows the code that processes generate while they run. It is called for every file and every memory for
 * code that a process maps, and as time goes on; then it calls machine_add_code() for the code generated
 * until then.
 */
struct machine_coder {
	void *ctx;
	void (*mapped)(void *ctx, struct machine *m, u32 pid, const struct dso *dso, u64 time);
	void (*advance)(void *ctx, struct machine *m, u64 time);
};

/* The kernel of a virtual machine. */
struct guest {
	u32 pid; /* the host's process that runs it; 0: any that has no guest of its own */
	struct process *kernel;
	u64 text; /* where its _text was; 0: unknown */
};

struct machine_cgroup {
	u64 id;
	const char *path;
};

struct machine {
	struct intern strings;
	struct dso_list dsos;
	struct maps_pool maps;
	VEC(struct thread *) threads; /* all, those that have ended too */
	struct table threads_by_tid; /* -> position of the newest with that tid in newest_threads */
	VEC(struct thread *) newest_threads;
	struct table processes_by_pid;
	VEC(struct process *) newest_processes;
	struct process *kernel; /* the kernel's address space */
	VEC(struct guest) guests;
	VEC(struct machine_cgroup) cgroups;
	struct table cgroups_by_id;
	u64 kernel_text; /* where the kernel's _text was; 0: the recording does not say */
	struct arena arena;
	/* What machine_forget() has dropped, for reuse. */
	struct thread *free_threads;    /* linked by `older` */
	struct process *free_processes; /* the same */
	struct space *free_spaces;      /* linked by `next_free` */
	u64 maps_kept;                  /* bytes of maps when they were last copied */
	u64 n_ended; /* threads that have ended since the last machine_forget() */
	u64 n_kept;  /* threads that it kept */
	u32 next_space_id;
	u64 n_comms;   /* names that threads ever had */
	u64 n_changes; /* of states: look-ups before the last change may not hold any more */
	const struct machine_coder *coder; /* NULL: none; set right after machine_init() */
	u64 followed_to;  /* the latest time of machine_apply_late() and machine_follow() */
	bool is_foreseen; /* machine_foresee() has taken in all records */
	const char *swapper;
};

void machine_init(struct machine *m);
void machine_fini(struct machine *m);

/* Takes in a record for which record_is_state(); times must not decrease from call to call. */
void machine_apply(struct machine *m, const struct record *rec, const union record_body *body,
	u64 time);

/* The same for a record that may come late: it holds from now on. */
void machine_apply_late(struct machine *m, const struct record *rec, const union record_body *body,
	u64 time);

/*
 * Takes in the record of a stream if it says who ran where; one that comes late holds from now on.
 * 1: *ret_body is what it says; 0: it is not such a record; < 0: it cannot be decoded, and is counted
 * in the session's tally.
 */
int machine_follow(struct machine *m, struct session *session, const struct stream_event *e,
	union record_body *ret_body);

/*
 * For a stream without times, where samples may come before the records they need (one CPU's ring follows
 * the other's): takes in all records of the file beforehand, so that machine_follow() only decodes them.
 * Call it right after machine_set_build_ids(). Does nothing for streams with times, and for pipes.
 */
int machine_foresee(struct machine *m, struct session *session, struct err *err);

/* The path of a cgroup, by the id in samples; NULL: no record names it. */
const char *machine_cgroup(const struct machine *m, u64 id);

/*
 * Says which time is reached. Used by callers that look at samples between records; machine_apply() and
 * machine_follow() say it themselves. UINT64_MAX is the end.
 */
void machine_advance(struct machine *m, u64 time);

/*
 * Gives a process this code from that time on, until other code overlaps it; true if it replaced other
 * code. Where the process has a file mapped, the file's map takes precedence.
 */
bool machine_add_code(struct machine *m, u32 pid, const struct map *code, u64 time);

/* The code of machine_add_code() that is at an address now; NULL: none. */
const struct map *machine_code_at(const struct machine *m, u32 pid, u64 va);

/*
 * For machines that are followed for days: forgets the threads and processes that had ended before `before`, and
 * older states of the others. Look-ups are right from `before` on. Pointers to what was forgotten, and to any
 * maps, become invalid; pointers to the remaining threads, processes and spaces stay valid, and so do ids of
 * spaces, DSOs and strings. Takes time and memory in proportion to what remains: call it when n_ended says that
 * it pays.
 */
void machine_forget(struct machine *m, u64 before);

/* Sets mapped[id] to 1 for each DSO that a process or the kernel still has mapped in any state. */
void machine_mark_mapped(const struct machine *m, u8 *mapped);

/* The process that has this pid now, or had it last; NULL: none had. */
const struct process *machine_newest_process(const struct machine *m, u32 pid);

/* Whether enough threads have ended for forgetting to pay; then forgets what is more than a second older than `now`. */
bool machine_should_forget(const struct machine *m, u64 now);
bool machine_forget_ended(struct machine *m, u64 now);

/* Takes over the table of build-ids that a recording carries. */
void machine_set_build_ids(struct machine *m, const struct file_info *info);

/* Reads a session's first pass into a fresh machine. */
int machine_scan(struct machine *m, struct session *session, struct err *err);

/* The same, with a source of generated code; NULL: none. */
int machine_scan_coded(struct machine *m, struct session *session,
	const struct machine_coder *coder, struct err *err);

/* What holds for a thread over [from, until). */
struct thread_state {
	const struct thread *thread; /* NULL: no record mentions it */
	const char *comm;            /* never NULL: ":tid" for threads without a name */
	const struct space *user;    /* NULL: no maps are known */
	const struct space *kernel;
	const struct space *guest; /* the kernel of the guest that it runs; NULL: it runs none */
	u64 from, until;
};

/* The space of a thread that code of a CPU mode ran in; NULL for hypervisors and programs of guests. */
static inline const struct space *machine_space_of(const struct space *user,
	const struct space *kernel, const struct space *guest, u8 mode)
{
	switch (mode) {
	case PERF_RECORD_MISC_KERNEL:
		return kernel;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return guest;
	case PERF_RECORD_MISC_USER:
	case PERF_RECORD_MISC_CPUMODE_UNKNOWN:
		return user;
	}
	return NULL;
}

static inline const struct space *machine_space(const struct thread_state *state, u8 mode)
{
	return machine_space_of(state->user, state->kernel, state->guest, mode);
}

/* The guest that a process runs, that of pid 0 if it has none of its own, or NULL. */
const struct guest *machine_guest(const struct machine *m, u32 pid);

/*
 * The state of a thread at a time. `strings` interns names like ":tid": with a table each, several of
 * our threads may ask at the same time.
 */
void machine_state_at(const struct machine *m, u32 pid, u32 tid, u64 time, struct intern *strings,
	struct thread_state *ret_state);

/*
 * The map that covers va in a space, or NULL. An address that the exec'd program does not map may still
 * belong to the program that called exec.
 */
const struct map *machine_find(const struct space *space, u64 va);

#endif
