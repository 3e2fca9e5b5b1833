#!/usr/bin/env python3
"""What perf's own shell tests call, on programs of which one knows what they do: `pace test -w`."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

# workload -> its numbers, functions that have nearly all samples together
HOT = {'noploop': (['0.2'], ['noploop']), 'thloop': (['0.2', '3'], ['test_loop']), 'named_threads': (['0.2'], ['test_loop']), 'leafloop': (['0.2'], ['leaf']),
       'inlineloop': (['0.2'], ['parent']), 'sqrtloop': (['0.2'], ['sqrtloop']), 'brstack': (['9000000'], ['brstack', 'brstack_bench', 'brstack_foo', 'brstack_bar']),
       'datasym': (['0.2'], ['datasym'])}


def in_perfs_place(*words, version='1', **kwargs):
    return run(PACE, *words, env=dict(os.environ, PACE_AS_PERF=version, **kwargs))


def record(name, *words, options=()):
    result = pace('record', '-q', '-e', 'cpu-clock:u', '-o', f'{name}.data', *options, '--', PACE, 'test', '-w', name, *words)
    assert result.status == 0, result
    return f'{name}.data'


@test
def workloads_have_the_profile_that_they_say():
    can_record()
    listed = pace('test', '--list-workloads').out.split()
    assert set(HOT) | {'context_switch_loop'} == set(listed), listed
    for name, (words, functions) in HOT.items():
        out = pace('report', '--stdio', '-g', 'none', '--no-children', '-s', 'sym', '-F', 'overhead,sym', '--no-inline', '-i', record(name, *words)).out
        share = sum(float(percent) for percent, symbol in re.findall(r'^\s*([\d.]+)%\s+\[\.\]\s+(\S+)$', out, re.M) if symbol in functions)
        assert share > 60, (name, out)
    out = pace('report', '--stdio', '-s', 'comm', '-g', 'none', '-i', 'named_threads.data').out
    assert re.search('thread1', out) and re.search('thread3', out), out


@test
def context_switches_are_many():
    needs_root()
    result = pace('stat', '--columns', 'perf', '-x,', '-e', 'context-switches', '--', PACE, 'test', '-w', 'context_switch_loop', '0.3')
    counted = re.search(r'^(\d+),,context-switches', result.err, re.M)
    assert result.status == 0 and int(counted[1]) > 200, result


@test
def wrong_words_are_refused_with_the_usage():
    for words, said in ((['-w', 'nothing'], "no workload 'nothing'"), (['-w', 'noploop', 'x'], 'takes [SECONDS]'), (['-w', 'thloop', '1', '9999'], '9999 threads'),
                        (['-w', 'noploop', '1', '2'], "unexpected argument '2'"), (['-w', 'brstack', '0'], 'takes [ROUNDS]'), (['nonsense'], "no test 'nonsense'")):
        result = pace('test', *words)
        assert result.status in (1, 2) and said in result.err, result


@test
def the_programs_own_symbols_are_found():
    result = in_perfs_place('test', '-vv', '-F', 'Symbols')
    for name in ('noploop', 'test_loop', 'leafloop', 'brstack_bench', 'workload_datasym_buf1'):
        assert re.search(rf'\s{name}$', result.out, re.M), name
    # A program without symbols says so.
    needs('strip')
    subprocess.run(['strip', '-o', 'bare', PACE], check=True)
    result = run(os.path.abspath('bare'), 'test')
    assert result.status == 1 and 'it was stripped' in result.err, result


@test
def inlined_frames_have_their_lines():
    can_record()
    out = pace('script', '-i', record('inlineloop', '0.2', options=['--call-graph', 'dwarf']), '-F', '+srcline').out
    assert re.search(r'leaf \(inlined\)\n  inlineloop\.c:2\d \(inlined\)\n', out), out[:2000]
    assert re.search(r'parent\+0x\w+ \(.*\)\n  inlineloop\.c:3\d\n', out), out[:2000]


@test
def files_that_ran_are_kept_in_the_cache_in_perfs_place():
    can_record()
    needs('cc', 'readelf')
    with open('spin.c', 'w', encoding='utf-8') as file:
        file.write('int main(void) { for (volatile int i = 0; i < 90000000; i++) ; return 0; }\n')
    subprocess.run(['cc', '-Wl,--build-id=sha1', '-o', 'spin', 'spin.c'], check=True)
    build_id = re.search(r'Build ID: (\w+)', subprocess.run(['readelf', '-n', 'spin'], capture_output=True, text=True, check=True).stdout)[1]
    link = f'kept/.build-id/{build_id[:2]}/{build_id[2:]}'
    words = ('record', '-q', '-e', 'cpu-clock:u', '-o', 's.data')
    for more in ([], ['-N']):
        result = in_perfs_place(*words, *(['-N'] if more else []), './spin', PERF_BUILDID_DIR=os.path.abspath('none'))
        assert result.status == 0 and os.path.isdir('none/.build-id') == (not more), (more, result)
        subprocess.run(['rm', '-rf', 'none'], check=True)
    assert run(PACE, *words, './spin', env=dict(os.environ, PERF_BUILDID_DIR=os.path.abspath('kept'))).status == 0
    assert not os.path.exists('kept')
    assert in_perfs_place(*words, './spin', PERF_BUILDID_DIR=os.path.abspath('kept')).status == 0
    assert os.path.islink(link) and open(f'{link}/elf', 'rb').read() == open('spin', 'rb').read()
    listed = run(PACE, 'buildid-cache', '-l', env=dict(os.environ, PERF_BUILDID_DIR=os.path.abspath('kept')))
    assert build_id in listed.out, listed


@test
def programs_that_start_on_another_cpu_are_known_with_a_list_of_cpus():
    needs_root()
    needs('taskset')
    if len(os.sched_getaffinity(0)) < 2:
        skip('one CPU')
    assert pace('record', '-q', '-BN', '-e', 'cpu-clock', '-o', 'c.data', '-C', '0', '--', 'taskset', '--cpu-list', '1', 'true').status == 0
    out = pace('script', '-i', 'c.data', '--show-mmap-events', '-C', '1').out
    assert re.search(r'^\s+true .*PERF_RECORD_MMAP2', out, re.M), out[:1000]
    # Samples are still those of CPU 0 alone.
    assert set(pace('script', '-i', 'c.data', '-F', 'cpu').out.split()) == {'[000]'}
    # perf knows who ran, too.
    perf_works()
    assert 'PERF_RECORD_MMAP2' in run('perf', 'script', '-f', '-i', 'c.data', '--show-mmap-events', '-C', '1').out


@test
def a_record_that_cannot_be_read_is_named_with_its_place():
    can_record()
    path = record('noploop', '0.1')
    raw = pace('report', '-D', '-i', path).out
    offset = int(re.search(r'(0x[0-9a-f]+) \[0x[0-9a-f]+\]: PERF_RECORD_MMAP2', raw)[1], 16)
    data = bytearray(open(path, 'rb').read())
    data[offset + 6:offset + 8] = b'\x10\0'
    with open('damaged.data', 'wb') as file:
        file.write(data)
    said = pace('report', '--stdio', '-i', 'damaged.data').err
    assert f'the first at offset {offset:#x}: MMAP2 (10)' in said, said


@test
def chains_are_copied_and_stacks_are_refused():
    can_record()
    path = record('leafloop', '0.2', options=['--call-graph', 'dwarf'])
    assert pace('inject', '--convert-callchain', '-i', path, '-o', 'i.data').status == 0
    reports = [pace('report', '--stdio', '--no-children', '-q', '-i', name).out for name in (path, 'i.data')]
    assert reports[0] == reports[1] and 'leaf' in reports[0]
    path = record('leafloop', '0.1', options=['--call-graph', 'dwarf', '--keep-stacks'])
    result = pace('inject', '--convert-callchain', '-i', path, '-o', 'j.data')
    assert result.status and 'copies of stacks' in result.err and not os.path.exists('j.data'), result


@test
def a_script_to_begin_with_goes_where_it_is_wanted():
    needs_root()
    assert pace('record', '-q', '-e', 'sched:sched_switch', '-c', '1', '-o', 't.data', '--', PACE, 'test', '-w', 'thloop', '0.1').status == 0
    with open('mine.py', 'w', encoding='utf-8'):
        pass
    assert pace('script', '-i', 't.data', '-g', 'mine.py').status == 0
    assert 'sched__sched_switch' in pace('script', '-i', 't.data', '-s', 'mine.py').out
    result = pace('script', '-i', 't.data', '-g', 'mine.py')
    assert result.status and 'File exists' in result.err, result


@test
def a_later_perf_can_be_stood_in_for():
    needs_root()
    for version, said, key in (('1', 'perf version 6.1.0 (', 'aggregate-number'), ('7.2', 'perf version 7.2.0 (', 'counters')):
        assert in_perfs_place('version', version=version).out.startswith(said)
        result = in_perfs_place('stat', '--per-node', '-a', '-j', '-e', 'cpu-clock', 'true', version=version)
        assert f'"{key}" : ' in result.err, result
    assert pace('record', '-q', '-e', 'cpu-clock', '-o', 'v.data', 'true').status == 0
    assert 'config: 0' in in_perfs_place('evlist', '-v', '-i', 'v.data', version='7.2').out
    assert 'config' not in in_perfs_place('evlist', '-v', '-i', 'v.data').out
    result = pace('stat', '--metric-only', '-M', 'page_faults_per_second', 'true')
    assert result.status == 0 and re.search(r'page_faults_per_second *\n +[\d.,]+', result.err), result


@test
def every_name_of_a_function_can_be_probed():
    """inet_pton is one of several names of its address."""
    libc = re.search(r'\S*/libc\.so\.6$', open('/proc/self/maps', encoding='utf-8').read(), re.M)
    if not libc:
        skip('another C library')
    for name in ('inet_pton', 'malloc'):
        result = pace('probe', '-x', libc[0], '-D', name)
        assert result.status == 0 and re.fullmatch(rf'p:probe_libc/{name} \S+:0x[0-9a-f]+\n', result.out), result
    assert re.search(r'^inet_pton$', pace('probe', '-x', libc[0], '-F').out, re.M)


main()
