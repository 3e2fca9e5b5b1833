#include "base/hash.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

u64 hash_key[2];

/* Runs before any table is made, also where libpace is loaded by dlopen(). */
__attribute__((constructor)) static void draw_key(void)
{
	struct timespec now;

	if (getrandom(hash_key, sizeof(hash_key), GRND_NONBLOCK) == sizeof(hash_key))
		return;
	/* Too early after boot, or forbidden by a sandbox: use the clock, and our addresses, which are random too. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	hash_key[0] = hash_lasting((u64)(uintptr_t)&now, (u64)now.tv_nsec);
	hash_key[1] = hash_lasting((u64)(uintptr_t)draw_key, (u64)getpid());
}

u64 hash_bytes(const void *p, size_t n)
{
	u64 h = hash_words(p, n / 8, n), last = 0;

	memcpy(&last, (const u8 *)p + n / 8 * 8, n % 8);
	return hash_mix(h, last);
}
