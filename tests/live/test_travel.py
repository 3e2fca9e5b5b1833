#!/usr/bin/env python3
"""Recordings that travel: reports are the same where the binaries are and where they are missing."""
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

PROGRAMS = os.path.join(TOP, 'tests/live/programs')
VIEWS = [
    ['report'],
    ['report', '-s', 'srcline'],
    ['report', '--no-children', '-s', 'dso,sym,srcfile'],
    ['report', '-g', 'caller', '--inline', '--ledger'],
    ['script'],
    ['script', '-F', 'comm,tid,ip,sym,symoff,dso,srcline'],
    ['readperf'],
]
NOWHERE = ['--symfs', '/nonexistent']
SQL = ('create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where x<60000) '
       'insert into t select x, (x*7919)%100003 from c; create index i on t(b); select count(*),sum(a) from t where b<50000;')


def record(*args, **kwargs):
    """With all lines in it: on a busy machine there is not always time for them, which is said."""
    for _ in range(8):
        result = pace('record', '-e', 'cpu-clock', '-F', '2000', *args, **kwargs)
        assert result.status == 0, result
        assert samples_said(result) > 20, result
        if 'are not in the recording' not in result.err:
            return result
    return skip('this machine is too busy to look up lines within a second')


def view(words, path, *more):
    """All that is said of a recording; under one name, for that is said too."""
    os.replace(path, 'looked-at.data')
    result = pace(*words, '-i', 'looked-at.data', *more)
    os.replace('looked-at.data', path)
    # Of the whole machine: what is said of others is not compared.
    if '--comms' in words:
        assert is_well(result), result
        return result.out
    assert result.status == 0, result
    return result.out + result.err


def has_section(path):
    return 'EMBEDDED' in pace('data', 'lint', path).out


def assert_travels(plain, packed='packed.data'):
    """The names of this machine's files, and those in the recording, are the same in each view."""
    assert not has_section(plain)
    result = pace('data', 'pack', '-i', plain, '-o', packed)
    assert result.status == 0, result
    assert has_section(packed)
    n_names = 0
    for words in VIEWS:
        here, there = view(words, plain), view(words, packed, *NOWHERE)
        assert here == there, (words, first_difference(here, there))
        n_names += len(here)
    assert n_names > 2000
    # And they are no names that would be found there anyway.
    assert pace('report', '-i', plain).out != pace('report', '-i', plain, *NOWHERE).out


def first_difference(a, b):
    for one, other in zip(a.split('\n'), b.split('\n')):
        if one != other:
            return one, other
    return len(a), len(b)


def build_inlining(name='inlining'):
    source = os.path.join(PROGRAMS, 'inlining.cpp')
    done = run('g++', '-O2', '-g', '-fno-omit-frame-pointer', '-o', name, source)
    assert done.status == 0, done
    return os.path.abspath(name)


@test
def what_record_embeds_is_what_pack_embeds_and_strip_takes_out():
    needs('g++')
    program = build_inlining()
    record('-g', '-o', 'a.data', program)
    assert has_section('a.data')
    assert pace('data', 'strip', '-i', 'a.data', '-o', 'b.data').status == 0
    assert_travels('b.data', 'c.data')
    for words in VIEWS:
        assert view(words, 'a.data', *NOWHERE) == view(words, 'c.data', *NOWHERE)


@test
def the_code_of_a_program_that_is_gone_is_annotated():
    needs('g++')
    record('-o', 'a.data', build_inlining())
    words = ['annotate', '--max-functions', '1', '--all']
    # The lines of what was not sampled stay at home.
    here, gone = (re.findall(r'^ *[\d.]+ : +\w+: .*|^ +: \w+ <.*', view(words, 'a.data', *more), re.M) for more in ((), NOWHERE))
    assert len(here) > 20 and any('ret' in line for line in here), here
    assert here == gone, [pair for pair in zip(here, gone) if pair[0] != pair[1]][:5]


