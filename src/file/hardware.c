#include "file/hardware.h"

#include "base/num.h"
#include "file/section.h"

bool hardware_read_cpus(struct bytes *b, struct file_info *info)
{
	struct host *h = &info->host;

	if (!section_get_names(b, info, &h->core_siblings) ||
		!section_get_names(b, info, &h->thread_siblings))
		return false;
	/* The rest was added later: core and socket in Linux 3.9, dies in 5.4. */
	for (u32 i = 0; i < h->cpus_available && bytes_left(b); i++) {
		struct host_cpu c = {0};

		if (!bytes_u32(b, &c.core) || !bytes_u32(b, &c.socket))
			return false;
		vec_add(&h->cpus, c);
	}
	if (!bytes_left(b))
		return true;
	if (!section_get_names(b, info, &h->die_siblings))
		return false;
	h->has_dies = true;
	vec_each(c, &h->cpus)
		if (!bytes_u32(b, &c->die))
			return false;
	return true;
}

bool hardware_write_cpus(const struct file_info *info, struct str *out)
{
	const struct host *h = &info->host;

	section_put_names(out, &h->core_siblings);
	section_put_names(out, &h->thread_siblings);
	vec_each(c, &h->cpus) {
		section_put_u32(out, c->core);
		section_put_u32(out, c->socket);
	}
	if (h->has_dies) {
		section_put_names(out, &h->die_siblings);
		vec_each(c, &h->cpus)
			section_put_u32(out, c->die);
	}
	return h->cpus.n > 0;
}

static void print_names(const char *title, const host_names *names, struct str *text)
{
	vec_each(name, names) {
		str_addf(text, "# %s : ", title);
		str_add_safe(text, *name, strlen(*name));
		str_addc(text, '\n');
	}
}

void hardware_print_cpus(const struct file_info *info, struct str *text)
{
	const struct host *h = &info->host;
	u32 cpu = 0;

	print_names("sibling sockets", &h->core_siblings, text);
	print_names("sibling dies   ", &h->die_siblings, text);
	print_names("sibling threads", &h->thread_siblings, text);
	vec_each(c, &h->cpus) {
		str_addf(text, "# CPU %u: Core ID %u", cpu++, c->core);
		if (h->has_dies)
			str_addf(text, ", Die ID %u", c->die);
		str_addf(text, ", Socket ID %u\n", c->socket);
	}
}

bool hardware_read_numa(struct bytes *b, struct file_info *info)
{
	u32 n;

	if (!section_get_count(b, 24, &n))
		return false;
	while (n--) {
		struct host_node node;

		if (!bytes_u32(b, &node.number) || !bytes_u64(b, &node.total_kb) ||
			!bytes_u64(b, &node.free_kb) || !section_get_string(b, info, &node.cpus))
			return false;
		vec_add(&info->host.nodes, node);
	}
	return true;
}

bool hardware_write_numa(const struct file_info *info, struct str *out)
{
	section_put_u32(out, info->host.nodes.n);
	vec_each(node, &info->host.nodes) {
		section_put_u32(out, node->number);
		section_put_u64(out, node->total_kb);
		section_put_u64(out, node->free_kb);
		section_put_string(out, node->cpus);
	}
	return info->host.nodes.n > 0;
}

void hardware_print_numa(const struct file_info *info, struct str *text)
{
	vec_each(node, &info->host.nodes) {
		str_addf(text,
			"# node%u meminfo  : total = %llu kB, free = %llu kB\n# node%u cpu list : ",
			node->number, (unsigned long long)node->total_kb,
			(unsigned long long)node->free_kb, node->number);
		str_add_safe(text, node->cpus, strlen(node->cpus));
		str_addc(text, '\n');
	}
}

bool hardware_read_pmus(struct bytes *b, struct file_info *info)
{
	u32 n;

	if (!section_get_count(b, 8, &n))
		return false;
	while (n--) {
		struct host_pmu pmu;

		if (!bytes_u32(b, &pmu.type) || !section_get_string(b, info, &pmu.name))
			return false;
		vec_add(&info->host.pmus, pmu);
	}
	return true;
}

