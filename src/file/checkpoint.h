/*
 * checkpoint.h - reduces past records to those that still describe the present.
 *
 * In       whole records of tasks, maps and code, round by round as rings were read
 * Out      in order of time: who is alive, with current names and maps; what living processes
 *          inherited from ended ones; the kernel's remaining maps and symbols
 * Errors   none: a record that makes no sense is kept
 * Source   linux/perf_event.h: FORK, EXIT, COMM, MMAP, MMAP2, NAMESPACES, KSYMBOL, BPF_EVENT, CGROUP,
 *          TEXT_POKE
 *
 * A record is dropped if it no longer matters at any moment after the last record: ended processes and
 * threads, maps that others replaced, everything before an exec, earlier names. If a process ended and
 * left its address space to only one child, its history becomes that child's, so that a chain of such
 * processes stays as short as its last link. The records of the newest two seconds are all kept:
 * records that belong between them may still be in a ring.
 */
#ifndef PACE_FILE_CHECKPOINT_H
#define PACE_FILE_CHECKPOINT_H

#include "base/str.h"
#include "base/types.h"

/*
 * `time_from_end`: where the time stands in the records' trailers, counted from a record's end; 0:
 * unknown, and the records are taken in the order given. `is_complete`: no record that belongs
 * between them is still to come, so the newest are as settled as the others.
 */
void checkpoint_reduce(u32 time_from_end, bool is_complete, struct str *records);

#endif
