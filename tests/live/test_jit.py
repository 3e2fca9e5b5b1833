#!/usr/bin/env python3
"""Programs that generate code while they run: its functions have names, the same as in perf."""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'oracle'))
from harness import *  # noqa: E402,F403
import perftext  # noqa: E402

PROGRAMS = os.path.join(TOP, 'tests/live/programs')
HOT_JS, HOT_PY, HOT_JAVA = (os.path.join(PROGRAMS, name) for name in ('hot.js', 'hot.py', 'Hot.java'))


def table(text):
    """(dso, symbol) -> samples; the names of DSOs without the numbers that only perf gives them."""
    blocks = perftext.parse(text)
    result = {}
    for row in blocks[0][1]:
        key = tuple(row.cells[2:4])
        result[key] = result.get(key, 0) + int(row.cells[1])
    return result


def report(path='perf.data'):
    result = pace('report', '-i', path, '-n', '-s', 'dso,symbol')
    assert result.status == 0, result
    return table(result.out)


def perf_report(path='perf.data'):
    result = run('perf', 'report', '--stdio', '-i', path, '-n', '-s', 'dso,symbol')
    assert result.status == 0, result
    return table(result.out)


def assert_same(rows, theirs):
    """In generated code; what else there is, is tests/oracle's."""
    rows, theirs = ({key: n for key, n in table.items() if key[0].startswith('[JIT]')} for table in (rows, theirs))
    differing = {key: (rows.get(key, 0), theirs.get(key, 0)) for key in {*rows, *theirs} if rows.get(key) != theirs.get(key)}
    assert not differing, differing


def record(*command):
    # What is read from maps and dumps is tested here; that it travels, in test_travel.py.
    result = pace('record', '--no-embed', '-e', 'cpu-clock', '-F', '999', *command)
    assert result.status == 0, result
    assert samples_said(result) > 300, result


def pid_of_map(rows):
    """Whose perf map was read: the file lies in /tmp, where others' tests are too."""
    pids = {int(found.group(1)) for dso, _ in rows if (found := re.match(r'\[JIT\] tid (\d+)', dso))}
    assert len(pids) == 1, rows
    return pids.pop()


def named_share(rows, dso):
    """Of the samples in generated code, how many have a function's name."""
    inside = {symbol: n for (where, symbol), n in rows.items() if where.startswith(dso)}
    assert inside, rows
    return sum(n for symbol, n in inside.items() if '0x0000' not in symbol) / sum(inside.values())


def share_of(rows, word):
    return sum(n for (_, symbol), n in rows.items() if re.search(word, symbol)) / sum(rows.values())


@test
def functions_of_node_have_the_names_of_its_perf_map():
    can_record()
    needs('node')
    record('node', '--perf-basic-prof', HOT_JS, '700')
    rows = report()
    perf_map = f'/tmp/perf-{pid_of_map(rows)}.map'
    try:
        assert named_share(rows, '[JIT]') >= 0.9, rows
        assert share_of(rows, 'hot') > 0.3, rows
        perf_works()
        assert_same(rows, perf_report())
        # How wide a column is depends on perf's version.
        mine, theirs = ([line.split() for line in result.out.splitlines() if 'perf-' in line]
                        for result in (pace('script'), run('perf', 'script')))
        assert mine and mine == theirs
    finally:
        os.unlink(perf_map)
    # Without the file the ledger says what would have given names.
    result = pace('report', '--ledger')
    assert f"the program left no '{perf_map}': node --perf-basic-prof" in result.out + result.err, result


def record_prof(path, *options):
    """Node writes its dump into the folder it runs in;."""
    result = pace('record', '--no-embed', '-o', path, '-e', 'cpu-clock', '-F', '999', *options, 'node', '--perf-prof', HOT_JS, '700')
    assert result.status == 0, result


