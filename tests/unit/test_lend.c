#include "profile/gather/lend.h"

#include "test.h"
#include "unit/profilemaker.h"

enum { LENDER, BORROWER };

static void add(struct profilemaker *m, u32 event, const char *stack, u64 n, u64 period,
	const char *comm)
{
	profilemaker_add(m,
		&(struct profilemaker_sample){.event = event,
			.stack = stack,
			.n_samples = n,
			.period = period,
			.comm = comm});
}

/* The samples and the period of the borrower's rows whose caller is a function; NULL: that have none. */
static struct profile_row sum_of(const struct profile *p, const char *caller)
{
	struct profile_row sum = {0};

	vec_each(row, &p->rows) {
		const struct profile_stack *above = &p->stacks.at[row->callers];
		const char *name =
			row->callers ? p->symbols.at[p->frames.at[above->frame].symbol].name : NULL;

		if (row->event != BORROWER || (caller ? !name || strcmp(name, caller) : !!name))
			continue;
		sum.n_samples += row->n_samples;
		sum.period += row->period;
	}
	return sum;
}

TEST(lend_gives_samples_the_callers_of_the_same_function_in_their_proportions)
{
	struct profilemaker m;

	profilemaker_init(&m, 0);
	profilemaker_event(&m, "cycles");
	profilemaker_event(&m, "misses");
	add(&m, LENDER, "main;a;work", 3, 300, NULL);
	add(&m, LENDER, "main;b;work", 1, 100, NULL);
	add(&m, LENDER, "main;other", 5, 500, NULL);
	add(&m, BORROWER, "work", 8, 83, NULL);
	add(&m, BORROWER, "unknown", 2, 20, NULL);
	CHECK_EQ(lend_callers(&m.profile, LENDER, BORROWER), 8);
	CHECK_EQ(sum_of(&m.profile, "a").n_samples, 6);
	CHECK_EQ(sum_of(&m.profile, "b").n_samples, 2);
	CHECK_EQ(sum_of(&m.profile, "a").period + sum_of(&m.profile, "b").period, 83);
	CHECK_EQ(sum_of(&m.profile, "a").period, 62);
	/* Nobody knows who calls that. */
	CHECK_EQ(sum_of(&m.profile, NULL).n_samples, 2);
	CHECK_EQ(sum_of(&m.profile, NULL).period, 20);
	profilemaker_fini(&m);
}

/* Rows of one sample each are divided together: not each of them gets the commonest callers. */
TEST(lend_divides_the_rows_of_a_function_together)
{
	struct profilemaker m;

	profilemaker_init(&m, 0);
	profilemaker_event(&m, "cycles");
	profilemaker_event(&m, "misses");
	add(&m, LENDER, "main;a;work", 9, 900, NULL);
	add(&m, LENDER, "main;b;work", 1, 100, NULL);
	for (int i = 0; i < 20; i++)
		add(&m, BORROWER, "work", 1, 5, NULL);
	CHECK_EQ(lend_callers(&m.profile, LENDER, BORROWER), 20);
	CHECK_EQ(sum_of(&m.profile, "a").n_samples, 18);
	CHECK_EQ(sum_of(&m.profile, "b").n_samples, 2);
	profilemaker_fini(&m);
}

TEST(lend_keeps_threads_of_different_names_apart)
{
	struct profilemaker m;

	profilemaker_init(&m, LABEL_BIT(LABEL_COMM));
	profilemaker_event(&m, "cycles");
	profilemaker_event(&m, "misses");
	add(&m, LENDER, "main;a;work", 1, 100, "one");
	add(&m, LENDER, "main;b;work", 1, 100, "two");
	add(&m, BORROWER, "work", 4, 40, "two");
	add(&m, BORROWER, "work", 1, 10, "three");
	CHECK_EQ(lend_callers(&m.profile, LENDER, BORROWER), 4);
	CHECK_EQ(sum_of(&m.profile, "b").n_samples, 4);
	CHECK_EQ(sum_of(&m.profile, "a").n_samples, 0);
	CHECK_EQ(sum_of(&m.profile, NULL).n_samples, 1);
	profilemaker_fini(&m);
}
