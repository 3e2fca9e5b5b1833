#include "file/feature.h"

#include "file/layout.h"
#include "test.h"
#include "unit/recording.h"

static u64 memory_bits[2] = {0xffffffff00ffffffULL, 0x1};
static u64 sparse_bits[1] = {0x15};
static u64 ids_a[] = {100, 101}, ids_c[] = {UINT64_MAX};

/* A description in which nothing is missing. Its strings and arrays are not its own, so it is never
 * freed whole. */
static void fill(struct file_info *info)
{
	struct event_attr attr = {.type = 1,
		.size = ATTR_SIZE_VER7,
		.config = 2,
		.sample_period = 4000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		.flags = ATTR_FREQ | ATTR_DISABLED};
	struct event *e;

	file_info_init(info);
	info->host.hostname = "vm";
	info->host.release = "6.18.44";
	info->version = "pace 0.1.0";
	info->host.arch = "x86_64";
	info->host.cpu_description = "A CPU @ 2.50GHz";
	info->host.cpuid = "GenuineIntel,6,85,4";
	info->host.cpus_available = 4;
	info->host.cpus_online = 3;
	info->host.memory_kb = 24684096;
	vec_add(&info->cmdline, "/usr/bin/pace");
	vec_add(&info->cmdline, "record");
	vec_add(&info->cmdline, "a b");
	e = event_add(&info->events, &attr, "page-faults");
	e->ids = ids_a;
	e->n_ids = 2;
	attr.config = 0;
	attr.config3 = 7;
	event_add(&info->events, &attr, "cycles:u");
	attr.config4 = 1;
	e = event_add(&info->events, &attr, "x/y=1/");
	e->ids = ids_c;
	e->n_ids = 1;
	vec_add(&info->host.core_siblings, "0-1");
	vec_add(&info->host.core_siblings, "2-3");
	vec_add(&info->host.thread_siblings, "0");
	vec_add(&info->host.die_siblings, "0-3");
	for (u32 i = 0; i < 4; i++)
		vec_add(&info->host.cpus, ((struct host_cpu){i % 2, i / 2, 9}));
	info->host.has_dies = true;
	vec_add(&info->host.nodes, ((struct host_node){0, 4810968, 4228552, "0-1"}));
	vec_add(&info->host.nodes, ((struct host_node){3, 1ULL << 40, 0, "2-3"}));
	vec_add(&info->host.pmus, ((struct host_pmu){1, "software"}));
	vec_add(&info->host.pmus, ((struct host_pmu){4294967295u, "cpu"}));
	vec_add(&info->groups, ((struct file_group){"{anon_group}", 0, 2}));
	vec_add(&info->groups, ((struct file_group){"named", 1, 2}));
	vec_add(&info->host.caches, ((struct host_cache){1, 64, 64, 8, "Data", "32K", "0"}));
	vec_add(&info->host.caches,
		((struct host_cache){3, 64, 1024, 11, "Unified", "33792K", "0-3"}));
	info->has_times = true;
	info->first_time = 7618859011123;
	info->last_time = 7618859707456;
	info->host.memory_block_bytes = 0x8000000;
	vec_add(&info->host.memories, ((struct host_memory){0, 65, memory_bits}));
	vec_add(&info->host.memories, ((struct host_memory){1, 5, sparse_bits}));
	info->has_clockid = true;
	info->clock_resolution_ns = 1;
	info->has_clock_data = true;
	info->clockid = 1;
	info->wall_ns = 1795284881608182000;
	info->clock_ns = 7619001837619;
	vec_add(&info->build_ids,
		((struct file_build_id){2, -1,
			{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, 20,
			"/usr/lib/libc.so.6"}));
	vec_add(&info->build_ids,
		((struct file_build_id){1, -1, {0xff, 0xfe}, 2, "[kernel.kallsyms]"}));
	vec_add(&info->build_ids, ((struct file_build_id){5, 77, {0}, 0, "/guest"}));
	str_add(&info->tracing_data, "the formats");
}

static const unsigned readable[] = {FEATURE_BUILD_ID, FEATURE_HOSTNAME, FEATURE_OSRELEASE,
	FEATURE_VERSION, FEATURE_ARCH, FEATURE_NRCPUS, FEATURE_CPUDESC, FEATURE_CPUID,
	FEATURE_TOTAL_MEM, FEATURE_CMDLINE, FEATURE_EVENT_DESC, FEATURE_CPU_TOPOLOGY,
	FEATURE_NUMA_TOPOLOGY, FEATURE_PMU_MAPPINGS, FEATURE_GROUP_DESC, FEATURE_CACHE,
	FEATURE_SAMPLE_TIME, FEATURE_MEM_TOPOLOGY, FEATURE_CLOCKID, FEATURE_CLOCK_DATA};

/* Reads n bytes, from a block that ends with them. `cpus`: how many NRCPUS has told of. */
static int read_exact(unsigned id, const void *p, size_t n, u32 cpus, struct file_info *info,
	struct err *err)
{
	u8 *exact = recording_exact(p, n);
	struct bytes b = bytes_of(exact, n);
	int r;

	b.offset = 0x1000;
	file_info_init(info);
	info->host.cpus_available = cpus;
	r = feature_read(id, &b, info, err);
	free(exact);
	return r;
}

/* What `fill` says, written and read again. */
static void read_back(unsigned id, struct file_info *ret_info)
{
	struct file_info info;
	struct str section = {0};
	struct err err;

	fill(&info);
	CHECK(feature_write(id, &info, &section));
	if (read_exact(id, section.at, section.n, 4, ret_info, &err) != 1)
		test_failed(__FILE__, __LINE__, "%s: %s", feature_name(id), err.msg);
	str_fini(&section);
	file_info_fini(&info);
}

TEST(feature_sections_are_the_same_when_read_and_written_again)
{
	for (size_t i = 0; i < ARRAY_SIZE(readable); i++) {
		struct file_info info, again;
		struct str first = {0}, second = {0};
		struct err err;

		fill(&info);
		CHECK(feature_write(readable[i], &info, &first));
		CHECK(first.n > 0);
		CHECK_EQ(read_exact(readable[i], first.at, first.n, 4, &again, &err), 1);
		CHECK(feature_write(readable[i], &again, &second));
		CHECK_EQ(second.n, first.n);
		CHECK(!memcmp(first.at, second.at, first.n));
		str_fini(&first);
		str_fini(&second);
		file_info_fini(&info);
		file_info_fini(&again);
	}
}

TEST(feature_strings_are_read_as_they_were_written)
{
	static const unsigned ids[] = {FEATURE_HOSTNAME, FEATURE_OSRELEASE, FEATURE_VERSION,
		FEATURE_ARCH, FEATURE_CPUDESC, FEATURE_CPUID};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		struct file_info info;
		const char *const *members[] = {&info.host.hostname, &info.host.release,
			&info.version, &info.host.arch, &info.host.cpu_description,
			&info.host.cpuid};
		static const char *const texts[] = {"vm", "6.18.44", "pace 0.1.0", "x86_64",
			"A CPU @ 2.50GHz", "GenuineIntel,6,85,4"};

		read_back(ids[i], &info);
		for (size_t k = 0; k < ARRAY_SIZE(members); k++) {
			if (k == i)
				CHECK_STR(*members[k], texts[k]);
			else
				CHECK(!*members[k]);
		}
		file_info_fini(&info);
	}
}

