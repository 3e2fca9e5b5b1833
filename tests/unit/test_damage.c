/*
 * Recordings that are cut or damaged, through the whole report: it shows what is left or says why
 * it cannot, and ends with a status of its own.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "file/layout.h"
#include "test.h"
#include "unit/recording.h"

enum { BATCH = 64, SECONDS_EACH = 300 };

struct fixture {
	struct recording r;
	struct file_info info;
	struct str file;
	u64 data_offset, data_end;
	const char *path;
	int fd;
	/* the experiments */
	u64 *lengths; /* cuts, descending */
	size_t n;
	u64 dice;
};

static void fixture_init(struct fixture *f, u32 n_samples)
{
	memset(f, 0, sizeof(*f));
	recording_example(&f->r, n_samples);
	recording_describe(&f->r, &f->info);
	recording_compose(&f->r, &f->info, &f->file);
	f->data_offset = recording_data_offset(&f->r);
	f->data_end = f->data_offset + f->r.data.n;
	f->path = test_path("perf.data");
	test_write(f->path, f->file.at, f->file.n);
	f->fd = open(f->path, O_RDWR | O_CLOEXEC);
}

static void fixture_fini(struct fixture *f)
{
	file_info_fini(&f->info);
	recording_fini(&f->r);
	str_fini(&f->file);
	mem_free(f->lengths);
	close(f->fd);
}

/* Brings about experiment i, reports, and puts the exit status into the pipe; n times. Does not
 * return. */
static void report_batch(struct fixture *f, void (*hurt)(struct fixture *f, size_t i), size_t from,
	size_t n, int to)
{
	int null = open("/dev/null", O_WRONLY);

	alarm(SECONDS_EACH);
	dup2(null, STDOUT_FILENO);
	close(null);
	for (size_t i = from; i < from + n; i++) {
		char *argv[] = {(char *)"report", (char *)"-i", (char *)f->path, NULL};
		u8 status;

		hurt(f, i);
		status = cmd_report.run(3, argv);
		if (write(to, &status, 1) != 1)
			_exit(99);
	}
	fixture_fini(f);
	/* A full end, so that what leaked is seen. */
	exit(0);
}

/* Whether a sanitizer has written to that file; shows what. */
static bool has_sanitizer_spoken(const char *path)
{
	struct str text = {0};
	char buf[4096];
	size_t n;
	FILE *f = fopen(path, "r");
	bool has;

	while (f && (n = fread(buf, 1, sizeof(buf), f)) > 0)
		str_addn(&text, buf, n);
	if (f)
		fclose(f);
	has = strstr(str_text(&text), "Sanitizer") || strstr(str_text(&text), "runtime error");
	if (has)
		printf("%s", str_text(&text));
	str_fini(&text);
	return has;
}

/* Makes n experiments, in processes that do some each; their exit statuses. */
static void report_all(struct fixture *f, void (*hurt)(struct fixture *f, size_t i), size_t n,
	u8 *ret_statuses)
{
	const char *said = test_path("stderr");

	for (size_t from = 0; from < n; from += BATCH) {
		size_t want = MIN(n - from, (size_t)BATCH), got = 0;
		int pipes[2], status;
		pid_t pid;
		ssize_t r;

		CHECK_EQ(pipe(pipes), 0);
		fflush(stdout);
		pid = fork();
		if (!pid) {
			int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);

			dup2(fd, STDERR_FILENO);
			close(fd);
			close(pipes[0]);
			report_batch(f, hurt, from, want, pipes[1]);
		}
		close(pipes[1]);
		while (got < want &&
			(r = read(pipes[0], ret_statuses + from + got, want - got)) > 0)
			got += r;
		close(pipes[0]);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK(!has_sanitizer_spoken(said));
		if (got < want)
			test_failed(__FILE__, __LINE__, "report %zu ended with status 0x%x",
				from + got, status);
		CHECK_EQ(status, 0);
	}
}

/* ---- cuts ---- */

static void cut(struct fixture *f, size_t i)
{
	if (ftruncate(f->fd, f->lengths[i]))
		_exit(99);
}

