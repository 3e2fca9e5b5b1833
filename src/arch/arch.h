/*
 * arch.h - architectures: everything that differs between processors.
 *
 * Each architecture has a file in this folder, which defines a `const struct arch`, and a row of `archs` in arch.c.
 * Unknown facts are 0 or NULL. Recordings of such an architecture can be read, but the features that need the facts
 * are missing.
 *
 * In       the name of a machine, e_machine of an ELF file
 * Out      constants
 * Source   arch/{x86,arm64,riscv}/include/uapi/asm/perf_regs.h; register numbers: the DWARF sections of the
 *          ABI supplements
 */
#ifndef PACE_ARCH_ARCH_H
#define PACE_ARCH_ARCH_H

#include "arch/isa.h"
#include "base/types.h"

/*
 * A register that no sample has, for architectures whose frame pointers have another layout and are not
 * followed.
 */
enum { ARCH_NO_FP = 39 };

enum { ARCH_NO_REG = 255 }; /* no register */

struct arch;

struct arch_reg {
	const char *name; /* as perf prints it */
	u8 dwarf;         /* ARCH_NO_REG: DWARF has no number for it */
};

enum arch_op_kind {
	ARCH_OP_NONE, /* something else */
	ARCH_OP_SKIP, /* has no effect that matters here */
	ARCH_OP_SET,  /* reg = from + value */
	ARCH_OP_LOAD, /* reg = [from + value], reg2 = [from + value + word]; then sp += after */
	ARCH_OP_LOST, /* reg gets an unknown value */
	ARCH_OP_LEAVE,
	ARCH_OP_RETURN, /* pops the return address, then sp += value */
};

/* What an instruction does, of those that make frames and undo them. */
struct arch_op {
	u8 kind;
	u8 size; /* bytes of the instruction */
	u8 reg, reg2, from;
	s64 value, after;
};

/* What the code from a function's start to an instruction has made. */
enum arch_frame {
	ARCH_FRAME_UNKNOWN,   /* no code that makes a frame was found */
	ARCH_FRAME_SOMETIMES, /* a frame is made, but maybe not on the path taken */
	ARCH_FRAME_MADE, /* the frame pointer points to the caller's fp and the return address */
	ARCH_FRAME_LEAF, /* there is no frame: the return address is where the call left it */
};

/*
 * The functions that read code. An instruction begins at p; n bytes are readable from there on, and n_before
 * bytes before it.
 */
struct arch_code {
	/* The size of the instruction; 0: it is unknown, or cut off. */
	unsigned (*size)(const struct arch *a, const u8 *p, u32 n);
	/* Whether it may continue somewhere else: jumps, calls, returns, system calls, interrupts. NULL: unknown. */
	bool (*is_branch)(const struct arch *a, const u8 *p, u32 n);
	struct arch_op (*op)(const struct arch *a, const u8 *p, u32 n);
	/* In a prologue: what undoes the part of the frame made so far. ARCH_OP_NONE: this is no prologue. */
	struct arch_op (*entry)(const struct arch *a, const u8 *p, u32 n_before, u32 n);
	/* The function begins at `start`, the instruction is `into` bytes behind; n_after bytes follow. */
	enum arch_frame (*frame)(const struct arch *a, const u8 *start, u32 into, u32 n_after);
	bool (*is_call_before)(const u8 *p, u32 n_before);
	/* The target of a direct call that returns to ip, which is at p. At least 5 bytes are before it. */
	bool (*callee)(const u8 *p, u64 ip, u64 *ret_to);
	bool (*is_behind_system_call)(const u8 *p, u32 n_before);
	/* Whether nothing follows but the exit of the thread or the process. */
	bool (*is_exit)(const struct arch *a, const u8 *p, u32 n);
	/* Whether this is the second instruction of Go's goexit(), where goroutines return; NULL: unknown. */
	bool (*is_goexit)(const struct arch *a, const u8 *p, u32 n_before, u32 n);
};

/* The code that a signal handler returns to, and where the saved registers are when it begins. */
struct arch_trampoline {
	u8 code[12];
	u8 n_code;
	u8 pointer;         /* offset from sp to the pointer to the ucontext; 0: there is none */
	u16 context;        /* from the stack pointer, or from the ucontext, to its registers */
	const u16 *offsets; /* by DWARF's numbers */
	u8 n_offsets;
};

struct elf;

/* The file of a program; `code` has n bytes from its entry point on. */
struct arch_image {
	u64 entry;
	const u8 *code;
	u32 n;
	/* Reads other loaded bytes; NULL: there are none. Reads a word as it will be after relocation; 0: unknown. */
	const u8 *(*code_at)(const struct elf *elf, u64 va, u32 *ret_n);
	u64 (*word_at)(const struct elf *elf, u64 va);
	const struct elf *elf;
};

