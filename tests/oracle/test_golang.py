#!/usr/bin/env python3
"""Go programs: their runtime's table compared with their DWARF, and stripped programs as users have them."""
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

LINES, ROWS = (os.path.join(BUILD, 'tests', name) for name in ('lines', 'rows'))
N = 5000

PROGRAM = r'''
package main

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

type shape struct{ a, b int }

func square(x int) int          { return x * x }
func (s shape) sum() int        { return square(s.a) + square(s.b) }
func largest[T int | float64](v ...T) (m T) {
	for _, x := range v {
		if x > m {
			m = x
		}
	}
	return
}

//go:noinline
func deep(n int, pad [40]int) int {
	if n == 0 {
		s := 0
		for i := 0; i < 30000; i++ {
			s += shape{i & 7, pad[i%40]}.sum() // two calls, inlined
		}
		return s
	}
	pad[n%40]++
	return deep(n-1, pad) + 1
}

func main() {
	words := strings.Fields("the quick brown fox jumps over the lazy dog")
	sort.Slice(words, func(i, j int) bool { return words[i] < words[j] })
	total := largest(1, 2) + int(largest(1.5, 2.5))
	done := make(chan int)
	for k := 0; k < 2; k++ {
		go func() {
			n := 0
			for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
				n += deep(60, [40]int{})
			}
			done <- n
		}()
	}
	fmt.Println(words, total, (<-done + <-done) > 0)
}
'''


SIGNALS = r'''
package main

import (
	"os"
	"os/signal"
	"syscall"
)

//go:noinline
func caller(n int) int {
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	return n + 1
}

func main() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	n := 0
	for i := 0; i < 100000; i++ {
		n = caller(n)
	}
	println(n)
}
'''


def build(name, *flags, arch=None, source=PROGRAM):
    needs('go')
    with open('program.go', 'w', encoding='utf-8') as file:
        file.write(source)
    os.environ.update(GOCACHE=os.path.abspath('cache'), GOFLAGS='', GO111MODULE='off', HOME=os.getcwd())
    done = run('go', 'build', *flags, '-o', name, 'program.go', env={**os.environ, 'CGO_ENABLED': '0', **({'GOARCH': arch} if arch else {})})
    assert done.status == 0, done
    return name


def some_addresses(path):
    found = re.search(r'\s\.text\s+\w+\s+(\w+)\s+\w+\s+(\w+)', run('readelf', '-SW', path).out)
    start, size = int(found[1], 16), int(found[2], 16)
    generator = random.Random(7)
    return [start + generator.randrange(size) for _ in range(N)]


def chains(path, addresses, *options):
    with open('addresses', 'w', encoding='ascii') as file:
        file.writelines(f'{a:x}\n' for a in addresses)
    done = run('sh', '-c', 'exec "$@" < addresses', 'sh', LINES, *options, path)
    check_sane(done)
    assert done.status == 0, done
    # The linker writes "./" before a file that is none. Types of a generic function are in DWARF only.
    found = [re.sub(r'\[.*?\]', '[]', re.sub(r'^(\./)+', '', answer, flags=re.M)) for answer in done.out.split('\n\n')[:-1]]
    assert len(found) == len(addresses), (path, len(found))
    return found


@test
def lines_and_inlined_functions_are_those_of_dwarf():
    needs('readelf')
    for arch in ('amd64', 'arm64'):
        path = build(f'program.{arch}', arch=arch)
        addresses = some_addresses(path)
        dwarf, ours = chains(path, addresses), chains(path, addresses, '-g')
        inlined = sum(answer.count('\n') > 1 for answer in dwarf)
        other = [(hex(a), d, o) for a, d, o in zip(addresses, dwarf, ours) if d != o]
        assert inlined > N // 20, inlined
        # Of some functions that the compiler makes DWARF has no line.
        other = [(a, d, o) for a, d, o in other if ':0:0' not in d]
        assert len(other) <= N // 1000, (arch, len(other), other[:3])


@test
def stripping_takes_no_lines():
    needs('readelf')
    for flags in ((), ('-buildmode=pie',)):
        whole, bare = build('whole', *flags), build('bare', *flags, '-ldflags=-s -w')
        # What is not in memory lies behind what is: no address changes.
        addresses = some_addresses(whole)
        assert chains(whole, addresses, '-g') == chains(bare, addresses, '-g'), flags
        assert run(LINES, bare).status != 0, 'it has DWARF'


