#!/usr/bin/env python3
"""`pace record --call-graph dwarf`: stacks that are walked while they are recorded, for all targets and ways of recording."""
import collections
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

CLOCK = ('-e', 'cpu-clock:u', '-F', '999')
DWARF = ('--call-graph', 'dwarf')
PATH = ['leaf', 'middle', 'outer', 'run']


def stacks_program():
    return build_c('tests/live/programs/stacks.c', 'stacks', '-O1', '-fomit-frame-pointer', '-fno-optimize-sibling-calls', '-pthread')


def chains(path='perf.data', comm=None, event='cpu-clock'):
    """The functions of each sample, innermost first, as the file has them."""
    script = pace('script', '--no-inline', '-i', path, '-F', 'comm,tid,time,event,ip,sym')
    assert is_well(script), script
    found, chain = [], None
    for line in script.out.split('\n'):
        if line.startswith('\t'):
            chain.append(line.split()[1])
        elif line.strip():
            chain = []
            if event in line and (not comm or line.split()[0] == comm):
                found.append(chain)
    return found


def check_chains(least=20, **kwargs):
    """Nearly all samples are in leaf() or its callers: there the way to the thread's beginning is known."""
    found = chains(**kwargs)
    known = [c for c in found if 'leaf' in c or 'middle' in c]
    whole = [c for c in known if c[c.index('middle'):][:3] == PATH[1:] and (len(c) > c.index('run') + 1)]
    assert len(known) >= least, (len(found), found[:3])
    assert len(whole) >= 0.98 * len(known), (len(whole), len(known), [c for c in known if c not in whole][:3])
    return found


def check_plain(path='perf.data'):
    attrs = pace('evlist', '-v', '-i', path).out
    assert 'CALLCHAIN' in attrs and 'STACK_USER' not in attrs and 'REGS_USER' not in attrs, attrs
    assert 'exclude_callchain_user' not in attrs, attrs


def record(*args, **kwargs):
    done = pace('record', *CLOCK, *DWARF, *args, **kwargs)
    assert done.status == 0, done
    return done


@test
def a_command_its_threads_and_its_children_have_their_callers():
    can_record()
    program = stacks_program()
    for what in ('', 'fork', 'exec'):
        record('-q', program, '0.4', what)
        check_plain()
        check_chains()


@test
def a_program_whose_file_is_removed_has_its_callers_and_their_names_all_the_same():
    """Who walks its stacks has opened the file while it was there, or by /proc, and keeps it for its names."""
    can_record()
    if os.geteuid():
        skip('/proc/PID/map_files is for root')
    program, copy = stacks_program(), os.path.abspath('copy')
    shutil.copy(program, copy)
    record('-q', copy, '0.4', 'unlink')
    assert not os.path.exists(copy)
    check_chains()
    report = pace('report', '--ledger')
    assert 'leaf' in report.out and 'in copy have no function name' not in report.out, report


@test
def a_program_that_is_written_anew_in_place_does_not_end_the_recording():
    """The recorder has its file mapped, and what it knows of it lies behind the new end."""
    can_record()
    small = stacks_program()
    with open('large.c', 'w') as f:
        f.write('#include "%s"\n__attribute__((used)) const char filling[3 << 20] = {1};\n' % os.path.join(TOP, 'tests/live/programs/stacks.c'))
    assert run('gcc', '-O1', '-fomit-frame-pointer', '-pthread', '-o', 'changing', 'large.c').status == 0
    record('-q', 'sh', '-c', f'./changing 0.3; cat {small} > changing; ./changing 0.3; : > changing')
    found = chains()
    assert len(found) > 40 and pace('report').status == 0


