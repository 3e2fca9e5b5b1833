#include "profile/gather/argc.h"

#include "test.h"
#include "machine/dso.h"
#include "unwind/ending.h"

/* One sample of f, whose callers are those of a list that ends with 0, the innermost first. */
struct argument {
	struct profile p;
	u32 f, start, other, argc, end;
};

static u32 function(struct argument *a, const char *name, u64 address)
{
	u32 frame = profile_frame(&a->p,
		&(struct profile_frame){.dso = 1, .address = address, .is_return = true});

	vec_add(&a->p.symbols, ((struct profile_symbol){.dso = 1, .name = name}));
	a->p.frames.at[frame].symbol = (u32)a->p.symbols.n - 1;
	return frame;
}

static void argument_init(struct argument *a)
{
	profile_init(&a->p, 0);
	vec_add(&a->p.dsos, ((struct profile_dso){"[unknown]", "[unknown]", DSO_UNKNOWN, 0}));
	vec_add(&a->p.dsos, ((struct profile_dso){"/prog", "prog", DSO_FILE, 3}));
	vec_add(&a->p.events, ((struct profile_event){.name = "cycles"}));
	a->f = function(a, "f", 0x401000);
	a->start = function(a, "_start", 0x401100);
	a->other = function(a, "other", 0x401200);
	a->argc = profile_frame(&a->p,
		&(struct profile_frame){.dso = 0, .address = 3, .is_return = true});
	a->end = profile_frame(&a->p,
		&(struct profile_frame){.dso = 0,
			.address = UINT64_MAX - STACK_NO_FRAME_POINTER,
			.ending = STACK_NO_FRAME_POINTER});
}

static void sample(struct argument *a, u32 frame, const u32 *callers, size_t n, u32 blamed)
{
	u32 stack = 0;

	while (n)
		stack = profile_stack(&a->p, stack, callers[--n]);
	vec_add(&a->p.rows,
		((struct profile_row){.frame = frame,
			.callers = stack,
			.n_samples = 10,
			.period = 10}));
	profile_add_ending(&a->p, STACK_NO_FRAME_POINTER, blamed, 10);
}

/* "_start 0x401100 | ...": a row's callers by their addresses, the innermost first. */
static void check(const struct argument *a, size_t row, const char *expected)
{
	struct str text = {0};

	for (u32 node = a->p.rows.at[row].callers; node; node = a->p.stacks.at[node].parent) {
		const struct profile_frame *f = &a->p.frames.at[a->p.stacks.at[node].frame];

		str_addf(&text, f->ending ? "cut " : "%llx ", (unsigned long long)f->address);
	}
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

static u64 ended(const struct argument *a, u8 ending)
{
	u64 n = 0;

	vec_each(e, &a->p.endings)
		n += e->ending == ending ? e->n_samples : 0;
	return n;
}

TEST(argc_is_no_caller_of_the_first_function)
{
	struct argument a;

	argument_init(&a);
	sample(&a, a.f, (u32[]){a.other, a.start, a.argc, a.end}, 4, 1);
	/* It was interrupted itself: nobody was blamed. */
	sample(&a, a.start, (u32[]){a.argc, a.end}, 2, 0);
	argc_remove(&a.p);
	check(&a, 0, "401200 401100 ");
	check(&a, 1, "");
	CHECK_EQ(ended(&a, STACK_COMPLETE), 20);
	CHECK_EQ(ended(&a, STACK_NO_FRAME_POINTER), 0);
	profile_fini(&a.p);
}

TEST(argc_is_what_other_functions_have_no_callers_for)
{
	struct argument a;

	argument_init(&a);
	/* A register that is no frame pointer points to a small number, or to no code. */
	sample(&a, a.f, (u32[]){a.other, a.argc, a.end}, 3, 1);
	sample(&a, a.f, (u32[]){a.start, a.end}, 2, 1);
	sample(&a, a.f, (u32[]){a.argc, a.end}, 2, 0);
	argc_remove(&a.p);
	check(&a, 0, "401200 cut ");
	check(&a, 1, "401100 cut ");
	check(&a, 2, "cut ");
	CHECK_EQ(ended(&a, STACK_COMPLETE), 0);
	CHECK_EQ(ended(&a, STACK_NO_FRAME_POINTER), 30);
	profile_fini(&a.p);
}
