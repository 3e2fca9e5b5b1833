#include "collect/around/host.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "base/num.h"
#include "base/str.h"
#include "base/sysfile.h"
#include "event/cpus.h"
#include "event/pmu.h"

static const char *keep(struct host *h, const char *text)
{
	return arena_strdup(&h->arena, text, strlen(text));
}

/* Reads the first line of the file whose path fmt makes. False: there is none. */
static bool line_of(char *buf, size_t size, const char *fmt, ...) PRINTF(3, 4);
static bool line_of(char *buf, size_t size, const char *fmt, ...)
{
	char path[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	return sysfile_line(path, buf, size);
}

static void add_distinct(struct host *h, host_names *names, const char *name)
{
	vec_each(known, names)
		if (!strcmp(*known, name))
			return;
	vec_add(names, keep(h, name));
}

static u32 number_of(const char *sys, u32 cpu, const char *file)
{
	char line[64];

	return line_of(line, sizeof(line), "%s/devices/system/cpu/cpu%u/topology/%s", sys, cpu,
		       file)
		? atoi(line)
		: 0;
}

static void read_topology(struct host *h, const char *sys)
{
	char list[4096];

	for (u32 cpu = 0; cpu < h->cpus_available; cpu++) {
		struct host_cpu c = {number_of(sys, cpu, "core_id"),
			number_of(sys, cpu, "physical_package_id"), number_of(sys, cpu, "die_id")};

		vec_add(&h->cpus, c);
		/* Today's file names, then those of kernels before 5.3. */
		if (line_of(list, sizeof(list),
			    "%s/devices/system/cpu/cpu%u/topology/package_cpus_list", sys, cpu) ||
			line_of(list, sizeof(list),
				"%s/devices/system/cpu/cpu%u/topology/core_siblings_list", sys,
				cpu))
			add_distinct(h, &h->core_siblings, list);
		if (line_of(list, sizeof(list),
			    "%s/devices/system/cpu/cpu%u/topology/core_cpus_list", sys, cpu) ||
			line_of(list, sizeof(list),
				"%s/devices/system/cpu/cpu%u/topology/thread_siblings_list", sys,
				cpu))
			add_distinct(h, &h->thread_siblings, list);
		if (line_of(list, sizeof(list),
			    "%s/devices/system/cpu/cpu%u/topology/die_cpus_list", sys, cpu)) {
			add_distinct(h, &h->die_siblings, list);
			h->has_dies = true;
		}
	}
}

static bool is_known_cache(const struct host *h, const struct host_cache *c)
{
	vec_each(known, &h->caches)
		if (known->level == c->level && !strcmp(known->type, c->type) &&
			!strcmp(known->cpus, c->cpus))
			return true;
	return false;
}

/* Keeps caches sorted by level, those of one level in the order of their CPUs. */
static void add_cache(struct host *h, const struct host_cache *c)
{
	size_t i;

	vec_add(&h->caches, *c);
	for (i = h->caches.n - 1; i > 0 && h->caches.at[i - 1].level > c->level; i--)
		h->caches.at[i] = h->caches.at[i - 1];
	h->caches.at[i] = *c;
}

static void read_caches(struct host *h, const char *sys)
{
	for (u32 cpu = 0; cpu < h->cpus_available; cpu++) {
		for (u32 i = 0; i < 16; i++) {
			char type[64], size[64], cpus[4096], n[4][32];
			static const char *const numbers[] = {"level", "coherency_line_size",
				"number_of_sets", "ways_of_associativity"};
			struct host_cache c;

			if (!line_of(type, sizeof(type),
				    "%s/devices/system/cpu/cpu%u/cache/index%u/type", sys, cpu, i))
				break;
			for (size_t k = 0; k < ARRAY_SIZE(numbers); k++)
				if (!line_of(n[k], sizeof(n[k]),
					    "%s/devices/system/cpu/cpu%u/cache/index%u/%s", sys,
					    cpu, i, numbers[k]))
					strcpy(n[k], "0");
			if (!line_of(size, sizeof(size),
				    "%s/devices/system/cpu/cpu%u/cache/index%u/size", sys, cpu, i))
				size[0] = '\0';
			if (!line_of(cpus, sizeof(cpus),
				    "%s/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list",
				    sys, cpu, i))
				cpus[0] = '\0';
			c = (struct host_cache){atoi(n[0]), atoi(n[1]), atoi(n[2]), atoi(n[3]),
				type, size, cpus};
			if (is_known_cache(h, &c))
				continue;
			c.type = keep(h, type);
			c.size = keep(h, size);
			c.cpus = keep(h, cpus);
			add_cache(h, &c);
		}
	}
}

/* The number after "key:" in a text like /proc/meminfo's. */
static u64 value_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void read_memory_blocks(struct host *h, const char *dir_path, u32 node)
{
	struct host_memory m = {.node = node};
	struct dirent *entry;
	DIR *dir = opendir(dir_path);
	u64 cap = 0;

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		const char *p = entry->d_name + 6;
		u64 block;

		if (strncmp(entry->d_name, "memory", 6) || !num_scan(&p, 10, &block) || *p ||
			block > 1 << 24)
			continue;
		if (block >= cap) {
			u64 more = align_up(MAX(block + 1, cap * 2), 64),
			    *bits = arena_zalloc(&h->arena, more / 8);

			if (cap)
				memcpy(bits, m.bits, cap / 8);
			m.bits = bits;
			cap = more;
		}
		m.bits[block / 64] |= 1ULL << (block % 64);
		m.n_bits = MAX(m.n_bits, block + 1);
	}
	closedir(dir);
	if (m.n_bits)
		vec_add(&h->memories, m);
}

