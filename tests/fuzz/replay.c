/*
 * replay.c - runs a fuzz target on the named files and all files of the named folders, one after the
 * other: for compilers without libFuzzer.
 */
#include "fuzz/fuzz.h"

#include <ftw.h>
#include <sys/stat.h>

static unsigned n_inputs;

static int take(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	size_t n = (size_t)st->st_size;
	FILE *file;
	u8 *data;

	(void)where;
	if (kind != FTW_F)
		return 0;
	file = fopen(path, "rb");
	data = malloc(n + 1);
	FUZZ_CHECK(file && data && fread(data, 1, n, file) == n);
	fclose(file);
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	n_inputs++;
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		FUZZ_CHECK(!nftw(argv[i], take, 16, FTW_PHYS));
	printf("%u inputs\n", n_inputs);
	return n_inputs == 0;
}