def rows(path, *options):
    done = run(ROWS, *options, path)
    check_sane(done)
    assert done.status == 0, done
    # That the stack pointer's value is the CFA goes without saying.
    return {line.replace(' 31=v+0', '') for line in done.out.splitlines()}


@test
def frames_are_those_of_the_linker_but_where_the_stack_is_changed():
    needs('nm')
    for arch in ('amd64', 'arm64', '386'):
        path = build(f'program.{arch}', arch=arch)
        linker, ours = rows(path), rows(path, '--go')
        same = len(linker & ours)
        assert same > 4000, (arch, same)
        changed = ours - linker
        handler = re.search(r'^0*(\w+) . runtime\.sigtramp', run('nm', path).out, re.M)
        # On arm64 the linker says that it has no caller.
        assert handler and (arch == 'arm64' or not [row for row in changed if row.startswith(handler[1] + ' ')]), (handler, changed)
        assert len(changed) <= 40 and all(re.search(r'=u$|cfa=6\+16 16=c-8$|cfa=31\+\d+( 30=c-\d+)?$', row) for row in changed), (arch, changed)


@test
def stripped_programs_are_shown_with_lines_inlined_functions_and_whole_stacks():
    can_record()
    path = os.path.abspath(build('bare', '-ldflags=-s -w'))
    for options, least in ((['-g'], 95), (['--call-graph', 'dwarf,65528'], 95)):
        done = pace('record', '-F', '2000', *options, '-o', 'bare.data', path)
        assert done.status == 0, done
        shown = pace('report', '-i', 'bare.data', '--no-children', '-g', 'none', '-s', 'srcline')
        lines = dict((text.strip(), i) for i, text in enumerate(PROGRAM.split('\n'), 1))
        shares = {int(line): float(share) for share, line in re.findall(r'^ +([\d.]+)%  program\.go:(\d+)\s*$', shown.out, re.M)}
        loop = [line for text, line in lines.items() if 'i < 30000' in text or 'shape{' in text or 'func square' in text or '.sum()' in text or 's.b' in text]
        assert sum(shares.get(line, 0) for line in loop) > 70, (shares, loop, shown)
        names = pace('script', '-i', 'bare.data', '-F', 'ip,sym,srcline').out.split('\n\n')
        inner = [stack for stack in names if '(inlined)' in stack and re.search(r'main\.square.*\n(.*\n)?.*main\.shape\.sum.*\n(.*\n)?.*main\.deep', stack)]
        assert inner, (options, len(inner), names[:2])
        whole = re.search(r'^ +([\d.]+)% .*runtime\.goexit', pace('report', '-i', 'bare.data', '--children', '-g', 'none', '-s', 'sym').out, re.M)
        assert whole and float(whole[1]) > least, (options, whole)


@test
def handlers_of_signals_have_interrupted_somebody():
    """The trampoline that they return to lies behind a function with another purpose, and what was interrupted on another stack."""
    can_record()
    if os.uname().machine != 'x86_64':
        skip('trampolines of Go are known by their code on x86-64')
    path = os.path.abspath(build('signals', '-ldflags=-s -w', source=SIGNALS))
    done = pace('record', '-q', '-F', '5000', '--call-graph', 'dwarf,65528', '-o', 'signals.data', path)
    assert done.status == 0, done
    stacks = [[line.split(None, 1)[1] for line in block.split('\n') if line.startswith('\t')]
              for block in pace('script', '-i', 'signals.data', '--no-inline', '-F', 'ip,sym').out.split('\n\n')]
    behind = [stack[stack.index('runtime.sigtramp') + 1:] for stack in stacks if 'runtime.sigtramp' in stack]
    whole = [rest for rest in behind if len(rest) > 1 and rest[0].startswith('runtime.sigreturn') and 'cgoSigtramp' not in rest[1]]
    assert len(behind) > 10 and len(whole) >= 0.9 * len(behind), (len(behind), len(whole), [rest for rest in behind if rest not in whole][:3])


if __name__ == '__main__':
    main()
