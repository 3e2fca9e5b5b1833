#!/usr/bin/env python3
"""perf's smaller commands: the same answers, and files that both tools can use."""
import json
import os
import re
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403
sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
import handmade  # noqa: E402


@test
def functions_of_the_kernel_are_where_perf_says():
    perf_works()
    needs_root()
    names = ['schedule', 'vfs_read', 'ksys_write', 'no_such_function']
    ours, theirs = pace('kallsyms', *names), run('perf', 'kallsyms', *names)
    assert ours.out == theirs.out and ours.status == theirs.status == 0 and 'not found' in ours.out, (ours, theirs)
    assert pace('kallsyms').status == 2



@test
def both_tools_read_what_either_writes_into_its_configuration():
    perf_works()
    env = dict(os.environ, PERF_CONFIG=os.path.abspath('config'))
    pairs = ['report.percent-limit=3', 'call-graph.record-mode=fp', 'report.sort_order=comm,dso', 'a-b.c=some words']
    for writer in (PACE, 'perf'):
        for pair in pairs:
            assert run(writer, 'config', pair, env=env).status == 0, (writer, pair)
        for words in ([], ['-l'], ['report.percent-limit'], ['a-b.c', 'not.there']):
            ours, theirs = (run(tool, 'config', *words, env=env) for tool in (PACE, 'perf'))
            assert ours.out == theirs.out and ours.status == theirs.status == 0, (words, ours, theirs)
        assert sorted(run(PACE, 'config', env=env).out.splitlines()) == sorted(pairs)
        os.remove('config')


