#include "test.h"

#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "collect/privilege.h"
#include "collect/refusal.h"
#include "event/abi.h"

/* The texts at the bottom of the ladder are in test_open.c; here is what they depend on. */

static const struct event_attr software = {.type = PERF_TYPE_SOFTWARE},
			       hardware = {.type = PERF_TYPE_HARDWARE},
			       tracepoint = {.type = PERF_TYPE_TRACEPOINT};

TEST(refusal_keeps_the_errno_of_what_was_not_permitted)
{
	struct err err;

	CHECK_EQ(refusal_explain(&software, "e", -1, 0, EACCES, &err), ERR_PERM);
	CHECK_EQ(err.sys, EACCES);
	CHECK_HAS(err.msg, "opening 'e': access denied: ");
	CHECK_EQ(refusal_explain(&software, "e", -1, 0, EPERM, &err), ERR_PERM);
	CHECK_EQ(err.sys, EPERM);
	CHECK_HAS(err.msg, "opening 'e': not permitted: ");
}

TEST(refusal_names_the_wish_that_was_denied)
{
	struct event_attr user = software;
	struct err err;

	user.flags |= ATTR_EXCLUDE_KERNEL;
	refusal_explain(&user, "e", -1, 0, EACCES, &err);
	CHECK_HAS(err.msg, "all processes");
	refusal_explain(&tracepoint, "e", 0, -1, EACCES, &err);
	CHECK_HAS(err.msg, "tracepoints");
	refusal_explain(&software, "e", 0, -1, EACCES, &err);
	CHECK_HAS(err.msg, "the kernel");
	refusal_explain(&user, "e", 0, -1, EACCES, &err);
	CHECK_HAS(err.msg, "measuring at all");
}

TEST(refusal_blames_the_owner_only_where_the_level_allows_what_was_asked)
{
	struct event_attr user = software;
	struct privilege p;
	struct err err;

	if (geteuid() == 0 && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
		SKIP("cannot become somebody else: %s", strerror(errno));
	/* Else the leak checker could not look at us. */
	prctl(PR_SET_DUMPABLE, 1);
	privilege_read(&p);
	if (p.has_perfmon || p.paranoid != 2)
		SKIP("perf_event_paranoid is %lld", (long long)p.paranoid);
	user.flags |= ATTR_EXCLUDE_KERNEL;
	refusal_explain(&user, "e", 1, -1, EACCES, &err);
	CHECK_HAS(err.msg, "on process 1: it belongs to another user");
	refusal_explain(&user, "e", 0, -1, EACCES, &err);
	CHECK_HAS(err.msg, "yet the kernel refused: a seccomp filter");
	refusal_explain(&software, "e", 1, -1, EACCES, &err);
	CHECK_HAS(err.msg, "perf_event_paranoid is 2, measuring the kernel needs 1 or less");
}

TEST(refusal_tells_a_missing_cpu_from_a_missing_event)
{
	struct err err;

	CHECK_EQ(refusal_explain(&software, "e", -1, 7, ENODEV, &err), ERR_NOENT);
	CHECK_STR(err.msg, "opening 'e': CPU 7 is not online");
	CHECK_EQ(refusal_explain(&hardware, "e", -1, 7, ENODEV, &err), ERR_UNSUPPORTED);
	CHECK_HAS(err.msg, "no such hardware counter");
	CHECK_EQ(refusal_explain(&software, "e", 1, -1, ENODEV, &err), ERR_UNSUPPORTED);
	CHECK_STR(err.msg, "opening 'e': this kernel does not have it");
}

TEST(refusal_names_the_process_that_is_not_there)
{
	struct err err;

	CHECK_EQ(refusal_explain(&software, "e", 4711, -1, ESRCH, &err), ERR_NOENT);
	CHECK_STR(err.msg, "opening 'e': there is no process 4711");
}

TEST(refusal_of_an_unknown_kind_is_the_systems_own_text)
{
	struct err err;

	CHECK_EQ(refusal_explain(&software, "e", 0, -1, EFAULT, &err), ERR_SYS);
	CHECK_EQ(err.sys, EFAULT);
	CHECK_STR(err.msg, "opening 'e': Bad address");
}
