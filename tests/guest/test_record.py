#!/usr/bin/env python3
"""`pace record` with hardware counters: what they sample, and the recording read on another machine.

In the emulated machine with one CPU an instruction takes a cycle, and a cycle takes a nanosecond."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import machine  # noqa: E402
from guest import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403
sys.path.insert(0, os.path.join(TOP, 'tests', 'oracle'))
import perftext  # noqa: E402


def rows(report):
    """The first event's rows, as their cells."""
    return sorted(tuple(row.cells) for row in perftext.parse(report.out)[0][1])


def share(report, name):
    """The percentage of the first row whose symbol or DSO this is."""
    found = re.search(rf'^ +(\d+\.\d+)%  .*{re.escape(name)}', report.out, re.M)
    assert found, report
    return float(found.group(1))


def times(report, kind):
    """How many records of that kind report --stats counted."""
    found = re.search(rf'^ +{kind} events: +(\d+)', report.out, re.M)
    return int(found.group(1)) if found else 0


@guest(record='pace record -e cycles -c 100000 loop 10000000', report='pace report -s sym')
def cycles_are_sampled_at_every_period(g):
    # 20 million instructions in the loop, at one cycle each; starting the program costs some more
    assert g.record.status == 0 and 200 <= samples_said(g.record) <= 220, g.record
    assert share(g.report, '[.] spin') > 90, g.report


@guest(record='pace record loop 10000000', evlist='pace evlist -v')
def the_event_of_those_who_name_none_is_cycles(g):
    assert g.record.status == 0 and 'note:' not in g.record.err and 'cpu-clock' not in g.record.err, g.record
    assert re.match(r'cycles:P: size: \d+, \{ sample_period, sample_freq \}: 4000, ', g.evlist.out), g.evlist
    assert samples_said(g.record) > 40, g.record


@guest(low='pace record -F 1000 -e cycles -o low loop 50000000', high='pace record -F 10000 -e cycles -o high loop 50000000',
       evlist='pace evlist -v -i low')
def frequencies_are_kept_by_changing_the_period(g):
    # 0.1 s of the guest's time; the kernel needs a few ticks to find the period
    low, high = samples_said(g.low), samples_said(g.high)
    assert 60 <= low <= 150 and 800 <= high <= 1300, (g.low, g.high)
    assert 'sample_freq }: 1000' in g.evlist.out and 'freq: 1' in g.evlist.out, g.evlist


@guest(record='pace record -g -e cycles -c 100000 loop 10000000', report='pace report --no-children -s sym -G',
       script='pace script -F ip,sym')
def callers_in_user_space_and_the_kernel_are_recorded(g):
    tree = g.report.out[g.report.out.index('[.] spin'):].split('\n\n')[0]
    names = re.findall(r'[a-z_]+(?=\n|$)', tree)
    assert names.index('main') < names.index('outer') < names.index('spin', 1), tree
    # A stack of the kernel's that goes on in the program: the way in, and below it addresses of user space.
    stacks = g.script.out.strip().split('\n\n')
    assert any(re.search(r'^\s+ffff[0-9a-f]{12} el0t_64_sync\n\s+[0-9a-f]{1,12} ', stack + '\n', re.M) for stack in stacks), g.script


@guest(user='pace record -e cycles:u -c 10000 -o user loop 1000000', kernel='pace record -e cycles:k -c 10000 -o kernel loop 1000000',
       user_report='pace report -i user -s dso -n', kernel_report='pace report -i kernel -s dso -n')
def sides_are_told_apart(g):
    assert '[kernel.kallsyms]' not in g.user_report.out and share(g.user_report, 'loop') > 80, g.user_report
    # 2 million instructions in the loop, none of them in the kernel
    assert samples_said(g.user) >= 200 and share(g.kernel_report, '[kernel.kallsyms]') > 95, (g.user, g.kernel_report)


