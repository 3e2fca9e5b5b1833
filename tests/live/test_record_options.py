#!/usr/bin/env python3
"""What the options of 'record' do while it runs: when it measures, which files it writes, and what controls it."""
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
BUSY = 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'


def times(path='perf.data'):
    script = pace('script', '-i', path, '-F', 'time')
    assert script.status == 0, script
    return [float(line.strip(' :')) for line in script.out.split('\n') if line.strip()]


def record(*words, **kwargs):
    result = pace('record', '-e', 'cpu-clock', *words, **kwargs)
    assert result.status == 0, result
    return result


def is_complete(path):
    """Who ran what is known in it, by both tools."""
    report = pace('report', '-i', path, '-g', 'none')
    assert report.status == 0 and not report.err.strip(), (path, report)
    # A stack whose end lies on a page that was not there yet has no more callers; that is no name that is missing.
    assert not re.search(r'^(?!.*\[truncated:).*\[unknown\]', report.out, re.M), (path, report)
    if shutil.which('perf'):
        assert 'rror' not in run('perf', 'report', '-i', path, '--stdio').err, path
    return report


@test
def a_delay_leaves_out_the_beginning_but_not_who_runs_what():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    begin = time.clock_gettime(time.CLOCK_MONOTONIC)
    result = record('-D', '500', program, '2')
    first = times()[0]
    assert first - begin > 0.45, (begin, first)
    assert 'Events disabled' in result.err and 'Events enabled' in result.err, result
    assert re.search(r'% .* threads +\[\.\] spin', is_complete('perf.data').out)
    # The event that told of tasks is no event of the report's.
    assert 'dummy' not in is_complete('perf.data').out


@test
def ranges_of_time_are_the_only_ones_measured_and_then_it_is_over():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    # Each may begin and end a second late, and is told from the others all the same.
    result = record('-D', '100-600,2600-3100', program, '6')
    seen = times()
    gaps = [b - a for a, b in zip(seen, seen[1:])]
    assert sum(gap > 1 for gap in gaps) == 1 and seen[-1] - seen[0] < 4.5, sorted(gaps)[-5:]
    # The command is not ended with it.
    assert 'the last range of -D is over; waiting for the command to end' in result.err, result


@test
def a_command_whose_recording_is_over_keeps_its_exit_status():
    can_record()
    result = pace('record', '-q', '-e', 'cpu-clock', '--max-size', '1', 'sh', '-c', BUSY + '; exit 9')
    assert result.status == 9, result


@test
def a_recording_ends_at_its_largest_size():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    result = record('-F', '10000', '-m', '4', '--max-size', '50K', program, '1')
    size = os.path.getsize('perf.data')
    assert 50 << 10 <= size < 150 << 10, size
    assert 'as large as --max-size allows' in result.err, result
    is_complete('perf.data')


@test
def the_size_begins_the_next_file_and_each_can_be_read_alone():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    result = record('-F', '10000', '-m', '4', '--switch-output=20K', '-o', 'many', program, '1')
    names = sorted(glob.glob('many.*'))
    assert len(names) > 2 and not os.path.exists('many'), names
    assert all(re.fullmatch(r'many\.\d{16}', name) for name in names), names
    assert result.err.count('[ pace record: Dump many.') == len(names) - 1, result
    n = sum(len(times(name)) for name in names)
    assert n > 300, n
    for name in names[:-1]:
        assert os.stat(name).st_mode & 0o777 == 0o600
        is_complete(name)


@test
def the_time_begins_the_next_file_and_the_newest_are_kept():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    record('--switch-output=1s', '--switch-max-files', '2', '-o', 'many', program, '4')
    assert len(glob.glob('many.*')) == 2, glob.glob('many*')


@test
def a_signal_begins_the_next_file():
    can_record()
    recorder = subprocess.Popen([PACE, 'record', '-q', '-e', 'cpu-clock', '--switch-output', '-o', 'many', *UNTIL_OVER])
    wait_for(lambda: os.path.exists('started'))
    for n in (1, 2):
        time.sleep(0.2)
        recorder.send_signal(signal.SIGUSR2)
        wait_for(lambda: len(glob.glob('many.*')) >= n)
    touch('over')
    assert recorder.wait() == 0
    assert len(glob.glob('many.*')) == 3, glob.glob('many*')


