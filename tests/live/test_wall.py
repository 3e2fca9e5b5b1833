#!/usr/bin/env python3
"""Where threads wait while they do not run: 'record --wall', and how 'report' shows it."""
import json
import os
import re
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

PHASES = 'tests/live/programs/phases.c'
PERFMON = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=+perfmon',
           '--ambient-caps=+perfmon', '--bounding-set=+perfmon']


def record(*args, prefix=(), **kwargs):
    """Records with --wall; skips where not even own programs may be measured."""
    can_record()
    result = run(*prefix, PACE, 'record', '--wall', *args, **kwargs)
    check_sane(result)
    return result


def sees_kernel():
    rights_stay()
    level = int(open('/proc/sys/kernel/perf_event_paranoid').read())
    if os.geteuid() and level > 1:
        skip(f'perf_event_paranoid is {level}: departures from CPUs are not sampled')


def events(*args):
    """What JSON says: by event, its sum and its rows by function."""
    result = pace('report', '--json', *args)
    assert is_well(result), result
    return {e['event']: e for e in json.loads(result.out)['events']}


def check_sums(found):
    """Every nanosecond of a thread's life is in one of the three."""
    states = sum(found['wall:' + state]['period'] for state in ('cpu', 'runnable', 'blocked'))
    unaccounted = sum(r['period'] for r in found['wall']['rows'] if r['symbol'] == '[unaccounted]')
    assert found['wall']['period'] == states + unaccounted, {k: e['period'] for k, e in found.items()}
    for e in found.values():
        assert sum(r['period'] for r in e['rows']) == e['period'], e['event']


def header(text):
    """Elapsed seconds, threads, lived seconds, and the shares of cpu, runnable, blocked in percent."""
    found = re.search(r'^# Wall clock: ([\d.]+) s elapsed; (\d+) threads? lived ([\d.]+) s in total = '
                      r'([\d.]+)% cpu \+ ([\d.]+)% runnable \+ ([\d.]+)% blocked', text, re.M)
    assert found, text[:1000]
    return [float(x) for x in found.groups()]


@test
def phases_of_a_program_take_what_its_own_clock_says():
    sees_kernel()
    program = build_c(PHASES, 'phases', '-pthread')
    result = record(program, '25')
    assert result.status == 0, result
    said = {name: (float(wall), float(cpu)) for name, wall, cpu in re.findall(r'(phase_\w+) ([\d.]+) ([\d.]+)', result.out)}
    found = events('--children', '-s', 'symbol')
    check_sums(events('-s', 'comm,symbol'))
    # Root sees when threads were woken, if there is a tracefs.
    if os.geteuid() == 0 and os.path.exists('/sys/kernel/tracing/events/sched/sched_wakeup/id'):
        assert 'wake-ups were not recorded' not in pace('report').out
    # All of it: the main thread's whole life is in the sums that the program prints, but for starting.
    all_ms = sum(wall for wall, _ in said.values())

    def total(event, name):
        rows = [r for r in found[event]['rows'] if r['symbol'] == name]
        return sum(r['total_period'] for r in rows) / 1e6

    for name, (wall, cpu) in said.items():
        for event, ms in (('wall', wall), ('wall:cpu', cpu)):
            seen = total(event, name)
            assert abs(seen - ms) < 0.02 * all_ms, (name, event, seen, ms, all_ms)
    # What it waited for is the function of the kernel that waits, not the scheduler.
    rows = events('-s', 'symbol')['wall:blocked']['rows']
    names = [r['symbol'] for r in rows if r['share'] > 1]
    assert not any('schedule' in name for name in names), names
    assert any('nanosleep' in name for name in names) and any('pipe' in name for name in names) and \
        any('futex' in name for name in names), names


@test
def two_that_want_one_cpu_wait_half_of_the_time():
    needs('taskset')
    program = build_c(PHASES, 'phases', '-pthread')
    result = record('taskset', '-c', str(min(os.sched_getaffinity(0))), 'sh', '-c',
                    f'{program} compute 400 & {program} compute 400; wait')
    assert result.status == 0, result
    found = events('-s', 'comm')
    check_sums(events('-s', 'comm,symbol'))
    mine = {k: sum(r['period'] for r in e['rows'] if r['comm'] == 'phases') / 1e6 for k, e in found.items()}
    assert mine['wall:blocked'] < 0.1 * mine['wall'], mine
    # They have 400 ms each, whoever else wants the CPU; and no CPU serves two.
    assert 780 < mine['wall:cpu'] < 900, mine
    assert mine['wall:runnable'] > 0.4 * mine['wall'], mine


