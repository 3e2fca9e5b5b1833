#include "collect/around/remedy.h"

#include "event/tracefs.h"

#define PARANOID "kernel.perf_event_paranoid=%lld"
#define KPTR     "kernel.kptr_restrict=0"
#define TRACEFS  "/sys/kernel/tracing"
#define OPENED   TRACEFS_OPEN " " TRACEFS
#define INTO     " | sudo tee -a "

/* Sets a sysctl now, and for every boot. */
#define SYSCTL(setting)                                                            \
	"sudo sysctl " setting, "echo " setting INTO "/etc/sysctl.d/50-pace.conf", \
		IS_COMMAND | IS_MACHINES
#define FSTAB(line) "echo '" line "'" INTO "/etc/fstab"

enum {
	IS_COMMAND = 1 << 0,
	IS_MACHINES = 1 << 1, /* concerns the whole machine, not one container */
	IS_GROUPS = 1 << 2,   /* the text contains %u, the user's group, before the value */
};

/* One row for each kind. %lld in a text is the remedy's value. */
static const struct {
	const char *text;
	const char *lasting; /* NULL: the remedy lasts anyway */
	unsigned flags;
} remedies[] = {
	[REMEDY_LEVEL] = {SYSCTL(PARANOID)},
	[REMEDY_KPTR] = {SYSCTL(KPTR)},
	[REMEDY_KPTR_AND_LEVEL] = {"sudo sysctl " KPTR " " PARANOID,
		"printf '" KPTR "\\n" PARANOID "\\n'" INTO "/etc/sysctl.d/50-pace.conf",
		IS_COMMAND | IS_MACHINES},
	[REMEDY_CAPABILITIES] = {NULL, "repeat it after each update, which replaces the file",
		IS_COMMAND},
	[REMEDY_ROOT] = {NULL, NULL, IS_COMMAND},
	[REMEDY_CONTAINER] = {"allow that system call there",
		"if Docker or Podman is too old for this: --security-opt seccomp=FILE, a profile "
		"that allows perf_event_open",
		0},
	[REMEDY_COUNTERS] = {"measure by the clock, or on a machine that is not virtual", NULL, 0},
	[REMEDY_CLOCK] = {"'cpu-clock', 'task-clock' and 'page-faults' work everywhere", NULL, 0},
	[REMEDY_KERNEL] = {"boot a kernel that has it", NULL, 0},
	[REMEDY_MOUNT_PROC] = {"sudo mount -t proc proc /proc",
		FSTAB("proc /proc proc defaults 0 0"), IS_COMMAND},
	[REMEDY_MOUNT_TRACEFS] = {TRACEFS_MOUNT, FSTAB("nodev " TRACEFS " tracefs defaults 0 0"),
		IS_COMMAND | IS_MACHINES},
	[REMEDY_OPEN_TRACEFS] = {OPENED, FSTAB("nodev " TRACEFS " tracefs mode=755,gid=%u 0 0"),
		IS_COMMAND | IS_MACHINES | IS_GROUPS},
	[REMEDY_OPEN_TRACEPOINTS] = {OPENED " && sudo sysctl " PARANOID,
		FSTAB("nodev " TRACEFS " tracefs mode=755,gid=%u 0 0") " && echo " PARANOID INTO
								       "/etc/sysctl.d/50-pace.conf",
		IS_COMMAND | IS_MACHINES | IS_GROUPS},
	[REMEDY_WATCHDOG] = {SYSCTL("kernel.nmi_watchdog=0")},
	[REMEDY_FILES] = {"sudo prlimit --pid $$ --nofile=%lld",
		"echo '* hard nofile %lld'" INTO "/etc/security/limits.d/50-pace.conf", IS_COMMAND},
	[REMEDY_LOCKED_MEMORY] = {SYSCTL("kernel.perf_event_mlock_kb=%lld")},
	[REMEDY_STACK] = {SYSCTL("kernel.perf_event_max_stack=%lld")},
	[REMEDY_RATE] = {SYSCTL("kernel.perf_event_max_sample_rate=%lld")},
#if defined(__aarch64__)
	[REMEDY_USER_READS] = {SYSCTL("kernel.perf_user_access=1")},
#else
	[REMEDY_USER_READS] = {"echo 1 | sudo tee /sys/bus/event_source/devices/cpu/rdpmc",
		"it does not survive a reboot; 1 is the kernel's default",
		IS_COMMAND | IS_MACHINES},
#endif
	[REMEDY_WHOLE_CPUS] = {"measure whole CPUs (-a, -C)", NULL, 0},
};