TEST(feature_numbers_are_read_as_they_were_written)
{
	struct file_info info;

	read_back(FEATURE_NRCPUS, &info);
	CHECK_EQ(info.host.cpus_available, 4);
	CHECK_EQ(info.host.cpus_online, 3);
	file_info_fini(&info);
	read_back(FEATURE_TOTAL_MEM, &info);
	CHECK_EQ(info.host.memory_kb, 24684096);
	file_info_fini(&info);
	read_back(FEATURE_SAMPLE_TIME, &info);
	CHECK(info.has_times);
	CHECK_EQ(info.first_time, 7618859011123);
	CHECK_EQ(info.last_time, 7618859707456);
	file_info_fini(&info);
	read_back(FEATURE_CLOCKID, &info);
	CHECK(info.has_clockid);
	CHECK_EQ(info.clock_resolution_ns, 1);
	file_info_fini(&info);
	read_back(FEATURE_CLOCK_DATA, &info);
	CHECK(info.has_clock_data);
	CHECK_EQ(info.clockid, 1);
	CHECK_EQ(info.wall_ns, 1795284881608182000);
	CHECK_EQ(info.clock_ns, 7619001837619);
	file_info_fini(&info);
}

TEST(feature_lists_are_read_as_they_were_written)
{
	struct file_info info;

	read_back(FEATURE_CMDLINE, &info);
	CHECK_EQ(info.cmdline.n, 3);
	CHECK_STR(info.cmdline.at[2], "a b");
	file_info_fini(&info);
	read_back(FEATURE_PMU_MAPPINGS, &info);
	CHECK_EQ(info.host.pmus.n, 2);
	CHECK_EQ(info.host.pmus.at[1].type, 4294967295u);
	CHECK_STR(info.host.pmus.at[1].name, "cpu");
	file_info_fini(&info);
	read_back(FEATURE_GROUP_DESC, &info);
	CHECK_EQ(info.groups.n, 2);
	CHECK_STR(info.groups.at[1].name, "named");
	CHECK_EQ(info.groups.at[1].leader, 1);
	CHECK_EQ(info.groups.at[1].n_members, 2);
	file_info_fini(&info);
	read_back(FEATURE_NUMA_TOPOLOGY, &info);
	CHECK_EQ(info.host.nodes.n, 2);
	CHECK_EQ(info.host.nodes.at[1].number, 3);
	CHECK_EQ(info.host.nodes.at[1].total_kb, 1ULL << 40);
	CHECK_EQ(info.host.nodes.at[0].free_kb, 4228552);
	CHECK_STR(info.host.nodes.at[1].cpus, "2-3");
	file_info_fini(&info);
	read_back(FEATURE_CACHE, &info);
	CHECK_EQ(info.host.caches.n, 2);
	CHECK_EQ(info.host.caches.at[1].level, 3);
	CHECK_EQ(info.host.caches.at[1].line_bytes, 64);
	CHECK_EQ(info.host.caches.at[1].sets, 1024);
	CHECK_EQ(info.host.caches.at[1].ways, 11);
	CHECK_STR(info.host.caches.at[1].type, "Unified");
	CHECK_STR(info.host.caches.at[1].size, "33792K");
	CHECK_STR(info.host.caches.at[1].cpus, "0-3");
	file_info_fini(&info);
}

