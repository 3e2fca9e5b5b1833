#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fleet/storewriter.h"

#define MINUTE_NS (60 * 1000000000ULL)

static const u64 first_hour = 498757; /* 2026-11-24T13 */

static void quiet(void *ctx, enum log_level level, const char *text)
{
	(void)level;
	str_add(ctx, text);
	str_add(ctx, "\n");
}

static struct str said;
static struct log messages = {.level = LOG_NOTE, .write = quiet, .ctx = &said};

/* A batch of that minute since the first hour, with as many samples; `words` makes it large. */
static void append(struct storewriter *w, u64 minute, u64 n_samples, u32 words)
{
	struct err err = {0};
	struct batch b;
	u32 stack;
	char name[32];

	batch_init(&b);
	b.start_ns = first_hour * STORE_HOUR_NS + minute * MINUTE_NS;
	b.end_ns = b.start_ns + MINUTE_NS;
	batch_event(&b, "cpu-clock");
	for (u32 i = 0; i <= words; i++) {
		snprintf(name, sizeof(name), "f%u-%x", i,
			words ? (u32)(i * 2654435761u + minute) : 0);
		stack = batch_stack(&b, 0,
			batch_frame(&b,
				&(struct batch_frame){.name = batch_add_string(&b, name),
					.is_named = true}));
		batch_count(&b, &(struct batch_row){0, stack, 0, i ? 0 : n_samples, 1}, NULL);
	}
	CHECK_EQ(storewriter_append(w, &b, &err), 0);
	batch_fini(&b);
}

static void open_writer(struct storewriter *w, u64 most)
{
	struct err err = {0};

	CHECK_EQ(storewriter_open(w, test_path("store"), most, &messages, &err), 0);
}

/* The samples of all batches of a window. */
static u64 sum(u64 from_ns, u64 to_ns, u64 *ret_n)
{
	struct store s;
	struct store_walk walk;
	struct err err = {0};
	struct batch b;
	u64 n = 0;

	*ret_n = 0;
	CHECK_EQ(store_open(&s, test_path("store"), &err), 0);
	store_walk_init(&walk, &s, NULL, &messages);
	store_walk_within(&walk, from_ns, to_ns);
	while (store_next(&walk, &b)) {
		n += b.events.at[0].n_samples;
		++*ret_n;
		batch_fini(&b);
	}
	store_walk_fini(&walk);
	store_close(&s);
	return n;
}

static u64 minute_ns(u64 minute)
{
	return first_hour * STORE_HOUR_NS + minute * MINUTE_NS;
}

TEST(store_windows_add_up)
{
	struct storewriter w;
	u64 n, total = 0;

	open_writer(&w, STOREWRITER_BYTES);
	for (u64 i = 0; i < 200; i++)
		append(&w, i, i + 1, 0);
	CHECK_EQ(sum(0, UINT64_MAX, &n), 200 * 201 / 2);
	CHECK_EQ(n, 200);
	for (u64 i = 0; i < 200; i += 7)
		total += sum(minute_ns(i), minute_ns(i + 7), &n);
	CHECK_EQ(total, 200 * 201 / 2);
	CHECK_EQ(sum(minute_ns(59), minute_ns(61), &n), 60 + 61);
	CHECK_EQ(n, 2);
	CHECK_EQ(sum(minute_ns(500), UINT64_MAX, &n), 0);
	storewriter_close(&w);
}

TEST(store_walk_goes_on_behind_a_place)
{
	struct storewriter w;
	struct store_place places[130];
	struct store_walk walk;
	struct err err = {0};
	struct store s;
	struct batch b;
	u64 at = 0;

	open_writer(&w, STOREWRITER_BYTES);
	for (u64 i = 0; i < 130; i++)
		append(&w, i, i + 1, 3);
	CHECK_EQ(store_open(&s, test_path("store"), &err), 0);
	store_walk_init(&walk, &s, NULL, &messages);
	for (at = 0; store_next(&walk, &b); at++) {
		places[at] = walk.place;
		batch_fini(&b);
	}
	store_walk_fini(&walk);
	CHECK_EQ(at, 130);
	for (size_t i = 0; i < 130; i++) {
		store_walk_init(&walk, &s, &places[i], &messages);
		CHECK_EQ(store_next(&walk, &b), i < 129);
		if (i < 129) {
			CHECK_EQ(b.events.at[0].n_samples, i + 2);
			batch_fini(&b);
		}
		store_walk_fini(&walk);
	}
	/* What comes later is seen by who was at the end. */
	append(&w, 130, 131, 3);
	CHECK_EQ(store_refresh(&s, &err), 0);
	store_walk_init(&walk, &s, &places[129], &messages);
	CHECK(store_next(&walk, &b));
	CHECK_EQ(b.events.at[0].n_samples, 131);
	batch_fini(&b);
	store_walk_fini(&walk);
	store_close(&s);
	storewriter_close(&w);
	CHECK_STR(str_text(&said), "");
}

