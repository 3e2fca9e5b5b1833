#include "base/gzip.h"

#include <zlib.h>

void gzip_add(const void *data, size_t n, struct str *packed)
{
	enum { GZIP = 16, MEMORY_LEVEL = 8, PIECE = 1 << 30 };
	const Bytef *at = data;
	u8 room[64 << 10];
	z_stream z = {0};
	int result;

	/* The only error is that there is no memory. */
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY_LEVEL,
		    Z_DEFAULT_STRATEGY) != Z_OK)
		mem_exhausted(sizeof(z));
	z.next_in = (Bytef *)(uintptr_t)at;
	do {
		const size_t piece = MIN(n, (size_t)PIECE);

		if (!z.avail_in) {
			z.avail_in = (uInt)piece;
			n -= piece;
		}
		z.next_out = room;
		z.avail_out = sizeof(room);
		result = deflate(&z, n ? Z_NO_FLUSH : Z_FINISH);
		str_addn(packed, room, sizeof(room) - z.avail_out);
	} while (result != Z_STREAM_END);
	deflateEnd(&z);
}
