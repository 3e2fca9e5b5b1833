#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "symbol/frameptr.h"

/* What a compiler makes of many functions with these flags. */
static enum frameptr of_program(const char *flags)
{
	char path[] = "/tmp/pace-frameptr-XXXXXX", command[512];
	int fd = mkstemp(path);
	enum frameptr found;

	CHECK(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command),
		"{ for i in 1 2 3 4 5 6 7 8 9; do echo \"int g$i(int *p, int n) { int s = 0; "
		"for (int i = 0; i < n; i++) { s += p[i] * i; if (s & 1) s ^= p[n - i]; else s -= n / (i + 3); } "
		"return s; } int f$i(int n) { int a[99]; for (int i = 0; i < n; i++) a[i] = g$i(a, i) + n %% 7; "
		"return g$i(a, n) + g$i(a + 1, n - 1); }\"; done; "
		"echo 'int main(int n, char **v) { (void)v; return f1(n) + f9(n); }'; } | "
		"cc -x c %s -fno-inline -o %s - 2>/dev/null",
		flags, path);
	if (system(command)) {
		unlink(path);
		SKIP("there is no compiler");
	}
	found = frameptr_of_file(path);
	unlink(path);
	return found;
}

TEST(frameptr_knows_programs_that_keep_it_from_those_that_do_not)
{
	CHECK_EQ(of_program("-O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer"),
		FRAMEPTR_KEPT);
	CHECK_EQ(of_program("-O0"), FRAMEPTR_KEPT);
#if defined(__x86_64__)
	CHECK_EQ(of_program("-O2 -fomit-frame-pointer"), FRAMEPTR_OMITTED);
#endif
}

TEST(frameptr_of_what_is_no_program_is_unknown)
{
	CHECK_EQ(frameptr_of_file("/nowhere"), FRAMEPTR_UNKNOWN);
	CHECK_EQ(frameptr_of_file("/etc/passwd"), FRAMEPTR_UNKNOWN);
	CHECK_EQ(of_program("-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -nostartfiles"),
		FRAMEPTR_UNKNOWN);
}
