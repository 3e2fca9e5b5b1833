#include "profile/check/shares.h"

#include "symbol/resolve/resolver.h"

#include "test.h"
#include "unit/profilemaker.h"

static void add(struct profilemaker *m, const char *comm, const char *stack, u64 period)
{
	profilemaker_add(m,
		&(struct profilemaker_sample){.comm = comm, .stack = stack, .period = period});
}

TEST(shares_are_of_functions_what_they_call_files_threads_and_what_has_no_name)
{
	const struct account account = {.n_recorded = 95, .n_unread = 3, .n_dropped = 5};
	struct profilemaker m;
	struct calls calls;
	struct shares s = {.profile = &m.profile, .calls = &calls, .account = &account};

	profilemaker_init(&m, LABEL_BIT(LABEL_COMM));
	profilemaker_event(&m, "cycles");
	profilemaker_event(&m, "faults");
	add(&m, "sh", "main;f", 40);
	add(&m, "sh", "main;f;g@libg.so", 30);
	add(&m, "ls", "main;f;g@libg.so;f", 20);
	add(&m, "ls", "main;0x1234", 6);
	add(&m, "ls", "main;fun_20", 4);
	profilemaker_add(&m,
		&(struct profilemaker_sample){.event = 1,
			.comm = "sh",
			.stack = "main",
			.period = 7});
	/* A name that was made up of the address. */
	vec_each(symbol, &m.profile.symbols)
		if (symbol->name && !strcmp(symbol->name, "fun_20"))
			symbol->outcome = RESOLVER_NO_SYMBOLS;
	calls_init(&calls, &m.profile);
	CHECK_EQ(shares_value(&s, ASSERTION_SHARE, "f"), 60);
	/* A function that calls itself counts once. */
	CHECK_EQ(shares_value(&s, ASSERTION_CHILDREN, "f"), 90);
	CHECK_EQ(shares_value(&s, ASSERTION_CHILDREN, "*"), 100);
	CHECK_EQ(shares_value(&s, ASSERTION_DSO, "libg*"), 30);
	CHECK_EQ(shares_value(&s, ASSERTION_COMM, "ls"), 30);
	CHECK_EQ(shares_value(&s, ASSERTION_NAMELESS, NULL), 10);
	CHECK_EQ(shares_value(&s, ASSERTION_SAMPLES, NULL), 5);
	CHECK_EQ(shares_value(&s, ASSERTION_LOST, NULL), 8);
	CHECK(!s.unknown);
	CHECK_EQ(shares_value(&s, ASSERTION_SHARE, "h"), 0);
	CHECK_STR(s.unknown, "h");
	/* Nor is such a name ever meant, and who asks for nothing else is told. */
	s.unknown = NULL;
	CHECK_EQ(shares_value(&s, ASSERTION_SHARE, "*"), 90);
	CHECK_EQ(shares_value(&s, ASSERTION_SHARE, "f*"), 60);
	CHECK(!s.made_up && !s.unknown);
	CHECK_EQ(shares_value(&s, ASSERTION_SHARE, "fun_*"), 0);
	CHECK_STR(s.made_up, "fun_*");
	CHECK_EQ(shares_value(&s, ASSERTION_CHILDREN, "fun_20"), 0);
	CHECK_STR(s.made_up, "fun_20");
	CHECK(!s.unknown);
	s.event = 1;
	CHECK_EQ(shares_value(&s, ASSERTION_SHARE, "main"), 100);
	calls_fini(&calls);
	profilemaker_fini(&m);
}