TEST(feature_events_are_read_with_attrs_names_and_ids)
{
	struct file_info info;

	read_back(FEATURE_EVENT_DESC, &info);
	CHECK_EQ(info.events.n, 3);
	CHECK_STR(info.events.at[0].name, "page-faults");
	CHECK_EQ(info.events.at[0].n_ids, 2);
	CHECK_EQ(info.events.at[0].ids[1], 101);
	CHECK_EQ(info.events.at[0].attr.config, 2);
	CHECK_EQ(info.events.at[0].attr.flags, ATTR_FREQ | ATTR_DISABLED);
	CHECK_EQ(info.events.at[1].n_ids, 0);
	CHECK_EQ(info.events.at[1].attr.config3, 7);
	CHECK(info.events.at[2].ids[0] == UINT64_MAX);
	/* All attrs of a file have one size: that which the largest needs. */
	CHECK_EQ(info.events.at[0].attr.size, ATTR_SIZE_VER9);
	CHECK_EQ(info.events.at[2].attr.config4, 1);
	file_info_fini(&info);
}

TEST(feature_cpu_topology_is_read_with_and_without_its_later_parts)
{
	struct file_info info, again;
	struct str section = {0};
	struct err err;

	fill(&info);
	CHECK(feature_write(FEATURE_CPU_TOPOLOGY, &info, &section));
	CHECK_EQ(read_exact(FEATURE_CPU_TOPOLOGY, section.at, section.n, 4, &again, &err), 1);
	CHECK_EQ(again.host.core_siblings.n, 2);
	CHECK_STR(again.host.core_siblings.at[1], "2-3");
	CHECK_STR(again.host.thread_siblings.at[0], "0");
	CHECK_STR(again.host.die_siblings.at[0], "0-3");
	CHECK(again.host.has_dies);
	CHECK_EQ(again.host.cpus.n, 4);
	CHECK_EQ(again.host.cpus.at[3].core, 1);
	CHECK_EQ(again.host.cpus.at[3].socket, 1);
	CHECK_EQ(again.host.cpus.at[3].die, 9);
	file_info_fini(&again);
	str_clear(&section);

	info.host.has_dies = false;
	CHECK(feature_write(FEATURE_CPU_TOPOLOGY, &info, &section));
	CHECK_EQ(read_exact(FEATURE_CPU_TOPOLOGY, section.at, section.n, 4, &again, &err), 1);
	CHECK(!again.host.has_dies);
	CHECK_EQ(again.host.cpus.n, 4);
	CHECK_EQ(again.host.die_siblings.n, 0);
	file_info_fini(&again);
	/* Before Linux 3.9 there were only the lists. */
	CHECK_EQ(read_exact(FEATURE_CPU_TOPOLOGY, section.at, section.n - 32, 4, &again, &err), 1);
	CHECK_EQ(again.host.cpus.n, 0);
	CHECK_EQ(again.host.core_siblings.n, 2);
	file_info_fini(&again);
	str_fini(&section);
	file_info_fini(&info);
}

