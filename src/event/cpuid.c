#include "event/cpuid.h"

#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sysfile.h"

/* Copies the text after `key` and a colon, from the first line that has them; "" if none has. */
static void find_value(const char *text, const char *key, char *buf, size_t size)
{
	size_t n = strlen(key);

	buf[0] = '\0';
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *value = line + n;

		if (strncmp(line, key, n))
			continue;
		value += strspn(value, " \t");
		if (*value != ':')
			continue;
		value += 1 + strspn(value + 1, " \t");
		snprintf(buf, size, "%.*s", (int)MIN(strcspn(value, "\n"), size - 1), value);
		return;
	}
}

static bool number_of(const char *text, const char *key, u64 *ret_v)
{
	char value[32];
	const char *p = value;

	find_value(text, key, value, sizeof(value));
	return num_scan(&p, 10, ret_v);
}

static bool x86_id(const char *text, char *ret)
{
	u64 family, model, stepping;
	char vendor[32];

	find_value(text, "vendor_id", vendor, sizeof(vendor));
	if (!vendor[0] || !number_of(text, "cpu family", &family) ||
		!number_of(text, "model", &model) || !number_of(text, "stepping", &stepping))
		return false;
	snprintf(ret, CPUID_SIZE, "%s-%llu-%llX-%llX", vendor, (unsigned long long)family,
		(unsigned long long)model, (unsigned long long)stepping);
	return true;
}

static bool riscv_id(const char *text, char *ret)
{
	char vendor[32], arch[32], implementation[32];

	find_value(text, "mvendorid", vendor, sizeof(vendor));
	find_value(text, "marchid", arch, sizeof(arch));
	find_value(text, "mimpid", implementation, sizeof(implementation));
	if (!vendor[0] || !arch[0] || !implementation[0])
		return false;
	snprintf(ret, CPUID_SIZE, "%s-%s-%s", vendor, arch, implementation);
	return true;
}

/* "revision : 2.2 (pvr 004e 1202)" */
static bool powerpc_id(const char *text, char *ret)
{
	char revision[64];
	unsigned high, low;
	const char *pvr;

	find_value(text, "revision", revision, sizeof(revision));
	pvr = strstr(revision, "(pvr ");
	if (!pvr || sscanf(pvr, "(pvr %4x %4x)", &high, &low) != 2)
		return false;
	snprintf(ret, CPUID_SIZE, "0x%04x%04x", high, low);
	return true;
}

bool cpuid_of_cpuinfo(const char *text, char ret[CPUID_SIZE])
{
	return x86_id(text, ret) || riscv_id(text, ret) || powerpc_id(text, ret);
}

static bool arm64_id(const char *sysfs, u32 cpu, char *ret)
{
	const u64 variant_and_revision = 0xf << 20 | 0xf;
	char path[300], line[64];
	const char *p = line + 2;
	u64 midr;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/regs/identification/midr_el1",
		sysfs, cpu);
	if (!sysfile_line(path, line, sizeof(line)) || strncmp(line, "0x", 2) ||
		!num_scan(&p, 16, &midr))
		return false;
	snprintf(ret, CPUID_SIZE, "0x%016llx", (unsigned long long)(midr & ~variant_and_revision));
	return true;
}

int cpuid_read(const char *sysfs, u32 cpu, char ret[CPUID_SIZE], struct err *err)
{
	static const char *const variables[] = {"PACE_CPUID", "PERF_CPUID"};
	char text[8192];

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *said = getenv(variables[i]);

		if (said && *said) {
			snprintf(ret, CPUID_SIZE, "%s", said);
			return 0;
		}
	}
	if (arm64_id(sysfs, cpu, ret))
		return 0;
	if (!strcmp(sysfs, "/sys") && sysfile_start("/proc/cpuinfo", text, sizeof(text)) &&
		cpuid_of_cpuinfo(text, ret))
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		"'%s' does not tell the model of the CPU: name it in $PACE_CPUID, such as "
		"GenuineIntel-6-55-4",
		strcmp(sysfs, "/sys") ? sysfs : "/proc/cpuinfo");
}

/*
 * Tables are untrusted: refuses patterns on which regcomp() or regexec() could explode. No vendor
 * writes such patterns.
 */
static bool is_sane(const char *pattern)
{
	enum { LENGTH_MAX = 200, REPEATS_MAX = 1, REPEAT_DIGITS_MAX = 2 };
	unsigned repeats = 0;

	if (strlen(pattern) > LENGTH_MAX)
		return false;
	for (const char *p = pattern; *p; p++) {
		if (*p == '{' &&
			(++repeats > REPEATS_MAX ||
				strspn(p + 1, "0123456789") > REPEAT_DIGITS_MAX ||
				p[1 + strspn(p + 1, "0123456789")] != '}'))
			return false;
		/* Back-references. */
		if (*p == '\\' && isdigit((u8)p[1]))
			return false;
	}
	return true;
}

bool cpuid_matches(const char *cpuid, const char *pattern)
{
	const char *last = strrchr(cpuid, '-');
	bool is_match = false;
	regmatch_t match;
	char model[CPUID_SIZE];
	regex_t regex;

	if (!is_sane(pattern) || regcomp(&regex, pattern, REG_EXTENDED))
		return false;
	if (!regexec(&regex, cpuid, 1, &match, 0))
		is_match = match.rm_so == 0 && !cpuid[match.rm_eo];
	if (!is_match && isalpha((u8)cpuid[0]) && last) {
		snprintf(model, sizeof(model), "%.*s", (int)(last - cpuid), cpuid);
		if (!regexec(&regex, model, 1, &match, 0))
			is_match = match.rm_so == 0 && !model[match.rm_eo];
	}
	regfree(&regex);
	return is_match;
}