def build_flat(n):
    """A program with n functions of 4 KiB, all of them as hot, and one that is hotter."""
    if os.uname().machine != 'x86_64':
        skip('its functions are written for x86-64')
    with open('flat.c', 'w') as f:
        f.write('__attribute__((noinline)) unsigned long hot(unsigned long x)\n'
                '{ for (int i = 0; i < 2000000; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; } return x; }\n')
        f.writelines(f'void flat{i}(void);\n__asm__(".text\\n.type flat{i}, @function\\nflat{i}: .fill 4000, 1, 0x90\\nret\\n.size flat{i}, . - flat{i}");\n'
                     for i in range(n))
        f.write(f'void (*const all[])(void) = {{{", ".join(f"flat{i}" for i in range(n))}}};\n'
                'int main(void) { unsigned long x = 1; for (int k = 0; k < 60; k++) { x = hot(x);'
                f'for (int j = 0; j < 20; j++) for (int i = 0; i < {n}; i++) all[i](); }} return x == 1; }}\n')
    result = run('gcc', '-O1', '-o', 'flat', 'flat.c')
    assert result.status == 0, result


@test
def code_of_a_flat_profile_takes_less_room_than_its_records_or_1_mib():
    needs('gcc')
    build_flat(1200)
    record('-F', '10000', '-o', 'a.data', './flat')
    assert pace('data', 'pack', '-i', 'a.data', '-o', 'packed.data').status == 0
    few, all_of_it = (len(embedded_table(path, 'BYTES')) for path in ('a.data', 'packed.data'))
    assert few < (1 << 20) + (64 << 10), (few, all_of_it)
    if all_of_it < 2 << 20:
        skip('this machine takes too few samples a second to meet all functions')
    lines = r'^ *[\d.]+ : +\w+: .*'
    here, gone = (re.findall(lines, view(['annotate', 'hot'], 'a.data', *more), re.M) for more in ((), NOWHERE))
    assert len(here) > 10 and here == gone, (here, gone)
    missing = re.findall(r'\bflat\d+\b', run(PACE, 'report', '-i', 'a.data', '-s', 'sym').out)[-1]
    result = pace('annotate', '-i', 'a.data', *NOWHERE, missing)
    assert 'pack' in result.out + result.err, result
    assert re.search(lines, view(['annotate', missing], 'packed.data', *NOWHERE), re.M)


@test
def a_program_that_is_gone_has_its_functions_lines_and_inlined_functions():
    needs('g++')
    program = build_inlining()
    record('-g', '-o', 'a.data', program)
    before = [view(words, 'a.data') for words in VIEWS]
    os.remove(program)
    after = [view(words, 'a.data') for words in VIEWS]
    assert before == after, first_difference(''.join(before), ''.join(after))
    assert 'mix (inlined)' in after[4], after[4][:2000]
    assert 'inlining.cpp:' in after[1], after[1][:2000]


@test
def another_build_of_the_program_is_not_taken_for_the_recorded_one():
    needs('g++')
    program = build_inlining()
    record('-g', '-o', 'a.data', program)
    before = view(['report', '-s', 'srcline'], 'a.data')
    assert run('g++', '-O0', '-g', '-x', 'c++', '-o', program, os.path.join(PROGRAMS, 'inlining.cpp')).status == 0
    assert view(['report', '-s', 'srcline'], 'a.data') == before


@test
def sqlite_travels():
    needs('sqlite3')
    record('--no-embed', '-g', '-o', 'a.data', 'sqlite3', ':memory:', SQL)
    assert_travels('a.data')


@test
def names_of_perf_maps_travel():
    needs('node')
    result = record('--no-embed', '-g', '-o', 'a.data', 'node', '--perf-basic-prof', os.path.join(PROGRAMS, 'hot.js'), '300')
    assert result.status == 0
    assert_travels('a.data')
    maps = {pid for pid in re.findall(r'/tmp/perf-(\d+)\.map', view(['script'], 'a.data'))}
    assert len(maps) == 1, maps
    before = view(['report'], 'packed.data')
    assert re.search(r'\[JIT\] tid \d+ +\[\.\] .*hot', before), before[:3000]
    os.remove(f'/tmp/perf-{maps.pop()}.map')
    assert view(['report'], 'packed.data') == before


