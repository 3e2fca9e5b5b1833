/*
 * A program whose work is known: loop ITERATIONS [CHILDREN] executes ITERATIONS times two
 * instructions in spin(), called by outer(), called by main(); and as much in each child.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spin.h"

__attribute__((noinline)) static void outer(unsigned long iterations)
{
	spin(iterations);
	/* No tail call: outer() is to be among the callers. */
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	unsigned long iterations = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	int children = argc > 2 ? atoi(argv[2]) : 0;

	for (int i = 0; i < children; i++) {
		if (fork() == 0) {
			outer(iterations);
			_exit(0);
		}
	}
	outer(iterations);
	while (wait(NULL) > 0)
		;
	return 0;
}