static const struct {
	unsigned bit;
	const char *name;
} capabilities[] = {
	{REMEDY_PERFMON, "cap_perfmon"},
	{REMEDY_SYSLOG, "cap_syslog"},
	{REMEDY_SYS_PTRACE, "cap_sys_ptrace"},
	{REMEDY_IPC_LOCK, "cap_ipc_lock"},
};

static void add_capabilities(const struct remedy *r, const struct site *site, struct str *out)
{
	const char *comma = "";

	str_add(out, "sudo setcap ");
	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++) {
		if (!(r->capabilities & capabilities[i].bit))
			continue;
		str_addf(out, "%s%s", comma,
			site->is_old && capabilities[i].bit == REMEDY_PERFMON
				? "cap_sys_admin"
				: capabilities[i].name);
		comma = ",";
	}
	str_addf(out, "=ep %s", site->program[0] ? site->program : "$(command -v pace)");
}

static void add_text(const char *text, const struct remedy *r, const struct site *site,
	struct str *out)
{
	if (remedies[r->kind].flags & IS_GROUPS)
		str_addf(out, text, site->group, (long long)r->value);
	else
		str_addf(out, text, (long long)r->value, (long long)r->value);
}

/* A text that fits this site better than the table's, or NULL. */
static const char *sites_text(const struct remedy *r, const struct site *site)
{
	if (r->kind == REMEDY_COUNTERS && site->hypervisor)
		return site->hypervisor->remedy;
	/* Capabilities of a file in a container count only as far as the container has them. */
	if ((r->kind == REMEDY_CAPABILITIES || r->kind == REMEDY_ROOT) && site->in_user_namespace)
		return "measure from the host: no capability of a user namespace counts";
	if (r->kind == REMEDY_ROOT && site->container)
		return "measure from the host, as root";
	if (r->kind == REMEDY_MOUNT_TRACEFS && site->container)
		return "give it to the container: -v " TRACEFS ":" TRACEFS ":ro";
	if (r->kind == REMEDY_CONTAINER || r->kind == REMEDY_CAPABILITIES)
		return site->container ? site->container->remedy : NULL;
	return NULL;
}

bool remedy_is_command(const struct remedy *r, const struct site *site)
{
	const char *text = sites_text(r, site);

	/* "docker run --option ...": the dots stand for the user's own command. */
	return text ? strstr(text, "...") != NULL : remedies[r->kind].flags & IS_COMMAND;
}

void remedy_add(const struct remedy *r, const struct site *site, struct str *out)
{
	const char *text = sites_text(r, site);

	if (text)
		str_add(out, text);
	else if (r->kind == REMEDY_CAPABILITIES)
		add_capabilities(r, site, out);
	else if (r->kind == REMEDY_ROOT)
		str_addf(out, "sudo %s record ...",
			site->program[0] ? site->program : "$(command -v pace)");
	else if (remedies[r->kind].text)
		add_text(remedies[r->kind].text, r, site, out);
}

void remedy_add_lasting(const struct remedy *r, const struct site *site, struct str *out)
{
	enum remedy_kind kind = r->kind;

	if (kind == REMEDY_CAPABILITIES && sites_text(r, site))
		kind = REMEDY_CONTAINER;
	if ((kind == REMEDY_CONTAINER || sites_text(r, site)) && !remedy_is_command(r, site))
		return;
	if (remedies[kind].lasting)
		add_text(remedies[kind].lasting, r, site, out);
}

bool remedy_is_outside(const struct remedy *r, const struct site *site)
{
	return site->container && (remedies[r->kind].flags & IS_MACHINES || sites_text(r, site));
}

void remedy_add_ending(const struct remedy *r, const struct site *site, struct str *out)
{
	bool is_command = remedy_is_command(r, site);

	if (r->kind == REMEDY_NONE)
		return;
	str_add(out, is_command ? ": run '" : ": ");
	remedy_add(r, site, out);
	str_add(out, is_command ? "'" : "");
	if (is_command && remedy_is_outside(r, site))
		str_add(out, " on the host");
}