TEST(store_keeps_its_size_by_dropping_the_oldest_file)
{
	struct storewriter w;
	struct err err = {0};
	struct store s;
	u64 n;

	open_writer(&w, STOREWRITER_LEAST);
	for (u64 i = 0; i < 600; i++)
		append(&w, i * 10, 1, 800);
	CHECK_EQ(store_open(&s, test_path("store"), &err), 0);
	CHECK(s.n_bytes <= STOREWRITER_LEAST);
	CHECK(s.n_bytes > STOREWRITER_LEAST / 2);
	store_close(&s);
	sum(minute_ns(5990), UINT64_MAX, &n);
	CHECK_EQ(n, 1);
	sum(0, minute_ns(100), &n);
	CHECK_EQ(n, 0);
	storewriter_close(&w);
}

TEST(store_one_hour_does_not_outgrow_the_store)
{
	struct storewriter w;
	struct err err = {0};
	struct store s;
	u64 n;

	open_writer(&w, STOREWRITER_LEAST);
	for (u64 i = 0; i < 600; i++)
		append(&w, i / 20, 1, 800);
	CHECK_EQ(store_open(&s, test_path("store"), &err), 0);
	CHECK(s.n_bytes <= STOREWRITER_LEAST);
	CHECK(s.files.n > 2);
	store_close(&s);
	sum(0, UINT64_MAX, &n);
	CHECK(n > 100);
	storewriter_close(&w);
}

/* The file of the first hour. */
static const char *file(const char *suffix)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/2026-11-24T13%s.batches", test_path("store"), suffix);
	return path;
}

TEST(store_heals_what_was_cut_off_at_every_byte)
{
	struct storewriter w;
	struct stat st;
	u64 n;
	off_t whole;

	open_writer(&w, STOREWRITER_BYTES);
	append(&w, 0, 1, 0);
	append(&w, 1, 2, 0);
	CHECK_EQ(stat(file(""), &st), 0);
	whole = st.st_size;
	CHECK_EQ(st.st_mode & 0777, 0600);
	CHECK_EQ(stat(test_path("store"), &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0700);
	append(&w, 2, 4, 0);
	storewriter_close(&w);
	CHECK_EQ(stat(file(""), &st), 0);
	for (off_t end = st.st_size - 1; end > whole; end -= 5) {
		CHECK_EQ(truncate(file(""), end), 0);
		open_writer(&w, STOREWRITER_BYTES);
		append(&w, 3, 8, 0);
		storewriter_close(&w);
		CHECK_EQ(sum(0, UINT64_MAX, &n), 1 + 2 + 8);
		CHECK_EQ(n, 3);
	}
	CHECK_HAS(str_text(&said), "was cut off when its writer ended");
}

TEST(store_begins_a_new_file_where_the_first_batch_is_damaged)
{
	struct storewriter w;
	struct err err = {0};
	u64 n;
	int fd;

	open_writer(&w, STOREWRITER_BYTES);
	append(&w, 0, 1, 0);
	storewriter_close(&w);
	fd = open(file(""), O_WRONLY);
	CHECK_EQ(pwrite(fd, "x", 1, 60), 1);
	close(fd);
	open_writer(&w, STOREWRITER_BYTES);
	append(&w, 1, 2, 0);
	append(&w, 2, 4, 0);
	storewriter_close(&w);
	CHECK_EQ(access(file("-1"), R_OK), 0);
	CHECK_EQ(sum(0, UINT64_MAX, &n), 6);
	/* Links and folders of that name are not written to. */
	CHECK_EQ(unlink(file("")), 0);
	CHECK_EQ(unlink(file("-1")), 0);
	CHECK_EQ(symlink("/dev/null", file("")), 0);
	CHECK_EQ(mkdir(file("-1"), 0700), 0);
	CHECK_EQ(mkfifo(file("-2"), 0700), 0);
	open_writer(&w, STOREWRITER_BYTES);
	append(&w, 3, 8, 0);
	storewriter_close(&w);
	CHECK_EQ(access(file("-3"), R_OK), 0);
	CHECK_EQ(sum(0, UINT64_MAX, &n), 8);
	(void)err;
}

TEST(store_refuses_a_second_writer_and_a_folder_of_others)
{
	struct storewriter w, second;
	struct err err = {0};
	struct store s;
	int status;

	open_writer(&w, STOREWRITER_BYTES);
	CHECK_EQ(store_open(&s, test_path("store"), &err), 0);
	/* A process does not see its own lock. */
	if (!fork())
		_exit(store_writer(&s) == getppid() &&
					storewriter_open(&second, test_path("store"),
						STOREWRITER_BYTES, &messages, &err) == ERR_LIMIT &&
					strstr(err.msg, "another 'pace watch', with pid")
				? 0
				: 1);
	CHECK(wait(&status) > 0);
	CHECK_EQ(status, 0);
	storewriter_close(&w);
	CHECK_EQ(store_writer(&s), 0);
	store_close(&s);
	CHECK_EQ(chmod(test_path("store"), 0777), 0);
	CHECK_EQ(storewriter_open(&w, test_path("store"), STOREWRITER_BYTES, &messages, &err),
		ERR_PERM);
	CHECK_HAS(err.msg, "others may write to the store");
	storewriter_close(&w);
}