TEST(feature_memory_topology_is_read_bit_by_bit)
{
	struct file_info info;

	read_back(FEATURE_MEM_TOPOLOGY, &info);
	CHECK_EQ(info.host.memory_block_bytes, 0x8000000);
	CHECK_EQ(info.host.memories.n, 2);
	CHECK_EQ(info.host.memories.at[0].n_bits, 65);
	CHECK(info.host.memories.at[0].bits[0] == memory_bits[0]);
	CHECK_EQ(info.host.memories.at[0].bits[1], 1);
	CHECK_EQ(info.host.memories.at[1].node, 1);
	CHECK_EQ(info.host.memories.at[1].bits[0], 0x15);
	file_info_fini(&info);
}

TEST(feature_build_ids_of_all_sizes_are_read)
{
	struct file_info info;

	read_back(FEATURE_BUILD_ID, &info);
	CHECK_EQ(info.build_ids.n, 3);
	CHECK_EQ(info.build_ids.at[0].id_size, 20);
	CHECK_EQ(info.build_ids.at[0].id[19], 20);
	CHECK_EQ(info.build_ids.at[0].pid, -1);
	CHECK_STR(info.build_ids.at[0].path, "/usr/lib/libc.so.6");
	CHECK_EQ(info.build_ids.at[1].id_size, 2);
	CHECK_EQ(info.build_ids.at[1].id[1], 0xfe);
	CHECK_EQ(info.build_ids.at[1].misc & PERF_RECORD_MISC_CPUMODE_MASK,
		PERF_RECORD_MISC_KERNEL);
	CHECK_EQ(info.build_ids.at[2].id_size, 0);
	CHECK_EQ(info.build_ids.at[2].pid, 77);
	file_info_fini(&info);
}

/* Before perf 5.10 nobody said how long an id was: it had 20 bytes. More than that there is no room
 * for. */
TEST(feature_build_ids_without_a_size_or_with_too_large_a_one_have_20_bytes)
{
	static const struct {
		u16 misc;
		u8 size, expected;
	} cases[] = {{2, 0, 20}, {2, 7, 20}, {2 | PERF_RECORD_MISC_BUILD_ID_SIZE, 21, 20},
		{2 | PERF_RECORD_MISC_BUILD_ID_SIZE, 255, 20},
		{2 | PERF_RECORD_MISC_BUILD_ID_SIZE, 16, 16}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct record_header header = {0, cases[i].misc, 36 + 4};
		struct str section = {0};
		struct file_info info;
		struct err err;

		str_addn(&section, &header, sizeof(header));
		str_fill(&section, '\xff', 4);
		str_fill(&section, '\x55', 20);
		str_addc(&section, (char)cases[i].size);
		str_fill(&section, '\0', 3);
		/* No NUL ends this name, only its record. */
		str_add(&section, "/bin");
		CHECK_EQ(read_exact(FEATURE_BUILD_ID, section.at, section.n, 0, &info, &err), 1);
		CHECK_EQ(info.build_ids.n, 1);
		CHECK_EQ(info.build_ids.at[0].id_size, cases[i].expected);
		CHECK_STR(info.build_ids.at[0].path, "/bin");
		file_info_fini(&info);
		str_fini(&section);
	}
}

