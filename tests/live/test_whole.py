#!/usr/bin/env python3
"""`pace record -g`: whole stacks, whether or not the program keeps frame pointers, and no false callers."""
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
    # The dynamic linker compares names as well, when main calls something for the first time.
    leaves = [c for c in found if 'middle' in c or 'leaf' in c or any('strcmp' in f for f in c) and not any(f.startswith('_dl_') for f in c)]
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


def is_packed(path='perf.data'):
    said = pace('report', '--header-only', '-i', path)
    assert said.status == 0, said
    return '# compressed : Zstd' in said.out


@test
def whole_stacks_are_compressed_unless_somebody_cannot_unpack_them():
    can_record()
    program = build('plain', '-O2')
    ways = {'-g': True, '--call-graph dwarf': True, '-g --compat 5.2': True, '-z': True, '-g -z3': True, '-g --ring 60': True,
            '': False, '--call-graph fp': False, '-g -z0': False, '-g -z --no-compression-level': False, '-g --keep-stacks': False,
            '-g --compat 5.1': False}
    for words, packed in ways.items():
        record('-q', *words.split(), program, '5', '300000')
        assert is_packed() == packed, words
        assert len(chains()) > 20, words
    done = run('sh', '-c', '"$0" record -q -e cpu-clock:u -g -o - "$1" 5 300000 > stream', PACE, program)
    assert done.status == 0 and not is_packed('stream'), done
    done = pace('record', '-z', '--compat', '5.1', 'true')
    assert done.status == 2 and '5.2 is the first' in done.err, done
    done = pace('record', '-z23', 'true')
    assert done.status == 2 and 'not a level from 1 to 22' in done.err, done


@test
def small_rings_have_small_copies_or_none():
    can_record()
    program = build('plain', '-O2')
    for pages, stack in ((1, 0), (4, 1024), (8, 2048), (64, 8192)):
        done = record('-g', '-vv', '-m', str(pages), program, '5', '300000')
        said = re.findall(r'sample_stack_user: (\d+)', done.err)
        assert set(said) == ({str(stack)} if stack else set()), (pages, said, done)


@test
def whole_systems_and_running_processes_have_whole_stacks():
    can_record()
    program = build('plain', '-O2')
    target = start(program, '5', '100000000')
    record('-q', '-g', '-p', str(target.pid), 'sleep', '0.6')
    check_deep(chains(), 5)
    if os.geteuid() == 0:
        said = record('-a', '-g', 'sleep', '1').err
        found = [c for c in chains() if 'middle' in c and 'descend' in c]
        whole = [c for c in found if is_whole(c)]
        check_deep(whole, 5, least=20)
        # On a machine with more to do than it can, some are what the kernel made of them: a leaf hides its caller.
        assert len(whole) >= 0.98 * len(found) or "have only the kernel's chains" in said, (len(whole), len(found), said)
        # each passage of a place, of all programs, and each switch, are too many for copies
        for more in (['-e', 'mem:0x1000:x'], ['--wall']):
            said = pace('record', '-vv', '-a', '-g', *more, 'true').err
            assert 'CALLCHAIN' in said and 'STACK_USER' not in said, (more, said)
    stop(target)


UNFRAMED = ('-O1', '-fomit-frame-pointer', '-fno-optimize-sibling-calls')
GREW = re.compile(r"note: stacks of '(\S+)' are deeper than 8 KiB: from [\d.]+ s on up to (\d+) KiB were copied \(the stacks of (\d+) earlier samples are cut off\)")


def cut(path='perf.data'):
    """Of how many samples how many are cut, by what the ledger says."""
    text = pace('report', '--ledger', '-g', 'none', '-i', path).out
    n = int(re.search(r'^# ([\d,]+) samples recorded', text, re.M)[1].replace(',', ''))
    return n, sum(int(k.replace(',', '')) for k in re.findall(r'^# ([\d,]+) samples \(\S+ have stacks that end', text, re.M))


