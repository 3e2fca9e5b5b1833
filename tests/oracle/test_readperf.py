#!/usr/bin/env python3
"""pace readperf compared with the installed perf: its tables have the samples that `perf script` prints; and with its own
rules, applied once more in Python to its overview.csv."""
import collections
import csv
import glob
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

NOBODY = 'ffffffff'
# One event each and several; old and new kernels; whole systems and one program; files and what a pipe left.
RECORDINGS = [
    'Athlici__cubesolver/tests__perf.data',
    'AldaronLau__gt_algorithms/perf.data.old',
    'GorillaBus__abb-test/flamegraph__perf.data',
    'bjpop__haskell-linux-perf/noargs.perf.data',
    'google__perf_data_converter/src__quipper__testdata__perf.data.hw_and_sw-3.4',
    'google__perf_data_converter/src__quipper__testdata__perf.data.piped.hw_and_sw-3.4',
    'google__perf_data_converter/src__quipper__testdata__perf.data.singleprocess-3.8',
    'google__perf_data_converter/src__quipper__testdata__perf.data.busy.0-3.8',
    'own/arm64-r1.data',
]
SAMPLE = re.compile(r'^(.*?) +(-?\d+)/(-?\d+) +(\d+)\.(\d{9}): +(\d+) +(\S.*?): +([0-9a-f]+)$')


def recordings():
    root = needs_shared('fixtures')
    return [path for path in sorted(glob.glob(f'{root}/*/*'))
            if not re.search(r'EXPECTED|ELFBINARY|\.(header|report|script)$|README', path)]


class Tables:
    def __init__(self, folder):
        for name in ('stat', 'overview', 'processes', 'results'):
            with open(os.path.join(folder, name + '.csv'), encoding='utf-8', newline='') as file:
                rows = list(csv.reader(file, strict=True))
            head, rows = rows[0], rows[1:]
            assert all(len(row) == len(head) for row in rows), (name, head)
            setattr(self, name, [dict(zip(head, row)) for row in rows])


def readperf(path, *words):
    result = pace('readperf', path, '-o', 'tables', *words)
    return result, Tables('tables') if result.status in (0, 1) and os.path.exists('tables') else None


def name_of(pid):
    return NOBODY if pid == '-1' else pid


def total(rows, key, value):
    sums = collections.Counter()
    for row in rows:
        sums[row[key]] += int(row[value])
    return sums


def samples_of_perf(path):
    script = run('perf', 'script', '-f', '--ns', '-G', '-F', 'comm,pid,tid,time,event,period,ip', '-i', path)
    found = [SAMPLE.match(line.strip()) for line in script.out.split('\n') if line.strip()]
    assert found and all(found), (path, script.err, [line for line in script.out.split('\n') if not SAMPLE.match(line.strip())][:3])
    return [(name_of(m[2]), name_of(m[3]), int(m[4] + m[5]), int(m[6]), m[7], int(m[8], 16)) for m in found]


@test
def samples_are_those_that_perf_script_prints():
    """Process, thread, time, period, event and address of each; periods by event, samples by process."""
    perf_works()
    compared = 0
    for relative in RECORDINGS:
        path = needs_shared('fixtures/' + relative)
        result, tables = readperf(path)
        theirs = samples_of_perf(path)
        rows = [row for row in tables.overview if row['type'] == 'SAMPLE']
        events = {event for *_, event, _ in theirs}
        infos = [row['info'].split(' ', 2) for row in rows]
        ours = [(row['pid'], row['tid'], int(row['time']), int(info[1]), info[2] if len(info) > 2 else list(events)[0], int(info[0], 16))
                for row, info in zip(rows, infos)]
        assert sorted(ours) == sorted(theirs), (path, sorted(set(ours) ^ set(theirs))[:4])

        periods, samples = collections.Counter(), collections.Counter()
        for pid, _, _, period, event, _ in theirs:
            periods[event] += period
            samples[pid] += 1
        if len(events) > 1:
            assert total(tables.results, 'event', 'period') == periods, path
            for event in events:
                assert sum(int(row['period ' + event]) for row in tables.processes) == periods[event], (path, event)
        assert sum(int(row['period']) for row in tables.results) == sum(periods.values()), path
        assert sum(int(row['samples']) for row in tables.results) == len(theirs), path

        mine = total(tables.processes, 'pid', 'samples')
        known = {pid for pid in mine if pid != NOBODY}
        assert all(mine[pid] <= samples[pid] for pid in known), path
        assert mine[NOBODY] == sum(samples.values()) - sum(mine[pid] for pid in known), path
        compared += 1
    assert compared == len(RECORDINGS)


