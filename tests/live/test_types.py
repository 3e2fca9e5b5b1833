#!/usr/bin/env python3
"""The types of data that a recorded program's instructions access: rows by type and member, compared with what each sampled address alone
says; and the messages if nothing is known."""
import collections
import csv
import io
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

PROGRAM = os.path.join(TOP, 'tests/live/programs/listwalk.c')
DATATYPES = os.path.join(BUILD, 'tests', 'datatypes')
# Not PIE: the addresses of samples are those of the file. Static: all of its code is in one file.
FLAGS = ['-O2', '-no-pie', '-static']


def record(*flags, call_graph=()):
    if os.uname().machine != 'x86_64':
        skip('the instructions are those of x86-64')
    program = build_c(PROGRAM, 'listwalk', *FLAGS, *flags)
    result = pace('record', '-q', '-e', 'cpu-clock:u', '-F', '2000', *call_graph, '-o', 'types.data', program, '300')
    assert result.status == 0, result
    return program


def rows(keys, *options):
    result = pace('report', '-i', 'types.data', '--csv', '-F', 'sample,' + keys, '-s', keys, *options)
    assert result.status == 0, result
    return list(csv.DictReader(io.StringIO(result.out))), result


def by_address(program):
    """What each instruction of the program's own functions took time for: what the one before it accessed; and what it accesses."""
    done = run(DATATYPES, program, 'walk', 'main')
    check_sane(done)
    assert done.status == 0, done.out[-500:]
    lines = [line.split('\t') for line in done.out.split('\n') if line and not line.startswith('#')]
    return tuple({int(words[0], 16): '' if words[i].startswith('(unknown)') else words[i] for words in lines} for i in (3, 2))


@test
def rows_are_what_their_addresses_access():
    program = record('-g')
    before, own = by_address(program)
    check_rows(own, '--skid', '0')
    check_rows(before, '--skid', '1')
    found = check_rows(before)
    # The loop waits for nothing but items.
    assert sum(n for what, n in found.items() if what.startswith('struct item +')) > 0.8 * sum(found.values()), found


def check_rows(known, *options):
    script = pace('script', '-i', 'types.data', '-F', 'ip')
    addresses = [int(word, 16) for word in script.out.split()]
    assert len(addresses) > 50, script
    expected = collections.Counter(known.get(a, '') for a in addresses if a in known)
    found = collections.Counter()
    for row in rows('sym,typeoff', *options)[0]:
        if row['symbol'] in ('walk', 'main'):
            found[row['typeoff']] += int(row['samples'])
    assert found == expected, (options, found, expected)
    return found


@test
def types_add_up_and_members_are_in_them():
    record('-g')
    types, members = rows('type')[0], rows('type,typeoff')[0]
    assert sum(int(r['samples']) for r in types) == sum(int(r['samples']) for r in members)
    assert 'struct item' in [r['type'] for r in types], types
    for row in members:
        assert row['typeoff'].startswith(row['type']), row
    assert {r['typeoff'] for r in members if r['type'] == 'struct item'} <= {
        'struct item +0 (key)', 'struct item +0x8 (next)'}, members


@test
def reasons_are_told():
    record('-g')
    result = pace('report', '-i', 'types.data', '-s', 'type', '--ledger')
    assert 'cpu-clock:u is not a precise event (skid)' in result.err and '--skid 0: of the sampled one' in result.err, result
    record('-g0')
    result = pace('report', '-i', 'types.data', '-s', 'type')
    assert '100.00%  (unknown)' in result.out, result
    assert "have no known data type: '" in result.out and 'has no debug information: compile it with -g' in result.out, result