@test
def a_library_that_another_build_takes_the_place_of_is_two():
    """Each is walked by its own call frame information; what is no longer there has no names of the other's."""
    can_record()
    spin = 'volatile long sink; __attribute__((noinline)) void leaf_{0}(void) {{ {1} for (long i = 0; i < 120000000; i++) {{ sink += i; {2} }} }}\n'
    with open('first.c', 'w') as f:
        f.write(spin.format('first', '', '') + 'void work(void) { leaf_first(); sink++; }\n')
    with open('second.c', 'w') as f:
        f.write(spin.format('second', 'volatile char room[3000];', 'room[i % 3000] = 1;')
                + '__attribute__((noinline)) void between(void) { volatile char room[500]; room[0] = 1; leaf_second(); room[1] = 2; }\n'
                  'void work(void) { between(); sink++; }\n')
    with open('loader.c', 'w') as f:
        f.write('#include <dlfcn.h>\n#include <stdio.h>\n#include <sys/stat.h>\n#include <unistd.h>\n'
                'static void run(void) { void *lib = dlopen("./lib.so", RTLD_NOW); ((void (*)(void))dlsym(lib, "work"))(); dlclose(lib); }\n'
                'static long size(void) { struct stat s; return stat("perf.data", &s) ? 0 : s.st_size; }\n'
                # the recorder has to see the first library while that is there, which it has when it has written samples
                'int main(void) { long before = size(); run(); while (size() < before + 4000) usleep(10000); '
                'rename("second.so", "lib.so"); run(); return 0; }\n')
    assert run('gcc', '-O1', '-o', 'loader', 'loader.c', '-ldl').status == 0
    for kept in (), ('--keep-stacks',):
        for source, library in ('first.c', 'lib.so'), ('second.c', 'second.so'):
            assert run('gcc', '-O2', '-fomit-frame-pointer', '-shared', '-fPIC', '-o', library, source).status == 0
        # uncompressed, so that what was written can be told by the size
        record('-q', '-z0', *kept, './loader')
        found = chains()
        of_first = [c for c in found if 'leaf_second' not in c and 'main' in c]
        of_second = [c for c in found if c[:1] == ['leaf_second']]
        # with stacks kept it is the reader who looks for the first library, and it is gone
        assert kept or len(of_first) > 10, found[:5]
        assert len(of_second) > 10 and all(c[1:3] == ['between', 'work'] and 'main' in c for c in of_second), of_second[:5]
        report = pace('report', '--ledger', '-g', 'none')
        replaced = "in lib.so have no function name: '.*' is not the file that ran: it has been replaced since"
        # who has walked the stacks of the first library has kept it within reach for its names
        assert bool(re.search(replaced, report.out)) == bool(kept), report
        assert kept or any(c[:2] == ['leaf_first', 'work'] for c in of_first), of_first[:5]


@test
def generated_code_without_frame_pointers_is_no_end():
    """As Python -X perf calls its functions: through code in memory that neither keeps a frame pointer nor tells of itself."""
    can_record()
    if os.uname().machine != 'x86_64':
        skip('the code is that of x86-64')
    with open('made.c', 'w') as f:
        f.write('#define _GNU_SOURCE\n#include <string.h>\n#include <sys/mman.h>\n#include <time.h>\n'
                'static volatile long sink;\n'
                # sub $8,%rsp; call *%rdi; add $8,%rsp; ret
                'static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};\n'
                'static void (*made)(void (*)(void));\n'
                '__attribute__((noinline)) static void leaf(void) { for (long i = 0; i < 1000000; i++) sink += i; }\n'
                '__attribute__((noinline)) static void inner(void) { leaf(); sink++; }\n'
                '__attribute__((noinline)) static void outer(void) { made(inner); sink++; }\n'
                'int main(void) { made = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); memcpy((void *)made, code, sizeof(code));\n'
                'while (clock() < CLOCKS_PER_SEC * 6 / 10) { made(outer); sink++; } return 0; }\n')
    assert run('gcc', '-O1', '-fomit-frame-pointer', '-fno-optimize-sibling-calls', '-o', 'made', 'made.c').status == 0
    record('-q', './made')
    found = [c for c in chains() if c[:2] == ['leaf', 'inner']]
    whole = [c for c in found if c[2:6] == ['[unknown]', 'outer', '[unknown]', 'main']]
    assert len(found) > 20 and len(whole) >= 0.98 * len(found), (len(found), [c for c in found if c not in whole][:3])


@test
def the_number_of_arguments_is_no_caller_of_the_first_function():
    can_record()
    if os.uname().machine not in ('x86_64', 'aarch64'):
        skip('its program is not written for this machine')
    for flags in (['-fno-omit-frame-pointer'], ['-fomit-frame-pointer']):
        program = build_c('tests/live/programs/bare.c', 'bare', '-O1', '-nostdlib', '-static', *flags)
        for how in (['--call-graph', 'fp'], ['-g'], DWARF):
            if flags[0] == '-fomit-frame-pointer' and how != DWARF:
                continue
            result = pace('record', '-q', *CLOCK, *how, program, 'one', 'two')
            assert result.status == 0, result
            text = pace('report', '--children', '-s', 'sym', '-g', 'caller', '--ledger').out
            assert 'work' in text and '_start' in text, text
            assert 'truncated' not in text and not re.search(r'\b0x0*3\b', text) and 'before their roots' not in text, (flags, how, text)


