#!/usr/bin/env python3
"""Machines that are not here: pace and the installed perf count the same there, and what stands in for the kernel has its rules."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

LEVEL1 = {'slots': 8_000_000, 'topdown-retiring': 2_000_000, 'topdown-bad-spec': 1_000_000, 'topdown-fe-bound': 1_500_000,
          'topdown-be-bound': 3_500_000}
LEVEL2 = {**LEVEL1, 'topdown-heavy-ops': 400_000, 'topdown-br-mispredict': 900_000, 'topdown-fetch-lat': 700_000,
          'topdown-mem-bound': 3_000_000}


def counts_in(text):
    """What stat printed: [(event, count)], numbers without commas. Events that were not counted have words."""
    found = re.findall(r'^ +([\d,.]+|<not \w+>) +(?:msec |MiB |Joules )? *([\w./=:-]+)', text, re.M)
    return [(event, value.replace(',', '')) for value, event in found if event not in ('seconds', 'msec', 'context')]


def same_counts(on, *args):
    """What both print, which is the same."""
    ours, theirs = on.pace('stat', *args), on.perf('stat', *args)
    assert not ours.status and not theirs.status, (ours, theirs)
    assert counts_in(ours.err) == counts_in(theirs.err) != [], (ours, theirs)
    return dict(counts_in(ours.err))


@test
def a_group_of_slots_and_metrics_is_what_perf_prints():
    perf_works()
    with machine('sapphirerapids', LEVEL2) as on:
        got = same_counts(on, '-e', '{%s}' % ','.join(LEVEL2), 'true')
    assert got == {name: str(count) for name, count in LEVEL2.items()}, got


@test
def slots_lead_wherever_they_are_written():
    with machine('icelake', LEVEL1) as on:
        result = on.pace('stat', '-e', '{topdown-retiring,slots,topdown-be-bound}', 'true')
        openings = [o for o in on.openings() if o['format']]
    assert ('topdown-retiring', '2000000') in counts_in(result.err), result
    assert [o['config'] for o in openings] == [0x400, 0x8000, 0x8300] and all(o['format'] & 8 for o in openings), openings


@test
def every_machine_counts_its_events_as_in_perf():
    perf_works()
    for name, counts in {
            'icelake': {**LEVEL1, 'cycles': 123456, 'instructions': 654321},
            'graniterapids': {**LEVEL2, 'branches': 99},
            'haswell': {'cycles': 1000, 'cpu/cycles-t/': 400, 'cpu/cycles-ct/': 300, 'tx-start': 7},
            'haswell_without_tsx': {'cycles': 10, 'instructions': 20, 'branch-misses': 3},
            'zen4': {'cycles': 5, 'instructions': 6, 'stalled-cycles-frontend': 7},
            'neoverse': {'cycles': 70, 'instructions': 80, 'stall_backend': 90}}.items():
        with machine(name, counts) as on:
            # Metrics count behind slots only.
            texts = ['{%s}' % ','.join(name for name in counts if name in LEVEL2)] if 'slots' in counts else []
            got = same_counts(on, '-e', ','.join(texts + [name for name in counts if name not in LEVEL2]), 'true')
        assert sorted(got.values()) == sorted(str(v) for v in counts.values()), (name, got)


@test
def two_kinds_of_cores_count_apart():
    perf_works()
    with machine('lunarlake', {'cpu_core/cpu-cycles/': 700, 'cpu_atom/cpu-cycles/': 30}) as on:
        ours = on.pace('stat', '-e', 'cycles', 'true')
        theirs = on.perf('stat', '-e', 'cycles', 'true')
    for result in (ours, theirs):
        assert sorted(value for _, value in counts_in(result.err)) == ['30', '700'], result


@test
def counts_of_a_part_of_the_time_are_scaled_as_in_perf():
    perf_works()
    with machine('zen4', {'cycles': {'values': 1000, 'running': 25}, 'instructions': {'values': 999, 'running': 50}}) as on:
        got = same_counts(on, '-e', 'cycles', '-e', 'instructions', 'true')
    assert got == {'cycles': '4000', 'instructions': '1998'}, got


@test
def each_cpu_has_its_counts():
    perf_works()
    with machine('icelake', 'cycles = 10\ncycles@2 = 500  # one is busy\n') as on:
        assert same_counts(on, '-a', '-e', 'cycles', 'true') == {'cycles': '530'}
        for run_it in (on.pace, on.perf):
            result = run_it('stat', '-a', '-A', '-e', 'cycles', 'true')
            assert re.search(r'^CPU2 +500 +cycles', result.err, re.M) and re.search(r'^CPU3 +10 +cycles', result.err, re.M), result


@test
def intervals_have_what_was_written_for_them():
    perf_works()
    with machine('icelake', {'cycles': {'values': [500, 700, 900], 'every': 400}}) as on:
        for run_it in (on.pace, on.perf):
            result = run_it('stat', '-I', '400', '-e', 'cycles', 'sleep', '1')
            assert re.findall(r'^ +[\d.]+ +(\d+) +cycles', result.err, re.M) == ['500', '700', '900'], result


# ---- the kernel's rules: a program that opens events and says what came of it ----

OPENS = r'''
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)

def attr(type=4, config=0, period=0, sample_type=0, read_format=0, precise=0, flags=0, config1=0):
    a = bytearray(128)
    for at, size, value in ((0, 4, type), (4, 4, 128), (8, 8, config), (16, 8, period), (24, 8, sample_type), (32, 8, read_format),
                            (40, 8, flags | precise << 15), (56, 8, config1)):
        a[at:at + size] = value.to_bytes(size, 'little')
    return a

def open_event(group=-1, pid=0, cpu=-1, **words):
    a = (ctypes.c_char * 128).from_buffer(attr(**words))
    fd = libc.syscall(298, a, pid, cpu, group, 0)
    return fd if fd >= 0 else -ctypes.get_errno()
'''


def opened(on, text):
    """Runs it; what its prints say, as numbers: descriptors are 0."""
    with open('opens.py', 'w') as file:
        file.write(OPENS + text)
    result = on.run(sys.executable, 'opens.py')
    assert not result.status, result
    return [min(0, int(word)) for word in result.out.split()]


EINVAL, ENOENT, EOPNOTSUPP, ENODATA, ENODEV = 22, 2, 95, 61, 19


@test
def metrics_need_slots_in_front_and_do_not_sample():
    with machine('sapphirerapids', is_strict=False) as on:
        got = opened(on, '''
print(open_event(config=0x8000))                                    # alone
cycles = open_event(config=0x3c)
print(open_event(group=cycles, config=0x8000))                      # behind another
slots = open_event(config=0x400)
print(slots, open_event(group=slots, config=0x8000))
print(open_event(group=slots, config=0x8100, period=1000))          # sampling
print(open_event(group=slots, config=0x8000))                       # twice
print(open_event(group=slots, config=0x8700))
print(open_event(group=slots, config=0x3c, period=1000))            # the second event may sample
sampling = open_event(config=0x400, period=1000)
print(sampling, open_event(group=sampling, config=0x8000))          # slots that sample lead no metrics
print(open_event(config=0x400, config1=1), open_event(config=0x400 | 1 << 18))
''')
    assert got == [-EINVAL, -EINVAL, 0, 0, -EINVAL, -EINVAL, 0, 0, 0, -EINVAL, -EINVAL, -EINVAL], got


@test
def level_two_needs_a_processor_that_has_it():
    with machine('icelake', is_strict=False) as on:
        got = opened(on, 's = open_event(config=0x400)\nprint(open_event(group=s, config=0x8300), open_event(group=s, config=0x8400))')
    # An ordinary event to Ice Lake, which no counter refuses.
    assert got == [0, 0], got
    with machine('haswell', is_strict=False) as on:
        assert opened(on, 'print(open_event(config=0x8000))') == [0]


@test
def a_group_is_no_larger_than_the_counters():
    with machine('haswell', is_strict=False) as on:
        got = opened(on, '''
leader = open_event(config=0x1d1)
for code in (0x2d1, 0x4d1, 0x8d1, 0x3c, 0xc0, 0x300, 0x10d1):
    print(open_event(group=leader, config=code))
''')
    # Four of any kind and three fixed ones; the eighth is refused.
    assert got == [0] * 6 + [-EINVAL], got
    with machine('sapphirerapids', is_strict=False) as on:
        got = opened(on, '''
leader = open_event(config=0x124)
for code in (0x224, 0x424, 0x824, 0x1024):
    print(open_event(group=leader, config=code))
print(open_event(group=leader, config=0xc4))
''')
    # Codes below 0x90 have four of the eight.
    assert got == [0, 0, 0, -EINVAL, 0], got


@test
def uncore_counts_for_cpus_only():
    with machine('sapphirerapids', is_strict=False) as on:
        got = opened(on, '''
print(open_event(type=50, config=1), open_event(type=50, config=1, pid=-1, cpu=0), open_event(type=50, config=1, pid=-1, cpu=0, period=9))
print(open_event(type=50, config=1, pid=-1, cpu=0, flags=1 << 5))   # without the kernel
print(open_event(type=50, config=1, pid=-1, cpu=9))                 # a CPU that is not there
''')
    assert got == [-EINVAL, 0, -EINVAL, -EINVAL, -ENODEV], got


@test
def precision_and_transactions_have_their_limits():
    with machine('haswell', is_strict=False) as on:
        got = opened(on, '''
print(open_event(config=0x3c, precise=1), open_event(config=0x3c, precise=2, period=1000), open_event(config=0x3c, precise=3, period=1000))
tx, cp = 1 << 32, 3 << 32
print(open_event(config=0x3c | tx), open_event(config=0x3c | tx, precise=1, period=1000), open_event(config=0x3c | tx, period=1000))
print(open_event(config=0x3c | cp), open_event(config=0x3c | cp, period=1000), open_event(config=0x3c | cp, period=0x7fffffff))
''')
    assert got == [-EINVAL, 0, -EOPNOTSUPP, 0, -EOPNOTSUPP, 0, 0, -EOPNOTSUPP, 0], got


@test
def loads_by_latency_need_their_helper_in_front():
    with machine('sapphirerapids', is_strict=False) as on:
        got = opened(on, '''
data_src = 1 << 15
print(open_event(config=0x1cd, period=1000, sample_type=data_src))
aux = open_event(config=0x8203)
print(open_event(group=aux, config=0x1cd, period=1000, sample_type=data_src))
''')
    assert got == [-ENODATA, 0], got


@test
def kinds_of_cores_do_not_mix():
    with machine('lunarlake', is_strict=False) as on:
        got = opened(on, '''
core = open_event(config=0x3c)
print(core, open_event(group=core, type=10, config=0x3c))
print(open_event(type=10, config=0x3c, pid=-1, cpu=0), open_event(type=10, config=0x3c, pid=-1, cpu=2))
print(open_event(type=0, config=0, pid=-1, cpu=0), open_event(type=0, config=0, pid=-1, cpu=2), open_event(type=0, config=10 << 32, pid=-1, cpu=2))
''')
    assert got == [0, -EINVAL, -ENOENT, 0, 0, -ENOENT, 0], got


SAMPLES = {'cycles': [{'ip': 0x400100, 'count': 5}]}


def sampled(on, program, text):
    """Records; the period of each event that was opened on CPU 0, by its config."""
    on.forget()
    result = program('record', '-q', '-c', '1000', '-e', text, '-o', 'x.data', 'true')
    return result, {o['config']: o['period'] for o in on.openings() if o['cpu'] == 0 and o['type'] == 4}


@test
def the_second_event_samples_where_slots_lead_their_metrics():
    perf_works()
    with machine('sapphirerapids', {'slots': 70, 'cycles': 50, 'topdown-retiring': 30}, samples=SAMPLES) as on:
        for text in ('{slots,cpu/cpu-cycles/,topdown-retiring}:S', '{slots, cpu/cpu-cycles/, topdown-retiring}:S',
                     '{cpu/cpu-cycles/,topdown-retiring,slots}:S', '{r400,r3c,r8000}:S'):
            ours, periods = sampled(on, on.pace, text)
            assert not ours.status and periods == {0x400: 0, 0x3c: 1000, 0x8000: 0}, (text, ours, periods)
            lines = pace('script', '-i', 'x.data', '-F', 'event,period').out.split('\n')
            # The counts of a group go up at its first sample only.
            assert [line.split()[0] for line in lines if line] == ['70', '50', '30'] * on.machine.cpus, lines
            theirs, periods = sampled(on, on.perf, text)
            assert not theirs.status and periods == {0x400: 0, 0x3c: 1000, 0x8000: 0}, (text, theirs, periods)
        # perf lets a metric sample here, which the kernel refuses.
        ours, periods = sampled(on, on.pace, '{topdown-retiring,cpu/cpu-cycles/,slots}:S')
        assert not ours.status and periods == {0x400: 0, 0x8000: 0, 0x3c: 1000}, (ours, periods)


@test
def why_a_metric_alone_counts_nothing_is_said():
    with machine('sapphirerapids', {'slots': 70, 'cycles': 50, 'topdown-retiring': 30}, is_strict=False) as on:
        assert "add an event that can, as in '{slots,cycles,topdown-retiring}:S'" in sampled(on, on.pace, '{slots,topdown-retiring}:S')[0].err
        for text in ('topdown-retiring', '{slots,cycles,topdown-retiring}', '{topdown-retiring,cycles}:S'):
            result, _ = sampled(on, on.pace, text)
            assert result.status == 1 and 'a TopDown metric is a share of slots and cannot sample: let an event sample for it' in result.err, result
        for text in ('topdown-retiring', '{cycles,topdown-retiring}'):
            result = on.pace('stat', '-e', text, 'true')
            assert 'the kernel counts it in groups that slots lead' in result.err and '<not supported>      topdown-retiring' in result.err, result


@test
def samples_arrive_as_they_were_written():
    perf_works()
    samples = {'cycles': [{'ip': 0x401000, 'weight': 70, 'ins_latency': 5, 'retire_latency': 33, 'count': 3}, {'ip': 0x402000, 'weight': 8}]}
    with machine('graniterapids', {'cycles': 0}, samples=samples) as on:
        for run_it in (on.pace, on.perf):
            # perf that finds its command over before it waits for the first time looks at no ring.
            result = run_it('record', '-q', '-W', '-c', '1000', '-e', 'cycles:u', '-o', 'x.data', 'sleep', '0.1')
            assert not result.status, result
            shown = pace('script', '-i', 'x.data', '-F', 'ip,weight,retire_lat')
            lines = [line.split() for line in shown.out.splitlines()]
            assert [(w, r, ip) for w, r, ip in lines].count(('70', '33', '401000')) == 3 * on.machine.cpus, shown
            assert [(w, r, ip) for w, r, ip in lines].count(('8', '0', '402000')) == on.machine.cpus, shown


# ---- regions of a program: libpace ----

REGION = r'''
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <pthread.h>
#include <sys/wait.h>
#include <pace.h>

static struct pace_error err;
static struct pace_topdown *t;

static void show(const char *what, int result, const struct pace_topdown_shares *s)
{
	printf("%s", what);
	if (result < 0) {
		printf(" error %d: %s\n", result, err.message);
		return;
	}
	printf(" slots %llu error %.4f doubts %u shares", (unsigned long long)s->slots, s->error, s->doubts);
	for (int i = 0; i < PACE_TOPDOWN_SHARES; i++)
		printf(" %.4f", s->share[i]);
	printf("\n");
}

static void *elsewhere(void *point)
{
	struct pace_topdown_shares s;
	show("thread", pace_topdown_end(t, point, &s, &err), &s);
	return NULL;
}

int main(void)
{
	struct pace_topdown_point outer, inner;
	struct pace_topdown_shares s;
	pthread_t thread;

	t = pace_topdown_open(&err);
	if (!t) {
		printf("no: %d %s\n", err.code, err.message);
		return 0;
	}
	printf("level %d\n", pace_topdown_level(t));
	pace_topdown_begin(t, &outer, &err);
	show("one", pace_topdown_end(t, &outer, &s, &err), &s);
	pace_topdown_begin(t, &outer, &err);
	pace_topdown_begin(t, &inner, &err);
	show("inner", pace_topdown_end(t, &inner, &s, &err), &s);
	show("outer", pace_topdown_end(t, &outer, &s, &err), &s);
	pace_topdown_begin(t, &outer, &err);
	pace_topdown_reset(t, &err);
	show("reset", pace_topdown_end(t, &outer, &s, &err), &s);
	pace_topdown_begin(t, &outer, &err);
	show("short", pace_topdown_end(t, &outer, &s, &err), &s);
	pace_topdown_begin(t, &outer, &err);
	show("nothing", pace_topdown_end(t, &outer, &s, &err), &s);
	pthread_create(&thread, NULL, elsewhere, &outer);
	pthread_join(thread, NULL);
	fflush(stdout);
	if (!fork()) {
		show("child", pace_topdown_end(t, &outer, &s, &err), &s);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	pace_topdown_close(t);
	return 0;
}
'''


def with_libpace(source, name):
    sanitizer = ['-fsanitize=address,undefined'] if 'asan' in run('ldd', f'{BUILD}/libpace.so').out else []
    return build_c(source, name, '-I' + os.path.join(TOP, 'include'), *sanitizer, '-L' + BUILD, '-lpace', '-lpthread', '-Wl,-rpath,' + BUILD)


def region():
    with open('region.c', 'w') as file:
        file.write(REGION)
    return with_libpace(os.path.abspath('region.c'), 'region')


# Each look at the registers takes the next: slots, and what they go to. Fractions of 255, so that the register is exact.
WHOLE = 255_000
STEPS = [
    (WHOLE, (100_000, 50_000, 45_000, 60_000, 20_000, 40_000, 25_000, 10_000)),       # until "one" begins
    (WHOLE, (60_000, 20_000, 75_000, 100_000, 10_000, 10_000, 45_000, 80_000)),       # "one"
    (2 * WHOLE, (160_000, 70_000, 120_000, 160_000, 30_000, 50_000, 70_000, 90_000)),  # until "outer" begins
    (WHOLE, (100_000, 50_000, 45_000, 60_000, 20_000, 40_000, 25_000, 10_000)),       # until "inner" begins
    (255 * 4000, (400_000, 200_000, 180_000, 240_000, 80_000, 160_000, 100_000, 40_000)),  # "inner"
    (WHOLE, (60_000, 20_000, 75_000, 100_000, 10_000, 10_000, 45_000, 80_000)),       # the rest of "outer"
    (WHOLE, (0, 0, 0, WHOLE, 0, 0, 0, 0)),                                          # until "reset" begins
    (WHOLE, (WHOLE, 0, 0, 0, WHOLE, 0, 0, 0)),                                      # until "short" begins
    (2550, (2550, 0, 0, 0, 0, 0, 0, 0)),                                            # "short"
    (WHOLE, (WHOLE, 0, 0, 0, WHOLE, 0, 0, 0)),                                      # until "nothing" begins
]


def by_hand(first, last, level):
    """The formula of Linux' documentation, with the register's fractions of a byte."""
    def scaled(upto, field):
        slots = sum(slots for slots, _ in STEPS[:upto])
        return round(sum(parts[field] for _, parts in STEPS[:upto]) * 255 / slots) / 255 * slots
    slots = sum(slots for slots, _ in STEPS[first:last])
    ones = [(scaled(last, field) - scaled(first, field)) / slots for field in range(8)]
    twos = [share for one, two in zip(ones[:4], ones[4:]) for share in (two, one - two)]
    return slots, ones[:4] + (twos if level == 2 else [])


@test
def shares_of_regions_are_what_the_formula_says():
    program = region()
    for name, level in (('sapphirerapids', 2), ('icelake', 1), ('lunarlake', 2)):
        with machine(name, steps=[(slots, parts[:4 * level]) for slots, parts in STEPS]) as on:
            result = on.run(program)
        lines = {line.split()[0]: line for line in result.out.splitlines()}
        assert lines['level'] == f'level {level}' and not result.status, result
        for what, first, last in (('one', 1, 2), ('inner', 4, 5), ('outer', 3, 6)):
            slots, shares = by_hand(first, last, level)
            words = lines[what].split()
            assert int(words[2]) == slots, (lines[what], slots)
            got = [float(word) for word in words[words.index('shares') + 1:] if not word.endswith('nan')]
            assert len(got) == len(shares) and all(abs(a - max(0, b)) < 0.0001 for a, b in zip(got, shares)), (what, got, shares)
            before = sum(slots for slots, _ in STEPS[:first])
            assert abs(float(words[4]) - (2 * before + slots) / 255 / slots) < 0.0001, (lines[what], before)
        assert lines['one'].split()[6] == '0' and lines['short'].split()[6] == '3', result
        assert 'error -4: TopDown: the counters were reset since the region began' in lines['reset'], result
        assert 'error -4: TopDown: no slot has passed' in lines['nothing'], result
        for what in ('thread', 'child'):
            assert 'error -4: TopDown: only the thread that opened it' in lines[what], result


@test
def a_region_of_the_seed_has_the_shares_that_were_computed_by_hand():
    # One step until it begins: 255000 slots, of which 100, 50, 45 and 60 of 255 and so on; then as many, of which 60, 20, 75 and 100.
    # Scaled, that is 160-100 = 60, 70-50 = 20, 120-45 = 75 and 160-60 = 100 of 255 for the region, and of level 2: 10, 10, 45, 80.
    program = with_libpace('examples/topdown-region.c', 'topdown-region')
    with machine('sapphirerapids', steps=STEPS[:2]) as on:
        result = on.run(program)
    assert result.out == ('Retiring 23.53% Bad Speculation 7.84% FE Bound 29.41% BE Bound 39.22%\n'
                          'Heavy Operations 3.92% Light Operations 19.61% Branch Mispredict 3.92% Machine Clears 3.92% '
                          'Fetch Latency 17.65% Fetch Bandwidth 11.76% Mem Bound 31.37% Core Bound 7.84%\n'), result
    assert not result.err and not result.status, result
    with machine('icelake', steps=[(slots, parts[:4]) for slots, parts in STEPS[:2]]) as on:
        result = on.run(program)
    assert result.out == 'Retiring 23.53% Bad Speculation 7.84% FE Bound 29.41% BE Bound 39.22%\n', result


@test
def processors_without_the_register_are_told_so():
    program = region()
    for name, model in (('haswell', 'GenuineIntel-6-3C-3'), ('zen4', 'AuthenticAMD-25-11-1'), ('neoverse', '0x00000000410fd400')):
        with machine(name, is_strict=False) as on:
            result = on.run(program)
        assert 'no: -6 TopDown: there is no register of slots and their metrics here' in result.out and model in result.out, result


@test
def a_kernel_that_keeps_registers_from_programs_is_named():
    program = region()
    with machine('icelake', is_strict=False, also=['word cpu no-rdpmc=1']) as on:
        result = on.run(program)
    assert "no: -6 TopDown: the kernel does not let programs read counters: 'echo 1 > /sys/bus/event_source/devices/cpu/rdpmc'" in result.out, result


LATER = r'''
#include <stdio.h>
#include <unistd.h>
#include <pace.h>

int main(void)
{
	struct pace_error err;
	struct pace_topdown *t = pace_topdown_open(&err);
	struct pace_topdown_point outer, p;
	struct pace_topdown_shares s;

	pace_topdown_begin(t, &outer, &err);
	usleep(2100000);
	pace_topdown_begin(t, &p, &err); /* another is open: no reset */
	printf("%llu", (unsigned long long)p.period);
	pace_topdown_end(t, &p, &s, &err);
	pace_topdown_end(t, &outer, &s, &err);
	pace_topdown_begin(t, &p, &err);
	printf(" %llu", (unsigned long long)p.period);
	pace_topdown_begin(t, &p, &err); /* not again so soon */
	printf(" %llu\n", (unsigned long long)p.period);
	pace_topdown_close(t);
	return 0;
}
'''


@test
def counters_are_reset_before_a_region_if_the_last_time_is_long_ago():
    with open('later.c', 'w') as file:
        file.write(LATER)
    with machine('icelake', steps=[(slots, parts[:4]) for slots, parts in STEPS]) as on:
        result = on.run(with_libpace(os.path.abspath('later.c'), 'later'))
    assert result.out == '0 1 1\n', result


@test
def the_counters_of_regions_are_never_read_by_a_call():
    program = region()
    with machine('sapphirerapids', steps=STEPS) as on:
        on.run(program)
        assert not [line for line in on.said() if line.startswith('read')], on.said()
        assert len([line for line in on.said() if line.startswith('reset')]) == 1, on.said()
        # As the kernel's documentation wants them: the calling thread's, slots in front, and all with PERF_FORMAT_GROUP.
        opened_here = [(o['config'], o['pid'], o['cpu'], o['group'] >= 0, bool(o['format'] & 8)) for o in on.openings()]
        assert opened_here == [(0x400, 0, -1, False, True), (0x8000, 0, -1, True, True)], opened_here


@test
def registers_of_the_kernels_own_pmu_are_in_any_group():
    counts = {'msr/aperf/': 1000, 'msr/smi/': 2, 'cycles': 800}
    with machine('haswell', counts) as on:
        for events in ('{msr/aperf/,cycles,msr/smi/}', '{cycles,msr/aperf/,msr/smi/}'):
            expected = [(name, str(4 * counts[name])) for name in events.strip('{}').split(',')]
            for program in (on.pace, on.perf):
                result = program('stat', '-a', '-e', events, 'true')
                assert counts_in(result.err) == expected, result


# ---- how long events took to retire ----

CACHE = '''[
{"EventName": "MEM_LOAD_RETIRED.L2_HIT", "EventCode": "0xd1", "UMask": "0x2", "RetirementLatencyMean": 11.5, "BriefDescription": "-"},
{"EventName": "MEM_LOAD_RETIRED.L3_HIT", "EventCode": "0xd1", "UMask": "0x4", "BriefDescription": "-"},
{"MetricName": "l2_share", "MetricExpr": "MEM_LOAD_RETIRED.L2_HIT * min(MEM_LOAD_RETIRED.L2_HIT:R, 20) / cpu_cycles", "BriefDescription": "-"},
{"MetricName": "l2_wait", "MetricExpr": "MEM_LOAD_RETIRED.L2_HIT * MEM_LOAD_RETIRED.L2_HIT:R / cpu_cycles", "BriefDescription": "-"},
{"EventName": "CPU_CYCLES", "EventCode": "0x3c", "BriefDescription": "-"}
]'''
HITS, MISSES = 'mem_load_retired.l2_hit:R', 'mem_load_retired.l3_hit:R'


def tables():
    os.makedirs('tables/model', exist_ok=True)
    with open('tables/mapfile.csv', 'w') as file:
        file.write('Family-model,Version,Filename,EventType\nGenuineIntel-6-(AD|8F),v1,model,core\n')
    with open('tables/model/cache.json', 'w') as file:
        file.write(CACHE)
    return ['stat', '--events-dir', 'tables']


# On each CPU 5 of 33 cycles and 3 of 11: 198 / 8 = 24.75.
LATENCIES = {'r2d1': [{'weight': 70, 'retire_latency': 33, 'count': 5}, {'weight': 80, 'retire_latency': 11, 'count': 3}]}


@test
def latencies_are_the_mean_of_samples_beside_counts():
    stat = tables()
    with machine('graniterapids', {'cycles': 20, 'r2d1': 100}, samples=LATENCIES) as on:
        result = on.pace(*stat, '--record-tpebs', '-e', f'{HITS},cycles,r2d1', 'true')
        assert re.search(rf'^ +24\.75 cycles {HITS} +# +32 samples$', result.err, re.M), result
        assert counts_in(result.err)[-2:] == [('cycles', '20'), ('r2d1', '100')], result
        sampled = [o for o in on.openings() if o['period']]
        # Rings are not inherited from CPU to CPU: one for each.
        assert sorted(o['cpu'] for o in sampled) == list(range(on.machine.cpus)) and not any(o['error'] for o in sampled), sampled
        result = on.pace(*stat, '--record-tpebs', '-a', '-A', '-x,', '-e', HITS, 'true')
        rows = [line.split(',') for line in result.err.splitlines() if HITS in line]
        assert [(row[1], float(row[6]), row[7], float(row[14]), row[15]) for row in rows] == [
            (f'CPU{cpu}', 24.75, 'cycles', 8, 'samples') for cpu in range(on.machine.cpus)], result
        result = on.pace(*stat, '--record-tpebs', '-r', '3', '-e', HITS, 'true')
        assert re.search(r'^ +24\.75 cycles .* 96 samples +\( \+- +0\.00% \)$', result.err, re.M), result


@test
def intervals_have_the_mean_of_their_own_samples():
    stat = tables()
    with machine('graniterapids', samples=LATENCIES, is_strict=False) as on:
        result = on.pace(*stat, '--record-tpebs', '-I', '300', '-e', HITS, 'sleep', '0.8')
    rows = [line.split(None, 1)[1] for line in result.err.splitlines() if HITS in line]
    assert rows[0].startswith('24.75 cycles') and all('<not counted>' in row for row in rows[1:]) and len(rows) == 3, result


@test
def without_samples_a_latency_is_its_tables_which_is_said():
    stat = tables()
    usual = f'{HITS}: its usual latency, by its table: '
    none = {'r2d1': [{'weight': 70, 'count': 5}]}
    with machine('sapphirerapids', samples=none, is_strict=False) as on:
        result = on.pace(*stat, '-e', f'{HITS},{MISSES}', 'true')
        assert re.search(rf'^ +11\.50 cycles {HITS}$', result.err, re.M) and usual + '--record-tpebs measures it' in result.err, result
        assert f'{MISSES}: no table has its usual latency: --record-tpebs measures it' in result.err, result
        assert re.search(rf'^ +<not supported> cycles {MISSES}$', result.err, re.M), result
        result = on.pace(*stat, '--record-tpebs', '-e', HITS, 'true')
        assert f'{usual}20 samples came, none with a latency, which processors measure since' in result.err, result
        assert re.search(rf'^ +11\.50 cycles {HITS}$', result.err, re.M), result
        result = on.pace(*stat, '--record-tpebs', '-e', MISSES, 'true')
        assert f'{MISSES}: no sample of it came' in result.err and f'<not counted> cycles {MISSES}' in result.err, result
    # No PEBS at all.
    with machine('sapphirerapids', is_strict=False, also=['word cpu precise=0']) as on:
        result = on.pace(*stat, '--record-tpebs', '-e', f'{HITS},{MISSES}', 'true')
        assert usual + 'this PMU cannot do it; precise events (:p) need PEBS, IBS or SPE' in result.err, result
        assert re.search(rf'^ +11\.50 cycles {HITS}$', result.err, re.M) and f'<not supported> cycles {MISSES}' in result.err, result


@test
def metrics_take_latencies_of_samples_or_of_tables():
    stat = tables()
    counts = {'cpu/event=0x3c/': 4000, 'r2d1': 80}

    def value(result, name):
        return float(re.search(rf'^.*# +([\d.]+) +(?:% )?{name}', result.err, re.M)[1])
    with machine('graniterapids', counts, samples=LATENCIES) as on:
        measured = on.pace(*stat, '-M', 'l2_wait,l2_share', '--record-tpebs', 'true')
        groups = [(o['config'], o['group'] > 0) for o in on.openings() if not o['period'] and o['format']]
    # 80 * 24.75 / 4000, and with the limit 80 * 20 / 4000; the two that are counted are a group.
    assert abs(value(measured, 'l2_wait') - 0.495) < 0.006 and abs(value(measured, 'l2_share') - 0.4) < 0.006, measured
    assert sorted(config for config, _ in groups) == [0x3c, 0x2d1] and sum(is_member for _, is_member in groups) == 1, groups
    with machine('sapphirerapids', counts) as on:
        usual = on.pace(*stat, '-M', 'l2_wait', 'true')
    # 80 * 11.5 / 4000.
    assert abs(value(usual, 'l2_wait') - 0.23) < 0.006 and 'its usual latency, by its table: --record-tpebs measures it' in usual.err, usual


@test
def latencies_that_nothing_can_hold_are_refused():
    with machine('graniterapids', is_strict=False) as on:
        for args, sentence in ((['-e', '{r2d1:R,cycles}', 'true'], "event 'r2d1:R' is sampled, apart from all groups: write it outside of the braces"),
                               (['-e', 'cs:R', 'true'], 'this is no event of a processor'),
                               (['record', '-e', 'r2d1:R', 'true'], 'a recording of counts holds no means of latencies'),
                               (['--record-tpebs', '--vs', 'true', 'true'], '--record-tpebs does not work with --vs')):
            result = on.pace('stat', *args)
            assert result.status == 2 and sentence in result.err, result


main()
