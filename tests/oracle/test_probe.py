#!/usr/bin/env python3
"""Definitions of probes, functions and variables, compared with perf's. Differences that are meant, and are in pace-probe(1), are not compared:
a line that is several pieces of code, types of results and of arrays, global variables of programs, bit fields."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

SOURCE = 'tests/live/programs/probed.c'
SAME = '''lookup
lookup key
lookup:9
lookup%return
lookup@probed.c
twice
twice v
other x
lookup n=s->n
lookup s->in->a s->in->b[2]
lookup s->name:string what:string
lookup s->color s->ratio s->whole
lookup $params
lookup %ax %di:u64 $stack0 $stack
mine=lookup
g:mine=lookup key:x32
lookup s
lookup s->list[1]
look*
lookup key=%di
lookup key:u8
lookup s->here.b[1] s->bytes[1]
lookup s[1].n what[0]
lookup s->here
lookup what@user
main argc argv
lookup $comm +8(%di):u64'''.split('\n')


def differing(flags, definitions):
    perf_works()
    build_c(SOURCE, 'probed', *flags)
    wrong = []
    for text in definitions:
        ours, theirs = (run(*program, 'probe', '-x', './probed', '-D', text) for program in ((PACE,), ('perf',)))
        # perf refuses lines that share their address with others, and dies of some debug information.
        if theirs.status == 0 and ours.out != theirs.out:
            wrong.append((text, ours, theirs))
    return wrong


@test
def definitions_are_perfs_without_optimization():
    wrong = differing(('-g', '-O0'), SAME)
    assert not wrong, wrong


@test
def definitions_are_perfs_with_optimization():
    for level in ('-O1', '-O2', '-Os'):
        wrong = differing(('-g', level), SAME)
        assert not wrong, (level, wrong)


@test
def older_debug_information_gives_the_same():
    for version in ('-gdwarf-4', '-gdwarf-3'):
        wrong = differing((version, '-O2'), SAME)
        assert not wrong, (version, wrong)


@test
def variables_are_perfs():
    perf_works()
    for flags in (('-g', '-O0'), ('-g', '-O1')):
        build_c(SOURCE, 'probed', *flags)
        for place in ('lookup', 'main', 'other'):
            ours, theirs = (run(*program, 'probe', '-x', './probed', '-V', place) for program in ((PACE,), ('perf',)))
            assert ours.status == theirs.status == 0, (ours, theirs)
            names = [{line.split()[-1] for line in text.split('\n')[2:] if line} for text in (ours.out, theirs.out)]
            # perf lists variables whose values would have to be computed, too.
            assert names[0] == names[1] if '-O0' in flags else names[0] <= names[1], (place, ours, theirs)


@test
def functions_are_perfs():
    perf_works()
    build_c(SOURCE, 'probed', '-g', '-O2')
    ours, theirs = (set(run(*program, 'probe', '-x', './probed', '-F').out.split()) for program in ((PACE,), ('perf',)))
    # perf lists variables among them.
    assert {'lookup', 'main', 'other'} <= ours <= theirs, (ours, theirs)


@test
def lines_are_perfs():
    perf_works()
    build_c(SOURCE, 'probed', '-g', '-O0')
    for place in ('lookup:2+3', 'other'):
        ours, theirs = (run(*program, 'probe', '-x', './probed', '-L', place) for program in ((PACE,), ('perf',)))
        n = min(ours.out.count('\n'), theirs.out.count('\n'))
        assert ours.status == 0 and n > 3 and ours.out.split('\n')[:n] == theirs.out.split('\n')[:n], (ours, theirs)


main()