bool hardware_write_pmus(const struct file_info *info, struct str *out)
{
	section_put_u32(out, info->host.pmus.n);
	vec_each(pmu, &info->host.pmus) {
		section_put_u32(out, pmu->type);
		section_put_string(out, pmu->name);
	}
	return info->host.pmus.n > 0;
}

void hardware_print_pmus(const struct file_info *info, struct str *text)
{
	const char *between = "";

	str_add(text, "# pmu mappings: ");
	vec_each(pmu, &info->host.pmus) {
		str_add(text, between);
		str_add_safe(text, pmu->name, strlen(pmu->name));
		str_addf(text, " = %u", pmu->type);
		between = ", ";
	}
	str_addc(text, '\n');
}

bool hardware_read_caches(struct bytes *b, struct file_info *info)
{
	u32 version, n;

	if (!bytes_u32(b, &version) || version != 1 || !section_get_count(b, 28, &n))
		return false;
	while (n--) {
		struct host_cache c;

		if (!bytes_u32(b, &c.level) || !bytes_u32(b, &c.line_bytes) ||
			!bytes_u32(b, &c.sets) || !bytes_u32(b, &c.ways) ||
			!section_get_string(b, info, &c.type) ||
			!section_get_string(b, info, &c.size) ||
			!section_get_string(b, info, &c.cpus))
			return false;
		vec_add(&info->host.caches, c);
	}
	return true;
}

bool hardware_write_caches(const struct file_info *info, struct str *out)
{
	section_put_u32(out, 1);
	section_put_u32(out, info->host.caches.n);
	vec_each(c, &info->host.caches) {
		section_put_u32(out, c->level);
		section_put_u32(out, c->line_bytes);
		section_put_u32(out, c->sets);
		section_put_u32(out, c->ways);
		section_put_string(out, c->type);
		section_put_string(out, c->size);
		section_put_string(out, c->cpus);
	}
	return info->host.caches.n > 0;
}

void hardware_print_caches(const struct file_info *info, struct str *text)
{
	str_add(text, "# CPU cache info:\n");
	vec_each(c, &info->host.caches) {
		struct str type = {0}, size = {0};

		str_add_safe(&type, c->type, strlen(c->type));
		str_add_safe(&size, c->size, strlen(c->size));
		str_addf(text, "#  L%u %-15s %8s [", c->level, str_text(&type), str_text(&size));
		str_add_safe(text, c->cpus, strlen(c->cpus));
		str_add(text, "]\n");
		str_fini(&type);
		str_fini(&size);
	}
}

bool hardware_read_memory(struct bytes *b, struct file_info *info)
{
	struct host *h = &info->host;
	u64 version, n;

	if (!bytes_u64(b, &version) || version != 1 || !bytes_u64(b, &h->memory_block_bytes) ||
		!bytes_u64(b, &n) || n > bytes_left(b) / 24)
		return false;
	while (n--) {
		struct host_memory m;
		u64 n_bits, n_words;

		if (!bytes_u64(b, &m.node) || !bytes_u64(b, &m.n_bits) || !bytes_u64(b, &n_bits))
			return false;
		n_words = n_bits / 64 + (n_bits % 64 != 0);
		if (n_words > bytes_left(b) / 8)
			return false;
		m.bits = arena_alloc(&h->arena, n_words * 8);
		for (u64 i = 0; i < n_words; i++)
			bytes_u64(b, &m.bits[i]);
		m.n_bits = n_bits;
		vec_add(&h->memories, m);
	}
	return true;
}

bool hardware_write_memory(const struct file_info *info, struct str *out)
{
	const struct host *h = &info->host;

	section_put_u64(out, 1);
	section_put_u64(out, h->memory_block_bytes);
	section_put_u64(out, h->memories.n);
	vec_each(m, &h->memories) {
		section_put_u64(out, m->node);
		section_put_u64(out, m->n_bits);
		section_put_u64(out, m->n_bits);
		str_addn(out, m->bits, align_up(m->n_bits, 64) / 8);
	}
	return h->memories.n > 0;
}

