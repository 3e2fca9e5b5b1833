#include "collect/around/site.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/sysfile.h"

#define PMUS "/sys/bus/event_source/devices"

enum { STATUS_LIMIT = 1 << 16, CPUINFO_LIMIT = 64 << 20 };

const char *site_path(const struct site *s, char *buf, size_t size, const char *fmt, ...)
{
	int n = snprintf(buf, size, "%s", s->root ? s->root : "");
	va_list ap;

	if (n < 0 || (size_t)n >= size)
		return buf;
	va_start(ap, fmt);
	vsnprintf(buf + n, size - n, fmt, ap);
	va_end(ap);
	return buf;
}

static bool line_of(const struct site *s, const char *path, char *buf, size_t size)
{
	char full[512];

	buf[0] = '\0';
	return sysfile_line(site_path(s, full, sizeof(full), "%s", path), buf, size);
}

static bool exists(const struct site *s, const char *path)
{
	char full[512];

	return access(site_path(s, full, sizeof(full), "%s", path), F_OK) == 0;
}

/* ---- virtual machines ---- */

enum {
	KVM,
	VMWARE,
	HYPERV,
	WSL,
	VIRTUALBOX,
	XEN,
	PARALLELS,
	EC2,
	GCE,
	QEMU,
	QEMU_TCG,
	BHYVE,
	ACRN,
	APPLE,
	POWERVM,
	ZVM,
	FIRECRACKER
};

/* clang-format off: one row for each */
static const struct site_hypervisor hypervisors[] = {
	[KVM] = {"KVM",
		"on its host: 'qemu -cpu host,pmu=on', or in libvirt's <features>: <pmu state='on'/>"},
	[VMWARE] = {"VMware",
		"in the VM's CPU settings: \"Virtualize CPU performance counters\" (vpmc.enable = TRUE)"},
	[HYPERV] = {"Hyper-V",
		"on its host, with the VM off: Set-VMProcessor NAME -Perfmon @(\"pmu\",\"lbr\",\"pebs\")"},
	[WSL] = {"WSL 2",
		"in %UserProfile%\\.wslconfig, below [wsl2]: hardwarePerformanceCounters=true, then 'wsl --shutdown'"},
	[VIRTUALBOX] = {"VirtualBox",
		"VirtualBox offers none, and sampling by NMI has reset its guests: measure by the clock",
		true},
	[XEN] = {"Xen", "on Xen's boot command line: vpmu=on"},
	[PARALLELS] = {"Parallels", "on its host, with the VM off: prlctl set NAME --pmu-virt on"},
	[EC2] = {"Amazon EC2", "an instance size that fills a socket, or a *.metal one"},
	[GCE] = {"Google Compute Engine",
		"a machine of series C4, made with --performance-monitoring-unit=standard"},
	/* Only QEMU's board is visible, which KVM and the emulator share. */
	[QEMU] = {"QEMU (KVM or an emulated CPU)",
		"on its host: 'qemu -cpu host,pmu=on', or in libvirt's <features>: <pmu state='on'/>"},
	[QEMU_TCG] = {"QEMU (emulated CPU)", NULL},
	[BHYVE] = {"bhyve", NULL},
	[ACRN] = {"ACRN", NULL},
	[APPLE] = {"Apple Virtualization", NULL},
	[POWERVM] = {"PowerVM",
		"in the partition's profile: \"Enable performance information collection\""},
	[ZVM] = {"z/VM or LPAR",
		"in the LPAR's security settings: the CPU-measurement counter facility"},
	[FIRECRACKER] = {"KVM, in a microVM (Firecracker or alike)",
		"a VM monitor that passes the PMU on ('qemu -cpu host,pmu=on')"},
};