@test
def jitdumps_travel():
    needs('node')
    record('-k', 'mono', '--no-embed', '-g', '-o', 'a.data', 'node', '--perf-prof', os.path.join(PROGRAMS, 'hot.js'), '300')
    assert_travels('a.data')
    dumps = [name for name in os.listdir('.') if name.startswith('jit-')]
    assert dumps
    before = view(['report'], 'packed.data')
    assert 'hot' in before
    for name in dumps:
        os.remove(name)
    assert view(['report'], 'packed.data') == before


@test
def the_kernels_functions_travel():
    needs_root()
    # Others may run a dd of their own, in a container that is gone by the time it is looked at: its files have no names then.
    shutil.copy(shutil.which('dd'), 'traveller')
    record('--no-embed', '-a', '-g', '-o', 'a.data', './traveller', 'if=/dev/zero', 'of=/dev/null', 'bs=4k', 'count=200000')
    if '[kernel.kallsyms]' not in view(['report', '--comms', 'traveller'], 'a.data'):
        skip('the kernel is not sampled here')
    result = pace('data', 'pack', '-i', 'a.data', '-o', 'b.data')
    assert is_well(result), result
    # kallsyms of this kernel would be found with --symfs too: in a folder that is all there is, it is not.
    # What else ran may have other files by now than when it was packed, or here than there: also what is said about all samples.
    for words in (['report', '-s', 'dso,sym', '--comms', 'traveller'], ['script', '--comms', 'traveller']):
        here, there = (re.sub('(?m)^#.*\n', '', text) for text in (view(words, 'a.data'), in_empty_root(words, 'b.data')))
        assert '[kernel.kallsyms]' in here and here == there, first_difference(here, there)


def in_empty_root(words, path):
    """What is said by a pace that sees nothing but itself, its libraries and the recording."""
    needs('chroot', 'ldd')
    root = os.path.abspath('root')
    os.makedirs(root, exist_ok=True)
    needed = re.findall(r'(/\S+) \(0x', run('ldd', PACE).out)
    for library in needed:
        os.makedirs(root + os.path.dirname(library), exist_ok=True)
        if not os.path.exists(root + library):
            run('cp', '-L', library, root + library)
    run('cp', PACE, root + '/pace')
    run('cp', path, root + '/looked-at.data')
    env = {'ASAN_OPTIONS': 'detect_leaks=0:abort_on_error=1', 'PATH': '/', 'HOME': '/'}
    # The sanitizers read their options there, and nowhere else.
    os.makedirs(root + '/proc/self', exist_ok=True)
    with open(root + '/proc/self/environ', 'w', encoding='utf-8') as file:
        file.write(''.join(f'{name}={value}\0' for name, value in env.items()))
    result = run(shutil.which('chroot'), root, '/pace', *words, '-i', 'looked-at.data', env=env)
    check_sane(result)
    if '--comms' in words:
        assert is_well(result), result
        return result.out
    assert result.status == 0, result
    return result.out + re.sub(r'==\d+==WARNING: reading executable name failed.*\n', '', result.err)


@test
def stacks_are_unwound_where_no_file_is():
    needs('g++')
    program = build_inlining()
    keeps = ['--keep-stacks'] if '--keep-stacks' in pace('record', '-h').out else []
    record('--no-embed', '--call-graph', 'dwarf', *keeps, '-o', 'a.data', program)
    assert_travels('a.data')
    assert 'truncated: file missing' in view(['report'], 'a.data', '--symfs', '/nonexistent')


@test
def perf_reads_recordings_with_the_section_without_a_word():
    needs('g++')
    perf_works()
    record('-g', '-o', 'a.data', build_inlining())
    assert pace('data', 'strip', '-i', 'a.data', '-o', 'b.data').status == 0
    for words in (['script'], ['report', '--stdio', '--no-inline', '-g', 'none'], ['buildid-list'], ['report', '--header-only', '--stdio']):
        with_it = run('perf', *words, '-i', 'a.data')
        os.rename('a.data', 'c.data')
        os.rename('b.data', 'a.data')
        without = run('perf', *words, '-i', 'a.data')
        os.rename('a.data', 'b.data')
        os.rename('c.data', 'a.data')
        assert with_it.status == without.status == 0, with_it
        # Of what the file says of itself, only its size and times differ.
        differs = re.compile(r'^# (captured on|data size|feat offset|missing features|\(Tip:|  *\d).*', re.M)
        # perf puts rows of equal weight into any order.
        assert sorted(differs.sub('', with_it.out).split('\n')) == sorted(differs.sub('', without.out).split('\n')), words
        assert with_it.err == without.err, (with_it.err, without.err)


