#!/usr/bin/env python3
"""`pace record` on this kernel: what and whom it measures, and how it ends."""
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'oracle'))
from harness import *  # noqa: E402,F403
import perftext  # noqa: E402

THREADS = 'tests/live/programs/threads.c'
FAULTS = 'tests/live/programs/faults.c'


def rows(*args):
    """The first event's rows: tuples of the grouping columns -> number of samples."""
    result = pace('report', '-n', '-g', 'none', '--no-children', *args)
    assert is_well(result), result
    blocks = perftext.parse(result.out)
    return {tuple(row.cells[2:]): int(row.cells[1]) for row in blocks[0][1]} if blocks else {}


def by_comm(path='perf.data'):
    return {key[0]: n for key, n in rows('-i', path, '-s', 'comm').items()}


@test
def a_command_is_recorded_into_a_private_file_and_the_status_lines_say_so():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    result = pace('record', program, '0.3')
    assert result.status == 0, result
    assert re.search(r'^\[ pace record: Woken up \d+ times to write data \]$', result.err, re.M), result
    assert re.search(r'^\[ pace record: Captured and wrote \d+\.\d{3} MB perf.data \(\d+ samples\) \]$', result.err, re.M)
    assert stat.S_IMODE(os.stat('perf.data').st_mode) == 0o600
    # 0.09 s of the processor's time at least for each of three threads, at 4000 Hz
    assert samples_said(result) > 100, result
    assert sum(rows().values()) == samples_said(result)


@test
def three_lines_at_the_end_say_what_report_will_say():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    for chains in ([], ['-g']):
        result = pace('record', *chains, '-o', 'brief.data', program, '0.3')
        lines = re.findall(r'^\[ pace record: (.*) \]$', result.err, re.M)[2:]
        assert result.status == 0 and len(lines) == 3, result
        samples = f'{samples_said(result):,} samples'
        assert lines[0] == f'{samples} without callers: -g records them' or chains, lines
        assert re.match(rf'{samples}, \d+\.\d\d% of their stacks whole', lines[0]) or not chains, lines
        hottest = re.findall(r'(?:^hottest:|,) ([^,]+?) (\d+\.\d\d)%', lines[1].split('; ')[0])
        own = {name: share for share, name in re.findall(r'^ +(\d+\.\d\d)% +\[.\] (\S+)$', pace('report', 'brief.data', '--no-children', '-g', 'none', '-s', 'sym', '--no-inline').out, re.M)}
        assert 1 <= len(hottest) <= 5 and all(own[name] == share for name, share in hottest), (hottest, own)
        # The command stands there as it can be typed.
        words = re.findall(r"'pace ([^']*)'", lines[2])
        assert len(words) == 2 and all(pace(*command.split()).status == 0 and 'brief.data' in command for command in words), lines
    # Where nobody wants to hear, nothing is said; of nothing there is nothing to say.
    assert not pace('record', '-q', program, '0.1').err
    assert 'hottest' not in pace('record', '-n', program, '0.1').err


@test
def large_recordings_are_looked_at_in_parts():
    """128 MiB of them; of what is packed the beginning. What was looked at is said."""
    can_record()
    if os.uname().machine != 'x86_64':
        skip('copies of the stack are of x86-64')
    with open('deep.c', 'w', encoding='utf-8') as file:
        file.write('#include <string.h>\n#include <time.h>\nvolatile long sink;\n'
                   '__attribute__((noinline)) void hot(void) { for (int i = 0; i < 30000; i++) sink += i; }\n'
                   '__attribute__((noinline)) int deep(int n) { volatile char room[66000]; memset((void *)room, 0, sizeof(room));\n'
                   'clock_t end = clock() + 12 * CLOCKS_PER_SEC / 10; while (clock() < end) hot(); return room[n]; }\n'
                   'int main(void) { return deep(1); }\n')
    assert run('gcc', '-O1', '-o', 'deep', 'deep.c').status == 0
    for options, what in ([], r'of which ([\d,]+), from all parts of the file, were looked at'), (['-z'], r'of which the first ([\d,]+) were looked at'):
        result = pace('record', *options, '-F', '4000', '-e', 'cpu-clock:u', '--call-graph', 'dwarf,65528', '--keep-stacks', '-o', 'large.data', './deep')
        assert result.status == 0, result
        n, read = samples_said(result), re.search(rf'([\d,]+) samples \({what}\), \d', result.err)
        # A slow machine takes fewer samples.
        if n * 65528 < 140 << 20:
            assert not read, result
            skip(f'only {n} samples')
        looked_at = int(read[2].replace(',', ''))
        assert int(read[1].replace(',', '')) == n and n // 8 < looked_at < n and looked_at * 65528 < 140 << 20, result
        assert re.search(r'hottest: hot 9\d\.', result.err), result


