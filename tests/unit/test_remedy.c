#include "test.h"

#include "collect/around/remedy.h"

static const struct site_runtime docker = {"Docker", "docker run --cap-add PERFMON ..."};

static const char *text_of(const struct remedy *r, const struct site *site)
{
	static char text[512];
	struct str s = {0};

	remedy_add(r, site, &s);
	snprintf(text, sizeof(text), "%s", str_text(&s));
	str_fini(&s);
	return text;
}

static const char *lasting_of(const struct remedy *r, const struct site *site)
{
	static char text[512];
	struct str s = {0};

	remedy_add_lasting(r, site, &s);
	snprintf(text, sizeof(text), "%s", str_text(&s));
	str_fini(&s);
	return text;
}

static const char *ending_of(const struct remedy *r, const struct site *site)
{
	static char text[512];
	struct str s = {0};

	remedy_add_ending(r, site, &s);
	snprintf(text, sizeof(text), "%s", str_text(&s));
	str_fini(&s);
	return text;
}

TEST(remedy_of_every_kind_has_words)
{
	struct site site = {0};

	for (int kind = REMEDY_NONE; kind < REMEDY_COUNT; kind++) {
		struct remedy r = {kind, 4711, REMEDY_PERFMON};

		CHECK_EQ(text_of(&r, &site)[0] != '\0', kind != REMEDY_NONE);
		CHECK(!strchr(text_of(&r, &site), '%'));
		CHECK(!strchr(lasting_of(&r, &site), '%'));
		/* Once as root is meant to be once. */
		if (remedy_is_command(&r, &site) && kind != REMEDY_ROOT)
			CHECK(lasting_of(&r, &site)[0]);
	}
}

TEST(remedy_puts_its_numbers_where_they_belong)
{
	struct site site = {.group = 1000};

	CHECK_STR(text_of(&(struct remedy){REMEDY_LEVEL, .value = -1}, &site),
		"sudo sysctl kernel.perf_event_paranoid=-1");
	CHECK_STR(lasting_of(&(struct remedy){REMEDY_LEVEL, .value = 1}, &site),
		"echo kernel.perf_event_paranoid=1 | sudo tee -a /etc/sysctl.d/50-pace.conf");
	CHECK_STR(text_of(&(struct remedy){REMEDY_OPEN_TRACEPOINTS, .value = -1}, &site),
		"sudo mount -o remount,mode=755,gid=1000 /sys/kernel/tracing && sudo sysctl "
		"kernel.perf_event_paranoid=-1");
	CHECK_HAS(lasting_of(&(struct remedy){REMEDY_OPEN_TRACEPOINTS, .value = 1}, &site),
		"gid=1000 0 0' | sudo tee -a /etc/fstab && echo kernel.perf_event_paranoid=1 |");
	CHECK_STR(text_of(&(struct remedy){REMEDY_FILES, .value = 9000}, &site),
		"sudo prlimit --pid $$ --nofile=9000");
}

TEST(remedy_names_only_the_capabilities_that_are_needed_and_known)
{
	struct remedy r = {REMEDY_CAPABILITIES, .capabilities = REMEDY_PERFMON | REMEDY_SYSLOG};
	struct site site = {0};

	CHECK_STR(text_of(&r, &site), "sudo setcap cap_perfmon,cap_syslog=ep $(command -v pace)");
	site.is_old = true;
	strcpy(site.program, "/usr/bin/pace");
	CHECK_STR(text_of(&r, &site), "sudo setcap cap_sys_admin,cap_syslog=ep /usr/bin/pace");
}

TEST(remedy_in_a_container_is_the_hosts_affair)
{
	struct remedy level = {REMEDY_LEVEL, .value = 1},
		      caps = {REMEDY_CAPABILITIES, .capabilities = REMEDY_PERFMON};
	struct site site = {0};

	CHECK_STR(ending_of(&level, &site), ": run 'sudo sysctl kernel.perf_event_paranoid=1'");
	site.container = &docker;
	CHECK_STR(ending_of(&level, &site),
		": run 'sudo sysctl kernel.perf_event_paranoid=1' on the host");
	/* A file's capability goes no further than the container's. */
	CHECK_STR(ending_of(&caps, &site), ": run 'docker run --cap-add PERFMON ...' on the host");
	CHECK_HAS(lasting_of(&caps, &site), "--security-opt seccomp=");
	site.in_user_namespace = true;
	CHECK_STR(ending_of(&caps, &site),
		": measure from the host: no capability of a user namespace counts");
	CHECK(!remedy_is_command(&caps, &site));
}

TEST(remedy_for_a_missing_pmu_is_the_hypervisors)
{
	static const struct site_hypervisor kvm = {"KVM", "qemu -cpu host,pmu=on"},
					    none = {"x", NULL};
	struct remedy r = {REMEDY_COUNTERS};
	struct site site = {.is_virtual = true, .hypervisor = &kvm};

	CHECK_STR(text_of(&r, &site), "qemu -cpu host,pmu=on");
	site.hypervisor = &none;
	CHECK_HAS(text_of(&r, &site), "measure by the clock");
}
