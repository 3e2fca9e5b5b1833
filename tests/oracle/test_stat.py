#!/usr/bin/env python3
"""`pace stat` compared with the installed `perf stat`: on the same run, or the same program, they count the same.

If both can be attached to one running program before it does anything, the counts are exactly equal. If two runs
are compared, the counts differ by no more than those of two runs of one tool.
"""
import csv
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

TOUCHER = 'tests/live/programs/toucher.c'
TRACING = '/sys/kernel/tracing'


def rows_of_pace(path):
    rows = list(csv.DictReader(open(path)))
    return [row for row in rows if row['event'] not in ('elapsed', 'user', 'sys')]


def rows_of_perf(path, n_before=0):
    """(what stands before the value, value, event) of perf 6.1's CSV, which has no header."""
    rows = []
    for line in open(path):
        cells = line.rstrip('\n').split(',')
        if line.startswith('#') or len(cells) < 5 + n_before:
            continue
        rows.append((cells[:n_before], cells[n_before], cells[n_before + 2]))
    return rows


def counts_of_pace(path):
    return {row['event']: float(row['value']) for row in rows_of_pace(path) if row['state'] == 'counted'}


def counts_of_perf(path):
    return {event: float(value) for _, value, event in rows_of_perf(path) if not value.startswith('<')}


class Target:
    """A program that does what it is told; see its source."""
    def __init__(self):
        self.program = build_c(TOUCHER, 'toucher', '-pthread', '-static', '-no-pie')
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.tell(1)

    def tell(self, *lines):
        for line in lines:
            self.process.stdin.write(f'{line}\n')
            self.process.stdin.flush()
            assert self.process.stdout.readline() == 'done\n'

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE)

    def symbol(self, name):
        for line in run('nm', self.program).out.splitlines():
            address, _, symbol = line.split()[-3:] if len(line.split()) > 2 else ('', '', '')
            if symbol == name:
                return int(address, 16)
        raise AssertionError(f'no {name} in {self.program}')