@test
def stacks_deeper_than_the_copies_are_copied_whole_while_it_records():
    """Two callers take turns below which everything is the same: whose turn it was is never mistaken."""
    can_record()
    program = build('unframed', *UNFRAMED)
    for options in (['-g'], ['--call-graph', 'dwarf']):
        # A recorder that falls behind (this one has sanitizers) leaves some as the kernel made them, and says how many.
        for frequency in ('10000', '2500', '600'):
            done = record('-F', frequency, *options, program, '60', '60000', '500', '20000')
            hasty = re.search(r"([\d,]+) samples have only the kernel's chains", done.err)
            hasty = int(hasty[1].replace(',', '')) if hasty else 0
            n, n_cut = cut()
            if hasty < n // 2:
                break
        else:
            skip('this machine is too busy to walk half of 600 stacks a second')
        said = GREW.search(done.err)
        assert said and said[1] == 'unframed' and said[2] == '64', done
        found = chains()
        # what was cut came before: so much as there was time for until the recorder had looked
        whole = [c for c in found if is_whole(c) and 'main' in c]
        assert len(whole) > 100 and n_cut < n, (n, n_cut)
        late = found[-len(found) // 2:]
        assert sum(is_whole(c) for c in late) + hasty >= 0.99 * len(late), (n, n_cut, hasty, [c for c in late if not is_whole(c)][:2])
        check_deep([c for c in late if is_whole(c)], 60)
        attrs = pace('evlist', '-v').out
        assert attrs.count('sample_type') == 1, attrs


@test
def children_and_running_processes_get_larger_copies_too():
    can_record()
    program = build('unframed', *UNFRAMED)
    done = record('-g', 'sh', '-c', f'for i in 1 2 3; do {program} 60 8000 500 20000 & done; wait; {program} 60 20000 500 20000')
    assert GREW.search(done.err), done
    late = chains()[-400:]
    assert sum(is_whole(c) for c in late) >= 0.98 * len(late), late[:2]
    target = start(program, '60', '100000000', '500', '20000')
    done = record('-g', '-p', str(target.pid), 'sleep', '1')
    stop(target)
    assert GREW.search(done.err), done
    late = chains()[-200:]
    assert sum(is_whole(c) for c in late) >= 0.98 * len(late), late[:2]


@test
def a_size_that_was_said_stays():
    can_record()
    program = build('unframed', *UNFRAMED)
    done = record('--call-graph', 'dwarf,4096', program, '60', '10000', '500', '20000')
    assert not GREW.search(done.err), done
    n, n_cut = cut()
    assert n_cut > 0.9 * n > 90, (n, n_cut)
    # nor is anything larger where it is not needed
    done = record('-g', program, '5', '20000', '16', '20000')
    assert not GREW.search(done.err), done


@test
def a_stack_with_pages_that_nobody_has_touched_is_whole():
    """The kernel's copy ends at the first of them."""
    can_record()
    with open('holes.c', 'w', encoding='utf-8') as file:
        file.write('#include <stdlib.h>\n#include <time.h>\nstatic volatile long sink;\n'
                   '__attribute__((noinline)) static void leaf(void) { for (long i = 0; i < 200000; i++) sink += i; }\n'
                   '__attribute__((noinline)) static void middle(void) { volatile char room[20000]; room[0] = 1; leaf(); room[1] = 1; }\n'
                   '__attribute__((noinline)) static void outer(void) { middle(); sink++; }\n'
                   'int main(void) { while (clock() < CLOCKS_PER_SEC) outer(); return 0; }\n')
    program = build('holes', *UNFRAMED, '-fno-stack-protector', source='holes.c')
    record('-q', '-g', program)
    found = chains()
    n, n_cut = cut()
    assert n > 500 and n_cut < 0.25 * n, (n, n_cut)
    late = found[-200:]
    assert all('main' in c and 'outer' in c and is_whole(c) for c in late if 'leaf' in c), late[:3]
    assert sum('leaf' in c for c in late) > 150, late[:3]


main()
