/*
 * rebase.h - other addresses for all code and data of a recording, so that it does not tell where the kernel and the programs lay.
 *
 * In       records in the order of time
 * Out      the same records: maps lie one after the other, in the order in which they were made, from a fixed address on for each
 *          process; addresses in samples follow them. What lies in no map is 0
 * Owns     where the maps of each process lie, and room for one record
 * Life     a record is valid until the next one
 * Errors   none: records that cannot be decoded are left out
 *
 * Registers and copies of stacks, which hold addresses, are left out, and so are samples with physical addresses; the fields of
 * tracepoints are blanked.
 */
#ifndef PACE_EDIT_REBASE_H
#define PACE_EDIT_REBASE_H

#include "base/table.h"
#include "base/vec.h"
#include "machine/maps.h"
#include "record/formats.h"
#include "record/record.h"
#include "record/sample.h"

struct rebase_space {
	u32 pid;
	u64 next;                     /* where the next map goes */
	const struct maps_node *maps; /* what `start` is now is its pgoff; without DSOs */
};

struct rebase {
	VEC(struct rebase_space) spaces; /* the first one is the kernel's */
	struct table index;              /* of the others, by pid */
	struct maps_pool maps;
	struct str room;
	u64 n_blanked; /* samples that had something else that holds addresses */
	u64 n_dropped; /* samples with physical addresses */
	u64 n_lost;    /* addresses that lie in no map */
};

void rebase_init(struct rebase *r);
void rebase_fini(struct rebase *r);

/*
 * Changes a record; `is_tracepoint`: of a sample, that its raw bytes are a tracepoint's. False: it is to be left out.
 */
bool rebase_record(struct rebase *r, const struct sample_format *format, bool is_tracepoint,
	struct record *rec);

#endif