@test
def the_file_before_is_moved_aside_and_the_one_before_that_is_lost():
    can_record()
    for marker in ('one', 'two', 'three'):
        assert pace('record', '-q', 'sh', '-c', f': {marker}').status == 0
    assert 'three' in pace('report', '--header-only').out
    assert 'two' in pace('report', '--header-only', '-i', 'perf.data.old').out
    assert sorted(f for f in os.listdir('.') if f.startswith('perf')) == ['perf.data', 'perf.data.old']


@test
def the_exit_status_is_the_commands():
    can_record()
    assert pace('record', '-q', 'sh', '-c', 'exit 7').status == 7
    assert pace('record', '-q', 'sh', '-c', 'kill -9 $$').status == 128 + 9


@test
def a_command_that_cannot_run_leaves_the_old_recording_in_place():
    can_record()
    assert pace('record', '-q', 'true').status == 0
    before = os.stat('perf.data').st_ino
    for command, reason in (('/nonexistent/program', 'No such file'), ('/etc/passwd', 'Permission denied')):
        result = pace('record', command)
        assert result.status == 1 and f"running '{command}': {reason}" in result.err, result
        assert os.stat('perf.data').st_ino == before and not os.path.exists('perf.data.old')


@test
def an_event_that_cannot_be_parsed_leaves_the_old_recording_in_place():
    can_record()
    assert pace('record', '-q', 'true').status == 0
    before = os.stat('perf.data').st_ino
    assert pace('record', '-e', 'nonsense', 'true').status == 1
    assert os.stat('perf.data').st_ino == before


@test
def threads_started_while_recording_are_in_it():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    assert pace('record', '-q', program, '0.5').status == 0
    found = by_comm()
    assert all(found.get(name, 0) > 50 for name in ('alpha', 'beta', 'late')), found


@test
def groups_that_a_leader_reads_have_the_children_of_their_command():
    """Each thread's counters have the same ids: none may be taken for another's, so that no difference is below 0."""
    script = 'i=0; while [ $i -lt 30 ]; do ls / > /dev/null; ls -l / | sort > /dev/null; i=$((i+1)); done'
    result = pace('record', '-e', '{cpu-clock,page-faults}:S', '-F', '4000', '--', 'sh', '-c', script)
    assert result.status == 0, result
    lines = [line.split() for line in pace('script', '-F', 'comm,event,period').out.splitlines()]
    counted = {(comm, event.rstrip(':')) for comm, _, event in lines}
    assert max(int(period) for _, period, _ in lines) < 10**10, lines
    if 'before Linux 6.12' in result.err:
        assert {comm for comm, _ in counted} == {'sh'}, counted
        return
    assert {('ls', 'cpu-clock'), ('ls', 'page-faults'), ('sh', 'page-faults')} <= counted, counted
    # Reports count the same, although they read on all cores in any order.
    events = json.loads(pace('report', '--json', '-s', 'comm').out)['events']
    for event in events:
        periods = [int(period) for _, period, name in lines if name.rstrip(':') == event['event']]
        assert (event['samples'], event['period']) == (len(periods), sum(periods)), (event, len(periods), sum(periods))


