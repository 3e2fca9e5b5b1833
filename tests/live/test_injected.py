#!/usr/bin/env python3
"""System calls that strace makes fail, one after the other: whichever it is, commands end in time and in good order, and either print what
they always print or say what went wrong. PACE_INJECT=N tries up to N places of each call; the default is a few."""
import errno
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

EACH = int(os.environ.get('PACE_INJECT', '6'))
TEXT = {**os.environ, 'LC_ALL': 'C', 'ASAN_OPTIONS': 'detect_leaks=0', 'XDG_CACHE_HOME': ''}
# Memory is the sanitizers' own affair: they end a program that gets none.
READING = [('openat', 'EMFILE'), ('openat', 'ENOMEM'), ('read', 'EIO'), ('read', 'EINTR'), ('pread64', 'EIO'), ('pread64', 'EINTR'),
           ('newfstatat', 'EIO'), ('fstat', 'EIO'), ('write', 'ENOSPC'), ('write', 'EINTR'), ('getdents64', 'EIO'), ('memfd_create', 'EMFILE')]
RECORDING = [('openat', 'EMFILE'), ('read', 'EIO'), ('pread64', 'EIO'), ('pwrite64', 'EIO'), ('pwrite64', 'ENOSPC'), ('pwrite64', 'EINTR'),
             ('write', 'EINTR'), ('perf_event_open', 'EMFILE'), ('perf_event_open', 'EBUSY'), ('ioctl', 'EIO'), ('epoll_wait', 'EINTR'),
             ('epoll_ctl', 'ENOMEM'), ('epoll_create1', 'EMFILE'), ('signalfd4', 'EMFILE'), ('fallocate', 'EIO'), ('fallocate', 'EINTR'), ('ftruncate', 'EIO'),
             ('renameat2', 'EIO'), ('poll', 'EINTR'), ('wait4', 'EINTR'), ('pipe2', 'EMFILE'), ('socketpair', 'EMFILE')]


def can_inject():
    needs('strace')
    probe = subprocess.run(['strace', '-o', '/dev/null', '-e', 'inject=openat:error=EIO:when=9999', 'true'], capture_output=True, text=True, check=False)
    if probe.returncode:
        skip('strace does not work here: ' + probe.stderr.strip()[:120])