void hardware_print_memory(const struct file_info *info, struct str *text)
{
	const struct host *h = &info->host;

	str_addf(text, "# memory nodes (nr %zu, block size 0x%llx):\n", h->memories.n,
		(unsigned long long)h->memory_block_bytes);
	vec_each(m, &h->memories) {
		u64 blocks = 0;
		bool is_first = true;

		for (u64 i = 0; i < m->n_bits; i++)
			blocks += m->bits[i / 64] >> (i % 64) & 1;
		str_addf(text, "#    %llu [%lluG]: ", (unsigned long long)m->node,
			(unsigned long long)((blocks * h->memory_block_bytes) >> 30));
		for (u64 i = 0, j; i < m->n_bits; i = j) {
			j = i + 1;
			if (!(m->bits[i / 64] >> (i % 64) & 1))
				continue;
			while (j < m->n_bits && m->bits[j / 64] >> (j % 64) & 1)
				j++;
			str_addf(text, j - i > 1 ? "%s%llu-%llu" : "%s%llu", is_first ? "" : ",",
				(unsigned long long)i, (unsigned long long)(j - 1));
			is_first = false;
		}
		str_addc(text, '\n');
	}
}

/* Reads a list of {name, value} as a line of text. */
static bool read_caps(struct bytes *b, struct file_info *info, struct str *line)
{
	const char *between = "";
	u32 n;

	if (!section_get_count(b, 8, &n))
		return false;
	while (n--) {
		const char *name, *value;

		if (!section_get_string(b, info, &name) || !section_get_string(b, info, &value))
			return false;
		str_add(line, between);
		str_add_safe(line, name, strlen(name));
		str_addc(line, '=');
		str_add_safe(line, value, strlen(value));
		between = ", ";
	}
	return true;
}

bool hardware_read_cpu_caps(struct bytes *b, struct file_info *info)
{
	str_clear(&info->cpu_caps);
	return read_caps(b, info, &info->cpu_caps);
}

u32 hardware_branches(const struct file_info *info)
{
	const char *at = info->cpu_caps.n ? strstr(str_text(&info->cpu_caps), "branches=") : NULL;
	u64 n;

	if (!at)
		return 0;
	at += strlen("branches=");
	return num_scan(&at, 10, &n) && n < 1024 ? (u32)n : 0;
}

void hardware_print_cpu_caps(const struct file_info *info, struct str *text)
{
	str_addf(text, "# cpu pmu capabilities: %s\n",
		info->cpu_caps.n ? str_text(&info->cpu_caps) : "not available");
}

bool hardware_read_pmu_caps(struct bytes *b, struct file_info *info)
{
	u32 n;

	str_clear(&info->pmu_caps);
	if (!section_get_count(b, 8, &n))
		return false;
	while (n--) {
		struct str line = {0};
		const char *pmu;
		bool ok = read_caps(b, info, &line) && section_get_string(b, info, &pmu);

		if (ok) {
			str_add(&info->pmu_caps, "# ");
			str_add_safe(&info->pmu_caps, pmu, strlen(pmu));
			str_addf(&info->pmu_caps, " pmu capabilities: %s\n", str_text(&line));
		}
		str_fini(&line);
		if (!ok)
			return false;
	}
	return true;
}

void hardware_print_pmu_caps(const struct file_info *info, struct str *text)
{
	str_addn(text, info->pmu_caps.at, info->pmu_caps.n);
}

/* Reads {PMU, CPUs} pairs: performance and efficiency cores have a PMU each. */
bool hardware_read_cpu_kinds(struct bytes *b, struct file_info *info)
{
	u32 n;

	str_clear(&info->cpu_kinds);
	if (!section_get_count(b, 8, &n))
		return false;
	while (n--) {
		const char *pmu, *cpus;

		if (!section_get_string(b, info, &pmu) || !section_get_string(b, info, &cpus))
			return false;
		str_add(&info->cpu_kinds, "#    ");
		str_add_safe(&info->cpu_kinds, pmu, strlen(pmu));
		str_add(&info->cpu_kinds, " cpu list : ");
		str_add_safe(&info->cpu_kinds, cpus, strlen(cpus));
		str_addc(&info->cpu_kinds, '\n');
	}
	return true;
}

void hardware_print_cpu_kinds(const struct file_info *info, struct str *text)
{
	str_add(text, "# hybrid cpu system:\n");
	str_addn(text, info->cpu_kinds.at, info->cpu_kinds.n);
}