@test
def settings_are_options_before_the_users_own():
    path = os.path.abspath('config')
    env = dict(os.environ, PERF_CONFIG=path)
    recorded = run(PACE, 'record', '-e', 'cpu-clock', '-o', 'x.data', 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done')
    assert recorded.status == 0, recorded

    def titles(*words):
        return re.search(r'^# Overhead.*', run(PACE, 'report', '-i', 'x.data', *words, env=env).out, re.M)[0]

    def write(text):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    write('[report]\nsort_order = dso\n')
    assert 'Symbol' not in titles() and 'Shared Object' in titles()
    assert 'Command' in titles('-s', 'comm') and 'Shared' not in titles('-s', 'comm')
    write('[pace "report"]\noptions = -s "pid,sym"\n')
    assert 'Pid' in titles() and 'Symbol' in titles() and 'Shared' not in titles()
    write('[call-graph]\nrecord-mode = fp\n[pace "record"]\noptions = -F 777\n')
    assert run(PACE, 'record', '-g', '-e', 'cpu-clock', '-o', 'y.data', 'true', env=env).status == 0
    attr = pace('evlist', '-v', '-i', 'y.data').out
    assert 'CALLCHAIN' in attr and '777' in attr and 'STACK_USER' not in attr, attr
    write('[call-graph]\nrecord-mode = dwarf\ndump-size = 16384\n')
    assert run(PACE, 'record', '-g', '--keep-stacks', '-e', 'cpu-clock', '-o', 'z.data', 'true', env=env).status == 0
    attr = pace('evlist', '-v', '-i', 'z.data').out
    assert 'STACK_USER' in attr and '16384' in attr, attr
    # What is wrong with a key stops the command that it concerns, and no other; config does not write it.
    write('[report]\nchildren = x\n')
    result = run(PACE, 'report', '-i', 'x.data', env=env)
    assert result.status == 1 and 'line 2: report.children is a switch' in result.err, result
    assert run(PACE, 'stat', '-e', 'task-clock', 'true', env=env).status == 0
    result = run(PACE, 'config', 'report.children=y', env=env)
    assert result.status == 2 and 'neither true nor false' in result.err, result
    assert run(PACE, 'config', 'report.children=false', env=env).status == 0
    assert run(PACE, 'report', '-i', 'x.data', env=env).status == 0



WORK = ['sh', '-c', 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done']


@test
def build_ids_are_injected_as_perf_does_it():
    perf_works()
    assert run('perf', 'record', '-q', '-B', '-e', 'cpu-clock', '-o', 'none.data', *WORK).status == 0
    assert run('perf', 'inject', '-b', '-i', 'none.data', '-o', 'theirs.data').status == 0
    assert pace('inject', '-b', '-i', 'none.data', '-o', 'ours.data').status == 0
    listed = {name: run('perf', 'buildid-list', '-i', f'{name}.data').out for name in ('none', 'ours', 'theirs')}
    # perf takes every file of a sample's chain or process for hit, the vdso among them: it may list more.
    ours, theirs = (set(listed[name].splitlines()) for name in ('ours', 'theirs'))
    assert ours and ours <= theirs | {line for line in ours if 'kernel' in line} and any('libc' in line for line in ours), (ours, theirs)
    assert pace('inject', '--buildid-all', '-i', 'none.data', '-o', 'all.data').status == 0
    assert theirs <= set(run('perf', 'buildid-list', '-i', 'all.data').out.splitlines()), theirs
    texts = {name: run('perf', 'script', '-i', f'{name}.data').out for name in ('none', 'ours', 'all')}
    assert len(set(texts.values())) == 1 and len(texts['none']) > 1000
    assert pace('inject', '-B', '-i', 'none.data', '-o', 'maps.data').status == 0
    maps = re.findall(r'PERF_RECORD_MMAP2 .*', run('perf', 'report', '-D', '-i', 'maps.data').out)
    assert maps and all(re.search(r'<[0-9a-f]{40}>', line) for line in maps), maps
    assert run('perf', 'script', '-i', 'maps.data').out == texts['none']


@test
def a_switch_gets_the_time_at_which_its_sleep_ended():
    """perf 6.1 dies of such a file; what it documents is that samples of the sleep take the place of the switch."""
    s = handmade.Scheduler('sleep.data', ('sched:sched_switch', 'sched:sched_stat_sleep'))
    s.switch(10**9, 0, 7, 1, 0)
    s.event('sched:sched_stat_sleep', 10**9 + 5000000, 0, 9, b'task7', 7, 0, 4000000)
    s.event('sched:sched_stat_sleep', 10**9 + 5500000, 0, 9, b'task8', 8, 0, 1000000)
    s.close()
    result = pace('inject', '-s', '-v', '-i', 'sleep.data', '-o', 'merged.data')
    assert result.status == 0 and '1 sleeps' in result.err, result
    lines = [line.split() for line in pace('script', '-i', 'merged.data', '-F', 'tid,time,event').out.splitlines()]
    assert lines == [['7', '1.005000:', 'sched:sched_switch:']], lines
    handmade.Scheduler('switches.data').close()
    result = pace('inject', '-s', '-i', 'switches.data', '-o', 'again.data')
    assert result.status == 2 and 'nothing to merge' in result.err and not os.path.exists('again.data'), result


@test
def build_ids_are_injected_into_a_pipe():
    perf_works()
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write(WORK[2])
    made = run('sh', '-c', 'perf record -q -e cpu-clock -o - sh work.sh > plain')
    assert made.status == 0, made
    for reader in (PACE, 'perf'):
        for source in ('plain', 'ours'):
            if source == 'ours':
                assert run('sh', '-c', f'{PACE} inject -b < plain > ours').status == 0
            result = run('sh', '-c', f'{reader} buildid-list -i - < {source}')
            has_id = bool(re.search(r'^[0-9a-f]{40} .*libc', result.out, re.M))
            assert has_id == (source == 'ours'), (reader, source, result)
        rows = [run('sh', '-c', f'{reader} report --stdio -i - < {source} | grep -v "^#"').out for source in ('plain', 'ours')]
        assert rows[0] == rows[1] and len(rows[0]) > 100, rows



def converted(tool, path, *words):
    to = 'converted.json'
    result = run(tool, 'data', 'convert', '--to-json', to, '-f', '-i', path, *words)
    assert result.status == 0 and f"'{path}' into JSON data '{to}'" in result.err, result
    with open(to, encoding='utf-8') as file:
        return json.load(file), result


@test
def recordings_become_the_same_json():
    perf_works()
    assert run('perf', 'record', '-q', '-g', '-e', 'cpu-clock', '-o', 'chains.data', *WORK).status == 0
    assert pace('record', '-q', '-e', 'cpu-clock', '-o', 'ours.data', *WORK).status == 0
    paths = ['chains.data', 'ours.data']
    if not os.geteuid() and run('perf', 'record', '-q', '-a', '-e', 'sched:sched_switch,cpu-clock', '-o', 'all.data', 'sleep', '0.1').status == 0:
        paths.append('all.data')
    for path in paths:
        ours, said = converted(PACE, path)
        theirs, _ = converted('perf', path)
        assert ours['headers'] == theirs['headers'] and list(ours) == list(theirs), path
        assert f"({len(ours['samples'])} samples)" in said.err and len(ours['samples']) == len(theirs['samples']) > 20, (path, said)
        n_same = 0
        for mine, other in zip(ours['samples'], theirs['samples']):
            assert [p['ip'] for p in mine['callchain']] == [p['ip'] for p in other['callchain']], (path, mine, other)
            # Of several names for an address either is right; a perf without libtraceevent has no fields.
            keys = ('timestamp', 'tid') + ('pid',) * (mine['tid'] != -1)
            assert all(mine[key] == other[key] for key in keys + ('cpu',) * ('cpu' in other)), (path, mine, other)
            n_same += mine['callchain'] == other['callchain'] and mine['comm'] == other['comm']
            if path == 'all.data' and 'next_pid' in other:
                assert {**mine, 'comm': 0, 'pid': 0, 'callchain': 0} == {**other, 'comm': 0, 'pid': 0, 'callchain': 0}, (mine, other)
        assert n_same > 0.8 * len(ours['samples']), (path, n_same)
    assert any('next_pid' in sample for sample in ours['samples']) or 'all.data' not in paths
    assert pace('data', 'convert', '--to-json', 'converted.json', '-i', 'ours.data').status == 2
    half, _ = converted(PACE, 'ours.data', '--time', '0%-50%')
    whole, _ = converted(PACE, 'ours.data')
    assert 0 < len(half['samples']) < len(whole['samples'])
    # Times of the day, which perf writes into CTF only, are those of its script.
    assert pace('record', '-q', '-k', 'CLOCK_MONOTONIC', '-e', 'cpu-clock', '-o', 'clock.data', *WORK).status == 0
    dated, _ = converted(PACE, 'clock.data', '--tod')
    theirs = run('perf', 'script', '-F', 'tod', '-i', 'clock.data', env=dict(os.environ, TZ='UTC')).out.split('\n')
    ours = [time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(sample['timestamp'] // 10**9)) + f".{sample['timestamp'] // 1000 % 10**6:06}"
            for sample in dated['samples']]
    assert ours == [line.strip() for line in theirs if line] and len(ours) > 20, (ours[:3], theirs[:3])
    refused = pace('data', 'convert', '--to-json', 'other.json', '--tod', '-i', 'ours.data')
    assert refused.status == 2 and '--tod: ' in refused.err and not os.path.exists('other.json'), refused



@test
def both_tools_use_one_cache_of_files_by_build_id():
    perf_works()
    env = dict(os.environ, HOME=os.getcwd())
    shutil.copy('/bin/sh', 'own')
    own = os.path.abspath('own')

    def ids(tool):
        return run(tool, 'buildid-cache', '-l', env=env).out

    def files():
        return sorted(os.path.join(where, name) for where, _, names in os.walk('.debug') for name in names)

    made = {}
    for tool in ('perf', PACE):
        assert run(tool, 'buildid-cache', '-a', '/bin/sh,/bin/true,/bin/ls', env=env).status == 0
        assert ids(PACE) == ids('perf') and ids(PACE).count('\n') == 3, (ids(PACE), ids('perf'))
        # Debug files, where they are installed, are perf's own addition.
        made[tool] = [name for name in files() if not name.endswith('/debug')]
        other = PACE if tool == 'perf' else 'perf'
        assert run(other, 'buildid-cache', '-r', '/bin/ls', env=env).status == 0
        assert '/bin/ls' not in ids(tool) and '/bin/ls' not in ids(other)
        assert run(tool, 'buildid-cache', '-P', env=env).status == 0
        assert ids(tool) == ids(other) == '' and files() == []
    assert made['perf'] == made[PACE] and len(made[PACE]) > 4, made
    # Another build of the same name: -r leaves it, -p does not.
    assert run(PACE, 'buildid-cache', '-a', own, env=env).status == 0
    old = ids(PACE)
    os.remove('own')
    shutil.copy('/bin/ls', 'own')
    assert run(PACE, 'buildid-cache', '-r', own, env=env).status == 0 and ids(PACE) == old != ''
    result = run(PACE, 'buildid-cache', '-u', own, '-l', env=env)
    assert result.out.count('own') == 1 and result.out != old and result.out == ids('perf'), result
    assert run(PACE, 'buildid-cache', '-p', own, env=env).status == 0 and ids('perf') == ''
    result = run(PACE, 'buildid-cache', '-a', '/etc/passwd,/nothing,/bin/ls', env=env)
    assert result.status == 1 and '/etc/passwd' in result.err and '/nothing' in result.err and 'ls' in ids(PACE), result
    assert run(PACE, '--buildid-dir', 'elsewhere', 'buildid-cache', '-a', '/bin/ls', env=env).status == 0
    assert 'ls' in run('perf', '--buildid-dir', os.path.abspath('elsewhere'), 'buildid-cache', '-l', env=env).out


@test
def a_program_that_was_replaced_is_found_in_the_cache():
    needs('gcc')
    env = dict(os.environ, HOME=os.getcwd())
    source = 'volatile long n; static void __attribute__((noinline)) %s(void) { for (long i = 0; i < 90000000; i++) n += i; } int main(void) { %s(); }'
    for name in ('first', 'second'):
        with open('x.c', 'w', encoding='utf-8') as file:
            file.write(source % (name, name))
        assert run('gcc', '-g0', '-O1', '-Wl,--build-id', '-o', name, 'x.c').status == 0
    shutil.copy('first', 'prog')
    assert run(PACE, 'record', '--no-embed', '-e', 'cpu-clock', '-o', 'x.data', './prog', env=env).status == 0
    assert run(PACE, 'buildid-cache', '-a', './prog', env=env).status == 0
    os.remove('prog')
    shutil.copy('second', 'prog')
    assert '[.] first' in run(PACE, 'report', '--stdio', '-i', 'x.data', env=env).out
    assert run(PACE, 'buildid-cache', '-P', env=env).status == 0
    assert '[.] first' not in run(PACE, 'report', '--stdio', '-i', 'x.data', env=env).out



@test
def archives_bring_files_to_another_machine():
    perf_works()
    needs('tar', 'bzip2', 'gcc')
    homes = {}
    for name in ('here', 'there', 'third'):
        os.makedirs(name)
        homes[name] = dict(os.environ, HOME=os.path.abspath(name))
    with open('x.c', 'w', encoding='utf-8') as file:
        file.write('volatile long n; int main(void) { for (long i = 0; i < 90000000; i++) n += i; }')
    assert run('gcc', '-g0', '-O1', '-Wl,--build-id', '-o', 'prog', 'x.c').status == 0
    assert run('perf', 'record', '-q', '-N', '-e', 'cpu-clock', '-o', 'x.data', './prog', env=homes['here']).status == 0
    result = run(PACE, 'archive', 'x.data', env=homes['here'])
    assert result.status == 0 and 'tar xvf x.data.tar.bz2 -C ~/.debug' in result.out, result
    os.remove('prog')
    os.makedirs('there/.debug')
    assert run('tar', 'xf', 'x.data.tar.bz2', '-C', 'there/.debug').status == 0
    for tool in (PACE, 'perf'):
        assert '[.] main' in run(tool, 'report', '--stdio', '-i', 'x.data', env=homes['there']).out, tool
        assert '[.] main' not in run(tool, 'report', '--stdio', '-i', 'x.data', env=homes['third']).out, tool
    # perf lists only what is also at its path.
    assert '/prog' in run(PACE, 'buildid-cache', '-l', env=homes['there']).out
    # The recording, too.
    assert run(PACE, 'archive', '--all', 'x.data', env=homes['there']).status == 0
    os.makedirs('new')
    result = run(PACE, 'archive', '--unpack', '../x.data.all.tar.bz2', env=homes['third'], cwd='new')
    assert result.status == 0 and os.listdir('new') == ['x.data'], (result, os.listdir('new'))
    assert '[.] main' in run(PACE, 'report', '--stdio', '-i', 'new/x.data', env=homes['third']).out
    assert run(PACE, 'archive', '--unpack', 'x.c', env=homes['third']).status == 1
    assert run('perf', 'record', '-q', '-B', '-e', 'cpu-clock', '-o', 'none.data', *WORK).status == 0
    result = run(PACE, 'archive', 'none.data', env=homes['here'])
    assert result.status == 1 and 'pace inject -b' in result.err and not os.path.exists('none.data.tar.bz2'), result


@test
def addresses_move_and_reports_stay_the_same():
    """inject --aslr, which perf 6.1 does not have: its reader finds the same functions at other addresses."""
    can_record()
    perf_works()
    recordings = {'perf': ['perf', 'record', '-q', '-g'], 'pace': [PACE, 'record', '-q', '-g'], 'copies': ['perf', 'record', '-q', '--call-graph', 'dwarf']}
    for name, words in recordings.items():
        assert run(*words, '-e', 'cpu-clock', '-o', 'before.data', 'sh', '-c', WORK[2].replace('50000', '400000')).status == 0
        moved = pace('inject', '--aslr', '-i', 'before.data', '-o', 'after.data')
        assert moved.status == 0 and ('copies of stacks' in moved.err) == (name == 'copies'), (name, moved)
        for tool in ('perf', PACE):
            before, after = (run(tool, 'report', '-i', f'{when}.data', '--stdio', '--no-children', '-g', 'none', '-s', 'comm,dso,sym').out
                             for when in ('before', 'after'))
            rows = [sorted(line for line in text.split('\n') if re.match(r' .*%', line) and '0x0' not in line) for text in (before, after)]
            assert rows[0] == rows[1] and len(rows[0]) > 1, (name, tool, before, after)
        maps = {}
        for when in ('before', 'after'):
            text = run('perf', 'script', '--show-mmap-events', '-i', f'{when}.data').out
            maps[when] = [(int(at, 16), int(n, 16)) for at, n in re.findall(r'PERF_RECORD_MMAP.*?: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\)', text)]
        assert [n for _, n in maps['before']] == [n for _, n in maps['after']] and not set(maps['before']) & set(maps['after']), maps
        assert maps['after'][0][0] == 0xffff800010000000 and min(at for at, _ in maps['after']) == 0x200000, maps
        # No address of before is left: of the program, its libraries, the kernel.
        addresses = {int(word, 16) for word in pace('script', '--frames', 'memory', '-F', 'ip', '--no-inline', '-i', 'after.data').out.split()}
        inside = [any(at <= address < at + n for at, n in maps['after']) for address in addresses]
        assert sum(inside) >= len(inside) - 2 and len(inside) > 5, (name, sorted(map(hex, addresses)))
    result = pace('inject', '--aslr', '--unwind-style', 'libdw', '-i', 'after.data', '-o', 'again.data')
    assert result.status == 0, result


main()
