#!/usr/bin/env python3
"""Allocations that fail, from one on or a single one, and files that are read and written in pieces (by tests/live/failing.c):
commands end in good order with a message, recordings stay readable, and a program that uses libpace gets an error and runs on. PACE_EXHAUST=N
tries N allocations of each command, 0 all of them; the default is a few."""
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

EACH = int(os.environ.get('PACE_EXHAUST', '5'))
SHIM = os.path.join(BUILD, 'tests/libfailing.so')
SAID = re.compile(r'^pace( \w[\w-]*)?: out of memory( \(\d+ bytes more were needed\))?(; what was recorded until then is kept)?(; process \d+ is still running)?$', re.M)
BUSY = ['sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done']
# libtraceevent crashes without memory, LLVM aborts while it is loaded, libelf and libdw say that something is not there; the loader ends programs
# itself.
SPARES = 'libtraceevent:libelf:libdw:libLLVM:ld-linux:ld-musl'


class Sanitizers(Exception):
    """It was the sanitizer that found no memory for a thread."""


def failing(words, calls, at, row=1, count='', **kwargs):
    """A program of which the at-th of these calls fails, and row - 1 behind it (0: all)."""
    env = {**os.environ, 'LC_ALL': 'C', 'XDG_CACHE_HOME': '', 'LD_PRELOAD': SHIM, 'FAILING_CALLS': calls, 'FAILING_AT': str(at), 'FAILING_FOR': str(row),
           'FAILING_SPARES': SPARES, 'FAILING_COUNT': count,
           # The shim stands before the sanitizer, whose memory it asks for.
           'ASAN_OPTIONS': os.environ['ASAN_OPTIONS'] + ':verify_asan_link_order=0'}
    result = run(*words, env={k: v for k, v in env.items() if v or k == 'XDG_CACHE_HOME'}, **kwargs)
    if 'AddressSanitizer: CHECK failed' in result.err:
        raise Sanitizers()
    assert result.status >= 0 and 'Sanitizer' not in result.err and 'runtime error' not in result.err, (words, calls, at, row, result)
    return result


def can_fail():
    if not os.path.exists(SHIM):
        skip('tests/libfailing.so is not built here')
    probe = failing([PACE, '--version'], 'memory', 10**9)
    if probe.status:
        skip('a sanitizer of another kind does not work behind another malloc: ' + probe.err[:200])


def places(words, calls, each=None, before=0):
    """Which calls are to fail: some, the same in every run, and what the program says when none does."""
    if os.path.exists('count'):
        os.unlink('count')
    good = failing(words, calls, 10**9, count=os.path.abspath('count'))
    total = range(before + 1, int(open('count').read()) + 1)
    each = EACH if each is None else each
    return good, list(total) if not EACH else random.Random(str(words[1:])).sample(total, min(each, len(total)))


def side_by_side(check, cases):
    """What each case came to; None: nothing was learnt."""
    def one(case):
        try:
            return check(*case)
        except Sanitizers:
            return None
    with ThreadPoolExecutor(3) as pool:
        return [done.result() for done in [pool.submit(one, case) for case in cases]]


def recordings():
    can_record()
    can_fail()
    assert pace('record', '-q', '-e', 'cpu-clock', '-F', '2000', '-g', '-o', 'a.data', *BUSY).status == 0
    program = build_c('tests/live/programs/halves.c', 'halves')
    assert pace('record', '-q', '-z', '--no-embed', '-e', 'cpu-clock', '-F', '2000', '--call-graph', 'dwarf,1024', '--keep-stacks', '-o', 'z.data', program, '0.02').status == 0


OF_DWARF = ('+srcline', 'sym,srcline', 'type,typeoff')


def without_dwarf(words, text):
    """All but what libdw says. It keeps what it has read in trees of libc's (tsearch), and what finds no room there is just not known."""
    if words[1] == 'script':
        return [line for line in text.split('\n') if not re.match(r'  \S', line) and '(inlined)' not in line]
    return re.findall(r'^# (?:Samples|Event count|[\d,]+ samples recorded).*', text, re.M)