@test
def programs_of_32_bits_have_their_callers():
    """By call frame information, live and later, and by frame pointers."""
    can_record()
    source = os.path.join(TOP, 'tests/live/programs/stacks.c')
    for name, flag, options in (('stacks', '-fomit-frame-pointer', DWARF), ('stacks', '-fomit-frame-pointer', (*DWARF, '--keep-stacks')),
                                ('framed', '-fno-omit-frame-pointer', ('-g',))):
        done = run('gcc', '-m32', '-O1', flag, '-fno-optimize-sibling-calls', '-pthread', '-o', name, source)
        if done.status:
            skip('gcc makes no programs of 32 bits here (package gcc-12-multilib): ' + done.err.strip().split('\n')[0][:200])
        done = pace('record', '-q', *CLOCK, *options, f'./{name}', '0.5')
        assert done.status == 0, done
        found = check_chains()
        # The C library keeps no frame pointers: behind main they lead anywhere.
        assert any((c[-1] == '_start' or options == ('-g',)) and 'main' in c for c in found), found[:5]


def sizes_of_samples(path):
    """Of an uncompressed recording."""
    with open(path, 'rb') as file:
        data = file.read()
    at, size = struct.unpack_from('<QQ', data, 40)
    end, sizes = at + size, []
    while at < end:
        kind, _, size = struct.unpack_from('<IHH', data, at)
        sizes += [size] if kind == 9 else []
        at += size
    assert at == end, (path, at, end)
    return sizes


@test
def stacks_at_the_end_of_the_address_space_make_records_of_any_size():
    """The kernel copies what is left there, and at a fixed place of stacks that of 32-bit programs is less than asked for: no multiple
    of 8 if the stack pointer is none. Nothing behind such a record is lost, in no way of recording."""
    can_record()
    needs('setarch')
    with open('odd.c', 'w', encoding='utf-8') as file:
        file.write('volatile int sink; __attribute__((noinline)) static void odd(int n) { for (int i = 0; i < n; i++) sink += i; }\n'
                   'int main(void) { for (int i = 0; i < 30; i++) __asm__ volatile("push %%eax\\n push $10000000\\n call *%0\\n'
                   ' add $8, %%esp" : : "r"(odd) : "eax", "ecx", "edx", "memory"); return 0; }\n')
    done = run('gcc', '-m32', '-O1', '-mpreferred-stack-boundary=2', '-o', 'odd', 'odd.c')
    if done.status:
        skip('gcc makes no programs of 32 bits here (package gcc-12-multilib): ' + done.err.strip().split('\n')[0][:200])
    low = ('env', '-i', 'PATH=/usr/bin:/bin', 'setarch', '-R')
    for options in (('--keep-stacks',), ('--keep-stacks', '-z'), ('--keep-stacks', '--ring', '60'), ()):
        done = run(*low, PACE, 'record', *CLOCK, *DWARF, *options, '-o', 'odd.data', './odd')
        check_sane(done)
        assert done.status == 0 and 'made no sense' not in done.err and 'lost' not in done.err, done
        told = int(re.search(r'\((\d+) samples\)', done.err)[1])
        assert told > 50 and len(chains('odd.data')) == told, (options, told)
        if options == ('--keep-stacks',):
            odd = [size for size in sizes_of_samples('odd.data') if size % 8]
            assert len(odd) > told / 4, (len(odd), told)


@test
def running_processes_threads_and_the_whole_system_have_their_callers():
    can_record()
    program = stacks_program()
    target = start(program, '300')
    wait_for(lambda: len(os.listdir(f'/proc/{target.pid}/task')) == 2)
    often = ('-q', '-F', '5000')
    record(*often, '-p', str(target.pid), '--', 'sleep', '0.3')
    check_chains(10)
    record(*often, '-t', str(target.pid), '--', 'sleep', '0.3')
    assert all('main' in c for c in check_chains(5) if 'leaf' in c)
    if os.geteuid() == 0:
        record(*often, '-a', '--', 'sleep', '0.3')
        check_chains(10, comm='stacks')
    stop(target)


@test
def streams_compression_and_older_perfs_get_the_same_chains():
    can_record()
    program = stacks_program()
    record('-q', '-z', program, '0.3')
    check_chains()
    record('-q', '--compat', '4.2', program, '0.3')
    check_chains()
    with open('stream', 'wb') as out:
        done = subprocess.run([PACE, 'record', '-q', *CLOCK, *DWARF, '-o', '-', program, '0.3'], stdout=out, stderr=subprocess.PIPE)
    assert done.returncode == 0, done
    check_chains(path='stream')
    check_plain('stream')


@test
def events_have_callers_each_in_its_own_way():
    can_record()
    program = stacks_program()
    done = pace('record', '-q', '-e', 'cpu-clock/call-graph=dwarf,freq=999/u,cpu-clock/call-graph=no,name=none/u,task-clock/call-graph=fp/u',
                program, '0.3')
    assert done.status == 0, done
    check_chains(event='freq=999')
    assert chains(event='none') and not any(chains(event='none')) and any(chains(event='task-clock'))
    done = pace('record', '-q', '-e', '{cpu-clock:u,page-faults:u}:S', '-F', '999', *DWARF, program, '0.3')
    assert done.status == 0, done
    check_chains()