/* ---- damage ---- */

/* Cuts after which what is left is a whole section of its own. */
static bool may_end_at(unsigned id, size_t n)
{
	size_t entry = 36 + 64;

	if (id == FEATURE_BUILD_ID)
		return n % entry == 0;
	/* Two lists of 2 and 1 names of 64 bytes; then 4 CPUs of 8 bytes; then dies. */
	if (id == FEATURE_CPU_TOPOLOGY)
		return n >= 4 + 2 * 68 + 4 + 68 && n <= 4 + 2 * 68 + 4 + 68 + 4 * 8 &&
			(n - 212) % 8 == 0;
	return false;
}

TEST(feature_sections_cut_anywhere_are_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(readable); i++) {
		struct file_info info, cut;
		struct str section = {0};
		struct err err;

		fill(&info);
		CHECK(feature_write(readable[i], &info, &section));
		for (size_t n = 0; n < section.n; n++) {
			int r = read_exact(readable[i], section.at, n, 4, &cut, &err);

			if (r != (may_end_at(readable[i], n) ? 1 : ERR_FORMAT))
				test_failed(__FILE__, __LINE__, "%s of %zu bytes, cut to %zu: %d",
					feature_name(readable[i]), section.n, n, r);
			if (r < 0)
				CHECK_HAS(err.msg, feature_name(readable[i]));
			file_info_fini(&cut);
		}
		str_fini(&section);
		file_info_fini(&info);
	}
}

TEST(feature_errors_name_section_and_offsets)
{
	static const u8 bytes[] = {64, 0, 0, 0, 'v', 'm', 0};
	struct file_info info;
	struct err err;

	CHECK_EQ(read_exact(FEATURE_HOSTNAME, bytes, sizeof(bytes), 0, &info, &err), ERR_FORMAT);
	CHECK_STR(err.msg, "feature section HOSTNAME at offset 0x1000 is damaged at offset 0x1004");
	file_info_fini(&info);
}

/* Every word of every section in turn becomes a number that makes no sense; nothing is read or
 * allocated for it. */
TEST(feature_sections_with_hostile_numbers_do_no_harm)
{
	static const u32 values[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff};

	for (size_t i = 0; i < ARRAY_SIZE(readable); i++) {
		struct file_info info;
		struct str section = {0};

		fill(&info);
		CHECK(feature_write(readable[i], &info, &section));
		for (size_t at = 0; at + 4 <= section.n; at += 2) {
			for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
				struct file_info hurt;
				struct str text = {0};
				struct err err;
				u32 kept = load_u32(section.at + at);

				memcpy(section.at + at, &values[k], 4);
				read_exact(readable[i], section.at, section.n, 4, &hurt, &err);
				/* What was read before the damage may be shown all the same. */
				feature_add_text(readable[i], &hurt, true, &text);
				CHECK(hurt.host.arena.total <= 1 << 20);
				memcpy(section.at + at, &kept, 4);
				file_info_fini(&hurt);
				str_fini(&text);
			}
		}
		str_fini(&section);
		file_info_fini(&info);
	}
}

static void check_hostile(unsigned id, const void *bytes, size_t n)
{
	struct file_info info;
	struct err err;

	CHECK_EQ(read_exact(id, bytes, n, UINT32_MAX, &info, &err), ERR_FORMAT);
	CHECK(info.host.arena.total <= 1 << 20);
	file_info_fini(&info);
}

