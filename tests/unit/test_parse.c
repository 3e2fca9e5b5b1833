#include "event/parse.h"

#include "base/hash.h"

#include "event/pfm.h"
#include "event_text.h"
#include "fake_sysfs.h"
#include "test.h"

static struct parse_env make_env(void)
{
	return (struct parse_env){.sysfs = fake_sysfs(), .tracefs = fake_tracefs()};
}

struct good_case {
	const char *text, *events;
};

static void check_good_case(const struct good_case *c, const struct parse_env *env)
{
	struct event_list events = {0};
	struct str got = {0};
	struct err err = {0};

	if (parse_events(c->text, env, &events, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	for (u32 k = 0; k < events.n; k++) {
		str_add(&got, k ? "; " : "");
		event_text_add(&events, k, false, &got);
	}
	CHECK_STR(str_text(&got), c->events);
	str_fini(&got);
	event_list_fini(&events);
}

static void check_good(const struct good_case *cases, size_t n)
{
	struct parse_env env = make_env();

	for (size_t i = 0; i < n; i++)
		check_good_case(&cases[i], &env);
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
		{"cpu/mem-loads/", "cpu/mem-loads/ = 4/1cd/3 x 1.5 events"},
		/* What is written behind the alias wins. */
		{"cpu/mem-loads,ldlat=30/pp",
			"cpu/mem-loads,ldlat=30/pp = 4/1cd/1e p2 x 1.5 events"},
		{"cpu/ldlat=30,mem-loads/", "cpu/ldlat=30,mem-loads/ = 4/1cd/3 x 1.5 events"},
		{"cpu/edge-cycles/", "cpu/edge-cycles/ = 4/4003c"},
		{"cpu/mem-loads,name=ml/", "ml = 4/1cd/3 x 1.5 events"},
		{"mem-loads", "mem-loads = 4/1cd/3 x 1.5 events"},
		{"mem-loads:uP", "mem-loads:uP = 4/1cd/3 -k -h max-precise x 1.5 events"},
		{"atom-only:u", "atom-only:u = 10/22 -k -h on 4-7"},
		{"cas_count_read", "cas_count_read = 14/304 x 6.103515625e-05 MiB on 0,2"},
		{"uncore_imc_0/cas_count_read/",
			"uncore_imc_0/cas_count_read/ = 14/304 x 6.103515625e-05 MiB on 0,2"},
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
		{"ipc{cycles,instructions}:u",
			"cycles = 0/0 -k -h leads 2; instructions = 0/1 -k -h in 0"},
		{"a:{cycles},b:{cs,dummy}", "cycles = 0/0; cs = 1/3 leads 2; dummy = 1/9 in 1"},
		{"{cpu/event=1/u,uncore_imc_0/event=2/,mem-loads}:W",
			"cpu/event=1/u = 4/1 -k -h weak leads 3; uncore_imc_0/event=2/ = 14/2 weak "
			"on 0,2 in 0; "
			"mem-loads = 4/1cd/3 weak x 1.5 events in 0"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

/*
 * As in perf: a group's u, k, h, G and H add to what its events say. D and e are its leader's: the
 * kernel refuses them for members.
 */
/* As people write lists: "{cycles, instructions}". The names are without the blanks. */
TEST(parse_skips_blanks_around_items_members_and_terms)
{
	static const struct good_case cases[] = {
		{" cycles , cs\t,\n faults ", "cycles = 0/0; cs = 1/3; faults = 1/2"},
		{"{cycles:u, instructions:u}",
			"cycles:u = 0/0 -k -h leads 2; instructions:u = 0/1 -k -h in 0"},
		{" { cycles , cs } , { faults:u }:k, dummy",
			"cycles = 0/0 leads 2; cs = 1/3 in 0; faults:u = 1/2 -h; "
			"dummy = 1/9"},
	};

	check_good(cases, ARRAY_SIZE(cases));
}

TEST(parse_gives_group_modifiers_to_every_member)
{
	static const struct good_case cases[] = {
		{"{cycles,instructions}:S",
			"cycles = 0/0 read leads 2; instructions = 0/1 read in 0"},
		{"{cycles,instructions}:DeIW",
			"cycles = 0/0 -idle pinned exclusive weak leads 2; "
			"instructions = 0/1 -idle weak in 0"},
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

static void check_bad_case(const struct bad_case *c, const struct parse_env *env)
{
	struct event_list events = {0};
	struct err err = {0};
	char expected[1024];

	if (!parse_events(c->text, env, &events, &err))
		test_failed(__FILE__, __LINE__, "'%s' is taken", c->text);
	snprintf(expected, sizeof(expected), "event '%s'%s", c->text, c->message);
	CHECK_STR(err.msg, expected);
	CHECK_EQ(err.code, c->code);
	event_list_fini(&events);
}

static void check_bad(const struct bad_case *cases, size_t n)
{
	struct parse_env env = make_env();

	for (size_t i = 0; i < n; i++)
		check_bad_case(&cases[i], &env);
}

TEST(parse_points_at_syntax_errors)
{
	static const struct bad_case cases[] = {
		{"", ERR_INVAL, ": expected the name of an event, found the end"},
		{",", ERR_INVAL, ": expected the name of an event, found ','"},
		{" ", ERR_INVAL, " at column 2: expected the name of an event, found the end"},
		{"cycles,", ERR_INVAL,
			" at column 8: expected the name of an event, found the end; "
			"put a list with blanks in quotes"},
		{"{cycles:u,", ERR_INVAL,
			" at column 11: expected the name of an event, found the end; "
			"put a list with blanks in quotes"},
		{"”cycles”", ERR_INVAL,
			": expected the name of an event, found the '”' of printed text: type \""},
		{"cycles:u”", ERR_INVAL,
			" at column 9: expected ',' or the end, found the '”' of printed text: type "
			"\""},
		{"cycles,,cs", ERR_INVAL, " at column 8: expected the name of an event, found ','"},
		{"cycles cs", ERR_INVAL, " at column 8: expected ',' or the end, found 'c'"},
		{"cycles}", ERR_INVAL, " at column 7: expected ',' or the end, found '}'"},
		{"cycles=1", ERR_INVAL, " at column 7: expected ',' or the end, found '='"},
		{"cycles:", ERR_INVAL,
			" at column 8: expected modifiers or the name of a tracepoint, found the "
			"end"},
		{":u", ERR_INVAL, ": expected the name of an event, found ':'"},
		{"cycles::u", ERR_INVAL,
			" at column 8: expected modifiers or the name of a tracepoint, found ':'"},
		{"cycles:u:k", ERR_INVAL, " at column 10: modifiers are given once, after one ':'"},
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
		{"cpu/event=1/ u", ERR_INVAL, " at column 14: expected ',' or the end, found 'u'"},
		{"cpu/ev ent=1/", ERR_INVAL, " at column 8: expected ',' or '/', found 'e'"},
		{"cycles :u", ERR_INVAL, " at column 8: expected ',' or the end, found ':'"},
		{"{cycles} :u", ERR_INVAL, " at column 10: expected ',' or the end, found ':'"},
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
		{"{cycles,instructions:uD}", ERR_INVAL,
			" at column 9: D and e apply to a whole group: write them after its closing brace"},
		{"cs,a:{cycles", ERR_INVAL, " at column 13: expected ',' or '}', found the end"},
	};

	check_bad(cases, ARRAY_SIZE(cases));
}

TEST(parse_points_at_wrong_modifiers)
{
#define KNOWN "is not a modifier; these are: u k h G H I D S W X e b R p pp ppp P"
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
		{"mem-loads.scale", ERR_NOENT,
			": there is no event 'mem-loads.scale'; did you mean 'mem-loads'?"},
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

/* A virtual machine without a PMU: what is of processors' PMUs is not taken for something else. */
TEST(parse_says_which_pmus_there_are_where_cpus_have_none)
{
#define HERE "breakpoint software tracepoint"
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"cpu/tx-abort/pp",
			" at column 5: it counts transactions: this CPU has no transactions (Intel TSX)"},
		{"cpu//", "there is no PMU 'cpu' (this machine has " HERE ")"},
		{"cpu/period=3/", "there is no PMU 'cpu' (this machine has " HERE ")"},
		{"power/energy-pkg/", "there is no PMU 'power' (this machine has " HERE ")"},
		{"mem-loads",
			"there is no event 'mem-loads', and no PMU of this machine has one of that name "
			"(its PMUs: " HERE ")"},
		{"tx-start", "it counts transactions: this CPU has no transactions (Intel TSX)"},
		{"cycels", "there is no event 'cycels'; did you mean 'cycles'?"},
		{"cycels/period=9/", "there is no event 'cycels'; did you mean 'cycles'?"},
		{"4c8", "there is no event '4c8'; did you mean the raw event 'r4c8'?"},
	};
	struct parse_env env = {.sysfs = test_path("bare")};

	fake_file("bare/bus/event_source/devices/breakpoint/type", "5\n");
	fake_file("bare/bus/event_source/devices/software/type", "1\n");
	fake_file("bare/bus/event_source/devices/tracepoint/type", "2\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_list events = {0};
		struct err err = {0};
		char expected[512];

		snprintf(expected, sizeof(expected), "event '%s'%s%s", cases[i].text,
			cases[i].message[0] == ' ' ? "" : ": ", cases[i].message);
		CHECK_EQ(parse_events(cases[i].text, &env, &events, &err), ERR_NOENT);
		CHECK_STR(err.msg, expected);
		event_list_fini(&events);
	}
#undef HERE
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

	str_addc(&text, ';');
	CHECK_EQ(parse_events(str_text(&text), &env, &events, &err), ERR_INVAL);
	CHECK_HAS(err.msg, "expected ',' or the end, found ';'");
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
		memcpy(text + n - 1, ";", 2);
		CHECK_EQ(parse_events(text, &env, &events, &err), ERR_INVAL);
		if (n <= 160)
			snprintf(expected, sizeof(expected), "event '%s' at column %zu: ", text, n);
		else
			snprintf(expected, sizeof(expected),
				"event '...%s' at column %zu: ", text + n - 1 - 60, n);
		CHECK(!strncmp(err.msg, expected, strlen(expected)));
		CHECK_HAS(err.msg, "expected ',' or the end, found ';'");
		event_list_fini(&events);

		memset(text, ';', n);
		CHECK_EQ(parse_events(text, &env, &events, &err), ERR_INVAL);
		snprintf(expected, sizeof(expected),
			"event '%.160s%s': expected the name of an event, found ';'", text,
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
		" ", "0x", "pppp", "config", "mem", "0x1000", "'", "@", "path=/bin", "period",
		"sched:*", "imc", "cycles/", "/bin/sh/", "prev_pid > 0", "]", "uncore_*/"};
	struct parse_env env = make_env();
	u64 state = 88172645463325252ULL;

	for (int i = 0; i < 8000; i++) {
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

/* ---- what fake sysfs trees cannot say ---- */

/* Strings go to the kernel by address. */
TEST(parse_gives_probes_the_address_of_their_string)
{
	static const struct {
		const char *text, *string;
		u64 offset, config;
	} cases[] = {
		{"kprobe/func=do_sys_openat2/", "do_sys_openat2", 0, 0},
		{"kprobe/func=vfs_read,offset=0x10/u", "vfs_read", 16, 0},
		{"kprobe/offset=16,func=vfs_read,retprobe/", "vfs_read", 16, 1},
		{"uprobe/path=/bin/sh,offset=0x1234/", "/bin/sh", 0x1234, 0},
		{"uprobe/offset=0x1234,path=/bin/sh,retprobe=1/k", "/bin/sh", 0x1234, 1},
		{"uprobe/offset=0x1234,path=/bin/sh/", "/bin/sh", 0x1234, 0},
		{"uprobe/offset=0x1234,path=/bin/sh/up", "/bin/sh", 0x1234, 0},
		{"uprobe/offset=0x1234,path=/bin/sh/:u", "/bin/sh", 0x1234, 0},
		{"uprobe/path='/bin/sh',offset=1,ref_ctr_offset=0x20/", "/bin/sh", 1, 0x2000000000},
		{"uprobe/path=/usr/../bin/sh,offset=1/", "/usr/../bin/sh", 1, 0},
		{"uprobe/path='/usr/bin'/u,cs", "/usr/bin", 0, 0},
		{"uprobe/offset=1,path=../../../../../../../../bin/sh/",
			"../../../../../../../../bin/sh", 1, 0},
		{"cs,{uprobe/path=/bin/sh/,cs}", "/bin/sh", 0, 0},
	};
	struct parse_env env = make_env();

	fake_file("sys/bus/event_source/devices/kprobe/type", "6\n");
	fake_file("sys/bus/event_source/devices/kprobe/format/retprobe", "config:0\n");
	fake_file("sys/bus/event_source/devices/uprobe/type", "7\n");
	fake_file("sys/bus/event_source/devices/uprobe/format/retprobe", "config:0\n");
	fake_file("sys/bus/event_source/devices/uprobe/format/ref_ctr_offset", "config:32-63\n");
	env.sysfs = test_path("sys");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_list events = {0};
		const struct event *e = NULL;
		struct err err = {0};

		if (parse_events(cases[i].text, &env, &events, &err))
			test_failed(__FILE__, __LINE__, "%s", err.msg);
		vec_each(one, &events)
			e = one->pmu ? one : e;
		CHECK(e);
		CHECK_STR((const char *)(uintptr_t)e->attr.config1, cases[i].string);
		CHECK_EQ(e->attr.config2, cases[i].offset);
		CHECK_EQ(e->attr.config, cases[i].config);
		/* An inherited uprobe makes fork() fail in the child. */
		CHECK_EQ(e->wishes, e->attr.type == 7 ? EVENT_NO_INHERIT : 0);
		event_list_fini(&events);
	}
}

static void catalog_add(struct catalog *c, struct catalog_event e)
{
	e.scale = e.scale ? e.scale : 1;
	table_add(&c->index, hash_bytes(e.name, strlen(e.name)), c->events.n);
	vec_add(&c->events, e);
}

/* Names of the vendor's table, wherever sysfs has none. */
static struct catalog make_catalog(void)
{
	struct catalog c = {0};

	catalog_add(&c,
		(struct catalog_event){.name = "inst_retired.any",
			.pmu = "cpu",
			.terms = "event=0xc0,period=2000003"});
	catalog_add(&c,
		(struct catalog_event){.name = "mem-loads", .pmu = "cpu", .terms = "event=1"});
	catalog_add(&c,
		(struct catalog_event){.name = "llc_misses.mem_read",
			.pmu = "uncore_imc",
			.terms = "event=0x4,umask=0x3",
			.unit = "Bytes",
			.scale = 64,
			.is_per_pkg = true});
	catalog_add(&c,
		(struct catalog_event){.name = "unc_m3_elsewhere",
			.pmu = "uncore_m3upi",
			.terms = "event=1"});
	catalog_add(&c,
		(struct catalog_event){.name = "wrong_terms", .pmu = "cpu", .terms = "evnet=1"});
	return c;
}

static void catalog_drop(struct catalog *c)
{
	vec_fini(&c->events);
	table_fini(&c->index);
}

TEST(parse_asks_the_vendors_table_last)
{
	static const struct good_case cases[] = {
		{"inst_retired.any", "inst_retired.any = 4/c0 weak-period every 2000003"},
		{"INST_RETIRED.ANY:u", "INST_RETIRED.ANY:u = 4/c0 -k -h weak-period every 2000003"},
		{"cpu/inst_retired.any/pp",
			"cpu/inst_retired.any/pp = 4/c0 p2 weak-period every 2000003"},
		{"cpu/inst_retired.any,period=5,cmask=1/",
			"cpu/inst_retired.any,period=5,cmask=1/ = 4/10000c0 own-period weak-period every 5"},
		{"inst_retired.any/name=i/", "i = 4/c0 weak-period every 2000003"},
		/* What sysfs says of a name goes before. */
		{"mem-loads", "mem-loads = 4/1cd/3 x 1.5 events"},
		{"llc_misses.mem_read", "llc_misses.mem_read = 14/304 per-pkg x 64 Bytes on 0,2"},
		{"imc/llc_misses.mem_read/",
			"imc/llc_misses.mem_read/ = 14/304 per-pkg x 64 Bytes on 0,2"},
	};
	struct catalog catalog = make_catalog();
	struct parse_env env = make_env();

	env.catalog = &catalog;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_good_case(&cases[i], &env);
	catalog_drop(&catalog);
}

TEST(parse_says_what_is_wrong_with_an_event_of_the_vendors_table)
{
	static const struct bad_case cases[] = {
		{"unc_m3_elsewhere", ERR_NOENT,
			": event 'unc_m3_elsewhere' belongs to PMU 'uncore_m3upi', which this machine does not have"},
		{"inst_retired.nay", ERR_NOENT,
			": there is no event 'inst_retired.nay'; did you mean 'inst_retired.any'?"},
		{"wrong_terms", ERR_NOENT,
			": PMU 'cpu' has no event or term 'evnet'; did you mean 'event'?"},
		{"cpu/llc_misses.mem_read/", ERR_NOENT,
			" at column 5: PMU 'cpu' has no event or term 'llc_misses.mem_read'"},
	};
	struct catalog catalog = make_catalog();
	struct parse_env env = make_env();

	env.catalog = &catalog;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_bad_case(&cases[i], &env);
	catalog_drop(&catalog);
}

/* ---- filters ---- */

TEST(event_filters_go_to_all_events_of_the_last_item)
{
	struct parse_env env = make_env();
	struct event_list events = {0};
	struct err err;

	CHECK_EQ(parse_events("cs,sched:*", &env, &events, &err), 0);
	CHECK_EQ(event_set_filter(&events, "common_pid > 1", &err), 0);
	CHECK(!events.at[0].filter);
	CHECK_STR(events.at[1].filter, "common_pid > 1");
	CHECK_STR(events.at[2].filter, "common_pid > 1");
	CHECK_EQ(event_set_filter(&events, "common_pid < 9", &err), 0);
	CHECK_STR(events.at[1].filter, "(common_pid > 1) && (common_pid < 9)");
	CHECK_EQ(parse_events("sched:sched_wakeup/prio==1/", &env, &events, &err), 0);
	CHECK_EQ(event_set_filter(&events, "prio==2 || prio==3", &err), 0);
	CHECK_STR(events.at[3].filter, "(prio==1) && (prio==2 || prio==3)");
	CHECK_STR(events.at[2].filter, "(common_pid > 1) && (common_pid < 9)");
	event_list_fini(&events);
}

TEST(event_filters_need_an_event_that_takes_them)
{
	struct parse_env env = make_env();
	struct event_list events = {0};
	struct err err;

	CHECK_EQ(event_set_filter(&events, "a==1", &err), ERR_INVAL);
	CHECK_STR(err.msg, "--filter 'a==1' must follow the -e whose events it filters");
	CHECK_EQ(parse_events("sched:sched_switch,cs:u", &env, &events, &err), 0);
	CHECK_EQ(event_set_filter(&events, "a==1", &err), ERR_INVAL);
	CHECK_HAS(err.msg, "--filter 'a==1': event 'cs:u' takes no filter; tracepoints do");
	CHECK(!events.at[0].filter && !events.at[1].filter);
	event_list_fini(&events);
	fake_file("sys/bus/event_source/devices/intel_pt/type", "8\n");
	fake_file("sys/bus/event_source/devices/intel_pt/nr_addr_filters", "2\n");
	env.sysfs = test_path("sys");
	CHECK_EQ(parse_events("intel_pt//", &env, &events, &err), 0);
	CHECK_EQ(event_set_filter(&events, "filter 0x10/0x20@/bin/sh", &err), 0);
	CHECK_EQ(event_set_filter(&events, "tracestop 0x40@/bin/sh", &err), 0);
	CHECK_STR(events.at[0].filter, "filter 0x10/0x20@/bin/sh,tracestop 0x40@/bin/sh");
	event_list_fini(&events);
}

TEST(parse_lets_libpfm_read_what_stands_behind_pfm)
{
	static const struct good_case good[] = {
		{"pfm:PERF_COUNT_SW_PAGE_FAULTS", "pfm:PERF_COUNT_SW_PAGE_FAULTS = 1/2 -G"},
		{"pfm:perf::CONTEXT-SWITCHES", "pfm:perf::CONTEXT-SWITCHES = 1/3 -G"},
		{"cs,{pfm:PERF_COUNT_SW_PAGE_FAULTS,cycles:u},r1",
			"cs = 1/3; pfm:PERF_COUNT_SW_PAGE_FAULTS = 1/2 -G leads 2; cycles:u = 0/0 -k -h in 1; r1 = 4/1"},
	};
	static const struct bad_case bad[] = {
		{"pfm:", ERR_INVAL,
			" at column 5: expected the name of an event, as libpfm has it, found the end"},
		{"cs,pfm:nonsense", ERR_NOENT,
			" at column 8: libpfm knows no event 'nonsense' of this machine's PMUs"},
	};

	if (!pfm_is_built_in())
		SKIP("built without libpfm");
	check_good(good, ARRAY_SIZE(good));
	check_bad(bad, ARRAY_SIZE(bad));
}