@test
def time_on_and_off_cpus_is_of_the_access_that_its_clock_samples():
    """Wall-clock time is counted as events of its own, more than the recording has: what is known of samples is what is known of the clock's."""
    if os.uname().machine != 'x86_64':
        skip('the instructions are those of x86-64')
    program = build_c(PROGRAM, 'listwalk', *FLAGS, '-g')
    assert pace('record', '-q', '--wall', '-e', 'cpu-clock', '-F', '2000', '-o', 'types.data', program, '300').status == 0
    before, own = by_address(program)
    for known, options in ((own, ['--skid', '0']), (before, ['--skid', '1']), (before, [])):
        found, result = rows('sym,addr,typeoff', *options)
        found = [row for row in found if row['symbol'] == 'walk']
        assert {'wall', 'wall:cpu', 'latency'} <= {row['event'] for row in found}, found
        for row in found:
            # Where it was interrupted and lost its CPU, the address is the scheduler's.
            address = int(row['addr'], 16)
            assert row['typeoff'] == known[address] if address < 1 << 63 else row['typeoff'] in known.values(), (options, row)
    assert 'cpu-clock is not a precise event (skid)' in result.err, result


@test
def children_have_no_types():
    result = pace('report', '-i', 'nothing.data', '--children', '-s', 'type')
    assert result.status, result
    record('-g', call_graph=['-g'])
    result = pace('report', '-i', 'types.data', '--children', '-s', 'type')
    assert result.status == 2 and "key 'type' describes where samples were taken, not their callers" in result.err, result


@test
def members_of_a_type_have_what_rows_say():
    record('-g')
    result = pace('annotate', '-i', 'types.data', '--data-type', '--json')
    assert result.status == 0, result
    types = json.loads(result.out)['types']
    item = [t for t in types if t['name'] == 'struct item']
    assert len(item) == 1 and item[0]['size'] == 72, types
    lines = item[0]['lines']
    assert [(x['depth'], x['kind'], x['type'], x['name'], x['offset'], x['size']) for x in lines] == [
        (0, 'struct', 'struct item', '', 0, 72), (1, 'member', lines[1]['type'], 'key', 0, 8),
        (1, 'member', 'struct item *', 'next', 8, 8), (1, 'member', lines[1]['type'], 'rest[7]', 16, 56)], lines
    counts = {x['name']: sum(c['samples'] for c in x['counts']) for x in lines}
    said = {row['typeoff']: int(row['samples']) for row in rows('typeoff')[0]}
    assert counts['key'] == said.get('struct item +0 (key)', 0) and counts['next'] == said.get('struct item +0x8 (next)', 0), (counts, said)
    assert counts[''] == sum(n for text, n in said.items() if text.startswith('struct item +')), (counts, said)
    text = pace('annotate', '-i', 'types.data', '--data-type=item')
    assert text.status == 0 and '\nstruct item (72 bytes): ' in '\n' + text.out and ' 8       8      struct item *next;\n' in text.out, text
    coloured = run(PACE, 'annotate', '-i', 'types.data', '--data-type=item', '--stdio-color').out
    assert '\x1b[31m' in coloured and re.sub('\x1b\\[[0-9]*m', '', coloured) == text.out and '\x1b' not in text.out, coloured
    missing = pace('annotate', '-i', 'types.data', '--data-type=nothing')
    assert missing.status == 1 and "no sampled instruction accesses a type with members called 'nothing'" in missing.err, missing
    both = pace('annotate', '-i', 'types.data', '--data-type', 'walk')
    assert both.status == 2 and '--data-type shows types, not functions' in both.err, both


@test
def damaged_debug_information_is_survived():
    program = record('-g')
    image = bytearray(open(program, 'rb').read())
    sections = [line.split() for line in run('readelf', '-SW', program).out.replace('[ ', '[').split('\n') if ' .debug_' in line]
    places = [(int(s[4], 16), int(s[5], 16)) for s in sections if s[1] in ('.debug_info', '.debug_abbrev', '.debug_loclists', '.debug_addr')]
    assert len(places) >= 3, sections
    random.seed(7)
    for i in range(60):
        mutant = bytearray(image)
        for _ in range(random.choice((1, 5, 50))):
            start, size = random.choice(places)
            mutant[start + random.randrange(size)] = random.randrange(256)
        open('mutant', 'wb').write(mutant)
        done = run(DATATYPES, 'mutant', 'walk', 'main')
        assert done.status in (0, 1) and 'Sanitizer' not in done.err and 'runtime error' not in done.err, (i, done)


