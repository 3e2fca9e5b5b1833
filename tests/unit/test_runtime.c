#include "symbol/jit/runtime.h"

#include "test.h"
#include "unit/recording.h"

static void mapped(struct machine *m, u32 pid, u64 addr, const char *path)
{
	union record_body body = {.mmap = {.pid = pid,
					  .tid = pid,
					  .addr = addr,
					  .len = 0x1000,
					  .path = {(const u8 *)path, strlen(path)}}};
	struct record rec = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER, .size = 8};

	machine_apply(m, &rec, &body, addr);
}

TEST(runtime_is_told_by_the_files_of_a_process)
{
	struct machine m;

	machine_init(&m);
	mapped(&m, 1, 0x1000, "/usr/lib/jvm/java/bin/java");
	mapped(&m, 1, 0x2000, "/usr/lib/jvm/java/lib/server/libjvm.so");
	mapped(&m, 2, 0x1000, "/usr/bin/node");
	mapped(&m, 3, 0x1000, "/usr/bin/python3.12");
	mapped(&m, 4, 0x1000, "/usr/bin/other");
	mapped(&m, 4, 0x2000, "//anon");
	/* Of two of them the one whose code it more likely is. */
	mapped(&m, 5, 0x1000, "/usr/bin/python3.12");
	mapped(&m, 5, 0x2000, "/opt/libjvm.so");
	CHECK_HAS(runtime_of(&m, 1)->names, "DumpPerfMapAtExit");
	CHECK_HAS(runtime_of(&m, 1)->callers, "PreserveFramePointer");
	CHECK_HAS(runtime_of(&m, 2)->names, "--perf-basic-prof");
	CHECK_HAS(runtime_of(&m, 3)->names, "-X perf");
	CHECK(!runtime_of(&m, 4));
	CHECK_HAS(runtime_of(&m, 5)->names, "java");
	CHECK(!runtime_of(&m, 6));
	machine_fini(&m);
}
