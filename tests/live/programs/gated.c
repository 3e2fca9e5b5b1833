/* Six functions with known shares of the time; the first one takes SLOW percent of what it took. */
#include <stdint.h>
#include <stdlib.h>

#ifndef SLOW
#define SLOW 100
#endif
#define APART __attribute__((noinline))

static volatile uint64_t state;

APART static void hot(long n)
{
	for (long i = 0; i < n * SLOW / 100; i++)
		state = state * 6364136223846793005ULL + (uint64_t)i;
}

APART static void warm(long n)
{
	for (long i = 0; i < n; i++)
		state ^= state << 13, state ^= state >> 7;
}

APART static void divide(long n)
{
	for (long i = 0; i < n; i++)
		state += (uint64_t)i / (state | 1);
}

APART static void square(long n)
{
	for (long i = 0; i < n; i++)
		state += (uint64_t)(i * i);
}

APART static void mix(long n)
{
	for (long i = 0; i < n; i++)
		state = (state >> 3) ^ (state << 5) ^ (uint64_t)i;
}

APART static void count(long n)
{
	for (long i = 0; i < n; i++)
		state -= (uint64_t)i;
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 20;

	for (long i = 0; i < rounds; i++) {
		hot(1000000);
		warm(400000);
		divide(200000);
		square(400000);
		mix(400000);
		count(400000);
	}
	return state == 1;
}
