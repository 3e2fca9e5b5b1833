#!/usr/bin/env python3
"""Definitions of probes, functions and variables, compared with perf's. Differences that are meant, and are in pace-probe(1), are not compared:
a line that is several pieces of code, types of results and of arrays, global variables of programs, bit fields."""
import json
import os
import re
import shutil
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


def with_markers():
    """Two programs with the same markers in a build-id cache of their own: its environment, and their paths."""
    perf_works()
    if os.uname().machine != 'x86_64':
        skip("the program's markers are for x86-64")
    env, programs = dict(os.environ, HOME=os.path.abspath('home')), []
    os.makedirs('home', exist_ok=True)
    for level in ('-O1', '-O2'):
        # The second one has something else in it, so that its build-id differs.
        build_c('tests/live/programs/marked.c', 'marked' + level, level, f'-DLEVEL{level[1:]}', '-g')
        programs.append(os.path.abspath('marked' + level))
    return env, programs


@test
def markers_of_cached_programs_are_listed_and_probed_as_by_perf():
    env, programs = with_markers()
    for tool, n in (('perf', 1), (PACE, 1), ('perf', 2), (PACE, 2)):
        for name in os.listdir('home'):
            shutil.rmtree(f'home/{name}')
        for program in programs[:n]:
            assert run(tool, 'buildid-cache', '-a', program, env=env).status == 0
        # perf lists what it has found itself.
        if tool == 'perf':
            theirs = [run('perf', *words, env=env).out for words in (['list', 'sdt'], ['probe', '-D', '%sdt_shop:sale'], ['probe', '-D', 'sdt_shop:refund'])]
        ours = [run(PACE, *words, env=env) for words in (['--as-perf', 'list', 'sdt'], ['probe', '-D', '%sdt_shop:sale'], ['probe', '-D', 'sdt_shop:refund'])]
        # perf leaves out arguments that are numbers.
        found = [sorted(result.out.replace(' arg3=\\7:u32', '').split('\n')) for result in ours]
        assert [sorted(out.split('\n')) for out in theirs] == found, (theirs, ours)
        assert ours[0].out.count('[SDT event]') == 2 * n and ours[1].out.count('p:sdt_shop/sale ') == n, ours
    theirs, ours = (run(*tool, 'probe', '--cache', '--list', env=env) for tool in ((PACE,), (PACE, '--as-perf')))
    assert theirs.out == ours.out and ours.out.count('sdt_shop:sale=sale\n') == 2, ours
    # Of a file that is named, with or without a pattern; and for programs.
    shutil.rmtree('home/.debug')
    rows = json.loads(run(PACE, 'list', 'sdt', '-j', programs[0], env=env).out)
    assert [(row['event'], row['file'], row['places']) for row in rows] == [(f'sdt_shop:{name}', programs[0], 1) for name in ('refund', 'sale')], rows
    text = run(PACE, 'list', 'sdt', programs[0], 'sal*', env=env)
    assert re.findall(r'^  (\S+)  (\S+)$', text.out, re.M) == [('sdt_shop:sale', programs[0])], text
    nothing, quiet = (run(*tool, 'list', 'sdt', env=env) for tool in ((PACE,), (PACE, '--as-perf')))
    assert nothing.status == 1 and 'buildid-cache -a FILE' in nothing.err and quiet.status == 0 and not quiet.out, (nothing, quiet)
    # The program in the cache is not the one that is there now.
    assert run(PACE, 'buildid-cache', '-a', programs[0], env=env).status == 0
    shutil.copyfile(programs[1], programs[0])
    gone = run(PACE, 'probe', '-D', '%shop:sale', env=env)
    assert gone.status == 1 and '-x FILE' in gone.err, gone


@test
def symbols_are_found_below_a_folder():
    perf_works()
    build_c(SOURCE, 'probed', '-g', '-O1')
    here = os.getcwd()
    os.makedirs(f'below{here}')
    os.makedirs('flat')
    for folder in (f'below{here}', 'flat'):
        shutil.copyfile('probed', f'{folder}/probed')
    assert run('strip', 'probed').status == 0
    assert pace('probe', '-x', './probed', '-D', 'lookup key').status == 1
    for folder, ours in (('below', 'below'), ('flat', 'flat,flat')):
        result = pace('probe', '--symfs', f'{here}/{ours}', '-x', './probed', '-D', 'lookup key')
        assert re.fullmatch(rf'p:probe_probed/lookup {here}/probed:0x[0-9a-f]+ key=\S+\n', result.out), result
        theirs = run('perf', 'probe', '--symfs', f'{here}/{folder}', '-x', f'{here}/probed', '-D', 'lookup key')
        # perf asks there for names, and in some versions not for debug information.
        assert theirs.status or theirs.out == result.out, (theirs, result)
    missing = pace('probe', '--symfs', 'nowhere', '-x', './probed', '-D', 'lookup')
    assert missing.status == 1 and "--symfs: opening 'nowhere/probed'" in missing.err, missing


@test
def boot_configurations_have_the_kernels_own_key():
    """perf writes the key `probe`, which the kernel does not know, and returns as if they were entries."""
    perf_works()
    build_c(SOURCE, 'probed', '-g', '-O1')
    for words in (['lookup key'], ['mine=lookup'], ['lookup', 'other x'], ['lookup%return']):
        definitions = [part for word in words for part in ('-D', word)]
        theirs, ours = (run(tool, 'probe', '-k', './probed', *definitions, '--bootconfig') for tool in ('perf', PACE))
        expected = theirs.out.replace('.probe = ', '.probes = ')
        if 'return' in words[0]:
            expected = expected.replace("+0'", "+0%return'")
        assert ours.status == 0 and ours.out == expected and "probes = '" in ours.out, (theirs, ours)
    for words, said in ((['-x', './probed', '-D', 'lookup'], 'no programs'), (['-k', './probed', 'lookup'], '-D PROBE')):
        refused = pace('probe', *words, '--bootconfig')
        assert refused.status == 2 and said in refused.err, (words, refused)


@test
def what_was_added_is_said_in_perfs_words_in_its_place():
    perf_works()
    needs_root()
    build_c(SOURCE, 'probed', '-g', '-O1')
    said = {}
    for tool in (('perf',), (PACE, '--as-perf')):
        added = run(*tool, 'probe', '-x', os.path.abspath('probed'), 'own:lookup=lookup')
        if added.status:
            skip('no probes can be added here: ' + added.err[-100:])
        said[tool[0]] = (added.out, added.err)
        removed = run(*tool, 'probe', '-d', 'own:lookup')
        said[tool[0]] += (removed.out, removed.err)
    assert said['perf'] == said[PACE] and 'Added new event:' in said[PACE][1], said


main()