TEST(feature_counts_larger_than_the_section_are_refused)
{
	static const unsigned lists[] = {FEATURE_CMDLINE, FEATURE_EVENT_DESC, FEATURE_CPU_TOPOLOGY,
		FEATURE_NUMA_TOPOLOGY, FEATURE_PMU_MAPPINGS, FEATURE_GROUP_DESC, FEATURE_HOSTNAME};
	static const u32 counts[] = {61, 1 << 20, 0x40000000, 0x80000000, 0xffffffff};

	for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
		u32 words[16] = {counts[c]}, cache[16] = {1, counts[c]};

		for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
			check_hostile(lists[i], words, sizeof(words));
		check_hostile(FEATURE_CACHE, cache, sizeof(cache));
	}
}

TEST(feature_memory_topology_with_hostile_sizes_is_refused)
{
	static const u64 numbers[] = {257, 1ULL << 32, 1ULL << 58, (1ULL << 61) + 1, 1ULL << 63,
		UINT64_MAX - 62, UINT64_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		u64 nodes[8] = {1, 4096, numbers[i]}; /* version, block size, how many */
		u64 bits[10] = {1, 4096, 1, 0, 64,
			numbers[i]}; /* ..., node, bits, bits of the bitmap; four words */

		check_hostile(FEATURE_MEM_TOPOLOGY, nodes, sizeof(nodes));
		check_hostile(FEATURE_MEM_TOPOLOGY, bits, sizeof(bits));
	}
}

TEST(feature_versions_that_nobody_knows_are_refused)
{
	u64 words[8] = {2};

	check_hostile(FEATURE_CACHE, words, sizeof(words));
	check_hostile(FEATURE_MEM_TOPOLOGY, words, sizeof(words));
	check_hostile(FEATURE_CLOCK_DATA, words, sizeof(words));
}

TEST(feature_event_attrs_of_any_size_are_read_and_of_no_size_refused)
{
	static const u32 sizes[] = {64, 72, 96, 112, 128, 136, 144, 160, 4096};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		u32 head[] = {1, sizes[i]}, attr[] = {3, sizes[i]}, n_ids = 0, name_size = 4;
		struct str section = {0};
		struct file_info info;
		struct err err;

		str_addn(&section, head, sizeof(head));
		str_addn(&section, attr, sizeof(attr));
		str_fill(&section, '\0', sizes[i] - sizeof(attr));
		str_addn(&section, &n_ids, 4);
		str_addn(&section, &name_size, 4);
		str_add(&section, "name");
		CHECK_EQ(read_exact(FEATURE_EVENT_DESC, section.at, section.n, 0, &info, &err), 1);
		CHECK_EQ(info.events.n, 1);
		CHECK_EQ(info.events.at[0].attr.type, 3);
		CHECK_EQ(info.events.at[0].attr.size, sizes[i]);
		CHECK_STR(info.events.at[0].name, "name");
		file_info_fini(&info);
		/* A size that the section gives and the attr contradicts. */
		head[1] = 63;
		memcpy(section.at, head, sizeof(head));
		check_hostile(FEATURE_EVENT_DESC, section.at, section.n);
		head[1] = 0;
		memcpy(section.at, head, sizeof(head));
		check_hostile(FEATURE_EVENT_DESC, section.at, section.n);
		str_fini(&section);
	}
}

/* ---- what is not there ---- */

TEST(feature_sections_nobody_can_fill_are_not_written)
{
	struct file_info empty;
	struct str out = {0};

	file_info_init(&empty);
	str_add(&out, "before");
	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS + 8; id++) {
		CHECK(!feature_write(id, &empty, &out));
		CHECK_EQ(out.n, 6);
	}
	CHECK_STR(out.at, "before");
	file_info_fini(&empty);
	str_fini(&out);
}

TEST(feature_sections_this_program_does_not_know_are_left_alone)
{
	static const unsigned ids[] = {0, 32, 33, 240, 255, 256, UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		struct file_info info;
		struct str text = {0};
		struct err err;

		CHECK_EQ(read_exact(ids[i], "abc", 3, 0, &info, &err), 0);
		feature_add_text(ids[i], &info, true, &text);
		CHECK_EQ(text.n, 0);
		file_info_fini(&info);
	}
	CHECK(!feature_name(0));
	CHECK(!feature_name(32));
	CHECK(!feature_name(255));
	for (unsigned id = FEATURE_TRACING_DATA; id <= FEATURE_PMU_CAPS; id++)
		CHECK(feature_name(id));
	CHECK_STR(feature_name(FEATURE_BUILD_ID), "BUILD_ID");
	CHECK_STR(feature_name(FEATURE_PMU_CAPS), "PMU_CAPS");
}

