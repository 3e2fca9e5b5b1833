/* Sees nothing but pace.h and libpace, and recordings that lie in the tree. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pace.h"
#include "test.h"

/* PERF_RECORD_*, PERF_SAMPLE_* of linux/perf_event.h. */
enum {
	RECORD_MMAP = 1,
	RECORD_COMM = 3,
	RECORD_FORK = 7,
	RECORD_SAMPLE = 9,
	RECORD_MMAP2 = 10,
	RECORD_ATTR = 64
};
enum { SAMPLE_IP = 1 << 0, SAMPLE_TID = 1 << 1, SAMPLE_TIME = 1 << 2, SAMPLE_CALLCHAIN = 1 << 5 };
enum { SAMPLE_BRANCH_STACK = 1 << 11 };

static const char *golden(const char *name)
{
	static char path[4096];
	const char *file = __FILE__, *folder = strstr(file, "unit/");

	snprintf(path, sizeof(path), "%.*sgolden/data/%s", (int)(folder - file), file, name);
	if (access(path, R_OK))
		SKIP("'%s' is not here: run this in the folder it was built in", path);
	return path;
}

struct seen {
	struct pace_recording *recording;
	uint64_t n_samples, n_records, n_mmaps, period, last_time, n_backwards, n_chain, n_places;
	uint64_t stop_at;
	int placed;
	char losses[1024];
};

static int see_sample(void *context, const struct pace_sample *s)
{
	struct seen *seen = context;
	struct pace_place place;
	struct pace_error err;

	CHECK_EQ(s->record->type, RECORD_SAMPLE);
	CHECK_EQ(s->time, s->record->time);
	seen->n_samples++;
	seen->period += s->period;
	seen->n_backwards += s->time < seen->last_time;
	seen->last_time = s->time;
	seen->n_chain += s->n_chain;
	for (uint64_t i = 0; i < s->n_chain; i++)
		seen->n_chain += s->chain[i] == 0;
	seen->placed = pace_recording_place(seen->recording, s, s->ip, &place, &err);
	if (!seen->placed && strstr(place.file, "wordcount") && !strcmp(place.thread, "wordcount"))
		seen->n_places++;
	return seen->stop_at && seen->n_samples == seen->stop_at ? 42 : 0;
}

static int see_record(void *context, const struct pace_record *r)
{
	struct seen *seen = context;
	uint16_t size;

	CHECK(r->type != RECORD_SAMPLE);
	memcpy(&size, (const char *)r->bytes + 6, 2);
	CHECK_EQ(size, r->size);
	seen->n_records++;
	seen->n_mmaps += r->type == RECORD_MMAP2;
	return 0;
}

static void see_loss(void *context, const char *sentence)
{
	struct seen *seen = context;

	strncat(seen->losses, sentence, sizeof(seen->losses) - strlen(seen->losses) - 1);
}

static struct seen walk(struct pace_recording *r, enum pace_order order, int expected)
{
	struct seen seen = {.recording = r};
	struct pace_slots slots = {.context = &seen,
		.sample = see_sample,
		.record = see_record,
		.loss = see_loss};
	struct pace_error err;

	CHECK(r);
	CHECK_EQ(pace_recording_read(r, order, &slots, &err), expected);
	return seen;
}

static void check_wordcount(struct seen seen)
{
	CHECK_EQ(seen.n_samples, 177);
	CHECK_EQ(seen.period, 177 * 4000000ULL);
	CHECK(seen.n_records > 5 && seen.n_mmaps > 2);
	CHECK(seen.n_chain > 177 * 2);
	CHECK_STR(seen.losses, "");
}

struct group_seen {
	uint64_t n[2], period[2], last_time;
};

static int see_group(void *context, const struct pace_sample *s)
{
	struct group_seen *seen = context;

	CHECK(s->record->event < 2);
	CHECK(s->period > 0);
	seen->n[s->record->event]++;
	seen->period[s->record->event] += s->period;
	seen->last_time = s->time;
	return 0;
}

/* What 'perf report -n' says of it. */
TEST(recording_of_a_group_that_its_leader_reads_has_samples_of_each_member)
{
	struct pace_error err;
	struct pace_recording *r = pace_recording_open(golden("counters.data"), &err);

	CHECK(r);
	for (int order = PACE_FILE_ORDER; order <= PACE_TIME_ORDER; order++) {
		struct group_seen seen = {{0}};
		struct pace_slots slots = {.context = &seen,
			.sample = see_group,
			.wanted = SAMPLE_IP};

		CHECK_EQ(pace_recording_read(r, (enum pace_order)order, &slots, &err), 0);
		CHECK_EQ(seen.n[0], 33);
		CHECK_EQ(seen.n[1], 33);
		CHECK_EQ(seen.period[0], 1320);
		CHECK_EQ(seen.period[1], 693657820);
	}
	pace_recording_close(r);
}

