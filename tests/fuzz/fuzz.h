/*
 * fuzz.h - what the fuzz targets share: an input as a file, as a stream, as a block of its own size.
 *
 * Each target is a program of libFuzzer: LLVMFuzzerTestOneInput() gets any bytes, and whatever they
 * are, nothing may crash, hang, leak or take memory out of proportion. FUZZ_CHECK() says what else must
 * hold.
 */
#ifndef PACE_TESTS_FUZZ_FUZZ_H
#define PACE_TESTS_FUZZ_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/types.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);

#define FUZZ_CHECK(condition)                                                           \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

/* The path of a nameless file with these bytes; valid until the next call. */
const char *fuzz_file(const u8 *data, size_t n);

/* Makes standard input a pipe with these bytes; false if a pipe cannot hold that many. */
bool fuzz_stdin(const u8 *data, size_t n);

/* A copy in a block of exactly n bytes, so that the sanitizer sees reads beyond it; free() it. */
u8 *fuzz_exact(const u8 *data, size_t n);

/* Bytes of text that would control a terminal: printed text may contain none. */
bool fuzz_is_safe_text(const char *text, size_t n);

/* Makes both passes over a recording, then reads the stream of its records; decodes and prints all of them. */
void fuzz_read_recording(const char *path);
void fuzz_stream_recording(const char *path);

#endif
