#include "collect/known/slotsite.h"

#include <stdio.h>

#include "base/sysfile.h"
#include "event/cpuid.h"

#define INSTEAD "'pace stat -d' counts what can be counted, 'pace record' shows where the time goes"

static void name_machine(const struct site *site, char *buf, size_t size)
{
	const char *name = site->hypervisor ? site->hypervisor->name : NULL;

	snprintf(buf, size, "a virtual machine%s%s%s", name ? " (" : "", name ? name : "",
		name ? ")" : "");
}

static int refuse(const struct site *site, const char *why, struct err *err)
{
	const char *remedy = site->hypervisor ? site->hypervisor->remedy : NULL;
	char machine[128];

	name_machine(site, machine, sizeof(machine));
	if (!site_has_core_pmu(site))
		return err_set(err, ERR_UNSUPPORTED,
			"TopDown needs the CPU's own counters, and %s has none%s%s; " INSTEAD,
			site->is_virtual ? machine : "this machine", remedy ? "; what helps: " : "",
			remedy ? remedy : "");
	if (site->is_virtual)
		return err_set(err, ERR_UNSUPPORTED,
			"TopDown does not work in this virtual machine: %s; its host may have it; " INSTEAD,
			why);
	return err_set(err, ERR_UNSUPPORTED,
		"TopDown does not work on this CPU: %s (Intel has it since Sandy Bridge, AMD since Zen 4, Arm since Neoverse N1); " INSTEAD,
		why);
}

int slotsite_open(struct tma_plan *p, const struct site *site, struct err *err)
{
	char sysfs[512], why[sizeof(err->msg)];

	site_path(site, sysfs, sizeof(sysfs), "/sys");
	if (!tma_plan_open(p, sysfs, err))
		return 0;
	snprintf(why, sizeof(why), "%.300s", err->msg);
	return refuse(site, why, err);
}

int slotsite_refuse(const struct site *site, const char *event, const char *why, struct err *err)
{
	char text[sizeof(err->msg)];

	snprintf(text, sizeof(text), "event '%.60s' does not open: %.200s", event, why);
	return refuse(site, text, err);
}

void slotsite_add_text(const struct tma_plan *p, struct str *text)
{
	vec_each(t, &p->cores)
		str_addf(text, "%slevel%s 1%s on %s (%s)", t == p->cores.at ? "" : "; ",
			t->levels > 1 ? "s" : "", t->levels > 1 ? " and 2" : "", t->pmu,
			t->family->name);
	if (p->missing.n)
		str_addf(text, "; %s", p->missing.at);
}

bool slotsite_has_smt(const struct site *site)
{
	char path[512];
	s64 is_on = 0;

	site_path(site, path, sizeof(path), "/sys/devices/system/cpu/smt/active");
	return sysfile_s64(path, &is_on) && is_on;
}