@test
def pack_takes_recordings_by_perf_and_keeps_what_they_say():
    needs('g++')
    perf_works()
    program = build_inlining()
    assert run('perf', 'record', '-e', 'cpu-clock', '-N', '-g', '-o', 'a.data', program).status == 0
    assert_travels('a.data')
    script = run('perf', 'script', '-i', 'a.data').out
    assert script and run('perf', 'script', '-i', 'packed.data').out == script
    assert pace('data', 'strip', '-i', 'packed.data', '-o', 'again.data').status == 0
    assert not has_section('again.data')
    assert run('perf', 'script', '-i', 'again.data').out == script
    said = [re.sub('# (data size|feat offset|captured on).*', '', run('perf', 'report', '--header-only', '-I', '-i', path).out)
            for path in ('a.data', 'again.data')]
    assert said[0] == said[1] and 'cmdline' in said[0], said


@test
def pack_keeps_what_was_embedded_of_files_that_are_gone():
    needs('g++')
    program = build_inlining()
    record('-g', '-o', 'a.data', program)
    before = view(['report', '-s', 'srcline'], 'a.data')
    os.remove(program)
    assert pace('data', 'pack', '-i', 'a.data', '--in-place').status == 0
    assert view(['report', '-s', 'srcline'], 'a.data', '--symfs', '/nonexistent') == before
    assert os.stat('a.data').st_mode & 0o777 == 0o600