TEST(feature_tracing_data_is_written_as_it_is)
{
	struct file_info info;
	struct str out = {0};

	fill(&info);
	CHECK(feature_write(FEATURE_TRACING_DATA, &info, &out));
	CHECK_STR(str_text(&out), "the formats");
	str_fini(&out);
	file_info_fini(&info);
}

/* ---- text: compared line by line with `perf report --header-only -I` of perf 6.1 ---- */

static void check_text(unsigned id, bool details, const char *expected)
{
	struct file_info info;
	struct str text = {0};

	fill(&info);
	feature_add_text(id, &info, details, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
	file_info_fini(&info);
}

TEST(feature_text_of_numbers_and_strings_is_perfs)
{
	check_text(FEATURE_HOSTNAME, false, "# hostname : vm\n");
	check_text(FEATURE_OSRELEASE, false, "# os release : 6.18.44\n");
	check_text(FEATURE_VERSION, false, "# perf version : pace 0.1.0\n");
	check_text(FEATURE_ARCH, false, "# arch : x86_64\n");
	check_text(FEATURE_NRCPUS, false, "# nrcpus online : 3\n# nrcpus avail : 4\n");
	check_text(FEATURE_CPUDESC, false, "# cpudesc : A CPU @ 2.50GHz\n");
	check_text(FEATURE_CPUID, false, "# cpuid : GenuineIntel,6,85,4\n");
	check_text(FEATURE_TOTAL_MEM, false, "# total memory : 24684096 kB\n");
	check_text(FEATURE_CMDLINE, false, "# cmdline : /usr/bin/pace record a b \n");
	check_text(FEATURE_CLOCKID, false, "# clockid frequency: 1000 MHz\n");
	check_text(FEATURE_SAMPLE_TIME, false,
		"# time of first sample : 7618.859011\n"
		"# time of last sample : 7618.859707\n"
		"# sample duration :      0.696 ms\n");
}

TEST(feature_text_of_events_pmus_and_groups_is_perfs)
{
	check_text(FEATURE_EVENT_DESC, false,
		"# event : name = page-faults, , id = { 100, 101 }, type = 1, size = 128, config = "
		"0x2, "
		"{ sample_period, sample_freq } = 4000, sample_type = IP|TID, disabled = 1, freq = "
		"1\n"
		"# event : name = cycles:u, , type = 1, size = 128, { sample_period, sample_freq } "
		"= 4000, "
		"sample_type = IP|TID, disabled = 1, freq = 1, config3 = 0x7\n"
		"# event : name = x/y=1/, , id = { 18446744073709551615 }, type = 1, size = 128, "
		"{ sample_period, sample_freq } = 4000, sample_type = IP|TID, disabled = 1, freq = "
		"1, config3 = 0x7, "
		"config4 = 0x1\n");
	check_text(FEATURE_PMU_MAPPINGS, false, "# pmu mappings: software = 1, cpu = 4294967295\n");
	check_text(FEATURE_GROUP_DESC, false,
		"# group: {page-faults,cycles:u}\n# group: named{cycles:u,x/y=1/}\n");
}

TEST(feature_text_of_topologies_is_perfs)
{
	check_text(FEATURE_CPU_TOPOLOGY, true,
		"# sibling sockets : 0-1\n"
		"# sibling sockets : 2-3\n"
		"# sibling dies    : 0-3\n"
		"# sibling threads : 0\n"
		"# CPU 0: Core ID 0, Die ID 9, Socket ID 0\n"
		"# CPU 1: Core ID 1, Die ID 9, Socket ID 0\n"
		"# CPU 2: Core ID 0, Die ID 9, Socket ID 1\n"
		"# CPU 3: Core ID 1, Die ID 9, Socket ID 1\n");
	check_text(FEATURE_NUMA_TOPOLOGY, true,
		"# node0 meminfo  : total = 4810968 kB, free = 4228552 kB\n"
		"# node0 cpu list : 0-1\n"
		"# node3 meminfo  : total = 1099511627776 kB, free = 0 kB\n"
		"# node3 cpu list : 2-3\n");
	check_text(FEATURE_CACHE, true,
		"# CPU cache info:\n"
		"#  L1 Data                 32K [0]\n"
		"#  L3 Unified           33792K [0-3]\n");
	check_text(FEATURE_MEM_TOPOLOGY, true,
		"# memory nodes (nr 2, block size 0x8000000):\n"
		"#    0 [7G]: 0-23,32-64\n"
		"#    1 [0G]: 0,2,4\n");
}

TEST(feature_text_of_long_sections_is_shown_on_request)
{
	check_text(FEATURE_CPU_TOPOLOGY, false,
		"# CPU_TOPOLOGY info available, use -I to display\n");
	check_text(FEATURE_NUMA_TOPOLOGY, false,
		"# NUMA_TOPOLOGY info available, use -I to display\n");
	check_text(FEATURE_CACHE, false, "# CACHE info available, use -I to display\n");
	check_text(FEATURE_MEM_TOPOLOGY, false,
		"# MEM_TOPOLOGY info available, use -I to display\n");
}

TEST(feature_text_makes_foreign_names_safe)
{
	struct file_info info;
	struct str text = {0};

	fill(&info);
	info.host.hostname = "a\x1b]0;x\x07";
	info.cmdline.at[2] = "\n";
	info.events.at[0].name = "\x1b[2J";
	info.groups.at[1].name = "\r";
	info.host.pmus.at[0].name = "\t";
	info.host.caches.at[0].type = "\x7f";
	info.host.nodes.at[0].cpus = "\x1b";
	info.host.core_siblings.at[0] = "\x1b";
	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++)
		feature_add_text(id, &info, true, &text);
	for (size_t i = 0; i < text.n; i++)
		CHECK(text.at[i] == '\n' || ((u8)text.at[i] >= ' ' && (u8)text.at[i] < 0x7f));
	CHECK_HAS(str_text(&text), "# hostname : a\\x1b]0;x\\x07\n");
	CHECK_HAS(str_text(&text), "# group: {\\x1b[2J,cycles:u}\n");
	str_fini(&text);
	file_info_fini(&info);
}