TEST(recording_is_read_in_both_orders)
{
	struct pace_error err;
	struct pace_recording *r = pace_recording_open(golden("wordcount.data"), &err);
	struct seen in_time = walk(r, PACE_TIME_ORDER, 0), in_file = walk(r, PACE_FILE_ORDER, 0);

	check_wordcount(in_time);
	check_wordcount(in_file);
	CHECK_EQ(in_time.n_backwards, 0);
	CHECK_EQ(in_time.placed, 0);
	CHECK(in_time.n_places > 100);
	CHECK_EQ(in_file.placed, PACE_ERROR_ARGUMENT);
	/* And again. */
	check_wordcount(walk(r, PACE_TIME_ORDER, 0));
	pace_recording_close(r);
}

TEST(recording_says_what_it_is_of)
{
	struct pace_error err;
	struct pace_recording *r = pace_recording_open(golden("events.data"), &err);
	struct pace_facts facts;
	struct pace_event event;

	CHECK(r);
	CHECK_EQ(pace_recording_events(r), 2);
	CHECK_EQ(pace_recording_event(r, 0, &event, &err), 0);
	CHECK_STR(event.name, "cpu-clock:u");
	CHECK(event.n_ids > 0 && event.attr_size >= 64);
	CHECK_EQ(pace_recording_event(r, 1, &event, &err), 0);
	CHECK_STR(event.name, "page-faults:u");
	CHECK_EQ(pace_recording_event(r, 2, &event, &err), PACE_ERROR_NOT_FOUND);
	CHECK_HAS(err.message, "there is no event 2: the recording has 2");
	pace_recording_facts(r, &facts);
	CHECK_STR(facts.arch, "x86_64");
	CHECK(facts.n_command > 3 && !strcmp(facts.command[1], "record"));
	CHECK(facts.n_cpus > 0 && facts.total_memory_kb > 0);
	CHECK(facts.first_time > 0 && facts.first_time < facts.last_time);
	pace_recording_close(r);
}

/* The bytes of a file; the caller frees them. */
static char *load(const char *path, size_t *ret_n)
{
	int fd = open(path, O_RDONLY);
	char *bytes = malloc(1 << 20);

	CHECK(fd >= 0);
	*ret_n = (size_t)read(fd, bytes, 1 << 20);
	close(fd);
	return bytes;
}

TEST(recording_in_memory_and_behind_a_descriptor_is_the_same)
{
	struct pace_error err;
	struct pace_recording *r;
	int ends[2], fd;
	size_t n;
	char *bytes = load(golden("wordcount.data"), &n);
	pid_t pid;

	r = pace_recording_open_memory(bytes, n, &err);
	check_wordcount(walk(r, PACE_TIME_ORDER, 0));
	pace_recording_close(r);
	fd = open(golden("wordcount.data"), O_RDONLY);
	r = pace_recording_open_fd(fd, &err);
	check_wordcount(walk(r, PACE_TIME_ORDER, 0));
	pace_recording_close(r);
	CHECK_EQ(close(fd), 0);
	/* Through a pipe, which it reads to its end. */
	CHECK_EQ(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		_exit(write(ends[1], bytes, n) != (ssize_t)n);
	}
	close(ends[1]);
	r = pace_recording_open_fd(ends[0], &err);
	check_wordcount(walk(r, PACE_TIME_ORDER, 0));
	pace_recording_close(r);
	close(ends[0]);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	free(bytes);
}

/* ---- recordings made by hand, in pipe mode ---- */

struct composed {
	char bytes[4096];
	size_t n;
	uint64_t fields;
};

static void put(struct composed *c, uint64_t v, size_t size)
{
	CHECK(c->n + size <= sizeof(c->bytes));
	memcpy(c->bytes + c->n, &v, size);
	c->n += size;
}

static void put_header(struct composed *c, uint32_t type, uint16_t misc, size_t size)
{
	put(c, type, 4);
	put(c, misc, 2);
	put(c, size, 2);
}