@test
def attaching_to_a_process_measures_all_its_threads_and_those_to_come():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    target = start(program, '60', 'go')
    threads_of(target, 'alpha', 'beta')
    result = pace('record', '-p', str(target.pid), 'sh', '-c', 'touch go; sleep 0.8')
    stop(target)
    assert result.status == 0, result
    found = by_comm()
    # Three of whoever wants the CPUs meanwhile
    assert all(found.get(name, 0) > 5 for name in ('alpha', 'beta', 'late')), found
    assert set(found) <= {'alpha', 'beta', 'late', 'threads'}, found


@test
def threads_that_are_started_while_a_process_is_attached_to_are_in_it():
    can_record()
    program = build_c('tests/live/programs/starting.c', 'starting', '-pthread')
    n_known = n_cut = 0
    for every_us in 5000, 300:
        target = subprocess.Popen([program, str(every_us)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        time.sleep(0.4)
        records = []
        for n in range(3):
            result = pace('record', '-e', 'page-faults', '-c', '1', '-m', '512', '-k', 'mono', '-p', str(target.pid),
                          '-o', f'{every_us}-{n}.data', '--for', '400ms')
            assert result.status == 0 and 'lost' not in result.err, result
            # Of those that could not be told from others it is said.
            said = re.search(r'samples may be missing: (.*)', result.err)
            records.append((f'{every_us}-{n}.data', set(re.findall(r'\d+', said[1])) if said else set(),
                            re.search(r'and (\d+) more', result.err) is not None))
        touches = {tid: [float(t) for t in times] for tid, *times in map(str.split, target.communicate()[0].splitlines())}
        for name, late, is_more in records:
            seen = {}
            for line in pace('script', '-i', name, '-F', 'tid,time', '--ns').out.splitlines():
                tid, when = line.split()
                seen.setdefault(tid, []).append(float(when.rstrip(':')))
            # Threads are switched on and off one after the other: all are on from when the last of those that were there at
            # the beginning has told something, until the first of those that outlive it has told its last.
            first, last = min(map(min, seen.values())), max(map(max, seen.values()))
            begin = max(min(seen[tid]) for tid, times in touches.items() if tid in seen and times[0] < first)
            end = min((max(seen[tid]) for tid, times in touches.items() if tid in seen and times[-1] > last), default=last)
            for tid, times in touches.items():
                wanted = sum(begin < t < end for t in times)
                found = sum(begin < t for t in seen.get(tid, []))
                if tid in late or not wanted or is_more and found < wanted:
                    continue
                n_known += 1
                n_cut += found < wanted
                # What a thread touches on its way comes on top; once, not twice.
                assert found <= sum(begin < t for t in times) + 12, (name, tid, wanted, found)
    # One that was interrupted in the middle of clone(2) is seen too late.
    assert n_known > 50 and n_cut <= 2, (n_known, n_cut)


@test
def programs_of_a_container_that_is_gone_have_names():
    """Nobody but the command's child ever saw that file; when the recording is read back, its namespace is no more."""
    can_record()
    needs('unshare')
    program = build_c(THREADS, 'threads', '-pthread')
    script = f'mount -t tmpfs none /mnt && cp {program} /mnt/inside && exec /mnt/inside 2'
    if run('unshare', '-Urpfm', '--mount-proc', 'mount', '-t', 'tmpfs', 'none', '/mnt').status:
        skip('no mount namespaces here')
    result = pace('record', '-e', 'cpu-clock', 'unshare', '-Urpfm', '--mount-proc', 'sh', '-c', script)
    assert result.status == 0, result
    report = pace('report', '-g', 'none', '-s', 'dso,sym').out
    assert re.search(r' inside +\[\.\] spin', report) and not os.path.exists('/mnt/inside'), report
    assert 'spin' in pace('annotate', 'spin').out


@test
def programs_of_a_container_that_is_gone_have_names_whatever_was_recorded():
    """All processes, or those of a container that ran before: it ends while they are recorded. One has another root besides."""
    needs_root()
    can_record()
    needs('unshare', 'chroot')
    program = build_c(THREADS, 'threads', '-pthread', '-static')
    if run('unshare', '-m', 'mount', '-t', 'tmpfs', 'none', '/mnt').status:
        skip('no mount namespaces here')
    mounts = f'mount -t tmpfs none /mnt && mkdir /mnt/opt && cp {program} /mnt/opt/inside'
    scripts = {'mounts': mounts + ' && exec /mnt/opt/inside 2', 'root': mounts + ' && exec chroot /mnt /opt/inside 2'}
    for name, script in scripts.items():
        result = pace('record', '-a', '-F', '999', '-e', 'cpu-clock:u', 'unshare', '-m', 'sh', '-c', script)
        assert result.status == 0, result
        report = pace('report', '-g', 'none', '-s', 'dso,sym').out
        assert re.search(r' inside +\[\.\] spin', report), (name, report)
        target = subprocess.Popen(['unshare', '-m', 'sh', '-c', script])
        while target.poll() is None and os.path.basename(os.readlink(f'/proc/{target.pid}/exe')) != 'inside':
            time.sleep(0.02)
        result = pace('record', '-F', '999', '-e', 'cpu-clock:u', '-p', str(target.pid))
        target.wait()
        assert result.status == 0, result
        report = pace('report', '-g', 'none', '-s', 'dso,sym').out
        assert re.search(r' inside +\[\.\] spin', report), (name, report)


@test
def attaching_to_a_thread_measures_no_other():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    target = start(program, '60')
    tids = threads_of(target, 'alpha', 'beta')
    result = pace('record', '-t', tids['beta'], 'sleep', '0.5')
    stop(target)
    assert result.status == 0, result
    assert set(by_comm()) == {'beta'}, by_comm()


@test
def recording_ends_by_itself_when_the_process_it_watches_ends():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    target = start(program, '60', 'go')
    threads_of(target, 'alpha', 'beta')
    with subprocess.Popen([PACE, 'record', '-p', str(target.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as recorder:
        wait_for(lambda: has_grown('perf.data', 50000))
        stop(target)
        result = Result(recorder, *what_it_said(recorder))
    assert recorder.returncode == 0, result
    assert samples_said(result) > 100


@test
def the_whole_system_is_measured_until_the_command_ends():
    can_record()
    needs_root()
    program = build_c(THREADS, 'threads', '-pthread')
    target = start(program, '60')
    threads_of(target, 'alpha', 'beta')
    result = pace('record', '-a', 'sleep', '0.5')
    stop(target)
    assert result.status == 0, result
    # Whatever else runs here
    assert by_comm().get('alpha', 0) > 5, by_comm()


@test
def a_cpu_list_limits_where_samples_are_taken():
    can_record()
    needs_root()
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip('needs two CPUs')
    program = build_c(THREADS, 'threads', '-pthread')
    target = start(program, '60')
    assert pace('record', '-q', '-C', str(cpus[1]), 'sleep', '0.4').status == 0
    stop(target)
    found = rows('-s', 'cpu')
    assert set(found) == {(f'{cpus[1]:03}',)}, found


@test
def a_period_takes_one_sample_each_n_events():
    can_record()
    program = build_c(FAULTS, 'faults')
    result = pace('record', '-e', 'page-faults:u', '-c', '10', program, '20000')
    # 2,000 samples for the pages, some for starting the program
    assert 2000 <= samples_said(result) < 2100, result
    count = re.search(r'Event count \(approx.\): (\d+)', pace('report').out)
    assert int(count.group(1)) == 10 * samples_said(result)


@test
def a_period_of_one_sees_every_single_event():
    can_record()
    # Linked in, libraries cost the same always.
    program = build_c(FAULTS, 'faults', '-static')
    few = samples_said(pace('record', '-e', 'page-faults:u', '-c', '1', program, '0'))
    many = samples_said(pace('record', '-e', 'page-faults:u', '-c', '1', program, '5000'))
    # Where the stack comes to lie is random.
    assert abs(many - few - 5000) <= 6, (few, many)


@test
def a_frequency_gives_about_so_many_samples_a_second():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    for hz in (500, 2000):
        pace('record', '-q', '-e', 'cpu-clock:u', '-F', str(hz), program, '0.6')
        result = pace('report', '-n', '-g', 'none', '--no-children', '-s', 'comm')
        samples, period = sum(rows('-s', 'comm').values()), re.search(r'approx.\): (\d+)', result.out)
        # one sample stands for 1/hz s of CPU time
        assert abs(int(period.group(1)) / 1e9 * hz / samples - 1) < 0.05, result


@test
def a_frequency_above_the_limit_is_lowered_and_said():
    can_record()
    def read():
        return int(open('/proc/sys/kernel/perf_event_max_sample_rate').read())

    for _ in range(20):
        limit = read()
        result = pace('record', '-F', str(limit + 1), 'true')
        rates = [pace('evlist', '-F').out]
        assert pace('record', '-q', '-F', 'max', 'true').status == 0
        rates.append(pace('evlist', '-F').out)
        # Where interrupts take long the kernel itself lowers the limit, at any moment.
        if read() == limit:
            break
    assert result.status == 0 and f'is lowered to {limit}' in result.err, result
    assert all(f'sample_freq={limit}' in rate for rate in rates), (limit, rates)


@test
def every_process_of_a_tree_has_its_own_name():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    os.symlink(program, 'first')
    os.symlink(program, 'second')
    assert pace('record', '-q', 'sh', '-c', './first 0.2; (./second 0.2)').status == 0
    found = by_comm()
    assert found.get('alpha', 0) > 20, found
    names = {key[0] for key in rows('-s', 'dso')}
    assert any(name.startswith('threads') for name in names), names


@test
def several_events_have_a_table_each():
    can_record()
    program = build_c(FAULTS, 'faults')
    assert pace('record', '-q', '-e', 'cpu-clock:u,page-faults:u', '-e', 'context-switches', program, '9000').status == 0
    result = pace('report')
    assert pace('evlist').out == 'cpu-clock:u\npage-faults:u\ncontext-switches\n'
    assert "of event 'cpu-clock:u'" in result.out and "of event 'page-faults:u'" in result.out, result


@test
def groups_are_opened_and_described():
    can_record()
    assert pace('record', '-q', '-e', '{cpu-clock,page-faults}', 'true').status == 0
    assert '# group: {cpu-clock,page-faults}' in pace('report', '--header-only').out


@test
def a_pinned_and_an_exclusive_event_are_asked_for_as_such():
    can_record()
    assert pace('record', '-q', '-e', 'task-clock:D', 'true').status == 0
    assert 'pinned: 1' in pace('evlist', '-v').out


@test
def tracepoints_are_recorded_with_their_format():
    can_record()
    needs_root()
    if not os.path.exists('/sys/kernel/tracing/events/sched/sched_process_exec/id'):
        run('mount', '-t', 'tracefs', 'nodev', '/sys/kernel/tracing')
    if not os.path.exists('/sys/kernel/tracing/events/sched/sched_process_exec/id'):
        skip('no tracefs here')
    result = pace('record', '-e', 'sched:sched_process_exec', 'sh', '-c', '/bin/true; /bin/true; :')
    # sh itself is exec'd, and two trues
    assert samples_said(result) == 3, result


@test
def call_chains_lead_from_main_to_the_leaf():
    can_record()
    program = build_c('examples/wordcount.c', 'wordcount', '-fno-inline')
    assert pace('record', '-q', '-g', '-e', 'cpu-clock:u', program).status == 0
    result = pace('report', '-g', 'caller', '-s', 'sym')
    rows_by_name = {row.cells[2]: row for row in perftext.parse(result.out)[0][1]}
    main, leaf = rows_by_name['[.] main'], rows_by_name['[.] is_same']
    assert float(main.cells[0].rstrip('%')) > 95, main.cells
    assert any(path[-4:] == ('main', 'count_words', 'find_word', 'is_same') for path in leaf.graph), leaf.graph
    # what main's graph gives to count_words is count_words' own row
    words = [share for path, share in main.graph.items() if path[-1] == 'count_words' and len(path) <= 2]
    assert abs(words[0] - float(rows_by_name['[.] count_words'].cells[0].rstrip('%'))) < 0.02


@test
def an_interrupted_recording_is_complete_and_says_128_plus_the_signal():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        target = start(program, '300')
        threads_of(target, 'alpha', 'beta')
        name = f'cut-{number}.data'
        recorder = subprocess.Popen([PACE, 'record', '-p', str(target.pid), '-o', name], stderr=subprocess.PIPE, text=True)
        wait_for(lambda: has_grown(name, 50000))
        recorder.send_signal(number)
        err = what_it_said(recorder)[1]
        stop(target)
        assert recorder.returncode == 128 + number, (recorder.returncode, err)
        report = pace('report', '-i', name, '-n', '-s', 'comm')
        assert report.status == 0 and 'alpha' in report.out and 'not finished' not in report.err, report
        assert 'BUILD_ID' not in report.err


@test
def a_signal_for_the_recorder_reaches_the_command_it_started():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')

    def runs(pid):
        try:
            return os.path.samefile(f'/proc/{pid}/exe', program)
        except OSError:  # it has ended meanwhile, or is the kernel's
            return False

    def running():
        return [p for p in os.listdir('/proc') if p.isdigit() and runs(p)]

    recorder = subprocess.Popen([PACE, 'record', program, str(2 * PATIENCE)], stderr=subprocess.PIPE, text=True)
    wait_for(running)
    recorder.send_signal(signal.SIGTERM)
    what_it_said(recorder)
    try:
        wait_for(lambda: not running(), 60)
    finally:
        for pid in running():
            os.kill(int(pid), signal.SIGKILL)


@test
def a_killed_recorder_leaves_all_but_the_last_second():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    target = start(program, '60')
    threads_of(target, 'alpha', 'beta')
    recorder = subprocess.Popen([PACE, 'record', '-k', 'mono', '-F', '99', '-p', str(target.pid)], stderr=subprocess.DEVNULL)
    waits = Waits(recorder.pid)
    wait_for(lambda: has_grown('perf.data', 0))
    waits.watch(time.monotonic() + 4)
    killed = time.monotonic()
    recorder.kill()
    recorder.wait()
    stop(target)
    script = pace('script', '-F', 'time')
    times = [float(line.strip(' :')) for line in script.out.split('\n') if line.strip()]
    # A second, and what the recorder itself was kept waiting
    allowed = 1.5 + waits.of_last(2)
    assert len(times) > 5 and killed - times[-1] < allowed, (killed, allowed, times[:1], times[-1:], len(times))
    assert times[-1] - times[0] > 1, (times[0], times[-1])


@test
def a_stream_is_shown_while_it_is_recorded():
    can_record()
    program = build_c(THREADS, 'threads', '-pthread')
    both = subprocess.Popen(['sh', '-c', f'{PACE} record -q -o - {program} {PATIENCE} | {PACE} script -F comm,time'], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    begin = time.time()
    line = both.stdout.readline()
    took = time.time() - begin
    stop(both)
    assert re.match(r' +\w+ +\d+\.\d{6}:', line), line
    # Long before the program ends
    assert took < PATIENCE / 4, took


@test
def a_stream_never_goes_to_a_terminal():
    can_record()
    import pty
    there, here = pty.openpty()
    done = subprocess.run([PACE, 'record', '-o', '-', 'true'], stdout=here, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    os.close(here)
    os.close(there)
    assert done.returncode == 2 and 'standard output is a terminal' in done.stderr, done


@test
def the_example_of_the_library_tells_where_the_time_went():
    can_record()
    if not os.path.exists(os.path.join(BUILD, 'libpace.so')):
        skip('libpace is not built here')
    # a sanitized library needs a sanitized program
    flags = ['-fsanitize=address,undefined'] if 'asan' in run('ldd', os.path.join(BUILD, 'libpace.so')).out else []
    example = build_c('examples/hottest.c', 'hottest', '-I' + os.path.join(TOP, 'include'), *flags, '-L' + BUILD, '-lpace', '-Wl,-rpath,' + BUILD)
    program = build_c(THREADS, 'threads', '-pthread')
    assert pace('record', '-e', 'cpu-clock:u', program, '0.5').status == 0
    result = run(example)
    assert result.status == 0 and re.search(r'^ *\d+\.\d+% +\d+  spin$', result.out, re.M), result
    assert len(open(os.path.join(TOP, 'examples/hottest.c')).read().split('\n')) < 81


@test
def quiet_means_silent():
    can_record()
    result = pace('record', '-q', 'true')
    assert result.status == 0 and result.err == '' and result.out == '', result


@test
def lost_samples_are_said():
    can_record()
    program = build_c(FAULTS, 'faults')
    # a ring of one page, an event for every fault, and a recorder that is stopped meanwhile
    recorder = subprocess.Popen([PACE, 'record', '-m', '1', '-e', 'page-faults:u', '-c', '1', 'sh', '-c',
                                 f'touch ready; until test -e go; do sleep 0.05; done; {program} 200000; touch done'], stderr=subprocess.PIPE, text=True)
    # Only then does the command run: until it was let go, nobody else would let it.
    wait_for(lambda: os.path.exists('ready'))
    recorder.send_signal(signal.SIGSTOP)
    open('go', 'w').close()
    wait_for(lambda: os.path.exists('done'))
    recorder.send_signal(signal.SIGCONT)
    err = what_it_said(recorder)[1]
    found = re.search(r'(\d+) (samples|records)(?: \([\d.]+%\))? were lost', err)
    assert found and int(found.group(1)) > 100000, err
    # every fault is either a sample or said to be lost, though none came after the last that was lost
    assert int(found.group(1)) + int(re.search(r'\((\d+) samples\)', err).group(1)) >= 200000, err
    report = pace('report')
    assert 'were dropped by the kernel' in report.out, report


@test
def nothing_sampled_is_said():
    can_record()
    result = pace('record', '-F', '1', 'true')
    assert samples_said(result) == 0 and 'Nothing was sampled' in result.err, result
    assert pace('report').status == 0


@test
def a_thousand_processes_are_described_at_the_start():
    can_record()
    needs_root()
    sleepers = [start('sleep', '60') for _ in range(500)]
    try:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = pace('record', '-q', '-a', '-o', 'many.data', 'true')
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    finally:
        for process in sleepers:
            stop(process)
    assert result.status == 0, result
    assert took < 10, took


@test
def more_threads_than_open_files_are_explained():
    can_record()
    source = open('many.c', 'w')
    source.write('#include <pthread.h>\n#include <unistd.h>\nstatic void *s(void *p) { pause(); return p; }\n'
                 'int main(void) { pthread_t t; for (int i = 0; i < 100; i++) pthread_create(&t, 0, s, 0); pause(); }\n')
    source.close()
    target = start(build_c(os.path.abspath('many.c'), 'many', '-pthread'))
    wait_for(lambda: len(os.listdir(f'/proc/{target.pid}/task')) == 101)
    rights_stay()
    limit = f'ulimit -n 64; exec {" ".join(NOBODY) if os.geteuid() == 0 else ""} {PACE} record -o /tmp/never.data -p {target.pid}'
    result = run('sh', '-c', limit)
    stop(target)
    assert result.status == 1 and 'files have to be open at once' in result.err and 'hard limit is 64' in result.err, result



@test
def a_hard_limit_of_few_open_files_is_enough_for_one_program():
    can_record()
    needs_root()
    needs('setpriv')
    rights_stay()
    os.chmod('.', 0o777)
    shutil.copy(PACE, 'pace')
    result = run('sh', '-c', f'ulimit -n 24; exec {" ".join(NOBODY)} ./pace record -e cpu-clock:u -o few.data sh -c "i=0; while [ \\$i -lt 99999 ]; do i=\\$((i+1)); done"')
    if os.cpu_count() > 8:
        skip('a counter for each of the CPUs does not fit')
    assert result.status == 0 and samples_said(result) > 0, result
    assert pace('report', '-i', 'few.data', '-s', 'sym').status == 0


main()
