#!/usr/bin/env python3
"""`pace record -g`: whole stacks, whatever the program keeps of them, and no caller that was none."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

CLOCK = ('-e', 'cpu-clock:u', '-F', '2000')
DEEP = os.path.join(TOP, 'tests/live/programs/deep.c')


def chains(path='perf.data'):
    """The functions of each sample, innermost first, as the file has them; the last word says where it is cut."""
    script = pace('script', '--no-inline', '-i', path, '-F', 'comm,tid,time,event,ip,sym')
    assert is_well(script), script
    found = []
    for line in script.out.split('\n'):
        if line.startswith('\t'):
            found[-1].append(line.split(None, 1)[1])
        elif line.strip():
            found.append([])
    return found


def record(*args, **kwargs):
    done = pace('record', *CLOCK, *args, **kwargs)
    assert done.status == 0, done
    return done


def build(name, *flags, compiler='gcc', source=DEEP):
    done = run(compiler, '-g', '-w', '-o', name, source, *flags)
    if done.status:
        skip(f'{compiler} {" ".join(flags)}: {done.err.strip()[:200]}')
    return os.path.abspath(name)


def is_whole(chain, roots=('_start', '__libc_start_call_main', '[unknown]')):
    return chain[-1].split('@')[0] in roots


def check_deep(found, depth, share=0.98, least=100):
    """Who is in the leaf, or in the library's strcmp, was called by middle, and that by each descend there was."""
    leaves = [c for c in found if 'middle' in c or 'leaf' in c or any('strcmp' in f for f in c)]
    assert len(leaves) >= least, (len(leaves), len(found), found[:3])
    right = 0
    for c in leaves:
        # nothing is told that was not so: these are all the functions that there are, in this order
        below = [f for f in c if f in ('leaf', 'middle', 'descend', 'first', 'second', 'main')]
        order = ['leaf', 'middle', *['descend'] * (depth + 1), below[-2] if len(below) > 1 else 'first', 'main']
        assert order[1:1 + len(below)] == below or order[:len(below)] == below, (depth, c)
        right += len(below) >= depth + 4 and below[-2] in ('first', 'second') and is_whole(c)
    assert right >= share * len(leaves), (right, len(leaves), [c for c in leaves if not is_whole(c)][:3])
    return leaves


@test
def leaves_and_programs_without_frames_have_their_callers():
    can_record()
    ways = {'plain': ('-O2',), 'framed': ('-O2', '-fno-omit-frame-pointer'), 'bare': ('-O2', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables'),
            'static': ('-O2', '-static'), 'unoptimized': ('-O0',)}
    for name, flags in ways.items():
        program = build(name, *flags)
        done = record('-q', '-g', '-o', f'{name}.data', program, '5', '1500000')
        assert not done.err, done
        check_deep(chains(f'{name}.data'), 5)
        attrs = pace('evlist', '-v', '-i', f'{name}.data').out
        assert 'CALLCHAIN' in attrs and 'STACK_USER' not in attrs and 'REGS_USER' not in attrs, attrs


@test
def static_musl_has_whole_stacks():
    can_record()
    needs('musl-gcc')
    record('-q', '-g', build('musl', '-O2', '-static', compiler='musl-gcc'), '5', '1500000')
    check_deep(chains(), 5)


@test
def the_chain_of_frame_pointers_leads_on_where_the_copy_ends():
    """Far above the copy each frame keeps its pointer: no larger copy is needed, and what begins main is known to be the last."""
    can_record()
    if os.uname().machine != 'x86_64':
        skip('frames of other machines do not tell who keeps them')
    program = build('framed', '-O1', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls')
    record('-q', '-g', program, '60', '30000', '500', '20000')
    check_deep(chains(), 60)


@test
def wordcount_is_drawn_as_its_source_has_it():
    """The README's picture: what find_word calls is not count_words' own, and the library's leaf has its caller."""
    can_record()
    source = os.path.join(TOP, 'examples/wordcount.c')
    for flags in ('-fno-omit-frame-pointer', '-fomit-frame-pointer'):
        record('-q', '-g', build('wordcount', '-O1', '-fno-inline', flags, source=source))
        found = [c for c in chains() if 'main' in c]
        callers = {}
        for c in found:
            for callee, caller in zip(c, c[1:]):
                callers.setdefault(re.sub(r'.*strcspn.*', 'strcspn', callee), {}).setdefault(caller, []).append(c)
        for callee, caller in (('is_same', 'find_word'), ('hash_word', 'find_word'), ('find_word', 'count_words'), ('count_words', 'main'),
                               ('make_text', 'main')):
            assert set(callers.get(callee, {caller: 0})) == {caller}, (callee, {k: len(v) for k, v in callers[callee].items()})
        assert len(callers['is_same']['find_word']) > 100
        if 'strcspn' in callers:
            assert set(callers['strcspn']) <= {'count_words', 'strcspn', '*ABS*+0xa0a00 plt'} | {c for c in callers['strcspn'] if 'plt' in c}, callers['strcspn'].keys()


@test
def frame_pointers_alone_are_for_who_asks():
    can_record()
    record('-q', '--call-graph', 'fp', '-vv', build('plain', '-O2'), '5', '300000')
    done = record('--call-graph', 'fp', '-vv', './plain', '5', '1000')
    assert 'STACK_USER' not in done.err and 'CALLCHAIN' in done.err, done
    done = record('-g', '-vv', './plain', '5', '1000')
    assert 'STACK_USER' in done.err and 'exclude_callchain_user: 1' not in done.err, done
    done = record('-g', '--keep-stacks', '-vv', './plain', '5', '1000')
    assert 'exclude_callchain_user: 1' in done.err, done


@test
def whole_systems_and_running_processes_have_whole_stacks():
    can_record()
    program = build('plain', '-O2')
    target = start(program, '5', '100000000')
    record('-q', '-g', '-p', str(target.pid), 'sleep', '0.6')
    check_deep(chains(), 5)
    if os.geteuid() == 0:
        record('-q', '-a', '-g', 'sleep', '0.6')
        check_deep([c for c in chains() if 'middle' in c], 5)
    stop(target)


main()