static void compose(struct composed *c, uint64_t fields)
{
	enum { ATTR_SIZE = 64, SAMPLE_ID_ALL = 1 << 18 };

	*c = (struct composed){.fields = fields};
	put(c, 0x32454c4946524550, 8); /* PERFILE2 */
	put(c, 16, 8);
	put_header(c, RECORD_ATTR, 0, 8 + ATTR_SIZE);
	put(c, 1, 4); /* software: cpu-clock */
	put(c, ATTR_SIZE, 4);
	put(c, 0, 8);
	put(c, 1000, 8);
	put(c, fields, 8);
	put(c, 0, 8);
	put(c, SAMPLE_ID_ALL, 8);
	put(c, 0, 8);
	put(c, 0, 8);
}

static size_t trailer_size(const struct composed *c)
{
	return c->fields & SAMPLE_TIME ? 16 : 8;
}

static void put_trailer(struct composed *c, uint32_t pid, uint64_t time)
{
	put(c, pid, 4);
	put(c, pid, 4);
	if (c->fields & SAMPLE_TIME)
		put(c, time, 8);
}

static void add_map(struct composed *c, uint64_t time, uint32_t pid, uint64_t addr,
	const char name[8])
{
	put_header(c, RECORD_MMAP, 2, 8 + 40 + trailer_size(c));
	put(c, pid, 4);
	put(c, pid, 4);
	put(c, addr, 8);
	put(c, 0x1000, 8);
	put(c, 0, 8);
	put(c, *(const uint64_t *)(const void *)name, 8);
	put_trailer(c, pid, time);
}

static void add_fork(struct composed *c, uint64_t time, uint32_t parent, uint32_t child)
{
	put_header(c, RECORD_FORK, 0, 8 + 24 + trailer_size(c));
	put(c, child, 4);
	put(c, parent, 4);
	put(c, child, 4);
	put(c, parent, 4);
	put(c, time, 8);
	put_trailer(c, parent, time);
}

static void add_sample(struct composed *c, uint64_t time, uint32_t pid, uint64_t ip)
{
	put_header(c, RECORD_SAMPLE, 2, 16 + trailer_size(c));
	put(c, ip, 8);
	put_trailer(c, pid, time);
}

struct placed {
	struct pace_recording *recording;
	char text[256];
};

static int place_sample(void *context, const struct pace_sample *s)
{
	struct placed *placed = context;
	size_t n = strlen(placed->text);
	struct pace_place place;
	struct pace_error err;

	CHECK_EQ(pace_recording_place(placed->recording, s, s->ip, &place, &err), 0);
	snprintf(placed->text + n, sizeof(placed->text) - n, "%s:%s ", place.thread, place.file);
	return 0;
}

/* "thread:file " of each sample. */
static const char *places(struct pace_recording *r)
{
	static struct placed placed;
	struct pace_slots slots = {.context = &placed, .sample = place_sample};
	struct pace_error err;

	placed = (struct placed){.recording = r};
	CHECK_EQ(pace_recording_read(r, PACE_TIME_ORDER, &slots, &err), 0);
	return placed.text;
}

TEST(recording_has_the_same_places_whenever_it_is_read)
{
	struct pace_recording *r;
	struct pace_error err;
	struct composed c;

	compose(&c, SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME);
	add_map(&c, 1, 10, 0x400000, "/first\0");
	add_sample(&c, 2, 10, 0x500010);
	add_fork(&c, 3, 10, 11);
	/* The child does not have what its parent maps now. */
	add_map(&c, 4, 10, 0x500000, "/later\0");
	add_sample(&c, 5, 11, 0x400010);
	add_sample(&c, 6, 11, 0x500010);
	add_sample(&c, 7, 10, 0x500010);
	r = pace_recording_open_memory(c.bytes, c.n, &err);
	CHECK(r);
	for (unsigned i = 0; i < 3; i++)
		CHECK_STR(places(r), ":10:[unknown] :11:/first :11:[unknown] :10:/later ");
	pace_recording_close(r);
}

TEST(recording_without_times_has_places_by_the_order_of_its_records)
{
	struct pace_recording *r;
	struct pace_error err;
	struct composed c;

	compose(&c, SAMPLE_IP | SAMPLE_TID);
	add_map(&c, 0, 10, 0x400000, "/first\0");
	add_sample(&c, 0, 10, 0x400010);
	add_map(&c, 0, 10, 0x400000, "/later\0");
	add_sample(&c, 0, 10, 0x400010);
	r = pace_recording_open_memory(c.bytes, c.n, &err);
	CHECK(r);
	CHECK_STR(places(r), ":10:/first :10:/later ");
	pace_recording_close(r);
}

