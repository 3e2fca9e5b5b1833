#include "test.h"

#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "collect/counter/counter.h"
#include "collect/open/rules.h"
#include "event/abi.h"
#include "unit/nobody.h"
#include "unit/tree.h"

/*
 * What the rules say against what the running kernel does, for every kind of event and of target,
 * with all rights and with none. Levels above 2 are distributions', so only some kernels have them.
 */
static void compare_with_kernel(void)
{
	static const u64 flags[] = {0, ATTR_EXCLUDE_KERNEL};
	static const u32 types[] = {PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE};
	static const struct {
		pid_t pid;
		int cpu;
	} targets[] = {{0, -1}, {-1, 0}, {1, -1}};
	struct privilege p;

	privilege_read(&p);
	if (!p.has_perf_events || p.paranoid > 2 || p.site.seccomp == SITE_SECCOMP_ACTIVE)
		SKIP("this kernel's rules are not only its own");
	for (size_t f = 0; f < ARRAY_SIZE(flags); f++)
		for (size_t t = 0; t < ARRAY_SIZE(types); t++)
			for (size_t k = 0; k < ARRAY_SIZE(targets); k++) {
				struct event_attr attr = {.type = types[t],
					.size = ATTR_SIZE_VER5,
					.flags = flags[f] | ATTR_DISABLED | ATTR_EXCLUDE_HV};
				int fd, rule;

				/* Somebody else's is what the rule is about. */
				if (targets[k].pid == 1 && !geteuid())
					continue;
				rule = rules_answer(&p, &attr, targets[k].pid);
				fd = perf_event_open(&attr, targets[k].pid, targets[k].cpu, -1, 0);
				if ((fd >= 0) != (rule == 0))
					test_failed(__FILE__, __LINE__,
						"type %u flags %llx pid %d: the kernel says %s, the rules %s",
						attr.type, (unsigned long long)attr.flags,
						targets[k].pid, fd < 0 ? strerror(errno) : "yes",
						strerror(rule));
				if (fd >= 0)
					close(fd);
			}
}

TEST(rules_agree_with_this_kernel_about_whoever_runs_this)
{
	compare_with_kernel();
}

TEST(rules_agree_with_this_kernel_about_a_user_without_rights)
{
	if (geteuid() == 0 &&
		(setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		SKIP("cannot become user %d", NOBODY);
	/* Else the leak checker could not look at us. */
	prctl(PR_SET_DUMPABLE, 1);
	compare_with_kernel();
}

/* ---- what cannot be had on every machine ---- */

static struct privilege machine(s64 level)
{
	struct privilege p = {.has_perf_events = true, .has_proc = true, .paranoid = level};

	p.site.root = test_dir();
	return p;
}

TEST(rules_of_levels_above_2_are_debians)
{
	struct event_attr attr = {.type = PERF_TYPE_SOFTWARE, .flags = ATTR_EXCLUDE_KERNEL};
	struct privilege p = machine(3);

	CHECK_EQ(rules_answer(&p, &attr, 0), EACCES);
	p.paranoid = 2;
	CHECK_EQ(rules_answer(&p, &attr, 0), 0);
	p.paranoid = 4;
	p.has_perfmon = true;
	CHECK_EQ(rules_answer(&p, &attr, -1), 0);
}

TEST(rules_of_a_containers_filter_ask_for_the_capability)
{
	static const struct site_runtime docker = {"Docker", NULL};
	struct event_attr attr = {.type = PERF_TYPE_SOFTWARE, .flags = ATTR_EXCLUDE_KERNEL};
	struct privilege p = machine(-1);

	p.site.container = &docker;
	CHECK_EQ(rules_answer(&p, &attr, 0), 0);
	p.site.seccomp = SITE_SECCOMP_ACTIVE;
	CHECK_EQ(rules_answer(&p, &attr, 0), EPERM);
	p.has_perfmon = true;
	CHECK_EQ(rules_answer(&p, &attr, 0), 0);
	/* A filter of no container, a service manager's say, lets it through as a rule. */
	p.has_perfmon = false;
	p.site.container = NULL;
	CHECK_EQ(rules_answer(&p, &attr, 0), 0);
}

TEST(rules_of_hardware_follow_what_its_driver_says)
{
	struct event_attr attr = {.type = PERF_TYPE_HARDWARE, .flags = ATTR_EXCLUDE_KERNEL};
	struct privilege p = machine(2);

	CHECK_EQ(rules_answer(&p, &attr, 0), ENOENT);
	tree_file(p.site.root, "4\n", "sys/bus/event_source/devices/cpu/type");
	CHECK_EQ(rules_answer(&p, &attr, 0), 0);
	attr_set_precise(&attr, 1);
	CHECK_EQ(rules_answer(&p, &attr, 0), EOPNOTSUPP);
	tree_file(p.site.root, "2\n", "sys/bus/event_source/devices/cpu/caps/max_precise");
	CHECK_EQ(rules_answer(&p, &attr, 0), 0);
	attr_set_precise(&attr, 3);
	CHECK_EQ(rules_answer(&p, &attr, 0), EOPNOTSUPP);
	attr_set_precise(&attr, 0);
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	CHECK_EQ(rules_answer(&p, &attr, 0), EOPNOTSUPP);
	tree_file(p.site.root, "32\n", "sys/bus/event_source/devices/cpu/caps/branches");
	CHECK_EQ(rules_answer(&p, &attr, 0), 0);
}

TEST(rules_of_tracepoints_and_probes_ask_for_more)
{
	struct event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	struct privilege p = machine(1);

	CHECK_EQ(rules_answer(&p, &attr, 0), 0);
	attr.sample_type |= PERF_SAMPLE_RAW;
	CHECK_EQ(rules_answer(&p, &attr, 0), EPERM);
	p.paranoid = -1;
	CHECK_EQ(rules_answer(&p, &attr, 0), 0);
	tree_file(p.site.root, "8\n", "sys/bus/event_source/devices/uprobe/type");
	attr = (struct event_attr){.type = 8};
	CHECK_EQ(rules_answer(&p, &attr, 0), EACCES);
	p.has_perfmon = true;
	CHECK_EQ(rules_answer(&p, &attr, 0), EACCES);
	p.has_admin = true;
	CHECK_EQ(rules_answer(&p, &attr, 0), 0);
}