def outcomes(program):
    """How often each answer is given over all instructions of a file, and the seconds of CPU that took."""
    before = os.times()
    done = run(DATATYPES, program)
    after = os.times()
    check_sane(done)
    assert done.status == 0, done
    return {line.split(' ', 2)[2].strip(): int(line.split()[1]) for line in done.out.splitlines()}, after.children_user - before.children_user


@test
def a_struct_of_many_members_costs_no_more_for_each_instruction():
    """Members are found by where they lie: five times as many cost about as much more to read, once, not once for each instruction."""
    if os.uname().machine != 'x86_64':
        skip('the instructions are those of x86-64')
    took = []
    for n in (2000, 40000):
        with open('wide.c', 'w') as f:
            f.write('struct wide {' + ''.join(f' int m{i};' for i in range(n)) + ' };\nlong sum(struct wide *w)\n{\n\tlong s = 0;\n')
            f.writelines(f'\ts ^= w->m{i * (n // 2000)} * {2 * i + 3}L;\n' for i in range(2000))
            f.write('\treturn s;\n}\nint main(void) { static struct wide w; return sum(&w) & 1; }\n')
        found, seconds = outcomes(build_c(os.path.abspath('wide.c'), 'wide'))
        assert found[''] >= 2000, found
        took.append(seconds)
    # All members for each instruction: 20 times as long. Reading them is part of both.
    print(f'# {took[0]:.2f} s, {took[1]:.2f} s')
    assert took[1] < 10 * took[0] + 2, took


@test
def many_variables_and_calls_cost_no_more_for_each_instruction():
    """Variables of a frame and of a unit, and what calls return, are found by where they are: eight times as many of each, not 64 times the work."""
    if os.uname().machine != 'x86_64':
        skip('the instructions are those of x86-64')
    took = []
    for n in (500, 4000):
        with open('many.c', 'w') as f:
            f.write('struct node { struct node *next; long a, b; };\n' + ''.join(f'struct node g{i};\n' for i in range(n)))
            f.write(''.join(f'struct node *c{i}(struct node *n) {{ return n->next; }}\n' for i in range(n)) + 'long f(struct node *p)\n{\n\tlong s = 0;\n')
            f.write(''.join(f'\tstruct node *v{i} = p + {i};\n' for i in range(n)))
            f.write(''.join(f'\ts += v{i}->a + g{i}.b + c{i}(v{i * 7 % n})->a;\n' for i in range(n)) + '\treturn s;\n}\nint main(void) { struct node n[9]; return f(n) & 1; }\n')
        done = run('cc', '-O0', '-g', '-o', 'many', 'many.c')
        assert done.status == 0, done
        found, seconds = outcomes(os.path.abspath('many'))
        # A load of each variable, of what it points to, of what a call returned.
        assert found[''] > 7 * n, found
        took.append(seconds)
    print(f'# {took[0]:.2f} s, {took[1]:.2f} s')
    assert took[1] < 24 * took[0] + 2, took


@test
def a_function_with_more_jumps_than_any_real_one_is_not_followed_and_it_is_said():
    if os.uname().machine != 'x86_64':
        skip('the instructions are those of x86-64')
    with open('jumps.c', 'w') as f:
        f.write('struct node { struct node *next; long value; };\n'
                'long jumps(struct node *n)\n{\n\t__asm__ volatile("xor %%eax, %%eax\\n.rept 140000\\njz 1f\\n.endr\\n1:" ::: "eax", "cc");\n'
                '\tlong s = 0;\n\tfor (int i = 0; i < 100; i++) s += ((volatile struct node *)n)->value;\n\treturn s;\n}\n'
                'int main(void) { static struct node n; long s = 0; for (int i = 0; i < 10000000; i++) s += jumps(&n); return s; }\n')
    program = build_c(os.path.abspath('jumps.c'), 'jumps')
    found, _ = outcomes(program)
    assert found['(unknown) in functions that are too large to be followed'] > 140000, found
    result = pace('record', '-q', '-e', 'cpu-clock:u', '-F', '2000', '-o', 'types.data', program)
    assert result.status == 0, result
    shown = pace('report', '-i', 'types.data', '-s', 'type')
    assert 'too large to be followed' in shown.out + shown.err, shown


main()
