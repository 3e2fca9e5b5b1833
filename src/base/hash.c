#include "base/hash.h"

u64 hash_bytes(const void *p, size_t n)
{
	u64 h = hash_words(p, n / 8, n), last = 0;

	memcpy(&last, (const u8 *)p + n / 8 * 8, n % 8);
	return hash_mix(h, last);
}
