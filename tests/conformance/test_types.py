#!/usr/bin/env python3
"""The types of data that instructions access, in programs that say themselves which members their functions use: with two compilers,
with and without optimisation, with variables that move between places, and in two versions of DWARF.

Scalars and pointers are not compared: the compiler decides which variables are in memory, and when."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs')
DATATYPES = os.path.join(BUILD, 'tests', 'datatypes')


def said(source):
    """By function: the members that are accessed, and those that may be."""
    functions = {}
    for name, members in re.findall(r'/\* types (\w+): (.*) \*/', open(source).read()):
        words = [w.strip() for w in members.split(';')]
        functions[name] = {w for w in words if not w.endswith('?')}, {w[:-1] for w in words if w.endswith('?')}
    assert len(functions) >= 3, source
    return functions


def check_befores(lines):
    """Behind each instruction stands what the one accessed that ran before it: of all ways that lead there, as objdump shows them, the only
    one, or the one from the end of the loop that begins there."""
    code = re.findall(r'^ +([0-9a-f]+):\t(?:[0-9a-f]{2} )+ *\t(?:notrack |bnd )?(\S+)(?: +([0-9a-f]+) <)?', run('objdump', '-d', '-w', 'types').out, re.M)
    names = {int(at, 16): (name, int(to, 16) if to else None) for at, name, to in code}
    nothing = '(no memory access)'
    ways, known = {}, 0
    last = (None, '', '', '')
    for function, pc, own in [(function, int(at, 16), own) for at, function, own, _ in lines]:
        name, to = names[pc]
        compared = last[3] if function == last[0] and re.fullmatch('(cmp|test)[bwlq]?', last[2]) else nothing
        if function == last[0] and not re.match('jmp|ret|ud2|hlt', last[2]):
            ways.setdefault(pc, []).append((last[4] if last[2].startswith('j') else last[3], False))
        if name.startswith('j') and to:
            ways.setdefault(to, []).append((nothing if name.startswith('jmp') else compared, to <= pc))
        last = (function, pc, name, own, compared)
    for at, function, own, before in lines:
        leading = ways.get(int(at, 16), [])
        back = [what for what, is_back in leading if is_back]
        all_of_them = {what for what, _ in leading}
        expected = nothing if not leading else back[0] if len(back) == 1 else all_of_them.pop() if len(all_of_them) == 1 else \
            '(unknown) where several paths through the code meet'
        assert before == expected, (at, function, own, before, expected, leading)
        known += before.startswith('struct')
    assert known > 0, lines


def check(compiler, source, options, wrong):
    source = os.path.join(PROGRAMS, source)
    built = run(compiler, '-g', *options, '-o', 'types', source)
    assert built.status == 0, built
    # Where members lie, depends on the size of pointers; which are accessed does not.
    plain = (lambda what: re.sub(r' \+0(x\w+)? ', ' ', what)) if '-m32' in options else lambda what: what
    functions = {name: [set(map(plain, words)) for words in both] for name, both in said(source).items()}
    found = {name: set() for name in functions}
    done = run(DATATYPES, 'types', *functions)
    check_sane(done)
    assert done.status == 0, done.out[-500:]
    check_befores([line.split('\t') for line in done.out.split('\n') if line and not line.startswith('#')])
    for line in done.out.split('\n'):
        if not line or line.startswith('#'):
            continue
        address, function, what, _ = line.split('\t')
        if what.startswith('(unknown)'):
            wrong.append((compiler, options, line))
        if re.search(r' \+0(x\w+)? \(', what):
            found[function].add(plain(what))
    for name, (must, may) in functions.items():
        if not must <= found[name] <= must | may:
            wrong.append((compiler, options, name, 'missing', must - found[name], 'more', found[name] - must - may))
    return sum(map(len, found.values()))


def check_all(compilers, source, *always):
    if os.uname().machine != 'x86_64':
        skip('the instructions are those of x86-64')
    n, wrong = 0, []
    for compiler in compilers:
        needs(compiler)
        for level in '-O0', '-O1', '-O2', '-O3', '-Os':
            for more in (), ('-fno-omit-frame-pointer', '-gdwarf-4'):
                n += check(compiler, source, (*always, level, *more), wrong)
    assert not wrong, '\n'.join(map(str, wrong))
    print(f'# {n} members')


@test
def members_in_c_by_gcc():
    check_all(['gcc'], 'types.c')


@test
def members_in_c_by_clang():
    check_all(['clang'], 'types.c')


@test
def members_in_cxx_by_gcc_and_clang():
    check_all(['g++', 'clang++'], 'types.cc')


def builds_32(compiler):
    needs(compiler)
    with open('empty.c', 'w', encoding='utf-8') as file:
        file.write('#include <stdlib.h>\nint main(void) { return 0; }\n')
    if run(compiler, '-m32', 'empty.c').status:
        skip(f'{compiler} builds no programs of 32 bits here (gcc-multilib)')


@test
def members_in_c_of_32_bits_by_gcc():
    builds_32('gcc')
    check_all(['gcc'], 'types.c', '-m32')


@test
def members_in_c_of_32_bits_by_clang():
    builds_32('clang')
    check_all(['clang'], 'types.c', '-m32')


@test
def members_in_c_at_fixed_addresses():
    check_all(['gcc'], 'types.c', '-no-pie', '-fno-pie')


@test
def members_in_c_of_32_bits_at_fixed_addresses():
    builds_32('gcc')
    check_all(['gcc'], 'types.c', '-m32', '-no-pie', '-fno-pie')


main()
