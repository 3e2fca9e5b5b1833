/*
 * checkpoint.h - reduces records of the past to those that still say what there is.
 *
 * In       whole records of tasks, maps and code, round by round as rings were read
 * Out      in the order of their times: who lives, with the names and maps it has now; what
 *          living processes inherited from ended ones; the kernel's maps and symbols that are left
 * Errors   none: a record that makes no sense is kept
 * Source   linux/perf_event.h: FORK, EXIT, COMM, MMAP, MMAP2, NAMESPACES, KSYMBOL, BPF_EVENT, CGROUP,
 *          TEXT_POKE
 *
 * What is dropped says nothing of any moment behind the last record: processes and threads that have
 * ended, maps that others replaced, what was there before an exec, earlier names. A process that ended
 * and left its address space to one child only becomes the beginning of that child, so that a chain of
 * them stays as short as its last link. The records of the newest two seconds all stay: others that
 * belong between them may still be in a ring.
 */
#ifndef PACE_FILE_CHECKPOINT_H
#define PACE_FILE_CHECKPOINT_H

#include "base/str.h"
#include "base/types.h"

/*
 * `time_from_end`: where the time stands in the records' trailers, from the record's end; 0: nobody
 * knows, and records are taken in the order they are in. `is_complete`: nothing that belongs between them
 * is still to come, the newest are as settled as the others.
 */
void checkpoint_reduce(u32 time_from_end, bool is_complete, struct str *records);

#endif
