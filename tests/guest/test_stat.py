#!/usr/bin/env python3
"""`pace stat` with hardware counters and known counts: `loop N` executes 2 N instructions in user space, and
some 80,000 to start; on one CPU an instruction takes a cycle, and a cycle takes a nanosecond. perf's counts are compared, too."""
import csv
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guest import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

START = 80_000
CPU1 = '/sys/devices/system/cpu/cpu1/online'
SEVEN = ','.join(['instructions'] * 7)


def lines(done):
    """Of `pace stat -x,`: the rows of counts behind what it had to say, as dictionaries."""
    assert 'time_s,' in done.err, done
    table = done.err[done.err.index('time_s,'):]
    return [row for row in csv.DictReader(table.split('\n')) if row['event'] not in ('elapsed', 'user', 'sys')]


def values(done):
    """The same, only the counts, in the order of the events."""
    return [float(row['value']) for row in lines(done)]


def by_place(done):
    return {row['place']: float(row['value']) for row in lines(done)}


def is_near(value, truth, share=0.002):
    return abs(value - truth) <= truth * share


@guest(one='pace stat -x, -e instructions:u,cycles:u loop 1000000', two='pace stat -x, -e instructions:u,cycles:u loop 3000000',
       perf='perf stat -x, -e instructions:u,cycles:u loop 1000000')
def counts_of_a_command_are_exact(g):
    one, two = values(g.one), values(g.two)
    for few, many in zip(one, two):
        # Where the loader finds things changes its work by a few instructions.
        assert abs(many - few - 4_000_000) < 200, (g.one, g.two)
    if 'perf: not found' in g.perf.err:
        skip('this system\'s package sources have no linux-perf for arm64')
    theirs = [float(line.split(',')[0]) for line in g.perf.err.strip().split('\n')]
    # Its command sees a longer PATH.
    assert all(abs(a - b) < 2000 for a, b in zip(one, theirs)), (g.one, g.perf)


@guest(text='pace stat loop 1000000')
def the_default_events_of_this_machine_are_counted_and_the_others_named(g):
    assert g.text.status == 0, g.text
    note = re.search(r'^note: not counted by default: (.*?): ', g.text.err, re.M)
    assert note and {'branches', 'branch-misses'} <= set(note.group(1).split(', ')), g.text
    cycles = re.search(r'^ +([\d,]+) +cycles +# +(\d\.\d+) GHz$', g.text.err, re.M)
    instructions = re.search(r'^ +([\d,]+) +instructions +# +(\d\.\d+)  insn per cycle$', g.text.err, re.M)
    assert cycles and instructions, g.text
    assert int(instructions.group(1).replace(',', '')) > 2_000_000 + START // 2, g.text
    assert 0.98 < float(cycles.group(2)) < 1.02 and 0.98 < float(instructions.group(2)) < 1.02, g.text


@guest(names='pace stat -x, -e instructions:u,r8:u,armv8_pmuv3/inst_retired/u,armv8_pmuv3/event=0x8/u,cpu-cycles:u,r11:u,'
             'armv8_pmuv3/cpu_cycles/u loop 1000000')
def all_names_of_an_event_count_the_same(g):
    found = values(g.names)
    assert len(found) == 7 and found[0] > 2_000_000 and max(found) - min(found) < 100, g.names


@guest(both='pace stat -x, -e instructions,instructions:u,instructions:k loop 1000000')
def user_and_kernel_sum_up_to_both(g):
    both, user, kernel = values(g.both)
    assert user > 2_000_000 and kernel > 100_000 and abs(both - user - kernel) < 1000, g.both


@guest(parent='pace stat -x, -e instructions:u -i loop 1000000 3', family='pace stat -x, -e instructions:u loop 1000000 3')
def children_are_counted_unless_told_otherwise(g):
    (parent,), (family,) = values(g.parent), values(g.family)
    assert is_near(parent, 2_000_000 + START, 0.02) and is_near(family, 8_000_000 + START, 0.02), g


@guest(csv="pace stat -x, -e '{cycles,instructions,instructions}:u' loop 1000000",
       text="pace stat -e '{cycles,instructions}:u' loop 1000000", apart='pace stat -e ' + ','.join(['cycles:u'] + ['instructions:u'] * 9) + ' loop 20000000')
