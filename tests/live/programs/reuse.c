/*
 * reuse.c - code that takes the place of other code, with a perf map that says so.
 *
 *     reuse TIMES [soon|late [MS]]
 *
 * As a JIT does: writes code to the same address again and again, a line into /tmp/perf-PID.map for each,
 * and runs it for a while of CPU time. The functions are called version_0, version_1 and so on; steady() stands beside
 * them and is called by each in the same way. late: like a JIT that collects lines before it writes them,
 * those of steady() and version_0() come when version_1() begins. MS: how long it waits behind a line, 200.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	/* push %rbp; mov %rsp,%rbp; mov $1000000,%ecx; dec %ecx; jne -4; pop %rbp; ret */
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0x40, 0x42, 0x0f, 0,
		0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int times = argc > 1 ? atoi(argv[1]) : 2, is_late = argc > 2 && !strcmp(argv[2], "late");
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (at == MAP_FAILED || !map)
		return EXIT_FAILURE;
	printf("%s\n", path);
	memcpy(at + 256, code, sizeof(code));
	fprintf(map, "%lx %zx steady\n", (unsigned long)(at + 256), sizeof(code));
	for (int i = 0; i < times; i++) {
		double until;

		memcpy(at, code, sizeof(code));
		fprintf(map, "%lx %zx version_%d\n", (unsigned long)at, sizeof(code), i);
		if (i || !is_late)
			fflush(map);
		/* Until whoever looks has seen it. */
		usleep(1000 * (argc > 3 ? atoi(argv[3]) : 200));
		until = now() + 0.15;
		while (now() < until) {
			((void (*)(void))at)();
			((void (*)(void))(at + 256))();
		}
	}
	fclose(map);
	return EXIT_SUCCESS;
}
