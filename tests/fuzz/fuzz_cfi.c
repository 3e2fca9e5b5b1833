/*
 * Call frame information, and a stack that is walked by it. The first 512 bytes are registers and the
 * stack dump; the rest is .eh_frame, .debug_frame and the search table all at once.
 */
#include "event/abi.h"
#include "fuzz/fuzz.h"
#include "unwind/stack.h"

enum { REGS = 33, HEAD = 512, CODE = 0x1000 };

static void find(void *ctx, u64 ip, struct stack_code *ret_code)
{
	*ret_code = (struct stack_code){ctx, ip % CODE, 0, STACK_NO_CFI, true, true};
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	static const enum stack_arch archs[] = {STACK_X86_64, STACK_I386, STACK_ARM64};
	size_t n_frame = n > HEAD ? n - HEAD : 0;
	u8 *frame = fuzz_exact(data + (n - n_frame), n_frame);
	struct cfi_input in = {.eh_frame = bytes_of(frame, n_frame), .is_64 = n % 2 == 0};
	u8 *head;
	struct cfi cfi;

	if (n < HEAD) {
		free(frame);
		return 0;
	}
	head = fuzz_exact(data, HEAD);
	in.debug_frame = in.eh_frame_hdr = in.eh_frame;
	cfi_init(&cfi, &in);
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++) {
		struct sample_regs regs = {PERF_SAMPLE_REGS_ABI_64, {head, REGS}};
		struct sample_stack dump = {{head + 8 * REGS, HEAD - 8 * REGS}, HEAD - 8 * REGS};
		struct stack_input input = {archs[i], (1ull << REGS) - 1, &regs, &dump, 200};
		struct stack stack;
		struct stack_end end;

		stack_init(&stack);
		end = stack_walk(&stack, &input, &(struct stack_places){find, &cfi, 1});
		FUZZ_CHECK(end.ending < STACK_ENDINGS);
		FUZZ_CHECK(stack.chain.n <= 2 * 200 + 2);
		stack_fini(&stack);
	}
	cfi_fini(&cfi);
	free(head);
	free(frame);
	return 0;
}
