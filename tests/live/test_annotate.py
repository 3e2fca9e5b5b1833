#!/usr/bin/env python3
"""annotate --diff: builds of one function by real compilers, side by side."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

PROGRAM = r'''
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline)) unsigned long work(const unsigned *v, unsigned n, unsigned times)
{
	unsigned long sum = 0, mix = 1;
	for (unsigned i = 0; i < n; i++) {
		sum += v[i] % times;
#ifdef SLOW
		mix = mix % 1000003 * 636413622ul + v[i]; mix = mix % 10007 * 84679053ul + 1; mix = mix % 1009 * 4679053ul + 1; sum += mix;
#endif
	}
	for (unsigned i = 0; i < n / 2; i++)
		sum ^= v[n - 1 - i] / (i + 1);
	return sum + mix;
}
int main(int argc, char **argv)
{
	unsigned n = 20000, *v = malloc(n * sizeof(*v));
	for (unsigned i = 0; i < n; i++)
		v[i] = i * 2654435761u;
	for (int i = 0; i < ROUNDS; i++)
		sink += work(v, n, 7 + argc);
	return sink == 1;
}
'''


def recording(name, *flags):
    """Of a build with these flags."""
    can_record()
    needs('gcc')
    open('work.c', 'w', encoding='utf-8').write(PROGRAM)
    done = run('gcc', '-g', '-DROUNDS=2500', *flags, '-o', name, 'work.c')
    assert done.status == 0, done
    result = pace('record', '-q', '-F', '4000', '-e', 'cpu-clock:u', '-o', f'{name}.data', f'./{name}')
    assert result.status == 0, result
    return f'{name}.data'


def compare(*words):
    result = pace('annotate', '--diff', '--json', *words)
    if 'needs a disassembler' in result.err:
        skip('there is no disassembler')
    assert result.status == 0, result
    return json.loads(result.out)


def sums(read, side):
    return sum(block['counts'][0][side]['samples'] for block in read['blocks'])


@test
def the_same_build_has_no_differences():
    a = recording('a', '-O2')
    os.rename('a.data', 'first.data')
    b = recording('a', '-O2')
    read = compare('first.data', b, 'work')
    assert all(block['code'] == 'same' and not block['moved'] for block in read['blocks']), read['blocks']
    for side in 'ab':
        assert sums(read, side) == read['events'][0][side]['samples'] > 20
    text = pace('annotate', '--diff', 'first.data', a, 'work').out
    assert re.search(r'^# Instructions: \d+ the same$', text, re.M), text


@test
def the_loop_that_was_changed_is_named_with_its_lines():
    a, b = recording('a', '-O2'), recording('b', '-O2', '-DSLOW')
    read = compare(a, b)
    assert read['a']['name'] == read['b']['name'] == 'work'
    changed = [block for block in read['blocks'] if block['counts'][0]['change']['beyond_sampling']]
    most = max(changed, key=lambda block: block['counts'][0]['change']['more'])
    assert most['code'] in ('changed', 'new') and 5 <= most['first_line'] <= most['last_line'] <= 12, most
    # Which of its instructions are new is known too
    new = [line['b']['text'] for line in most['instructions'] if line['how'] == 'new']
    assert any('mul' in text for text in new), new
    # The second loop is as it was, in whatever registers
    rest = [block for block in read['blocks'] if block.get('first_line', 0) >= 13 and block['counts'][0]['a']['samples'] > 20]
    assert rest and all(block['code'] in ('same', 'alike') for block in rest), rest
    text = pace('annotate', '--diff', a, b).out
    assert re.search(r'^# block \d+ \(work\.c:\d+-\d+\) takes [\d.]+ m?s \+- [\d.]+ ms more: ', text, re.M), text
    assert re.search(r'^ +[\d.]+ +\+ +[0-9a-f]+ +i?mul', text, re.M), text


@test
def another_register_allocation_is_the_same_code():
    if os.uname().machine != 'x86_64':
        skip('-ffixed-r8 is of x86-64')
    a, b = recording('a', '-O2'), recording('b', '-O2', '-ffixed-r8', '-ffixed-r9')
    read = compare(a, b, 'work')
    lines = [line['how'] for block in read['blocks'] for line in block['instructions']]
    assert lines.count('alike') >= 3, lines
    assert lines.count('same') + lines.count('alike') > 0.5 * len(lines), lines


@test
def another_level_of_optimisation_is_compared_too():
    a, b = recording('a', '-O1'), recording('b', '-O3')
    read = compare(a, b, 'work')
    for side in 'ab':
        rows = [line[side]['address'] for block in read['blocks'] for line in block['instructions'] if side in line]
        assert len(rows) == len(set(rows)) and sums(read, side) == read['events'][0][side]['samples'], (side, rows)


@test
def what_cannot_be_compared_is_said():
    a = recording('a', '-O2')
    for words, reason in ((['--diff', a], 'two recordings'), (['--diff', a, a, 'nothing'], "called 'nothing'"),
                          (['--diff', a, 'none.data'], 'none.data'), (['--diff', '--normalise', 'x', a, a], 'neither run nor total'),
                          (['--diff', '-i', a, a, a], 'name both recordings')):
        result = pace('annotate', *words)
        assert result.status == (1 if 'nothing' in words else 2) and reason in result.err and not result.out, (words, result)


if __name__ == '__main__':
    main()