@test
def pack_says_where_to_and_why_not():
    for words, reason in ((['pack', '-i', 'none.data', '-o', 'b.data'], 'none.data'),
                          (['pack', '-i', 'none.data'], '--in-place'),
                          (['strip', '-i', 'none.data', '-o', '/dev/full'], '/dev/full'),
                          (['pack', '-i', 'none.data', '-o', 'b.data', '--pid', '1'], 'no use for --pid'),
                          (['lint', '-i', 'none.data', '--in-place'], 'no use for --in-place'),
                          (['merge', 'none.data', 'b.data'], '-o names'),
                          (['merge', '-i', 'none.data', 'b.data', '-o', 'c.data'], 'no use for -i')):
        result = pace('data', *words)
        assert result.status == 2 and reason in result.err, result
    record('--no-embed', '-o', 'a.data', 'sh', '-c', 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done')
    os.mkfifo('fifo')
    result = pace('data', 'pack', '-i', 'a.data', '-o', 'fifo')
    assert result.status == 2 and 'not a regular file' in result.err, result
    with open('a.data', 'r+b') as f:
        f.truncate(os.path.getsize('a.data') // 2)
    result = pace('data', 'pack', '-i', 'a.data', '-o', 'b.data')
    assert result.status == 1 and 'not whole' in result.err, result
    assert [name for name in sorted(os.listdir('.')) if name[0] != '.'] == ['a.data', 'fifo'], os.listdir('.')


@test
def damaged_sections_are_said_and_files_take_their_place():
    needs('g++')
    record('-g', '-o', 'a.data', build_inlining())
    plain = view(['report'], 'a.data')
    data = bytearray(open('a.data', 'rb').read())
    at = data.index(b'PACE EMB')
    for offset, value in ((at, 0), (at + 8, 7), (at + 16, 0xff), (at + 40, data[at + 40] ^ 0xff)):
        broken = bytearray(data)
        broken[offset] = value
        open('b.data', 'wb').write(broken)
        result = pace('report', '-i', 'b.data')
        assert 'section EMBEDDED' in result.err and 'files of this machine' in result.err, result
        assert result.out == plain


# ---- other recordings out of recordings ----

def samples(path, *options):
    """perf's lines, sample by sample."""
    result = run('perf', 'script', '-i', path, *options)
    assert result.status == 0, result
    return [text for text in result.out.split('\n\n' if '\n\n' in result.out else '\n') if text.strip()]


def data(*words):
    result = pace('data', *words)
    assert result.status == 0, result
    return result


def record_two():
    """Two commands, one after the other; the second one forks."""
    record('--call-graph', 'fp', '-o', 'a.data', build_inlining())
    record('--call-graph', 'fp', '-o', 'b.data', 'sh', '-c', 'i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; ./inlining >/dev/null')


@test
def cut_keeps_the_samples_that_fall_in_and_all_that_names_them():
    needs('g++')
    perf_works()
    record_two()
    for recording, options in (('a.data', ['--time', '20%-40%']), ('b.data', ['-c', 'sh']), ('b.data', ['--comm', 'inlining,none'])):
        data('cut', '-i', recording, *options, '-o', 'cut.data')
        words = ['--time', '20%-40%'] if '--time' in options else ['--comm', options[1].split(',')[0]]
        theirs = samples(recording, *words)
        assert theirs and samples('cut.data') == theirs, options
        assert len(theirs) < len(samples(recording))
        here = pace('script', '-i', recording, *words).out
        assert here and pace('script', '-i', 'cut.data', *NOWHERE).out == here
        assert 'This file is whole.' in pace('data', 'lint', 'cut.data').out
    pid = re.search(r'^\S+ +(\d+)', samples('b.data')[0]).group(1)
    data('cut', '-i', 'b.data', '--pid', pid, '--time', '50%-100%', '-o', 'cut.data')
    whole, late = samples('b.data', '--pid', pid), set(samples('b.data', '--time', '50%-100%'))
    assert [text for text in whole if text in late] == samples('cut.data')
    data('cut', '-i', 'b.data', '--pid', '1', '-o', 'none.data')
    assert samples('none.data') == []
    result = pace('data', 'cut', '-i', 'b.data', '--time', 'soon', '-o', 'c.data')
    assert result.status == 2 and 'soon' in result.err, result


@test
def cut_makes_files_of_streams_and_of_what_is_packed_or_broken():
    perf_works()
    with open('busy.sh', 'w') as f:
        f.write('i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done')
    record('-z', '-o', 'packed.data', 'sh', 'busy.sh')
    result = run('sh', '-c', f'"{PACE}" record -e cpu-clock -F 2000 -o - sh busy.sh >stream.data')
    assert result.status == 0, result
    for path in ('packed.data', 'stream.data'):
        data('cut', '-i', path, '-o', 'file.data')
        assert samples('file.data') == samples(path) != [], path
    data('strip', '-i', 'file.data', '-o', 'plain.data')
    plain = open('plain.data', 'rb').read()
    start, size = struct.unpack_from('<QQ', plain, 40)
    open('broken.data', 'wb').write(plain[:start + size * 2 // 3])
    data('cut', '-i', 'broken.data', '-o', 'saved.data')
    # Sections that are gone are not empty ones.
    assert 'This file is whole.' in (lint := pace('data', 'lint', 'saved.data').out) and 'HOSTNAME' not in lint, lint
    assert int(re.search(r'table of sections +0x[0-9a-f]+ +(\d+)', lint).group(1)) == 16, lint
    # What a thread was called, what was mapped then may stand in the part that is gone.
    whole, saved = (samples(path, '-F', 'tid,time,event,ip') for path in ('file.data', 'saved.data'))
    assert 0 < len(saved) < len(whole) and not set(saved) - set(whole), sorted(set(saved) - set(whole))[:5]


@test
def merged_recordings_have_the_samples_of_both_with_their_names():
    needs('g++')
    perf_works()
    record_two()
    data('merge', 'a.data', 'b.data', '-o', 'both.data')
    assert samples('both.data') == samples('a.data') + samples('b.data')
    apart = pace('script', '-i', 'a.data').out + pace('script', '-i', 'b.data').out
    assert pace('script', '-i', 'both.data', *NOWHERE).out == apart
    data('merge', 'b.data', 'a.data', '-o', 'other.data')
    assert samples('other.data') == samples('both.data')
    # Taken apart again, each is what it was.
    data('cut', '-i', 'both.data', '-c', 'sh', '-o', 'sh.data')
    assert samples('sh.data') == samples('b.data', '--comm', 'sh')


@test
def merged_recordings_of_other_events_tell_them_apart():
    perf_works()
    busy = ['sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done']
    for name, events in (('a.data', 'cpu-clock,page-faults'), ('b.data', 'page-faults,task-clock')):
        assert pace('record', '-e', events, '-F', '2000', '-o', name, *busy).status == 0
    data('merge', 'a.data', 'b.data', '-o', 'both.data')
    # perf makes columns as wide as the longest name of an event.
    narrow = {path: [re.sub(' +', ' ', text) for text in samples(path)] for path in ('a.data', 'b.data', 'both.data')}
    assert narrow['both.data'] == narrow['a.data'] + narrow['b.data']
    counts = {}
    for path in ('a.data', 'b.data', 'both.data'):
        for event in re.findall(r'^\S+ +\d+ +\S+ +\d+ (\S+):', pace('script', '-i', path).out, re.M):
            counts[path, event] = counts.get((path, event), 0) + 1
    for event in {event for _, event in counts}:
        assert counts['both.data', event] == counts.get(('a.data', event), 0) + counts.get(('b.data', event), 0), counts


@test
def merged_recordings_of_single_events_that_were_asked_for_otherwise_tell_them_apart():
    """The only event of a recording has no id in its samples: of several it needs one."""
    perf_works()
    busy = ['sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done']
    for name, options in (('a.data', ['-g']), ('b.data', ['--call-graph', 'dwarf', '--keep-stacks']), ('c.data', ['-F', '500']), ('d.data', [])):
        assert pace('record', '-e', 'cpu-clock', *options, '-o', name, *busy).status == 0
    assert run('perf', 'record', '-q', '-e', 'page-faults', '-c', '1', '-o', 'e.data', *busy).status == 0
    names = ('a.data', 'b.data', 'c.data', 'd.data', 'e.data')
    data('merge', *names, '-o', 'all.data')
    narrow = {path: [re.sub(' +', ' ', text) for text in samples(path, '-F', 'comm,pid,time,event,ip,sym')] for path in (*names, 'all.data')}
    assert all(narrow.values())
    # perf leaves blank lines between samples only where there are callers.
    assert '\n'.join(narrow['all.data']).split() == ' '.join('\n'.join(narrow[path]) for path in names).split()
    said = pace('report', '--stats', '-i', 'all.data').out
    for path in names:
        n = pace('report', '--stats', '-i', path).out.split('SAMPLE events:')[1].split()[0]
        assert re.search(rf'SAMPLE events: +{n}\b', said), (path, said)
    assert 'This file is whole.' in pace('data', 'lint', 'all.data').out
    # Whether a command was started or a process was there makes no other event.
    pid = subprocess.Popen(busy).pid
    assert pace('record', '-e', 'cpu-clock', '-o', 'f.data', '-p', str(pid)).status == 0
    assert '1 event' in data('merge', 'd.data', 'f.data', '-o', 'two.data').err


@test
def recordings_that_do_not_belong_together_are_not_merged():
    busy = ['sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done']
    record('-o', 'a.data', *busy)
    record('-k', 'mono', '-o', 'b.data', *busy)
    raw = open('a.data', 'rb').read()
    host = os.uname().nodename.encode()
    open('c.data', 'wb').write(raw.replace(host + b'\0', b'x' * len(host) + b'\0'))
    for other, reason in (('b.data', 'clocks differ'), ('c.data', 'different machines'), ('none.data', 'none.data')):
        result = pace('data', 'merge', 'a.data', other, '-o', 'both.data')
        assert result.status == 2 and reason in result.err, result
        assert not os.path.exists('both.data')
    result = pace('data', 'merge', 'a.data', '-o', 'both.data')
    assert result.status == 2 and '2 to' in result.err, result
    result = pace('data', 'merge', 'a.data', 'a.data', '--in-place')
    assert result.status == 2, result


def embedded_table(path, name):
    """A table of the section, as bytes: see doc/embedded.md."""
    plain = embedded_bytes(path)
    wanted = ['', 'STRINGS', 'BYTES'].index(name)
    for i in range(struct.unpack_from('<I', plain)[0]):
        number, each, at, n = struct.unpack_from('<IIQQ', plain, 8 + i * 24)
        if number == wanted:
            return plain[at:at + each * n]
    return b''


def embedded_bytes(path):
    """What the section EMBEDDED holds, unpacked."""
    raw = open(path, 'rb').read()
    at = raw.rindex(b'PACE EMB')
    needs('zstd')
    return subprocess.run(['zstd', '-dcq'], input=raw[at + 24:], stdout=subprocess.PIPE, check=False).stdout


@test
def anonymised_recordings_have_the_same_shape_and_none_of_the_names():
    needs('g++')
    perf_works()
    os.makedirs('secret-folder')
    os.rename(build_inlining(), 'secret-folder/secret-program')
    assert pace('record', '-e', 'cpu-clock', '-F', '2000', '--call-graph', 'fp', '-o', 'a.data', 'secret-folder/secret-program').status == 0
    data('anonymise', '-i', 'a.data', '-o', 'b.data')
    shape = re.compile(r'^ *(\d+\.\d+%) +(\d+\.\d+%)? +(\d+)', re.M)
    before, after = (shape.findall(pace('report', '-n', '-s', 'comm,dso,sym', '-g', 'none', '-i', path, *NOWHERE).out)
                     for path in ('a.data', 'b.data'))
    assert before and before == after
    assert len(samples('a.data')) == len(samples('b.data'))
    # No name is left, in whatever is packed either.
    told = ''.join(view(words, 'b.data') for words in VIEWS) + pace('report', '-i', 'b.data', '--header-only').out
    told += run('perf', 'script', '-i', 'b.data').out + open('b.data', 'rb').read().decode('latin1')
    told += embedded_bytes('b.data').decode('latin1')
    names = ['secret', 'inlining', 'Circle', 'churn', 'libc.so', 'printf', '/work', os.getcwd(), 'a.data', *os.uname().nodename.split()[:1]]
    assert [name for name in names if len(name) > 3 and name in told] == []
    assert 'function-' in told and 'comm-1' in told
    # Of the build-ids that are not the kernel's none is left.
    ids = [line.split() for line in pace('buildid-list', '-i', 'a.data').out.splitlines()]
    hidden = [raw for raw, path in ids if path.startswith('/')]
    everything = open('b.data', 'rb').read() + embedded_bytes('b.data')
    assert hidden and not [raw for raw in hidden if bytes.fromhex(raw) in everything]


@test
def nothing_that_nobody_knows_is_in_an_anonymised_recording():
    """Records and sections of later versions or of other programs may hold anything."""
    record('-o', 'a.data', 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done')
    data('strip', '-i', 'a.data', '-o', 'plain.data')
    raw = bytearray(open('plain.data', 'rb').read())
    start, size = struct.unpack_from('<QQ', raw, 40)
    # A record that no reader knows, in the place of the first SAMPLE that is large enough.
    at = start
    while struct.unpack_from('<I', raw, at)[0] != 9:
        at += struct.unpack_from('<H', raw, at + 6)[0]
    struct.pack_into('<I', raw, at, 4242)
    raw[at + 8:at + 24] = b'secret-record-xx'
    # A section of a number that nobody has, where HOSTNAME was.
    bits, = struct.unpack_from('<Q', raw, 72)
    assert bits >> 3 & 1 and not bits >> 62 & 1
    before = bin(bits & 7).count('1')
    table = start + size
    sections = [struct.unpack_from('<QQ', raw, table + 16 * i) for i in range(bin(bits).count('1'))]
    name = sections.pop(before)
    raw[name[0]:name[0] + 14] = b'secret-section'
    sections.append(name)
    for i, section in enumerate(sections):
        struct.pack_into('<QQ', raw, table + 16 * i, *section)
    struct.pack_into('<Q', raw, 72, bits & ~8 | 1 << 62)
    open('c.data', 'wb').write(raw)
    n = len(pace('script', '-i', 'c.data').out.splitlines())
    data('anonymise', '-i', 'c.data', '-o', 'b.data')
    assert b'secret' not in open('b.data', 'rb').read()
    assert n and n == len(pace('script', '-i', 'b.data').out.splitlines())


@test
def unpacked_files_are_taken_for_the_real_ones_by_others():
    needs('g++', 'nm', 'objdump')
    perf_works()
    program = build_inlining()
    record('-g', '-o', 'a.data', program)
    area = re.search(r'^(\w+) T (_ZN6Circle4areaEj)$', run('nm', program).out.replace(' W ', ' T '), re.M)
    words = ['objdump', '-d', '--no-show-raw-insn', f'--start-address=0x{area.group(1)}', f'--stop-address={int(area.group(1), 16) + 48}']
    real = run(*words, program).out.split('<_ZN6Circle4areaEj>:')[1]
    os.rename(program, 'hidden')
    data('unpack', '-i', 'a.data', '-o', 'box')
    stub = 'box' + program
    assert area.group(0) in run('nm', stub).out, run('nm', stub)
    assert run(*words, stub).out.split('<_ZN6Circle4areaEj>:')[1] == real
    text = run('perf', 'report', '--stdio', '--no-children', '-g', 'none', '-s', 'sym', '-i', 'a.data', '--symfs', 'box').out
    assert 'Circle::area' in text, text
    result = pace('data', 'unpack', '-i', 'a.data', '-o', 'box')
    assert result.status == 1 and 'box' in result.err, result
    data('strip', '-i', 'a.data', '-o', 'b.data')
    result = pace('data', 'unpack', '-i', 'b.data', '-o', 'other')
    assert result.status == 1 and 'data pack' in result.err, result


@test
def unpack_stays_in_its_folder():
    needs('g++')
    record('-g', '-o', 'a.data', build_inlining())
    raw = open('a.data', 'rb').read()
    at = raw.index(b'PACE EMB')
    tables = embedded_bytes('a.data')
    path = os.path.abspath('inlining').encode()
    assert path in tables
    for evil in (b'/../../escaped', b'..', b'/tmp/./x'):
        other = tables.replace(path, b'/' * (len(path) - len(evil)) + evil)
        section = raw[at:at + 12] + struct.pack('<IQ', 2, len(other)) + other
        # It is the last section: its entry is the last one of the table.
        entry = raw.rindex(struct.pack('<QQ', at, len(raw) - at))
        open('b.data', 'wb').write(raw[:entry] + struct.pack('<QQ', at, len(section)) + raw[entry + 16:at] + section)
        result = pace('data', 'unpack', '-i', 'b.data', '-o', 'box')
        assert result.status == 0 and 'is left out' in result.err, (evil, result)
        assert not os.path.exists('escaped') and not os.path.exists('../escaped')
        shutil.rmtree('box')


@test
def an_impatient_user_has_a_recording():
    needs('g++')
    with open('recorder.sh', 'w') as f:
        f.write(f'exec "{PACE}" record -e cpu-clock -F 2000 -g -o a.data "{build_inlining()}"\n')
    for delay in (0.0, 0.02, 0.1):
        process = subprocess.Popen(['sh', 'recorder.sh'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until = time.time() + PATIENCE
        # What was running before is written first: samples come with the first round of the rings.
        while time.time() < until and not (os.path.exists('a.data') and pace('script', '-i', 'a.data').out):
            time.sleep(0.02)
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(delay)
        err = what_it_said(process)[1]
        # The second Ctrl-C aborts: what was written by then can be read, sections or not.
        assert process.returncode in (0, 130, -signal.SIGINT), (process.returncode, err)
        page = pace('data', 'lint', 'a.data').out
        assert 'This file is whole.' in page or process.returncode < 0 and re.search('not finished|never finished|sections are missing', page), (err, page)
        assert pace('script', '-i', 'a.data').out
        os.remove('a.data')


main()
