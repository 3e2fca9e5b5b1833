#include "arch/isa.h"

#include <string.h>

enum isa_flow isa_flow(const struct isa *isa, const char *mnemonic, size_t n)
{
	for (const struct isa_flow_word *w = isa->words; w->mnemonic; w++) {
		size_t m = strlen(w->mnemonic);
		bool is_begin = w->mnemonic[m - 1] == '*';

		m -= is_begin;
		if ((is_begin ? n >= m : n == m) && !memcmp(mnemonic, w->mnemonic, m))
			return w->flow;
	}
	return ISA_ON;
}

const char *isa_flow_name(enum isa_flow flow)
{
	static const char *const names[ISA_FLOWS] = {
		[ISA_JUMP] = "jump",
		[ISA_BRANCH] = "branch",
		[ISA_CALL] = "call",
		[ISA_RETURN] = "return",
	};

	return names[flow];
}