@test
def latency_is_the_elapsed_time_whoever_waits_besides():
    sees_kernel()
    program = build_c(PHASES, 'phases', '-pthread')
    result = record('sh', '-c', f'sleep 30 & a=$!; sleep 30 & b=$!; {program} compute 300; kill $a $b')
    report = pace('report', '-g', 'none')
    elapsed, threads, lived, *_ = header(report.out)
    assert threads == 4 and lived > 2 * elapsed, report
    found = events('-s', 'comm')
    latency = {r['comm']: r['share'] for r in found['latency']['rows']}
    wall = {r['comm']: r['share'] for r in found['wall']['rows']}
    # The two who sleep all the while are half of the threads' time, and delay nobody.
    assert wall['sleep'] > 40 and latency.get('sleep', 0) < 20 and latency['phases'] > 60, (latency, wall)
    assert abs(found['latency']['period'] / 1e9 - elapsed) < 0.01 * elapsed + 0.001, (found['latency']['period'], elapsed)
    rows = re.findall(r'^ +([\d.]+)% +[\d.]+ +[\d.]+ +[\d.]+ +(\w+)', report.out, re.M)
    assert rows[0][1] == 'phases', report


@test
def without_rights_long_waits_are_found_with_their_callers():
    needs_root()
    needs('setpriv')
    rights_stay()
    level = int(open('/proc/sys/kernel/perf_event_paranoid').read())
    if level not in (2,):
        skip(f'perf_event_paranoid is {level}, not 2')
    program = build_c(PHASES, 'phases', '-pthread')
    os.chmod('.', 0o777)
    # Waits are looked for each 5 ms, or more: on a busy machine many of 10 to 20 ms are missed, fewer of those that are longer.
    for rounds, times in ((25, 1), (10, 8), (5, 64)):
        result = record('-v', program, str(rounds), str(times), prefix=NOBODY)
        assert result.status == 0 and 'pace looks up in /proc where threads block' in result.err, result
        assert 'sysctl kernel.perf_event_paranoid=1' in result.err, result
        report = run(*NOBODY, PACE, 'report', '-g', 'none')
        check_sane(report)
        said = {name: float(wall) - float(cpu) for name, wall, cpu in
                re.findall(r'(phase_[slr]\w+) ([\d.]+) ([\d.]+)', result.out)}
        elapsed, threads, lived, cpu, runnable, blocked = header(report.out)
        # What the program waited for, whoever had the processor when it was over.
        least = sum((20, 15, 10)) * rounds * times
        assert blocked / 100 * lived * 1e3 > 0.9 * least, (blocked, lived, said)
        assert 'wake-ups were not recorded' in report.out, report
        found = events('--children', '-s', 'symbol')
        check_sums(events('-s', 'comm,symbol'))
        total = {r['symbol']: r['total_period'] / 1e6 for r in found['wall:blocked']['rows']}
        seen = [total.get(name, 0) for name in said]
        assert all(total.get(name, 0) < 2 * ms + 20 * times for name, ms in said.items()), (said, total)
        if len(said) == 3 and all(seen) and sum(seen) > 0.2 * least:
            break
    assert len(said) == 3 and all(seen) and sum(seen) > 0.2 * least, (said, total)
    assert 'was only sampled' in report.out, report
    # The whole way up, though nobody told the frame pointer.
    assert total['main'] > 0.8 * sum(seen), total


@test
def with_cap_perfmon_alone_the_place_is_known():
    needs_root()
    needs('setpriv')
    program = build_c(PHASES, 'phases', '-pthread')
    os.chmod('.', 0o777)
    probe = run(*PERFMON, 'true')
    if probe.status:
        skip('capabilities cannot be handed on here: ' + probe.err.strip()[:80])
    result = record(program, '10', prefix=PERFMON)
    assert result.status == 0 and 'looks up in /proc' not in result.err, result
    found = events('--children', '-s', 'symbol')
    total = {r['symbol']: r['total_period'] for r in found['wall:blocked']['rows']}
    # Ten times 20 ms; what it waits for a processor then is no part of that.
    assert 190 < total['phase_sleep'] / 1e6, total['phase_sleep']