static int see_branches(void *context, const struct pace_sample *s)
{
	uint64_t *n = context;

	CHECK_EQ((uintptr_t)s->branches % sizeof(uint64_t), 0);
	CHECK_EQ(s->n_branches, 2);
	CHECK_EQ(s->branches[0].from, 0x1001);
	CHECK_EQ(s->branches[0].to, 0x1002);
	CHECK_EQ(s->branches[0].flags, 1);
	CHECK_EQ(s->branches[1].from, 0x2001);
	CHECK_EQ(s->branches[1].flags, 2);
	CHECK_EQ(s->n_chain, 0);
	++*n;
	return 0;
}

TEST(recording_hands_out_the_branches_of_its_samples)
{
	static const uint64_t branches[] = {0x1001, 0x1002, 1, 0x2001, 0x2002, 2};
	struct pace_slots slots = {.sample = see_branches};
	struct pace_recording *r;
	struct pace_error err;
	struct composed c;
	uint64_t n = 0;

	compose(&c, SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_BRANCH_STACK);
	put_header(&c, RECORD_SAMPLE, 2, 16 + 16 + 8 + sizeof(branches));
	put(&c, 0x400010, 8);
	put_trailer(&c, 10, 5);
	put(&c, 2, 8);
	for (size_t i = 0; i < 6; i++)
		put(&c, branches[i], 8);
	r = pace_recording_open_memory(c.bytes, c.n, &err);
	CHECK(r);
	slots.context = &n;
	CHECK_EQ(pace_recording_read(r, PACE_FILE_ORDER, &slots, &err), 0);
	CHECK_EQ(pace_recording_read(r, PACE_TIME_ORDER, &slots, &err), 0);
	CHECK_EQ(n, 2);
	pace_recording_close(r);
}

TEST(recording_in_a_pipe_can_be_read_once)
{
	static const enum pace_order orders[] = {PACE_FILE_ORDER, PACE_TIME_ORDER};
	struct composed c;

	compose(&c, SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME);
	add_map(&c, 1, 10, 0x400000, "/first\0");
	add_sample(&c, 2, 10, 0x400010);
	for (unsigned i = 0; i < 2; i++) {
		struct pace_recording *r;
		struct pace_slots slots = {0};
		struct pace_error err;
		int ends[2];

		CHECK_EQ(pipe(ends), 0);
		CHECK_EQ(write(ends[1], c.bytes, c.n), c.n);
		close(ends[1]);
		r = pace_recording_open_fd(ends[0], &err);
		CHECK(r);
		CHECK_EQ(pace_recording_read(r, orders[i], &slots, &err), 0);
		CHECK_EQ(pace_recording_read(r, PACE_FILE_ORDER, &slots, &err),
			PACE_ERROR_ARGUMENT);
		CHECK_HAS(err.message, "a pipe can be read only once");
		CHECK_EQ(pace_recording_read(r, PACE_TIME_ORDER, &slots, &err),
			PACE_ERROR_ARGUMENT);
		pace_recording_close(r);
		close(ends[0]);
	}
}

TEST(recording_walk_ends_when_a_slot_says_so)
{
	struct pace_error err;
	struct pace_recording *r = pace_recording_open(golden("wordcount.data"), &err);
	struct seen seen = {.recording = r, .stop_at = 10};
	struct pace_slots slots = {.context = &seen, .sample = see_sample};

	CHECK(r);
	CHECK_EQ(pace_recording_read(r, PACE_TIME_ORDER, &slots, &err), 42);
	CHECK_EQ(seen.n_samples, 10);
	pace_recording_close(r);
}

TEST(recording_that_is_damaged_is_read_up_to_there_and_the_loss_told)
{
	struct pace_error err;
	struct pace_recording *r;
	struct seen seen;
	size_t n;
	char *bytes = load(golden("wordcount.data"), &n);

	r = pace_recording_open_memory(bytes, 8000, &err);
	seen = walk(r, PACE_TIME_ORDER, 0);
	CHECK(seen.n_samples > 20 && seen.n_samples < 177);
	CHECK_HAS(seen.losses, "bytes of the file are damaged and were not read, from offset 0x");
	pace_recording_close(r);
	free(bytes);
}

TEST(recording_that_is_none_is_refused)
{
	struct pace_error err;

	CHECK(!pace_recording_open("/nonexistent", &err));
	CHECK_EQ(err.code, PACE_ERROR_NOT_FOUND);
	CHECK(!pace_recording_open_memory("text", 4, &err));
	CHECK_EQ(err.code, PACE_ERROR_FORMAT);
	CHECK(!pace_recording_open_fd(-1, &err));
	CHECK_EQ(err.code, PACE_ERROR_ARGUMENT);
	pace_recording_close(NULL);
}