/* What firmware tables say. The first row whose texts all match wins. */
static const struct {
	const char *vendor, *product; /* beginnings; NULL: any */
	int hypervisor;               /* -1: not a virtual machine */
} models[] = {
	{"VMware", NULL, VMWARE},
	{"innotek", NULL, VIRTUALBOX},
	{NULL, "VirtualBox", VIRTUALBOX},
	{"Microsoft Corporation", "Virtual Machine", HYPERV},
	{"Xen", NULL, XEN},
	{"Parallels", NULL, PARALLELS},
	{"Amazon EC2", NULL, EC2},
	{"Google", "Google Compute Engine", GCE},
	{"Apple Inc.", "Apple Virtualization", APPLE},
	{"BHYVE", NULL, BHYVE},
	{"QEMU", NULL, QEMU},
	{"Red Hat", NULL, KVM},
	{NULL, "KVM", KVM},
	{NULL, "OpenStack", KVM},
	{"DigitalOcean", NULL, KVM},
	{"Hetzner", NULL, KVM},
	{"Alibaba Cloud", NULL, KVM},
};
/* clang-format on */

static bool begins(const char *text, const char *with)
{
	return !with || !strncmp(text, with, strlen(with));
}

static bool by_firmware(struct site *s)
{
	char vendor[64], product[64];

	line_of(s, "/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
	line_of(s, "/sys/class/dmi/id/product_name", product, sizeof(product));
	snprintf(s->model, sizeof(s->model), "%.31s%s%.31s", vendor,
		vendor[0] && product[0] ? " " : "", product);
	/* Amazon's bare-metal machines carry the same vendor. */
	if (begins(vendor, "Amazon EC2") && strstr(product, ".metal"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(models); i++) {
		if (!begins(vendor, models[i].vendor) || !begins(product, models[i].product))
			continue;
		s->is_virtual = true;
		s->hypervisor = &hypervisors[models[i].hypervisor];
		return true;
	}
	return false;
}

#if defined(__x86_64__) || defined(__i386__)
/* clang-format off: one row for each */
/* The names that hypervisors give in cpuid leaf 0x40000000. */
static const struct {
	const char *signature;
	int hypervisor;
} signatures[] = {
	{"KVMKVMKVM", KVM},
	{"VMwareVMware", VMWARE},
	{"Microsoft Hv", HYPERV},
	{"VBoxVBoxVBox", VIRTUALBOX},
	{"XenVMMXenVMM", XEN},
	{" prl hyperv ", PARALLELS},
	{"prl hyperv  ", PARALLELS},
	{"TCGTCGTCGTCG", QEMU_TCG},
	{"bhyve bhyve ", BHYVE},
	{"ACRNACRNACRN", ACRN},
};
/* clang-format on */

static void by_signature(struct site *s)
{
	enum { IS_GUEST = 1u << 31 };
	unsigned eax, ebx, ecx, edx;
	char signature[13] = "";

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & IS_GUEST))
		return;
	s->is_virtual = true;
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	memcpy(signature, &ebx, 4);
	memcpy(signature + 4, &ecx, 4);
	memcpy(signature + 8, &edx, 4);
	for (size_t i = 0; i < ARRAY_SIZE(signatures); i++)
		if (!strcmp(signature, signatures[i].signature))
			s->hypervisor = &hypervisors[signatures[i].hypervisor];
}
#else
static void by_signature(struct site *s)
{
	(void)s;
}
#endif

/* For guests whose firmware has no DMI: the device tree of qemu's arm and riscv machines. */
static void by_device_tree(struct site *s)
{
	char line[128];

	if (line_of(s, "/proc/device-tree/hypervisor/compatible", line, sizeof(line))) {
		s->is_virtual = true;
		if (strstr(line, "kvm"))
			s->hypervisor = &hypervisors[KVM];
		else if (strstr(line, "xen"))
			s->hypervisor = &hypervisors[XEN];
	}
	if (line_of(s, "/proc/device-tree/compatible", line, sizeof(line))) {
		if (begins(line, "linux,dummy-virt")) {
			s->is_virtual = true;
			if (!s->hypervisor)
				s->hypervisor = &hypervisors[QEMU];
		}
		if (!s->model[0])
			snprintf(s->model, sizeof(s->model), "%.60s", line);
	}
}

