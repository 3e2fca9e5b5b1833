#include "test.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/record/synth.h"
#include "event/abi.h"
#include "record/record.h"
#include "unit/said.h"
#include "unit/tree.h"

enum { TRAILER = 24 };

struct synthesis {
	struct synth synth;
	struct said said;
	char proc[256], modules[256];
};

static void synthesis_init(struct synthesis *s)
{
	said_init(&s->said, LOG_DEBUG);
	snprintf(s->proc, sizeof(s->proc), "%s", test_path("proc"));
	snprintf(s->modules, sizeof(s->modules), "%s", test_path("modules"));
	synth_init(&s->synth, TRAILER, &s->said.log);
	s->synth.proc = s->proc;
	s->synth.modules = s->modules;
}

static void synthesis_fini(struct synthesis *s)
{
	synth_fini(&s->synth);
	said_fini(&s->said);
}

/* Calls each record; all are whole, padded to 8, and end with a trailer of zeros. */
static void each_record(const struct str *out,
	void (*each)(void *ctx, const struct record *rec, const union record_body *body), void *ctx)
{
	static const u8 zeros[TRAILER];

	for (size_t at = 0; at < out->n;) {
		struct record_header header;
		union record_body body;
		struct record rec;
		struct err err;

		CHECK(out->n - at >= sizeof(header));
		memcpy(&header, out->at + at, sizeof(header));
		CHECK(header.size >= sizeof(header) + TRAILER && header.size % 8 == 0 &&
			header.size <= out->n - at);
		rec = (struct record){header.type, header.misc, header.size,
			(const u8 *)out->at + at, at};
		CHECK(!memcmp(rec.at + rec.size - TRAILER, zeros, TRAILER));
		if (record_decode(&rec, TRAILER, &body, &err) != 1)
			test_failed(__FILE__, __LINE__, "record at %zu: %s", at, err.msg);
		each(ctx, &rec, &body);
		at += header.size;
	}
}

static void add_text(void *ctx, const struct record *rec, const union record_body *body)
{
	struct str *text = ctx;

	str_addf(text, "%s 0x%x ", record_type_name(rec->type), rec->misc);
	record_add_text(rec->type, rec->misc, body, text);
	str_addc(text, '\n');
}

