/* A library that the program is linked with. */
#include "scene.h"

NOINLINE void outside(void)
{
	AFTER;
}

NOINLINE void hot_in_library(long spins)
{
	SPIN; /* at hot_in_library */
}

NOINLINE void library_calls_back(void (*f)(void))
{
	f(); /* at library_calls_back */
	AFTER;
}