/* Looks for words in cpuinfo that only guests have. */
static void by_cpuinfo(struct site *s)
{
	struct str text = {0};
	char full[512];
	struct err err;
	const char *flags;

	if (!sysfile_read(site_path(s, full, sizeof(full), "/proc/cpuinfo"), CPUINFO_LIMIT, &text,
		    &err)) {
		flags = strstr(str_text(&text), "\nflags");
		if (flags) {
			const char *word = strstr(flags, " hypervisor");
			size_t line = strcspn(flags + 1, "\n");

			s->is_virtual |=
				word && (size_t)(word - flags) <= line && strchr(" \n", word[11]);
		}
		if (strstr(str_text(&text), "pSeries") && exists(s, "/proc/ppc64/lparcfg")) {
			s->is_virtual = true;
			s->hypervisor = &hypervisors[POWERVM];
		}
		if (begins(str_text(&text), "vendor_id") && strstr(str_text(&text), "IBM/S390")) {
			s->is_virtual = true;
			s->hypervisor = &hypervisors[ZVM];
		}
	}
	str_fini(&text);
}

void site_read_machine(struct site *s)
{
	char line[256], type[32];

	by_cpuinfo(s);
	if (line_of(s, "/sys/hypervisor/type", type, sizeof(type)) && begins(type, "xen")) {
		s->is_virtual = true;
		s->hypervisor = &hypervisors[XEN];
	}
	if (line_of(s, "/proc/sys/kernel/osrelease", line, sizeof(line)) &&
		strcasestr(line, "microsoft")) {
		s->is_virtual = true;
		s->hypervisor = &hypervisors[WSL];
		return;
	}
	if (by_firmware(s)) {
		/* On x86, the processor tells KVM from an emulator. */
		if (s->hypervisor == &hypervisors[QEMU] && !s->root)
			by_signature(s);
		return;
	}
	by_device_tree(s);
	if (!s->hypervisor && !s->root)
		by_signature(s);
	if (s->hypervisor == &hypervisors[KVM] && !s->model[0])
		s->hypervisor = &hypervisors[FIRECRACKER];
}

bool site_has_core_pmu(const struct site *s)
{
	struct dirent *entry;
	char path[512];
	bool is_found = false;
	DIR *dir = opendir(site_path(s, path, sizeof(path), PMUS));

	while (!is_found && dir && (entry = readdir(dir)) != NULL) {
		site_path(s, path, sizeof(path), PMUS "/%s/cpus", entry->d_name);
		is_found = !strcmp(entry->d_name, "cpu") || access(path, F_OK) == 0;
	}
	if (dir)
		closedir(dir);
	return is_found;
}

/* ---- containers ---- */

/* clang-format off: one row for each */
static const struct {
	struct site_runtime runtime;
	const char *file;   /* that it creates in its containers, or NULL */
	const char *cgroup; /* part of its containers' cgroup paths, or NULL */
	const char *word;   /* value of `container` in the environment of process 1, or NULL */
} runtimes[] = {
	{{"Kubernetes", "in the pod's securityContext: capabilities: {add: [PERFMON]}"},
		"/var/run/secrets/kubernetes.io", "kubepods", NULL},
	{{"Podman", "podman run --cap-add PERFMON ..."}, "/run/.containerenv", "libpod", "podman"},
	{{"Docker", "docker run --cap-add PERFMON ..."}, "/.dockerenv", "docker", "docker"},
	{{"LXC", NULL}, NULL, "/lxc", "lxc"},
	{{"systemd-nspawn",
		 "systemd-nspawn --capability=CAP_PERFMON "
		 "--system-call-filter=perf_event_open ..."},
		NULL, NULL, "systemd-nspawn"},
	{{"containerd", "ctr run --cap-add CAP_PERFMON ..."}, NULL, "containerd", NULL},
	{{"Flatpak", NULL}, "/.flatpak-info", NULL, "flatpak"},
};
/* clang-format on */

/* Whether a namespace is the machine's first one: those have fixed numbers. */
static bool is_first(const struct site *s, const char *name, unsigned long long number)
{
	char path[512], link[64];
	ssize_t n = readlink(site_path(s, path, sizeof(path), "/proc/self/ns/%s", name), link,
		sizeof(link) - 1);
	const char *bracket;

	/* The kernel or the copy does not say, so nothing suggests another one. */
	if (n <= 0)
		return true;
	link[n] = '\0';
	bracket = strchr(link, '[');
	return !bracket || strtoull(bracket + 1, NULL, 10) == number;
}