TEST(feature_groups_that_name_events_which_are_not_there_show_those_that_are)
{
	struct file_info info;
	struct str text = {0};

	fill(&info);
	info.groups.at[0].n_members = UINT32_MAX;
	info.groups.at[1].n_members = UINT32_MAX;
	vec_add(&info.groups, ((struct file_group){"nowhere", UINT32_MAX, UINT32_MAX}));
	feature_add_text(FEATURE_GROUP_DESC, &info, false, &text);
	CHECK_STR(str_text(&text),
		"# group: {page-faults,cycles:u,x/y=1/}\n# group: "
		"named{cycles:u,x/y=1/}\n# group: nowhere{}\n");
	str_fini(&text);
	file_info_fini(&info);
}

TEST(feature_notes_are_lines_of_text_and_safe)
{
	struct file_info info, read;
	struct str section = {0}, text = {0};
	struct bytes b;
	struct err err;

	file_info_init(&info);
	file_info_init(&read);
	CHECK(!feature_write(FEATURE_NOTES, &info, &section));
	str_add(&info.notes, "one\ntwo \x1b[2J\n");
	CHECK(feature_write(FEATURE_NOTES, &info, &section));
	b = bytes_of(section.at, section.n);
	CHECK_EQ(feature_read(FEATURE_NOTES, &b, &read, &err), 1);
	feature_add_text(FEATURE_NOTES, &read, false, &text);
	CHECK_STR(str_text(&text), "# note : one\n# note : two \\x1b[2J\n");
	str_fini(&text);
	str_fini(&section);
	file_info_fini(&read);
	file_info_fini(&info);
}
