/*
 * bpfinfo.h - the BPF programs that a recording's section BPF_PROG_INFO tells of, in words.
 *
 * In       the section, of either byte order
 * Out      a line for each program: its number, name, and where its code was
 * Errors   false: the section is damaged; the programs before are there
 * Source   linux/bpf.h: struct bpf_prog_info; the names are those of the kernel's symbols
 */
#ifndef PACE_FILE_BPFINFO_H
#define PACE_FILE_BPFINFO_H

#include "base/bytes.h"
#include "base/str.h"

bool bpfinfo_add_text(struct bytes *b, struct str *text);

#endif
