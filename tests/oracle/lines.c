/*
 * lines FILE <ADDRESSES: what symbol/line knows of each hexadecimal address, as llvm-symbolizer writes
 * it: function and file:line:column of each frame, an empty line behind the last.
 */
#include <stdio.h>
#include <stdlib.h>

#include "symbol/line.h"

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

int main(int argc, char **argv)
{
	struct line_index *lines;
	char text[64];
	struct elf elf;
	struct err err;

	if (argc != 2 || elf_open(&elf, argv[1], &err) || line_open(&lines, &elf, &err)) {
		fprintf(stderr, "lines: %s\n", argc == 2 ? err.msg : "one file is needed");
		return 1;
	}
	while (fgets(text, sizeof(text), stdin))
		show(lines, strtoull(text, NULL, 16));
	if (line_complaint(lines))
		fprintf(stderr, "lines: %s\n", line_complaint(lines));
	line_close(lines);
	elf_close(&elf);
	return 0;
}