class Person:
    def __init__(self):
        self.samples = self.period = self.mmaps = 0
        self.threads, self.left = set(), False


def play(overview):
    """The rules, once more: who is there, and whose the samples are. (pid, mmaps, samples, period) of all."""
    people, gone = {}, []

    def get(pid):
        return people.setdefault(pid, Person())

    def go(pid):
        gone.append((pid, people.pop(pid)))

    for row in overview:
        pid, tid, kind = row['pid'], row['tid'], row['type']
        if kind in ('MMAP', 'MMAP2'):
            get(pid).mmaps += 1
        elif kind == 'COMM':
            get(pid)
            if pid != tid:
                people[pid].threads.add(tid)
        elif kind == 'FORK' and pid == row['info'] and pid != tid:
            get(pid).threads.add(tid)
        elif kind == 'FORK':
            get(pid)
        elif kind == 'EXIT' and pid in people:
            people[pid].left |= pid == tid
            people[pid].threads.discard(tid)
            if people[pid].left and not people[pid].threads:
                go(pid)
        elif kind == 'SAMPLE':
            who = people[pid] if pid in people else get(NOBODY)
            who.samples += 1
            who.period += int(row['info'].split(' ')[1]) if row['info'] else 0
    for pid in list(people):
        go(pid)
    return sorted((pid, p.mmaps, p.samples, p.period) for pid, p in gone)


@test
def processes_live_and_die_by_the_rules():
    compared = 0
    for relative in RECORDINGS:
        path = needs_shared('fixtures/' + relative)
        result, tables = readperf(path)
        mine = sorted((row['pid'], int(row['mmaps']), int(row['samples']), int(row['period'])) for row in tables.processes)
        assert mine == play(tables.overview), (path, set(mine) ^ set(play(tables.overview)))
        compared += 1
    assert compared == len(RECORDINGS)


@test
def every_recording_is_read_into_tables_that_agree():
    """Whatever the recording: the four tables count the same things."""
    read = groups = 0
    for path in recordings():
        result, tables = readperf(path)
        if result.status == 2 or not result.out:
            assert result.err.strip().split('\n')[-1].startswith('pace readperf: '), (path, result)
            continue
        assert result.status == 0 or 'warning: ' in result.err, (path, result)
        types = collections.Counter(row['type'] for row in tables.overview)
        # types that nobody has are counted together
        beyond = {kind: n for kind, n in types.items() if kind.isdigit() and not 0 < int(kind) < 128}
        stat = {row['type']: int(row['records']) for row in tables.stat}
        assert stat.pop('other', 0) == sum(beyond.values()), path
        assert stat == {kind: n for kind, n in types.items() if kind not in beyond}, (path, stat, types)
        periods = [int(row['info'].split(' ')[1]) for row in tables.overview if row['type'] == 'SAMPLE' and row['info']]
        if re.search(r'sample_type: [^,]*\bREAD\b', pace('evlist', '-v', '-i', path).out):
            # What a record has read are samples of several events: script has a line for each.
            periods = [int(line) for line in pace('script', '-F', 'period', '-i', path).out.split()]
            groups += 1
        for table in (tables.processes, tables.results):
            assert sum(int(row['samples']) for row in table) == len(periods), path
            assert sum(int(row['period']) for row in table) % 2**64 == sum(periods) % 2**64, path
        numbers = [int(row['nr']) for row in tables.overview if row['nr']]
        assert sorted(numbers) == list(range(len(tables.overview))), path
        if 'too late' not in result.err:
            times = [int(row['time']) for row in tables.overview if row['type'] == 'SAMPLE' and row['time']]
            assert times == sorted(times), path
        read += 1
    assert read > 60 and groups >= 3, (read, groups)


