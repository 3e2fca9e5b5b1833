/*
 * bpf.h - describes, as records, the BPF programs that are loaded when recording begins.
 *
 * Their code is in the kernel and in no map; programs loaded later are reported by the kernel.
 * In       bpf(2): needs CAP_BPF or CAP_SYS_ADMIN, and kernel addresses that are not hidden
 * Out      a KSYMBOL record for each function of each program, and a BPF_EVENT for the program
 * Errors   none: without the right there are no records, and a program that is unloaded meanwhile is
 *          left out
 * Source   bpf(2); linux/bpf.h: bpf_prog_info; Documentation/bpf/btf.rst; names are those that the
 *          kernel gives, kernel/bpf/core.c: bpf_get_prog_name()
 */
#ifndef PACE_COLLECT_BPF_H
#define PACE_COLLECT_BPF_H

#include "base/bytes.h"
#include "base/str.h"

/* Appends the records, each with room for a trailer of that many bytes. */
void bpf_synth(u32 trailer, struct str *out);

/*
 * The name of a function type in BTF; NULL: the BTF is damaged, or has no such type. Lives as long
 * as `btf`. Public for tests.
 */
const char *bpf_function_name(struct bytes btf, u32 type_id);

#endif
