/*
 * x86.c - the sizes of instructions, by pace and by objdump.
 *
 *     objdump -d -w --insn-width=16 FILE | x86 64|32
 *
 * Prints how many instructions there were, how many pace does not know, and how many have another
 * size; the first of these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/x86.h"

/* "  401000:\tf3 0f 1e fa          \tendbr64": the bytes, or 0 */
static unsigned bytes_of_line(const char *line, u8 bytes[16])
{
	const char *at = strchr(line, '\t');
	unsigned n = 0, v;
	int used;

	for (at = at ? at + 1 : ""; n < 16 && sscanf(at, "%2x%n", &v, &used) == 1 && used == 2;
		at += 3)
		bytes[n++] = (u8)v;
	return n;
}

/* Whether objdump itself made nothing of it: data, or a prefix that belongs to nothing. */
static bool is_odd(const char *line)
{
	const char *text = strrchr(line, '\t');

	return !text || strstr(text, "(bad)") || strstr(text, ".byte") ||
		!strncmp(text, "\trex", 4) || !strncmp(text, "\tfwait", 6) ||
		strstr(text, "data16\n") || !strncmp(text, "\tlock\n", 6);
}

int main(int argc, char **argv)
{
	bool is_64 = argc > 1 && !strcmp(argv[1], "64");
	unsigned long long n = 0, n_unknown = 0, n_other = 0, n_shown = 0;
	static char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		struct x86_op op;
		u8 bytes[16];
		unsigned size = bytes_of_line(line, bytes), ours;

		if (!size || is_odd(line))
			continue;
		n++;
		ours = x86_decode(bytes, size, is_64, &op);
		n_unknown += !ours;
		n_other += ours && ours != size;
		if (ours != size && n_shown++ < 20)
			printf("%u: %s", ours, line);
	}
	printf("instructions %llu unknown %llu other %llu\n", n, n_unknown, n_other);
	return EXIT_SUCCESS;
}
