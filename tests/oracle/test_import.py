#!/usr/bin/env python3
"""Profiles that other programs wrote, compared with what those programs print: Go's pprof; and text that is folded again."""
import collections
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

PROGRAM = r'''
package main

import (
	"fmt"
	"os"
	"runtime/pprof"
)

var kept [][]byte

//go:noinline
func spin(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i * i % 7
	}
	return s
}

//go:noinline
func fill(n int) {
	for i := 0; i < n; i++ {
		kept = append(kept, make([]byte, 1<<20))
	}
}

//go:noinline
func work() (s int) {
	for i := 0; i < 30; i++ {
		s += spin(10000000)
	}
	fill(16)
	return s
}

func main() {
	f, _ := os.Create("cpu.pprof")
	pprof.StartCPUProfile(f)
	fmt.Println(work())
	pprof.StopCPUProfile()
	f.Close()
	h, _ := os.Create("heap.pprof")
	pprof.WriteHeapProfile(h)
	h.Close()
}
'''


def top(path, index):
    """What pprof says: function -> (flat, cumulative), in the type's unit."""
    done = run('go', 'tool', 'pprof', '-top', '-nodefraction=0', '-unit=' + ('ns' if 'cpu' in index else 'B' if 'space' in index else 'count'),
               f'-sample_index={index}', path)
    assert done.status == 0, done
    rows = re.findall(r'^\s*(\d+)\S*\s+\S+%\s+\S+%\s+(\d+)\S*\s+\S+%\s+(.+?)(?: \(inline\))?$', done.out, re.M)
    return {name: (int(flat), int(cumulative)) for flat, cumulative, name in rows}


@test
def go_profiles_have_the_numbers_that_pprof_shows():
    needs('go')
    with open('program.go', 'w', encoding='utf-8') as file:
        file.write(PROGRAM)
    os.environ.update(GOCACHE=os.path.abspath('cache'), GOFLAGS='', GO111MODULE='off', HOME=os.getcwd())
    assert run('go', 'build', '-o', 'program', 'program.go').status == 0
    assert run('./program').status == 0
    for path, wanted in (('cpu.pprof', {'cpu': 'cpu/nanoseconds', 'samples': 'samples/count'}),
                         ('heap.pprof', {'inuse_space': 'inuse_space/bytes', 'alloc_objects': 'alloc_objects/count'})):
        done = pace('report', '-i', path, '--json', '-s', 'symbol', '--children')
        check_sane(done)
        assert done.status == 0, done
        events = json.loads(done.out)['events']
        # Each is its own default: the last type.
        assert events[0]['event'] == {'cpu.pprof': 'cpu/nanoseconds', 'heap.pprof': 'inuse_space/bytes'}[path], events[0]['event']
        for index, name in wanted.items():
            event = next(e for e in events if e['event'] == name)
            # With inlined functions a sample's own place is the function that they are in: sums are of what they are called with.
            ours = {row['symbol'].removesuffix(' (inlined)'): row['total_period'] for row in event['rows']}
            theirs = {function: cumulative for function, (flat, cumulative) in top(path, index).items() if cumulative}
            assert theirs and {f: n for f, n in ours.items() if n} == theirs, (name, ours, theirs)


def some_name(generator):
    return ''.join(generator.choice('abcdefXYZ_:<>()[]&*, .0123456789') for _ in range(generator.randrange(1, 30))).strip() or 'f'


@test
def random_folded_stacks_come_back_byte_for_byte():
    generator = random.Random(5)
    names = [some_name(generator) + generator.choice(['', '', '', '_[k]', '_[j]', '_[i]', '_[w]']) for _ in range(300)]
    sums = collections.Counter()
    lines = []
    for _ in range(20000):
        # What follows "; 12]" and ";::" is no other name: see folded text in pace-report(1).
        stack = ';'.join(generator.choice(names).lstrip(':') or 'g' for _ in range(generator.randrange(1, 40)))
        if re.search(r'; \d+\]', stack):
            continue
        count = generator.randrange(1, 1000)
        sums[stack] += count
        lines.append(f'{stack} {count}\n')
    with open('in.folded', 'w', encoding='ascii') as file:
        file.writelines(lines)
    with open('wanted', 'w', encoding='ascii') as file:
        file.writelines(f'{stack} {sums[stack]}\n' for stack in sorted(sums))
    for how in ('"$0" report -i in.folded --format folded', 'cat in.folded | "$0" report -i - --format folded',
                'gzip -c in.folded | "$0" report -i - --format folded'):
        done = run('sh', '-c', how + ' > out', PACE)
        check_sane(done)
        assert done.status == 0, done
        assert run('cmp', 'out', 'wanted').status == 0, (how, run('sh', '-c', 'diff out wanted | head -4').out)


if __name__ == '__main__':
    main()