def a_group_counts_the_same_moments_and_only_there_a_ratio_means_something(g):
    rows = lines(g.csv)
    assert len({row['enabled_ns'] for row in rows}) == len({row['running_ns'] for row in rows}) == 1, g.csv
    assert rows[1]['value'] == rows[2]['value'] and rows[1]['metric_unit'] == 'insn per cycle', g.csv
    assert float(rows[1]['metric']) == 1 and re.search(r'# +1\.00  insn per cycle', g.text.err), (g.csv, g.text)
    assert 'took turns on the PMU' in g.apart.err and 'A group counts them together' in g.apart.err, g.apart


def metric(done):
    return next(row for row in lines(done) if row['metric_name'] == 'insn_per_cycle')


@guest(alone='pace stat -x, --all-user -M insn_per_cycle loop 1000000', only='pace stat --all-user --metric-only -M insn_per_cycle loop 1000000',
       crowd='pace stat -x, --all-user -M insn_per_cycle -e ' + ','.join(['instructions'] * 12) + ' loop 60000000')
def a_metric_counts_its_events_together(g):
    assert float(metric(g.alone)['metric']) == 1 and float(metric(g.alone)['metric_error']) == 0, g.alone
    assert re.search(r'^ +insn_per_cycle\n +1\.00$', g.only.err, re.M), g.only
    # Others take turns with it: the ratio still holds, and the bound is not 0.
    assert float(metric(g.crowd)['metric']) == 1 and 0 < float(metric(g.crowd)['metric_error']) < 1.5, g.crowd


@guest(turns='pace stat -x, -e ' + ','.join(['instructions:u'] * 12) + ' loop 60000000')
def events_that_do_not_fit_are_scaled_and_say_so(g):
    rows = lines(g.turns)
    shares = [float(row['running_pct']) for row in rows]
    # Six counters: 120 ms in turns of 4 ms, and what a turn too many or too few makes of them.
    assert all(30 < share < 70 for share in shares) and 560 < sum(shares) < 605, g.turns
    for row in rows:
        assert is_near(float(row['value']), 120_000_000, 0.03), row
        assert is_near(float(row['value']), int(row['raw']) * int(row['enabled_ns']) / int(row['running_ns']), 1e-5), row
        # From how steady its turns were, which are few here.
        assert row['state'] == 'counted' and float(row['scaling_error_pct']) >= 0, row


@guest(runs='pace stat -x, -r 4 -e ' + ','.join(['instructions:u'] * 10) + ',page-faults loop 1000000',
       one='pace stat -e ' + ','.join(['instructions:u'] * 10) + ' loop 1000')
def runs_take_turns_instead_of_events_where_there_are_enough(g):
    """Six counters for ten events: two passes, and nothing is scaled."""
    rows = lines(g.runs)[:11]
    assert [row['state'] for row in rows] == ['counted'] * 11 and {row['running_pct'] for row in rows} == {'100.00'}, g.runs
    assert all(2_000_000 < float(row['value']) < 2_200_000 for row in rows[:10]), g.runs
    # Each was counted in two of the four runs; what needs no counter in all.
    assert len({row['enabled_ns'] for row in rows[:10]}) <= 2 and int(rows[10]['enabled_ns']) > 1.5 * int(rows[0]['enabled_ns']), g.runs
    assert re.search(r'each run counts the events of one pass; 1: (instructions:u(, )?){6}; 2: (instructions:u(, )?){4}$',
                     g.runs.err, re.M), g.runs
    assert "'-r 2' counts each pass in runs of its own" in g.one.err, g.one


@guest(group=f"pace stat -x, -e '{{cycles,{SEVEN}}}:u' loop 1000000")
def a_group_that_can_never_fit_says_who_is_too_many(g):
    rows = lines(g.group)
    assert g.group.status == 0 and [row['state'] for row in rows] == ['counted'] * 7 + ['not supported'], g.group
    assert all(float(row['value']) > 2_000_000 for row in rows[:7]) and not rows[7]['value'], g.group
    assert 'does not fit on the PMU beside the others of its group' in rows[7]['reason'], rows[7]


@guest(single='pace stat -x, -e ' + ','.join(['instructions:uD'] * 7) + ' loop 1000000', text='pace stat -e instructions:uD,cycles:uD loop 1000',
       group="pace stat -x, -e '{instructions:uD,instructions:u,instructions:u,instructions:u},{instructions:uD,instructions:u,instructions:u}' loop 1000000")
def pinned_events_without_a_place_are_not_counted(g):
    for done, fitting, all_of_them in ((g.single, 6, 7), (g.group, 4, 7)):
        rows = lines(done)
        assert [row['state'] for row in rows] == ['counted'] * fitting + ['not counted'] * (all_of_them - fitting), done
        assert all(float(row['value']) > 2_000_000 for row in rows[:fitting]) and not any(row['value'] for row in rows[fitting:]), done
    assert '<not counted>' not in g.text.err, g.text