@test
def of_all_cpus_no_more_time_is_told_than_there_was():
    needs_root()
    program = build_c(PHASES, 'phases', '-pthread')
    # Threads that end are switched away from behind their end.
    result = record('-a', 'sh', '-c', f'for i in 1 2 3 4 5 6 7 8; do {program} compute 5; done; sleep 0.3')
    assert result.status == 0, result
    check_sums(events('-s', 'comm,symbol'))
    report = pace('report', '-g', 'none').out
    elapsed, *_ = header(report)
    found = events('-s', 'comm')['wall:cpu']
    assert found['period'] / 1e9 < 1.02 * elapsed * os.cpu_count(), (found['period'], report[:2000])
    # They compute for 40 ms in all, and begin eight times. Had one not been seen to end it would run to the end of the recording, 300 ms.
    cpu_ms = sum(r['period'] for r in found['rows'] if r['comm'] == 'phases') / 1e6
    assert 35 < cpu_ms < 280, cpu_ms


@test
def running_processes_are_seen_too_and_who_never_runs_is_left_out():
    can_record()
    program = build_c(PHASES, 'phases', '-pthread')
    target = start(program, '100000')
    idle = start('sleep', '1000')
    try:
        begin = time.monotonic()
        result = record('-p', f'{target.pid},{idle.pid}', '--for', '1s')
        took = time.monotonic() - begin
        assert result.status == 0, result
        report = pace('report', '-g', 'none').out
        # The sleeper; and a thread of the other program, if one had begun and not run yet when the time was over.
        assert re.search('# Left out: [12] more', report), report[:1000]
        check_sums(events('-s', 'comm,symbol'))
        elapsed, _, lived, *_ = header(report)
        assert 0.5 < elapsed < took and lived < 2.2 * elapsed, report[:1000]
    finally:
        stop(target)
        stop(idle)


@test
def perf_reads_it_and_pipes_and_rings_carry_it():
    program = build_c(PHASES, 'phases', '-pthread')
    result = record(program, '5')
    whole = header(pace('report', '-g', 'none').out)
    if shutil.which('perf'):
        for command in ('report', 'script'):
            perf = run('perf', command, '-i', 'perf.data', *(['--stdio'] if command == 'report' else []))
            assert perf.status == 0 and 'phase_compute' in perf.out, perf
    piped = run('sh', '-c', f'{PACE} record --wall -o - {program} 5 | {PACE} report -g none -i -')
    check_sane(piped)
    assert header(piped.out)[1] == whole[1], piped
    ringed = record('--ring', '10', program, '5')
    assert ringed.status == 0, ringed
    check_sums(events('-s', 'comm,symbol'))
    assert header(pace('report', '-g', 'none').out)[1] == whole[1]


@test
def other_recordings_can_be_read_so_if_they_have_switches_and_wall_recordings_otherwise():
    can_record()
    program = build_c(PHASES, 'phases', '-pthread')
    pace('record', '-q', '-e', 'cpu-clock', '--switch-events', program, '5')
    assert 'Wall clock' not in pace('report').out
    report = pace('report', '--wall')
    assert header(report.out)[1] == 11, report
    # Latency is that of samples, as in perf, unless time on and off CPUs was recorded.
    latency = pace('report', '--latency').out
    assert 'Wall clock' not in latency and re.search(r'^# +Latency +Overhead ', latency, re.M), latency
    pace('record', '-q', '-e', 'cpu-clock', '-o', 'plain.data', program, '2')
    refused = pace('report', '--wall', '-i', 'plain.data')
    assert refused.status == 2 and "'pace record --wall'" in refused.err, refused
    record('-q', program, '2', '-o', 'wall.data')
    assert pace('report', '-i', 'wall.data', '--latency').out == pace('report', '-i', 'wall.data').out
    refused = pace('report', '-i', 'plain.data', '-F', 'latency,symbol')
    assert refused.status == 2 and 'latency' in refused.err, refused


@test
def options_that_would_leave_holes_are_refused():
    can_record()
    for words in (['-n'], ['--overwrite'], ['--all-user'], ['--no-timestamp'], ['-D', '10'], ['-C', '0'],
                  ['--max-overhead', '1']):
        refused = pace('record', '--wall', *words, 'true')
        assert refused.status == 2 and f'--wall does not work with {words[0]}' in refused.err, refused


main()
