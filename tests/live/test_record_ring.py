#!/usr/bin/env python3
"""The flight recorder: what 'record --ring' keeps, when it is written, and what --when refuses."""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

THREADS = 'tests/live/programs/threads.c'


def times(path='perf.data'):
    script = pace('script', '-i', path, '-F', 'time')
    assert script.status == 0, script
    return [float(line.strip(' :')) for line in script.out.split('\n') if line.strip()]


def is_complete(path):
    """Who ran what is known in it, by both tools."""
    report = pace('report', '-i', path, '-g', 'none')
    assert report.status == 0 and not report.err.strip(), (path, report)
    # A stack whose end lies on a page that was not there yet has no more callers; that is no name that is missing.
    assert not re.search(r'^(?!.*\[truncated:).*\[unknown\]', report.out, re.M), (path, report)
    if shutil.which('perf'):
        perf = run('perf', 'report', '-i', path, '--stdio')
        assert 'rror' not in perf.err and '[unknown]' not in perf.out and '% ' in perf.out, (path, perf)
    return report


def notes(path):
    return re.findall(r'^# note : (.*)$', pace('report', '-i', path, '--header-only').out, re.M)


@test
def at_the_end_the_last_second_is_written():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    # What runs was started, and has its name, from before the window.
    result = pace('record', '-e', 'cpu-clock', '--ring', '1', 'sh', '-c', f'{program} 3')
    assert result.status == 0, result
    seen = times()
    assert 0.5 < seen[-1] - seen[0] < 2, (seen[0], seen[-1])
    assert re.search(r'% .* threads +\[\.\] spin', is_complete('perf.data').out)
    note, = notes('perf.data')
    assert re.fullmatch(r'ring: the end, the last \d\.\d+ of 1.000 s', note), note


@test
def a_signal_writes_a_snapshot_and_the_recording_goes_on():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    # So long a window that the second one begins before the first one's end, however long writing that took.
    recorder = subprocess.Popen([PACE, 'record', '-q', '-e', 'cpu-clock', '--ring', '100', '-g', 'sh', '-c',
                                 f': >started; exec {program} {PATIENCE}'])
    wait_for(lambda: os.path.exists('started'))
    time.sleep(1.5)
    for n in (1, 2):
        recorder.send_signal(signal.SIGUSR2)
        wait_for(lambda: len(glob.glob('perf.data.*')) == n)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait() == 128 + signal.SIGINT
    first, second = sorted(glob.glob('perf.data.*'))
    for name in (first, second, 'perf.data'):
        seen = times(name)
        assert 0.2 < seen[-1] - seen[0], (name, seen[0], seen[-1])
        is_complete(name)
        assert os.stat(name).st_mode & 0o777 == 0o600
    assert notes(first)[0].startswith('ring: SIGUSR2, '), notes(first)
    # They overlap: a snapshot takes nothing away.
    assert times(second)[0] < times(first)[-1]


@test
def snapshots_travel_too():
    """What a snapshot needs to be read elsewhere is put into it while the recording goes on."""
    can_record()
    program = build_c(THREADS, 'threads', '-pthread', '-g')
    recorder = subprocess.Popen([PACE, 'record', '-e', 'cpu-clock', '--ring', '1', 'sh', '-c', f': >started; exec {program} {PATIENCE}'],
                                stderr=subprocess.PIPE, text=True)
    wait_for(lambda: os.path.exists('started'))
    for n in (1, 2):
        time.sleep(0.7)
        recorder.send_signal(signal.SIGUSR2)
        wait_for(lambda: len(glob.glob('perf.data.*')) == n)
    recorder.send_signal(signal.SIGINT)
    err = recorder.communicate()[1]
    # Nobody is left behind who still writes.
    assert err.count('Dump perf.data.') == 2, err
    os.unlink(program)
    for name in glob.glob('perf.data*'):
        report = pace('report', '-i', name, '-g', 'none', '-s', 'srcline', env=dict(os.environ, XDG_CACHE_HOME=os.path.abspath('empty')))
        assert re.search(r'% +threads\.c:\d+', report.out), (name, report)
        if shutil.which('perf'):
            assert run('perf', 'script', '-i', name, '-F', 'time').out.count('\n') == len(times(name))