@test
def commands_without_memory_say_so_and_end():
    recordings()
    cases = []
    for words in (['report', '-i', 'a.data'], ['report', '-i', 'z.data', '-s', 'sym,srcline'], ['report', '-i', 'z.data', '-s', 'type,typeoff'],
                  ['report', '-i', 'a.data', '--json'], ['script', '-i', 'z.data', '-F', '+srcline'], ['annotate', '-i', 'z.data'],
                  ['diff', 'a.data', 'z.data'], ['evlist', '-i', 'a.data'], ['data', 'lint', 'z.data'], ['stat', '-e', 'task-clock', 'true'],
                  ['list', 'software'], ['doctor'], ['flame', 'a.data'], ['flame', '-G', 'a.data', 'z.data']):
        words = [PACE, *words]
        good, which = places(words, 'memory')
        cases += [(words, good, at, row) for at in which for row in (1, 0)]

    def check(words, good, at, row):
        result = failing(words, 'memory', at, row)
        where = (words[1:], at, row, result)
        said = len(SAID.findall(result.err))
        # What can be done without is: names that a recording carries, hints. Counts and times differ in each run of stat and doctor.
        if result.status == good.status and not said:
            assert result.out == good.out or words[1] in ('stat', 'doctor') or re.search('memory', result.err + result.out) or \
                (words[-1] in OF_DWARF and without_dwarf(words, result.out) == without_dwarf(words, good.out) != []), where
        else:
            assert result.status in (1, 2) and (said == 1 or re.search('memory', result.err + result.out)), where
    side_by_side(check, cases)
    print(f'# {len(cases)} allocations failed')
    assert len(cases) >= 12 * 2


@test
def mappings_that_fail_cost_the_names_of_that_file_and_it_is_said():
    recordings()
    words = [PACE, 'report', '-i', 'z.data', '--no-children', '-g', 'none', '-s', 'sym', '--dsos', 'halves']
    good, which = places(words, 'mmap')
    cases = [(at, row) for at in which for row in (1, 0)]
    seen = []

    def check(at, row):
        result = failing(words, 'mmap', at, row)
        # What was not all read ends with status 1, and a warning.
        assert result.status == good.status or (result.status == 1 and 'Cannot allocate memory' in result.err), (at, row, result)
        assert result.out == good.out or 'Cannot allocate memory' in result.out + result.err, (at, row, result)
        seen.append(result.out != good.out)
    side_by_side(check, cases)
    print(f'# {len(cases)} mappings failed, {sum(seen)} were missed')
    assert any(seen)


@test
def a_debug_file_that_is_not_mapped_does_not_make_a_file_a_stripped_one():
    can_record()
    can_fail()
    needs('objcopy')
    program = build_c('tests/live/programs/halves.c', 'halves', '-g')
    for words in (['--only-keep-debug', program, 'halves.debug'], ['--strip-all', '--add-gnu-debuglink=halves.debug', program]):
        assert run('objcopy', *words).status == 0
    assert pace('record', '-q', '--no-embed', '-e', 'cpu-clock', '-F', '2000', '-o', 'd.data', program, '0.05').status == 0
    for keys in ('sym', 'sym,srcline'):
        words = [PACE, 'report', '-i', 'd.data', '-s', keys, '--dsos', 'halves']
        good = failing(words, 'mmap', 10**9)
        said = []

        def check(at, row):
            result = failing(words, 'mmap', at, row)
            said.append(re.search("mapping '[^']*halves.debug'", result.out + result.err))
            assert 'is stripped' not in result.out and 'has no debug information' not in result.out, (at, row, result)
            assert result.out == good.out or 'Cannot allocate memory' in result.out + result.err, (at, row, result)
        assert 'is stripped' not in good.out and 'has no debug information' not in good.out, good
        side_by_side(check, [(at, row) for at in range(1, 13) for row in (1, 0)])
        assert any(said), (keys, good)


