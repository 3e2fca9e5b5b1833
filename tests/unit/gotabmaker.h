/*
 * gotabmaker.h - a table of functions as Go's linker writes it, made in memory, and the file around it.
 *
 * Three functions of 0x20 bytes each from GOTABMAKER_TEXT on: _rt0_amd64_linux; main.main, into which
 * main.twice was inlined; main.(*Set).Add, which changes to another stack. Files are a.go and b.go.
 *
 *     main.main      0x00 a.go:10   0x08 b.go:21 in main.twice, called in a.go:10   0x10 a.go:11
 *     stack          0x00 0         0x04 8       0x10 40                            0x1f 0
 *
 * Owns     the table and the file
 */
#ifndef PACE_TESTS_UNIT_GOTABMAKER_H
#define PACE_TESTS_UNIT_GOTABMAKER_H

#include "symbol/elf/elf.h"
#include "unit/elfmaker.h"

enum { GOTABMAKER_TEXT = 0x401000, GOTABMAKER_FUNCTIONS = 3 };

extern const char *const gotabmaker_names[GOTABMAKER_FUNCTIONS];

struct gotabmaker {
	u32 version;
	u8 word;
	u64 text;         /* what the table says itself */
	bool has_module;  /* the file has what the loader knows: where code and data are */
	bool is_inside;   /* the table lies in a section of other data */
	struct str table; /* may be changed before gotabmaker_file() */
	struct elfmaker file;
};

void gotabmaker_table(struct gotabmaker *m);

/* A file with the first n bytes of the table. */
void gotabmaker_file(struct gotabmaker *m, size_t n, struct elf *ret_elf);
void gotabmaker_close(struct gotabmaker *m, struct elf *elf);
void gotabmaker_fini(struct gotabmaker *m);

#endif
