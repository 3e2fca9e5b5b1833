#!/usr/bin/env python3
"""Surroundings that programs do not expect: closed or full streams, no HOME, other languages, limits, no /proc, no /sys, a
current folder that was removed. The output is the same, or a message says what is missing; nothing crashes."""
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

ENV = {**os.environ, 'LC_ALL': 'C', 'XDG_CACHE_HOME': ''}
# What these print is a fact of the file, the same each time.
READING = [['report'], ['report', '--json'], ['script'], ['annotate', '--no-source'], ['diff', 'perf.data', 'perf.data'], ['evlist', '-v'], ['data', 'lint', 'perf.data'],
           ['buildid-list']]
OTHERS = [['stat', '-e', 'task-clock', 'true'], ['record', '-q', '-o', 'r.data', 'true'], ['list', 'software'], ['doctor'], ['help']]
# Sanitizers cannot do without these: room for their shadows, and what they read there.
IS_SANITIZED = 'asan' in subprocess.run(['ldd', PACE], capture_output=True, text=True, check=False).stdout


def recorded():
    can_record()
    assert pace('record', '-q', '-g', '-e', 'cpu-clock', '-F', '2000', 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done').status == 0


def start(words, prepare=None, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, before=()):
    done = subprocess.run([*before, PACE, *words], env=env, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, preexec_fn=prepare, timeout=PATIENCE, check=False)
    result = Result(done, (done.stdout or b'').decode(errors='replace'), done.stderr.decode(errors='replace'))
    check_sane(result)
    assert 0 <= result.status < 128, (words, result)
    return result


def everything(**kwargs):
    """(words, what comes otherwise, what comes here) of all commands; those that read say the same, or what is wrong."""
    for words in [*READING, *OTHERS]:
        good, result = start(words), start(words, **kwargs)
        if result.status == good.status and words in READING and kwargs.get('stdout') is None:
            assert result.out == good.out, (words, result, good)
        assert result.status == good.status or result.err.startswith('pace ') or '\npace ' in result.err, (words, result)
        yield words, good, result


@test
def streams_that_are_closed_disturb_only_what_needs_them():
    recorded()
    for words, good, result in everything(prepare=lambda: os.close(0), stdin=None):
        assert result.status == good.status, (words, result)
    for words in [*READING, ['help']]:
        done = subprocess.run([PACE, *words], env=ENV, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1), check=False)
        assert done.returncode == 1 and b'Bad file descriptor' in done.stderr, (words, done)
    for words in READING:
        done = subprocess.run([PACE, *words], env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2), check=False)
        assert done.returncode == 0 and done.stdout.decode(errors='replace') == start(words).out, (words, done)


@test
def a_full_disk_behind_stdout_is_said():
    recorded()
    with open('/dev/full', 'wb') as full:
        for words in [*READING, ['list', 'software'], ['doctor'], ['help']]:
            result = start(words, stdout=full)
            assert result.status and 'No space left on device' in result.err, (words, result)


@test
def nobodys_home_and_other_languages_change_nothing():
    recorded()
    without_home = {k: v for k, v in ENV.items() if k not in ('HOME', 'XDG_CACHE_HOME')}
    for env in (without_home, {}, {**ENV, 'TERM': 'dumb'}, {**ENV, 'TERM': ''}, {**ENV, 'LC_ALL': 'tr_TR.UTF-8'}, {**ENV, 'LC_ALL': 'de_DE.UTF-8'}):
        env = {**env, 'ASAN_OPTIONS': ENV['ASAN_OPTIONS'], 'UBSAN_OPTIONS': ENV['UBSAN_OPTIONS']}
        for words, good, result in everything(env=env):
            assert result.status == good.status, (env.get('LC_ALL'), words, result)


@test
def few_files_and_a_small_stack_are_enough_or_it_is_said():
    recorded()
    for n in (16, 8):
        for words, good, result in everything(prepare=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))):
            assert result.status == good.status or f'limit is {n}' in result.err or 'Too many open files' in result.err, (n, words, result)
    if not IS_SANITIZED:
        for words, good, result in everything(prepare=lambda: resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, 256 << 10))):
            assert result.status == good.status, (words, result)


@test
def without_sys_it_is_said_and_recordings_are_read():
    recorded()
    needs_own_mounts()
    for words, good, result in everything(before=['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /sys && exec "$@"', 'sh']):
        assert result.status == good.status or 'is /sys mounted?' in result.err, (words, result)
    if not IS_SANITIZED:
        for words, good, result in everything(before=['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh']):
            assert result.status == good.status or '/proc' in result.err, (words, result)


@test
def a_folder_that_is_gone_is_no_place_for_recordings():
    recorded()
    path = os.path.abspath('perf.data')
    gone = ['sh', '-c', 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', 'sh']
    result = start(['record', '-q', '-o', 'r.data', 'true'], before=gone)
    assert result.status == 1 and "'r.data'" in result.err and 'No such file' in result.err, result
    assert start(['report'], before=gone).status == 2
    good, result = start(['report', '-i', path]), start(['report', '-i', path], before=gone)
    assert (result.status, result.out) == (good.status, good.out), (result, good)


main()
