/*
 * chunk.h - a block of data in a page: deflated, as base64 in a script element that browsers do not run.
 *
 *     chunk_open(&c, out, "names");
 *     chunk_add(&c, text, n);
 *     chunk_add_number(&c, 1234);
 *     chunk_close(&c);
 *
 * Nothing of the data is text to the browser, so that data needs no escapes.
 * In       bytes and numbers; numbers are varints (7 bits a byte, the lowest first)
 * Out      <script type="application/octet-stream" id="names">...</script>
 * Owns     zlib's state, until chunk_close()
 * Source   RFC 1951, without a header (the browser's deflate-raw); RFC 4648
 */
#ifndef PACE_VIEW_CHUNK_H
#define PACE_VIEW_CHUNK_H

#include <zlib.h>

#include "base/out.h"

struct chunk {
	struct out *out;
	struct str raw, packed;
	z_stream stream;
};

void chunk_open(struct chunk *c, struct out *out, const char *id);

/* The same for large columns of numbers without long repetitions: it takes a quarter of the time. */
void chunk_open_numbers(struct chunk *c, struct out *out, const char *id);
void chunk_add(struct chunk *c, const void *data, size_t n);
void chunk_add_number(struct chunk *c, u64 v);
void chunk_close(struct chunk *c);

#endif
