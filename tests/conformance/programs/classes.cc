/* Templates, lambdas, methods and exceptions. */
#include "scene.h"

static volatile long sink;

namespace box
{
template <typename T, int N> struct pack {
	T items[N];

	NOINLINE void hot_method(T x)
	{
		items[0] = x;
		SPIN; /* at box::pack<int, 3>::hot_method at box::pack<long, 4>::hot_method */
	}
	inline __attribute__((always_inline)) void through(T x)
	{
		hot_method(x); /* at box::pack<int, 3>::through at box::pack<long, 4>::through */
		AFTER;
	}
};
} // namespace box

/* chain: box::pack<int, 3>::hot_method <- (box::pack<int, 3>::through) <- scene_template@template_int <- main */
/* chain: box::pack<long, 4>::hot_method <- (box::pack<long, 4>::through) <- scene_template@template_long <- main */
NOINLINE void scene_template(void)
{
	box::pack<int, 3> a;
	box::pack<long, 4> b;

	a.through(1); /* at template_int */
	b.through(2); /* at template_long */
	sink = a.items[0] + b.items[0];
}

NOINLINE void hot_in_lambda(void)
{
	SPIN; /* at hot_in_lambda */
}

template <typename F> NOINLINE void apply(F f)
{
	f(3); /* at apply */
	AFTER;
}

/* chain: hot_in_lambda <- scene_lambda::{lambda(int)#1}::operator()@lambda <- apply<scene_lambda::{lambda(int)#1}>@apply <- scene_lambda <- main -- gcc and has_locals */
/* chain: hot_in_lambda <- ~ <- ~ <- scene_lambda <- main -- not has_locals */
/* chain: hot_in_lambda <- scene_lambda::$_0::operator()@lambda <- apply<scene_lambda::$_0>@apply <- scene_lambda <- main -- clang and has_locals */
NOINLINE void scene_lambda(void)
{
	auto f = [](int x) NOINLINE {
		hot_in_lambda(); /* at lambda */
		sink = x;
	};

	apply(f); /* at scene_lambda */
	AFTER;
}

struct animal {
	virtual NOINLINE void speak() = 0;
	virtual ~animal()
	{
	}
};

struct dog : animal {
	NOINLINE void speak() override;
};

/* chain: dog::speak <- scene_virtual <- main */
void dog::speak()
{
	SPIN; /* at dog::speak */
}

NOINLINE void scene_virtual(void)
{
	dog d;
	animal *volatile a = &d;

	a->speak(); /* at scene_virtual */
	AFTER;
}

NOINLINE void hot_caught(void)
{
	SPIN; /* at hot_caught */
}

NOINLINE void throws(int n)
{
	if (!n)
		throw n;
	throws(n - 1);
	AFTER;
}

/* chain: hot_caught <- scene_caught.cold if is_caught_split <- scene_caught if not is_caught_split <- main -- has_locals */
/* chain: hot_caught <- ~ if is_caught_split <- scene_caught if not is_caught_split <- main -- not has_locals */
NOINLINE void scene_caught(void)
{
	try {
		throws(4);
	} catch (int) {
		hot_caught(); /* at scene_caught at scene_caught.cold */
		AFTER;
	}
}
