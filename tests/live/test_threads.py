#!/usr/bin/env python3
"""Threads that share a recording, under the thread sanitizer: there are no data races.

pace is built separately for this, in build-threads. Its -v output shows that several threads really had work.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

WHERE = os.path.join(TOP, 'build-threads')
RACING = os.path.join(WHERE, 'pace')
# What shall take more than one recording needs two that differ.
PROGRAM = r'''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
int main(int argc, char **argv)
{
	int n = 2000 * atoi(argv[argc - 1]);
	char **words = malloc(n * sizeof(*words));
	for (int i = 0; i < n; i++) {
		words[i] = malloc(32);
		snprintf(words[i], 32, "%x%x", i * 7919 % 10007, i);
	}
	qsort(words, n, sizeof(*words), compare);
	return !words[0];
}
'''


def build():
    """The sanitizer's pace; what the compiler says if there is none."""
    if not os.path.exists(f'{WHERE}/build.ninja'):
        done = subprocess.run(['meson', 'setup', WHERE, TOP, '-Doptimization=1', '-Ddebug=true', '-Db_sanitize=thread', '-Db_lundef=false'],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            return done.stdout[-3000:]
    ninja = shutil.which('ninja') or shutil.which('samu')
    done = subprocess.run([ninja, '-C', WHERE, 'pace'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout[-3000:] if done.returncode else None


failure = build()


def racing(*words):
    """Runs it. The sanitizer of gcc 12 knows no addresses that are as random as those of later kernels: not at all, then."""
    assert failure is None, failure
    env = dict(os.environ, TSAN_OPTIONS='exitcode=66:halt_on_error=0:history_size=4')
    result = run('setarch', '-R', RACING, *words, env=env)
    if 'unexpected memory mapping' in result.err:
        skip('the thread sanitizer does not run here: ' + result.err.split('\n')[0])
    assert 'ThreadSanitizer' not in result.err and result.status != 66, result
    return result


def recordings():
    """Two of some MiB, with copies of stacks: these are most of the work that workers have."""
    can_record()
    needs('setarch', 'meson')
    with open('sorting.c', 'w') as file:
        file.write(PROGRAM)
    program = build_c(os.path.abspath('sorting.c'), 'sorting')
    for name, size in (('a.data', '500'), ('b.data', '400')):
        done = pace('record', '-q', '-e', 'cpu-clock', '-F', '4000', '--call-graph', 'dwarf', '--keep-stacks', '-o', name, program, size)
        assert done.status == 0, done
        assert os.path.getsize(name) > 4 << 20, os.path.getsize(name)


def threads_that_read(result):
    """For each recording, how many threads had some of it."""
    found = [int(n) for n in re.findall(r'(?:[4-9]|\d\d+) pieces of the file were read by (\d+) threads', result.err)]
    assert found, result
    return found


def several_threads(*words):
    """A thread may find that the others have taken all before it began: then once more."""
    for _ in range(5):
        result = racing(*words)
        assert result.status == 0 and result.out, result
        if all(n > 1 for n in threads_that_read(result)):
            return result
    raise AssertionError(f'only one thread read: {result}')


@test
def reports_are_counted_by_several_threads_that_do_not_race():
    recordings()
    for words in (['-g', 'caller'], ['-g', 'none', '-s', 'comm,dso,sym,srcline'], ['--hierarchy', '-s', 'dso,sym'], ['--json']):
        result = several_threads('report', '-v', '-j', '4', '-i', 'a.data', *words)
        alone = racing('report', '-v', '-j', '1', '-i', 'a.data', *words)
        assert result.out == alone.out, words


@test
def differences_and_code_are_counted_by_several_threads_that_do_not_race():
    recordings()
    several_threads('diff', '-v', '-j', '4', 'a.data', 'b.data')
    several_threads('annotate', '-v', '-j', '4', '-i', 'a.data')


@test
def commands_that_follow_time_do_not_race_with_their_helpers():
    """script reads alone, but the kernel's names and the disassembler are fetched meanwhile."""
    recordings()
    for words in (['script', '-i', 'a.data'], ['annotate', '-i', 'a.data', '--all'], ['readperf', 'a.data', '-o', 'tables'], ['data', 'pack', 'a.data', '-o', 'packed.data']):
        result = racing(*words)
        assert result.status == 0, (words, result)


main()
