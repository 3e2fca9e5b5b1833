#include "event/memevents.h"

#include "event/pmu.h"

/* Sapphire Rapids and later count loads correctly only if this event leads them. */
#define LEADER "mem-loads-aux"

static bool has_alias(const struct pmu *pmu, const char *alias)
{
	char text[256];

	return pmu_alias(pmu, alias, text, sizeof(text));
}

static void begin(struct str *text)
{
	str_add(text, text->n ? "," : "");
}

/* Core PMUs with mem-loads and mem-stores: Intel's, POWER's. */
static bool add_core(const struct pmu *pmu, const struct memevents_wish *wish, struct str *text)
{
	bool has_loads = wish->what & MEMEVENTS_LOADS && has_alias(pmu, "mem-loads"),
	     has_stores = wish->what & MEMEVENTS_STORES && has_alias(pmu, "mem-stores"),
	     has_leader = has_loads && has_alias(pmu, LEADER);
	char field[64];

	if (has_loads) {
		begin(text);
		if (has_leader)
			str_addf(text, "{%s/" LEADER "/,", pmu->name);
		str_addf(text, "%s/mem-loads", pmu->name);
		if (pmu_format(pmu, "ldlat", field, sizeof(field)))
			str_addf(text, ",ldlat=%llu", (unsigned long long)wish->latency);
		str_addf(text, "/P%s", has_leader ? "}" : "");
	}
	if (has_stores) {
		begin(text);
		str_addf(text, "%s/mem-stores/P", pmu->name);
	}
	return has_loads || has_stores;
}

/* AMD's IBS samples instructions of all kinds, loads and stores among them. */
static void add_ibs(const struct pmu *pmu, struct str *text)
{
	if (strcmp(pmu->name, "ibs_op") != 0)
		return;
	begin(text);
	str_add(text, "ibs_op//");
}

int memevents_find(const char *sysfs, const struct memevents_wish *wish, struct str *ret_text,
	struct err *err)
{
	struct intern names = {0};
	struct str text = {0};
	bool has_spe = false;

	pmu_list(sysfs, &names);
	vec_each(name, &names.strings) {
		struct pmu pmu;

		has_spe |= !strncmp(*name, "arm_spe", 7);
		if (pmu_open(&pmu, sysfs, *name, err))
			continue;
		if (!add_core(&pmu, wish, &text))
			add_ibs(&pmu, &text);
		pmu_close(&pmu);
	}
	intern_fini(&names);
	if (!text.n && has_spe)
		err_set(err, ERR_NOENT,
			"this machine samples memory accesses with arm_spe, whose trace pace does not read; 'perf mem record' does");
	else if (!text.n)
		err_set(err, ERR_NOENT,
			"failed: no PMU supports the memory events: '%s/bus/event_source/devices' has neither mem-loads and mem-stores (Intel, POWER) nor ibs_op (AMD), as in most virtual machines. -e names an event by hand",
			sysfs);
	if (text.n) {
		str_add(ret_text, text.at);
		err->code = 0;
	}
	str_fini(&text);
	return err->code;
}