static bool is_apart(const struct site *s)
{
	return !is_first(s, "pid", 0xEFFFFFFC) || !is_first(s, "cgroup", 0xEFFFFFFB) ||
		!is_first(s, "uts", 0xEFFFFFFE);
}

static bool named_in(const char *text, size_t n, const char *word)
{
	return word && memmem(text, n, word, strlen(word));
}

/* Looks for `container=podman` in the environment of process 1, which often cannot be read. */
static bool named_by_first_process(const struct str *environment, const char *word)
{
	char entry[64];
	int n = snprintf(entry, sizeof(entry), "container=%s", word ? word : "?");

	return word && named_in(str_text(environment), environment->n, entry) && n > 0;
}

static void read_container(struct site *s)
{
	struct str cgroup = {0}, environment = {0};
	char full[512];
	struct err err;

	(void)sysfile_read(site_path(s, full, sizeof(full), "/proc/self/cgroup"), STATUS_LIMIT,
		&cgroup, &err);
	(void)sysfile_read(site_path(s, full, sizeof(full), "/proc/1/environ"), STATUS_LIMIT,
		&environment, &err);
	for (size_t i = 0; i < ARRAY_SIZE(runtimes) && !s->container; i++) {
		/*
		 * The file alone proves nothing: the machine may have booted from a container's
		 * image.
		 */
		bool is_here = runtimes[i].file && exists(s, runtimes[i].file) && is_apart(s);

		if (is_here || named_in(str_text(&cgroup), cgroup.n, runtimes[i].cgroup) ||
			named_by_first_process(&environment, runtimes[i].word))
			s->container = &runtimes[i].runtime;
	}
	str_fini(&cgroup);
	str_fini(&environment);
}

/* ---- rules ---- */

static void read_status(struct site *s)
{
	struct str status = {0};
	char full[512];
	const char *line;
	struct err err;

	if (!sysfile_read(site_path(s, full, sizeof(full), "/proc/self/status"), STATUS_LIMIT,
		    &status, &err)) {
		line = strstr(str_text(&status), "\nSeccomp:");
		if (line)
			s->seccomp = atoi(line + 9) ? SITE_SECCOMP_ACTIVE : SITE_SECCOMP_NONE;
		line = strstr(str_text(&status), "\nUid:");
		s->is_root = line && !atoi(line + 5);
		line = strstr(str_text(&status), "\nGid:");
		s->group = line ? strtoul(line + 5, NULL, 10) : 0;
	}
	str_fini(&status);
}

/* "none [integrity] confidentiality": the active mode is in brackets. */
static void read_lockdown(struct site *s)
{
	char line[128], *open;

	if (!line_of(s, "/sys/kernel/security/lockdown", line, sizeof(line)) ||
		!(open = strchr(line, '[')))
		return;
	open++;
	open[strcspn(open, "]")] = '\0';
	snprintf(s->lockdown, sizeof(s->lockdown), "%.31s", open);
}

static void read_program(struct site *s)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-";
	char full[512];
	ssize_t n = readlink(site_path(s, full, sizeof(full), "/proc/self/exe"), s->program,
		sizeof(s->program) - 1);

	s->program[MAX(n, 0)] = '\0';
	/* A name that was cut off, or that a shell would split, cannot go into a command. */
	if (n >= (ssize_t)sizeof(s->program) - 1 || s->program[strspn(s->program, plain)])
		s->program[0] = '\0';
}

void site_read(struct site *s, const char *root)
{
	char last[32];

	memset(s, 0, sizeof(*s));
	s->root = root;
	read_container(s);
	read_status(s);
	read_lockdown(s);
	line_of(s, "/sys/kernel/security/lsm", s->modules, sizeof(s->modules));
	read_program(s);
	s->in_user_namespace = !is_first(s, "user", 0xEFFFFFFD);
	/* CAP_PERFMON is 38. */
	s->is_old =
		line_of(s, "/proc/sys/kernel/cap_last_cap", last, sizeof(last)) && atoi(last) < 38;
}
