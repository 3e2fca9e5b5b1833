#include "event/parse.h"

#include "fake_sysfs.h"
#include "test.h"

/* ---- events as text, so that a case is one line and nothing about an event is left out ---- */

static const struct {
	u64 bits;
	const char *name;
} flag_names[] = {
	{ATTR_EXCLUDE_USER, "-u"},
	{ATTR_EXCLUDE_KERNEL, "-k"},
	{ATTR_EXCLUDE_HV, "-h"},
	{ATTR_EXCLUDE_HOST, "-H"},
	{ATTR_EXCLUDE_GUEST, "-G"},
	{ATTR_EXCLUDE_IDLE, "-idle"},
	{ATTR_PINNED, "pinned"},
	{ATTR_EXCLUSIVE, "exclusive"},
	{ATTR_FREQ, "freq"},
};

static const struct {
	unsigned bit;
	const char *name;
} wish_names[] = {
	{EVENT_MAX_PRECISE, "max-precise"},
	{EVENT_WEAK_GROUP, "weak"},
	{EVENT_SAMPLE_READ, "read"},
	{EVENT_USE_BPF, "bpf"},
	{EVENT_OWN_PERIOD, "own-period"},
	{EVENT_GUEST_SAID, "guest-said"},
};

static void add_configs(const struct event_attr *a, struct str *s)
{
	const u64 configs[] = {a->config, a->config1, a->config2, a->config3, a->config4};
	size_t n = ARRAY_SIZE(configs);

	while (n > 1 && !configs[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		str_addf(s, "/%llx", (unsigned long long)configs[i]);
}

/* "name = type/config/config1... flags wishes period cpus group" */
static void add_event(const struct event_list *events, u32 i, struct str *s)
{
	const struct event *e = &events->at[i];
	struct event_attr rest = e->attr;

	str_addf(s, "%s = %u", e->name, e->attr.type);
	add_configs(&e->attr, s);
	for (size_t k = 0; k < ARRAY_SIZE(flag_names); k++)
		if (e->attr.flags & flag_names[k].bits)
			str_addf(s, " %s", flag_names[k].name), rest.flags &= ~flag_names[k].bits;
	if (attr_precise(&e->attr))
		str_addf(s, " p%u", attr_precise(&e->attr));
	attr_set_precise(&rest, 0);
	for (size_t k = 0; k < ARRAY_SIZE(wish_names); k++)
		if (e->wishes & wish_names[k].bit)
			str_addf(s, " %s", wish_names[k].name);
	CHECK_EQ(e->wishes >> ARRAY_SIZE(wish_names), 0);
	if (e->attr.sample_period)
		str_addf(s, " every %llu", (unsigned long long)e->attr.sample_period);
	if (e->cpus.n) {
		str_add(s, " on ");
		cpus_add_text(&e->cpus, s);
	}
	if (e->leader != i)
		str_addf(s, " in %u", e->leader);
	else if (e->n_members != 1)
		str_addf(s, " leads %u", e->n_members);
	CHECK_EQ(e->n_members > 0, e->leader == i);
	/* Nothing else is set. */
	rest.type = 0;
	rest.config = rest.config1 = rest.config2 = rest.config3 = rest.config4 =
		rest.sample_period = 0;
	for (size_t k = 0; k < sizeof(rest); k++)
		CHECK_EQ(((u8 *)&rest)[k], 0);
}

static struct parse_env make_env(void)
{
	return (struct parse_env){.sysfs = fake_sysfs(), .tracefs = fake_tracefs()};
}

struct good_case {
	const char *text, *events;
};

static void check_good(const struct good_case *cases, size_t n)
{
	struct parse_env env = make_env();

	for (size_t i = 0; i < n; i++) {
		struct event_list events = {0};
		struct str got = {0};
		struct err err = {0};

		if (parse_events(cases[i].text, &env, &events, &err))
			test_failed(__FILE__, __LINE__, "%s", err.msg);
		for (u32 k = 0; k < events.n; k++) {
			str_add(&got, k ? "; " : "");
			add_event(&events, k, &got);
		}
		CHECK_STR(str_text(&got), cases[i].events);
		str_fini(&got);
		event_list_fini(&events);
	}
}

TEST(parse_knows_names)
{
	static const struct good_case cases[] = {
		{"cycles", "cycles = 0/0"},
		{"cpu-cycles", "cpu-cycles = 0/0"},
		{"instructions", "instructions = 0/1"},
		{"branch-instructions", "branch-instructions = 0/4"},
		{"ref-cycles", "ref-cycles = 0/9"},
		{"cpu-clock", "cpu-clock = 1/0"},
		{"cs", "cs = 1/3"},
		{"cgroup-switches", "cgroup-switches = 1/b"},
		{"dummy", "dummy = 1/9"},
		{"L1-dcache-load-misses", "L1-dcache-load-misses = 3/10000"},
		{"l1d", "l1d = 3/0"},
		{"LLC-stores", "LLC-stores = 3/102"},
		{"bpu-read-miss", "bpu-read-miss = 3/10005"},
		{"node-prefetch-misses", "node-prefetch-misses = 3/10206"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

TEST(parse_knows_raw_events)
{
	static const struct good_case cases[] = {
		{"r0", "r0 = 4/0"},
		{"r1a8", "r1a8 = 4/1a8"},
		{"rFFaa", "rFFaa = 4/ffaa"},
		{"r003c", "r003c = 4/3c"},
		{"rffffffffffffffff", "rffffffffffffffff = 4/ffffffffffffffff"},
		{"r4c8:u", "r4c8:u = 4/4c8 -k -h"},
		{"r4c8:k,r4c9", "r4c8:k = 4/4c8 -u -h; r4c9 = 4/4c9"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

TEST(parse_knows_modifiers)
{
	static const struct good_case cases[] = {
		{"cycles:u", "cycles:u = 0/0 -k -h"},
		{"cycles:k", "cycles:k = 0/0 -u -h"},
		{"cycles:h", "cycles:h = 0/0 -u -k"},
		{"cycles:uk", "cycles:uk = 0/0 -h"},
		{"cycles:ku", "cycles:ku = 0/0 -h"},
		{"cycles:uh", "cycles:uh = 0/0 -k"},
		{"cycles:kh", "cycles:kh = 0/0 -u"},
		{"cycles:ukh", "cycles:ukh = 0/0"},
		{"cycles:uu", "cycles:uu = 0/0 -k -h"},
		{"cycles:G", "cycles:G = 0/0 -H guest-said"},
		{"cycles:H", "cycles:H = 0/0 -G guest-said"},
		{"cycles:GH", "cycles:GH = 0/0 guest-said"},
		{"cycles:HG", "cycles:HG = 0/0 guest-said"},
		{"cycles:hku", "cycles:hku = 0/0"},
		{"cycles:hu", "cycles:hu = 0/0 -k"},
		{"cycles:uH", "cycles:uH = 0/0 -k -h -G guest-said"},
		{"cycles:p", "cycles:p = 0/0 p1"},
		{"cycles:pp", "cycles:pp = 0/0 p2"},
		{"cycles:ppp", "cycles:ppp = 0/0 p3"},
		{"cycles:pup", "cycles:pup = 0/0 -k -h p2"},
		{"cycles:P", "cycles:P = 0/0 max-precise"},
		{"cycles:D", "cycles:D = 0/0 pinned"},
		{"cycles:S", "cycles:S = 0/0 read"},
		{"cycles:I", "cycles:I = 0/0 -idle"},
		{"cycles:W", "cycles:W = 0/0 weak"},
		{"cycles:e", "cycles:e = 0/0 exclusive"},
		{"cycles:b", "cycles:b = 0/0 bpf"},
		{"cycles:ukhGHpppPDSIWeb",
			"cycles:ukhGHpppPDSIWeb = 0/0 -idle pinned exclusive p3 "
			"max-precise weak read bpf guest-said"},
		/* In any order, none undoes another. */
		{"cycles:bSWP", "cycles:bSWP = 0/0 max-precise weak read bpf"},
		{"cycles:PSbWH", "cycles:PSbWH = 0/0 -G max-precise weak read bpf guest-said"},
		{"cycles:eIDpW", "cycles:eIDpW = 0/0 -idle pinned exclusive p1 weak"},
		{"cpu-clock:kppp", "cpu-clock:kppp = 1/0 -u -h p3"},
		{"LLC-loads:uP", "LLC-loads:uP = 3/2 -k -h max-precise"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

TEST(parse_knows_tracepoints)
{
	static const struct good_case cases[] = {
		{"sched:sched_switch", "sched:sched_switch = 2/13a"},
		{"sched:sched_wakeup:u", "sched:sched_wakeup:u = 2/13b -k -h"},
		{"syscalls:sys_enter_openat", "syscalls:sys_enter_openat = 2/258"},
		{"sched:sched_switch:kD,cs",
			"sched:sched_switch:kD = 2/13a -u -h pinned; cs = 1/3"},
		{"{sched:sched_switch,sched:sched_wakeup}",
			"sched:sched_switch = 2/13a leads 2; sched:sched_wakeup = 2/13b in 0"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

TEST(parse_knows_pmu_terms)
{
	static const struct good_case cases[] = {
		{"cpu//", "cpu// = 4/0"},
		{"cpu/event=0x3c/", "cpu/event=0x3c/ = 4/3c"},
		{"cpu/event=60/", "cpu/event=60/ = 4/3c"},
		{"cpu/event=0x3c,umask=0xff/", "cpu/event=0x3c,umask=0xff/ = 4/ff3c"},
		{"cpu/event=0x3c,umask=1,cmask=2,inv,edge/",
			"cpu/event=0x3c,umask=1,cmask=2,inv,edge/ = 4/284013c"},
		{"cpu/event=1,/", "cpu/event=1,/ = 4/1"},
		{"cpu/edge/", "cpu/edge/ = 4/40000"},
		{"cpu/edge=0/", "cpu/edge=0/ = 4/0"},
		{"cpu/in_tx/", "cpu/in_tx/ = 4/100000000"},
		{"cpu/event=0xcd,ldlat=30/", "cpu/event=0xcd,ldlat=30/ = 4/cd/1e"},
		{"cpu/offcore_rsp=0xffffffffffffffff/",
			"cpu/offcore_rsp=0xffffffffffffffff/ = 4/0/ffffffffffffffff"},
		{"cpu/frontend=0x11/", "cpu/frontend=0x11/ = 4/0/0/11"},
		{"cpu/event=1,event=2/", "cpu/event=1,event=2/ = 4/2"},
		{"cpu_atom/event=1/", "cpu_atom/event=1/ = 10/1 on 4-7"},
		{"uncore_imc_0/event=4,umask=3/", "uncore_imc_0/event=4,umask=3/ = 14/304 on 0,2"},
		{"split/wide=0xabc/", "split/wide=0xabc/ = 20/a000000bc"},
		{"split/wide=0xfff,top/", "split/wide=0xfff,top/ = 20/8000000f000000ff"},
		{"split/three=15/", "split/three=15/ = 20/0/1000000000000031"},
		{"split/full=0x8000000000000001/",
			"split/full=0x8000000000000001/ = 20/8000000000000001"},
		{"split/c3=7,c4=0xab/", "split/c3=7,c4=0xab/ = 20/0/0/0/7/ab00"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

TEST(parse_knows_terms_that_every_pmu_has)
{
	static const struct good_case cases[] = {
		{"cpu/config=0x1234567890/", "cpu/config=0x1234567890/ = 4/1234567890"},
		{"cpu/config1=5/", "cpu/config1=5/ = 4/0/5"},
		{"cpu/config2=6,config3=7/", "cpu/config2=6,config3=7/ = 4/0/0/6/7"},
		{"cpu/config=1,umask=2/", "cpu/config=1,umask=2/ = 4/201"},
		{"cpu/event=1,period=1000/",
			"cpu/event=1,period=1000/ = 4/1 own-period every 1000"},
		{"cpu/event=1,freq=99/", "cpu/event=1,freq=99/ = 4/1 freq own-period every 99"},
		{"cpu/freq=99,period=5/", "cpu/freq=99,period=5/ = 4/0 own-period every 5"},
		{"cpu/event=1,precise=2/", "cpu/event=1,precise=2/ = 4/1 p2"},
		{"cpu/event=1,precise=2/ppp", "cpu/event=1,precise=2/ppp = 4/1 p3"},
		{"cpu/event=1,name=mine/", "mine = 4/1"},
		{"cpu/event=1,name=0x7.b-c_d/u", "0x7.b-c_d = 4/1 -k -h"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

TEST(parse_knows_pmu_modifiers_with_and_without_colon)
{
	static const struct good_case cases[] = {
		{"cpu/event=1/u", "cpu/event=1/u = 4/1 -k -h"},
		{"cpu/event=1/:u", "cpu/event=1/:u = 4/1 -k -h"},
		{"cpu/event=1/upp,cs", "cpu/event=1/upp = 4/1 -k -h p2; cs = 1/3"},
		{"cpu//k", "cpu//k = 4/0 -u -h"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

TEST(parse_knows_aliases_of_pmus)
{
	static const struct good_case cases[] = {
		{"cpu/cpu-cycles/", "cpu/cpu-cycles/ = 4/3c"},
		{"cpu/mem-loads/", "cpu/mem-loads/ = 4/1cd/3"},
		/* What is written behind the alias wins. */
		{"cpu/mem-loads,ldlat=30/pp", "cpu/mem-loads,ldlat=30/pp = 4/1cd/1e p2"},
		{"cpu/ldlat=30,mem-loads/", "cpu/ldlat=30,mem-loads/ = 4/1cd/3"},
		{"cpu/edge-cycles/", "cpu/edge-cycles/ = 4/4003c"},
		{"cpu/mem-loads,name=ml/", "ml = 4/1cd/3"},
		{"mem-loads", "mem-loads = 4/1cd/3"},
		{"mem-loads:uP", "mem-loads:uP = 4/1cd/3 -k -h max-precise"},
		{"atom-only:u", "atom-only:u = 10/22 -k -h on 4-7"},
		{"cas_count_read", "cas_count_read = 14/304 on 0,2"},
		{"uncore_imc_0/cas_count_read/", "uncore_imc_0/cas_count_read/ = 14/304 on 0,2"},
		{"shared-name", "shared-name = 4/1"},
		{"cpu_atom/shared-name/", "cpu_atom/shared-name/ = 10/2 on 4-7"},
		{"cpu-cycles,cpu/cpu-cycles/", "cpu-cycles = 0/0; cpu/cpu-cycles/ = 4/3c"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

TEST(parse_knows_lists_and_groups)
{
	static const struct good_case cases[] = {
		{"cycles,instructions", "cycles = 0/0; instructions = 0/1"},
		{"cs,cs,cs", "cs = 1/3; cs = 1/3; cs = 1/3"},
		{"cycles:u,instructions:k", "cycles:u = 0/0 -k -h; instructions:k = 0/1 -u -h"},
		{"{cycles}", "cycles = 0/0"},
		{"{cycles,instructions}", "cycles = 0/0 leads 2; instructions = 0/1 in 0"},
		{"{cycles,instructions,cs,dummy}",
			"cycles = 0/0 leads 4; instructions = 0/1 in 0; "
			"cs = 1/3 in 0; dummy = 1/9 in 0"},
		{"cs,{cycles,instructions},dummy",
			"cs = 1/3; cycles = 0/0 leads 2; instructions = 0/1 in 1; dummy = 1/9"},
		{"{cycles,cs},{instructions,dummy}",
			"cycles = 0/0 leads 2; cs = 1/3 in 0; instructions = 0/1 leads 2; dummy = "
			"1/9 in 2"},
		{"ipc:{cycles,instructions}", "cycles = 0/0 leads 2; instructions = 0/1 in 0"},
		{"ipc:{cycles,instructions}:u",
			"cycles = 0/0 -k -h leads 2; instructions = 0/1 -k -h in 0"},
		{"a:{cycles},b:{cs,dummy}", "cycles = 0/0; cs = 1/3 leads 2; dummy = 1/9 in 1"},
		{"{cpu/event=1/u,uncore_imc_0/event=2/,mem-loads}:W",
			"cpu/event=1/u = 4/1 -k -h weak leads 3; uncore_imc_0/event=2/ = 14/2 weak "
			"on 0,2 in 0; "
			"mem-loads = 4/1cd/3 weak in 0"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

/* As in perf: a group's u, k, h, G and H add to what its events say. */
TEST(parse_gives_group_modifiers_to_every_member)
{
	static const struct good_case cases[] = {
		{"{cycles,instructions}:S",
			"cycles = 0/0 read leads 2; instructions = 0/1 read in 0"},
		{"{cycles,instructions}:DeIW",
			"cycles = 0/0 -idle pinned exclusive weak leads 2; "
			"instructions = 0/1 -idle pinned exclusive weak "
			"in 0"},
		{"{cycles:u,instructions}:k",
			"cycles:u = 0/0 -h leads 2; instructions = 0/1 -u -h in 0"},
		{"{cycles:u,instructions:k}:h",
			"cycles:u = 0/0 -k leads 2; instructions:k = 0/1 -u in 0"},
		{"{cycles:u,instructions}:u",
			"cycles:u = 0/0 -k -h leads 2; instructions = 0/1 -k -h in 0"},
		{"{cycles:G,instructions}:H",
			"cycles:G = 0/0 guest-said leads 2; instructions = 0/1 -G guest-said in 0"},
		{"{cycles:pp,instructions}:u",
			"cycles:pp = 0/0 -k -h p2 leads 2; instructions = 0/1 -k -h in 0"},
		{"{cycles:D,instructions:P}:S",
			"cycles:D = 0/0 pinned read leads 2; "
			"instructions:P = 0/1 max-precise read in 0"},
		{"{cycles,cs}:u,dummy",
			"cycles = 0/0 -k -h leads 2; cs = 1/3 -k -h in 0; dummy = 1/9"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

TEST(parse_appends_to_the_list)
{
	struct parse_env env = make_env();
	struct event_list events = {0};
	struct err err;

	CHECK_EQ(parse_events("cs,{cycles,instructions}", &env, &events, &err), 0);
	CHECK_EQ(parse_events("{dummy,cpu-clock,faults}:u", &env, &events, &err), 0);
	CHECK_EQ(parse_events("r1", &env, &events, &err), 0);
	CHECK_EQ(events.n, 7);
	CHECK_EQ(events.at[2].leader, 1);
	CHECK_EQ(events.at[3].leader, 3);
	CHECK_EQ(events.at[3].n_members, 3);
	CHECK_EQ(events.at[5].leader, 3);
	CHECK_EQ(events.at[5].n_members, 0);
	CHECK_EQ(events.at[6].leader, 6);
	/* A group's modifiers stay in it. */
	CHECK_EQ(events.at[1].attr.flags, 0);
	CHECK_EQ(events.at[6].attr.flags, 0);
	event_list_fini(&events);
}

/* ---- errors ---- */

struct bad_case {
	const char *text;
	int code;
	const char *message; /* without "event 'text'" in front */
};

static void check_bad(const struct bad_case *cases, size_t n)
{
	struct parse_env env = make_env();

	for (size_t i = 0; i < n; i++) {
		struct event_list events = {0};
		struct err err = {0};
		char expected[1024];

		if (!parse_events(cases[i].text, &env, &events, &err))
			test_failed(__FILE__, __LINE__, "'%s' is taken", cases[i].text);
		snprintf(expected, sizeof(expected), "event '%s'%s", cases[i].text,
			cases[i].message);
		CHECK_STR(err.msg, expected);
		CHECK_EQ(err.code, cases[i].code);
		event_list_fini(&events);
	}
}

TEST(parse_points_at_syntax_errors)
{
	static const struct bad_case cases[] = {
		{"", ERR_INVAL, ": expected the name of an event, found the end"},
		{",", ERR_INVAL, ": expected the name of an event, found ','"},
		{" cycles", ERR_INVAL, ": expected the name of an event, found ' '"},
		{"cycles,", ERR_INVAL,
			" at column 8: expected the name of an event, found the end"},
		{"cycles,,cs", ERR_INVAL, " at column 8: expected the name of an event, found ','"},
		{"cycles cs", ERR_INVAL, " at column 7: expected ',' or the end, found ' '"},
		{"cycles}", ERR_INVAL, " at column 7: expected ',' or the end, found '}'"},
		{"cycles=1", ERR_INVAL, " at column 7: expected ',' or the end, found '='"},
		{"cycles:", ERR_INVAL,
			" at column 8: expected modifiers or the name of a tracepoint, found the "
			"end"},
		{":u", ERR_INVAL, ": expected the name of an event, found ':'"},
		{"cycles::u", ERR_INVAL,
			" at column 8: expected modifiers or the name of a tracepoint, found ':'"},
		{"cycles:u:k", ERR_INVAL, " at column 10: modifiers come once, behind one ':'"},
		{"sched:sched_switch:u:k", ERR_INVAL,
			" at column 21: expected ',' or the end, found ':'"},
		{"/event=1/", ERR_INVAL, ": expected the name of an event, found '/'"},
		{"cpu/event", ERR_INVAL, " at column 10: expected ',' or '/', found the end"},
		{"cpu/", ERR_INVAL,
			" at column 5: expected the name of a term or '/', found the end"},
		{"cpu/=1/", ERR_INVAL,
			" at column 5: expected the name of a term or '/', found '='"},
		{"cpu/,event=1/", ERR_INVAL,
			" at column 5: expected the name of a term or '/', found ','"},
		{"cpu/event=/", ERR_INVAL, " at column 11: expected a value, found '/'"},
		{"cpu/event=1;umask=2/", ERR_INVAL,
			" at column 12: expected ',' or '/', found ';'"},
		{"cpu/event=1/:", ERR_INVAL, " at column 14: expected modifiers, found the end"},
		{"cpu/event=1/ u", ERR_INVAL, " at column 13: expected ',' or the end, found ' '"},
		{"{", ERR_INVAL, " at column 2: expected the name of an event, found the end"},
		{"{}", ERR_INVAL, " at column 2: expected the name of an event, found '}'"},
		{"{cycles", ERR_INVAL, " at column 8: expected ',' or '}', found the end"},
		{"{cycles,}", ERR_INVAL, " at column 9: expected the name of an event, found '}'"},
		{"{cycles}:", ERR_INVAL, " at column 10: expected modifiers, found the end"},
		{"{cycles}u", ERR_INVAL, " at column 9: expected ',' or the end, found 'u'"},
		{"{{cycles}}", ERR_INVAL, " at column 2: expected the name of an event, found '{'"},
		{"{a:{cycles}}", ERR_INVAL,
			" at column 4: expected modifiers or the name of a tracepoint, found '{'"},
		{"{cycles}{cs}", ERR_INVAL, " at column 9: expected ',' or the end, found '{'"},
		{"cs,a:{cycles", ERR_INVAL, " at column 13: expected ',' or '}', found the end"},
	};

	check_bad(cases, ARRAY_SIZE(cases));
}

TEST(parse_points_at_wrong_modifiers)
{
#define KNOWN "is no modifier; known are u k h G H I D S W e b R p pp ppp P"
	static const struct bad_case cases[] = {
		{"cycles:x", ERR_INVAL, " at column 8: 'x' " KNOWN},
		{"cycles:ukx", ERR_INVAL, " at column 10: 'x' " KNOWN},
		{"cycles:U", ERR_INVAL, " at column 8: 'U' " KNOWN},
		{"cs,cycles:u-k", ERR_INVAL, " at column 12: '-' " KNOWN},
		{"cycles:pppp", ERR_INVAL,
			" at column 8: precision has four levels: none, p, pp, ppp"},
		{"cpu/event=1/x", ERR_INVAL, " at column 13: 'x' " KNOWN},
		{"cpu/event=1/:x", ERR_INVAL, " at column 14: 'x' " KNOWN},
		{"{cycles}:x", ERR_INVAL, " at column 10: 'x' " KNOWN},
		{"sched:sched_switch:x", ERR_INVAL, " at column 20: 'x' " KNOWN},
		{"r4c8:x", ERR_INVAL, " at column 6: 'x' " KNOWN},
		{"mem-loads:x", ERR_INVAL, " at column 11: 'x' " KNOWN},
	};
#undef KNOWN

	check_bad(cases, ARRAY_SIZE(cases));
}

TEST(parse_names_the_nearest_event)
{
	static const struct bad_case cases[] = {
		{"cycels", ERR_NOENT, ": there is no event 'cycels'; did you mean 'cycles'?"},
		{"cs,cycels", ERR_NOENT,
			" at column 4: there is no event 'cycels'; did you mean 'cycles'?"},
		{"{cs,instrutcions}", ERR_NOENT,
			" at column 5: there is no event 'instrutcions'; did you mean "
			"'instructions'?"},
		{"Cycles", ERR_NOENT, ": there is no event 'Cycles'; did you mean 'cycles'?"},
		{"migratoins", ERR_NOENT,
			": there is no event 'migratoins'; did you mean 'migrations'?"},
		{"L1-dcache-laod-misses", ERR_NOENT,
			": there is no event 'L1-dcache-laod-misses'; did you mean "
			"'L1-dcache-load-misses'?"},
		{"mem-laods", ERR_NOENT,
			": there is no event 'mem-laods'; did you mean 'mem-loads'?"},
		{"cas_count_raed", ERR_NOENT,
			": there is no event 'cas_count_raed'; did you mean 'cas_count_read'?"},
		{"frobnications", ERR_NOENT, ": there is no event 'frobnications'"},
		{"L1-icache-stores", ERR_NOENT,
			": there is no event 'L1-icache-stores'; did you mean 'L1-dcache-stores'?"},
		/* Also with modifiers, which look like the name of a tracepoint. */
		{"cycels:u", ERR_NOENT, ": there is no event 'cycels'; did you mean 'cycles'?"},
		{"cs,cycels:ukpp", ERR_NOENT,
			" at column 4: there is no event 'cycels'; did you mean 'cycles'?"},
		{"4c8:u", ERR_NOENT,
			": there is no event '4c8'; did you mean the raw event 'r4c8'?"},
		/* Raw events without their r. */
		{"4c8", ERR_NOENT, ": there is no event '4c8'; did you mean the raw event 'r4c8'?"},
		{"cs,01A8", ERR_NOENT,
			" at column 4: there is no event '01A8'; did you mean the raw event "
			"'r01A8'?"},
		{"r", ERR_NOENT, ": there is no event 'r'"},
		{"r4cg", ERR_NOENT, ": there is no event 'r4cg'"},
		{"r10000000000000000", ERR_NOENT, ": there is no event 'r10000000000000000'"},
		/* A file that describes an alias is none. */
		{"mem-loads.scale", ERR_NOENT, ": there is no event 'mem-loads.scale'"},
	};

	check_bad(cases, ARRAY_SIZE(cases));
}

TEST(parse_names_the_nearest_tracepoint)
{
	static const struct bad_case cases[] = {
		{"sched:sched_swich", ERR_NOENT,
			": there is no tracepoint 'sched:sched_swich'; did you mean "
			"'sched:sched_switch'?"},
		{"cs,shced:sched_switch", ERR_NOENT,
			" at column 4: there are no tracepoints of 'shced' ('shced:sched_switch'); "
			"did you mean 'sched'?"},
		{"sched:sched_swich:u", ERR_NOENT,
			": there is no tracepoint 'sched:sched_swich'; did you mean "
			"'sched:sched_switch'?"},
		{"frobnicate:frob", ERR_NOENT,
			": there are no tracepoints of 'frobnicate' ('frobnicate:frob')"},
	};

	check_bad(cases, ARRAY_SIZE(cases));
}

TEST(parse_names_the_nearest_pmu_and_term)
{
	static const struct bad_case cases[] = {
		{"cpu_atm/event=1/", ERR_NOENT,
			": there is no PMU 'cpu_atm'; did you mean 'cpu_atom'?"},
		{"cs,cpu_atm/event=1/", ERR_NOENT,
			" at column 4: there is no PMU 'cpu_atm'; did you mean 'cpu_atom'?"},
		{"cpu/evnet=1/", ERR_NOENT,
			" at column 5: PMU 'cpu' has no event or term 'evnet'; did you mean "
			"'event'?"},
		{"cpu/event=1,mem-laods/", ERR_NOENT,
			" at column 13: PMU 'cpu' has no event or term 'mem-laods'; did you mean "
			"'mem-loads'?"},
		{"cpu/frobnicate/", ERR_NOENT,
			" at column 5: PMU 'cpu' has no event or term 'frobnicate'"},
		{"cpu/event=0x100/", ERR_INVAL,
			" at column 5: term 'event' of PMU 'cpu': 0x100 does not fit into 8 bits "
			"(config:0-7)"},
		{"split/top,wide=0x1000/", ERR_INVAL,
			" at column 11: term 'wide' of PMU 'split': 0x1000 does not fit into 12 "
			"bits (config:0-7,32-35)"},
		{"cpu/event=x/", ERR_INVAL,
			" at column 5: term 'event': 'x' is not a number from 0 to "
			"18446744073709551615"},
		{"cpu/event=-1/", ERR_INVAL,
			" at column 5: term 'event': '-1' is not a number from 0 to "
			"18446744073709551615"},
		{"cpu/too-wide/", ERR_INVAL,
			" at column 5: term 'event' of PMU 'cpu': 0x13c does not fit into 8 bits "
			"(config:0-7)"},
		{"too-wide", ERR_INVAL,
			": term 'event' of PMU 'cpu': 0x13c does not fit into 8 bits (config:0-7)"},
		{"bent/half=1/", ERR_UNSUPPORTED,
			" at column 6: term 'half' of PMU 'bent': the format 'config:0-' is not "
			"understood"},
	};

	check_bad(cases, ARRAY_SIZE(cases));
}

/* A list may be longer than a message: the reason must not be what is cut off. */
TEST(parse_errors_in_long_lists_keep_their_reason)
{
	struct parse_env env = make_env();
	struct event_list events = {0};
	struct str text = {0};
	struct err err = {0};

	for (int i = 0; i < 300; i++)
		str_add(&text, "cycles,");
	str_add(&text, "cycels,");
	for (int i = 0; i < 300; i++)
		str_add(&text, "instructions,");
	str_add(&text, "cs");
	CHECK_EQ(parse_events(str_text(&text), &env, &events, &err), ERR_NOENT);
	CHECK_HAS(err.msg, "at column 2101: there is no event 'cycels'; did you mean 'cycles'?");
	CHECK_HAS(err.msg, "cycles,cycels,instructions");
	event_list_fini(&events);

	str_addc(&text, ' ');
	CHECK_EQ(parse_events(str_text(&text), &env, &events, &err), ERR_INVAL);
	CHECK_HAS(err.msg, "expected ',' or the end, found ' '");
	event_list_fini(&events);
	str_fini(&text);
}

TEST(parse_errors_show_up_to_160_characters)
{
	struct parse_env env = make_env();

	for (size_t n = 140; n < 180; n++) {
		struct event_list events = {0};
		struct err err = {0};
		char text[256], expected[512];

		/* One long name, then what is wrong with it. */
		memset(text, 'q', n - 1);
		memcpy(text, "cycles,", 7);
		memcpy(text + n - 1, " ", 2);
		CHECK_EQ(parse_events(text, &env, &events, &err), ERR_INVAL);
		if (n <= 160)
			snprintf(expected, sizeof(expected), "event '%s' at column %zu: ", text, n);
		else
			snprintf(expected, sizeof(expected),
				"event '...%s' at column %zu: ", text + n - 1 - 60, n);
		CHECK(!strncmp(err.msg, expected, strlen(expected)));
		CHECK_HAS(err.msg, "expected ',' or the end, found ' '");
		event_list_fini(&events);

		memset(text, ' ', n);
		CHECK_EQ(parse_events(text, &env, &events, &err), ERR_INVAL);
		snprintf(expected, sizeof(expected),
			"event '%.160s%s': expected the name of an event, found ' '", text,
			n > 160 ? "..." : "");
		CHECK_STR(err.msg, expected);
		event_list_fini(&events);
	}
}

TEST(parse_survives_names_of_any_length)
{
	static const char *const forms[] = {"%s", "%s:u", "%s:%s", "%s/event=1/", "cpu/%s/",
		"cpu/event=%s/", "cpu/%s=1/", "{%s}", "cycles:%s", "a:{%s,%s}"};
	struct parse_env env = make_env();

	for (size_t n = 1; n < 3000; n = n * 2 + 1) {
		char word[3000], text[7000];

		memset(word, 'q', n);
		word[n] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
			struct event_list events = {0};
			struct err err = {0};

			snprintf(text, sizeof(text), forms[i], word, word);
			CHECK(parse_events(text, &env, &events, &err) < 0);
			CHECK(err.msg[0]);
			event_list_fini(&events);
		}
	}
}

/* Whatever comes in, a list or a message comes out; the sanitizers watch. */
TEST(parse_survives_any_mixture_of_its_words)
{
	static const char *const words[] = {"cycles", "cpu", "/", "/", ":", ":", "{", "}", ",", "=",
		"event", "1", "u", "mem-loads", "name", "sched", "sched_switch", "r1", "*", "\x80",
		" ", "0x", "pppp", "config"};
	struct parse_env env = make_env();
	u64 state = 88172645463325252ULL;

	for (int i = 0; i < 5000; i++) {
		struct event_list events = {0};
		struct err err = {0};
		char text[256] = "";
		int r;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		for (u64 n = state % 9, x = state >> 8; n; n--, x /= ARRAY_SIZE(words))
			strcat(text, words[x % ARRAY_SIZE(words)]);
		r = parse_events(text, &env, &events, &err);
		CHECK(r == 0 ? events.n > 0 : r < 0 && err.code == r && err.msg[0]);
		for (u32 k = 0; k < events.n && r == 0; k++)
			CHECK(events.at[k].leader <= k && events.at[k].name);
		event_list_fini(&events);
	}
}
