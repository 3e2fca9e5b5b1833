#include "unwind/outermost.h"

#include "arch/arch.h"

bool outermost_is_exit(const struct arch *arch, const struct stack_bytes *code)
{
	return code->at && arch->code->is_exit(arch, code->at, code->n_after);
}

bool outermost_is_goexit(const struct arch *arch, const struct stack_bytes *code)
{
	return code->at && code->into == 1 && arch->code->is_goexit &&
		arch->code->is_goexit(arch, code->at, code->n_before, code->n_after);
}
