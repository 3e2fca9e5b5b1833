/*
 * Call frame information, and a stack that is walked by it. The first 512 bytes are registers and the
 * stack dump; the rest is .eh_frame, .debug_frame, the search table and the code all at once.
 */
#include "event/abi.h"
#include "arch/arch.h"
#include "fuzz/fuzz.h"
#include "unwind/stack.h"

enum { REGS = 33, HEAD = 512, CODE = 0x1000 };

struct world {
	struct cfi cfi;
	const u8 *code;
	u32 n;
};

static void find(void *ctx, u64 ip, struct stack_code *ret_code)
{
	struct world *w = ctx;

	*ret_code = (struct stack_code){&w->cfi, ip % CODE, 0, STACK_NO_CFI, true, true};
}

static void look(void *ctx, u64 ip, struct stack_bytes *ret_bytes)
{
	struct world *w = ctx;
	u32 at = (u32)(ip % CODE);

	if (at <= w->n)
		*ret_bytes = (struct stack_bytes){w->code + at, at, w->n - at, at % 64, false};
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static const struct arch *const archs[] = {&arch_x86_64, &arch_i386, &arch_arm64,
		&arch_riscv64};
	size_t n_frame = n > HEAD ? n - HEAD : 0;
	u8 *frame = fuzz_exact(data + (n - n_frame), n_frame);
	struct cfi_input in = {.eh_frame = bytes_of(frame, n_frame), .is_64 = n % 2 == 0};
	u8 *head;
	struct world world = {.code = frame, .n = (u32)n_frame};

	if (n < HEAD) {
		free(frame);
		return 0;
	}
	head = fuzz_exact(data, HEAD);
	in.debug_frame = in.eh_frame_hdr = in.eh_frame;
	cfi_init(&world.cfi, &in);
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++) {
		struct sample_regs regs = {PERF_SAMPLE_REGS_ABI_64, {head, REGS}};
		struct sample_stack dump = {{head + 8 * REGS, HEAD - 8 * REGS}, HEAD - 8 * REGS};
		struct stack_input input = {archs[i], (1ull << REGS) - 1, &regs, &dump, 200};
		struct stack stack;
		struct stack_end end;

		stack_init(&stack);
		end = stack_walk(&stack, &input, &(struct stack_places){find, &world, 1, look});
		FUZZ_CHECK(end.ending < STACK_ENDINGS);
		FUZZ_CHECK(stack.chain.n <= 2 * 200 + 2);
		stack_fini(&stack);
	}
	cfi_fini(&world.cfi);
	free(head);
	free(frame);
	return 0;
}