struct arch_start {
	u64 end;  /* the end of _start, behind the call that never returns; 0: not recognised */
	u64 main; /* 0: unknown */
};

/* The stubs of a PLT. */
struct arch_plt {
	/* The size of the stub at p; 0: none begins there. NULL: the section header has the size of all stubs. */
	u64 (*size)(const u8 *p, u64 n);
	u8 step; /* alignment of stubs, if there is a size() */
	/*
	 * The GOT word that the stub of n bytes at `va` jumps through; 0 if it is not a stub. `got` is the address in
	 * the register by which i386's shared code reaches the GOT.
	 */
	u64 (*slot)(const struct arch *a, const u8 *p, u64 n, u64 va, u64 got);
	/* The number of the relocation that a stub pushes; NULL: stubs push none. */
	bool (*number)(const struct arch *a, const u8 *p, u64 n, u64 *ret_number);
	/* Whether this is the PLT's first entry, which enters the dynamic linker; NULL: unknown. */
	bool (*is_front)(const u8 *p, u64 n);
};

/* A relocation type that compilers use in debug sections: an address of that many bytes. */
struct arch_reloc {
	u32 type;
	u8 bytes; /* 0: it is none */
};

/* What Go's table of functions tells about frames on this architecture. */
enum arch_go {
	ARCH_GO_UNKNOWN,
	ARCH_GO_DEPTHS,         /* the depth of the stack */
	ARCH_GO_FRAME_POINTERS, /* the same, and every function with a frame keeps a frame pointer */
};

struct arch {
	const char *names[4];       /* as in uname -m */
	const struct arch *sibling; /* the same processors with another word size; NULL */
	u16 machine;                /* EM_* */
	u8 word;                    /* bytes of an address */

	/* Registers by bit number in the samples' masks. The name of any other is a letter and the number. */
	const struct arch_reg *regs;
	u8 n_regs;
	char letter;
	bool has_vectors; /* numbers from 32 on are the halves of XMM0 to XMM15 */
	u64 caller_regs;  /* the registers that unwinding needs; 0: pace cannot unwind there */
	u8 sp, ip;        /* DWARF numbers; ip: where walks keep the sampled address */
	u8 fp;   /* points to the saved caller's fp, the return address follows it; or ARCH_NO_FP */
	u8 link; /* where a call leaves its return address; ARCH_NO_REG: on the stack */
	u64 va_mask; /* mask of the address bits: the other bits are a signature (pointer authentication) */

	/* Code. */
	bool is_x86; /* arch/x86_decode decodes its instructions */
	const struct arch_code
		*code; /* NULL: its code cannot be read, so only CFI rows lead to callers */
	const struct arch_trampoline *trampolines;
	u8 n_trampolines;
	const struct isa *isa; /* NULL: its code cannot be disassembled */
	enum arch_go go;

	/* Files. */
	struct arch_start (*start)(const struct arch *a, const struct arch_image *image); /* NULL */
	const struct arch_plt *plt;
	struct arch_reloc debug_relocs[3];
	u32 irelative, relative; /* relocation types; 0: unknown */
	bool has_thumb;          /* the lowest bit of a function's address marks Thumb code */
	bool has_small_pages;    /* pages of programs are always 4 KiB */

	/* Kernels. */
	const char *kernel_text; /* the symbol that recordings refer to; NULL: _text */
	const char *kernel_ways
		[12]; /* entry functions through which threads are preempted; * stands for any ending */
	bool has_plain_modules; /* the kernel adds no .plt to modules */
	bool has_halves;        /* the kernel's addresses are above those of all programs */
};

extern const struct arch arch_x86_64, arch_i386, arch_arm64, arch_riscv64, arch_arm, arch_s390x,
	arch_ppc64;

#define ARCH_REGS(of)        .regs = (of), .n_regs = ARRAY_SIZE(of)
#define ARCH_TRAMPOLINES(of) .trampolines = (of), .n_trampolines = ARRAY_SIZE(of)

/* The i-th architecture; NULL behind the last. */
const struct arch *arch_at(size_t i);

/* Returns the architecture that pace was built for; NULL: unknown. */
const struct arch *arch_of_host(void);

/* Returns the architecture of a machine as uname -m names it; of this one, if `name` is NULL. NULL: unknown. */
const struct arch *arch_of_name(const char *name);

/* Returns the architecture of ELF files with this e_machine; NULL: unknown. */
const struct arch *arch_of_machine(u16 machine);

/* Returns the architecture or its sibling, whichever has this word size in bytes; NULL: neither. */
const struct arch *arch_with_word(const struct arch *a, u8 word);

#endif