@test
def threads_that_ended_before_the_window_leave_memory():
    can_record()
    program = build_c('tests/live/programs/churn.c', 'churn', '-pthread')
    result = pace('record', '-e', 'cpu-clock', '--ring', '1', program, '20000', '4')
    assert result.status == 0, result
    script = pace('script', '--show-task-events', '--show-mmap-events')
    forks = script.out.count('PERF_RECORD_FORK')
    # It looks again when there are some hundred more.
    assert forks < 2000, forks
    assert 'PERF_RECORD_MMAP' in script.out and '/churn' in script.out, script.out[:2000]


@test
def old_snapshots_are_removed_and_a_small_window_is_said():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    recorder = subprocess.Popen([PACE, 'record', '-F', '10000', '-e', 'cpu-clock', '--ring', '20', '--max-size', '40K',
                                 '--switch-max-files', '2', 'sh', '-c', f': >started; exec {program} {PATIENCE}'],
                                stderr=subprocess.PIPE, text=True)
    wait_for(lambda: os.path.exists('started'))
    names = set()
    for _ in range(4):
        time.sleep(0.4)
        recorder.send_signal(signal.SIGUSR2)
        before = set(names)
        wait_for(lambda: set(glob.glob('perf.data.*')) - before)
        names |= set(glob.glob('perf.data.*'))
    wait_for(lambda: len(glob.glob('perf.data.*')) == 2)
    recorder.send_signal(signal.SIGINT)
    err = recorder.communicate()[1]
    assert 'instead of the last 20 s only' in err and 'because of --max-size' in err, err
    is_complete('perf.data')


