/*
 * A stack whose callers are all known, with the C library's strcmp or our own loop at its leaf. Arguments:
 * how many frames of recursion, how many rounds, how many bytes each of these frames takes, and how long the leaf
 * runs each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"alpha", "alphabet", "alpine", "altitude", "alto", "always",
	"amber", "ambition"};

static long weight = 63;

static int (*volatile compare)(const char *, const char *) = strcmp;

#define APART __attribute__((noinline, noclone))

/* Pushes nothing, makes no frame. */
APART static long leaf(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += (i * i) ^ sum;
	return sum;
}

APART static long middle(long n)
{
	long sum = 0;

	for (int i = 0; i < 8; i++)
		sum += compare(words[i], words[(i + n) & 7]);
	return sum + leaf(weight);
}

APART static long descend(long n, int depth, int bytes)
{
	volatile char room[bytes];

	room[0] = (char)depth;
	return (depth ? descend(n, depth - 1, bytes) : middle(n)) + room[0];
}

/* Two callers that take turns, in frames that are the same. */
APART static long first(long n, int depth, int bytes)
{
	return descend(n, depth, bytes) + 1;
}

APART static long second(long n, int depth, int bytes)
{
	return descend(n, depth, bytes) + 2;
}

int main(int argc, char **argv)
{
	long sum = 0, rounds = argc > 2 ? atol(argv[2]) : 100000;
	int depth = argc > 1 ? atoi(argv[1]) : 5, bytes = argc > 3 ? atoi(argv[3]) : 16;

	weight = argc > 4 ? atol(argv[4]) : weight;
	for (long i = 0; i < rounds; i++)
		sum += i & 1 ? first(i, depth, bytes) : second(i, depth, bytes);
	printf("%ld\n", sum);
	return 0;
}
