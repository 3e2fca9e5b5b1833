#include "event/cpus.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/sort.h"
#include "base/sysfile.h"

SORT_NUMBERS(by_number, u32)

static int no_list(const char *text, const char *at, struct err *err)
{
	return err_set(err, ERR_INVAL,
		"CPU list '%s': expected numbers and ranges like 0-3,8 at '%s'", text, at);
}

void cpus_sort(struct cpus *cpus)
{
	size_t kept = 0;

	if (cpus->n)
		qsort(cpus->at, cpus->n, sizeof(*cpus->at), by_number);
	for (size_t i = 0; i < cpus->n; i++)
		if (!kept || cpus->at[kept - 1] != cpus->at[i])
			cpus->at[kept++] = cpus->at[i];
	cpus->n = kept;
}

int cpus_parse(struct cpus *cpus, const char *text, struct err *err)
{
	const char *p = text;

	do {
		u64 first, last;

		if (!num_scan(&p, 10, &first))
			return no_list(text, p, err);
		last = first;
		if (*p == '-' && (p++, !num_scan(&p, 10, &last)))
			return no_list(text, p, err);
		if (first > last || last >= CPUS_MAX)
			return err_set(err, ERR_INVAL,
				"CPU list '%s': %llu-%llu is not a range of CPU numbers below %d",
				text, (unsigned long long)first, (unsigned long long)last,
				CPUS_MAX);
		for (u64 cpu = first; cpu <= last; cpu++)
			vec_add(cpus, (u32)cpu);
	} while (*p == ',' && p++);
	if (*p)
		return no_list(text, p, err);
	cpus_sort(cpus);
	return 0;
}

int cpus_online(struct cpus *cpus, struct err *err)
{
	char line[4096];

	if (!sysfile_line("/sys/devices/system/cpu/online", line, sizeof(line)))
		return err_set(err, ERR_SYS,
			"cannot read /sys/devices/system/cpu/online: is /sys mounted?");
	return cpus_parse(cpus, line, err);
}

void cpus_add_all(struct cpus *cpus, const struct cpus *from)
{
	vec_each(cpu, from)
		vec_add(cpus, *cpu);
}

bool cpus_has(const struct cpus *cpus, u32 cpu)
{
	return cpus->n && bsearch(&cpu, cpus->at, cpus->n, sizeof(cpu), by_number);
}

void cpus_add_text(const struct cpus *cpus, struct str *text)
{
	for (size_t i = 0, j; i < cpus->n; i = j) {
		for (j = i + 1; j < cpus->n && cpus->at[j] == cpus->at[j - 1] + 1;)
			j++;
		str_addf(text, j - i > 1 ? "%s%u-%u" : "%s%u", i ? "," : "", cpus->at[i],
			cpus->at[j - 1]);
	}
}

void cpus_fini(struct cpus *cpus)
{
	vec_fini(cpus);
}
