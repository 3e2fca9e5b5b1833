/*
 * types.h - the fixed-width names and small macros every module uses.
 */
#ifndef PACE_BASE_TYPES_H
#define PACE_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(a)      (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)          ((a) < (b) ? (a) : (b))
#define MAX(a, b)          ((a) > (b) ? (a) : (b))
#define CLEANUP(fn)        __attribute__((cleanup(fn)))
#define PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
/* For char arrays without a NUL at the end: newer compilers warn unless this says that it is intended. */
#if defined(__has_attribute) && __has_attribute(nonstring)
#define NONSTRING __attribute__((nonstring))
#else
#define NONSTRING
#endif
#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* n rounded up to a multiple of `to`, which is a power of two. */
static inline u64 align_up(u64 n, u64 to)
{
	return (n + to - 1) & ~(to - 1);
}

/* Loads from memory of any alignment, in this machine's byte order. */
static inline u16 load_u16(const void *p)
{
	u16 v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static inline u32 load_u32(const void *p)
{
	u32 v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static inline u64 load_u64(const void *p)
{
	u64 v;
	memcpy(&v, p, sizeof(v));
	return v;
}

#endif