@guest(group="pace record -e '{cycles,instructions}' -c 100000 loop 10000000", report='pace report -s sym -n --no-group', evlist='pace evlist -g')
def events_of_a_group_are_sampled_over_the_same_time(g):
    assert g.evlist.out.strip() == '{cycles,instructions}', g.evlist
    events = re.findall(r'Samples: (\d+) of event \'(\w+)\'\n# Event count \(approx.\): (\d+)', g.report.out)
    assert [name for _, name, _ in events] == ['cycles', 'instructions'], g.report
    cycles, instructions = (int(count) for _, _, count in events)
    assert cycles >= 20_000_000 and 0.99 < instructions / cycles < 1.01, g.report


@guest(record='pace record -e cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles -c 100000 loop 50000000',
       report='pace report -n -s comm')
def events_that_do_not_fit_take_turns(g):
    counts = [int(n) for n in re.findall(r'Samples: (\d+) of event', g.report.out)]
    # 7 counters count cycles; a turn is 4 ms, the loop takes 100 ms.
    assert len(counts) == 10 and all(500 < n < 950 for n in counts) and sum(counts) < 7.5 * 1010, counts


@guest(record="pace record -e '{cycles,instructions,instructions,instructions,instructions,instructions,instructions,instructions}'"
              ' -c 100000 loop 100')
def a_group_that_can_never_fit_is_refused(g):
    assert g.record.status == 1 and "opening 'instructions': " in g.record.err, g.record


@guest(record='pace record -e cycles -c 1000 loop 1000000', stats='pace report --stats', report='pace report')
def throttling_is_recorded_and_said(g):
    throttled = times(g.stats, 'THROTTLE')
    assert throttled >= 1 and samples_said(g.record) < 2000, (g.record, g.stats)
    assert re.search(rf'^# {throttled} times the kernel stopped sampling for a moment', g.report.out, re.M), g.report


@guest(record='pace record -e cycles -c 1000000 loop 10000000 3', report='pace report -s pid,sym -n')
def children_are_sampled_with_their_parent(g):
    rows = re.findall(r'^ +\d+\.\d+% +(\d+) +(\d+):loop +\[\.\] spin', g.report.out, re.M)
    assert len({pid for _, pid in rows}) == 4 and all(int(n) in range(18, 23) for n, _ in rows), g.report


@guest(record='pace record -a -e cycles -c 1000000 loop 20000000', report='pace report -s comm,cpu')
def a_whole_system_is_sampled(g):
    assert g.record.status == 0 and share(g.report, 'loop') > 80, g.report
    assert re.search(r'%  loop +000$', g.report.out, re.M), g.report


@guest(alias='pace record -e armv8_pmuv3/cpu_cycles/ -c 100000 -o alias loop 1000000',
       terms='pace record -e armv8_pmuv3/event=0x11,long=1/u -c 100000 -o terms loop 1000000',
       raw='pace record -e r11 -c 100000 -o raw loop 1000000',
       evlist='for f in alias terms raw; do pace evlist -v -i $f; done', type='cat /sys/bus/event_source/devices/armv8_pmuv3/type')
def events_of_the_pmu_are_opened_by_all_their_names(g):
    alias, terms, raw = g.evlist.out.strip().split('\n')
    kind = g.type.out.strip()
    assert f'type: {kind}, ' in alias and 'config: 0x11, ' in alias, alias
    assert f'type: {kind}, ' in terms and 'config: 0x11, ' in terms and 'config1 }: 0x1' in terms and 'exclude_kernel: 1' in terms, terms
    assert 'type: 4, ' in raw and 'config: 0x11, ' in raw, raw
    assert all(20 <= samples_said(g) for g in (g.alias, g.terms, g.raw)), g


@guest(branches='pace record -e branches true', cache='pace record -e LLC-loads true', nonsense='pace record -e armv8_pmuv3/nonsense/ true',
       left='ls')
def events_that_the_pmu_has_not_are_refused_by_name(g):
    for done, name in ((g.branches, 'branches'), (g.cache, 'LLC-loads')):
        assert done.status == 1 and f"opening '{name}': this machine has no such hardware counter" in done.err, done
    assert g.nonsense.status == 1 and "PMU 'armv8_pmuv3' has no event or term 'nonsense'" in g.nonsense.err, g.nonsense
    assert 'perf.data' not in g.left.out, g.left