/* 2: no recording at all; 1: records or sections are missing; 0: all of them are there. */
static void check_cuts(struct fixture *f)
{
	u64 front = f->data_offset;
	u8 *statuses = mem_alloc(f->n);

	report_all(f, cut, f->n, statuses);
	for (size_t i = 0; i < f->n; i++) {
		u64 length = f->lengths[i];
		u8 expected = length < front ? 2 : length < f->file.n ? 1 : 0;

		if (statuses[i] != expected)
			test_failed(__FILE__, __LINE__,
				"the report of the first %llu bytes returned %u, not %u",
				(unsigned long long)length, statuses[i], expected);
	}
	mem_free(statuses);
}

TEST(damage_by_a_cut_at_any_byte_of_4_kib_gives_a_report_or_a_reason)
{
	struct fixture f;

	fixture_init(&f, 60);
	CHECK(f.file.n > 4096);
	f.lengths = mem_alloc(4096 * sizeof(*f.lengths));
	for (u64 length = 4096; length > 0; length--)
		f.lengths[f.n++] = length;
	check_cuts(&f);
	fixture_fini(&f);
}

TEST(damage_by_a_cut_around_any_record_gives_a_report_or_a_reason)
{
	struct fixture f;

	fixture_init(&f, 300);
	f.lengths = mem_alloc(3 * f.r.starts.n * sizeof(*f.lengths));
	for (size_t i = f.r.starts.n; i-- > 0;)
		for (int more = 1; more >= -1; more--)
			f.lengths[f.n++] = f.data_offset + f.r.starts.at[i] + more;
	check_cuts(&f);
	fixture_fini(&f);
}

/* ---- other damage ---- */

static void scramble(struct fixture *f, size_t i)
{
	struct str hurt = {0};
	u64 dice = 1000 + i;

	str_addn(&hurt, f->file.at, f->file.n);
	for (u64 n = 1 + recording_below(&dice, 8); n; n--) {
		/* Half of it in the front part, where a byte means more. */
		u64 at = recording_below(&dice,
			recording_below(&dice, 2) ? f->data_offset + 100 : hurt.n);

		hurt.at[at] =
			recording_below(&dice, 3) ? (char)recording_random(&dice) : (char)0xff;
	}
	if (pwrite(f->fd, hurt.at, hurt.n, 0) != (ssize_t)hurt.n)
		_exit(99);
	str_fini(&hurt);
}

TEST(damage_at_random_gives_a_report_or_a_reason)
{
	enum { ROUNDS = 1000 };
	static u8 statuses[ROUNDS];
	u64 n_each[3] = {0};
	struct fixture f;

	fixture_init(&f, 60);
	report_all(&f, scramble, ROUNDS, statuses);
	for (size_t i = 0; i < ROUNDS; i++) {
		CHECK(statuses[i] <= 2);
		n_each[statuses[i]]++;
	}
	/* Else the damage was none, or too much for the test to mean anything. */
	CHECK(n_each[0] > ROUNDS / 20 && n_each[1] > ROUNDS / 20 && n_each[2] > ROUNDS / 20);
	fixture_fini(&f);
}

/* Every word of the data in turn becomes a number that makes no sense. */
static void break_word(struct fixture *f, size_t i)
{
	static const u64 values[] = {0, UINT64_MAX, 1ULL << 63, 0x0008000000000001ULL};
	struct str hurt = {0};
	u64 at = f->data_offset + i / ARRAY_SIZE(values) * 8;

	str_addn(&hurt, f->file.at, f->file.n);
	memcpy(hurt.at + at, &values[i % ARRAY_SIZE(values)], 8);
	if (pwrite(f->fd, hurt.at, hurt.n, 0) != (ssize_t)hurt.n)
		_exit(99);
	str_fini(&hurt);
}

TEST(damage_in_any_word_of_the_records_gives_a_report)
{
	u8 statuses[2048];
	struct fixture f;
	size_t n;

	fixture_init(&f, 30);
	n = f.r.data.n / 8 * 4;
	CHECK(n <= sizeof(statuses));
	report_all(&f, break_word, n, statuses);
	for (size_t i = 0; i < n; i++)
		CHECK(statuses[i] <= 1);
	fixture_fini(&f);
}
