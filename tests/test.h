/*
 * test.h - a test is a sentence.
 *
 *     TEST(maps_find_prefers_newest)
 *     {
 *             CHECK(a == b);          goes on to the end of the test only if it holds
 *             CHECK_STR(text, "x");
 *             SKIP("no tracefs");
 *     }
 *
 * Tests register themselves, run in a process each, and print TAP. Exit 77 means skipped.
 */
#ifndef PACE_TESTS_TEST_H
#define PACE_TESTS_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test {
	const char *name, *file;
	void (*run)(void);
	struct test *next;
};

void test_register(struct test *test);
void test_failed(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void test_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/*
 * A directory of this test's own, removed behind it; and a path in it (static buffers, eight in
 * turn).
 */
const char *test_dir(void);
const char *test_path(const char *name);
void test_write(const char *path, const void *data, size_t n);

#define TEST(sentence)                                                                  \
	static void test_##sentence(void);                                              \
	__attribute__((constructor)) static void register_##sentence(void)              \
	{                                                                               \
		static struct test test = {#sentence, __FILE__, test_##sentence, NULL}; \
		test_register(&test);                                                   \
	}                                                                               \
	static void test_##sentence(void)

#define CHECK(condition)                                                   \
	do {                                                               \
		if (!(condition))                                          \
			test_failed(__FILE__, __LINE__, "%s", #condition); \
	} while (0)

#define CHECK_EQ(a, b)                                                                          \
	do {                                                                                    \
		long long a_ = (long long)(a), b_ = (long long)(b);                             \
		if (a_ != b_)                                                                   \
			test_failed(__FILE__, __LINE__,                                         \
				"%s is %lld (0x%llx), %s is %lld (0x%llx)", #a, a_, a_, #b, b_, \
				b_);                                                            \
	} while (0)

#define CHECK_STR(a, b)                                                                           \
	do {                                                                                      \
		const char *a_ = (a), *b_ = (b);                                                  \
		if (strcmp(a_, b_))                                                               \
			test_failed(__FILE__, __LINE__, "%s is\n  \"%s\"\nnot\n  \"%s\"", #a, a_, \
				b_);                                                              \
	} while (0)

/* The text holds the part. */
#define CHECK_HAS(text, part)                                                                   \
	do {                                                                                    \
		const char *t_ = (text), *p_ = (part);                                          \
		if (!strstr(t_, p_))                                                            \
			test_failed(__FILE__, __LINE__, "\"%s\" does not hold \"%s\"", t_, p_); \
	} while (0)

#define SKIP(...) test_skip(__VA_ARGS__)

#endif
