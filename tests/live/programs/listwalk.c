/*
 * listwalk.c - a list whose items lie far apart: the time goes into reading the next one.
 *
 *     listwalk ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 16 };

struct item {
	long key;
	struct item *next;
	long rest[7];
};

struct counts {
	long others, rounds;
};

static struct item items[N];
struct counts counts;

__attribute__((noipa)) static long walk(const struct item *i)
{
	long sum = 0;

	do {
		sum += i->key;
		i = i->next;
	} while (i != items);
	return sum;
}

int main(int argc, char **argv)
{
	long sum = 0, n = argc > 1 ? atol(argv[1]) : 100;

	for (long i = 0; i < N; i++) {
		items[i].key = i;
		items[i].next = &items[(i + 7919) % N];
	}
	for (; n--; counts.rounds++)
		sum += walk(items);
	printf("%ld\n", sum + counts.rounds);
	return 0;
}
