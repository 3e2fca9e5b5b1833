/* Two libraries that are loaded one after the other; PLUG tells which it is. */
#include "scene.h"

#define JOIN(a, b)  a##b
#define NAMED(a, b) JOIN(a, b)

NOINLINE void NAMED(hot_plug_, PLUG)(long spins)
{
	SPIN; /* at hot_plug_a at hot_plug_b */
}

void NAMED(plug_, PLUG)(long n)
{
	NAMED(hot_plug_, PLUG)(n); /* at plug_a at plug_b */
	AFTER;
}