@guest(level3="sysctl -qw kernel.perf_event_paranoid=3; su nobody -c 'pace record loop 10'",
       level2="sysctl -qw kernel.perf_event_paranoid=2; su nobody -c 'pace record -o own loop 5000000'",
       everybody="su nobody -c 'pace record -a true'", kernel="su nobody -c 'pace record -e cycles:k true'",
       level1="sysctl -qw kernel.perf_event_paranoid=1; su nobody -c 'pace record -o both -e cycles -c 10000 loop 1000000'",
       evlist='pace evlist -v -i own', own='pace report -i own -s dso', both='pace report -i both -s dso')
def users_may_measure_what_the_paranoid_level_allows(g):
    assert g.level3.status == 1 and 'perf_event_paranoid is 3, measuring at all needs 2 or less' in g.level3.err, g.level3
    assert g.level2.status == 0 and 'only user space is measured: perf_event_paranoid is 2' in g.level2.err, g.level2
    assert g.evlist.out.startswith('cycles:Pu: ') and '[kernel' not in g.own.out and share(g.own, 'loop') > 80, (g.evlist, g.own)
    assert g.everybody.status == 1 and 'perf_event_paranoid is 2, measuring all processes (-a, -C) needs 0 or less' in g.everybody.err
    assert g.kernel.status == 1 and "opening 'cycles:k': access denied: perf_event_paranoid is 2, measuring the kernel needs 1" in g.kernel.err
    assert g.level1.status == 0 and 'note:' not in g.level1.err.replace('note: kernel addresses are hidden', ''), g.level1
    assert '[kernel.kallsyms]' in g.both.out or '[unknown]' in g.both.out, g.both


@guest(hidden='sysctl -qw kernel.kptr_restrict=2; pace record -e cycles -c 20000 -o hidden loop 1000000; sysctl -qw kernel.kptr_restrict=0',
       report='pace report -i hidden -s dso,sym')
def hidden_addresses_of_the_kernel_are_said_and_the_program_is_still_named(g):
    assert 'note: kernel addresses are hidden' in g.hidden.err and 'kptr_restrict is 2' in g.hidden.err, g.hidden
    assert share(g.report, '[.] spin') > 60 and not re.search(r'\[k\] [a-z]', g.report.out), g.report


@guest(make="echo 'p:mine do_sys_openat2' >/sys/kernel/tracing/kprobe_events", record='pace record -e kprobes:mine cat /etc/passwd',
       report='pace report -s sym -n', unmake='echo >/sys/kernel/tracing/kprobe_events', gone='pace record -e kprobes:mine true')
def a_probe_in_the_kernel_is_a_tracepoint(g):
    assert g.record.status == 0 and samples_said(g.record) >= 1, (g.make, g.record)
    assert re.search(r'^ +100\.00% +\d+  \[k\] do_sys_openat2$', g.report.out, re.M), g.report
    assert g.gone.status == 1 and 'kprobes:mine' in g.gone.err, g.gone


def check_callers(script):
    """Samples of leaf(), most of all there are, in each of its two threads: all the way down."""
    chains = [[line.split()[1] for line in sample.split('\n') if line.startswith('\t')] for sample in script.out.split('\n\n')]
    chains = [chain for chain in chains if 'leaf' in chain]
    assert len(chains) > 50, script
    wrong = [c for c in chains if c[:4] != ['leaf', 'middle', 'outer', 'run'] or not (c[4:5] == ['main'] or len(c) >= 5)]
    assert len(wrong) <= len(chains) // 50, (len(chains), wrong[:3])
    assert any('main' in c and c[-1] == '_start' for c in chains), chains[:3]


DWARF = 'pace record -q -e cycles:u -c 500000 --call-graph dwarf'
WALKED = {'record': f'{DWARF} -o live stacks 0.1', 'live': 'pace script --no-inline -i live -F comm,tid,ip,sym',
          'keep': f'{DWARF} --keep-stacks -o kept stacks 0.1', 'kept': 'pace script --no-inline -i kept -F comm,tid,ip,sym'}