static void read_nodes(struct host *h, const char *sys)
{
	struct str text = {0};
	struct cpus nodes = {0};
	char path[512], line[4096];
	struct err err;

	snprintf(path, sizeof(path), "%s/devices/system/node/online", sys);
	if (!sysfile_line(path, line, sizeof(line)) || cpus_parse(&nodes, line, &err))
		goto out;
	vec_each(number, &nodes) {
		struct host_node node = {.number = *number};

		snprintf(path, sizeof(path), "%s/devices/system/node/node%u/meminfo", sys, *number);
		str_clear(&text);
		if (!sysfile_read(path, 1 << 20, &text, &err)) {
			node.total_kb = value_of(str_text(&text), "MemTotal:");
			node.free_kb = value_of(str_text(&text), "MemFree:");
		}
		node.cpus = "";
		if (line_of(line, sizeof(line), "%s/devices/system/node/node%u/cpulist", sys,
			    *number))
			node.cpus = keep(h, line);
		vec_add(&h->nodes, node);
		snprintf(path, sizeof(path), "%s/devices/system/node/node%u", sys, *number);
		read_memory_blocks(h, path, *number);
	}
	if (line_of(line, sizeof(line), "%s/devices/system/memory/block_size_bytes", sys))
		h->memory_block_bytes = strtoull(line, NULL, 16);
out:
	cpus_fini(&nodes);
	str_fini(&text);
}

static void read_pmus(struct host *h, const char *sys)
{
	struct intern names = {0};
	struct err err;

	pmu_list(sys, &names);
	vec_each(name, &names.strings) {
		struct pmu pmu;

		if (pmu_open(&pmu, sys, *name, &err))
			continue;
		vec_add(&h->pmus, ((struct host_pmu){pmu.type, keep(h, pmu.name)}));
		pmu_close(&pmu);
	}
	intern_fini(&names);
}

/* The text after "key" and a colon, on the first line of cpuinfo that has it; NULL: none has. */
static const char *cpuinfo_value(struct host *h, const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *value;

		if (strncmp(line, key, n) || (line[n] != '\t' && line[n] != ' ' && line[n] != ':'))
			continue;
		value = line + n + strspn(line + n, " \t");
		if (*value != ':')
			continue;
		value += 1 + strspn(value + 1, " \t");
		return arena_strdup(&h->arena, value, strcspn(value, "\n"));
	}
	return NULL;
}

static void read_cpuinfo(struct host *h, const char *sys, const char *proc)
{
	const char *vendor, *family, *model, *stepping;
	struct str text = {0}, id = {0};
	char path[256], midr[64];
	struct err err;

	snprintf(path, sizeof(path), "%s/cpuinfo", proc);
	if (!sysfile_read(path, 64 << 20, &text, &err)) {
		h->cpu_description = cpuinfo_value(h, str_text(&text), "model name");
		vendor = cpuinfo_value(h, str_text(&text), "vendor_id");
		family = cpuinfo_value(h, str_text(&text), "cpu family");
		model = cpuinfo_value(h, str_text(&text), "model");
		stepping = cpuinfo_value(h, str_text(&text), "stepping");
		if (vendor && family && model && stepping)
			str_addf(&id, "%s,%s,%s,%s", vendor, family, model, stepping);
		else if (line_of(midr, sizeof(midr),
				 "%s/devices/system/cpu/cpu0/regs/identification/midr_el1", sys))
			str_add(&id, midr);
		if (id.n)
			h->cpuid = keep(h, str_text(&id));
	}
	str_clear(&text);
	snprintf(path, sizeof(path), "%s/meminfo", proc);
	if (!sysfile_read(path, 1 << 20, &text, &err))
		h->memory_kb = value_of(str_text(&text), "MemTotal:");
	str_fini(&text);
	str_fini(&id);
}

static u32 count_cpus(const char *sys, const char *file, struct err *err)
{
	struct cpus cpus = {0};
	char line[4096];
	u32 n = 0;

	if (line_of(line, sizeof(line), "%s/devices/system/cpu/%s", sys, file) &&
		!cpus_parse(&cpus, line, err))
		n = !strcmp(file, "present") ? cpus.at[cpus.n - 1] + 1 : cpus.n;
	cpus_fini(&cpus);
	return n;
}

void host_read(struct host *h, const char *sys, const char *proc)
{
	struct utsname uts;
	struct err err;

	memset(h, 0, sizeof(*h));
	if (uname(&uts) == 0) {
		h->hostname = keep(h, uts.nodename);
		h->release = keep(h, uts.release);
		h->arch = keep(h, uts.machine);
	}
	h->cpus_available = count_cpus(sys, "present", &err);
	h->cpus_online = count_cpus(sys, "online", &err);
	read_cpuinfo(h, sys, proc);
	read_topology(h, sys);
	read_nodes(h, sys);
	read_caches(h, sys);
	read_pmus(h, sys);
}

void host_fini(struct host *h)
{
	vec_fini(&h->core_siblings);
	vec_fini(&h->thread_siblings);
	vec_fini(&h->die_siblings);
	vec_fini(&h->cpus);
	vec_fini(&h->nodes);
	vec_fini(&h->pmus);
	vec_fini(&h->caches);
	vec_fini(&h->memories);
	arena_fini(&h->arena);
}