@test
def functions_of_node_have_the_names_of_its_jitdump_as_after_perf_inject():
    can_record()
    needs('node')
    record_prof('perf.data', '-k', 'mono')
    result = pace('report', '-n', '-s', 'dso,symbol')
    assert result.status == 0, result
    rows = table(result.out)
    dump, = glob.glob('jit-*.dump')
    inside = sum(n for (dso, _), n in rows.items() if dso == dump)
    bare = sum(n for (dso, _), n in rows.items() if dso.startswith('[JIT]'))
    assert inside > 9 * bare and inside > 200, rows
    assert share_of(rows, OPTIMISED + '(?:hot)? ') > 0.3, rows
    perf_works()
    assert run('perf', 'inject', '-j', '-i', 'perf.data', '-o', 'injected.data').status == 0
    fields = ['-F', 'time,ip,sym,symoff,dso']
    mine = pace('script', *fields).out.splitlines()
    theirs = run('perf', 'script', '-i', 'injected.data', *fields).out.splitlines()
    # Code of the program's own file has its symbols here, whatever the dump says.
    pairs = [(a, b) for a, b in zip(mine, theirs) if dump in a]
    assert len(mine) == len(theirs) and len(pairs) > 200
    for a, b in pairs:
        assert a.rsplit(' (', 1)[0] == b.rsplit(' (', 1)[0], (a, b)


@test
def functions_of_node_have_the_same_names_after_pace_inject_as_after_perf_inject():
    can_record()
    needs('node')
    perf_works()
    record_prof('perf.data', '-k', 'mono')
    samples = {}
    # The one that comes last replaces the other's files: these are the same functions.
    for tool, path in (('perf', 'theirs.data'), (PACE, 'ours.data')):
        assert run(tool, 'inject', '-j', '-i', 'perf.data', '-o', path).status == 0
        samples[path] = run('perf', 'script', '-i', path, '-F', 'time,ip,sym,symoff,dso').out.splitlines()
    named = [line for line in samples['ours.data'] if '/jitted-' in line]
    assert samples['ours.data'] == samples['theirs.data'] and len(named) > 200, [
        (a, b) for a, b in zip(samples['ours.data'], samples['theirs.data']) if a != b][:5]
    assert run(PACE, 'script', '-i', 'ours.data', '-F', 'time,ip,sym,symoff,dso').out.count('/jitted-') >= len(named)


@test
def injected_code_has_the_name_of_its_moment_its_place_and_its_lines():
    """perf's gives the same file to all code with the same number: what was replaced has the name of what came later."""
    can_record()
    perf_works()
    program = build_c('tests/live/programs/jitting.c', 'jitting')
    result = pace('record', '-k', 'mono', '--no-embed', '-e', 'cpu-clock:u', '-F', '999', program)
    assert result.status == 0, result
    pid = re.search(r'jit-(\d+)\.dump', glob.glob('jit-*.dump')[0])[1]
    result = pace('inject', '-j', '-v', '-o', 'injected.data', '-i', 'perf.data')
    assert result.status == 0 and '3 functions in files, mapped 4 times' in result.err, result
    files = {f'jitted-{pid}-1-0.so': 'first', f'jitted-{pid}-1.so': 'second', f'jitted-{pid}-2.so': 'third'}
    assert sorted(glob.glob('jitted-*')) == sorted(files)
    for tool in (PACE, 'perf'):
        rows = table(run(tool, 'report', '--stdio', '-i', 'injected.data', '-n', '-s', 'dso,symbol').out) if tool == 'perf' else report('injected.data')
        jitted = {key[0]: (key[1].split()[-1], n) for key, n in rows.items() if key[0].startswith('jitted')}
        assert {dso: name for dso, (name, _) in jitted.items()} == files, rows
        # The third runs at two places.
        first, second, third = (jitted[dso][1] for dso in files)
        assert min(first, second) > 80 and abs(third - 2 * first) < 0.4 * third and abs(first - second) < 0.4 * first, rows
    # Moments come from maps in the order of time, each with its build-id.
    maps = [line for line in pace('script', '-i', 'injected.data', '--show-mmap-events').out.splitlines() if 'MMAP2' in line and 'jitted-' in line]
    assert [os.path.basename(line.split()[-1]) for line in maps] == [*files, f'jitted-{pid}-2.so'], maps
    lines = run('perf', 'report', '--stdio', '-i', 'injected.data', '-s', 'sym,srcline').out
    assert re.search(r'first +made\.inner:12', lines), lines
    if shutil.which('readelf'):
        decoded = run('readelf', '--debug-dump=decodedline', f'jitted-{pid}-1-0.so')
        assert re.findall(r'(\d+) +(0x10[0-9a-f])', decoded.out) == [('10', '0x100'), ('12', '0x109'), ('11', '0x10d')], decoded
        assert 'arning' not in run('readelf', '-a', '-W', f'jitted-{pid}-1-0.so').err
    # What the recording carries is as good as the dump; its files go beside the output.
    assert pace('record', '-k', 'mono', '-e', 'cpu-clock:u', '-F', '999', '-o', 'carried.data', program).status == 0
    for path in glob.glob('jit*-*.*'):
        os.unlink(path)
    os.mkdir('out')
    result = pace('inject', '-j', '-i', 'carried.data', '-o', 'out/injected.data')
    assert result.status == 0 and len(glob.glob('out/jitted-*')) == 3 and not glob.glob('jitted-*'), result
    assert re.search(r'jitted-\S+ +\[\.\] first', run('perf', 'report', '--stdio', '-i', 'out/injected.data', '-s', 'dso,sym').out)