@test
def a_recorder_without_memory_leaves_what_it_has():
    """The target goes on to its end: nobody kills it, and the file is one that pace and perf read."""
    can_record()
    can_fail()
    words = [PACE, 'record', '-q', '-e', 'cpu-clock', '-F', '2000', '-o', 'b.data', 'sh', '-c', BUSY[2] + '; : >done']
    cases = []
    for more in ([], ['-g'], ['-z'], ['--call-graph', 'dwarf']):
        os.mkdir('first')
        these = [*words[:2], *more, *words[2:]]
        _, which = places([*these[:-1], BUSY[2]], 'memory', 2 * EACH)
        shutil.rmtree('first')
        cases += [(these, at, row) for at in which for row in (1, 0)]

    def check(n, these, at, row):
        folder = os.path.abspath(f'd{n}')
        os.mkdir(folder)
        result = failing(these, 'memory', at, row, cwd=folder)
        where = (these[1:], at, row, result)
        assert result.status == 0 or SAID.search(result.err) or 'memory' in result.err, where
        if not os.path.exists(f'{folder}/b.data'):
            assert result.status != 0, where
            return False
        script = run(PACE, 'script', '-i', f'{folder}/b.data', '-F', 'ip')
        assert script.status in (0, 1), (where, script)
        # perf reads no file in which nothing is yet.
        if shutil.which('perf') and script.out.strip():
            theirs = run('perf', 'script', '-i', f'{folder}/b.data', '-F', 'ip', '-f')
            assert theirs.status == 0 and len(theirs.out.split()) >= len(script.out.split()) / 2, (where, script, theirs)
        return True
    kept = [kept for kept in side_by_side(check, [(n, *case) for n, case in enumerate(cases)]) if kept is not None]
    print(f'# {len(kept)} allocations failed, {sum(kept)} left a recording')
    assert any(kept) and not all(kept)


@test
def files_in_parts_are_the_same_files():
    """Reads and writes that are interrupted or give less than they could change nothing."""
    recordings()
    for words in (['report', '-i', 'a.data'], ['report', '-i', 'z.data', '-s', 'sym,srcline'], ['script', '-i', 'z.data'], ['annotate', '-i', 'z.data'],
                  ['diff', 'a.data', 'z.data'], ['evlist', '-i', 'a.data', '-v'], ['data', 'lint', 'z.data'], ['list', 'software']):
        words = [PACE, *words]
        good = run(*words, env={**os.environ, 'LC_ALL': 'C', 'XDG_CACHE_HOME': ''})
        for one_in in (2, 7):
            result = failing(words, 'short', one_in)
            assert (result.status, result.out, result.err) == (good.status, good.out, good.err), (words[1:], one_in, result, good)
    for one_in in (2, 7):
        result = failing([PACE, 'record', '-q', '-e', 'cpu-clock', '-g', '-o', f's{one_in}.data', *BUSY, ], 'short', one_in)
        assert result.status == 0 and not result.err, result
        lint = pace('data', 'lint', f's{one_in}.data')
        assert lint.status == 0, lint
        shown = pace('report', '-i', f's{one_in}.data')
        assert shown.status == 0 and 'damaged' not in shown.err, shown


@test
def a_program_with_libpace_gets_an_error_and_goes_on():
    """Each allocation of a program that counts, samples and reads recordings: it is told, with ENOMEM, and nothing stays open."""
    recordings()
    flags = ['-fsanitize=address,undefined'] if 'asan' in run('ldd', os.path.join(BUILD, 'libpace.so')).out else []
    program = build_c('tests/live/programs/hosting.c', 'hosting', f'-I{TOP}/include', *flags, f'-L{BUILD}', '-lpace', f'-Wl,-rpath,{BUILD}')
    words = [program, 'a.data', 'z.data']
    good, which = places(words, 'memory', 16 * EACH)
    assert good.out.splitlines()[-1] == 'alive' and 'still open' not in good.out, good

    def check(at, row):
        result = failing(words, 'memory', at, row)
        where = (at, row, result)
        assert result.status == 0 and not result.err and result.out.splitlines()[-1] == 'alive', where
        assert 'still open' not in result.out and 'NO REASON' not in result.out, where
        assert result.out == good.out or '[ENOMEM]' in result.out, where
    side_by_side(check, [(at, row) for at in which for row in (1, 0)])
    print(f'# {2 * len(which)} allocations failed')
    for one_in in (2, 7):
        result = failing(words, 'short', one_in)
        assert result.out == good.out, (one_in, result, good)


main()
