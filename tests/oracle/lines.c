/*
 * lines FILE <ADDRESSES: what symbol/dwarf/line knows of each hexadecimal address, as llvm-symbolizer writes
 * it: function and file:line:column of each frame, an empty line behind the last. On all cores; with
 * -q it prints only how long each step took, with -g it asks the table of Go's runtime, not DWARF.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/workers.h"
#include "symbol/dwarf/line.h"

/* Seconds by the wall, or of all threads' CPU time. */
static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void show(struct line_index *lines, u64 address)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n = line_chain(lines, address, frames);

	if (!n)
		printf("??\n??:0:0\n");
	for (size_t i = 0; i < n; i++) {
		const struct line_frame *f = &frames[i];
		bool has_dir = f->file && *f->file != '/' && f->dir;

		printf("%s\n%s%s%s:%u:%u\n", f->function ? f->function : "??",
			has_dir ? f->dir : "", has_dir ? "/" : "", f->file ? f->file : "??",
			f->line, f->column);
	}
	putchar('\n');
}

/* The number of frames of all addresses. */
static size_t count(struct line_index *lines, const u64 *addresses, size_t n)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += line_chain(lines, addresses[i], frames);
	return all;
}

int main(int argc, char **argv)
{
	bool is_quiet = argc == 3 && !strcmp(argv[1], "-q");
	bool is_go = argc == 3 && !strcmp(argv[1], "-g");
	VEC(u64) addresses = {0};
	line_wishes wishes = {0};
	struct line_index *lines;
	double begin = now(CLOCK_MONOTONIC);
	char text[64];
	struct elf elf;
	struct err err;

	err_set(&err, ERR_INVAL, "one file is needed");
	if (argc != 2 + (is_quiet || is_go) || elf_open(&elf, argv[argc - 1], &err) ||
		(is_go ? line_open_go(&lines, &elf, &err) : line_open(&lines, &elf, &err))) {
		fprintf(stderr, "lines: %s\n", err.msg);
		return 1;
	}
	while (fgets(text, sizeof(text), stdin))
		vec_add(&addresses, strtoull(text, NULL, 16));
	vec_each(a, &addresses)
		line_want(lines, *a, true, &wishes);
	line_fetch(&wishes, workers_available(), NULL);
	if (is_quiet) {
		size_t n = count(lines, addresses.at, addresses.n);

		printf("%zu frames of %zu addresses: %.3f s, CPU %.3f s", n, addresses.n,
			now(CLOCK_MONOTONIC) - begin, now(CLOCK_PROCESS_CPUTIME_ID));
	}
	for (size_t i = 0; !is_quiet && i < addresses.n; i++)
		show(lines, addresses.at[i]);
	if (line_complaint(lines))
		fprintf(stderr, "lines: %s\n", line_complaint(lines));
	line_close(lines);
	if (is_quiet)
		printf("; with keeping them %.3f s, CPU %.3f s\n", now(CLOCK_MONOTONIC) - begin,
			now(CLOCK_PROCESS_CPUTIME_ID));
	elf_close(&elf);
	vec_fini(&wishes);
	vec_fini(&addresses);
	return 0;
}