class Counter:
    """One of the two tools, attached to a target; its counters are on."""
    def __init__(self, tool, *options):
        self.name = os.path.basename(tool)
        self.path = os.path.abspath(f'{self.name}.csv')
        for end in ('ctl', 'ack'):
            if not os.path.exists(f'{self.name}.{end}'):
                os.mkfifo(f'{self.name}.{end}')
        self.ctl = os.open(f'{self.name}.ctl', os.O_RDWR | os.O_NONBLOCK)
        self.ack = os.open(f'{self.name}.ack', os.O_RDWR | os.O_NONBLOCK)
        self.process = subprocess.Popen([tool, 'stat', '-x,', '-o', self.path, '--control', f'fifo:{self.name}.ctl,{self.name}.ack', *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(f'{self.name}.err', 'w'))
        self.tell('ping')

    def tell(self, command):
        os.write(self.ctl, command.encode() + b'\n')
        deadline, got = time.time() + PATIENCE, b''
        while b'ack\n' not in got:
            has_ended = self.process.poll() is not None
            try:
                got += os.read(self.ack, 16)
            except BlockingIOError:
                assert time.time() < deadline and not has_ended, (self.name, command, got, open(f'{self.name}.err').read())
                time.sleep(0.005)

    def wait(self):
        status = self.process.wait(timeout=PATIENCE)
        os.close(self.ctl)
        os.close(self.ack)
        return status


def both_attached(target, work, *options):
    """What each counts of a target that runs, from before `work` until its end."""
    tools = [Counter(tool, '-p', str(target.process.pid), *options) for tool in ('perf', PACE)]
    work(target)
    target.end()
    assert [tool.wait() for tool in tools] == [0, 0], [open(f'{tool.name}.err').read() for tool in tools]
    return counts_of_perf('perf.csv'), counts_of_pace('pace.csv')


def needs_both():
    perf_works()
    needs_root()
    result = run('perf', 'stat', '-x,', '-e', 'page-faults', 'true')
    if result.status or '<not' in result.err:
        skip('perf cannot count here: ' + result.err.strip()[:100])


def needs_tracing():
    if not os.path.exists(f'{TRACING}/events/sched'):
        skip('tracefs is not mounted')


# ---- the same run ----

@test
def software_events_of_a_running_program_are_equal():
    needs_both()
    events = 'page-faults,minor-faults,major-faults,context-switches,cpu-migrations,task-clock,cpu-clock,alignment-faults,emulation-faults'

    def work(target):
        target.tell(1000, 'fork 300', 'thread 20', 5)
    theirs, ours = both_attached(Target(), work, '-e', events)
    assert set(theirs) == set(ours) == set(events.split(',')), (theirs, ours)
    for event in events.split(','):
        if 'clock' in event:
            # perf switches its counters on after pace's or before: by so much.
            assert abs(ours[event] - theirs[event]) < 0.05 * theirs[event] + 0.5, (event, theirs, ours)
        else:
            assert ours[event] == theirs[event], (event, theirs, ours)
    assert ours['page-faults'] > 1320 and ours['context-switches'] > 3, ours


@test
def tracepoints_of_a_running_program_are_equal_alone_and_in_a_group():
    needs_both()
    needs_tracing()
    names = 'sched:sched_process_fork,sched:sched_process_exit,sched:sched_wakeup_new,signal:signal_deliver,exceptions:page_fault_user'
    events = [name for name in names.split(',') if os.path.exists(f'{TRACING}/events/{name.replace(":", "/")}')]

    def work(target):
        target.tell(50, 'fork 30', 'fork 3', 'thread 20')
    for text in (','.join(events), '{' + ','.join(events) + '}'):
        theirs, ours = both_attached(Target(), work, '-e', text)
        assert theirs == ours and set(ours) == set(events), (theirs, ours)
        assert ours['sched:sched_process_fork'] == 3, ours


@test
def filters_of_tracepoints_let_the_same_pass():
    needs_both()
    needs_tracing()
    if '--filter' not in pace('stat', '-h').out:
        skip('pace stat has no --filter yet')

    def work(target):
        target.tell('fork 30', 'fork 3', 'thread 20')
    target = Target()
    theirs, ours = both_attached(target, work, '-e', 'sched:sched_process_fork', '--filter', f'parent_pid=={target.process.pid}')
    assert theirs == ours == {'sched:sched_process_fork': 3}, (theirs, ours)


@test
def breakpoints_and_watchpoints_are_hit_as_often():
    needs_both()
    target = Target()
    events = f'mem:{target.symbol("hit"):#x}:x,mem:{target.symbol("written"):#x}/8:w'
    theirs, ours = both_attached(target, lambda t: t.tell('hit 12345', 'hit 5'), '-e', events)
    assert list(theirs.values()) == list(ours.values()) == [12350, 12350], (theirs, ours)


def write_probe(line):
    # Not open(): it looks for the end of the file, which this one does not have.
    fd = os.open(f'{TRACING}/uprobe_events', os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


@test
def uprobes_are_passed_as_often():
    needs_both()
    needs_tracing()
    target = Target()
    offset = target.symbol('hit')
    for line in run('readelf', '-lW', target.program).out.splitlines():
        words = line.split()
        if words[:1] == ['LOAD'] and int(words[2], 16) <= offset < int(words[2], 16) + int(words[4], 16):
            offset += int(words[1], 16) - int(words[2], 16)
            break
    probe = f'p{os.getpid()}'
    try:
        write_probe(f'p:pace_stat/{probe} {target.program}:{offset:#x}\n')
    except OSError as problem:
        target.end()
        skip(f'no uprobes here: {problem}')
    try:
        theirs, ours = both_attached(target, lambda t: t.tell('hit 777', 'hit 3'), '-e', f'pace_stat:{probe}')
    finally:
        write_probe(f'-:pace_stat/{probe}\n')
    assert theirs == ours == {f'pace_stat:{probe}': 780}, (theirs, ours)


@test
def what_one_switches_on_and_off_the_other_does_too():
    needs_both()
    target = Target()
    tools = [Counter(tool, '-p', str(target.process.pid), '-D', '-1', '-e', 'page-faults') for tool in ('perf', PACE)]
    target.tell(1000)
    for tool in tools:
        tool.tell('enable')
    target.tell(30)
    for tool in tools:
        tool.tell('disable')
    target.tell(500)
    for tool in tools:
        tool.tell('enable')
    target.tell(4)
    # perf 6.1 acknowledges 'stop' and goes on.
    for tool in tools:
        tool.tell('disable')
    target.end()
    for tool in tools:
        tool.wait()
    assert counts_of_perf('perf.csv') == counts_of_pace('pace.csv') == {'page-faults': 34}


@test
def groups_of_sched_events_agree_with_each_other_and_with_perf():
    """Of the whole system, in one group: what is counted at the same moments stands in exact relations."""
    needs_both()
    needs_tracing()
    events = '{sched:sched_process_fork,sched:sched_wakeup_new}'
    script = 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done'
    # Of who forks just when it begins or ends only one of the two is counted: many may on a busy machine, but not each time.
    for _ in range(6):
        # The outer one sees what the inner one's start costs besides.
        result = run('perf', 'stat', '-x,', '-o', 'perf.csv', '-a', '-e', events, '--', PACE, 'stat', '-x,', '-o', 'pace.csv', '-a', '-e', events,
                     'sh', '-c', script)
        assert result.status == 0, result
        theirs, ours = counts_of_perf('perf.csv'), counts_of_pace('pace.csv')
        if abs(ours['sched:sched_process_fork'] - ours['sched:sched_wakeup_new']) <= 2:
            break
    assert abs(ours['sched:sched_process_fork'] - ours['sched:sched_wakeup_new']) <= 2 and ours['sched:sched_wakeup_new'] >= 10, ours
    assert theirs['sched:sched_process_fork'] >= ours['sched:sched_process_fork'], (theirs, ours)


# ---- two runs ----

@test
def a_command_costs_the_same_whoever_counts_it():
    needs_both()
    program = build_c('tests/live/programs/faults.c', 'faults', '-static')
    needs('setarch')
    events = 'page-faults:u,minor-faults,task-clock:u'
    for _ in range(4):
        for tool, name in (('perf', 'perf.csv'), (PACE, 'pace.csv')):
            assert run('setarch', '-R', tool, 'stat', '-x,', '-o', name, '-e', events, program, '20000').status == 0
        theirs, ours = counts_of_perf('perf.csv'), counts_of_pace('pace.csv')
        # A kernel that is short of memory takes pages away, and they fault again.
        if abs(ours['page-faults:u'] - theirs['page-faults:u']) <= 2 and abs(ours['minor-faults'] - theirs['minor-faults']) <= 40:
            break
    assert abs(ours['page-faults:u'] - theirs['page-faults:u']) <= 2, (theirs, ours)
    assert abs(ours['minor-faults'] - theirs['minor-faults']) <= 40, (theirs, ours)


def assert_near(ours, theirs, share):
    assert abs(ours - theirs) <= share * max(abs(theirs), abs(ours)), (ours, theirs)


@test
def clocks_of_the_system_are_near_in_all_divisions():
    needs_both()
    for options, n_before in (([], 0), (['-A'], 1), (['--per-core'], 2), (['--per-socket'], 2), (['--per-die'], 2), (['--per-node'], 2)):
        command = ['-a', *options, '-e', 'cpu-clock', 'sleep', '0.3']
        assert run('perf', 'stat', '-x,', '-o', 'perf.csv', *command).status == 0
        assert run(PACE, 'stat', '-x,', '-o', 'pace.csv', *command).status == 0
        # (ms of the clock, ms that its counters were on), of one CPU or several: two runs do not last equally long.
        theirs = {tuple(cells[:1] if n_before else ()): (float(cells[n_before]), float(cells[n_before + 3]) / 1e6)
                  for cells in (line.rstrip('\n').split(',') for line in open('perf.csv')) if len(cells) > n_before + 4}
        ours = {(row['place'],) if row['place'] else (): (float(row['value']), float(row['enabled_ns']) / 1e6) for row in rows_of_pace('pace.csv')}
        assert set(theirs) == set(ours), (options, theirs, ours)
        for clocks in (theirs, ours):
            for clock, enabled in clocks.values():
                assert_near(clock, enabled, 0.05)
            assert sum(enabled for _, enabled in clocks.values()) >= 300 * len(os.sched_getaffinity(0)), (options, clocks)


@test
def the_time_stamp_counter_runs_as_fast():
    needs_both()
    if not os.path.exists('/sys/bus/event_source/devices/msr/events/tsc'):
        skip('no msr/tsc/ here')
    for tool, name in (('perf', 'perf.csv'), (PACE, 'pace.csv')):
        assert run(tool, 'stat', '-x,', '-o', name, '-a', '-e', '{msr/tsc/,cpu-clock}', 'sleep', '0.3').status == 0
    theirs, ours = counts_of_perf('perf.csv'), counts_of_pace('pace.csv')
    assert_near(ours['msr/tsc/'] / ours['cpu-clock'], theirs['msr/tsc/'] / theirs['cpu-clock'], 0.05)


@test
def repeated_runs_deviate_by_the_same_formula():
    needs_both()
    text = run('perf', 'stat', '-r', '5', '--table', '-e', 'task-clock', 'sleep', '0.05').err
    times = [float(x) for x in re.findall(r'^ +(\d+\.\d+) \([+-]', text, re.M)]
    said = re.search(r'^ +(\S+) \+- (\S+) seconds time elapsed', text, re.M)
    mean = sum(times) / 5
    deviation = (sum((x - mean) ** 2 for x in times) / 4 / 5) ** 0.5
    # tests/live/test_stat.py asks pace's table for the same.
    assert len(times) == 5 and abs(float(said[2]) - deviation) <= 2 * 10 ** -len(said[2].split('.')[1]), text


@test
def intervals_of_both_show_when_a_program_worked():
    needs_both()

    def counted_by_both():
        target = Target()
        tools = [Counter(tool, '-p', str(target.process.pid), '-I', '100', '-e', 'page-faults') for tool in ('perf', PACE)]
        time.sleep(0.35)
        target.tell(1234)
        time.sleep(0.35)
        target.end()
        for tool in tools:
            tool.wait()
        return [float(value) for _, value, _ in rows_of_perf('perf.csv', 1) if not value.startswith('<')], \
            [float(row['value']) for row in rows_of_pace('pace.csv')]

    def most(counts):
        """What two intervals have that follow each other: the work may fall into both."""
        return max(map(sum, zip(counts, counts[1:])), default=0)
    # Some milliseconds of work, which take longer where others have the processor.
    for _ in range(6):
        theirs, ours = counted_by_both()
        if most(ours) >= 1234 and most(theirs) >= 1234:
            break
    assert sum(ours) == sum(theirs) and most(ours) >= 1234 and most(theirs) >= 1234, (ours, theirs)


@test
def cgroups_hold_the_same():
    needs_both()
    if 'cgroup' not in pace('stat', '-h').out:
        skip('pace stat has no --cgroup yet')
    root = next((line.split()[1] for line in open('/proc/mounts') if line.split()[2] == 'cgroup2'), None)
    if not root:
        skip('no cgroup2 is mounted')
    name = f'pace-stat-{os.getpid()}'
    try:
        os.mkdir(f'{root}/{name}')
    except OSError as problem:
        skip(f'no cgroup can be made: {problem}')
    target = Target()
    try:
        open(f'{root}/{name}/cgroup.procs', 'w').write(str(target.process.pid))
        tools = [Counter(tool, '-a', '-e', 'page-faults', '-G', name) for tool in ('perf', PACE)]
        target.tell(4321)
        for tool in tools:
            tool.tell('disable')
            tool.process.send_signal(signal.SIGINT)
            tool.wait()
        theirs, ours = rows_of_perf('perf.csv'), rows_of_pace('pace.csv')
        assert float(theirs[0][1]) == float(ours[0]['value']) >= 4321 and ours[0]['cgroup'] == name, (theirs, ours)
    finally:
        target.end()
        os.rmdir(f'{root}/{name}')


# ---- the same layout ----

def table_of(tool, *options):
    text = run(tool, 'stat', *options).err
    return {re.search(r'(cpu-clock|task-clock|context-switches|page-faults)', line)[1] + ' ' + line.split()[0]: line
            for line in text.splitlines() if re.search(r'\d.*(cpu-clock|task-clock|context-switches|page-faults)', line)}


def columns(line):
    """Where the value ends, and where unit, name and metric begin."""
    found = re.match(r'(?P<before>.*?)(?P<value>[\d,.]+) (?P<unit>msec|    ) (?P<name>\S+ *)(# +(?P<metric>[\d.]+ +\S+))?', line)
    assert found, line
    metric = found['metric']
    # The unit behind a metric's number has a place of its own.
    return found.end('value'), found.start('unit'), found.start('name'), found.end('name') if metric else None, \
        found.end('metric') - len(metric.split()[-1]) if metric else None


@test
def rows_that_both_print_have_the_same_columns():
    needs_both()
    needs_layout_of_perf('counts')
    events = ['-e', 'task-clock,context-switches,page-faults']
    system = ['-e', 'cpu-clock,context-switches,page-faults']
    for options in ([*events], ['-r', '2', *events], ['-a', *system], ['-a', '-A', *system], ['-a', '--per-core', *system],
                    ['-a', '--per-socket', *system], ['-a', '--per-die', *system], ['-a', '--per-node', *system]):
        command = [*options, 'sleep', '0.02']
        theirs, ours = table_of('perf', *command), table_of(PACE, *command)
        places = [name.split()[1] if '-a' in options and len(options) > 3 else '' for name in ours]
        for (name, line), place in zip(ours.items(), places):
            other = theirs.get(name) or next(l for n, l in theirs.items() if n.split()[0] == name.split()[0])
            assert columns(line) == columns(other), f'{options} {place}\n{line}\n{other}'


@test
def rows_of_threads_have_the_same_columns():
    needs_both()
    needs_layout_of_perf('counts')
    busy = start('sh', '-c', 'while :; do :; done')
    wait_for(lambda: open(f'/proc/{busy.pid}/comm').read() == 'sh\n')
    lines = []
    for tool in ('perf', PACE):
        text = run(tool, 'stat', '--per-thread', '-p', str(busy.pid), '-e', 'task-clock,page-faults', 'sleep', '0.2').err
        lines.append([line for line in text.splitlines() if f'sh-{busy.pid}' in line and 'task-clock' in line])
    stop(busy)
    assert len(lines[0]) == len(lines[1]) == 1 and columns(lines[0][0]) == columns(lines[1][0]), lines
    assert lines[0][0].index('sh-') == lines[1][0].index('sh-'), lines


@test
def intervals_that_both_print_have_the_same_columns():
    needs_both()
    needs_layout_of_perf('counts')
    for options in ([], ['-A'], ['--per-core'], ['--per-socket'], ['--per-node']):
        command = ['-a', *options, '-I', '50', '--interval-count', '1', '-e', 'cpu-clock,context-switches']
        theirs, ours = [[line for line in run(tool, 'stat', *command).err.splitlines() if 'clock' in line or 'switches' in line]
                        for tool in ('perf', PACE)]
        assert len(theirs) == len(ours) > 0, (theirs, ours)
        for a, b in zip(theirs, ours):
            assert columns(a) == columns(b), f'{options}\n{a}\n{b}'


main()