@test
def dumps_that_cannot_be_injected_are_said():
    can_record()
    program = build_c('tests/live/programs/jitting.c', 'jitting')
    assert pace('record', '--no-embed', '-e', 'cpu-clock:u', '-F', '999', program).status == 0
    # Without the dump's clock the order is known, and no more.
    result = pace('inject', '-j', '-i', 'perf.data', '-o', 'late.data')
    assert result.status == 0 and "'pace record -k mono' tells them apart" in result.err, result
    dump, = glob.glob('jit-*.dump')
    with open(dump, 'r+b') as file:
        file.truncate(120)
    result = pace('inject', '-j', '-i', 'perf.data', '-o', 'cut.data')
    assert result.status == 0, result
    os.unlink(dump)
    result = pace('inject', '-j', '-i', 'perf.data', '-o', 'gone.data')
    assert result.status == 0 and dump in result.err and 'has no names' in result.err, result
    assert pace('script', '-i', 'gone.data').out.count('cpu-clock') > 100
    result = pace('inject', '-j', '-i', 'perf.data', '-o', 'nowhere/gone.data')
    assert result.status == 2 and "'nowhere'" in result.err, result


@test
def functions_of_a_recording_with_dumps_and_maps_have_the_best_of_each_process():
    can_record()
    needs('node')
    both = f'exec node --perf-prof --perf-basic-prof {HOT_JS} 300'
    apart = f'node --perf-prof {HOT_JS} 300 & node --perf-basic-prof {HOT_JS} 300; wait'
    for script, dsos in (both, [r'jit-\d+\.dump']), (apart, [r'jit-\d+\.dump', r'\[JIT\] tid \d+']):
        result = pace('record', '-q', '-e', 'cpu-clock:u', '-F', '999', '-k', 'mono', '--call-graph', 'dwarf', 'sh', '-c', script)
        assert result.status == 0, result
        for path in glob.glob('jit-*.dump'):
            pid = re.search(r'\d+', path).group()
            os.unlink(path)
            if os.path.exists(f'/tmp/perf-{pid}.map'):
                os.unlink(f'/tmp/perf-{pid}.map')
        rows = table(pace('report', '--no-children', '-g', 'none', '-n', '-s', 'dso,symbol').out)
        # Each stage of the compiler is a function of its own.
        hot = collections.Counter()
        for (dso, symbol), n in rows.items():
            hot[dso] += n if 'hot ' in symbol else 0
        hot = +hot
        # Each in its own dump or map, and every one of them has some.
        assert all(any(re.fullmatch(dso, name) for dso in dsos) for name in hot), (script, rows)
        assert all(sum(n for name, n in hot.items() if re.fullmatch(dso, name)) > 20 for dso in dsos), (script, rows)
        for (dso, _) in rows:
            if found := re.fullmatch(r'\[JIT\] tid (\d+)', dso):
                path = f'/tmp/perf-{found.group(1)}.map'
                if os.path.exists(path):
                    os.unlink(path)


