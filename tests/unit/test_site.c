#include "test.h"

#include <unistd.h>

#include "collect/around/site.h"
#include "unit/tree.h"

/* A machine in the test's directory, by the files that tell what it is. */
static struct site look(const char *root)
{
	struct site s;

	site_read(&s, root);
	site_read_machine(&s);
	return s;
}

static void namespace_of(const char *root, const char *name, unsigned long number)
{
	char path[512], target[64];

	tree_dir(root, "proc/self/ns");
	snprintf(path, sizeof(path), "%s/proc/self/ns/%s", root, name);
	snprintf(target, sizeof(target), "%s:[%lu]", name, number);
	unlink(path);
	CHECK(symlink(target, path) == 0);
}

TEST(site_knows_hypervisors_by_their_firmware_tables)
{
	static const struct {
		const char *vendor, *product, *name, *remedy;
	} rows[] = {
		{"QEMU", "Standard PC (Q35 + ICH9, 2009)", "QEMU (KVM or an emulated CPU)",
			"pmu=on"},
		{"VMware, Inc.", "VMware Virtual Platform", "VMware", "performance counters"},
		{"innotek GmbH", "VirtualBox", "VirtualBox", "offers none"},
		{"Microsoft Corporation", "Virtual Machine", "Hyper-V", "-Perfmon"},
		{"Xen", "HVM domU", "Xen", "vpmu=on"},
		{"Amazon EC2", "c5.large", "Amazon EC2", "*.metal"},
		{"Google", "Google Compute Engine", "Google Compute Engine",
			"--performance-monitoring-unit"},
		{"Parallels Software International Inc.", "Parallels Virtual Platform", "Parallels",
			"--pmu-virt on"},
		{"OpenStack Foundation", "OpenStack Nova", "KVM", "pmu=on"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct site s;

		tree_file(test_dir(), rows[i].vendor, "sys/class/dmi/id/sys_vendor");
		tree_file(test_dir(), rows[i].product, "sys/class/dmi/id/product_name");
		s = look(test_dir());
		CHECK(s.is_virtual && s.hypervisor);
		CHECK_STR(s.hypervisor->name, rows[i].name);
		CHECK_HAS(s.hypervisor->remedy, rows[i].remedy);
	}
}

TEST(site_takes_machines_of_the_same_makers_for_what_they_are)
{
	static const struct {
		const char *vendor, *product;
	} rows[] = {
		{"Amazon EC2", "m5.metal"},
		{"Microsoft Corporation", "Surface Laptop 4"},
		{"Google", "Eve"},
		{"LENOVO", "20XW"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct site s;

		tree_file(test_dir(), rows[i].vendor, "sys/class/dmi/id/sys_vendor");
		tree_file(test_dir(), rows[i].product, "sys/class/dmi/id/product_name");
		s = look(test_dir());
		CHECK(!s.is_virtual && !s.hypervisor);
		CHECK_HAS(s.model, rows[i].product);
	}
}

TEST(site_sees_a_guest_by_the_flag_of_its_cpus_alone)
{
	struct site s;

	tree_file(test_dir(), "flags\t\t: fpu hypervisors\nbugs: hypervisor\n", "proc/cpuinfo");
	CHECK(!look(test_dir()).is_virtual);
	tree_file(test_dir(), "processor\t: 0\nflags\t\t: fpu hypervisor sse2\nbugs\t: x\n",
		"proc/cpuinfo");
	s = look(test_dir());
	CHECK(s.is_virtual && !s.hypervisor);
	/* As the last word of the line too; not on a later line. */
	tree_file(test_dir(), "processor\t: 0\nflags\t\t: fpu hypervisor\n", "proc/cpuinfo");
	CHECK(look(test_dir()).is_virtual);
	tree_file(test_dir(), "processor\t: 0\nflags\t\t: fpu\nbugs\t: hypervisor\n",
		"proc/cpuinfo");
	CHECK(!look(test_dir()).is_virtual);
}

TEST(site_knows_wsl_by_its_kernel_and_qemus_arm_machine_by_its_device_tree)
{
	struct site s;

	tree_file(test_dir(), "linux,dummy-virt", "proc/device-tree/compatible");
	s = look(test_dir());
	CHECK(s.is_virtual);
	CHECK_STR(s.hypervisor->name, "QEMU (KVM or an emulated CPU)");
	tree_file(test_dir(), "linux,kvm", "proc/device-tree/hypervisor/compatible");
	CHECK_STR(look(test_dir()).hypervisor->name, "KVM");
	tree_file(test_dir(), "5.15.90.1-microsoft-standard-WSL2\n", "proc/sys/kernel/osrelease");
	s = look(test_dir());
	CHECK_STR(s.hypervisor->name, "WSL 2");
	CHECK_HAS(s.hypervisor->remedy, ".wslconfig");
}

TEST(site_knows_containers_by_their_files_only_inside_of_namespaces)
{
	const char *root = test_dir();

	CHECK(!look(root).container);
	/* A machine that booted from an image of Docker's has the file, and is no container. */
	tree_file(root, "", ".dockerenv");
	namespace_of(root, "pid", 0xEFFFFFFC);
	namespace_of(root, "uts", 0xEFFFFFFE);
	namespace_of(root, "cgroup", 0xEFFFFFFB);
	CHECK(!look(root).container);
	namespace_of(root, "pid", 4026532500);
	CHECK_STR(look(root).container->name, "Docker");
	CHECK_HAS(look(root).container->remedy, "--cap-add PERFMON");
	/* With --pid=host the others still differ. */
	namespace_of(root, "pid", 0xEFFFFFFC);
	namespace_of(root, "cgroup", 4026532501);
	CHECK_STR(look(root).container->name, "Docker");
}

TEST(site_knows_containers_by_their_cgroup_or_their_first_process)
{
	static const struct {
		const char *cgroup, *name;
	} rows[] = {
		{"0::/system.slice/docker-0123.scope\n", "Docker"},
		{"0::/kubepods.slice/kubepods-burstable.slice/x\n", "Kubernetes"},
		{"0::/user.slice/libpod-0123.scope\n", "Podman"},
		{"12:cpu:/lxc/box\n", "LXC"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tree_file(test_dir(), rows[i].cgroup, "proc/self/cgroup");
		CHECK_STR(look(test_dir()).container->name, rows[i].name);
	}
	tree_file(test_dir(), "0::/user.slice\n", "proc/self/cgroup");
	CHECK(!look(test_dir()).container);
	tree_file(test_dir(), "TERM=xterm container=systemd-nspawn", "proc/1/environ");
	CHECK_STR(look(test_dir()).container->name, "systemd-nspawn");
}

TEST(site_reads_the_rules_of_others)
{
	struct site s;

	tree_file(test_dir(), "Name:\tx\nUid:\t0\t0\t0\t0\nGid:\t7\t8\t8\t8\nSeccomp:\t2\n",
		"proc/self/status");
	tree_file(test_dir(), "none [integrity] confidentiality\n", "sys/kernel/security/lockdown");
	tree_file(test_dir(), "capability,selinux\n", "sys/kernel/security/lsm");
	tree_file(test_dir(), "37\n", "proc/sys/kernel/cap_last_cap");
	s = look(test_dir());
	CHECK_EQ(s.seccomp, SITE_SECCOMP_ACTIVE);
	CHECK(s.is_root && s.is_old);
	CHECK_EQ(s.group, 7);
	CHECK_STR(s.lockdown, "integrity");
	CHECK_STR(s.modules, "capability,selinux");
	tree_file(test_dir(), "Name:\tx\nUid:\t1000\t0\t0\t0\nSeccomp:\t0\n", "proc/self/status");
	tree_file(test_dir(), "40\n", "proc/sys/kernel/cap_last_cap");
	s = look(test_dir());
	CHECK_EQ(s.seccomp, SITE_SECCOMP_NONE);
	CHECK(!s.is_root && !s.is_old);
}

TEST(site_sees_another_user_namespace)
{
	CHECK(!look(test_dir()).in_user_namespace);
	namespace_of(test_dir(), "user", 0xEFFFFFFD);
	CHECK(!look(test_dir()).in_user_namespace);
	namespace_of(test_dir(), "user", 4026532499);
	CHECK(look(test_dir()).in_user_namespace);
}

TEST(site_offers_no_path_that_a_shell_would_take_apart)
{
	struct site s;
	char path[512];

	tree_dir(test_dir(), "proc/self");
	snprintf(path, sizeof(path), "%s/proc/self/exe", test_dir());
	CHECK(symlink("/opt/my tools/pace", path) == 0);
	s = look(test_dir());
	CHECK_STR(s.program, "");
	CHECK(unlink(path) == 0 && symlink("/opt/pace;reboot", path) == 0);
	s = look(test_dir());
	CHECK_STR(s.program, "");
	CHECK(unlink(path) == 0 && symlink("/opt/bin/pace", path) == 0);
	s = look(test_dir());
	CHECK_STR(s.program, "/opt/bin/pace");
}

TEST(site_finds_the_cores_pmu_by_name_or_by_its_list_of_cpus)
{
	struct site s = {.root = test_dir()};

	CHECK(!site_has_core_pmu(&s));
	tree_file(test_dir(), "1\n", "sys/bus/event_source/devices/software/type");
	tree_file(test_dir(), "0\n", "sys/bus/event_source/devices/uncore_imc/cpumask");
	CHECK(!site_has_core_pmu(&s));
	tree_file(test_dir(), "0-3\n", "sys/bus/event_source/devices/armv8_cortex_a57/cpus");
	CHECK(site_has_core_pmu(&s));
}
