#include "test.h"

#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "collect/around/privilege.h"
#include "collect/open/refusal.h"
#include "event/abi.h"
#include "unit/tree.h"

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
	CHECK_HAS(err.msg,
		"opening 'e': process 1 belongs to another user; measuring other users' processes needs "
		"CAP_PERFMON, CAP_SYS_ADMIN or CAP_SYS_PTRACE: run 'sudo setcap ");
	refusal_explain(&user, "e", 0, -1, EACCES, &err);
	CHECK_HAS(err.msg,
		p.site.seccomp == SITE_SECCOMP_NONE
			? "yet the kernel refused: an LSM or lockdown forbids"
			: "yet the kernel refused: a seccomp filter");
	refusal_explain(&software, "e", 1, -1, EACCES, &err);
	CHECK_HAS(err.msg, "perf_event_paranoid is 2, measuring the kernel needs 1 or less");
}

TEST(refusal_tells_a_missing_cpu_from_a_missing_event)
{
	struct err err;

	/* Linux has EINVAL for numbers that no CPU can have, ENODEV for those that are switched off. */
	CHECK_EQ(refusal_explain(&software, "e", -1, 65535, ENODEV, &err), ERR_NOENT);
	CHECK_HAS(err.msg, "opening 'e': CPU 65535 is not online (online are ");
	CHECK_EQ(refusal_explain(&software, "e", 0, 65535, EINVAL, &err), ERR_NOENT);
	CHECK_HAS(err.msg, "opening 'e': CPU 65535 is not online (online are ");
	CHECK_EQ(refusal_explain(&hardware, "e", -1, 65535, ENODEV, &err), ERR_NOENT);
	CHECK_HAS(err.msg, "opening 'e': CPU 65535 is not online (online are ");
	CHECK_EQ(refusal_explain(&software, "e", -1, 0, ENODEV, &err), ERR_NOENT);
	CHECK_STR(err.msg, "opening 'e': CPU 0 is not online");
	CHECK_EQ(refusal_explain(&software, "e", 0, 0, EINVAL, &err), ERR_UNSUPPORTED);
	CHECK_EQ(refusal_explain(&hardware, "e", -1, 0, ENODEV, &err), ERR_UNSUPPORTED);
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

/* ---- a machine that is described here ---- */

static const struct refusal *find(const struct privilege *p, const struct event_attr *attr,
	pid_t pid, int sys)
{
	static struct refusal r;

	refusal_find(p, attr, pid, -1, sys, &r);
	return &r;
}

/* What remedy_add() makes of the refusal's. */
static const char *remedy_of(const struct privilege *p, const struct refusal *r)
{
	static char text[256];
	struct str s = {0};

	remedy_add(&r->remedy, &p->site, &s);
	snprintf(text, sizeof(text), "%s", str_text(&s));
	str_fini(&s);
	return text;
}

static struct privilege machine(void)
{
	struct privilege p = {.has_perf_events = true, .has_proc = true, .paranoid = 2};

	p.site.root = test_dir();
	p.site.seccomp = SITE_SECCOMP_NONE;
	return p;
}

TEST(refusal_of_a_counted_tracepoint_asks_for_a_lower_level_than_one_with_contents)
{
	struct event_attr contents = tracepoint;
	struct privilege p = machine();

	CHECK_HAS(find(&p, &tracepoint, 0, EACCES)->why, "counting tracepoints needs 1 or less");
	contents.sample_type |= PERF_SAMPLE_RAW;
	CHECK_HAS(find(&p, &contents, 0, EPERM)->why, "reading tracepoints needs -1 or less");
	CHECK_STR(remedy_of(&p, find(&p, &contents, 0, EPERM)),
		"sudo sysctl kernel.perf_event_paranoid=-1");
}

/* Level 1 does not lead to level 0, where they are refused again; what was typed is no advice. */
TEST(refusal_of_tracepoints_with_contents_names_the_one_level_that_allows_them)
{
	struct event_attr contents = tracepoint;
	struct privilege p = machine();

	contents.sample_type |= PERF_SAMPLE_RAW;
	for (p.paranoid = 0; p.paranoid < 4; p.paranoid++)
		for (pid_t pid = -1; pid < 1; pid++) {
			const struct refusal *r = find(&p, &contents, pid, EPERM);
			s64 counted = pid == -1 ? 0 : 1;

			CHECK_HAS(r->why, "reading tracepoints needs -1 or less");
			CHECK_STR(remedy_of(&p, r), "sudo sysctl kernel.perf_event_paranoid=-1");
			if (p.paranoid <= counted)
				CHECK_STR(r->instead, "'pace stat' can count them now");
			else
				CHECK(!r->instead);
		}
	p.paranoid = 1;
	CHECK_HAS(find(&p, &tracepoint, -1, EACCES)->why,
		"measuring all processes (-a, -C) needs 0");
	CHECK_HAS(find(&p, &software, -1, EACCES)->instead, "without -a and -C");
	p.paranoid = 2;
	CHECK(!find(&p, &tracepoint, 0, EACCES)->instead);
}

TEST(refusal_of_a_breakpoint_says_what_the_machine_can_watch)
{
	struct event_attr e = {.type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W};
	struct privilege p = machine();

	CHECK_HAS(find(&p, &e, 0, EINVAL)->why, "a breakpoint has 1, 2, 4 or 8 bytes");
	CHECK_HAS(find(&p, &e, 0, EOPNOTSUPP)->why, "a breakpoint has 1, 2, 4 or 8 bytes");
#if defined(__x86_64__)
	e.bp_type = HW_BREAKPOINT_R;
	CHECK_HAS(find(&p, &e, 0, EINVAL)->why, "not reads alone: write mem:ADDRESS:rw");
	e.bp_type = HW_BREAKPOINT_X | HW_BREAKPOINT_W;
	CHECK_HAS(find(&p, &e, 0, EINVAL)->why, "either execution (x) or accesses to data");
#endif
}

TEST(refusal_of_a_probe_asks_for_the_capability)
{
	struct event_attr probe = {.type = 8};
	struct privilege p = machine();

	tree_file(p.site.root, "8\n", "sys/bus/event_source/devices/uprobe/type");
	tree_file(p.site.root, "9\n", "sys/bus/event_source/devices/kprobe/type");
	CHECK_STR(find(&p, &probe, 0, EACCES)->why,
		"putting probes into programs needs CAP_SYS_ADMIN");
	CHECK_STR(remedy_of(&p, find(&p, &probe, 0, EACCES)), "sudo $(command -v pace) record ...");
	probe.type = 9;
	CHECK_HAS(find(&p, &probe, 0, EACCES)->why, "putting probes into the kernel needs");
	CHECK_STR(remedy_of(&p, find(&p, &probe, 0, EACCES)),
		"sudo setcap cap_perfmon=ep $(command -v pace)");
	probe.type = 10;
	CHECK_HAS(find(&p, &probe, 0, EACCES)->why, "measuring the kernel");
}

TEST(refusal_tells_a_machine_without_counters_from_one_without_this_counter)
{
	struct privilege p = machine();

	tree_file(p.site.root, "processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n",
		"proc/cpuinfo");
	tree_file(p.site.root, "VMware, Inc.\n", "sys/class/dmi/id/sys_vendor");
	CHECK_STR(find(&p, &hardware, 0, ENOENT)->why,
		"this machine has no such hardware counter (it is virtual: VMware, and has no PMU)");
	/* Whose it is has been read for the sentence; the remedy's words come from the site. */
	site_read_machine(&p.site);
	CHECK_HAS(remedy_of(&p, find(&p, &hardware, 0, ENOENT)),
		"Virtualize CPU performance counters");
	tree_file(p.site.root, "4\n", "sys/bus/event_source/devices/cpu/type");
	CHECK_STR(find(&p, &hardware, 0, ENOENT)->why,
		"this machine has no such hardware counter (its CPUs have others)");
}

TEST(refusal_names_the_limit_that_was_exceeded)
{
	struct event_attr often = software, deep = software;
	struct privilege p = machine();

	often.flags |= ATTR_FREQ;
	often.sample_period = 50000;
	deep.sample_max_stack = 500;
	tree_file(p.site.root, "7500\n", "proc/sys/kernel/perf_event_max_sample_rate");
	tree_file(p.site.root, "127\n", "proc/sys/kernel/perf_event_max_stack");
	CHECK_EQ(find(&p, &often, 0, EINVAL)->code, ERR_LIMIT);
	CHECK_STR(find(&p, &often, 0, EINVAL)->why,
		"50000 samples a second were requested, but perf_event_max_sample_rate is 7500");
	CHECK_STR(remedy_of(&p, find(&p, &often, 0, EINVAL)),
		"sudo sysctl kernel.perf_event_max_sample_rate=50000");
	CHECK_STR(find(&p, &deep, 0, EOVERFLOW)->why,
		"call chains of 500 were requested, but perf_event_max_stack is 127");
	CHECK_STR(remedy_of(&p, find(&p, &deep, 0, EOVERFLOW)),
		"sudo sysctl kernel.perf_event_max_stack=500");
	/* Within the limit it is something else. */
	often.sample_period = 7500;
	CHECK_HAS(find(&p, &often, 0, EINVAL)->why, "finds the combination invalid (EINVAL)");
}

TEST(refusal_of_an_invalid_event_names_what_is_known_of_its_kind)
{
	struct event_attr uncore = {.type = 14}, watch = {.type = PERF_TYPE_BREAKPOINT};
	struct privilege p = machine();

	tree_file(p.site.root, "14\n", "sys/bus/event_source/devices/uncore_imc/type");
	tree_file(p.site.root, "0\n", "sys/bus/event_source/devices/uncore_imc/cpumask");
	CHECK_STR(find(&p, &uncore, 0, EINVAL)->why,
		"PMU 'uncore_imc' counts whole CPUs, not single programs");
	CHECK_STR(remedy_of(&p, find(&p, &uncore, 0, EINVAL)), "measure whole CPUs (-a, -C)");
	CHECK_HAS(find(&p, &uncore, -1, EINVAL)->why, "choose a CPU");
	uncore.type = 15;
	uncore.sample_period = 1000;
	CHECK_HAS(find(&p, &uncore, 0, EINVAL)->why, "can only count");
	CHECK_HAS(find(&p, &watch, 0, EINVAL)->why, "a breakpoint has 1, 2, 4 or 8 bytes");
	CHECK_EQ(find(&p, &watch, 0, ENOSPC)->code, ERR_LIMIT);
	CHECK_HAS(find(&p, &watch, 0, ENOSPC)->why, "hardware breakpoints are taken");
	CHECK_HAS(find(&p, &hardware, 0, ENOSPC)->why, "no room");
}

TEST(refusal_of_a_call_that_is_not_there_tells_the_filter_from_the_kernel)
{
	struct event_attr stacks = software;
	struct privilege p = machine();

	CHECK_EQ(find(&p, &software, 0, ENOSYS)->code, ERR_PERM);
	CHECK_HAS(find(&p, &software, 0, ENOSYS)->why, "a seccomp filter (containers have one)");
	stacks.sample_type |= PERF_SAMPLE_STACK_USER;
	CHECK_HAS(find(&p, &stacks, 0, ENOSYS)->why, "CONFIG_HAVE_PERF_USER_STACK_DUMP");
	p.has_perf_events = false;
	CHECK_EQ(find(&p, &stacks, 0, ENOSYS)->code, ERR_UNSUPPORTED);
	CHECK_HAS(find(&p, &stacks, 0, ENOSYS)->why, "built without CONFIG_PERF_EVENTS");
}

TEST(refusal_of_anything_has_a_cause_and_a_code)
{
	static const int documented[] = {E2BIG, EACCES, EBADF, EBUSY, EFAULT, EINTR, EINVAL, EMFILE,
		ENODEV, ENOENT, ENOMEM, ENOSPC, ENOSYS, ENXIO, EOPNOTSUPP, EOVERFLOW, EPERM, ESRCH};
	const struct event_attr *attrs[] = {&software, &hardware, &tracepoint};
	struct privilege p = machine();

	for (size_t i = 0; i < ARRAY_SIZE(documented); i++)
		for (size_t k = 0; k < ARRAY_SIZE(attrs); k++)
			for (pid_t pid = -1; pid <= 1; pid++) {
				const struct refusal *r = find(&p, attrs[k], pid, documented[i]);

				CHECK(r->code < 0 && r->why[0]);
			}
}
