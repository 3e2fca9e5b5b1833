/*
 * trie.c - makes a tree of calls of any size, as folded stacks, for dev/bench-html.
 *
 *     trie NODES NAMES >FILE.folded
 *
 * The tree has NODES nodes (main below a thread is the first), at most 81 levels, and NAMES names, of which few are met often. 74 % of the
 * nodes have samples of their own. The same arguments make the same tree.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 81, ROOM = 64 };

static uint64_t state = 88172645463325252ULL;

static uint64_t chance(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

/* Few are met often: half of all in the first eighth, and so on within that. */
static uint64_t skewed(uint64_t below)
{
	while (below > 8 && chance(2))
		below /= 8;
	return chance(below);
}

static char path[DEPTH_MAX * ROOM];
static uint64_t n_names;

static void print_own(size_t end)
{
	printf("%.*s %d\n", (int)end, path, 1 + (int)skewed(200));
}

static size_t add_name(size_t end, uint64_t name)
{
	static const char *const words[] = {"parse", "scan", "write_row", "hash",
		"std::vector<int>::", "lock", "json_", "io_submit"};

	return end +
		(size_t)sprintf(path + end, ";%s_%llx", words[name % 8], (unsigned long long)name);
}

/* Prints `n` nodes below a node whose path ends at `end`. Each child takes a part of what is left; siblings differ in their names. */
static void print_below(size_t end, int depth, uint64_t n)
{
	uint64_t name = skewed(n_names);

	if (!n || chance(100) < 45)
		print_own(end);
	while (n) {
		const uint64_t some =
			depth == DEPTH_MAX - 1 ? 1 : 1 + (n - 1) * (62 + chance(38)) / 100;

		name += 1 + chance(3);
		print_below(add_name(end, name % n_names), depth + 1, some - 1);
		n -= some;
	}
}

int main(int argc, char **argv)
{
	uint64_t n_nodes;

	if (argc != 3 || (n_nodes = strtoull(argv[1], NULL, 10)) < 3 ||
		!(n_names = strtoull(argv[2], NULL, 10)))
		return 2;
	print_below((size_t)sprintf(path, "program;main"), 1, n_nodes - 2);
	return 0;
}
