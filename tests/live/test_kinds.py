#!/usr/bin/env python3
"""Stacks of other kinds of programs: other C libraries, no call frame information, no symbols, other languages. Where the stacks end is known."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

# A loop with its condition at its end, a switch, a call with arguments on the stack; a thread and the first one do the same, each for
# 400 ms of a processor, however long it takes to get them.
WORK = r'''
#include <pthread.h>
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline, noclone)) void leaf(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i * i; }
__attribute__((noinline, noclone)) unsigned long many(long a, long b, long c, long d, long e, long f, long g, long h)
{ leaf(3000 + a + b + c + d + e + f + g + h); return sink; }
__attribute__((noinline, noclone)) void middle(int depth, int kind)
{
	unsigned long table[40];
	if (depth) { middle(depth - 1, kind); sink++; return; }
	switch (kind) {
	case 0: leaf(30000); break;
	case 1: sink += many(1, 2, 3, 4, 5, 6, 7, 8); break;
	case 2: for (int i = 0; i < 40; i++) { leaf(700); table[i] = sink; } sink += table[kind]; break;
	case 3: leaf(20000); sink++; break;
	case 4: leaf(10000); sink += 2; break;
	default: sink += many(1, 1, 1, 1, 1, 1, 1, 1);
	}
	sink++;
}
static unsigned long now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1000ul + t.tv_nsec / 1000000; }
__attribute__((noinline, noclone)) void *work(void *p) { for (unsigned long end = now() + 400, i = 0; now() < end; i++) middle(4, i % 6); return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	work(0);
	pthread_join(t, 0);
	return 0;
}
'''
NO_CFI = ('-fno-asynchronous-unwind-tables', '-fno-unwind-tables')


def build(name, compiler, *flags):
    with open('work.c', 'w', encoding='utf-8') as file:
        file.write(WORK)
    done = run(compiler, '-O2', '-fomit-frame-pointer', '-fno-inline-functions', '-o', name, 'work.c', '-pthread', *flags)
    assert done.status == 0, done
    return f'./{name}'


def record(*command):
    """Walked while it is recorded, and afterwards."""
    done = pace('record', '-q', '--no-embed', '-e', 'cpu-clock:u', '-F', '499', '--call-graph', 'dwarf', '-o', 'now.data', *command)
    assert done.status == 0, done
    done = pace('record', '-q', '--no-embed', '-e', 'cpu-clock:u', '-F', '499', '--call-graph', 'dwarf', '--keep-stacks', '-o', 'later.data', *command)
    assert done.status == 0, done


def chains(path):
    """Names of each sample's frames, innermost first."""
    shown = pace('script', '--no-inline', '-i', path, '-F', 'ip,sym')
    assert shown.status == 0, shown
    return [[line.split(None, 1)[1] for line in block.split('\n') if line.startswith('\t')] for block in ('\n' + shown.out).split('\n\n')]


def check_whole(roots, names=None, least=50):
    """All stacks of the program's own functions end at a root; those of the C library's may be anything's. Some samples may be so early
    or late that the loader has the word."""
    for path in ('now.data', 'later.data'):
        found = [c for c in chains(path) if len(c) > 3]
        ledger = pace('report', '-i', path, '--ledger').out
        cut = re.search(r'# (\d+) samples \(([\d.]+)%\) have stacks that end before their roots.*', ledger)
        assert len(found) >= least, (path, len(found), ledger)
        assert not cut or float(cut[2]) <= 3, (path, cut, found[:3])
        ends = [c for c in found if c[-1] in roots]
        assert len(ends) >= 0.97 * len(found), (path, len(ends), len(found), [c for c in found if c[-1] not in roots][:3])
        if names:
            deep = [c for c in found if all(name in c for name in names)]
            assert len(deep) >= 0.9 * len(found), (path, names, len(deep), len(found), [c for c in found if c not in deep][:3])


def x86_only():
    if os.uname().machine != 'x86_64':
        skip('what code without call frame information does is followed on x86 only')


