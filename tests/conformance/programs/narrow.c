/* 32 bits: arguments on the stack, no frame pointers. */
#include "scene.h"

long spins = 30000000;

INLINE void wrapped(void)
{
	SPIN; /* at wrapped */
}

NOINLINE void hot_narrow(int a, long long b)
{
	wrapped(); /* at hot_narrow */
}

NOINLINE void down(int n)
{
	if (n)
		down(n - 1); /* at down */
	else
		hot_narrow(n, n); /* at down_last */
	AFTER;
}

/* chain: (wrapped) <- hot_narrow <- down@down_last <- down*3 <- main */
int main(void)
{
	down(3); /* at main */
	AFTER;
	return 0;
}