@test
def recordings_without_times_are_those_of_report():
    """Each CPU's ring stands behind the other's, so samples come before the process and the maps that they need."""
    perf_works()
    program = ['sh', '-c', 'gzip -c < /usr/bin/perf > /dev/null & xz -T1 -0 -c < /bin/bash > /dev/null; wait']
    for tool in 'perf', 'pace':
        made = run('perf', 'record', '-q', '--no-timestamp', '-e', 'cpu-clock', '-o', 'n.data', '--', *program) if tool == 'perf' else \
            pace('record', '-q', '--no-timestamp', '-e', 'cpu-clock', '-o', 'n.data', '--', *program)
        assert not made.status, made
        assert 'TIME' not in re.search(r'sample_type: ([^,]*)', pace('evlist', '-v', '-i', 'n.data').out).group(1)
        _, tables = readperf('n.data')
        rows = list(csv.DictReader(pace('report', '--csv', '-s', 'pid', '-i', 'n.data').out.splitlines()))
        # The name of a process is that of its last moment in the one, of each moment in the other.
        wanted = total([{'pid': re.match(r'\d+', row['pid']).group(), 'samples': row['samples']} for row in rows], 'pid', 'samples')
        assert total([row for row in tables.processes if int(row['samples'])], 'pid', 'samples') == wanted and len(wanted) > 2, (tool, tables.processes, rows)
        functions = list(csv.DictReader(pace('report', '--csv', '-s', 'sym,dso', '-i', 'n.data', '--no-unnamed-functions').out.splitlines()))
        assert sum(int(row['samples']) for row in tables.results) == sum(int(row['samples']) for row in functions), tool
        named = [sum(int(row['samples']) for row in some if '[unknown]' not in row.values()) for some in (tables.results, functions)]
        assert named[0] == named[1], (tool, named)
        # And those of script, for which perf has none of the names.
        lines = pace('script', '-F', 'ip,sym,dso', '-i', 'n.data').out.splitlines()
        assert len([line for line in lines if '([unknown])' not in line]) == named[1], (tool, named, lines[:9])


THREADS = """
import os, threading
child = os.fork()
def work():
    sum(i * i for i in range(1500000))
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
if not child: os._exit(0)
os.wait()
"""


