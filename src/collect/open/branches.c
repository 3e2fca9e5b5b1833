#include "collect/open/branches.h"

#include <string.h>

#include "base/nearest.h"
#include "event/abi.h"

static const struct {
	const char *word;
	u64 bits;
	bool is_kind; /* false: an attribute of the branches */
} words[] = {
	{"any", PERF_SAMPLE_BRANCH_ANY, true},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL, true},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN, true},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL, true},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP, true},
	{"call", PERF_SAMPLE_BRANCH_CALL, true},
	{"cond", PERF_SAMPLE_BRANCH_COND, true},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX, true},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX, true},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX, true},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK, true},
	{"u", PERF_SAMPLE_BRANCH_USER, false},
	{"k", PERF_SAMPLE_BRANCH_KERNEL, false},
	{"hv", PERF_SAMPLE_BRANCH_HV, false},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE, false},
	{"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE, false},
	{"counter", PERF_SAMPLE_BRANCH_COUNTERS, false},
	/* perf has no words for these two, which make entries smaller. */
	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS, false},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES, false},
};

static int unknown(const char *word, size_t n, struct err *err)
{
	struct str text = {0};
	struct nearest near = {0};
	char typed[32];
	int r;

	memcpy(typed, word, MIN(n, sizeof(typed) - 1));
	typed[MIN(n, sizeof(typed) - 1)] = '\0';
	near.typed = typed;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		nearest_offer(&near, words[i].word);
		str_addf(&text, "%s%s", i ? ", " : "", words[i].word);
	}
	nearest_add_hint(&near, &text);
	r = err_set(err, ERR_INVAL, "'%s' is not a kind of branch; the known words are %s", typed,
		str_text(&text));
	str_fini(&text);
	return r;
}

int branches_parse(const char *text, u64 *bits, struct err *err)
{
	bool has_kind = false;
	u64 found = 0;

	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ","), i = 0;

		while (i < ARRAY_SIZE(words) &&
			(strlen(words[i].word) != n || strncmp(words[i].word, p, n)))
			i++;
		if (i == ARRAY_SIZE(words))
			return unknown(p, n, err);
		found |= words[i].bits;
		has_kind |= words[i].is_kind;
		p += n;
		if (!*p)
			break;
	}
	*bits |= found | (has_kind ? 0 : PERF_SAMPLE_BRANCH_ANY);
	return 0;
}
