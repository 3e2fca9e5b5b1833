#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"

#include "test.h"

/* True if the n bytes at p are all `byte`. */
static bool is_all(const void *p, u8 byte, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const u8 *)p)[i] != byte)
			return false;
	return true;
}

/* ---- the heap ---- */

TEST(mem_zalloc_clears_and_realloc_keeps)
{
	u8 *p = mem_zalloc(1000);

	CHECK(is_all(p, 0, 1000));
	memset(p, 7, 1000);
	p = mem_realloc(p, 100000);
	CHECK(is_all(p, 7, 1000));
	p = mem_realloc(p, 10);
	CHECK(is_all(p, 7, 10));
	mem_free(p);
	mem_free(NULL);
}

TEST(mem_of_no_bytes_has_an_address_too)
{
	char *p = mem_alloc(0), *q = mem_zalloc(0), *s = mem_strdup("x");

	CHECK(p && q && p != q);
	s = mem_realloc(s, 0);
	CHECK(s != NULL);
	mem_free(mem_realloc(NULL, 0));
	mem_free(p);
	mem_free(q);
	mem_free(s);
}

TEST(mem_strdup_copies)
{
	char text[] = "abc", *copy = mem_strdup(text);

	text[0] = 'x';
	CHECK_STR(copy, "abc");
	mem_free(copy);
	copy = mem_strdup("");
	CHECK_STR(copy, "");
	mem_free(copy);
}

/* Beyond 4 MiB the block is advised to lie on huge pages: the advice must stay inside it. */
TEST(mem_blocks_of_all_sizes_are_usable_to_the_last_byte)
{
	static const size_t sizes[] = {1, 4095, 4096, 4097, (4 << 20) - 1, 4 << 20, (4 << 20) + 1,
		9 << 20};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		u8 *p = mem_alloc(sizes[i]);

		memset(p, 1, sizes[i]);
		p = mem_realloc(p, sizes[i] * 2);
		CHECK(is_all(p, 1, sizes[i]));
		memset(p, 2, sizes[i] * 2);
		mem_free(p);
		p = mem_zalloc(sizes[i]);
		CHECK(is_all(p, 0, sizes[i]));
		mem_free(p);
	}
}

/* Only there if the program is built with it. */
void __asan_init(void) __attribute__((weak));

static void report_size(size_t size)
{
	_exit(size == (size_t)1 << 62 ? 42 : 1);
}

/* How a child that asks for more than there can be ends. */
static int status_of_exhaustion(void (*hook)(size_t size))
{
	volatile size_t size = (size_t)1 << 62;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		mem_on_exhaustion(hook);
		mem_free(mem_alloc(size));
		_exit(2);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

TEST(mem_exhaustion_calls_the_hook_with_the_size_or_aborts)
{
	int status;

	if (__asan_init)
		SKIP("the address sanitizer ends the process itself");
	status = status_of_exhaustion(report_size);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 42);
	status = status_of_exhaustion(NULL);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGABRT);
}

/* ---- arena ---- */

TEST(arena_blocks_are_aligned_and_do_not_overlap)
{
	struct arena a = {0};
	u8 *blocks[2000];

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
		size_t n = i % 300;

		blocks[i] = arena_alloc(&a, n);
		CHECK(blocks[i]);
		CHECK_EQ((uintptr_t)blocks[i] % 8, 0);
		memset(blocks[i], (u8)i, n);
	}
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		CHECK(is_all(blocks[i], (u8)i, i % 300));
	arena_fini(&a);
	CHECK(!a.chunks && !a.at && !a.end);
	CHECK_EQ(a.total, 0);
}

TEST(arena_gives_an_address_even_for_nothing)
{
	struct arena a = {0};

	CHECK(arena_alloc(&a, 0));
	arena_fini(&a);
	CHECK(arena_zalloc(&a, 0));
	arena_fini(&a);
	CHECK(arena_copy(&a, NULL, 0));
	arena_fini(&a);
}

TEST(arena_fits_blocks_larger_than_a_chunk)
{
	static const size_t sizes[] = {(64 << 10) - 16, (64 << 10) - 15, 64 << 10, 1 << 20,
		(8 << 20) + 1, 40 << 20};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct arena a = {0};
		u8 *small = arena_zalloc(&a, 8), *big = arena_alloc(&a, sizes[i]),
		   *after = arena_zalloc(&a, 8);

		memset(big, 0xff, sizes[i]);
		CHECK(is_all(small, 0, 8));
		CHECK(is_all(after, 0, 8));
		CHECK(a.total >= sizes[i] + 16);
		arena_fini(&a);
	}
}

