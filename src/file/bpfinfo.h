/*
 * bpfinfo.h - the BPF programs of a recording's section BPF_PROG_INFO, as text.
 *
 * In       the section, of either byte order
 * Out      a line for each program: its id, its name, and where its code was
 * Errors   false: the section is damaged; the programs before the damage are in the text
 * Source   linux/bpf.h: struct bpf_prog_info; the names are those of the kernel's symbols
 */
#ifndef PACE_FILE_BPFINFO_H
#define PACE_FILE_BPFINFO_H

#include "base/bytes.h"
#include "base/str.h"

bool bpfinfo_add_text(struct bytes *b, struct str *text);

#endif