@test
def a_condition_on_a_counter_writes_a_snapshot_with_its_values():
    can_record()
    program = build_c('tests/live/programs/toucher.c', 'toucher', '-pthread')
    expression = 'page-faults/s>20000 and cpu-util > 1%'
    with subprocess.Popen([PACE, 'record', '-e', 'page-faults', '-c', '1', '--ring', '60', '--when', expression, program],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as recorder:
        def touch(n):
            recorder.stdin.write(f'{n}\n')
            recorder.stdin.flush()
            recorder.stdout.readline()

        touch(10)
        time.sleep(0.3)
        assert not glob.glob('perf.data.*')

        # Where others have the processor most of the time it takes more than one to see so many in a second.
        def fires():
            touch(30000)
            return glob.glob('perf.data.*')
        wait_for(fires)
        # Not again while the window is the same.
        touch(30000)
        time.sleep(0.2)
        err = recorder.communicate()[1]
    name, = glob.glob('perf.data.*')
    said = re.search(r'--when ' + re.escape(expression) + r': page-faults/s ([\d.]+), cpu-util ([\d.]+)% \]', err)
    assert said and float(said[1]) > 20000 and float(said[2]) > 1, err
    assert notes(name)[0] == f'when: {expression}: page-faults/s {said[1]}, cpu-util {said[2]}%', notes(name)
    assert notes(name)[1].startswith('ring: --when, '), notes(name)
    assert len(times(name)) > 100 and len(times('perf.data')) > len(times(name))


# Each tenth read of a counter takes 400 ms: as if others had the processor just then.
SLOW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t read(int fd, void *to, size_t n)
{
	static ssize_t (*real)(int, void *, size_t);
	static unsigned reads;
	char path[32], name[64] = "";

	if (!real)
		real = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, name, sizeof(name) - 1) > 0 && strstr(name, "perf_event") && !(++reads % 10))
		usleep(400000);
	return real(fd, to, n);
}
"""


@test
def a_recorder_that_is_kept_from_looking_sees_no_more_than_there_is():
    """One thread keeps one CPU busy, however late the counters are read behind the clock."""
    can_record()
    with open('slow.c', 'w', encoding='utf-8') as file:
        file.write(SLOW)
    library = build_c(os.path.abspath('slow.c'), 'slow.so', '-shared', '-fPIC', '-ldl')
    env = {**os.environ, 'LD_PRELOAD': library, 'ASAN_OPTIONS': os.environ['ASAN_OPTIONS'] + ':verify_asan_link_order=0'}
    result = pace('record', '-e', 'cpu-clock', '--ring', '1', '--when', 'cpu-util>150%', '--for', '3s', 'env', '-u', 'LD_PRELOAD',
                  build_c('tests/live/programs/halves.c', 'halves'), '1.5', env=env)
    assert result.status == 0 and '--when' not in result.err, result
    # It looks all the same.
    result = pace('record', '-e', 'cpu-clock', '--ring', '1', '--when', 'cpu-util>0.1%', '--for', '3s', 'env', '-u', 'LD_PRELOAD', './halves', '1.5', env=env)
    assert result.status == 0 and '--when cpu-util>0.1%: cpu-util' in result.err, result


@test
def the_values_of_a_condition_are_in_the_file_that_they_ended():
    can_record()
    program = build_c('tests/live/programs/toucher.c', 'toucher', '-pthread')
    with subprocess.Popen([PACE, 'record', '-e', 'page-faults', '-c', '1', '--switch-output', '--when', 'page-faults/s>20000',
                           program],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as recorder:
        def fires():
            recorder.stdin.write('30000\n')
            recorder.stdin.flush()
            recorder.stdout.readline()
            return glob.glob('perf.data.*')
        wait_for(fires)
        time.sleep(0.3)
        recorder.communicate()
    # However often the rate rose above the limit, each file has the one note of its own end.
    *ended, last = sorted(glob.glob('perf.data.*'))
    assert ended and all(len(notes(name)) == 1 for name in ended), {name: notes(name) for name in ended}
    assert notes(last) == [], notes(last)


@test
def what_cannot_be_counted_or_does_not_go_together_is_refused():
    can_record()
    if not os.path.exists('/sys/bus/event_source/devices/cpu'):
        result = pace('record', '--ring', '1', '--when', 'ipc<0.5 for 50ms', 'true')
        assert result.status == 1 and '--when ipc: ' in result.err and 'no such hardware counter' in result.err, result
    for words, text in ((('--ring', '1', '--when', 'page-faults>1'), "column 1: an event's name needs /s"),
                        (('--ring', '1', '--when', 'nonsense/s>1'), "--when nonsense: "),
                        (('--when', 'page-faults/s>1'), '--ring SECONDS'),
                        (('--ring', '0'), "'0' is not a time"),
                        (('--ring', '5x'), "'5x' is not a time"),
                        (('--ring', '1', '--switch-output=1M'), '--ring keeps only the newest records'),
                        (('--ring', '1', '--overwrite'), 'does not work with --overwrite'),
                        (('--ring', '1', '--tail-synthesize'), 'does not work with --tail-synthesize'),
                        (('--ring', '1', '-o', '-'), '--ring needs a file')):
        result = pace('record', '-e', 'cpu-clock', *words, 'true')
        assert result.status in (1, 2) and text in result.err, (words, result)
        assert not os.path.exists('perf.data')


@test
def a_recording_ends_with_its_time_and_the_command_goes_on():
    can_record()
    with subprocess.Popen([PACE, 'record', '-k', 'mono', '-e', 'cpu-clock', '--for', '500ms', 'sh', '-c', 'until test -e over; do :; done; exit 3'],
                          stderr=subprocess.PIPE, text=True) as recorder:
        said = ''
        while 'the time of --for is over; waiting for the command to end' not in said:
            line = recorder.stderr.readline()
            assert line, said
            said += line
        over = time.monotonic()
        time.sleep(0.3)
        touch('over')
        recorder.stderr.read()
    assert recorder.returncode == 3, recorder.returncode
    seen = times()
    assert seen and seen[-1] < over, (seen[0], seen[-1], over)


@test
def counters_and_triggers_of_a_process_that_starts_threads_meanwhile_are_opened_with_its_events():
    can_record()
    program = build_c('tests/live/programs/starting.c', 'starting', '-pthread')
    target = subprocess.Popen([program, '2000'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    time.sleep(0.3)
    condition = 'minor-faults/s>1'
    for words in (['--ring', '5', '--when', condition], ['--ring', '5', '--switch-output-event', 'minor-faults/period=5/'],
                  ['--per-thread', '--ring', '5', '--switch-output-event', 'minor-faults/period=5/']):
        result = pace('record', '-v', '-e', 'minor-faults', '-c', '1', '-p', str(target.pid), *words, '--for', '500ms')
        assert result.status == 0, result
        # Threads end, too: whoever waited for them does not look again and again.
        assert int(re.search(r'Woken up (\d+) times', result.err)[1]) < 3000, (words, result)
        reason = words[words.index('5') + 1]
        snapshots = re.findall(r'Dump (\S+) \]', result.err)
        assert any(notes(name)[-1].startswith(f'ring: {reason}, ') for name in snapshots), (words, result, list(map(notes, snapshots)))
    target.communicate()


@test
def it_ends_when_the_share_is_known_well_enough():
    can_record()
    target = start(build_c(THREADS, 'threads', '-pthread'), '60')
    # Threads that start while it attaches are nobody's.
    threads_of(target, 'alpha', 'beta', 'late')
    with subprocess.Popen([PACE, 'record', '-e', 'cpu-clock', '-F', '2000', '--until', '10', '-p', str(target.pid)],
                          stderr=subprocess.PIPE, text=True) as recorder:
        err = what_it_said(recorder)[1]
    stop(target)
    assert recorder.returncode == 0 and '--until is reached' in err, err
    said = re.search(r'--until: reached 10%: the hottest code has ([\d.]+)% \+- ([\d.]+)% of itself \(95%\), by (\d+) samples', err)
    assert said and float(said[2]) <= 10 and int(said[3]) == len(times()), err
    assert notes('perf.data')[0].startswith('until: reached 10%'), notes('perf.data')
    is_complete('perf.data')


@test
def an_end_before_it_is_known_is_said():
    can_record()
    result = pace('record', '-e', 'cpu-clock', '--until', '0.001%', 'true')
    assert result.status == 0 and '--until: did not reach 0.001%' in result.err, result
    for words, text in ((('--until', '0'), "'0' is not a percentage"), (('--until', 'x'), "'x' is not a percentage"),
                        (('--until', '5', '--ring', '1'), 'choose one'), (('--until', '5', '-n'), '-n records none')):
        result = pace('record', '-e', 'cpu-clock', *words, 'true')
        assert result.status == 2 and text in result.err, (words, result)


@test
def a_recorder_that_costs_too_much_lowers_the_rate():
    can_record()
    target = start('sh', '-c', 'while :; do :; done')
    result = pace('record', '-v', '-e', 'cpu-clock', '-F', '20000', '--max-overhead', '0.01', '--for', '3s', '-p', str(target.pid))
    stop(target)
    assert result.status == 0 and 'more than allowed: sampling at' in result.err, result
    said = re.search(r'--max-overhead: [\d.]+%, [\d.]+ s of CPU in [\d.]+ s of 1 CPUs; (\d+) changes, at last ([\d.]+)% of the rate', result.err)
    assert said and int(said[1]) > 0 and float(said[2]) < 60, result
    seen = times()
    # 50 us of CPU time between samples at first; how often the target ran is others' affair.
    gaps = [b - a for a, b in zip(seen, seen[1:])]
    first, last = sorted(gaps[:200]), sorted(gaps[-20:])
    assert last[len(last) // 2] > 1.5 * first[len(first) // 2], (first, last, result)
    changes = [line for line in notes('perf.data') if line.startswith('overhead: ')]
    assert len(changes) > 2 and 'changes, at last' in changes[-1], changes
    is_complete('perf.data')


@test
def samples_weigh_what_they_stand_for_whatever_the_rate_was_then():
    can_record()
    program = build_c('tests/live/programs/halves.c', 'halves')
    for options in ['-F', '20000'], ['-c', '50000', '--call-graph', 'dwarf']:
        result = pace('record', '-e', 'cpu-clock', *options, '--max-overhead', '0.01', program, '1')
        assert result.status == 0, result
        # From 50 us of CPU time for a sample to 50 ms and more: the second half has few of them.
        assert float(re.search(r'at last ([\d.]+)% of the rate', result.err)[1]) < 20, result
        report = pace('report', '-g', 'none', '--no-children').out
        shares = {name: float(share) for share, name in re.findall(r'([\d.]+)% .*\[\.\] (first|second)$', report, re.M)}
        assert 35 < shares['second'] < 65, (options, report)
        # Two seconds were computed; of those that a guest is not given there are no samples.
        assert 1.2e9 < int(re.search(r'Event count \(approx.\): (\d+)', report)[1]) < 2.3e9, (options, report)


@test
def a_rate_that_samples_could_not_tell_is_not_changed():
    can_record()
    result = pace('record', '-e', 'page-faults', '-c', '7', '--max-overhead', '0.0001', 'true')
    assert result.status == 0 and "'page-faults' keeps its fixed period" in result.err.replace(':u', ''), result
    for words, text in ((('--no-period',), '--no-period'), (('--overwrite',), '--overwrite')):
        result = pace('record', '--max-overhead', '1', *words, 'true')
        assert result.status == 2 and text in result.err and 'choose one' in result.err, result


@test
def a_recorder_that_costs_little_leaves_the_rate_alone():
    can_record()
    result = pace('record', '-e', 'cpu-clock', '-F', '100', '--max-overhead', '90%', 'sh', '-c', 'exit 4')
    assert result.status == 4 and '0 changes, at last 100.00% of the rate' in result.err, result


main()