@guest(**WALKED)
def callers_come_out_of_stacks_without_frame_pointers(g):
    assert g.record.status == 0 and g.keep.status == 0, (g.record, g.keep)
    check_callers(g.live)
    check_callers(g.kept)
    # and on a machine of another kind
    check_callers(pace('script', '--no-inline', '-i', g.path('kept'), '-F', 'comm,tid,ip,sym'))


@guest(model=machine.SIGNING, features='grep -m1 Features /proc/cpuinfo', **WALKED)
def callers_are_found_where_return_addresses_are_signed(g):
    if 'paca' not in g.features.out.split():
        skip('the emulated processor signs no addresses')
    assert g.record.status == 0 and g.keep.status == 0, (g.record, g.keep)
    check_callers(g.live)
    check_callers(g.kept)


@guest(record='pace record --no-embed -g -e cycles -c 20000 loop 1000000', rows='pace report -g none --no-children -n -s comm,dso',
       script='pace script -F comm,tid,time,period,event,ip', version='uname -r')
def a_recording_is_the_same_on_a_machine_of_another_kind(g):
    path = g.path('perf.data')
    assert samples_said(g.record) > 100, g.record
    here = pace('report', '-i', path, '-g', 'none', '--no-children', '-n', '-s', 'comm,dso')
    assert rows(here) == rows(g.rows) and rows(here), (here, g.rows)
    assert pace('script', '-i', path, '-F', 'comm,tid,time,period,event,ip').out == g.script.out
    header = pace('report', '-i', path, '--header-only').out
    assert '# arch : aarch64' in header and f'# os release : {g.version.out}' in header, header
    # It carries no names with it; those of this machine's kernel and of its programs would be wrong ones.
    named = pace('report', '-i', path, '-g', 'none', '--no-children', '-s', 'sym')
    assert not re.search(r'\[k\] [a-z_]', named.out), named


@guest(record='pace record -g -e cycles -c 20000 loop 1000000')
def the_installed_perf_reads_the_recording_too(g):
    perf_works()
    path = g.path('perf.data')
    theirs = run('perf', 'report', '-i', path, '-g', 'none', '--no-children', '-n', '--stdio', '-s', 'comm,dso')
    ours = pace('report', '-i', path, '-g', 'none', '--no-children', '-n', '-s', 'comm,dso')
    assert theirs.status == 0, theirs
    assert rows(ours) == rows(theirs) and rows(ours), (ours, theirs)


KEYS = '-g none --no-children -n -s comm,dso,sym'


@guest(ours='pace record -g -e cycles -c 20000 -o ours loop 2000000', theirs='perf record -g -e cycles -c 20000 -o theirs loop 2000000',
       pace_ours=f'pace report --no-unnamed-functions -i ours {KEYS}', perf_ours=f'perf report --stdio -i ours {KEYS}',
       pace_theirs=f'pace report --no-unnamed-functions -i theirs {KEYS}', perf_theirs=f'perf report --stdio -i theirs {KEYS}')
def pace_and_perf_name_the_same_functions_in_recordings_of_both(g):
    if 'not found' in g.theirs.err:
        skip('this system\'s package sources have no linux-perf for arm64')
    for ours, theirs in ((g.pace_ours, g.perf_ours), (g.pace_theirs, g.perf_theirs)):
        assert rows(ours) == rows(theirs) and len(rows(ours)) > 20, (ours, theirs)
        assert sum(bool(re.match(r'\[k\] [a-z_]', cells[-1])) for cells in rows(ours)) > 15, ours


@guest(record='perf record -g -e cycles -c 20000 loop 2000000', rows='pace report -g none --no-children -n -s comm,dso')
def a_recording_of_perf_is_read_on_a_machine_of_another_kind(g):
    if 'not found' in g.record.err:
        skip('this system\'s package sources have no linux-perf for arm64')
    here = pace('report', '-i', g.path('perf.data'), '-g', 'none', '--no-children', '-n', '-s', 'comm,dso')
    assert here.status == 0 and rows(here) == rows(g.rows) and rows(here), (here, g.rows)


if __name__ == '__main__':
    main()
