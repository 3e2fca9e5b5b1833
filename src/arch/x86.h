/*
 * x86.h - the functions that read x86 code, which x86-64 and i386 share.
 *
 * Source   Intel SDM, volume 2; the calling conventions of the ABI supplements; the system calls' numbers:
 *          asm/unistd_64.h, unistd_32.h
 */
#ifndef PACE_ARCH_X86_H
#define PACE_ARCH_X86_H

#include "arch/arch.h"

struct arch_start x86_start(const struct arch *a, const struct arch_image *image);

extern const struct arch_code x86_code;
extern const struct arch_plt x86_plt;

#endif