@test
def a_jitdump_without_the_clock_has_the_later_names():
    can_record()
    needs('node')
    record_prof('perf.data')
    result = pace('report', '-n', '-s', 'dso,symbol')
    rows = table(result.out)
    assert share_of(rows, 'hot.js') > 0.3, rows
    # V8 may use an address twice in so short a time; then that is said.
    assert result.status == 0 or "'pace record -k mono' tells the functions apart" in result.err, result


@test
def clocks_are_recorded_and_said_in_the_header():
    can_record()
    begin = time.clock_gettime(time.CLOCK_BOOTTIME)
    result = pace('record', '-k', 'boot', '-e', 'cpu-clock', 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done')
    assert result.status == 0, result
    header = pace('report', '--header-only').out
    assert '# clockid: boottime (7)' in header and 'use_clockid = 1' in header and '# clockid frequency: ' in header, header
    last = pace('script', '-F', 'time').out.split()[-1]
    assert begin < float(last.rstrip(':')) < time.clock_gettime(time.CLOCK_BOOTTIME), (begin, last)
    perf_works()
    assert 'boottime (7)' in run('perf', 'report', '--header-only').out
    refused = pace('record', '-k', 'moon', 'true')
    assert refused.status != 0 and "'moon' is not a clock for events" in refused.err, refused


@test
def a_perf_map_that_somebody_planted_is_not_read():
    can_record()
    needs_root()
    needs('node')
    record('node', '--perf-basic-prof', HOT_JS, '700')
    perf_map = f'/tmp/perf-{pid_of_map(report())}.map'
    try:
        os.chown(perf_map, 65534, 65534)
        result = pace('report', '--ledger')
        assert f"'{perf_map}' is not read: it belongs to user 65534" in result.out + result.err, result
        assert 'hot.js' not in result.out
    finally:
        os.unlink(perf_map)


def wait_for_node(parent):
    """The pid of the child, once it has compiled what is hot."""
    end = time.time() + PATIENCE
    while time.time() < end and parent.poll() is None:
        time.sleep(0.1)
        inside = children(parent.pid)
        path = f'/proc/{inside[0]}/root/tmp/perf-1.map' if inside else ''
        if path and os.path.exists(path) and re.search(f' {OPTIMISED}hot ', open(path, errors='replace').read()):
            return inside[0]
    return skip('no process with its own /tmp can be started here')


@test
def the_perf_map_of_a_process_with_its_own_tmp_is_read_there_while_it_lives():
    can_record()
    needs_root()
    needs('node', 'unshare')
    inside = 'mount -t tmpfs none /tmp && cd /tmp && cat >hot.js && exec node --perf-basic-prof hot.js 200000'
    with open(HOT_JS, encoding='utf-8') as script:
        process = subprocess.Popen(['unshare', '-pmf', '--kill-child', '--mount-proc', 'sh', '-c', inside], stdin=script,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        pid = wait_for_node(process)
        result = pace('record', '-e', 'cpu-clock', '-F', '999', '-p', str(pid), 'sleep', '0.7')
        assert result.status == 0, result
        assert not os.path.exists(f'/tmp/perf-{pid}.map')
        assert share_of(report(), 'hot.js') > 0.5, report()
    finally:
        stop(process)


@test
def functions_of_a_node_that_runs_on_have_names_when_it_and_its_map_are_gone():
    """Attached to, with the names taken into the recording; the map has lines of before and of meanwhile."""
    can_record()
    needs('node')
    process = subprocess.Popen(['node', '--perf-basic-prof', HOT_JS, '600000'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    perf_map = f'/tmp/perf-{process.pid}.map'

    def has_compiled():
        with open(perf_map, encoding='utf-8') as f:
            return re.search(f'{OPTIMISED}hot ', f.read())
    try:
        wait_for(lambda: os.path.exists(perf_map) and has_compiled())
        result = pace('record', '-g', '-e', 'cpu-clock:u', '-F', '999', '-p', str(process.pid), 'sleep', '1')
        assert result.status == 0, result
    finally:
        process.kill()
        process.wait()
        if os.path.exists(perf_map):
            os.unlink(perf_map)
    result = pace('report', '-n', '-g', 'none', '--no-children', '-s', 'dso,symbol')
    rows = table(result.out)
    assert named_share(rows, '[JIT]') >= 0.9, rows
    assert share_of(rows, 'hot.js') > 0.5, rows


def python_with_perf():
    candidates = [sys.executable, shutil.which('python3.13'), shutil.which('python3.12'),
                  *glob.glob(os.path.join(os.environ.get('PYENV_ROOT', '/root/.pyenv'), 'versions/*/bin/python3'))]
    for python in filter(None, candidates):
        probe = run(python, '-X', 'perf', '-c', 'import os, sys; print(os.getpid(), sys.is_stack_trampoline_active())')
        if probe.status == 0:
            os.unlink(f'/tmp/perf-{probe.out.split()[0]}.map')
            return python
    return skip('no Python with a perf trampoline (3.12 and newer) is installed')


@test
def trampolines_of_python_have_the_names_of_its_functions():
    can_record()
    python = python_with_perf()
    result = pace('record', '-e', 'cpu-clock', '-F', '4000', python, '-X', 'perf', HOT_PY, '0.7')
    assert result.status == 0, result
    rows = report()
    perf_map = f'/tmp/perf-{pid_of_map(rows)}.map'
    try:
        assert any('py::tiny:' in symbol for _, symbol in rows), rows
        assert named_share(rows, '[JIT]') >= 0.9, rows
        perf_works()
        assert_same(rows, perf_report())
    finally:
        os.unlink(perf_map)


@test
def a_hot_interpreter_is_told_how_its_functions_get_names():
    can_record()
    hint = 'python3 -X perf gives names to the functions it runs'
    old = f', from Python 3.12 on: this is 3.{sys.version_info[1]}' if sys.version_info < (3, 12) else ''
    result = pace('record', '-e', 'cpu-clock:u', '-F', '4000', sys.executable, HOT_PY, '0.7')
    assert result.status == 0 and re.search(rf'show the interpreter in (lib)?python3[^:]*: {hint}{old}[;\n ]', result.err), result
    assert re.search(rf'samples \([\d.]+%\) in (lib)?python3\S* show an interpreter, not what it runs: {hint}{old}\n', pace('report').out)
    # What is hot in another program is not.
    assert hint not in pace('record', '-e', 'cpu-clock:u', 'sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done').err
    python = python_with_perf()
    result = pace('record', '-e', 'cpu-clock:u', '-F', '4000', python, '-X', 'perf', HOT_PY, '0.7')
    assert result.status == 0 and hint not in result.err + pace('report').out, result


@test
def methods_of_java_have_the_names_of_its_perf_map():
    can_record()
    needs('java', 'javac')
    assert run('javac', '-d', '.', HOT_JAVA).status == 0
    record('java', '-XX:+UseSerialGC', '-XX:+UnlockDiagnosticVMOptions', '-XX:+DumpPerfMapAtExit', '-cp', '.', 'Hot', '1000')
    rows = report()
    perf_map = f'/tmp/perf-{pid_of_map(rows)}.map'
    try:
        assert named_share(rows, '[JIT]') >= 0.9, rows
        assert share_of(rows, 'Hot::hot') + share_of(rows, 'Hot.hot') + share_of(rows, 'Hot::main') > 0.3, rows
        perf_works()
        assert_same(rows, perf_report())
    finally:
        os.unlink(perf_map)


@test
def code_of_java_without_names_says_what_java_has_to_be_told():
    can_record()
    needs('java', 'javac')
    assert run('javac', '-d', '.', HOT_JAVA).status == 0
    said = run(PACE, 'record', '--call-graph', 'dwarf', '-F', '1999', 'java', '-XX:+UseSerialGC', '-cp', '.', 'Hot', '1000')
    assert said.status == 0, said
    text = pace('report', '--ledger').out
    nameless = [line for line in text.splitlines() if 'have no function name' in line and '[JIT]' in line]
    assert len(nameless) == 1 and '-XX:+DumpPerfMapAtExit' in nameless[0] and 'node' not in nameless[0], text
    # There is no such file, and stack dumps do not help.
    ends = [line for line in text.splitlines() if 'end before their roots' in line and '[JIT]' in line]
    assert all('-XX:+PreserveFramePointer and record with -g' in line and '/tmp/' not in line for line in ends), text
    # record itself says so, too.
    assert '-XX:+DumpPerfMapAtExit' in said.err, said


def versions(path):
    """Of each sample in generated code that was replaced: when, and what it is called."""
    script = pace('script', '-i', path, '-F', 'time,ip,sym')
    assert script.status == 0, script
    return [(float(t), int(n)) for t, n in re.findall(r'^ *(\d+\.\d+): *\n\s+[0-9a-f]+ version_(\d)$', script.out, re.M)]


@test
def code_that_took_the_place_of_other_code_has_the_name_of_its_time():
    """A perf map has all names of an address; which one held when, the recorder has seen. It is in the recording."""
    can_record()
    build_c('tests/live/programs/reuse.c', 'reuse')
    for options in (), ('-k', 'mono'), ('--call-graph', 'dwarf'), ('--call-graph', 'dwarf', '--keep-stacks'):
        # Who waits long for a processor sees a line too late: on such a machine lines have to come less often.
        for pause_ms in 200, 1000, 5000:
            done = pace('record', '-q', '-e', 'cpu-clock:u', '-F', '999', '-g', *options, './reuse', '3', 'soon', str(pause_ms))
            assert done.status == 0, done
            os.unlink(done.out.strip())
            found = versions('perf.data')
            # While each ran, nothing else did; and before each the program slept.
            changes = [(b[0] - a[0], a[1], b[1]) for a, b in zip(found, found[1:]) if a[1] != b[1]]
            if [(a, b) for _, a, b in changes] == [(0, 1), (1, 2)]:
                break
        assert [(a, b) for _, a, b in changes] == [(0, 1), (1, 2)] and all(gap > 0.15 for gap, _, _ in changes), (options, changes, found[:3])
        rows = pace('report', '-g', 'none', '--no-children', '-F', 'overhead,dso,sym')
        names = {name: n for n, name in re.findall(r'(\d+)\.\d+%  \[JIT\] tid \d+ +\[\.\] (\w+)', rows.out)}
        assert set(names) == {'steady', 'version_0', 'version_1', 'version_2'} and all(int(n) > 3 for n in names.values()), (options, rows)
        stacks = pace('script', '-i', 'perf.data', '-F', 'ip,sym').out.split('\n\n')
        assert all('main' in stack for stack in stacks if 'version_' in stack), stacks[:3]


@test
def functions_whose_lines_came_late_have_names_if_nothing_else_was_there():
    """A JIT that collects lines writes them when their functions ran for long: the first of an address was there since ever."""
    can_record()
    build_c('tests/live/programs/reuse.c', 'reuse')
    done = pace('record', '-q', '-e', 'cpu-clock:u', '-F', '999', '-g', './reuse', '2', 'late')
    assert done.status == 0, done
    os.unlink(done.out.strip())
    found = [version for _, version in versions('perf.data')]
    changes = [(a, b) for a, b in zip(found, found[1:]) if a != b]
    assert changes == [(0, 1)], changes
    rows = pace('report', '-g', 'none', '--no-children', '-F', 'overhead,dso,sym')
    names = {name for name in re.findall(r'\[JIT\] tid \d+ +\[\.\] (\w+)', rows.out)}
    assert names == {'steady', 'version_0', 'version_1'}, rows


if __name__ == '__main__':
    main()