@test
def a_pipe_is_read_while_it_is_written():
    """Rows are there before the recorder has ended; the tables are those of the same recording as a file."""
    can_record()
    perf_works()
    loop = 'import os\nwhile not os.path.exists("stop"): pass'
    recorder = subprocess.Popen(['perf', 'record', '-q', '-e', 'cpu-clock:u', '-F', '5000', '-o', '-', sys.executable, '-c', loop],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    with open('shown', 'w') as shown, open('said', 'w') as said, open('spooled.data', 'wb') as spooled:
        reader = subprocess.Popen([PACE, 'readperf', '-o', 'live', '-'], stdin=subprocess.PIPE, stdout=shown, stderr=said)
        end, seen = time.time() + PATIENCE, False
        while piece := os.read(recorder.stdout.fileno(), 65536):
            spooled.write(piece)
            reader.stdin.write(piece)
            reader.stdin.flush()
            if not seen and os.path.exists('live/overview.csv') and 'SAMPLE' in open('live/overview.csv').read():
                seen = recorder.poll() is None and not os.path.getsize('live/stat.csv')
            if seen or time.time() > end:
                open('stop', 'w').close()
        reader.stdin.close()
        assert recorder.wait(PATIENCE) == 0 and reader.wait(PATIENCE) == 0, open('said').read()
    assert seen, 'no sample was in the table before the end'
    result, tables = readperf('spooled.data')
    live = Tables('live')
    assert result.status == 0 and live.processes == tables.processes and live.results == tables.results, result
    assert live.stat == tables.stat and open('shown').read() == result.out
    assert live.overview == tables.overview


@test
def a_pipe_from_perf_is_read_too():
    perf_works()
    made = run('sh', '-c', f'perf record -q -e cpu-clock:u -o - python3 -c "sum(range(20000000))" | {PACE} readperf -o tables -')
    check_sane(made)
    if 'ermission' in made.err:
        skip('recording is not allowed here')
    tables = Tables('tables')
    assert made.status == 0 and sum(int(row['samples']) for row in tables.results) > 5, made


@test
def interrupting_the_recorder_leaves_whole_tables():
    """^C goes to both ends of a pipe; the second one is meant for the reader too."""
    can_record()
    perf_works()
    # who runs this may ignore ^C, and that would be inherited
    process = subprocess.Popen(['sh', '-c', f'perf record -q -e cpu-clock:u -o - python3 -c "while 1: pass" | {PACE} readperf -o live - > shown'],
                               start_new_session=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        end = time.time() + PATIENCE
        while not (os.path.exists('live/overview.csv') and 'SAMPLE' in open('live/overview.csv').read()):
            assert time.time() < end, 'no sample came'
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        process.wait(PATIENCE)
        end = time.time() + PATIENCE
        while time.time() < end and not os.path.getsize('live/stat.csv'):
            time.sleep(0.1)
        time.sleep(0.2)
        samples = sum(row['type'] == 'SAMPLE' for row in Tables('live').overview)
        assert Tables('live').stat and sum(int(row['samples']) for row in Tables('live').results) == samples
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


@test
def forks_threads_and_exits_of_a_real_program_are_in_the_tables():
    can_record()
    open('forks.py', 'w').write(THREADS)
    recorded = pace('record', '-e', 'cpu-clock:u', '-o', 'forks.data', sys.executable, 'forks.py')
    assert recorded.status == 0, recorded
    result, tables = readperf('forks.data')
    assert result.status == 0 and 'warning' not in result.err, result
    first, second = sorted(tables.processes, key=lambda row: int(row['pid']))
    assert second['fork_time'] and first['exit_time'] and second['exit_time'] and int(first['exit_time']) > int(second['exit_time'])
    assert first['name'] == second['name'] and min(int(first['samples']), int(second['samples'])) > 0
    assert int(first['samples']) + int(second['samples']) == samples_said(recorded)
    parents = {row['info'] for row in tables.overview if row['type'] == 'FORK' and row['pid'] == second['pid'] == row['tid']}
    assert parents == {first['pid']}, parents


@test
def a_fixed_place_and_a_movable_one_give_the_same_functions():
    """Addresses in programs that are linked to a fixed place are taken as they are, others count from their mapping."""
    can_record()
    needs('cc')
    open('busy.c', 'w').write('int busy(int n) { volatile int x = 0; while (n--) x += n; return x; } int main(void) { return busy(200000000) & 0; }')
    for flags in (['-no-pie', '-fno-pie'], ['-pie', '-fPIE']):
        assert run('cc', '-O0', '-g', *flags, '-o', 'busy', 'busy.c').status == 0
        assert pace('record', '-q', '-e', 'cpu-clock:u', '-o', 'busy.data', './busy').status == 0
        _, tables = readperf('busy.data')
        top = tables.results[0]
        assert top['function'] == 'busy' and top['binary'].endswith('/busy') and top['source'] == os.path.realpath('busy.c'), (flags, tables.results)


@test
def a_full_disk_is_an_error_that_names_the_file():
    path = os.path.join(TOP, 'tests/golden/data/wordcount.data')
    limited = run('sh', '-c', f'ulimit -f 1; exec {PACE} readperf -o tables {path} > /dev/null')
    check_sane(limited)
    assert limited.status == 1 and "writing 'tables/overview.csv': File too large" in limited.err, limited
    assert open('tables/overview.csv').read().startswith('nr,type,pid,tid,time,info\n0,FORK,')
    shown = run('sh', '-c', f'exec {PACE} readperf -o tables {path} > /dev/full')
    check_sane(shown)
    assert shown.status == 1 and 'No space left on device' in shown.err and Tables('tables').results, shown


@test
def tables_are_whole_though_nobody_reads_the_functions():
    """`| head` closes the pipe: that ends what is printed, not what is written into files."""
    path = os.path.join(TOP, 'tests/golden/data/wordcount.data')
    assert pace('readperf', path, '-o', 'read').status == 0
    for n_bytes in (0, 20):
        with subprocess.Popen([PACE, 'readperf', path, '-o', 'unread'], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.read(n_bytes)
            process.stdout.close()
            err = process.stderr.read()
            process.wait()
        assert process.returncode == 0 and not err, (process.returncode, err)
        for name in ('stat', 'overview', 'processes', 'results'):
            assert open(f'unread/{name}.csv').read() == open(f'read/{name}.csv').read() != '', name


@test
def files_are_new_and_private_and_links_are_not_followed():
    path = os.path.join(TOP, 'tests/golden/data/wordcount.data')
    os.mkdir('tables')
    open('victim', 'w').write('precious')
    os.symlink('../victim', 'tables/stat.csv')
    open('tables/results.csv', 'w').write('old')
    result, tables = readperf(path)
    assert result.status == 0 and open('victim').read() == 'precious', result
    assert not os.path.islink('tables/stat.csv') and tables.results[0]['function']
    assert {os.stat('tables/' + name).st_mode & 0o777 for name in os.listdir('tables')} == {0o600}


main()
