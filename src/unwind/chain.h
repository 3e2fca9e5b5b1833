/*
 * chain.h - a sample's call chain, address by address.
 *
 * In       the kernel's words: addresses innermost first, with PERF_CONTEXT_* markers between them
 * Out      each address, the mode it ran in, and whether it is a return address
 * Owns     nothing
 * Source   linux/perf_event.h: enum perf_callchain_context
 *
 * A marker is followed by the address at which that mode was interrupted: the sampled instruction, or the
 * one that entered the kernel. The addresses after it are return addresses: the call precedes them, so names
 * are looked up at ip - 1.
 */
#ifndef PACE_UNWIND_CHAIN_H
#define PACE_UNWIND_CHAIN_H

#include "base/types.h"
#include "record/sample.h"

struct chain_step {
	u64 ip;
	u8 mode; /* PERF_RECORD_MISC_KERNEL, _USER, ...; _UNKNOWN before the first marker */
	bool is_return;
};

struct chain_walk {
	const u8 *at, *end;
	u8 mode;
	bool is_after_marker;
};

static inline struct chain_walk chain_walk(const struct sample_words *words, u8 mode)
{
	return (struct chain_walk){words->at, words->at + words->n * 8, mode, true};
}

/* Returns false at the end, or at an unknown marker. */
bool chain_next(struct chain_walk *walk, struct chain_step *ret_step);

#endif