@test
def every_file_knows_the_tasks_of_its_samples_however_short_they_live():
    """Read alone, by pace and by perf: a task that begins or ends while the files are exchanged has its name and its maps."""
    can_record()
    child = 'sh -c "k=0; while [ \\$k -lt 3000 ]; do k=\\$((k+1)); done"'
    load = f'until test -e over; do {child} & {child}; done; wait'
    recorder = subprocess.Popen([PACE, 'record', '-q', '-e', 'cpu-clock:u', '-F', '10000', '--switch-output', '-o', 'storm.data', 'sh', '-c', load])
    wait_for(lambda: os.path.exists('storm.data'))
    while len(glob.glob('storm.data.*')) < 30 and recorder.poll() is None:
        time.sleep(0.02)
        recorder.send_signal(signal.SIGUSR2)
    touch('over')
    assert recorder.wait() == 0
    names = [name for name in os.listdir('.') if name.startswith('storm.data.')]
    assert len(names) > 10, names
    n = 0
    for name in names:
        for tool in [PACE] + (['perf'] if shutil.which('perf') and len(names) < 100 else []):
            lines = run(tool, 'script', '-i', name, '-F', 'comm,pid,ip,dso').out.strip().split('\n')
            n += len(lines)
            strange = [line for line in lines if 'unknown' in line or re.match(r' *:\d+', line)]
            assert not strange, (tool, name, strange[:5])
    assert n > 1000, n


@test
def each_file_tells_of_its_own_losses():
    """Samples that were lost in the first file are not lost in the last one again."""
    can_record()
    program = build_c('tests/live/programs/faults.c', 'faults')
    with subprocess.Popen([PACE, 'record', '-q', '-e', 'page-faults', '-c', '1', '-m', '1', '--switch-output', '-o', 'lost.data',
                           'sh', '-c', f'{program} 300000; touch over; until test -e end; do sleep 0.05; done']) as recorder:
        wait_for(lambda: os.path.exists('over'))
        time.sleep(0.3)
        recorder.send_signal(signal.SIGUSR2)
        wait_for(lambda: glob.glob('lost.data.*'))
        touch('end')
    first, second = sorted(name for name in os.listdir('.') if name.startswith('lost.data.'))
    lost = [int(re.search(r'Total Lost Samples: (\d+)', pace('report', '-i', name, '-g', 'none').out)[1]) for name in (first, second)]
    if not any(lost):
        skip('nothing was lost')
    assert lost[0] and not lost[1], lost


@test
def without_switch_output_that_signal_does_nothing():
    can_record()
    recorder = subprocess.Popen([PACE, 'record', '-q', '-e', 'cpu-clock', *UNTIL_OVER])
    wait_for(lambda: os.path.exists('started'))
    recorder.send_signal(signal.SIGUSR2)
    time.sleep(0.3)
    touch('over')
    assert recorder.wait() == 0 and len(times()) > 0


@test
def an_event_begins_the_next_file():
    can_record()
    record('--switch-output-event', 'page-faults/period=300/', '--switch-max-files', '5', '-o', 'many',
           build_c('tests/live/programs/faults.c', 'faults'), '2000')
    assert 2 <= len(glob.glob('many.*')) <= 5, glob.glob('many*')


@test
def a_name_with_the_time_is_given_at_the_end():
    can_record()
    result = record('--timestamp-filename', '-o', 'one', 'sh', '-c', BUSY)
    name, = glob.glob('one.*')
    assert re.fullmatch(r'one\.\d{16}', name) and f' {name} (' in result.err, result
    is_complete(name)