@test
def chains_are_cut_where_it_was_asked_for():
    can_record()
    record('-q', '--max-stack', '2', stacks_program(), '0.3')
    found = chains()
    assert found and all(len(c) <= 2 for c in found), found[:3]
    assert collections.Counter(map(tuple, found)).most_common(1)[0][0] == ('leaf', 'middle')
    assert '[truncated: too many frames]' in pace('report', '-g', 'none').out


@test
def the_same_work_looks_the_same_with_stacks_kept():
    can_record()
    program = stacks_program()
    shares, endings = [], []
    for keep in ([], ['--keep-stacks']):
        record('-q', *keep, program, '0.5')
        found = collections.Counter('<'.join(c[:4]) for c in chains())
        shares.append({path: n / sum(found.values()) for path, n in found.items()})
        endings.append(pace('report', '--ledger', '-g', 'none').out.count('end before their roots'))
    for path in set(shares[0]) | set(shares[1]):
        assert abs(shares[0].get(path, 0) - shares[1].get(path, 0)) < 0.1, (path, shares)
    assert max(shares[0].values()) > 0.8, shares


@test
def files_are_small_and_nothing_is_lost():
    """How small depends on how deep the stacks are: with stacks of a few frames it is far below 1/20."""
    can_record()
    program = stacks_program()
    sizes = []
    for keep in ([], ['--keep-stacks']):
        # With room for all of it: nobody has to be quick.
        done = pace('record', '-e', 'cpu-clock:u', '-F', '2000', '-m', '64M', *DWARF, *keep, program, '1')
        assert done.status == 0 and 'lost' not in done.err, done
        sizes.append(os.path.getsize('perf.data') / samples_said(done))
    assert sizes[0] * 20 < sizes[1], sizes


@test
def an_interrupted_recording_has_the_callers_of_all_samples():
    can_record()
    target = start(stacks_program(), '300')
    try:
        for number in (signal.SIGINT, signal.SIGKILL):
            name = f'cut-{number}.data'
            recorder = subprocess.Popen([PACE, 'record', *CLOCK, *DWARF, '-o', name, '-p', str(target.pid)], stderr=subprocess.DEVNULL)
            wait_for(lambda: has_counted(name, 50000))
            recorder.send_signal(number)
            recorder.wait()
            check_chains(50, path=name)
    finally:
        stop(target)


@test
def a_full_disk_leaves_what_was_written():
    can_record()
    program = stacks_program()
    done = run('sh', '-c', f'ulimit -f 100; exec {PACE} record -q -z0 -e cpu-clock:u -F 9999 --call-graph dwarf {program} 5')
    assert done.status == 1 and 'the limit on file sizes (ulimit -f) is reached' in done.err, done
    check_chains()


@test
def a_report_opens_each_file_once_for_callers_and_for_names():
    """Without source lines: libdw, which has them, opens files by itself."""
    can_record()
    needs('strace')
    record('--keep-stacks', '--no-embed', stacks_program(), '1')
    traced = run('strace', '-f', '-o', 'calls', '-e', 'trace=open,openat', PACE, 'report', '-g', 'caller', '--no-inline')
    if 'ptrace' in traced.err:
        skip('strace does not work here: ' + traced.err.strip()[:120])
    assert traced.status == 0 and 'leaf' in traced.out, traced
    with open('calls', encoding='utf-8') as f:
        opened = collections.Counter(re.findall(r'AT_FDCWD, "([^"]*)"', f.read()))
    binaries = {path: n for path, n in opened.items() if re.search(r'/stacks$|\.so[.0-9]*$|\.debug$|/debug$', path)}
    libraries = set(run('ldd', PACE).out.split())
    twice = {path: n for path, n in binaries.items() if n > 1 and path not in libraries}
    assert any(path.endswith('/stacks') for path in binaries) and not twice, (binaries, twice)


@test
def the_cpus_own_record_of_calls_is_asked_for_or_refused_with_what_works():
    can_record()
    done = pace('record', '--call-graph', 'lbr', 'true')
    if done.status == 0:
        attrs = pace('evlist', '-v').out
        assert 'BRANCH_STACK' in attrs and 'USER|CALL_STACK|NO_FLAGS|NO_CYCLES' in attrs, attrs
        return
    assert "opening 'cycles:P': " in done.err and "'--call-graph dwarf' finds callers on every machine" in done.err, done
    assert not os.path.exists('perf.data')


main()
