/* What probes find: arguments, members, elements, bit fields, globals, inlined calls. tests/live/test_probe.py knows its values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct in {
	int a;
	short b[4];
	char text[12];
};

struct s {
	unsigned n;
	unsigned flag : 3;
	unsigned wide : 9;
	int neg : 5;
	struct in *in;
	const char *name;
	struct in here;
	int *list;
	enum color { RED, GREEN } color;
	union {
		long whole;
		char bytes[8];
	};
	float ratio;
};

static int counter = 7;
int shared_table[4] = {10, 20, 30, 40};

static inline __attribute__((always_inline)) int twice(int v)
{
	int w = v * 2;
	counter += w;
	return w;
}

__attribute__((noinline)) int lookup(struct s *s, int key, const char *what)
{
	int local = key + 1;
	unsigned char small = key;
	int array[3] = {key, key * 2, key * 3};

	array[1] += s->n;
	local += twice(array[1]);
	if (what[0] == 'x')
		local++;
	for (int i = 0; i < 3; i++)
		local += array[i];
	small += local;
	return local + small;
}

__attribute__((noinline)) long other(long x)
{
	return twice((int)x) + x;
}

int main(int argc, char **argv)
{
	struct in in = {.a = -5, .b = {1, 2, 3, 4}, .text = "inner"};
	struct s s = {.n = 3,
		.flag = 5,
		.wide = 300,
		.neg = -3,
		.in = &in,
		.name = "tom",
		.here = {.a = 77, .b = {9, 8, 7, 6}, .text = "here"},
		.list = shared_table,
		.color = GREEN,
		.whole = 0x1122334455667788,
		.ratio = 1.5};
	long sum = 0;

	for (int i = 0; i < 3; i++)
		sum += lookup(&s, 40 + i, "what") + other(i);
	printf("%ld\n", sum + argc + (argv == NULL));
	return 0;
}
