#!/usr/bin/env python3
"""Options of stat that only some machines have something for, beside the installed perf: kinds of cores, one of several PMUs, threads of
cores, interrupts of the system management."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403


def counted(text):
    """Event -> its count, of -x."""
    return {row.split(',')[2]: float(row.split(',')[0]) for row in text.splitlines() if row}


@test
def one_kind_of_core_is_counted_as_by_perf():
    perf_works()
    counts = {'cpu_core/event=0x3c/': 3000, 'cpu_atom/event=0x3c/': 5000}
    with machine('lunarlake', counts, is_strict=False) as on:
        for kind, events in (('core', 'cycles'), ('atom', 'cycles'), ('atom', 'cpu_core/cycles/,cycles,task-clock'), ('core', 'r3c')):
            ours, theirs = (counted(on.run(*tool, 'stat', '-x,', '--cputype', kind, '-e', events, 'true').err)
                            for tool in ((PACE, '--as-perf'), ('perf',)))
            assert set(ours) == set(theirs) and len(ours) == events.count(',') + 1, (kind, events, ours, theirs)
            ours.pop('task-clock', None), theirs.pop('task-clock', None)
            assert ours == theirs, (kind, events, ours, theirs)
        # Also of the default events, and wherever the option stands.
        rows = [json.loads(line) for line in on.pace('stat', '-j', '--cputype', 'core', 'true').err.splitlines()]
        names = [row['event'] for row in rows if row.get('kind') == 'count']
        assert 'cpu_core/cycles/' in names and 'task-clock' in names and not [name for name in names if 'atom' in name], names
        late = on.pace('stat', '--columns=perf', '-x,', '-e', 'cycles', '--cputype', 'cpu_atom', 'true')
        assert list(counted(late.err)) == ['cpu_atom/cycles/'], late
        unknown = on.pace('stat', '--cputype', 'big', 'true')
        assert unknown.status == 1 and "'big'" in unknown.err and 'core, atom' in unknown.err, unknown
    with machine('zen4', {}, is_strict=False) as on:
        unknown = on.pace('stat', '--cputype', 'core', 'true')
        assert unknown.status == 1 and 'its kinds: cpu' in unknown.err, unknown


@test
def one_of_several_pmus_is_counted():
    counts = {'uncore_cha_0/clockticks/': 100, 'cycles': 7}
    with machine('sapphirerapids', counts, is_strict=False) as on:
        both = counted(on.pace('stat', '-a', '--columns=perf', '-x,', '-e', 'uncore_cha/clockticks/', 'true').err)
        before = len(on.openings())
        one = on.pace('stat', '-a', '--columns=perf', '-x,', '--pmu-filter', 'uncore_cha_1', '-e', 'uncore_cha/clockticks/', 'true')
        kinds = {opened['type'] for opened in on.openings()[before:]}
        assert len(both) == 1 and len(kinds) == 1 and kinds == {on.machine.pmus['uncore_cha_1'].type}, (both, kinds, one)
        assert counted(on.pace('stat', '--columns=perf', '-x,', '--pmu-filter', 'cpu', '-e', 'cycles,page-faults', 'true').err)['cycles'] == 7
        for events in ('cycles', 'uncore_cha_0/clockticks/'):
            refused = on.pace('stat', '-a', '--pmu-filter', 'uncore_cha_1', '-e', events, 'true')
            assert refused.status == 2 and 'no event of PMU' in refused.err and 'uncore_cha_1' in refused.err, refused


@test
def each_cpu_has_the_count_of_its_core_as_in_perf():
    perf_works()
    event = 'cpu/event=0x3c,percore=1/'
    with machine('sapphirerapids', {f'cycles@{cpu}': 1000 * (cpu + 1) for cpu in range(4)}, is_strict=False) as on:
        for words in (['-A'], ['-A', '--percore-show-thread'], ['--percore-show-thread'], ['--per-core', '--percore-show-thread'],
                      ['-A', '--percore-show-thread', '-r', '2']):
            ours, theirs = (re.sub(r',\d+,100\.00', ',TIME', on.run(*tool, 'stat', '-a', '-x,', *words, '-e', event, 'sleep', '0.01').err)
                            for tool in ((PACE, '--as-perf'), ('perf',)))
            assert ours == theirs, (words, ours, theirs)
        intervals = on.pace('stat', '-a', '-A', '--percore-show-thread', '--columns=perf', '-x,', '-I', '100', '-e', event, 'sleep', '0.05').err
        assert [row.split(',')[1:3] for row in intervals.splitlines()] == [['CPU0', '3000'], ['CPU1', '3000'], ['CPU2', '7000'], ['CPU3', '7000']], intervals


@test
def all_events_can_be_one_group_as_in_perf():
    perf_works()
    for words in (['-e', 'cycles,instructions,branches'], ['-e', '{cycles,instructions},branches']):
        groups = []
        with machine('zen4', {'cycles': 9, 'instructions': 8, 'branches': 7}) as on:
            for tool in ((PACE,), ('perf',)):
                on.forget()
                on.run(*tool, 'stat', '-g', *words, 'true')
                groups.append([opened['group'] >= 0 for opened in on.openings() if opened['config'] in (0, 1, 4)][-3:])
        assert groups[0] == groups[1] == [False, True, True], (words, groups)


# What such a machine has beside the events of its tree.
SMI = ['file msr/events/smi = event=0x04', 'file cpu/freeze_on_smi = 0']


def is_frozen(on):
    with open(f'{on.folder}/root/sys/devices/cpu/freeze_on_smi', encoding='ascii') as file:
        return file.read().strip()


@test
def the_cost_of_interrupts_of_the_system_management_is_that_of_perf():
    perf_works()
    counts = {'msr/aperf/': 100000, 'msr/smi/': 3, 'cycles': 98000}
    with machine('haswell', counts, is_strict=False, also=SMI) as on:
        for words, n in ((['-a'], 12), ([], 3)):
            theirs = on.perf('stat', *words, '--smi-cost', '-x,', 'sleep', '0.01')
            ours = on.pace('stat', *words, '--smi-cost', '--columns=perf', '-x,', 'sleep', '0.01')
            # perf 6.1 prints no names.
            share, number = theirs.err.strip().splitlines()[-1].split(',')[:2]
            if '.' in number:
                share, number = number, share
            assert ours.err == f'SMI#  smi_num,%  smi_cycles,\n{float(number):.1f},{float(share):.1f},\n' and float(number) == n, (ours, theirs)
        text = on.pace('stat', '-a', '--smi-cost', '--no-metric-only', 'sleep', '0.01')
        assert re.search(r'^ +12 +msr/smi/ +# +12\.0 SMI#  smi_num\n +# +2\.0 %  smi_cycles\n +400,000 +msr/aperf/\n +392,000 +cycles\n', text.err, re.M), text
        # Counters stand still in interrupts while it is counted, and only then.
        during = on.pace('stat', '--smi-cost', 'cat', f'{on.folder}/root/sys/devices/cpu/freeze_on_smi')
        assert during.out.strip() == '1' and is_frozen(on) == '0', during
        failed = on.pace('stat', '--smi-cost', '-e', 'no_such_event', 'true')
        assert failed.status == 1 and is_frozen(on) == '0', failed
    # Who has set it keeps it.
    with machine('haswell', counts, is_strict=False, also=[*SMI, 'file cpu/freeze_on_smi = 1']) as on:
        assert on.pace('stat', '--smi-cost', 'true').status == 0 and is_frozen(on) == '1'
    # What is missing is said.
    for also, said in (([], 'freeze_on_smi'), ([*SMI, 'without msr/events/smi'], 'msr/smi/'), ([*SMI, 'without msr'], "'msr'")):
        with machine('haswell', {}, is_strict=False, also=also) as on:
            lacking = on.pace('stat', '--smi-cost', 'true')
            assert lacking.status == 1 and '--smi-cost: ' in lacking.err and said in lacking.err, (also, lacking)


main()
