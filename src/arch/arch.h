/*
 * arch.h - architectures: all in which one processor differs from another.
 *
 * Each is a file of this folder that holds a `const struct arch`, and a row of `archs` in arch.c. What is not known of an
 * architecture is 0 or NULL in it: its recordings are read all the same, but their stacks are not walked, their code is not shown.
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
	const char *name; /* as perf writes it */
	u8 dwarf;         /* ARCH_NO_REG: nothing of the sort */
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
 * What is read out of code: at p, where an instruction begins, there are n bytes, and n_before of the same code
 * lie before it.
 */
struct arch_code {
	/* Bytes of the instruction; 0: it is none that is known, or not all there. */
	unsigned (*size)(const struct arch *a, const u8 *p, u32 n);
	/* Whether the instruction may continue somewhere else: jumps, calls, returns, system calls, interrupts. NULL: not known. */
	bool (*is_branch)(const struct arch *a, const u8 *p, u32 n);
	struct arch_op (*op)(const struct arch *a, const u8 *p, u32 n);
	/* Where a function's frame is not made yet, or half: what undoes that half; ARCH_OP_NONE: it is no such place. */
	struct arch_op (*entry)(const struct arch *a, const u8 *p, u32 n_before, u32 n);
	/* Up to `into` bytes behind a function's start, with n_after more there. */
	enum arch_frame (*frame)(const struct arch *a, const u8 *start, u32 into, u32 n_after);
	bool (*is_call_before)(const u8 *p, u32 n_before);
	/* Which function the call before p calls, at the return address ip, if it says; 5 bytes are there. */
	bool (*callee)(const u8 *p, u64 ip, u64 *ret_to);
	bool (*is_behind_system_call)(const u8 *p, u32 n_before);
	/* Whether nothing follows but the exit of the thread or the process. */
	bool (*is_exit)(const struct arch *a, const u8 *p, u32 n);
	/* Whether it is the second instruction of Go's goexit(), where goroutines return; NULL: not known. */
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

/* The file of a program, of which n bytes of code begin at `entry`. */
struct arch_image {
	u64 entry;
	const u8 *code;
	u32 n;
	/* What else of it is loaded, as much as there is; NULL: nothing. The word that will be at an address; 0: unknown. */
	const u8 *(*code_at)(const struct elf *elf, u64 va, u32 *ret_n);
	u64 (*word_at)(const struct elf *elf, u64 va);
	const struct elf *elf;
};

struct arch_start {
	u64 end;  /* of _start, behind the call that never returns; 0: it begins otherwise */
	u64 main; /* 0: unknown */
};

/* The stubs of a PLT. */
struct arch_plt {
	/* Bytes of the stub at p, where n are; 0: none begins there. NULL: all are as long as the section says. */
	u64 (*size)(const u8 *p, u64 n);
	u8 step; /* from where none begins to where the next may */
	/*
	 * The GOT word that the stub of n bytes at `va` jumps through; 0 if it is not a stub. `got` is the address in
	 * the register by which i386's shared code reaches the GOT.
	 */
	u64 (*slot)(const struct arch *a, const u8 *p, u64 n, u64 va, u64 got);
	/* The number of the relocation of the slot that the stub fills, as it says itself; NULL: they say nothing. */
	bool (*number)(const struct arch *a, const u8 *p, u64 n, u64 *ret_number);
	/* Whether this is the PLT's first entry, which enters the dynamic linker; NULL: unknown. */
	bool (*is_front)(const u8 *p, u64 n);
};

/* A relocation type that compilers use in debug sections: an address of that many bytes. */
struct arch_reloc {
	u32 type;
	u8 bytes; /* 0: it is none */
};

/* What the table of Go's functions can be made into call frame information by. */
enum arch_go {
	ARCH_GO_UNKNOWN,
	ARCH_GO_DEPTHS,         /* how deep the stack is */
	ARCH_GO_FRAME_POINTERS, /* likewise, and what has a frame keeps a frame pointer */
};

struct arch {
	const char *names[4];       /* as uname -m says them */
	const struct arch *sibling; /* the same processors with words of another size; NULL */
	u16 machine;                /* EM_* */
	u8 word;                    /* bytes of an address */

	/* Registers of samples, by the number in their masks; the names of others are a letter and the number. */
	const struct arch_reg *regs;
	u8 n_regs;
	char letter;
	bool has_vectors; /* numbers from 32 on are the halves of XMM0 to XMM15 */
	u64 caller_regs;  /* those that finding callers takes; 0: nobody can */
	u8 sp, ip;        /* DWARF numbers; ip: where walks keep the sampled address */
	u8 fp;   /* points to the saved caller's fp, the return address follows it; or ARCH_NO_FP */
	u8 link; /* where a call leaves its return address; ARCH_NO_REG: on the stack */
	u64 va_mask; /* mask of the address bits: the other bits are a signature (pointer authentication) */

	/* Code. */
	bool is_x86;                  /* arch/x86_decode reads its instructions */
	const struct arch_code *code; /* NULL: nobody reads it, only rows lead to callers */
	const struct arch_trampoline *trampolines;
	u8 n_trampolines;
	const struct isa *isa; /* how it is shown; NULL: nobody can */
	enum arch_go go;

	/* Files. */
	struct arch_start (*start)(const struct arch *a, const struct arch_image *image); /* NULL */
	const struct arch_plt *plt;
	struct arch_reloc debug_relocs[3];
	u32 irelative, relative; /* the types of relocations; 0: not known */
	bool has_thumb; /* the lowest bit of a function's address says which instructions it has */
	bool has_small_pages; /* programs' pages are 4 KiB, nothing else */

	/* Kernels. */
	const char *kernel_text; /* the symbol that recordings name; NULL: _text */
	const char
		*kernel_ways[12]; /* functions on the way to the scheduler, "x*": what begins so */
	bool has_plain_modules;   /* modules are loaded without a .plt that the kernel adds */
	bool has_halves;          /* the kernel's addresses are above all those of programs */
};

extern const struct arch arch_x86_64, arch_i386, arch_arm64, arch_riscv64, arch_arm, arch_s390x,
	arch_ppc64;

#define ARCH_REGS(of)        .regs = (of), .n_regs = ARRAY_SIZE(of)
#define ARCH_TRAMPOLINES(of) .trampolines = (of), .n_trampolines = ARRAY_SIZE(of)

/* Each of those known; NULL behind the last. */
const struct arch *arch_at(size_t i);

/* The machine that pace was built for; NULL: none of those known. */
const struct arch *arch_of_host(void);

/* A machine as uname -m says it, NULL: this one; NULL: none of those known. */
const struct arch *arch_of_name(const char *name);

/* The files of a machine, EM_*; of those that have it the first in the table. NULL: none of those known. */
const struct arch *arch_of_machine(u16 machine);

/* The architecture, or its sibling, whose words have that many bytes; NULL: there is none. */
const struct arch *arch_with_word(const struct arch *a, u8 word);

#endif