static void check_records(const struct synth *s, const char *expected)
{
	struct str text = {0};

	each_record(&s->out, add_text, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

/* A process with one thread; stat as the kernel writes it. */
static void make_process(int pid, int parent, const char *comm)
{
	char stat[256], line[256];

	snprintf(stat, sizeof(stat), "%d (%s) S %d %d 0 0 -1 4194560 0", pid, comm, parent, pid);
	snprintf(line, sizeof(line), "%s\n", comm);
	tree_file(test_path("proc"), stat, "%d/stat", pid);
	tree_file(test_path("proc"), line, "%d/task/%d/comm", pid, pid);
	tree_file(test_path("proc"), "", "%d/maps", pid);
}

/* ---- tasks ---- */

TEST(synth_tells_of_a_process_by_fork_comm_and_maps)
{
	struct synthesis s;

	synthesis_init(&s);
	make_process(100, 7, "sleep");
	tree_file(test_path("proc"),
		"55d0c0000000-55d0c0002000 r--p 00000000 fd:01 42   /usr/bin/sleep\n"
		"55d0c0002000-55d0c0006000 r-xp 00002000 fd:01 42   /usr/bin/sleep\n"
		"7ffe00000000-7ffe00021000 rw-p 00000000 00:00 0    [stack]\n",
		"100/maps");
	synth_process(&s.synth, 100);
	check_records(&s.synth,
		"FORK 0x2000 pid=100 ppid=7 tid=100 ptid=7 time=0\n"
		"COMM 0x2 pid=100 tid=100 comm=sleep\n"
		"MMAP2 0x2 pid=100 tid=100 addr=0x55d0c0002000 len=0x4000 "
		"pgoff=0x2000 dev=fd:01 ino=42 gen=0 prot=0x5 "
		"flags=0x2 path=/usr/bin/sleep\n");
	CHECK_EQ(s.synth.n_processes, 1);
	synthesis_fini(&s);
}

struct counts {
	u32 forks, comms;
	struct record_task tasks[8];
	char names[8][32];
	u32 tids[8];
};

static void count_tasks(void *ctx, const struct record *rec, const union record_body *body)
{
	struct counts *c = ctx;

	if (rec->type == PERF_RECORD_FORK)
		c->tasks[c->forks++] = body->task;
	if (rec->type != PERF_RECORD_COMM)
		return;
	c->tids[c->comms] = body->comm.tid;
	snprintf(c->names[c->comms++], sizeof(c->names[0]), "%.*s", (int)body->comm.comm.n,
		body->comm.comm.at);
}

TEST(synth_tells_of_each_thread_with_its_own_name)
{
	struct counts c = {0};
	struct synthesis s;

	synthesis_init(&s);
	make_process(100, 1, "main");
	tree_file(test_path("proc"), "worker\n", "100/task/101/comm");
	tree_file(test_path("proc"), "io (2)\n", "100/task/205/comm");
	/* A thread that ended between the list and the look at it. */
	tree_dir(test_path("proc"), "100/task/300");
	tree_dir(test_path("proc"), "100/task/nonsense");
	synth_process(&s.synth, 100);
	each_record(&s.synth.out, count_tasks, &c);
	CHECK_EQ(c.forks, 4);
	CHECK_EQ(c.comms, 3);
	for (u32 i = 0; i < c.forks; i++) {
		const struct record_task *t = &c.tasks[i];

		CHECK_EQ(t->pid, 100);
		/* Threads come from their process, the process from its parent. */
		CHECK_EQ(t->ppid, t->tid == 100 ? 1 : 100);
		CHECK_EQ(t->ptid, t->ppid);
	}
	for (u32 i = 0; i < c.comms; i++)
		CHECK_STR(c.names[i],
			c.tids[i] == 100           ? "main"
				: c.tids[i] == 101 ? "worker"
						   : "io (2)");
	synthesis_fini(&s);
}

TEST(synth_finds_the_parent_behind_any_name)
{
	static const char *const names[] = {"a b", "a) S 9 (", "))))", "(((", ") R 1 1",
		"tab\there", "", "\x01\x7f\xff"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct counts c = {0};
		struct synthesis s;

		synthesis_init(&s);
		make_process(100, 4711, names[i]);
		synth_process(&s.synth, 100);
		each_record(&s.synth.out, count_tasks, &c);
		CHECK_EQ(c.forks, 1);
		CHECK_EQ(c.tasks[0].ppid, 4711);
		CHECK_EQ(c.comms, 1);
		CHECK_STR(c.names[0], names[i]);
		synthesis_fini(&s);
	}
}

TEST(synth_skips_a_process_that_is_gone)
{
	struct synthesis s;

	synthesis_init(&s);
	tree_dir(test_path("proc"), "1");
	/* stat is there, then nothing more. */
	tree_file(test_path("proc"), "2 (a) S 1 2", "2/stat");
	/* cut off */
	tree_file(test_path("proc"), "3 (a)", "3/stat");
	tree_file(test_path("proc"), "a\n", "3/task/3/comm");
	tree_file(test_path("proc"), "", "4/stat");
	tree_file(test_path("proc"), "a\n", "4/task/4/comm");
	for (int pid = 1; pid <= 5; pid++)
		synth_process(&s.synth, pid);
	check_records(&s.synth, "");
	CHECK_EQ(s.synth.n_processes, 0);
	CHECK_STR(str_text(&s.said.text), "");
	synthesis_fini(&s);
}

TEST(synth_tells_what_there_was_of_a_process_that_ends_meanwhile)
{
	struct synthesis s;

	synthesis_init(&s);
	make_process(100, 1, "a");
	remove(test_path("proc/100/maps"));
	synth_process(&s.synth, 100);
	check_records(&s.synth,
		"FORK 0x2000 pid=100 ppid=1 tid=100 ptid=1 time=0\n"
		"COMM 0x2 pid=100 tid=100 comm=a\n");
	synthesis_fini(&s);
}

/* ---- maps ---- */

#define MAP "MMAP2 0x2 pid=100 tid=100 "

/* What a line of maps becomes, "" for none. */
static void check_map(const char *line, bool has_data_maps, const char *expected)
{
	char text[512] = "FORK 0x2000 pid=100 ppid=1 tid=100 ptid=1 time=0\nCOMM 0x2 pid=100 "
			 "tid=100 comm=a\n";
	struct synthesis s;

	strcat(text, expected);
	synthesis_init(&s);
	s.synth.has_data_maps = has_data_maps;
	make_process(100, 1, "a");
	tree_file(test_path("proc"), line, "100/maps");
	synth_process(&s.synth, 100);
	check_records(&s.synth, text);
	synthesis_fini(&s);
}

TEST(synth_reads_all_kinds_of_maps)
{
	static const struct {
		const char *line, *record;
	} rows[] = {
		{"1000-2000 r-xp 00000000 00:00 0 \n",
			MAP "addr=0x1000 len=0x1000 pgoff=0x0 dev=00:00 ino=0 gen=0 prot=0x5 "
			    "flags=0x2 path=//anon\n"},
		{"1000-2000 rwxs 00000000 00:05 99                         /dev/zero (deleted)\n",
			MAP "addr=0x1000 len=0x1000 pgoff=0x0 dev=00:05 ino=99 gen=0 prot=0x7 "
			    "flags=0x1 path=/dev/zero "
			    "(deleted)\n"},
		{"7fff0000-7fff2000 r-xp 00000000 00:00 0                  [vdso]\n",
			MAP "addr=0x7fff0000 len=0x2000 pgoff=0x0 dev=00:00 ino=0 gen=0 prot=0x5 "
			    "flags=0x2 path=[vdso]\n"},
		{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n",
			MAP "addr=0xffffffffff600000 len=0x1000 pgoff=0x0 dev=00:00 ino=0 gen=0 "
			    "prot=0x4 flags=0x2 "
			    "path=[vsyscall]\n"},
		{"5000-6000 rwxp 00000000 00:00 0                          [heap]\n",
			MAP "addr=0x5000 len=0x1000 pgoff=0x0 dev=00:00 ino=0 gen=0 prot=0x7 "
			    "flags=0x2 path=[heap]\n"},
		{"5000-6000 r-xp 7ffff000 103:05 18446744073709551615      /opt/a b/c  d\n",
			MAP "addr=0x5000 len=0x1000 pgoff=0x7ffff000 dev=103:05 "
			    "ino=18446744073709551615 gen=0 prot=0x5 "
			    "flags=0x2 path=/opt/a b/c  d\n"},
		/* without a newline at the end of the file */
		{"5000-6000 r-xp 00000000 fd:01 1 /x",
			MAP "addr=0x5000 len=0x1000 pgoff=0x0 dev=fd:01 ino=1 gen=0 prot=0x5 "
			    "flags=0x2 path=/x\n"},
		{"5000-6000 r--p 00000000 fd:01 1 /x\n", ""},
		{"5000-6000 rw-p 00000000 fd:01 1 /x\n", ""},
		{"5000-6000 ---p 00000000 fd:01 1 /x\n", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_map(rows[i].line, false, rows[i].record);
}

TEST(synth_marks_maps_of_data_where_they_are_wanted)
{
	check_map("5000-6000 rw-p 00001000 fd:01 1 /x\n", true,
		"MMAP2 0x2002 pid=100 tid=100 addr=0x5000 len=0x1000 pgoff=0x1000 dev=fd:01 ino=1 "
		"gen=0 prot=0x3 flags=0x2 "
		"path=/x\n");
	check_map("5000-6000 r-xp 00001000 fd:01 1 /x\n", true,
		MAP "addr=0x5000 len=0x1000 pgoff=0x1000 dev=fd:01 ino=1 gen=0 prot=0x5 flags=0x2 "
		    "path=/x\n");
}

TEST(synth_skips_lines_that_are_no_maps)
{
	static const char whole[] = "1000-2000 r-xp 00000000 fd:01 77";

	/* Cut anywhere; only behind the inode's first digit it is a map again. */
	for (size_t n = 0; n < strlen(whole); n++) {
		char line[64];

		snprintf(line, sizeof(line), "%.*s\n", (int)n, whole);
		check_map(line, false,
			n < strlen(whole) - 1 ? ""
					      : MAP "addr=0x1000 len=0x1000 pgoff=0x0 dev=fd:01 "
						    "ino=7 gen=0 prot=0x5 flags=0x2 "
						    "path=//anon\n");
	}
	check_map("\n\n-\nxyz\n11111111111111111-2 r-xp 0 0:0 0 /x\n", false, "");
}

TEST(synth_cuts_a_path_that_does_not_fit_a_record)
{
	struct synthesis s;
	char line[6000];
	int n = snprintf(line, sizeof(line), "1000-2000 r-xp 00000000 fd:01 77 /");
	struct record_header header;

	synthesis_init(&s);
	make_process(100, 1, "a");
	memset(line + n, 'x', sizeof(line) - n - 1);
	line[sizeof(line) - 1] = '\0';
	tree_file(test_path("proc"), line, "100/maps");
	synth_process(&s.synth, 100);
	/* FORK and COMM, then the map: 72 bytes, 4000 of the path, its NUL, padding, trailer. */
	memcpy(&header, s.synth.out.at + 32 + TRAILER + 24 + TRAILER, sizeof(header));
	CHECK_EQ(header.type, PERF_RECORD_MMAP2);
	CHECK_EQ(header.size, align_up(72 + 4000 + 1, 8) + TRAILER);
	synthesis_fini(&s);
}

/* ---- all ---- */

struct flushes {
	struct synth *synth;
	struct counts counts;
	u32 n;
	int result;
};

static int flush(void *ctx, struct err *err)
{
	struct flushes *f = ctx;

	f->n++;
	each_record(&f->synth->out, count_tasks, &f->counts);
	str_clear(&f->synth->out);
	return f->result ? err_set(err, f->result, "full") : 0;
}

TEST(synth_tells_of_every_process_and_of_nothing_else_in_proc)
{
	struct synthesis s;
	struct flushes f = {.synth = &s.synth};
	struct err err;
	u32 sum = 0;

	synthesis_init(&s);
	for (int pid = 10; pid <= 13; pid++)
		make_process(pid, 1, "p");
	tree_file(test_path("proc"), "", "self/stat");
	tree_file(test_path("proc"), "", "sys/kernel/x");
	tree_dir(test_path("proc"), "14");
	CHECK_EQ(synth_all(&s.synth, flush, &f, &err), 0);
	CHECK_EQ(f.n, 1);
	CHECK_EQ(f.counts.forks, 4);
	for (u32 i = 0; i < 4; i++)
		sum += f.counts.tasks[i].pid;
	CHECK_EQ(sum, 10 + 11 + 12 + 13);
	CHECK_EQ(s.synth.n_processes, 4);
	synthesis_fini(&s);
}

TEST(synth_lets_its_buffer_be_flushed_now_and_then)
{
	struct synthesis s;
	struct flushes f = {.synth = &s.synth};
	struct str maps = {0};
	struct err err;

	/* Each process makes more records than the buffer shall hold. */
	synthesis_init(&s);
	for (int i = 0; i < 300; i++) {
		str_addf(&maps, "%d000-%d001 r-xp 00000000 fd:01 1 /", i, i);
		str_fill(&maps, 'x', 3990);
		str_addc(&maps, '\n');
	}
	for (int pid = 10; pid < 13; pid++) {
		make_process(pid, 1, "p");
		tree_file(s.proc, str_text(&maps), "%d/maps", pid);
	}
	CHECK_EQ(synth_all(&s.synth, flush, &f, &err), 0);
	CHECK_EQ(f.n, 4);
	CHECK_EQ(f.counts.forks, 3);
	/* What the first one says ends it. */
	f = (struct flushes){.synth = &s.synth, .result = ERR_LIMIT};
	CHECK_EQ(synth_all(&s.synth, flush, &f, &err), ERR_LIMIT);
	CHECK_EQ(f.n, 1);
	str_fini(&maps);
	synthesis_fini(&s);
}

TEST(synth_passes_on_what_its_flush_says)
{
	struct synthesis s;
	struct flushes f = {.synth = &s.synth, .result = ERR_LIMIT};
	struct err err;

	synthesis_init(&s);
	make_process(10, 1, "p");
	CHECK_EQ(synth_all(&s.synth, flush, &f, &err), ERR_LIMIT);
	CHECK_STR(err.msg, "full");
	synthesis_fini(&s);
}

TEST(synth_without_a_proc_is_an_error)
{
	struct synthesis s;
	struct flushes f = {.synth = &s.synth};
	char message[300];
	struct err err;

	synthesis_init(&s);
	CHECK_EQ(synth_all(&s.synth, flush, &f, &err), ERR_NOENT);
	snprintf(message, sizeof(message), "opening '%s': No such file or directory", s.proc);
	CHECK_STR(err.msg, message);
	CHECK_EQ(f.n, 0);
	synthesis_fini(&s);
}

/* ---- kernel ---- */

#define KERNEL_MAP(addr, len)                                         \
	"MMAP 0x1 pid=-1 tid=0 addr=" addr " len=" len " pgoff=" addr \
	" path=[kernel.kallsyms]_text\n"

static void check_kernel(const char *kallsyms, const char *iomem, const char *record,
	const char *said)
{
	struct synthesis s;

	synthesis_init(&s);
	tree_dir(s.proc, ".");
	if (kallsyms)
		tree_file(s.proc, kallsyms, "kallsyms");
	if (iomem)
		tree_file(s.proc, iomem, "iomem");
	synth_kernel(&s.synth);
	check_records(&s.synth, record);
	CHECK_EQ(said_count(&s.said, "note: "), *said != 0);
	CHECK_HAS(str_text(&s.said.text), said);
	remove(test_path("proc/iomem"));
	remove(test_path("proc/kallsyms"));
	synthesis_fini(&s);
}

TEST(synth_tells_where_the_kernels_code_lies)
{
	/* Per-CPU offsets first, as kernels before 6.15 have them. */
	static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
				       "0000000000001000 A cpu_debug_store\n"
				       "ffffffff81000000 T startup_64\n"
				       "ffffffff81000000 T _stext\n"
				       "ffffffff81000000 T _text\n"
				       "ffffffff81000040 T secondary\n"
				       "ffffffff82000000 T _etext\n"
				       "ffffffff83000000 B _end\n";

	check_kernel(kallsyms, NULL, KERNEL_MAP("0xffffffff81000000", "0x1000000"), "");
}

TEST(synth_takes_the_lower_of_text_and_stext)
{
	check_kernel(
		"ffff800010080000 T _text\nffff800010081000 T _stext\nffff800011000000 T _etext\n",
		NULL, KERNEL_MAP("0xffff800010080000", "0xf80000"), "");
	check_kernel(
		"ffff800010081000 T _stext\nffff800010080000 t _text\nffff800011000000 R _etext\n",
		NULL, KERNEL_MAP("0xffff800010080000", "0xf80000"), "");
}

/* arm64 since Linux 5.11: readers look the named symbol up. */
TEST(synth_names_the_symbol_that_kallsyms_has)
{
	check_kernel("ffff800008010000 t gic_handle_irq\n"
		     "ffff800008010000 T _stext\n"
		     "ffff800008be0000 D _etext\n",
		NULL,
		"MMAP 0x1 pid=-1 tid=0 addr=0xffff800008010000 len=0xbd0000 pgoff=0xffff800008010000"
		" path=[kernel.kallsyms]_stext\n",
		"");
}

TEST(synth_says_when_kernel_addresses_are_hidden)
{
	check_kernel(
		"0000000000000000 T _stext\n0000000000000000 T _text\n0000000000000000 T _etext\n",
		NULL, "",
		"note: kernel addresses are hidden, kernel functions will have no names: "
		"kptr_restrict is ");
	check_kernel("0000000000000000 T _text\n", NULL, "", "note: kernel addresses are hidden");
}

TEST(synth_says_when_there_is_no_kallsyms)
{
	check_kernel(NULL, NULL, "",
		"/kallsyms cannot be read: kernel functions will have no names\n");
	check_kernel("", NULL, "", "/kallsyms cannot be read");
	check_kernel("nonsense\n\n12\nffffffff81000000 T _text", NULL, "",
		"/kallsyms cannot be read");
}

TEST(synth_without_an_end_tells_nothing)
{
	check_kernel("ffffffff81000000 T _text\n", NULL, "", "");
	check_kernel("ffffffff81000000 T _text\nffffffff80000000 T _etext\n", NULL, "", "");
}

TEST(synth_finds_a_symbol_wherever_it_lies_in_a_big_file)
{
	/* Around the edges of whatever buffer it is read through. */
	for (size_t before = 65536 - 40; before <= 65536 + 40; before += 4) {
		struct str text = {0};

		str_add(&text, "ffffffff81000000 T _text\n");
		while (text.n + 60 < before)
			str_add(&text, "ffffffff81000010 t some_function\n");
		str_add(&text, "ffffffff81000010 t ");
		str_fill(&text, 'x', before - text.n - 1);
		str_add(&text, "\nffffffff81200000 T _etext\nffffffff82000000 T last\n");
		check_kernel(str_text(&text), NULL, KERNEL_MAP("0xffffffff81000000", "0x200000"),
			"");
		str_fini(&text);
	}
}

TEST(synth_takes_the_kernels_size_from_iomem)
{
#ifdef __x86_64__
	static const char kallsyms[] = "ffffffff81000000 T _text\nffffffff82000000 T _etext\n";
	static const char map[] = KERNEL_MAP("0xffffffff81000000", "0x1000000");

	check_kernel(kallsyms,
		"00000000-00000fff : Reserved\n"
		"00100000-bfffffff : System RAM\n"
		"  01000000-01e031d0 : Kernel code\n"
		"  02000000-02ffffff : Kernel rodata\n",
		KERNEL_MAP("0xffffffff81000000", "0xe031d1"), "");
	/* Hidden, or not there. */
	check_kernel(kallsyms, "00000000-00000000 : Kernel code\n", map, "");
	check_kernel(kallsyms, "00000000-00000fff : Reserved\n", map, "");
	check_kernel(kallsyms, "", map, "");
#else
	SKIP("iomem is looked at on x86 only");
#endif
}

/* ---- modules ---- */

static const char dep[] =
	"kernel/net/netfilter/nf_tables.ko.xz: kernel/net/netfilter/nfnetlink.ko.xz\n"
	"kernel/net/netfilter/nf.ko:\n"
	"kernel/fs/dash-ed-name.ko.zst:\n"
	"/opt/extra/absolute.ko.gz: kernel/net/x.ko\n"
	"kernel/no_colon.ko\n"
	"kernel/short\n";

TEST(synth_finds_the_files_of_loaded_modules)
{
	static const char line[] = " 16384 2 other,another, Live 0xffffffffc0000000 (OE)\n";
	static const struct {
		const char *name, *path; /* relative: below the test's modules */
	} rows[] = {
		{"nf_tables", "kernel/net/netfilter/nf_tables.ko.xz"},
		{"nf", "kernel/net/netfilter/nf.ko"},
		{"dash_ed_name", "kernel/fs/dash-ed-name.ko.zst"},
		{"absolute", "/opt/extra/absolute.ko.gz"},
		{"no_colon", "[no_colon]"},
		{"nf_table", "[nf_table]"},
		{"not_listed", "[not_listed]"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool is_below = strchr("/[", rows[i].path[0]) == NULL;
		char text[256], expected[512];
		struct synthesis s;

		synthesis_init(&s);
		tree_file(s.modules, dep, "modules.dep");
		snprintf(text, sizeof(text), "%s%s", rows[i].name, line);
		tree_file(s.proc, text, "modules");
		synth_modules(&s.synth);
		snprintf(expected, sizeof(expected),
			"MMAP 0x1 pid=-1 tid=0 addr=0xffffffffc0000000 len=0x4000 "
			"pgoff=0x0 path=%s%s%s\n",
			is_below ? s.modules : "", is_below ? "/" : "", rows[i].path);
		check_records(&s.synth, expected);
		synthesis_fini(&s);
	}
}

TEST(synth_leaves_out_modules_without_an_address)
{
	struct synthesis s;

	synthesis_init(&s);
	tree_file(s.proc,
		"hidden 16384 0 - Live 0x0000000000000000\n"
		"cut 16384 0 - Live\n"
		"odd x 0 - Live 0xffffffffc0000000\n"
		"\n"
		"seen 4096 0 - Live 0xffffffffc0001000\n"
		"last 8192 0 - Live 0xffffffffc0002000",
		"modules");
	synth_modules(&s.synth);
	check_records(&s.synth,
		"MMAP 0x1 pid=-1 tid=0 addr=0xffffffffc0001000 len=0x1000 "
		"pgoff=0x0 path=[seen]\n"
		"MMAP 0x1 pid=-1 tid=0 addr=0xffffffffc0002000 len=0x2000 "
		"pgoff=0x0 path=[last]\n");
	synthesis_fini(&s);
}

TEST(synth_of_a_kernel_without_modules_is_empty)
{
	struct synthesis s;

	synthesis_init(&s);
	synth_modules(&s.synth);
	check_records(&s.synth, "");
	CHECK_STR(str_text(&s.said.text), "");
	synthesis_fini(&s);
}

/* ---- this machine ---- */

struct search {
	u64 code;
	char path[4096];
	u32 n_found, n_comms, n_vdso;
};

static void search_own(void *ctx, const struct record *rec, const union record_body *body)
{
	struct search *s = ctx;
	const struct record_mmap *m = &body->mmap;

	if (rec->type == PERF_RECORD_COMM)
		s->n_comms += body->comm.pid == (u32)getpid() && body->comm.tid == (u32)getpid();
	if (rec->type != PERF_RECORD_MMAP2 || m->pid != (u32)getpid())
		return;
	s->n_vdso += m->path.n == 6 && !memcmp(m->path.at, "[vdso]", 6);
	if (s->code < m->addr || s->code >= m->addr + m->len)
		return;
	CHECK(m->prot & PROT_EXEC);
	CHECK(m->path.n == strlen(s->path) && !memcmp(m->path.at, s->path, m->path.n));
	s->n_found++;
}

static int search_flush(void *ctx, struct err *err)
{
	struct search *search = ((void **)ctx)[1];
	struct synth *s = ((void **)ctx)[0];

	(void)err;
	each_record(&s->out, search_own, search);
	str_clear(&s->out);
	return 0;
}

TEST(synth_of_this_machine_has_this_program_where_it_runs)
{
	struct search search = {.code = (u64)(uintptr_t)search_own};
	struct synthesis s;
	void *ctx[] = {&s.synth, &search};
	struct err err;

	CHECK(readlink("/proc/self/exe", search.path, sizeof(search.path) - 1) > 0);
	synthesis_init(&s);
	s.synth.proc = "/proc";
	CHECK_EQ(synth_all(&s.synth, search_flush, ctx, &err), 0);
	CHECK_EQ(search.n_found, 1);
	CHECK_EQ(search.n_comms, 1);
	CHECK(search.n_vdso <= 1);
	CHECK(s.synth.n_processes >= 1);
	synthesis_fini(&s);
}