TEST(arena_total_grows_by_doubling_chunks)
{
	struct arena a = {0};
	size_t chunks = 0, last = 0;

	for (size_t used = 0; used < 32 << 20; used += 1024) {
		arena_alloc(&a, 1024);
		chunks += a.total != last;
		last = a.total;
	}
	/* 4 KiB, 8 KiB ... 8 MiB, then 8 MiB each: 12 chunks hold 16 MiB, 3 more hold the rest. */
	CHECK_EQ(chunks, 15);
	CHECK(a.total < 64 << 20);
	arena_fini(&a);
}

TEST(arena_copies_bytes_and_strings)
{
	struct arena a = {0};
	char *text = arena_strdup(&a, "abcdef", 3);

	CHECK_STR(text, "abc");
	CHECK_STR(arena_strdup(&a, "xyz", 0), "");
	CHECK(!memcmp(arena_copy(&a, "a\0b", 3), "a\0b", 3));
	memset(arena_alloc(&a, 64), 0xff, 64);
	CHECK(is_all(arena_zalloc(&a, 64), 0, 64));
	CHECK_STR(text, "abc");
	arena_fini(&a);
}

/* ---- vec ---- */

TEST(vec_keeps_what_was_added_while_growing)
{
	VEC(u32) v = {0};
	u32 expected = 0;

	for (u32 i = 0; i < 100000; i++)
		vec_add(&v, i * 3);
	CHECK_EQ(v.n, 100000);
	CHECK(v.cap >= v.n);
	vec_each(x, &v) {
		CHECK_EQ(*x, expected);
		expected += 3;
	}
	CHECK_EQ(expected, 300000);
	vec_fini(&v);
	CHECK(!v.at);
	CHECK_EQ(v.n, 0);
	CHECK_EQ(v.cap, 0);
}

TEST(vec_each_of_an_empty_vector_does_nothing)
{
	VEC(u64) v = {0};

	vec_each(x, &v)
		test_failed(__FILE__, __LINE__, "an element %p", (void *)x);
	vec_reserve(&v, v.n);
	CHECK(!v.at);
	vec_fini(&v);
}

TEST(vec_reserve_makes_room_once)
{
	VEC(u64) v = {0};
	u64 *at;

	vec_reserve(&v, 1000);
	at = v.at;
	CHECK(v.cap >= 1000);
	CHECK_EQ(v.n, 0);
	for (u64 i = 0; i < 1000; i++)
		vec_add(&v, i);
	CHECK(v.at == at);
	vec_reserve(&v, 10);
	CHECK(v.at == at);
	vec_fini(&v);
}

TEST(vec_push_of_large_items_begins_with_eight)
{
	struct large {
		u8 bytes[1000];
	};
	VEC(struct large) v = {0};

	for (size_t i = 0; i < 9; i++)
		memset(vec_push(&v), (u8)i, sizeof(struct large));
	CHECK_EQ(v.cap, 16);
	for (size_t i = 0; i < 9; i++)
		CHECK(is_all(&v.at[i], (u8)i, sizeof(struct large)));
	vec_fini(&v);
}

struct trial {
	int reached;
	size_t inner_size;
	bool is_inner_done;
};

static void end_in_time(void *trial)
{
	((struct trial *)trial)->reached = 1;
}

static void want_too_much(void *trial)
{
	((struct trial *)trial)->reached = 1;
	/* Sanitizers end a program that asks for more than there is. */
	mem_exhausted(4321);
}

static void try_inside(void *trial)
{
	struct trial *t = trial;

	t->is_inner_done = mem_try(want_too_much, t, &t->inner_size);
	CHECK(mem_is_trying());
	t->reached = 3;
}

TEST(mem_try_of_what_has_its_memory_comes_to_the_end)
{
	struct trial t = {0};
	size_t size = 1;

	CHECK(mem_try(end_in_time, &t, &size));
	CHECK_EQ(t.reached, 1);
	CHECK_EQ(size, 1);
	CHECK(!mem_is_trying());
}

TEST(mem_try_leaves_what_finds_no_memory_and_tells_how_much_it_was)
{
	struct trial t = {0};
	size_t size = 0;

	CHECK(!mem_try(want_too_much, &t, &size));
	CHECK_EQ(t.reached, 1);
	CHECK_EQ(size, 4321);
	CHECK(!mem_is_trying());
}

TEST(mem_try_leaves_the_innermost_alone)
{
	struct trial t = {0};
	size_t size = 0;

	CHECK(mem_try(try_inside, &t, &size));
	CHECK(!t.is_inner_done);
	CHECK_EQ(t.inner_size, 4321);
	CHECK_EQ(t.reached, 3);
	CHECK(!mem_is_trying());
}