@test
def stacks_of_musl_programs_are_whole():
    """Its C library has no call frame information, and the dynamic one no names of its beginning."""
    needs('musl-gcc')
    x86_only()
    can_record()
    record(build('static', 'musl-gcc', '-static'))
    check_whole({'_start', '__clone'}, ['work', 'middle'])
    record(build('dynamic', 'musl-gcc'))
    # memset has no size, and is not what lies behind it.
    check_whole({'_start'} | clone_of_musl(), ['work', 'middle'])


def clone_of_musl():
    """What stands for __clone, which the dynamic library does not export: any name made of an address."""
    names = {c[-1] for path in ('now.data', 'later.data') for c in chains(path) if c}
    return {name for name in names if re.fullmatch(r'fun_[0-9a-f]+', name)}


@test
def stacks_of_musl_programs_without_names_are_whole():
    needs('musl-gcc')
    x86_only()
    can_record()
    record(build('static', 'musl-gcc', '-static', '-s', *NO_CFI))
    check_whole({'_start'} | clone_of_musl())
    for path in ('now.data', 'later.data'):
        assert any(c[-1] == '_start' for c in chains(path) if c), chains(path)[:3]


@test
def stacks_of_programs_without_call_frame_information_are_whole():
    """With names, and without: then the code says where functions begin, and main is known by _start."""
    x86_only()
    can_record()
    roots = {'_start', '__clone3', '__GI___clone3', 'clone3', 'clone', '__clone'}
    record(build('named', 'cc', *NO_CFI))
    check_whole(roots, ['work', 'middle'])
    record(build('bare', 'cc', '-s', *NO_CFI))
    check_whole(roots)
    mains = [c for c in chains('later.data') if c and c[-1] == '_start']
    assert mains and all('main' in c for c in mains if len(c) > 6), mains[:3]


@test
def call_frame_information_may_be_packed():
    """.debug_frame, zlib or zstd as debug sections are: so Go's linker leaves it."""
    can_record()
    record(build('packed', 'cc', '-g', *NO_CFI, '-Wl,--compress-debug-sections=zlib'))
    sections = run('readelf', '-SW', 'packed').out if shutil.which('readelf') else ''
    assert not sections or re.search(r'\.debug_frame.* C ', sections), sections
    check_whole({'_start', '__clone3', '__GI___clone3', 'clone3', 'clone', '__clone'}, ['work', 'middle'])


GO = r'''
package main

import "syscall"

//go:noinline
func leaf(n int) (s int) {
	for i := 0; i < n; i++ {
		s += i * i % 7
	}
	return
}

//go:noinline
func middle(depth int) int {
	if depth > 0 {
		return middle(depth-1) + 1
	}
	return leaf(20000)
}

// Of all threads.
func processorMs() int64 {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return (used.Utime.Nano() + used.Stime.Nano()) / 1000000
}

func work(done chan int) {
	sum := 0
	for processorMs() < 600 {
		for i := 0; i < 20; i++ {
			sum += middle(5)
		}
	}
	done <- sum
}

func main() {
	done := make(chan int)
	go work(done)
	go work(done)
	<-done
	<-done
}
'''


@test
def stacks_of_go_programs_are_whole():
    """Those of goroutines end at goexit, those of Go's own threads where they begin."""
    needs('go')
    can_record()
    with open('work.go', 'w', encoding='utf-8') as file:
        file.write(GO)
    os.environ.update(GOCACHE=os.path.abspath('cache'), GOFLAGS='', GO111MODULE='off', HOME=os.getcwd())
    roots = {'runtime.goexit.abi0', 'runtime.goexit', 'runtime.mstart.abi0', 'runtime.mstart', 'runtime.systemstack.abi0', 'runtime.mcall',
             'runtime.rt0_go.abi0'}
    # Stripped ones, too: Go's runtime has a table of its own, and the code of functions says the rest.
    for flags in ((), ('-ldflags=-s -w',), ('-ldflags=-s -w', '-buildmode=pie')):
        built = run('go', 'build', *flags, '-o', 'work', 'work.go')
        assert built.status == 0, built
        record('./work')
        check_whole(roots, ['main.work', 'main.middle'])
        if os.uname().machine != 'x86_64':
            break


if __name__ == '__main__':
    main()