def calls(words, inside='.'):
    """How often each system call is made, by the first process alone; what the loader calls comes first."""
    subprocess.run(['strace', '-o', 'calls', *words], cwd=inside, env=TEXT, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    found = {}
    for name in re.findall(r'^(\w+)\(', open(f'{inside}/calls', errors='replace').read(), re.M):
        found[name] = found.get(name, 0) + 1
    return found


def places(name, before, total):
    """Which of the calls are to fail: some of all, the same in every run."""
    all_of_them = range(before.get(name, 0) + 1, total.get(name, 0) + 1)
    return random.Random(name).sample(all_of_them, min(EACH, len(all_of_them)))


def injected(words, name, error, which, inside='.'):
    with open(f'{inside}/stdout', 'wb') as out, open(f'{inside}/stderr', 'wb') as err:
        status = subprocess.run(['strace', '-o', '/dev/null', '-e', f'trace={name}', '-e', f'inject={name}:error={error}:when={which}', *words], cwd=inside,
                                env=TEXT, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=PATIENCE, check=False).returncode
    out, err = (open(f'{inside}/{which}', errors='replace').read() for which in ('stdout', 'stderr'))
    where = (words[1:4], name, error, which, status, err[-1500:])
    assert 0 <= status < 128 and 'Sanitizer' not in err and 'runtime error' not in err, where
    return status, out, err, where


@test
def commands_that_read_say_what_failed_or_are_not_disturbed():
    can_record()
    can_inject()
    assert pace('record', '-e', 'cpu-clock', '-F', '2000', '-g', '-o', 'a.data', 'sh', '-c', 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done').status == 0
    assert pace('stat', 'record', '-e', 'task-clock,page-faults', '-o', 's.data', 'true').status == 0
    before = calls([PACE, '--version'])
    n = 0
    for words in (['report', '-i', 'a.data', '-j', '1'], ['script', '-i', 'a.data'], ['annotate', '-i', 'a.data'], ['data', 'lint', 'a.data'], ['evlist', '-i', 'a.data'],
                  ['diff', 'a.data', 'a.data'], ['stat', 'report', '-i', 's.data']):
        words = [PACE, *words]
        good = subprocess.run(words, env=TEXT, capture_output=True, text=True, errors='replace', check=False)
        total = calls(words)
        for name, error in READING:
            for which in places(name, before, total):
                status, out, err, where = injected(words, name, error, which)
                n += 1
                assert status in (good.returncode, 1, 2), where
                # What is missing is said, unless nothing of the page depends on it; where the page has its place, there.
                assert out == good.stdout or status != good.returncode or err != good.stderr or os.strerror(getattr(errno, error)) in out, where
    print(f'# {n} calls failed')
    assert n > 100, n


PROGRAM = r"""
#include <stdio.h>
#include <string.h>
static volatile unsigned long x;
static inline int inlined(int i) { return i * 7 ^ (i >> 3); }
__attribute__((noinline)) void leaf(unsigned n) { for (unsigned i = 0; i < n; i++) x += inlined(i); }
__attribute__((noinline)) void middle(unsigned n) { char b[64]; for (unsigned i = 0; i < n; i++) { snprintf(b, 64, "%u", i); x += strlen(b); } leaf(n * 20); }
int main(void) { for (int i = 0; i < 400; i++) middle(1000); return 0; }
"""


@test
def names_and_lines_that_cannot_be_read_are_missed_aloud():
    can_record()
    can_inject()
    needs('gcc')
    open('program.c', 'w').write(PROGRAM)
    subprocess.run(['gcc', '-O2', '-g', '-o', 'program', 'program.c'], check=True)
    assert pace('record', '-e', 'cpu-clock:u', '-F', '2000', '--call-graph', 'dwarf', '--keep-stacks', '--no-embed', '-o', 'n.data', './program').status == 0
    before, n = calls([PACE, '--version']), 0
    for words in (['report', '-g', 'caller', '-j', '1'], ['script'], ['annotate', 'leaf']):
        words = [PACE, *words, '-i', 'n.data']
        subprocess.run(words, env=TEXT, capture_output=True, check=False)  # what is kept for later is written
        good, total = subprocess.run(words, env=TEXT, capture_output=True, text=True, errors='replace', check=False), calls(words)
        for name, error in (('newfstatat', 'EIO'), ('fstat', 'EIO'), ('openat', 'EMFILE')):
            for which in range(before.get(name, 0) + 1, total.get(name, 0) + 1):
                _, out, err, where = injected(words, name, error, which)
                n += 1
                assert out == good.stdout or os.strerror(getattr(errno, error)) in out + err, where
    print(f'# {n} calls failed')
    assert n > 30, n


@test
def generated_code_that_cannot_be_read_is_missed_aloud():
    """The code of a jitdump is read last, by annotate alone."""
    can_record()
    can_inject()
    needs('node')
    open('hot.js', 'w').write('function hot(n) { let s = 0; for (let i = 0; i < n; i++) s += i * i % 7; return s; }\n'
                              'let t = 0; for (let j = 0; j < 40; j++) t += hot(300000); console.log(t);\n')
    result = pace('record', '-e', 'cpu-clock', '-F', '2000', '-k', 'mono', '--no-embed', '-o', 'j.data', 'node', '--perf-prof', 'hot.js')
    assert result.status == 0, result
    words = [PACE, 'annotate', '-i', 'j.data']
    good, total = subprocess.run(words, env=TEXT, capture_output=True, text=True, errors='replace', check=False), calls(words)
    assert 'hot' in good.stdout, good
    seen = False
    for which in range(max(total['pread64'] - 8, 1), total['pread64'] + 1):
        _, out, err, where = injected(words, 'pread64', 'EIO', which)
        seen |= out != good.stdout
        assert out == good.stdout or os.strerror(errno.EIO) in out + err, where
    assert seen


@test
def a_recorder_says_what_failed_and_leaves_what_can_be_read():
    can_record()
    can_inject()
    busy = [PACE, 'record', '-q', '-e', 'cpu-clock', '-F', '2000', '-o', 'b.data', 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 5']
    os.mkdir('first')
    before, total = calls([PACE, '--version']), calls(busy, 'first')
    wanted = [(name, error, which) for name, error in RECORDING for which in places(name, before, total)]

    def check(n, name, error, which):
        folder = f'd{n}'
        os.mkdir(folder)
        status, _, err, where = injected(busy, name, error, which, folder)
        assert status == 5 or err.strip(), where
        if os.path.exists(f'{folder}/b.data'):
            script = subprocess.run([PACE, 'script', '-i', f'{folder}/b.data', '-F', 'ip'], env=TEXT, capture_output=True, text=True, check=False)
            assert script.returncode in (0, 1), (where, script)
            assert script.stdout.strip() or err.strip() or status != 5, (where, script)
        else:
            assert status != 5 and err.strip(), where
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(check, n, *w) for n, w in enumerate(wanted)]:
            done.result()
    print(f'# {len(wanted)} calls failed')
    assert len(wanted) > 50, wanted


main()