@guest(runs='pace stat -x, -r 5 -e instructions:u loop 1000000', table='pace stat -r 3 --table -e cycles loop 1000000')
def repeated_runs_have_a_mean_and_a_deviation(g):
    row, = lines(g.runs)
    assert is_near(float(row['value']), 2_000_000 + START, 0.01) and float(row['deviation_pct']) < 0.1, g.runs
    assert "(3 runs)" in g.table.err and len(re.findall(r'^ +0\.00\d+ \([+-]', g.table.err, re.M)) == 3, g.table


@guest(every='pace stat -x, -I 10 --summary -e instructions:u,cycles loop 20000000')
def intervals_sum_up_to_the_whole(g):
    rows = lines(g.every)
    for event in ('instructions:u', 'cycles'):
        parts = [float(row['value']) for row in rows if row['event'] == event and row['time_s']]
        whole, = (float(row['value']) for row in rows if row['event'] == event and not row['time_s'])
        assert len(parts) == 5 and sum(parts) == whole and whole > 40_000_000, (event, g.every)
        # All but the first and the last are 10 ms at a cycle a nanosecond.
        assert all(is_near(part, 10_000_000, 0.05) for part in parts[1:-1]), (event, parts)


@guest(attached='loop 300000000 & sleep 0.02; pace stat -x, -p $! -e instructions:u --timeout 50; kill $!',
       delayed='pace stat -x, -D 5 -e instructions:u loop 10000000')
def a_running_process_and_a_late_start_count_only_their_time(g):
    (attached,), (delayed,) = values(g.attached), values(g.delayed)
    assert is_near(attached, 50_000_000, 0.05) and 10_000_000 < delayed < 20_000_000, g


@guest(system='pace stat -x, -a -e instructions:u,cycles loop 10000000')
def a_system_is_counted_whoever_runs(g):
    instructions, cycles = values(g.system)
    assert is_near(instructions, 20_000_000 + START, 0.01) and cycles > instructions, g.system


@guest(objects='pace stat -j -e instructions:u,branches:u loop 1000000')
def json_has_the_number_or_null_with_the_reason(g):
    counted, missing, run = (json.loads(line) for line in g.objects.err.strip().split('\n'))
    assert is_near(counted['value'], 2_000_000 + START, 0.02) and counted['running_pct'] == 100, counted
    assert missing['value'] is None and missing['state'] == 'not supported' and 'no such hardware counter' in missing['reason'], missing
    assert run['elapsed_s'] > 0.002, run


@guest(record='pace stat record -e instructions:u,cycles:u loop 1000000', report='pace stat report -x, 2>&1', perf='perf stat report -i perf.data')
def recorded_counts_are_the_same_here_and_on_a_machine_of_another_kind(g):
    g.report.err = g.report.err or g.report.out
    instructions, cycles = values(g.report)
    assert f'{int(instructions):,}      instructions:u' in g.record.err, (g.record, g.report)
    here = pace('stat', 'report', '-x,', '-i', g.path('perf.data'))
    here.err = here.err or here.out
    assert values(here) == [instructions, cycles], (here, g.report)
    if 'not found' not in g.perf.err:
        assert re.search(rf'^ +{int(instructions)} +instructions:u', g.perf.out + g.perf.err, re.M), g.perf


@guest(level2="su nobody -c 'pace stat -x, -e instructions,cycles:k loop 1000000'", everybody="su nobody -c 'pace stat -a -e cycles true'",
       level3="sysctl -qw kernel.perf_event_paranoid=3; su nobody -c 'pace stat -e instructions true'")
def users_may_count_what_the_paranoid_level_allows(g):
    assert 'note: only user space is measured: perf_event_paranoid is 2' in g.level2.err, g.level2
    user, kernel = lines(g.level2)
    assert user['event'] == 'instructions:u' and is_near(float(user['value']), 2_000_000 + START, 0.02), user
    assert kernel['state'] == 'not supported' and 'measuring the kernel needs 1 or less' in kernel['reason'], kernel
    assert g.everybody.status == 1 and 'measuring all processes (-a, -C) needs 0 or less' in g.everybody.err, g.everybody
    assert g.level3.status == 1 and 'perf_event_paranoid is 3, measuring at all needs 2 or less' in g.level3.err, g.level3


# ---- four CPUs ----

