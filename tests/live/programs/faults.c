/* Touches so many fresh pages, each exactly once. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	char *p = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, n * 4096, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		p[i * 4096] = 1;
	return 0;
}
