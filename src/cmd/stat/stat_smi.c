#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "cmd/stat/measuring.h"
#include "event/pmu.h"

static const char freezing[] = "/sys/devices/cpu/freeze_on_smi";

static int freeze(bool is_on, struct err *err)
{
	const int fd = open(freezing, O_WRONLY | O_CLOEXEC);
	int sys = fd < 0 || write(fd, is_on ? "1" : "0", 1) != 1 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return sys ? err_sys(err, sys, "--smi-cost: writing '%s', which needs root", freezing) : 0;
}

/* The kernel shows the events only if the CPU has their registers. */
static int check_events(struct err *err)
{
	static const char *const needed[] = {"aperf", "smi"};
	struct pmu pmu;
	char terms[256];

	if (pmu_open(&pmu, "/sys", "msr", err))
		return err_prefix(err, "--smi-cost");
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!pmu_alias(&pmu, needed[i], terms, sizeof(terms))) {
			pmu_close(&pmu);
			return err_set(err, ERR_UNSUPPORTED,
				"--smi-cost: this CPU does not count msr/%s/, which it is computed from",
				needed[i]);
		}
	pmu_close(&pmu);
	return 0;
}

int stat_smi_begin(struct measuring *m, struct err *err)
{
	s64 before;

	if (!m->options->has_smi_cost)
		return 0;
	if (!sysfile_s64(freezing, &before))
		return err_set(err, ERR_UNSUPPORTED,
			"--smi-cost: there is no '%s': only Intel's CPUs, and not in virtual machines, can stop their counters in system management interrupts",
			freezing);
	if (check_events(err))
		return err->code;
	if (before)
		return 0;
	if (freeze(true, err))
		return err->code;
	m->has_frozen_smi = true;
	return 0;
}

void stat_smi_end(struct measuring *m)
{
	struct err err;

	if (!m->has_frozen_smi)
		return;
	m->has_frozen_smi = false;
	if (freeze(false, &err))
		log_warn(&m->log, "%s", err.msg);
}