@guest(cpus=4, csv="pace stat -x, -a -A -e instructions:u sh -c 'taskset 2 loop 10000000; taskset 8 loop 20000000'")
def every_cpu_has_its_own_count(g):
    found = by_place(g.csv)
    assert list(found) == ['CPU0', 'CPU1', 'CPU2', 'CPU3'], g.csv
    assert is_near(found['CPU1'], 20_000_000, 0.03) and is_near(found['CPU3'], 40_000_000, 0.03), g.csv
    assert found['CPU0'] + found['CPU2'] < 1_000_000, g.csv


@guest(cpus=4, socket="pace stat -x, -a --per-socket -e instructions:u sh -c 'taskset 2 loop 10000000; taskset 8 loop 20000000'",
       die="pace stat -x, -a --per-die -e instructions:u sh -c 'taskset 2 loop 10000000; taskset 8 loop 20000000'",
       core="pace stat -x, -a --per-core -e instructions:u sh -c 'taskset 2 loop 10000000; taskset 8 loop 20000000'",
       node="pace stat -x, -a --per-node -e instructions:u sh -c 'taskset 2 loop 10000000; taskset 8 loop 20000000'")
def counts_are_summed_by_what_the_cpus_share(g):
    for done, places, counters in ((g.socket, {'S0': 20, 'S1': 40}, '2'), (g.die, {'S0-D0': 20, 'S1-D0': 40}, '2'),
                                   (g.core, {'S0-D0-C0': 0, 'S0-D0-C1': 20, 'S1-D0-C0': 0, 'S1-D0-C1': 40}, '1'), (g.node, {'N0': 60}, '4')):
        assert list(by_place(done)) == list(places) and all(row['counters'] == counters for row in lines(done)), done
        for place, millions in places.items():
            assert abs(by_place(done)[place] - millions * 1e6) < 1.5e6, (place, done)


@guest(cpus=4, some="pace stat -x, -C 1,2 -A -e instructions:u sh -c 'taskset 2 loop 10000000; taskset 8 loop 20000000'",
       off=f'echo 0 >{CPU1}', rest='pace stat -x, -a -A -e cycles true', named='pace stat -C 1 -e cycles true', on=f'echo 1 >{CPU1}')
def only_cpus_that_are_asked_for_and_on_are_counted(g):
    assert list(by_place(g.some)) == ['CPU1', 'CPU2'] and is_near(by_place(g.some)['CPU1'], 20_000_000, 0.06), g.some
    assert list(by_place(g.rest)) == ['CPU0', 'CPU2', 'CPU3'], g.rest
    assert g.named.status == 1 and '-C 1: CPU 1 is not online (online are 0,2-3)' in g.named.err, g.named


@guest(cpus=4, csv=f"pace stat -x, -a -A -e instructions:u sh -c 'taskset 2 loop 5000000; echo 0 >{CPU1}; taskset 4 loop 5000000; echo 1 >{CPU1}'")
def a_cpu_that_goes_off_keeps_what_it_counted(g):
    found = by_place(g.csv)
    assert g.csv.status == 0 and is_near(found['CPU1'], 10_000_000, 0.06) and is_near(found['CPU2'], 10_000_000, 0.06), g.csv


@guest(cpus=4, csv=f"pace stat -x, -a -A -e '{{instructions,cycles}}:u' sh -c 'taskset 2 loop 5000000; echo 0 >{CPU1}; sleep 1.1; echo 1 >{CPU1}; "
                   "sleep 1.1; taskset 2 loop 10000000'")
def a_cpu_that_comes_back_is_counted_again(g):
    assert 'note: CPU 1 went off' in g.csv.err and 'note: CPU 1 is back: what runs there is counted again' in g.csv.err, g.csv
    for event in ('instructions', 'cycles'):
        row, = (row for row in lines(g.csv) if row['place'] == 'CPU1' and row['event'] == event)
        assert is_near(float(row['value']), 30_000_000, 0.03), (row, g.csv)


@guest(cpus=4, csv=f"pace stat -x, -a -A -I 100 -e instructions:u sh -c 'taskset 2 loop 5000000; echo 0 >{CPU1}; sleep 0.3; echo 1 >{CPU1}; "
                   "sleep 0.3; taskset 2 loop 10000000'")
def a_cpu_that_comes_back_is_counted_again_in_intervals(g):
    parts = [float(row['value'] or 0) for row in lines(g.csv) if row['place'] == 'CPU1']
    assert len(parts) >= 6 and is_near(sum(parts), 30_000_000, 0.03), g.csv
    # On, off, and on again.
    busy = ''.join('x' if part > 1_000_000 else '.' for part in parts)
    assert re.fullmatch(r'x+\.{2,}x+\.*', busy), parts


if __name__ == '__main__':
    main()
