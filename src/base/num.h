/*
 * num.h - numbers as people write and read them. All in the C locale.
 */
#ifndef PACE_BASE_NUM_H
#define PACE_BASE_NUM_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

/*
 * Parses all of text: decimal, or 0x and hexadecimal. ERR_INVAL names the text and what is wrong
 * with it.
 */
int num_parse(const char *text, u64 *ret_v, struct err *err);

/* As num_parse(), with an optional B, K, M, G or T (powers of 1024) at the end. */
int num_parse_bytes(const char *text, u64 *ret_v, struct err *err);

/*
 * Reads digits of the given base (10 or 16) at *at and moves *at past them. False if there are none,
 * or if the number needs more than 64 bits.
 */
bool num_scan(const char **at, int base, u64 *ret_v);

/* A list like "12,34"; an empty list stands for every number. */
struct num_list {
	u32 *at;
	size_t n, cap;
};

/* Adds the numbers of text, which may be NULL. The message of ERR_INVAL begins with the option's name. */
int num_list_parse(struct num_list *list, const char *option, const char *text, struct err *err);
bool num_list_has(const struct num_list *list, u32 number);

void num_add_grouped(struct str *s, u64 v); /* 1234567 -> 1,234,567 */
void num_add_short(struct str *s,
	u64 v); /* 3723 -> 3K, cut not rounded, as perf's "Samples:" line */
void num_add_u64(struct str *s, u64 v);
void num_add_hex(struct str *s, u64 v, unsigned digits); /* at least `digits` of them, no 0x */

/* As printf's "%.*f" would write it. */
void num_add_fixed(struct str *s, double v, unsigned digits);

/* 100 * part / whole as printf's "%.2f" would write it, then '%'. 0.00% if whole is 0. */
void num_add_percent(struct str *s, u64 part, u64 whole);
void num_add_bytes(struct str *s, u64 v); /* 1536 -> 1.5 KiB */

#endif