@test
def rings_that_overwrite_keep_the_newest_samples():
    can_record()
    # On one CPU from the beginning: what was seen last on another one may be long ago.
    program = build_c(THREADS, 'threads', '-pthread')
    needs('taskset')
    where = ['taskset', '-c', str(min(os.sched_getaffinity(0)))]
    begin = time.monotonic()
    result = run(*where, PACE, 'record', '-e', 'cpu-clock', '-k', 'mono', '-F', '5000', '-m', '1', '--overwrite', program, '2')
    assert result.status == 0, result
    seen = times()
    # A ring of a page holds some hundred samples: those of the last moments, of thousands.
    middle = (begin + seen[-1]) / 2
    assert 20 < len(seen) < 500 and seen[len(seen) // 5] > middle, (len(seen), begin, middle, seen)
    assert seen == sorted(seen)
    assert re.search(r'% .* threads +\[\.\] spin', is_complete('perf.data').out)
    # Of each one event alone:
    record('-F', '5000', '-m', '1', '-e', 'cpu-clock/overwrite,name=newest/', *where, program, '1')
    counts = pace('script', '-F', 'event').out
    assert counts.count('newest') < counts.count('cpu-clock') / 2, counts[:200]


@test
def snapshots_follow_one_another_without_gaps_or_doubles():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    record('-F', '1000', '-m', '128', '--overwrite', '--switch-output=1s', '-o', 'many', program, '4')
    names = sorted(glob.glob('many.*'))
    seen = [times(name) for name in names]
    assert len(names) >= 3, names
    # No longer than the program was kept from running at other times
    pause = max(0.5, *(2 * (b - a) for part in seen for a, b in zip(part, part[1:])))
    for before, after in zip(seen, seen[1:]):
        assert before[-1] <= after[0] and after[0] - before[-1] < pause, (before[-1], after[0], pause)


@test
def a_fifo_switches_on_and_off_and_ends_it():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    os.mkfifo('ctl')
    os.mkfifo('ack')
    recorder = subprocess.Popen([PACE, 'record', '-k', 'mono', '-e', 'cpu-clock,page-faults', '-D', '-1', '--control', 'fifo:ctl,ack', program,
                                 str(2 * PATIENCE)],
                                stderr=subprocess.PIPE, text=True)
    ctl, ack = open('ctl', 'w'), open('ack')

    def tell(text):
        before = time.clock_gettime(time.CLOCK_MONOTONIC)
        ctl.write(text + '\n')
        ctl.flush()
        assert ack.readline() == 'ack\n'
        return before, time.clock_gettime(time.CLOCK_MONOTONIC)

    tell('ping')
    time.sleep(0.4)
    on, _ = tell('enable')
    time.sleep(0.4)
    _, off = tell('disable')
    tell('evlist -v')
    time.sleep(0.4)
    tell('enable page-faults')
    tell('disable nonsense')
    tell('stop')
    err = what_it_said(recorder)[1]
    assert recorder.returncode == 128 + signal.SIGTERM, recorder.returncode
    seen = times()
    assert seen and on - 0.05 < seen[0] and seen[-1] < off + 0.05, (on, off, seen[0], seen[-1])
    assert 'cpu-clock: type: 1' in err and "there is no event 'nonsense'" in err and '--control said stop' in err, err


@test
def a_limit_of_waiting_bytes_holds_for_a_second_only():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    # Three threads would need more than a minute for so many bytes, if they had two CPUs for themselves.
    recorder = start(PACE, 'record', '-e', 'cpu-clock', '--mmap-flush', '64K', '-F', '8', program, str(PATIENCE))
    wait_for(lambda: has_grown('perf.data', 0))
    try:
        # What is being written when it is read may be cut: that is said, and none of this test's business.
        wait_for(lambda: re.search(r'\d+\.\d+: *$', pace('script', '-F', 'time').out, re.M), 60)
    finally:
        stop(recorder)


@test
def a_user_is_all_that_runs_as_him():
    can_record()
    needs_root()
    program = build_c(THREADS, 'threads', '-pthread')
    # Whatever else nobody runs here: his is in it, root's is not.
    theirs, ours = start(*NOBODY, program, str(PATIENCE)), start(program, str(PATIENCE))
    try:
        threads_of(theirs, 'alpha')
        threads_of(ours, 'alpha')
        for user in ('nobody', '65534'):
            record('-F', '4000', '-u', user, 'sleep', '0.5')
            pids = set(pace('script', '-F', 'pid').out.split())
            assert str(theirs.pid) in pids and str(ours.pid) not in pids, (theirs.pid, ours.pid, pids)
    finally:
        stop(theirs)
        stop(ours)
    refused = pace('record', '-u', 'nobody-of-this-name', 'true')
    assert refused.status == 1 and 'there is no user of this name' in refused.err, refused


@test
def threads_have_rings_of_their_own():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    target = start(program, '60')
    threads_of(target, 'alpha', 'beta', 'late')
    result = record('-v', '--per-thread', '-p', str(target.pid), 'sleep', '0.5')
    n = len(os.listdir(f'/proc/{target.pid}/task'))
    stop(target)
    assert n > 1 and f'for {n} threads' in result.err, result
    assert len(times()) > 10


@test
def children_are_left_out_where_they_are_not_wanted():
    can_record()
    counts = []
    for options in ([], ['-i']):
        record(*options, 'sh', '-c', 'sh -c "' + BUSY.replace('$', '\\$') + '"; true')
        counts.append(len(times()))
    assert counts[1] < counts[0] / 4, counts


@test
def nothing_is_recorded_in_a_dry_run():
    can_record()
    result = pace('record', '--dry-run', '-e', 'cpu-clock', 'touch', 'ran')
    assert result.status == 0 and not os.path.exists('perf.data') and not os.path.exists('ran'), result
    assert pace('record', '--dry-run', '-e', 'nonsense', 'true').status != 0


@test
def what_has_no_effect_is_said_under_v():
    can_record()
    for words, said in ((['--aio=2'], '--aio: '), (['--debuginfod'], '--debuginfod: '),
                        (['--proc-map-timeout', '5'], '--proc-map-timeout: '), (['--num-thread-synthesize', '3'], '--num-thread-synthesize: '),
                        (['-m', '8,8'], '-m: the size of the AUX area has no effect')):
        assert said in record('-v', *words, 'true').err, words
        assert said not in record(*words, 'true').err, words


@test
def who_asks_for_perfs_directories_gets_a_file_that_both_read_and_is_told():
    can_record()
    for word, said in ('--threads', 'one thread reads all rings into one file'), ('--kcore', 'the file itself gets'):
        result = record('-e', 'cpu-clock', '-F', '5000', word, 'sh', '-c', BUSY)
        assert f'note: {word}: ' in result.err and said in result.err, result
        assert os.path.isfile('perf.data')
        n = len(times())
        assert n > 20
        if shutil.which('perf'):
            theirs = run('perf', 'script', '-F', 'time')
            assert theirs.status == 0 and len(theirs.out.split()) == n, (n, theirs)


@test
def options_with_values_are_taken_back_by_no():
    can_record()
    record('-g', '--call-graph', 'fp', '--no-call-graph', '-F', '99', '--max-size', 'nonsense', '--no-max-size', '--freq', '4000', '-o', 'x.data',
           '--no-output', '-p', '1', '--no-pid', '-e', 'page-faults', '--no-event', '-e', 'cpu-clock', 'true')
    assert os.path.exists('perf.data') and not os.path.exists('x.data')
    attrs = pace('evlist', '-v').out
    assert 'cpu-clock' in attrs and 'page-faults' not in attrs and 'CALLCHAIN' not in attrs and '4000' in attrs, attrs


@test
def what_is_refused_says_what_to_do_instead():
    for words, said in ((['-S'], '--overwrite'), (['--aux-sample'], 'AUX'),
                        (['--setup-filter', 'pin'], '--filter'), (['--clang-opt', 'x'], 'tracepoints')):
        result = pace('record', *words, 'true')
        assert result.status == 1 and said in result.err, (words, result)


@test
def values_that_make_no_sense_are_usage_errors():
    for words in (['-D', '20-10'], ['--switch-output=5x'], ['--synth=x'], ['--affinity=x'], ['--max-size', '0'], ['--control', 'x'],
                  ['-r', '100'], ['-m', '8,x'], ['--call-graph', 'fp,0'], ['-o', '-', '--switch-output'], ['--kcore', '--no-embed']):
        result = pace('record', *words, 'true')
        assert result.status == 2, (words, result)


@test
def perf_s_spellings_of_levels_chains_and_no_samples_are_taken():
    can_record()
    for args in (['-z=3'], ['--call-graph', 'fp,defer'], ['-n']):
        result = pace('record', '-q', *args, '-o', 'spelled.data', 'true')
        assert not result.status, (args, result)
    assert pace('record', '-z=x', '-o', 'spelled.data', 'true').status == 2
    # The last of them, -n, has the tasks and no samples.
    assert not re.findall('PERF_RECORD_SAMPLE', pace('script', '-D', '-i', 'spelled.data').out)


main()
